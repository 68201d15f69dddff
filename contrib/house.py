#!/usr/bin/env python3
"""Measures how large and how tangled the workspace is, and prints a table of figures as Markdown.

    contrib/house.py            figures from the sources alone, within seconds
    contrib/house.py --build    also the processor time of two clean builds, in target/house
    contrib/house.py --check    exits with 1 if crates import upwards or files import each other in a circle

Production code is what `mod` reaches from the root of a library or command, without items for tests. A line of code has something
that is neither a comment nor documentation. A file imports another if it names something in it; re-exports are followed to the file
that defines the name. A module and its submodules may import each other.
"""

import argparse
import json
import re
import resource
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# From the bottom up: a crate may depend on those before it. Test kits and crates outside the workspace are not production code.
LAYERS = ["blosc1", "dtype", "storage", "wire", "error", "bloscpack", "array", "datasets", "documents", "frames", "stores", "zarr",
          "exchange", "open", "convert", "remote", "blpk"]
RINGS = {"codec": ["blosc1", "storage", "wire", "error", "bloscpack"],
         "array": ["array", "datasets", "documents", "frames", "stores", "zarr", "exchange"], "command": ["blpk"]}
# Traits and enums that mean an array or the rows of a table, here and in the workspaces `sql` and `python`.
SHAPES = r"\btrait (?:Elements|Grid|Content|ChunkSource|ReadRegion|Rows|Array|Table)\b|\bpub enum Inner\b"

TOKEN = re.compile(r"""(?P<doc>///(?!/)[^\n]*|//![^\n]*)|(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?<!\w)[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:[^"\\]|\\.)*"|'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])'""", re.VERBOSE | re.DOTALL)
TEST = re.compile(r"#\[\s*(?:cfg\(\s*(?:all\(\s*)?(?:test|doctest)\b[^\]]*|test\s*)\](?:\s*#\[(?:[^\[\]]|\[[^\]]*\])*\])*")
MODULE = re.compile(r'(?:#\[\s*path\s*=\s*"([^"]*)"\s*\]\s*(?:#\[[^\]]*\]\s*)*)?(?<![\w.])mod\s+(?:r#)?(\w+)\s*([;{])')
USE = re.compile(r"(?<!\w)use\s+([^;]+);")
PATH = re.compile(r"(?<![\w:.'])\w+(?:\s*::\s*\w+)+")
DEFINED = re.compile(r"(?<!\w)(?:struct|enum|union|trait|fn|const|static|type|mod|macro_rules!)\s+(?:mut\s+)?(\w+)")


def closing(code, start):
    """The position past the bracket that closes the one at `start`."""
    depth = 0
    for bracket in re.finditer(r"[()\[\]{}]", code[start:]):
        depth += 1 if bracket.group() in "([{" else -1
        if depth == 0:
            return start + bracket.end()
    return len(code)


class Source:
    """A file: `code` is what remains without comments, tests and the content of strings, `bare` has the strings."""

    def __init__(self, path, module):
        self.path, self.module, text = path, module, path.read_text()
        blank = lambda part: re.sub(r"[^\n]", " ", part)
        is_comment = lambda token: token["doc"] or token["comment"]
        self.bare = TOKEN.sub(lambda token: blank(token[0]) if is_comment(token) else token[0], text)
        self.code = TOKEN.sub(lambda token: blank(token[0]) if is_comment(token) else '"' + blank(token[0][1:-1]) + '"', text)
        at = 0
        while test := TEST.search(self.code, at):
            item = re.compile(r";" if re.match(r"\s*(?:pub\S*\s+)?(?:use|static|const)\b", self.code[test.end():]) else r"[;{]")
            mark = item.search(self.code, test.end())
            at = mark.end() if mark[0] == ";" else closing(self.code, mark.start())
            self.bare, self.code, text = (each[:test.start()] + blank(each[test.start():at]) + each[at:]
                                          for each in (self.bare, self.code, text))
        self.lines = sum(1 for line in self.bare.split("\n") if line.strip())
        self.docs = len(re.findall(r"^\s*(?:///(?!/)|//!)", text, re.MULTILINE))
        self.inline = [(mark.end(), closing(self.code, mark.end() - 1), mark[2]) for mark in MODULE.finditer(self.code) if mark[3] == "{"]

    def module_at(self, at):
        return self.module + tuple(name for start, end, name in self.inline if start <= at < end)


