#!/usr/bin/env python3
"""Runs the tests of an older package against this one, under its name.

usage: run.py PACKAGE [ARGUMENTS OF PYTEST...]       PACKAGE: bloscpack, numcodecs or bcolz

The source package comes from PyPI into a folder outside of the repository; nothing of it is kept here. Tests that cannot
hold are listed in known/PACKAGE.txt, each with its reason: a test that fails without being listed, and a listed one that
passes, are errors.
"""

from __future__ import annotations

import fnmatch
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as tree
from pathlib import Path

HERE = Path(__file__).parent
PEERS = {
    "bloscpack": ("bloscpack==0.16.0", "test"),
    # The tests of the installed version.
    "numcodecs": ("numcodecs", "numcodecs/tests/test_blosc.py"),
    "bcolz": ("bcolz-zipline==1.13.0", "bcolz/tests"),
}


def fetch(requirement: str, folder: Path) -> Path:
    """Downloads a source package and unpacks it, unless that was done before. Returns its root."""
    name, version = requirement.split("==")
    found = list(folder.glob(f"{name.replace('-', '[-_]')}-{version}/PKG-INFO"))
    if not found:
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder)]
        # Nothing is built, but pip asks for the name and version of a source package.
        env = {**os.environ, "DISABLE_BCOLZ_AVX2": "1"}
        subprocess.run([*command, f"--no-binary={name}", requirement], check=True, env=env)
        archive = next(folder.glob(f"{name.replace('-', '[-_]')}-{version}.tar.gz"))
        with tarfile.open(archive) as package:
            package.extractall(folder, filter="data")
        found = list(folder.glob(f"{name.replace('-', '[-_]')}-{version}/PKG-INFO"))
    return found[0].parent


def known(package: str) -> dict[str, str]:
    """The tests that cannot hold, as patterns, with their reasons."""
    path, reason, listed = HERE / "known" / f"{package}.txt", "", {}
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("#"):
            reason = line.lstrip("# ")
        elif line.strip():
            listed[line.strip()] = reason
    return listed


def outcomes(report: Path) -> dict[str, bool | None]:
    """For each test whether it passed; `None` if it was skipped."""
    found: dict[str, bool | None] = {}
    for case in tree.parse(report).iter("testcase"):
        name = f"{case.get('classname', '').rsplit('peer_tests.')[-1]}::{case.get('name')}"
        failed = case.find("failure") is not None or case.find("error") is not None
        found[name] = None if case.find("skipped") is not None else not failed
    return found


def main() -> int:
    package, *arguments = sys.argv[1:]
    requirement, tests = PEERS[package]
    if "==" not in requirement:
        requirement += "==" + importlib.metadata.version(requirement)
    folder = Path(os.environ.get("PEERS_FOLDER", HERE.parents[1] / "target" / "peers"))
    root = fetch(requirement, folder)
    # Since 0.17, the tests of numcodecs are outside of the package.
    is_beside = not (root / tests).exists()
    tests = "tests/" + Path(tests).name if is_beside else tests
    with tempfile.TemporaryDirectory() as scratch:
        # Beside nothing of the package itself, so that its name leads to ours.
        target = Path(scratch, "peer_tests" + Path(tests).suffix)
        target.symlink_to((root / tests).resolve())
        report = Path(scratch, "report.xml")
        paths = [str(HERE / "shims"), *[str(root)] * is_beside, *filter(None, [os.environ.get("PYTHONPATH")])]
        options = ["-q", "-p", "no:cacheprovider", "-p", "yield_tests", "-p", f"as_{package}", "--import-mode=importlib"]
        options += ["-o", "addopts=", "-W", "ignore", "--tb=native", f"--rootdir={scratch}", f"--junit-xml={report}"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-P", "-m", "pytest", *options, *(arguments or [target.name])]
        output = subprocess.run(command, cwd=scratch, env=env, stdout=subprocess.PIPE, text=True).stdout
        if not report.exists():
            print(output)
            return 1
        results = outcomes(report)
    return judge(package, results, output)


def judge(package: str, results: dict[str, bool | None], output: str) -> int:
    """Prints the counts, and what does not agree with the list."""
    listed = known(package)
    reasons = {name: next((r for p, r in listed.items() if fnmatch.fnmatchcase(name, p)), None) for name in results}
    new = [name for name, passed in results.items() if passed is False and reasons[name] is None]
    gone = [name for name, passed in results.items() if passed and reasons[name] is not None]
    failed = sum(passed is False for passed in results.values())
    skipped = sum(passed is None for passed in results.values())
    if new:
        print(output)
    print(f"{package}: {len(results) - failed - skipped} of {len(results)} passed, {skipped} skipped, {failed} failed")
    for name in new:
        print(f"  failed, and not listed: {name}")
    for name in gone:
        print(f"  listed, but passed: {name}")
    return int(bool(new or gone))


if __name__ == "__main__":
    sys.exit(main())
