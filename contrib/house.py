#!/usr/bin/env python3
"""Measure how large and how tangled the code is: the table of figures, as Markdown.

    contrib/house.py                  the figures that only need the sources (about two seconds)
    contrib/house.py --api            also the public API, from rustdoc's JSON (compiles the libraries)
    contrib/house.py --build          also the processor time of builds (compiles the command five times)
    contrib/house.py --json           one JSON object in place of the table
    contrib/house.py --check          exit with 1 if a figure misses an aim that AIMS declares as held
    contrib/house.py --check --hold cycles --hold public.root
                                      the same, with these aims held, too ("all" holds each)

The script measures a Cargo workspace and a single package alike. It compiles in a target directory of its own,
`target/house` (see --target-dir).

How each figure is counted:

* Production code is what `mod` declarations reach from the root of a library or a binary, without what is under
  `#[cfg(test)]`, `#[cfg(doctest)]` or `#[test]`. A line of code has something on it that is neither blank nor a
  comment nor documentation. Packages that no other package depends on outside of its tests, and that have no binary,
  are for tests only and do not count (the root package always counts).
* A function is as long as the lines from `fn` to its closing brace. A file is as long as it is, with its documentation
  and inline tests; the second number of that row counts its lines of code alone.
* An import cycle is a strongly connected component of the files of one crate. A file imports another if it names
  something in it, by `use` or by an inline path. Re-exports are followed to the file that defines the name. A module
  and the modules below it may name each other, so these edges do not count.
* `saturating_*`, `try_from(..).unwrap_or(MAX or 0)` and `get(range).unwrap_or_default()` are counted in the libraries;
  the second number is that of the command. MAX is any expression with `::MAX`; `unwrap_or_default` counts as 0.
  `get(x).unwrap_or_default()` only compiles for slices, so any `x` is a range.
* A public name is counted where rustdoc finds it, with the features of API_FEATURES. Modules are not names. A name has
  two paths if its own crate exports it twice; one more path through the facade `bloscpack` is fine.

The first review counted commit c96ba2d by other means. This script finds the same there, but for these:

* 55,234 lines of code and 423 files where the review has 55,339 and 424: the review counted `src/blosc/peer.rs`, a
  module for tests (102 lines), and an item under `#[cfg(doctest)]` (3 lines).
* 12 import cycles of 38 files in the library and one of 3 files in the command, where the review has 19 of 76 and one
  of 60: there, edges between a module and the modules below it counted, at least in part. If all of them count, this
  script finds one cycle of 63 files in the command; if only those to a direct child or parent do not, it finds 11 of
  76 files in the library.
* 4,024 functions where the review has 4,032 (8 are in `peer.rs`).
* 251 `try_from` where the review has 249 (here, two `unwrap_or_default` count, too), and 96 `get` where the review has
  90 (here, ranges in variables and chains over several lines count).
* 229 public names where the review has 231, and 38 by two paths where it has 37: Arrow and Parquet are not among
  API_FEATURES, since they take minutes to compile.
* 164 s of processor time for a clean build of the command, then 98 s, 97 s, 111 s and 81 s after touching the engine,
  the frames, the datasets and the command, where the review has 242 s and 136 s. Times depend on the machine, and on
  what else it does: measure both trees on one machine, one after the other.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent

# Longer functions and files are listed.
LONG_FUNCTION = 60
LONG_FILE = 400

# Features of public names, where a package has them.
API_FEATURES = ("serde", "mmap", "ndarray")

# Parts of the root package, by the beginning of the path. The rest of it is "core".
PARTS = (
    ("src/bin/", "command"),
    ("src/dataset", "datasets"),
    ("src/array", "datasets"),
    ("src/wire/dataset", "datasets"),
    ("src/wire/dtype", "datasets"),
    ("src/wire/literal", "datasets"),
    ("src/wire/npy", "datasets"),
    ("src/wire/numpy", "datasets"),
    ("src/storage/tree", "datasets"),
    ("src/blosc", "engine"),
    ("src/frame", "frames"),
    ("src/wire/frame", "frames"),
    ("src/exchange", "exchange"),
    ("src/file/recover", "recover"),
    ("src/damages", "recover"),
    ("src/recover", "recover"),
    ("src/file/records", "records"),
    ("src/wire/records", "records"),
    ("src/records", "records"),
)

# Parts whose crate has another name. The other crates are parts by their own names.
CRATE_PARTS = {"blosc1": "engine", "blpk": "command"}

# Files that --build touches: the first one that exists.
TOUCHED = {
    "engine": ("crates/blosc1/src/lib.rs", "src/blosc/mod.rs"),
    "frames": ("crates/frames/src/lib.rs", "src/frame/mod.rs"),
    "datasets": ("crates/datasets/src/lib.rs", "src/dataset/mod.rs"),
    "command": ("crates/blpk/src/main.rs", "src/bin/blpk/main.rs"),
}


@dataclass(frozen=True)
class Aim:
    """The bound of a figure; `held` says that --check insists on it."""

    sign: str
    bound: float
    held: bool = False

    def is_met(self, value: float) -> bool:
        return value <= self.bound if self.sign == "≤" else value >= self.bound

    def __str__(self) -> str:
        return f"{self.sign} {self.bound:,}" if self.bound or self.sign != "≤" else "0"


# The aims of the figures. Set `held` once an aim is met, so that it stays met.
AIMS = {
    "lines": Aim("≤", 45_000),
    "lines.recover": Aim("≤", 2_200),
    "lines.command": Aim("≤", 7_000),
    "units": Aim("≥", 2, held=True),
    "cycles": Aim("≤", 0, held=True),
    "functions.long": Aim("≤", 0, held=True),
    "files.long": Aim("≤", 5),
    "fallback.get": Aim("≤", 0, held=True),
    "tracked": Aim("≤", 2_700),
    "docs": Aim("≥", 0.5),
    "public.root": Aim("≤", 30),
    "public.twice": Aim("≤", 0),
    "public.builders": Aim("≤", 8),
    "build.engine": Aim("≤", 100),
    "build.frames": Aim("≤", 50),
    "build.datasets": Aim("≤", 50),
}


@dataclass
class Row:
    """A figure: its key, its name in the table, its value, how it is printed, and what it consists of."""

    key: str
    name: str
    value: float
    text: str = ""
    details: list[str] = field(default_factory=list)

    def printed(self) -> str:
        return self.text or (f"{self.value:,}" if isinstance(self.value, int) else f"{self.value:,.2f}")


# Sources


TOKEN = re.compile(
    r"""(?P<doc>///(?!/)[^\n]*|//![^\n]*)
    |(?P<line>//[^\n]*)
    |(?P<block>/\*)
    |(?P<raw>(?<!\w)[bc]?r(?P<hashes>\#*)".*?"(?P=hashes))
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<char>'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'\n])')""",
    re.VERBOSE | re.DOTALL,
)
DOC_LINE = re.compile(r"^\s*(?:///(?!/)|//!)", re.MULTILINE)
TEST = re.compile(r"#\[\s*(?:cfg\(\s*(?:all\(\s*)?(?:test|doctest)\b[^\]]*|test\s*)\]")
ATTRIBUTE = re.compile(r"\s*#\[(?:[^\[\]]|\[[^\]]*\])*\]")
STATEMENT = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:use|extern|static|const)\b")
MODULE = re.compile(r'(?:#\[\s*path\s*=\s*"([^"]*)"\s*\]\s*(?:#\[[^\]]*\]\s*)*)?(?<![\w.])mod\s+(?:r#)?(\w+)\s*([;{])')
FUNCTION = re.compile(r"(?<![\w.])fn\s+(?:r#)?(\w+)")


