#!/usr/bin/env python3
"""Compares all lock files of the repository with the advisories of RustSec.

    contrib/advisories.py             check with the newest advisories, where they can be fetched
    contrib/advisories.py --offline   check with contrib/advisories.tsv alone: the few that this project has met, kept by hand

--database FOLDER takes a clone of https://github.com/rustsec/advisory-db that is already there.

Fails on each advisory for a locked version, unless deny.toml has an exception for it whose date has not passed:

    { id = "RUSTSEC-2026-0001", reason = "until 2027-01-31: why it does no harm here" }

An exception that no lock file needs any more is an error, too. cargo-deny reads the same deny.toml, but knows no dates.
"""

import argparse
import datetime
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "contrib/advisories.tsv"
DATABASE = "https://github.com/rustsec/advisory-db"
PACKAGE = re.compile(r'\[\[package\]\]\nname = "(.+)"\nversion = "(.+)"\nsource = "registry\+')
EXCEPTION = re.compile(r'^\s*\{ id = "([^"]+)", reason = "until (\d{4}-\d\d-\d\d): [^"]+" \},?$')


def version(text):
    """A version as a value that compares: numbers, then pre-releases before the release."""
    text, _, before = text.split("+")[0].partition("-")
    numbers = [int(part) for part in text.split(".")]
    parts = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in before.split(".") if before]
    return (*(numbers + [0, 0])[:3], not before, parts)


def satisfies(found, requirement):
    """Whether a version meets all comparisons of a requirement, such as `>= 1.2, < 2`."""
    return all(compares(found, part.strip()) for part in requirement.split(","))


def compares(found, comparison):
    operator, text = re.fullmatch(r"(>=|<=|>|<|=|\^|~|)\s*(\d\S*)", comparison).groups()
    bound, given = version(text), text.partition("-")[0].split(".")
    if operator in ("^", "~", ""):
        # The part that may not change: up to the first that is not 0, or for ~ the second.
        fixed = next((at for at, part in enumerate(given) if int(part)), len(given) - 1)
        fixed = min(1, len(given) - 1) if operator == "~" else fixed
        return bound <= found and found[: fixed + 1] == bound[: fixed + 1]
    if operator == "=":
        return found[: len(given)] == bound[: len(given)] if len(given) < 3 else found == bound
    return {">=": found >= bound, "<=": found <= bound, ">": found > bound, "<": found < bound}[operator]


def advisories(database):
    """All that were not withdrawn: id, package, kind, title, and the requirements of versions that are not affected."""
    for path in sorted(database.glob("crates/*/*.md")):
        head, _, text = path.read_text().partition("```toml\n")[2].partition("\n```")
        value = lambda key: re.search(rf'^{key}\s*=\s*"([^"]*)"', head, re.M)
        sound = []
        for key in ("patched", "unaffected"):
            found = re.search(rf"^{key}\s*=\s*\[(.*?)\]", head, re.M | re.S)
            sound += re.findall(r'"([^"]+)"', found[1]) if found else []
        kind = value("informational")
        if not value("withdrawn"):
            title = re.search(r"^# (.+)", text, re.M)[1].strip()
            yield value("id")[1], value("package")[1], kind[1] if kind else "vulnerability", title, sound


def fetch(folder, deadline):
    command = ["git", "clone", "--quiet", "--depth", "1", DATABASE, folder]
    try:
        subprocess.run(command, check=True, timeout=deadline, capture_output=True)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


def listed():
    _, *lines = LIST.read_text().splitlines()
    print("the advisories of RustSec were not fetched: only those of contrib/advisories.tsv are compared")
    for line in lines:
        *first, sound = line.split("\t")
        yield *first, sound.split(" | ") if sound else []


def locked():
    """The versions of each package from a registry, with the lock files that have it."""
    files = subprocess.run(["git", "ls-files", "*Cargo.lock"], cwd=ROOT, check=True, capture_output=True, text=True)
    packages = {}
    for file in files.stdout.split():
        for name, found in PACKAGE.findall((ROOT / file).read_text()):
            packages.setdefault(name, {}).setdefault(found, []).append(file)
    return packages


def exceptions(text):
    """The last day of each exception. A line that is none of them is an error, rather than ignored."""
    days = {}
    for line in re.search(r"^ignore = \[\n(.*?)^\]", text, re.M | re.S)[1].splitlines():
        match = EXCEPTION.match(line)
        if not match and line.strip() and not line.strip().startswith("#"):
            sys.exit(f"deny.toml: no exception with a date: {line.strip()}")
        if match:
            days[match[1]] = datetime.date.fromisoformat(match[2])
    return days


def complaints(advisories, packages, exceptions, today):
    needed = set()
    for name, package, kind, title, sound in advisories:
        for found, files in packages.get(package, {}).items():
            if any(satisfies(version(found), requirement) for requirement in sound):
                continue
            needed.add(name)
            day = exceptions.get(name)
            if day is None or day < today:
                ended = f" (the exception ended on {day})" if day else ""
                better = f"take {' or '.join(sound)}" if sound else "no version is sound"
                yield f"{name}: {package} {found}: {kind}: {title}{ended}: {better}; in {', '.join(files)}"
    for name in exceptions.keys() - needed:
        yield f"{name}: deny.toml has an exception that no lock file needs: remove it"


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("--database", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = options.database
        if not database and not options.offline and fetch(folder, 60):
            database = pathlib.Path(folder)
        known = list(advisories(database) if database else listed())
        days = exceptions((ROOT / "deny.toml").read_text())
        wrong = sorted(complaints(known, locked(), days, datetime.date.today()))
    print("\n".join(wrong) or f"{len(known)} advisories: none is for a locked version, but for {len(days)} exceptions")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
