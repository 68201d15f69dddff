"""Every kind of data in every place, by every way to read it: the command, SQL and Python. The data are made by other tools where there
are any, and each answer is compared with the data. A cell is equal, or refused with a reason that `REFUSED` knows. Run alone, it prints
the tables of docs/benchmarks/doors.md."""

import argparse
import functools
import http.server
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from pathlib import Path

import numpy

import matrix
from common import equal, expect

SOURCES = ("carray", "ctable", "Zarr 2", "Zarr 3", "Zarr group, table", "Zarr group, tree", ".b2nd", ".b2z, tree", ".b2z, table",
           ".blp, array", ".blp, records")
PLACES = ("path", "root of a ZIP", "inside a ZIP", "HTTP", "HTTP, 403", "HTTP, consolidated", "http.server", "S3")
COMMANDS = ("info", "ls", "cat", "verify", "export", "convert")
TREES = ("Zarr group, tree", ".b2z, tree")
TABLES = ("ctable", "Zarr group, table", ".b2z, table", ".blp, records")
ROWS = ("carray", ".blp, array")
# The words by which a cell may be refused, and what they mean.
UNLISTED = ("A web server lists no files, and without consolidated metadata a group does not say what is in it: name an array within it, "
            "as `URL/name`, which works.")
UNRANGED = ("Python's server sends all of a file, whatever is asked for, and so only folders of small files are read from it: download the "
            "file.")
REFUSED = {"no listings": UNLISTED, "add the path of one of them": UNLISTED, "does not answer with ranges": UNRANGED}