def blank(text: str) -> str:
    """The text with nothing but its line breaks."""
    return re.sub(r"[^\n]", " ", text)


def end_of_comment(text: str, start: int) -> int:
    """The end of a block comment; such comments may be nested."""
    depth = 0
    for mark in re.finditer(r"/\*|\*/", text[start:]):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return start + mark.end()
    return len(text)


def mask(text: str) -> tuple[str, str]:
    """The text without comments, and the same with empty strings and characters; positions stay as they are."""
    bare: list[str] = []
    code: list[str] = []
    at = 0
    while token := TOKEN.search(text, at):
        plain = text[at : token.start()]
        at = end_of_comment(text, token.start()) if token["block"] else token.end()
        whole = text[token.start() : at]
        is_comment = token["doc"] or token["line"] or token["block"]
        bare += plain, blank(whole) if is_comment else whole
        code += plain, blank(whole) if is_comment else whole[0] + blank(whole[1:-1]) + whole[-1]
    return "".join([*bare, text[at:]]), "".join([*code, text[at:]])


def closing(code: str, start: int) -> int:
    """The position past the bracket that closes the one at `start`."""
    depth = 0
    for bracket in re.finditer(r"[()\[\]{}]", code[start:]):
        depth += 1 if bracket.group() in "([{" else -1
        if depth == 0:
            return start + bracket.end()
    return len(code)


