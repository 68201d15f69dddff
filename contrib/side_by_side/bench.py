"""Cases of contrib/side_by_side.py, and a folder in which one build of the command runs them."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import signal
import stat
import string
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Union

# Seconds until a command counts as hanging.
LONGEST_RUN = 60

# Commands whose standard output is human-readable text, unless it is JSON. The output of the others is data.
TEXT_COMMANDS = {"info", "i", "ls", "verify", "recover", "repair"}

# The random part of the names of temporary files.
SALT = re.compile(r"(?<=\.blpk-)\w+(?=\.tmp)|(?<=\.blpk/)[0-9a-f]{32}")

# A program that runs the command with a handler of SIGXFSZ and a limit on the size of files.
LIMITED = """
import os, resource, signal, sys
handler, size, blpk = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
signal.signal(signal.SIGXFSZ, signal.Handlers(handler))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
os.execv(blpk, ["blpk", *sys.argv[4:]])
"""

# The bytes of a file, or where the file or folder is that is copied.
Content = Union[bytes, Path]


@dataclass(frozen=True)
class Step:
    """A command line, and the file that comes through its standard input."""

    args: tuple[str, ...]
    stdin: str | None = None
    # The most bytes that a file may have. A command that writes more is killed, or gets an error.
    size_limit: int | None = None
    is_killed: bool = True

    def __str__(self) -> str:
        line = shlex.join(("blpk", *self.args))
        return f"{line} < {self.stdin}" if self.stdin else line

    @property
    def output(self) -> str:
        """The kind of standard output: help, generated, json, text or data."""
        if {"--help", "-h", "--version", "help"} & set(self.args):
            return "help"
        if self.args and self.args[0] in ("man", "completions"):
            return "generated"
        if "--json" in self.args:
            return "json"
        return "text" if TEXT_COMMANDS & set(self.args[:2]) else "data"


def script(text: str, **names: str) -> list[Step]:
    """The steps that a text describes, a command line on each line.

    `< FILE` gives the standard input, `$name` is replaced, and words are quoted as in a shell.
    """
    lines = (line.strip() for line in string.Template(text).substitute(names).splitlines())
    return [step_of(line) for line in lines if line]


def step_of(line: str) -> Step:
    command, _, stdin = line.partition(" < ")
    return Step(tuple(shlex.split(command)), stdin or None)


def limited(steps: list[Step], size: int, is_killed: bool) -> list[Step]:
    """The same steps, with a limit on the size of files."""
    return [replace(step, size_limit=size, is_killed=is_killed) for step in steps]


@dataclass
class Case:
    """Command lines that run one after the other, in a folder with these files.

    The old build alone runs `prepare`, and each build continues with a copy of what it left.
    """

    name: str
    files: Mapping[str, Content]
    steps: list[Step]
    prepare: list[Step] = field(default_factory=list)


@dataclass
class Ran:
    """The result of a command."""

    status: int | str
    stdout: bytes
    stderr: bytes
    tree: dict[str, str]


class Bench:
    """A folder in which one build runs."""

    def __init__(self, blpk: Path, folder: Path) -> None:
        self.blpk, self.folder, self.tree = blpk, folder, Tree(folder)
        inherited = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
        self.environment = {**inherited, "LC_ALL": "C.UTF-8", "COLUMNS": "100", "TERM": "dumb"}

    def put(self, files: Mapping[str, Content]) -> None:
        """Makes the folder with these files. A later file may replace one of an earlier folder."""
        self.folder.mkdir(parents=True)
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif content.is_dir():
                copy_folder(content, path)
            else:
                shutil.copyfile(content, path)

    def run(self, step: Step, is_last: bool = False) -> Ran:
        """Runs a command and looks at the folder; after the last one, more closely."""
        status, stdout, stderr = self.start(step)
        if is_last:
            self.tree.forget()
        here = str(self.folder).encode()
        return Ran(status, stdout.replace(here, b"HERE"), stderr.replace(here, b"HERE"), self.tree.read())

    def start(self, step: Step) -> tuple[int | str, bytes, bytes]:
        """Runs a command; gives its status and its output."""
        command, program = ["blpk", *step.args], str(self.blpk)
        if step.size_limit is not None:
            handler = str(int(signal.SIG_DFL if step.is_killed else signal.SIG_IGN))
            command = [sys.executable, "-c", LIMITED, handler, str(step.size_limit), program, *step.args]
            program = sys.executable
        with open(self._stdin(step), "rb") as stdin:
            try:
                done = subprocess.run(command, executable=program, cwd=self.folder, env=self.environment, stdin=stdin,
                                      capture_output=True, timeout=LONGEST_RUN)
            except subprocess.TimeoutExpired:
                return "timeout", b"", b""
        return done.returncode, done.stdout, done.stderr

    def _stdin(self, step: Step) -> str:
        path = self.folder / step.stdin if step.stdin else None
        return str(path) if path and path.is_file() else os.devnull


def copy_folder(source: Path, target: Path) -> None:
    """Copies a dataset. Git keeps no empty folders, so each `meta` gets its `data`."""
    shutil.copytree(source, target, symlinks=True)
    for meta in target.rglob("meta"):
        if meta.is_dir():
            (meta.parent / "data").mkdir(exist_ok=True)


class Tree:
    """The entries below a folder. Files whose times are unchanged are not read again until `forget` is called."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.digests: dict[str, tuple[tuple[int, ...], str]] = {}

    def forget(self) -> None:
        self.digests.clear()

    def read(self) -> dict[str, str]:
        """All entries with their kinds, permissions and digests."""
        found: dict[str, list[str]] = {}
        self._read_folder(str(self.folder), "", found)
        return {name: ", ".join(sorted(entries)) for name, entries in found.items()}

    def _read_folder(self, folder: str, before: str, found: dict[str, list[str]]) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = before + entry.name
                found.setdefault(SALT.sub("*", name) if ".blpk" in name else name, []).append(self._entry(entry))
                if entry.is_dir(follow_symlinks=False):
                    self._read_folder(entry.path, f"{name}/", found)

    def _entry(self, entry: os.DirEntry[str]) -> str:
        status = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(status.st_mode):
            return f"link to {os.readlink(entry.path)}"
        mode = f"{stat.S_IMODE(status.st_mode):o}"
        if stat.S_ISREG(status.st_mode):
            return f"file {mode} {self._digest(entry.path, status)}"
        return f"{'folder' if stat.S_ISDIR(status.st_mode) else 'special'} {mode}"

    def _digest(self, path: str, status: os.stat_result) -> str:
        mark = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        known = self.digests.get(path)
        if known is None or known[0] != mark:
            with open(path, "rb") as file:
                known = mark, hashlib.sha256(file.read()).hexdigest()
            self.digests[path] = known
        return known[1]
