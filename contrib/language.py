#!/usr/bin/env python3
"""Check pages, comments and help for phrases that readers stumble over, and name a better one.

Only phrases that are wrong nearly always are listed: a check that cries wolf gets switched off. A line that is right nevertheless
ends with a reason in PASSES.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What to look for, and what a native writer would put there.
PHRASES = {
    r"\b(?:that|what|which) (?:is|are) there\b": "existing, present; or name it",
    r"\bso (?:many|much) (?:bytes|rows|elements|records|chunks|threads)\b": "this many; or name the number",
    r"\bfor people\b": "for display, human-readable",
    r"\bcan be had\b": "is available, can be read",
    r"\b(?:is|are|was) believed\b|\bnothing .{0,20}believed\b": "is trusted, is used, is ignored",
    r"\b(?:is|are) known by\b": "is recognized by, is identified by",
    r"\ball else\b": "everything else, the rest",
    r"\banew\b": "again",
    r"\b(?:goes|go|went) along\b": "is kept, is carried over",
    r"\b(?:it|file|index|wheel|module|page) has \d[\d,.]* (?:bytes|[KMG]i?B|lines)\b": "is ... long, is ... in size",
    r"\bgets on\b": "continues",
    r"\b(?:refused|answered|described) in words\b": "with a message",
    r"\bwithout anything to work on\b": "skipped for lack of data",
    r"\bits word\b|'s word is\b": "what it states",
}
# Lines with such a phrase that is right there: the beginning of the path, and a part of the line.
PASSES: list[tuple[str, str]] = [
    ("contrib/language.py", ""),
    ("CHANGELOG.md", ""),
]


def lines_of(path: Path) -> list[tuple[int, str]]:
    """The lines of prose: all of a page but its code, and the comments of sources."""
    found, inside = [], False
    for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
        if path.suffix == ".md":
            if line.lstrip().startswith("```"):
                inside = not inside
            elif not inside:
                found.append((number, line))
        elif match := re.search(r"(?:^|\s)(//[/!]?|#)\s+(.*)", line):
            found.append((number, match[2]))
    return found


def main() -> int:
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names = [name for name in listed.split("\0") if name.endswith((".md", ".rs", ".py", ".sh")) and (ROOT / name).is_file()]
    phrases = [(re.compile(phrase, re.I), better) for phrase, better in PHRASES.items()]
    wrong = 0
    for name in sorted(names):
        for number, line in lines_of(ROOT / name):
            if any(name.startswith(path) and part in line for path, part in PASSES):
                continue
            for phrase, better in phrases:
                if found := phrase.search(line):
                    wrong += 1
                    print(f"{name}:{number}: {found[0]!r}: better: {better}")
    print(f"{wrong} phrases" if wrong else f"{len(names)} files: no such phrase")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