def opening(code: str, closed: int) -> int:
    """The position of the bracket that the one at `closed` closes."""
    depth = 0
    for at in range(closed, -1, -1):
        depth += {")": 1, "]": 1, "}": 1, "(": -1, "[": -1, "{": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return 0


def end_of_item(code: str, at: int) -> int:
    """The end of the item whose attributes begin at `at`."""
    while attribute := ATTRIBUTE.match(code, at):
        at = attribute.end()
    marks = ";" if STATEMENT.match(code, at) else "[;{]"
    mark = re.compile(marks).search(code, at)
    if mark is None:
        return len(code)
    return mark.end() if mark.group() == ";" else closing(code, mark.start())


def test_spans(code: str) -> list[tuple[int, int]]:
    """Where items are that only exist in tests."""
    spans, at = [], 0
    while test := TEST.search(code, at):
        at = end_of_item(code, test.end())
        spans.append((test.start(), at))
    return spans


def cut(text: str, spans: list[tuple[int, int]]) -> str:
    """The text with spaces at `spans`."""
    for start, end in spans:
        text = text[:start] + blank(text[start:end]) + text[end:]
    return text


@dataclass
class Source:
    """A file of production code: `bare` has no comments, `code` has neither comments nor the content of strings."""

    path: Path
    module: tuple[str, ...]
    bare: str
    code: str
    length: int
    docs: int

    @staticmethod
    def read(path: Path, module: tuple[str, ...]) -> Source:
        text = path.read_text(encoding="utf-8")
        bare, code = mask(text)
        spans = test_spans(code)
        docs = len(DOC_LINE.findall(cut(text, spans)))
        return Source(path, module, cut(bare, spans), cut(code, spans), text.count("\n"), docs)

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix() if self.path.is_relative_to(ROOT) else self.path.as_posix()

    @cached_property
    def lines(self) -> int:
        return sum(1 for line in self.bare.split("\n") if line.strip())

    @cached_property
    def inline_modules(self) -> list[tuple[int, int, str]]:
        """Modules with a body in this file: where each begins and ends, and its name."""
        found = (mark for mark in MODULE.finditer(self.code) if mark[3] == "{")
        return [(mark.end(), closing(self.code, mark.end() - 1), mark[2]) for mark in found]

    def module_at(self, at: int) -> tuple[str, ...]:
        """The module that a position belongs to."""
        return self.module + tuple(name for start, end, name in self.inline_modules if start <= at < end)

    def functions(self) -> Iterator[tuple[str, int]]:
        """The functions that have a body, with their lengths."""
        for head in FUNCTION.finditer(self.code):
            body = self._body(head.end())
            if body is not None:
                yield head[1], self.code.count("\n", head.start(), closing(self.code, body)) + 1

    def _body(self, at: int) -> int | None:
        while mark := re.compile(r"[(\[{;]").search(self.code, at):
            if mark.group() in "{;":
                return mark.start() if mark.group() == "{" else None
            at = closing(self.code, mark.start())
        return None


def walk(path: Path, module: tuple[str, ...] = (), is_root: bool = True) -> list[Source]:
    """The file and all files that its `mod` declarations reach."""
    source = Source.read(path, module)
    folder = path.parent if is_root or path.name == "mod.rs" else path.parent / path.stem
    sources = [source]
    for mark in MODULE.finditer(source.bare):
        if mark[3] == ";":
            inner = source.module_at(mark.start())[len(module) :]
            child = module_file(path, folder.joinpath(*inner), mark[1], mark[2])
            sources += walk(child, (*module, *inner, mark[2]), False)
    return sources


def module_file(parent: Path, folder: Path, given: str | None, name: str) -> Path:
    """The file of a module that `parent` declares."""
    if given:
        return parent.parent / given
    file = folder / f"{name}.rs"
    return file if file.exists() else folder / name / "mod.rs"


# Packages


@dataclass
class Target:
    """A library or a binary of a package, with its files."""

    name: str
    is_library: bool
    sources: list[Source]


@dataclass
class Package:
    """A package of the workspace."""

    name: str
    folder: Path
    features: list[str]
    targets: list[Target]

    @property
    def is_root(self) -> bool:
        return self.folder == ROOT

    def library(self) -> Target | None:
        return next((target for target in self.targets if target.is_library), None)

    def part(self, source: Source) -> str:
        """The part of the project that a file belongs to."""
        if not self.is_root:
            return CRATE_PARTS.get(self.folder.name, self.folder.name)
        return next((part for start, part in PARTS if source.name.startswith(start)), "core")


LIBRARY_KINDS = {"lib", "rlib", "proc-macro", "cdylib", "staticlib"}


def packages() -> list[Package]:
    """The packages of the workspace that have production code."""
    command = ["cargo", "metadata", "--no-deps", "--offline", "--format-version", "1"]
    found = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)["packages"]
    used = {edge["name"] for package in found for edge in package["dependencies"] if edge["kind"] is None}
    all_packages = [package for package in map(package_of, found) if package.targets]
    return sorted((each for each in all_packages if is_production(each, used)), key=lambda each: str(each.folder))


