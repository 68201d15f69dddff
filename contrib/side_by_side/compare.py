"""Comparison of two runs of the command by different builds."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bench import SALT, Ran, Step

# JSON keys whose values are human-readable text.
TEXT_KEYS = {"message", "error", "reason", "warnings", "notes", "what", "remedy"}

DURATION = re.compile(r"\bin \d+(?:\.\d+)?(?:ns|µs|ms|s|min)\b")

# Placeholders for what is of one case only.
PLACEHOLDERS = (
    (re.compile(r"\x1b\[[\d;]*m"), ""),
    (re.compile(r"'(?:[^'\n]|(?<=\w)'(?=\w))*'"), "‹name›"),
    (re.compile(r"\"(?:[^\"\\\n]|\\.)*\""), "‹text›"),
    (re.compile(r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{8,}\b"), "‹digest›"),
    (re.compile(r"\b\d+\.\.\d*|(?<=\s)\.\.\d+"), "‹range›"),
    (re.compile(r"(?m)^(?!(?:blpk|error|hint|warning)\b)[a-z\d][\w./+-]*(?=: )"), "‹path›"),
    (re.compile(r"(?<![\w/])[\w.+-]*/[\w./+-]+|\b[\w-]+\.(?:blp|npy|csv|jsonl|out|rec|fill|parquet)\b"), "‹path›"),
    (re.compile(r"(?<![\w.])[-+]?\d+(?:[_,]\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?(?:[KMGT]i?B?|B)?(?!\w)"), "‹n›"),
)


def normalised(text: str) -> str:
    """The text with placeholders."""
    for pattern, placeholder in PLACEHOLDERS:
        text = pattern.sub(placeholder, text)
    return text


def steady(text: bytes) -> str:
    """The text without what is another at each run: durations and names of temporary files."""
    return SALT.sub("*", DURATION.sub("in ‹time›", text.decode(errors="replace")))


@dataclass
class Outcome:
    """The differences found in a case."""

    case: str
    commands: int = 0
    files: int = 0
    failures: list[str] = field(default_factory=list)
    # The old text, the new one, and where they are.
    texts: list[tuple[str, str, str]] = field(default_factory=list)
    generated: list[str] = field(default_factory=list)


class Comparison:
    """Compares what two builds did at one step."""

    def __init__(self, outcome: Outcome, step: Step, new_keys: set[str]) -> None:
        self.outcome, self.step, self.new_keys = outcome, step, new_keys

    def compare(self, old: Ran, new: Ran) -> None:
        if old.status != new.status:
            before, after = (f"{ran.status} ({last_line(ran.stderr)})" for ran in (old, new))
            self._fail(f"exit status {before} → {after}")
        self._compare_trees(old.tree, new.tree)
        if old.stdout != new.stdout:
            self._compare_output(old.stdout, new.stdout)
        self._compare_texts(old.stderr, new.stderr)

    def _fail(self, what: str) -> None:
        self.outcome.failures.append(f"`{self.outcome.case}`: `{self.step}`: {what}")

    def _compare_trees(self, old: dict[str, str], new: dict[str, str]) -> None:
        for name in sorted(old.keys() | new.keys()):
            before, after = old.get(name, "nothing"), new.get(name, "nothing")
            if before != after:
                self._fail(f"`{name}`: {before} → {after}")

    def _compare_output(self, old: bytes, new: bytes) -> None:
        kind = self.step.output
        if kind == "json":
            self._compare_json(old, new)
        elif kind == "data":
            self._fail(f"other data on standard output: {described(old)} → {described(new)}")
        elif kind == "generated":
            self._compare_generated(old.decode(), new.decode())
        else:
            self._compare_texts(old, new, paragraphs if kind == "help" else str.splitlines)

    def _compare_generated(self, old: str, new: str) -> None:
        pairs = len(list(changed(old.splitlines(), new.splitlines())))
        self.outcome.generated.append(f"`{self.step}`: {pairs} lines or blocks of lines differ")
        offered = options_offered(new)
        for command, options in options_offered(old).items():
            lost = sorted(options - offered.get(command, set()))
            if lost:
                self.outcome.generated.append(f"`{self.step}`: `{command}` no longer offers {', '.join(lost)}")

    def _compare_json(self, old: bytes, new: bytes) -> None:
        before, after = parsed(old), parsed(new)
        if before is None or after is None:
            self._fail(f"not JSON: {described(old)} → {described(new)}")
        else:
            self._compare_values(dict(leaves(before)), dict(leaves(after)))

    def _compare_values(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        for path in [*old, *(path for path in new if path not in old)]:
            if path not in old:
                if not self._may_be_new(path):
                    self._fail(f"JSON has a new value at `{path}`: {new[path]!r}")
            elif path not in new:
                self._fail(f"JSON has lost its value at `{path}`: {old[path]!r}")
            elif old[path] != new[path]:
                self._compare_leaf(path, old[path], new[path])

    def _may_be_new(self, path: str) -> bool:
        whole = re.sub(r"\[\d+\]", "[]", path)
        starts = tuple(f"{key}{sign}" for key in self.new_keys for sign in ".[")
        return whole in self.new_keys or whole.startswith(starts) or bool(self.new_keys & set(keys_of(path)))

    def _compare_leaf(self, path: str, old: Any, new: Any) -> None:
        if TEXT_KEYS & set(keys_of(path)) and isinstance(old, str) and isinstance(new, str):
            self._compare_texts(old.encode(), new.encode())
        else:
            self._fail(f"JSON has another value at `{path}`: {old!r} → {new!r}")

    def _compare_texts(self, old: bytes, new: bytes, split: Callable[[str], list[str]] = str.splitlines) -> None:
        if old != new:
            place = f"{self.outcome.case}: {self.step}"
            pairs = changed(split(steady(old)), split(steady(new)))
            self.outcome.texts += ((before, after, place) for before, after in pairs)


def last_line(text: bytes) -> str:
    """The line with the error, or the last one."""
    lines = text.decode(errors="replace").strip().splitlines()
    return next((line for line in lines if "error" in line), lines[-1] if lines else "no message")


def described(data: bytes) -> str:
    return f"{len(data)} bytes, SHA-256 {hashlib.sha256(data).hexdigest()[:16]}"


def options_offered(completions: str) -> dict[str, set[str]]:
    """The words that completions for bash offer for each command."""
    found = re.findall(r"^ +(blpk\w*)\)\s+opts=\"([^\"]*)\"", completions, re.MULTILINE)
    return {command: set(words.split()) for command, words in found}


def paragraphs(text: str) -> list[str]:
    """The paragraphs of a help page, each in one line, however it is wrapped."""
    found: list[str] = []
    indent = None
    for line in text.splitlines():
        this = len(line) - len(line.lstrip())
        if found and indent == this and line.strip() and not re.match(r"\s*(?:-|blpk |[a-z-]+  )", line):
            found[-1] += " " + line.strip()
        elif line.strip():
            found.append(line.strip())
        indent = this if line.strip() else None
    return found


def changed(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    """The lines that differ, in pairs; blocks of lines where one side has more of them."""
    blocks = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for kind, from_old, to_old, from_new, to_new in blocks:
        before, after = old[from_old:to_old], new[from_new:to_new]
        if kind == "equal":
            continue
        if len(before) == len(after):
            yield from zip(before, after)
        else:
            yield "\n".join(before), "\n".join(after)


@dataclass(frozen=True)
class Number:
    """A number of JSON as it is spelled."""

    text: str

    def __repr__(self) -> str:
        return self.text


def unique(pairs: list[tuple[str, Any]]) -> Any:
    """An object of JSON; where keys repeat, all of its pairs."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else [list(pair) for pair in pairs]


def parsed(text: bytes) -> Any:
    """The value of a JSON text, or None."""
    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=Number, parse_int=Number)
    except ValueError:
        return None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """The values in JSON with their paths; empty lists and objects are values, too."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for n, inner in enumerate(value):
            yield from leaves(inner, f"{path}[{n}]")
    else:
        yield path, value


def keys_of(path: str) -> list[str]:
    return re.split(r"[.\[\]]+", path)