class PythonServer(http.server.ThreadingHTTPServer):
    """The server of `python -m http.server`, with room for more connections that begin at once."""
    request_queue_size = 64


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Server:
    """What `cargo run --example serve` serves, and Python's own server for the same files."""

    def __init__(self, program, root):
        self.root = root
        self.process = subprocess.Popen([program, root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        endpoint, key, secret = self.process.stdout.readline().split()
        self.http, self.forbids = (self.process.stdout.readline().strip() for _ in range(2))
        self.python = PythonServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
        threading.Thread(target=self.python.serve_forever, daemon=True).start()
        os.environ.update(AWS_ENDPOINT=endpoint, AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret, AWS_ALLOW_HTTP="true")

    def close(self):
        self.process.communicate("")
        self.python.shutdown()


def consolidate(path):
    program = "import sys, zarr; zarr.consolidate_metadata(sys.argv[1])"
    subprocess.run([matrix.ZARR, "-P", "-W", "ignore", "-c", program, path], check=True)


def put(source, place, path, folder, server):
    """Brings what was made to its place, and returns its name there; None for a place that is no other."""
    bucket = folder.name.replace("_", "x").lower()
    if place == "path":
        return str(path)
    if "ZIP" in place:
        archive = folder / "archive.zip"
        inner = "deep/" if place == "inside a ZIP" else ""
        with zipfile.ZipFile(archive, "w") as out:
            if path.is_file():
                out.write(path, inner + path.name)
            for file in sorted(path.rglob("*")) if path.is_dir() else []:
                name = inner + (path.name + "/" if inner else "") + file.relative_to(path).as_posix()
                out.write(file, name)
            if inner:
                out.writestr("other/read.me", "text")
        if inner or path.is_file():
            return "%s/%s%s" % (archive, inner, path.name)
        return str(archive)
    if place == "HTTP, consolidated":
        if not source.startswith("Zarr group"):
            return None
        consolidate(path)
    target = server.root / bucket / path.name
    target.parent.mkdir(exist_ok=True)
    shutil.copytree(path, target) if path.is_dir() else shutil.copy(path, target)
    if place == "S3":
        return "s3://%s/%s" % (bucket, path.name)
    base = {"HTTP, 403": server.forbids, "http.server": "http://127.0.0.1:%d" % server.python.server_port}.get(place, server.http)
    return "%s/%s/%s" % (base, bucket, path.name)


def run_program(program, *arguments):
    ran = subprocess.run([program, *map(str, arguments)], capture_output=True, timeout=120)
    return ran.returncode, ran.stdout, ran.stderr.decode(errors="replace")


def by_command(verb, source, name, data, folder, blpk):
    """Runs a command; returns None, or why it refuses."""
    is_tree, is_table = source in TREES, source in TABLES
    member = sorted(data)[0] if is_tree else None
    output = folder / ("out.npy" if not is_tree and not is_table else "out.parquet" if is_table else "out.zarr")
    arguments = {
        "info": ["info", "--json", name],
        "ls": ["ls", "--json", name],
        "cat": ["cat", name + ("/" + member if is_tree else "")],
        "verify": ["verify", "--json", name],
        "export": ["export", name + ("/" + member if is_tree else ""), "-", "--to", "jsonl"],
        "convert": ["convert", name, output],
    }[verb]
    status, out, message = run_program(blpk, *arguments)
    if status:
        if verb == "verify":
            return str([one["error"] or one["damages"] for one in json.loads(out)["files"]])
        expect(status in (1, 2, 3) and "error: " in message, verb, "status", status, message)
        return message
    if verb == "info":
        found = json.loads(out)
        expect(found["kind"], "no kind")
    if verb == "ls":
        found = json.loads(out)["datasets"]
        expect(found and all(one["status"] == 0 for one in found), "ls", found)
        if is_tree:
            equal(sorted(one["path"] for one in found), sorted(data), "paths")
    if verb == "verify":
        files = json.loads(out)["files"]
        expect(all(one["ok"] and all("no listing" in warning for warning in one["warnings"]) for one in files), out)
        expect(sum(one["bytes"] for one in files) > 0, "nothing was checked", out)
    if verb == "cat" and not is_tree and not is_table:
        equal(numpy.frombuffer(out, data.dtype).tolist(), data.ravel().tolist(), "bytes")
    if verb == "export":
        wanted = data[member] if is_tree else data
        found = matrix.read_jsonl(out.decode(), wanted)
        wanted = matrix.table_values(wanted) if isinstance(wanted, dict) else matrix.values(wanted)
        equal(json.dumps(found, sort_keys=True), json.dumps(wanted, sort_keys=True, default=str), "export")
    if verb == "convert":
        target = {"npy": "npy", "parquet": "parquet", "zarr": "zarr3"}[output.name.split(".")[-1]]
        found = matrix.result(target, output, data, blpk)
        wanted = matrix.table_values(data) if isinstance(data, dict) else matrix.values(data)
        equal(json.dumps(found, sort_keys=True, default=str), json.dumps(wanted, sort_keys=True, default=str), "convert")
    return None


def by_sql(source, name, data, program):
    """Counts the rows of a table, the elements of an array, of a member of a tree."""
    if source in TREES:
        name, data = name + "/" + sorted(data)[0], data[sorted(data)[0]]
    status, out, message = run_program(program, "--format", "jsonl", "SELECT count(*) AS n FROM '%s'" % name)
    if status:
        expect("error: " in message, "no reason", message)
        return message
    # An array in chunks of several axes has a row for each element, one in chunks of whole rows has one for each of these.
    rows = len(next(iter(data.values()))) if isinstance(data, dict) else len(data) if source in ROWS else data.size
    expect(str(rows) in out.decode(), "rows", out)
    return None


BY_PYTHON = """
import sys, json, bloscpack
opened = bloscpack.open(sys.argv[1])
if isinstance(opened, (bloscpack.File, bloscpack.Array)):
    print(json.dumps(bloscpack.open_array(sys.argv[1])[-3:].tolist()))
else:
    print(json.dumps(len(opened)))
"""


def by_python(source, name, data, program):
    """Opens it, and reads the last rows of an array, of a member of a tree."""
    if source in TREES:
        name, data = name + "/" + sorted(data)[0], data[sorted(data)[0]]
    ran = subprocess.run([program, "-P", "-c", BY_PYTHON, name], capture_output=True, text=True, timeout=120)
    if ran.returncode:
        return "error: " + ran.stderr.strip().splitlines()[-1]
    wanted = len(next(iter(data.values()))) if isinstance(data, dict) else data[-3:].tolist()
    equal(json.loads(ran.stdout), wanted, "rows")
    return None


def cell(source, place, name, data, verb, folder, tools, results):
    if verb == "SQL":
        message = by_sql(source, name, data, tools.sql)
    elif verb == "Python":
        message = by_python(source, name, data, tools.python)
    else:
        message = by_command(verb, source, name, data, folder, tools.blpk)
    if message is not None:
        reason = next((text for words, text in REFUSED.items() if words in message), None)
        expect(reason is not None, "refused:", message)
        results[source, place, verb] = reason
    else:
        results[source, place, verb] = None


class Tools:
    """The programs that are tried: SQL or Python alone where they are given, else the command."""

    def __init__(self, blpk, sql=None, python=None):
        self.blpk, self.sql, self.python = (os.path.abspath(program) if program else None for program in (blpk, sql, python))
        self.serve = Path(self.blpk).parent / "examples" / "serve"
        self.verbs = (("SQL",) if sql else ()) + (("Python",) if python else ()) or COMMANDS

    def cases(self):
        places = sum(len(PLACES) - (not source.startswith("Zarr group")) for source in SOURCES)
        return places * len(self.verbs)


def run_all(tally, tools, root):
    results = {}
    served = root / "served"
    served.mkdir()
    server = Server(tools.serve, served)
    try:
        for source in SOURCES:
            for place in PLACES:
                folder = Path(tempfile.mkdtemp(dir=root))
                path, data = matrix.make(source, tools.blpk, folder)
                name = put(source, place, path, folder, server)
                if name is not None:
                    tally.cases(("%s, %s: %s" % (source, place, verb), cell, source, place, name, data, verb, folder, tools, results)
                                for verb in tools.verbs)
                shutil.rmtree(folder)
    finally:
        server.close()
    return results


def table(results, verbs):
    """A row a kind and a column a place; a cell is empty, or counts what works and names what is refused."""
    reasons = []

    def number(reason):
        if reason not in reasons:
            reasons.append(reason)
        return reasons.index(reason) + 1

    lines = ["| kind | " + " | ".join(PLACES) + " |", "|---" * (len(PLACES) + 1) + "|"]
    for source in SOURCES:
        cells = []
        for place in PLACES:
            told = [(verb, results[source, place, verb]) for verb in verbs if (source, place, verb) in results]
            refused = {reason: [verb for verb, other in told if other == reason] for _, reason in told if reason}
            works = sum(reason is None for _, reason in told)
            works = "%d of %d" % (works, len(told)) if len(verbs) > 1 else "yes" if works else ""
            refused = ["not %s (%d)" % (", ".join(names), number(reason)) for reason, names in refused.items()]
            cells.append("; ".join(filter(None, [works] + refused)) if told else "")
        lines.append("| %s | %s |" % (source, " | ".join(cells)))
    works = sum(reason is None for reason in results.values())
    lines += ["", "%d cells, %d work, %d are refused." % (len(results), works, len(results) - works)]
    lines += [""] + ["%d. %s" % (at + 1, reason) for at, reason in enumerate(reasons)] if reasons else []
    return "\n".join(lines) + "\n"


PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "doors.md"


def check_page(tools, results):
    """Compares each table with that of the page."""
    text = PAGE.read_text()
    for title, verbs in (("command", COMMANDS), ("SQL", ("SQL",)), ("Python", ("Python",))):
        if set(verbs) <= set(tools.verbs):
            chosen = {key: reason for key, reason in results.items() if key[2] in verbs}
            expect(table(chosen, verbs) in text, "docs/benchmarks/doors.md has another table for", title, "\n" + table(chosen, verbs))


GIVEN = os.environ.get("BLPK_SQL"), os.environ.get("BLPK_PYTHON")
CASES = Tools("blpk", *GIVEN).cases()


def run(tally, blpk, reference, place):
    tools = Tools(blpk.program, *GIVEN)
    results = run_all(tally, tools, place.root)
    tally.case("the page", check_page, tools, results)
    return results


if __name__ == "__main__":
    from common import Tally
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("blpk")
    parser.add_argument("--sql", help="blpk-sql, instead of the command")
    parser.add_argument("--python", help="an interpreter with bloscpack, instead of the command")
    parser.add_argument("--only", help="a kind")
    chosen = parser.parse_args()
    if chosen.only:
        SOURCES = (chosen.only,)
    tools = Tools(chosen.blpk, chosen.sql, chosen.python)
    tally = Tally("doors")
    with tempfile.TemporaryDirectory() as folder:
        results = run_all(tally, tools, Path(folder))
    print(tally.line())
    for verbs in (COMMANDS, ("SQL",), ("Python",)):
        if set(verbs) <= set(tools.verbs):
            print(table({key: reason for key, reason in results.items() if key[2] in verbs}, verbs))
    sys.exit(1 if tally.failed else 0)