def package_of(found: dict[str, Any]) -> Package:
    folder = Path(found["manifest_path"]).parent.resolve()
    targets = []
    for target in found["targets"]:
        is_library = bool(LIBRARY_KINDS & set(target["kind"]))
        if is_library or "bin" in target["kind"]:
            targets.append(Target(target["name"].replace("-", "_"), is_library, walk(Path(target["src_path"]))))
    return Package(found["name"], folder, sorted(found["features"]), targets)


def is_production(package: Package, used: set[str]) -> bool:
    has_binary = any(not target.is_library for target in package.targets)
    return package.is_root or has_binary or package.name in used


def all_sources(found: list[Package]) -> list[tuple[str, Source]]:
    """Each file once, with its part."""
    by_path = {
        source.path: (package.part(source), source)
        for package in found
        for target in package.targets
        for source in target.sources
    }
    return [by_path[path] for path in sorted(by_path)]


# Import cycles


USE = re.compile(r"(?<!\w)use\s+([^;]+);")
INLINE_PATH = re.compile(r"(?<![\w:.'])\w+(?:\s*::\s*\w+)+")
DEFINED = re.compile(r"(?<!\w)(?:struct|enum|union|trait|fn|const|static|type|mod|macro_rules!)\s+(?:mut\s+)?(\w+)")

ModulePath = tuple[str, ...]


def split_list(text: str) -> list[str]:
    """The parts of a list between commas that are in no braces."""
    parts, depth = [""], 0
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part.strip() for part in parts if part.strip()]


def names_used(text: str, before: ModulePath = ()) -> Iterator[tuple[ModulePath, str]]:
    """The paths that a `use` names, each with the name that it gets."""
    for part in split_list(text):
        brace = part.find("{")
        if brace >= 0:
            yield from names_used(part[brace + 1 : part.rindex("}")], before + segments(part[:brace]))
            continue
        path, _, alias = part.partition(" as ")
        whole = before + segments(path)
        if whole[-1] == "self" and len(whole) > 1:
            whole = whole[:-1]
        yield whole, alias.strip() or whole[-1]


def segments(path: str) -> ModulePath:
    return tuple(part.strip() for part in path.split("::") if part.strip())


