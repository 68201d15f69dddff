#!/usr/bin/env python3
"""Read the corpus with the command of some platform, and compare what comes out with the manifests.

    tests/corpus.py BLPK            every file, array and column
    tests/corpus.py BLPK 8          every eighth of them
    tests/corpus.py 'qemu-s390x-static target/…/blpk'

The corpus is in target/corpus, or where BLOSCPACK_CORPUS says. Prints how many had the right bytes, and those that had not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(os.environ.get("BLOSCPACK_CORPUS", Path(__file__).resolve().parent.parent / "target/corpus"))


def manifest(part: str) -> dict:
    return json.loads((ROOT / part / "manifest.json").read_text())


def wanted() -> Iterator[tuple[Path, list[str], str]]:
    """Each path, the options that read it, and the digest of its bytes."""
    for entry in manifest("bloscpack")["files"]:
        if entry.get("raw_sha256"):
            yield ROOT / "bloscpack" / entry["file"], [], entry["raw_sha256"]
    for part in ("bcolz", "bcolz-legacy", "blz", "carray05"):
        for entry in manifest(part)["datasets"]:
            path = ROOT / part / entry["name"]
            # The padding of a struct has no meaning: then only the fields are compared, which other tests do.
            if "sha256_native" in entry and entry.get("compare") != "fields":
                yield path, [], entry["sha256_native"]
            for column in entry.get("columns", []):
                if "sha256_native" in column:
                    yield path, ["--column", column["name"]], column["sha256_native"]
    for part in ("caterva", "b2nd"):
        for entry in manifest(part)["entries"]:
            if entry.get("sha256"):
                yield ROOT / part / entry["file"], [], entry["sha256"]


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    command = shlex.split(sys.argv[1])
    step = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    right, wrong = 0, 0
    for path, options, digest in list(wanted())[::step]:
        done = subprocess.run([*command, "cat", *options, str(path)], capture_output=True, timeout=300)
        if done.returncode == 0 and hashlib.sha256(done.stdout).hexdigest() == digest:
            right += 1
            continue
        wrong += 1
        said = done.stderr.decode(errors="replace").strip() or "other bytes"
        print(f"{path.relative_to(ROOT)} {' '.join(options)}: status {done.returncode}: {said}")
    print(f"{right} of {right + wrong} have the bytes of the manifest")
    return int(wrong > 0 or not right)


if __name__ == "__main__":
    sys.exit(main())
