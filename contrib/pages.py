#!/usr/bin/env python3
"""Check the pages: links, anchors, the index, and that every example is run by a test.

Each relative link must lead to a tracked file, and each anchor to a heading. Each page in docs/ must be in docs/README.md. Each
fenced block must have a language, which says what runs it:

    console     the test `readme` of the command (crates/blpk/tests/cli/readme.rs)
    rust        a documentation test, for which a lib.rs includes the page
    python      the documentation tests of pytest, to which .ci/parts/python names the page
    sh          nothing: commands that need a network, a toolchain or minutes; the pages that may have them are listed below
    others      nothing: they are no commands
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Pages with commands that no test runs as they stand, and what runs them or the like.
BY_HAND = {
    "README.md": "installs; the part `package` builds the packages",
    "docs/benchmarks.md": "benchmarks, which take hours",
    "docs/benchmarks/arrays.md": "benchmarks, which take hours",
    "docs/benchmarks/chunks.md": "benchmarks, which take hours",
    "docs/design.md": "a measurement",
    "docs/platforms.md": "the part `platforms` runs such commands",
    "contrib/patches/README.md": "peers, patched for benchmarks",
    "docs/remote.md": "buckets; the part `remote` runs such commands on its own",
    "docs/sql.md": "installs and clusters, as the part `sql` does",
    "docs/web.md": "builds the page, as the part `web` does",
    "crates/blosc1-capi/README.md": "installs the C library, as the part `capi` does",
    "tests/interop/README.md": "the part `interop`",
}
NO_COMMANDS = {"text", "toml", "json", "c", "diff"}
FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^\1```", re.M | re.S)
LINK = re.compile(r"(?<!\\)\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)")


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for heading in re.findall(r"^#{1,6} +(.+?) *#*$", FENCE.sub("", text), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        name = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (anchor := f"{name}-{number}" if number else name) in found:
            number += 1
        found.add(anchor)
    return found


def main() -> int:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    tracked = {name for name in listed.split("\0") if name}
    folders = {str(parent) for name in tracked for parent in Path(name).parents}
    pages = {name: (ROOT / name).read_text() for name in sorted(tracked) if name.endswith(".md") and (ROOT / name).exists()}
    included = "".join(path.read_text() for path in ROOT.glob("crates/*/src/lib.rs")) + (ROOT / "src/lib.rs").read_text()
    of_pytest = (ROOT / ".ci/parts/python").read_text()
    wrong: list[str] = []
    for name, text in pages.items():
        for _, language, body in FENCE.findall(text):
            language = language.split(",")[0]
            first = body.strip().split("\n")[0][:60]
            if language in NO_COMMANDS or language == "sh" and name in BY_HAND:
                continue
            if language == "console" and ("sessions/" in name or Path(name).parent.name in ("", "docs", "blpk")):
                continue
            parent = str(Path(name).parent)
            if language == "rust" and (parent.startswith("crates") and "README.md" in included or f"/{name}" in included):
                continue
            from_python = name.removeprefix("python/") if name.startswith("python/") else f"../{name}"
            if language == "python" and f" {from_python} " in of_pytest:
                continue
            wrong.append(f"{name}: no test runs the block ```{language} that begins with {first!r}")
        for target in LINK.findall(FENCE.sub("", re.sub(r"`[^`\n]*`", "", text))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            there = str((Path(name).parent / path)) if path else name
            there = str(Path(*normal(there))) if path else name
            if there not in tracked and there not in folders:
                wrong.append(f"{name}: the link {target} leads to no tracked file")
            elif anchor and there in pages and anchor not in anchors(pages[there]):
                wrong.append(f"{name}: {there} has no heading for the link {target}")
    index = pages["docs/README.md"]
    for name in pages:
        if re.fullmatch(r"docs/[^/]+\.md", name) and name != "docs/README.md" and f"({Path(name).name})" not in index:
            wrong.append(f"docs/README.md: {name} is not in the index")
    lines = pages["README.md"].count("\n")
    if lines > 150:
        wrong.append(f"README.md: {lines} lines; at most 150 keep it readable")
    print("\n".join(wrong) or f"{len(pages)} pages: links, anchors and examples in order")
    return 1 if wrong else 0


def normal(path: str) -> list[str]:
    """The parts of a path without `..`."""
    parts: list[str] = []
    for part in Path(path).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return parts or ["."]


if __name__ == "__main__":
    sys.exit(main())