class Imports:
    """The imports between the files of a crate."""

    def __init__(self, target: Target) -> None:
        self.roots = {"crate", target.name} if target.is_library else {"crate"}
        self.files = {source.module: source for source in target.sources}
        self.aliases: dict[ModulePath, dict[str, ModulePath]] = {module: {} for module in self.files}
        self.globs: dict[ModulePath, list[ModulePath]] = {module: [] for module in self.files}
        self.named: dict[ModulePath, list[ModulePath]] = {module: [] for module in self.files}
        self.defined = {module: set(DEFINED.findall(source.code)) for module, source in self.files.items()}
        for source in target.sources:
            self._read_uses(source)
        for source in target.sources:
            self._read_paths(source)

    def _read_uses(self, source: Source) -> None:
        for use in USE.finditer(source.code):
            for path, name in names_used(use[1]):
                found = self._absolute(source.module_at(use.start()), path)
                if found is None:
                    continue
                if name == "*":
                    found = found[:-1]
                    self.globs[source.module].append(found)
                else:
                    self.aliases[source.module][name] = found
                self.named[source.module].append(found)

    def _read_paths(self, source: Source) -> None:
        code = USE.sub(lambda use: blank(use.group()), source.code)
        for mark in INLINE_PATH.finditer(code):
            path = segments(mark.group())
            found = self._absolute(source.module_at(mark.start()), path)
            if found is None and path[0] in self.aliases[source.module]:
                found = self.aliases[source.module][path[0]] + path[1:]
            if found is not None:
                self.named[source.module].append(found)

    def _absolute(self, module: ModulePath, path: ModulePath) -> ModulePath | None:
        """The path from the root of the crate, or none of another crate's."""
        if path[0] in self.roots:
            return path[1:]
        if path[0] in ("self", "super"):
            while path and path[0] in ("self", "super"):
                module = module[:-1] if path[0] == "super" else module
                path = path[1:]
            return module + path
        return module + path if (*module, path[0]) in self.files else None

    def file_of(self, path: ModulePath, patience: int = 20) -> ModulePath:
        """The module whose file defines what a path names."""
        length = next(n for n in range(len(path), -1, -1) if path[:n] in self.files)
        module, rest = path[:length], path[length:]
        if not rest or patience == 0:
            return module
        target = self.aliases[module].get(rest[0]) or self._by_glob(module, rest[0])
        if target is None or target + rest[1:] == path:
            return module
        return self.file_of(target + rest[1:], patience - 1)

    def _by_glob(self, module: ModulePath, name: str) -> ModulePath | None:
        if name in self.defined[module]:
            return None
        for glob in self.globs[module]:
            if glob in self.files and glob != module and (name in self.defined[glob] or name in self.aliases[glob]):
                return (*glob, name)
        return None

    def edges(self) -> dict[ModulePath, set[ModulePath]]:
        """Which files import which, but for modules and those below them."""
        return {
            module: {to for to in map(self.file_of, paths) if not is_above(to, module) and not is_above(module, to)}
            for module, paths in self.named.items()
        }

    def cycles(self) -> list[list[str]]:
        """The strongly connected components of more than one file."""
        edges = self.edges()
        reached = {module: reachable(edges, module) for module in edges}
        found = {
            frozenset(other for other in reached[module] if module in reached[other])
            for module in edges
            if module in reached[module]
        }
        return sorted(sorted(self.files[module].name for module in each) for each in found)


def is_above(module: ModulePath, other: ModulePath) -> bool:
    """Whether `other` is `module` or below it."""
    return other[: len(module)] == module


def reachable(edges: dict[ModulePath, set[ModulePath]], start: ModulePath) -> set[ModulePath]:
    """The modules that edges lead to from `start`, which is among them if it is in a cycle."""
    found: set[ModulePath] = set()
    left = list(edges[start])
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += edges[module]
    return found


# Figures of the sources


def line_rows(sources: list[tuple[str, Source]]) -> list[Row]:
    parts: Counter[str] = Counter()
    for part, source in sources:
        parts[part] += source.lines
    rows = [Row("lines", "production code, lines", sum(parts.values()))]
    return rows + [Row(f"lines.{part}", f"of it: {part}", lines) for part, lines in parts.most_common()]


def unit_row(found: list[Package]) -> Row:
    libraries = [package.name for package in found if package.library()]
    binaries = [target.name for package in found for target in package.targets if not target.is_library]
    return Row(
        "units",
        "compile units (libraries)",
        len(libraries),
        "",
        [f"libraries: {', '.join(libraries)}", f"binaries: {', '.join(binaries)}"],
    )


def cycle_row(found: list[Package]) -> Row:
    cycles = [cycle for package in found for target in package.targets for cycle in Imports(target).cycles()]
    files = sum(len(target.sources) for package in found for target in package.targets)
    text = f"{len(cycles)} ({sum(map(len, cycles))} of {files} files)"
    return Row("cycles", "import cycles between files", len(cycles), text, [" ↔ ".join(cycle) for cycle in cycles])