def reached(path, module=()):
    """The file and all files that its `mod` declarations reach."""
    source = Source(path, module)
    sources, folder = [source], path.parent if not module or path.name == "mod.rs" else path.with_suffix("")
    for mark in MODULE.finditer(source.bare):
        if mark[3] == ";":
            within = source.module_at(mark.start())[len(module):]
            file = path.parent / mark[1] if mark[1] else folder.joinpath(*within, mark[2] + ".rs")
            file = file if file.exists() else folder.joinpath(*within, mark[2], "mod.rs")
            sources += reached(file, (*module, *within, mark[2]))
    return sources


def names_used(text, before=()):
    """The paths that a `use` names, each with the name that it gets here."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        parts = [*parts, ""] if sign == "," and depth == 0 else [*parts[:-1], parts[-1] + sign]
    for part in filter(str.strip, parts):
        if "{" in part:
            head, _, rest = part.partition("{")
            yield from names_used(rest[:rest.rindex("}")], before + tuple(filter(None, map(str.strip, head.split("::")))))
            continue
        path, _, alias = part.partition(" as ")
        whole = before + tuple(filter(None, map(str.strip, path.split("::"))))
        whole = whole[:-1] if whole[-1] == "self" and len(whole) > 1 else whole
        yield whole, alias.strip() or whole[-1]


def cycles(sources, library):
    """The sets of files that import each other in a circle."""
    files = {source.module: source for source in sources}
    defined = {module: set(DEFINED.findall(source.code)) for module, source in files.items()}
    aliases, globs, named = ({module: kind() for module in files} for kind in (dict, list, list))

    def absolute(module, path):
        if path[0] in ("crate", library):
            return path[1:]
        if path[0] not in ("self", "super"):
            return module + path if (*module, path[0]) in files else None
        while path and path[0] in ("self", "super"):
            module, path = module[:-1] if path[0] == "super" else module, path[1:]
        return module + path

    def file_of(path, patience=20):
        module = next(path[:n] for n in range(len(path), -1, -1) if path[:n] in files)
        rest = path[len(module):]
        if not rest or patience == 0 or rest[0] in defined[module]:
            return module
        globbed = ((*glob, rest[0]) for glob in globs[module] if glob in files and glob != module
                   and rest[0] in defined[glob] | set(aliases[glob]))
        target = aliases[module].get(rest[0]) or next(globbed, None)
        return file_of(target + rest[1:], patience - 1) if target and target + rest[1:] != path else module

    for module, source in files.items():
        for use in USE.finditer(source.code):
            for path, name in names_used(use[1]):
                if (found := absolute(source.module_at(use.start()), path)) is not None:
                    if name == "*":
                        globs[module].append(found := found[:-1])
                    else:
                        aliases[module][name] = found
                    named[module].append(found)
    for module, source in files.items():
        for mark in PATH.finditer(USE.sub(lambda use: " " * len(use[0]), source.code)):
            path = tuple(part.strip() for part in mark[0].split("::"))
            found = absolute(source.module_at(mark.start()), path)
            if found is None and path[0] in aliases[module]:
                found = aliases[module][path[0]] + path[1:]
            named[module] += [] if found is None else [found]
    edges = {module: {to for to in map(file_of, paths) if to[:len(module)] != module and module[:len(to)] != to}
             for module, paths in named.items()}
    reach = {}
    for module in edges:
        reach[module], left = set(), list(edges[module])
        while left:
            if (to := left.pop()) not in reach[module]:
                reach[module].add(to)
                left += edges[to]
    return {frozenset(to for to in reach[module] if module in reach[to]) for module in edges if module in reach[module]}


def variants(code):
    """The number of variants of all enums of errors."""
    count = 0
    for enum in re.finditer(r"\benum \w*Error\b[^{;]*", code):
        body, flat = code[enum.end() + 1:closing(code, enum.end()) - 1], None
        while flat != body:
            flat, body = body, re.sub(r"\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|<[^<>]*>|#", "", body)
        count += len(re.findall(r"\b[A-Z]\w*", body))
    return count


def processor_seconds(*build):
    target = ROOT / "target/house"
    subprocess.run(["cargo", "clean", "--quiet", "--target-dir", target], cwd=ROOT, check=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--release", "--target-dir", target, *build], cwd=ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return f"{after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.0f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    output = lambda *words: subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    packages = json.loads(output("cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"))["packages"]
    short = lambda name: name.removeprefix("bloscpack-")
    sources, published, tangles, upward = {}, [], [], []
    for package in packages:
        name = short(package["name"])
        if name not in LAYERS:
            continue
        sources[name] = []
        for target in package["targets"]:
            if set(target["kind"]) & {"lib", "cdylib", "staticlib", "bin"}:
                files = reached(Path(target["src_path"]))
                sources[name] += files
                for cycle in cycles(files, target["name"].replace("-", "_")):
                    tangles.append(f"{name}: " + " ↔ ".join(sorted("::".join(module) for module in cycle)))
        published += sources[name] if package["publish"] is None else []
        below = {short(uses["name"]) for uses in package["dependencies"] if uses["kind"] is None} & set(LAYERS)
        upward += [(name, to) for to in sorted(below) if LAYERS.index(to) >= LAYERS.index(name)]
    lines = Counter({name: sum(source.lines for source in files) for name, files in sources.items()})
    code = "\n".join(source.code for files in sources.values() for source in files)
    tracked = output("git", "ls-files").splitlines()
    beside = "\n".join((ROOT / name).read_text() for name in tracked if re.match(r"(?:sql/\w[\w-]*|python)/src/.*\.rs$", name))
    rows = [("production lines, all", lines.total())]
    rows += [(f"{ring} ring", sum(lines[name] for name in names)) for ring, names in RINGS.items()]
    rows += [(f"crate {name} (files)", f"{count:,} ({len(sources[name])})") for name, count in lines.most_common()]
    rows += [
        ("error variants, all enums", variants(code)),
        ("option types", len(re.findall(r"\bstruct \w*Options\b", code))),
        ('traits that mean "array" or "rows of a table"', len(re.findall(SHAPES, code + beside))),
        ("`match` on a bool", len(re.findall(r"\bmatch\b[^{};]*\{\s*(?:true|false)\s*=>", code))),
        ("tracked files", len(tracked)),
        ("README lines", len((ROOT / "README.md").read_text().splitlines())),
        ("doc lines per code line, published crates", f"{sum(s.docs for s in published) / sum(s.lines for s in published):.2f}"),
        ("cycles of imports", len(tangles)),
        ("upward imports of crates", len(upward)),
    ]
    if options.build:
        rows.append(("processor time: codec alone", processor_seconds("-p", "bloscpack", "--no-default-features", "--features",
                                                                      "blosclz,lz4,snappy,zlib,zstd")))
        rows.append(("processor time: clean release of the command", processor_seconds("-p", "blpk")))
    print("| figure | now |\n|---|--:|")
    print("\n".join(f"| {name} | {value if isinstance(value, str) else f'{value:,}'} |" for name, value in rows))
    print("".join(f"\n- {tangle}" for tangle in tangles), end="")
    print("".join(f"\n- {name} → {to}" for name, to in upward))
    return 1 if options.check and (tangles or upward) else 0


if __name__ == "__main__":
    raise SystemExit(main())