def function_rows(sources: list[tuple[str, Source]]) -> list[Row]:
    found = [(length, f"{source.name}: {name}") for _, source in sources for name, length in source.functions()]
    long = sorted((each for each in found if each[0] > LONG_FUNCTION), reverse=True)
    median = statistics.median(length for length, _ in found)
    return [
        Row(
            "functions.long",
            f"functions > {LONG_FUNCTION} lines",
            len(long),
            "",
            [f"{name}, {length} lines" for length, name in long],
        ),
        Row("functions", "functions (and their median length)", len(found), f"{len(found):,} ({median:g})"),
    ]


def file_row(sources: list[tuple[str, Source]]) -> Row:
    long = sorted(
        ((source.length, source) for _, source in sources if source.length > LONG_FILE),
        key=lambda each: (-each[0], each[1].name),
    )
    of_code = sum(source.lines > LONG_FILE for _, source in sources)
    return Row(
        "files.long",
        f"production files > {LONG_FILE} lines (> {LONG_FILE} lines of code)",
        len(long),
        f"{len(long)} ({of_code})",
        [f"{source.name}, {length} lines ({source.lines} of code)" for length, source in long],
    )


UNWRAPPED = re.compile(r"\.\s*unwrap_or(_default|_else)?\s*\(")
CALLED = re.compile(r"(\w+)\s*(?:::\s*<[^()]*>\s*)?$")
CLOSURE = re.compile(r"^(?:move\s+)?\|[^|]*\|\s*")


def chained_call(code: str, at: int) -> str:
    """The name of the call right before the position, past `.ok()`."""
    before = code[:at].rstrip()
    if not before.endswith(")"):
        return ""
    start = opening(code, len(before) - 1)
    called = CALLED.search(code, max(0, start - 80), start)
    name = called[1] if called else ""
    return chained_call(code, code.rindex(".", 0, start)) if name == "ok" else name


def fallbacks(code: str) -> Counter[str]:
    """How often values are made up in place of errors."""
    found = Counter({"saturating": len(re.findall(r"\bsaturating_\w+", code))})
    for mark in UNWRAPPED.finditer(code):
        value = code[mark.end() : closing(code, mark.end() - 1) - 1].strip()
        value = CLOSURE.sub("", value) if mark[1] == "_else" else value
        name = chained_call(code, mark.start())
        if name in ("try_from", "try_into") and (
            mark[1] == "_default" or re.search(r"::\s*MAX\b|^0(?:_?[iu]\w+)?$", value)
        ):
            found["try_from"] += 1
        elif name in ("get", "get_mut") and mark[1] == "_default":
            found["get"] += 1
    return found


FALLBACK_NAMES = {
    "saturating": "`saturating_*` (in the command)",
    "try_from": "`try_from(..).unwrap_or(MAX or 0)` (in the command)",
    "get": "`get(range).unwrap_or_default()` (in the command)",
}


def fallback_rows(sources: list[tuple[str, Source]]) -> list[Row]:
    library: Counter[str] = Counter()
    command: Counter[str] = Counter()
    by_file: dict[str, list[str]] = defaultdict(list)
    for part, source in sources:
        found = fallbacks(source.code)
        (command if part == "command" else library).update(found)
        for key in ("try_from", "get"):
            if found[key]:
                by_file[key].append(f"{source.name} {found[key]}")
    return [
        Row(
            f"fallback.{key}",
            name,
            library[key] + command[key],
            f"{library[key]} ({command[key]})",
            [", ".join(by_file[key])] if by_file[key] else [],
        )
        for key, name in FALLBACK_NAMES.items()
    ]


def tracked_rows() -> list[Row]:
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    names = [name for name in done.stdout.split("\0") if name]
    corpus = sum(name.startswith("fuzz/corpus/") for name in names)
    return [Row("tracked", "tracked files", len(names)), Row("tracked.corpus", "of them: fuzz corpus", corpus)]


def doc_row(sources: list[tuple[str, Source]]) -> Row:
    public = [source for part, source in sources if part != "command"]
    share = sum(source.docs for source in public) / max(1, sum(source.lines for source in public))
    return Row("docs", "doc lines per code line, public crates", round(share, 3))


def source_rows(found: list[Package]) -> list[Row]:
    sources = all_sources(found)
    return [
        *line_rows(sources),
        unit_row(found),
        cycle_row(found),
        *function_rows(sources),
        file_row(sources),
        *fallback_rows(sources),
        *tracked_rows(),
        doc_row(sources),
    ]


# Public API


def rustdoc(package: Package, library: Target, target_dir: Path) -> dict[str, Any]:
    """The JSON that rustdoc writes for a library."""
    features = ",".join(feature for feature in API_FEATURES if feature in package.features)
    command = ["cargo", "rustdoc", "--quiet", "--locked", "--lib", "--package", package.name, "--features", features]
    command += ["--target-dir", str(target_dir), "--"]
    command += ["-Z", "unstable-options", "--output-format", "json", "--cap-lints", "warn"]
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{done.stderr}\nhouse: rustdoc failed for {package.name}")
    with open(target_dir / "doc" / f"{library.name}.json", encoding="utf-8") as file:
        return json.load(file)


def kind_of(item: dict[str, Any]) -> str:
    return next(iter(item["inner"]))


class Api:
    """The public names of the libraries, each by its paths."""

    def __init__(self, crates: dict[str, dict[str, Any]]) -> None:
        self.crates = crates
        self.ids = {
            (tuple(entry["path"]), entry["kind"]): (name, ident)
            for name, crate in crates.items()
            for ident, entry in crate["paths"].items()
            if entry["crate_id"] == 0
        }

    def names(self, crate: str, follow: bool) -> dict[tuple[str, str], set[str]]:
        """The names of a crate with their paths; `follow` enters the other crates that it exports."""
        found: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._module(found, crate, str(self.crates[crate]["root"]), (), follow, frozenset())
        return found

    def _module(
        self,
        found: dict[tuple[str, str], set[str]],
        crate: str,
        ident: str,
        before: tuple[str, ...],
        follow: bool,
        seen: frozenset[tuple[str, str]],
    ) -> None:
        if (crate, ident) in seen:
            return
        index = self.crates[crate]["index"]
        for child in map(str, index[ident]["inner"]["module"]["items"]):
            item = index.get(child)
            if item is None or item["visibility"] != "public":
                continue
            name, is_glob, place = item["name"], False, (crate, child)
            if kind_of(item) == "use":
                use = item["inner"]["use"]
                name, is_glob, place = use["name"], use["is_glob"], self._place(crate, str(use["id"]))
            path = before if is_glob else (*before, name)
            if self._is_module(place):
                if follow or place[0] == crate:
                    self._module(found, *place, path, follow, seen | {(crate, ident)})
            elif not is_glob and (follow or place[0] == crate):
                found[place].add("::".join(path))

    def _place(self, crate: str, ident: str) -> tuple[str, str]:
        """Where an exported item is: in this crate, in another one of ours, or elsewhere."""
        if ident in self.crates[crate]["index"]:
            return crate, ident
        entry = self.crates[crate]["paths"].get(ident)
        if entry is None:
            return "", f"{crate} {ident}"
        return self.ids.get((tuple(entry["path"]), entry["kind"]), ("", "::".join(entry["path"])))

    def _is_module(self, place: tuple[str, str]) -> bool:
        crate, ident = place
        item = self.crates[crate]["index"].get(ident) if crate else None
        return item is not None and kind_of(item) == "module"


def api_rows(found: list[Package], target_dir: Path) -> list[Row]:
    libraries = [(package, library) for package in found if (library := package.library())]
    crates = {library.name: rustdoc(package, library, target_dir) for package, library in libraries}
    root = next((library.name for package, library in libraries if package.is_root), next(iter(crates)))
    api = Api(crates)
    public = api.names(root, True)
    at_root = sorted(path for paths in public.values() for path in paths if "::" not in path)
    twice = [
        f"{crate}: {' = '.join(sorted(paths))}"
        for crate in crates
        for paths in api.names(crate, False).values()
        if len(paths) > 1
    ]
    shortest = sorted(min(paths, key=lambda path: (len(path), path)) for paths in public.values())
    builders = [path for path in shortest if path.endswith(("Builder", "Options"))]
    return [
        Row("public.root", f"names at the root of `{root}`", len(at_root), "", [", ".join(at_root)]),
        Row("public.reachable", f"names reachable from `{root}`", len(public)),
        Row("public.twice", "names by two paths in one crate", len(twice), "", sorted(twice)),
        Row("public.builders", "builder and option types", len(builders), "", [", ".join(builders)]),
    ]


# Processor time of builds


def command_package(found: list[Package]) -> str:
    return next(package.name for package in found for target in package.targets if target.name == "blpk")


def build(package: str, target_dir: Path, jobs: int) -> tuple[float, float]:
    """Builds the command; gives the seconds of processor time and those on the clock."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", package, "--bin", "blpk"]
    command += ["--jobs", str(jobs), "--target-dir", str(target_dir)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return used, time.monotonic() - start


def build_row(key: str, name: str, times: tuple[float, float]) -> Row:
    used, clock = times
    return Row(key, f"processor time of a release build {name}", round(used, 1), f"{used:.0f} s (clock: {clock:.0f} s)")


def build_rows(found: list[Package], target_dir: Path, jobs: int) -> list[Row]:
    package, target_dir = command_package(found), target_dir / "build"
    shutil.rmtree(target_dir, ignore_errors=True)
    rows = [build_row("build.clean", "from nothing", build(package, target_dir, jobs))]
    for name, candidates in TOUCHED.items():
        touched = next((path for path in candidates if (ROOT / path).exists()), None)
        if touched is None:
            print(f"house: nothing to touch for {name}", file=sys.stderr)
            continue
        os.utime(ROOT / touched)
        rows.append(build_row(f"build.{name}", f"after touching `{touched}`", build(package, target_dir, jobs)))
    return rows


# Output


def aim_text(row: Row) -> str:
    aim = AIMS.get(row.key)
    return f"{aim}{'' if aim.is_met(row.value) else ' ✗'}" if aim else "–"


def print_table(rows: list[Row]) -> None:
    print("| figure | now | aim |\n|---|--:|--:|")
    for row in rows:
        print(f"| {row.name} | {row.printed()} | {aim_text(row)} |")
    for row in rows:
        if row.details:
            print(f"\n{row.name[0].upper()}{row.name[1:]}:\n")
            print("\n".join(f"- {detail}" for detail in row.details))


def print_json(rows: list[Row]) -> None:
    shown = {}
    for row in rows:
        aim = AIMS.get(row.key)
        shown[row.key] = {"name": row.name, "value": row.value}
        if aim:
            shown[row.key] |= {"aim": str(aim), "met": aim.is_met(row.value), "held": aim.held}
        if row.details:
            shown[row.key]["details"] = row.details
    print(json.dumps(shown, indent=2, ensure_ascii=False))


def violations(rows: list[Row], hold: list[str]) -> list[str]:
    """The figures that miss an aim that is held; an aim that was not measured is reported, but not as missed."""
    by_key = {row.key: row for row in rows}
    found = []
    for key, aim in AIMS.items():
        if not (aim.held or "all" in hold or key in hold):
            continue
        row = by_key.get(key)
        if row is None:
            print(f"house: not measured: {key}", file=sys.stderr)
        elif not aim.is_met(row.value):
            found.append(f"{row.name} ({key}): {row.printed()}, the aim is {aim}")
    return found


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure how large and how tangled the code is.")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a figure misses an aim that is held")
    parser.add_argument("--hold", action="append", default=[], metavar="KEY", help="hold this aim, too, or 'all'")
    parser.add_argument("--api", action="store_true", help="measure the public API, which compiles the libraries")
    parser.add_argument("--build", action="store_true", help="measure builds, which takes some minutes")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="jobs of a build [default: all cores]")
    parser.add_argument("--target-dir", type=Path, default=ROOT / "target" / "house", help="where to compile")
    options = parser.parse_args()
    unknown = set(options.hold) - {"all", *AIMS}
    if unknown:
        parser.error(f"no aim for {', '.join(sorted(unknown))} (found: {', '.join(AIMS)})")
    return options


def main() -> int:
    options = arguments()
    found = packages()
    target_dir = options.target_dir.resolve()
    rows = source_rows(found)
    if options.api:
        rows += api_rows(found, target_dir)
    if options.build:
        rows += build_rows(found, target_dir, options.jobs)
    (print_json if options.json else print_table)(rows)
    missed = violations(rows, options.hold) if options.check else []
    for line in missed:
        print(f"house: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
