#!/usr/bin/env python3
"""Plants known bugs, one at a time, and shows that the tests catch each of them.

    tests/planted.py [--check | --every N] [NAME ...]

Each file in `tests/planted/` is a patch with a short header: a description of the bug, and the command
that must catch it. Everything happens in a copy of the tracked files below `target/planted/`. First the
commands run on the sound copy, where they must succeed; then each bug is planted, must compile, and its
command must fail. Names select bugs, `--every 4` selects every fourth; the status is 0 if all of them were
caught. The whole run takes about an hour. `--check` only checks that each patch still applies.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHES = ROOT / "tests" / "planted"
SCRATCH = ROOT / "target" / "planted"
# A check may happen during a run.
TREE = SCRATCH / ("check" if "--check" in sys.argv else "tree")
# A description, and a command without the options that every run of cargo gets.
HEAD = r"(.+)\nCaught by: ((?:[A-Z_]+=\w+ )?(?:cargo test -p|tests/schedules\.sh) .+)\n"
# Seconds; a test that takes longer counts as hanging.
PATIENCE = 300
FAILED = 101


class Planted:
    """A bug, and the command that must catch it."""

    def __init__(self, path):
        self.name, self.patch = path.stem, path
        head = path.read_text(encoding="utf-8").split("\ndiff --git", 1)[0]
        match = re.fullmatch(HEAD, head, re.DOTALL)
        if not match:
            sys.exit(f"{path}: expected a description, and 'Caught by:' with `cargo test -p` or `tests/schedules.sh`")
        what, command = match.groups()
        self.what, self.command = " ".join(what.split()), tuple(command.split())

    def apply(self, *options):
        # Without this limit git would treat the copy as a part of the repository around it.
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(TREE.parent)}
        done = subprocess.run(["git", "apply", *options, str(self.patch)], cwd=TREE, env=environment,
                              capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{self.name}: the patch no longer applies: {done.stderr.strip()}")


def run(words, patience=None, settings=()):
    """Runs a command in the copy; returns its status and its output."""
    # A build folder of its own: otherwise cargo would reuse what is built here for the sound sources. Compiling takes
    # more time here than running.
    environment = {"CARGO_TARGET_DIR": str(SCRATCH / "build"), "CARGO_PROFILE_TEST_OPT_LEVEL": "1",
                   "BLOSCPACK_SCHEDULES": "3000", **os.environ, **dict(settings)}
    try:
        done = subprocess.run(words, cwd=TREE, env=environment, timeout=patience,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except subprocess.TimeoutExpired:
        return None, "hangs"
    return done.returncode, done.stdout


def build_and_run(command):
    """Runs the command that must catch a bug; returns no status if it does not compile.

    Words like `NAME=VALUE` at its front set environment variables.
    """
    settings = [word.split("=") for word in command if "=" in word]
    command = command[len(settings):]
    if command[:2] == ("cargo", "test"):
        # As in `cargo test -p bloscpack --test codec records::`, where the last word chooses some of the tests.
        last = command.index("--lib") + 1 if "--lib" in command else command.index("--test") + 2
        words = ["cargo", "test", "--locked", "--quiet"]
        build, words = [*words, "--no-run", *command[2:last]], [*words, *command[2:]]
    else:
        build, words = [command[0], "build"], command
    status, output = run(build)
    return (None, f"does not compile:\n{output}") if status else run(words, PATIENCE, settings)


def copy_tree():
    """Brings the copy up to date; unchanged files keep their time, so that they are not built again."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    wanted = {name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()}
    for name in wanted:
        old, new = ROOT / name, TREE / name
        new.parent.mkdir(parents=True, exist_ok=True)
        if not new.exists() or new.read_bytes() != old.read_bytes():
            shutil.copy(old, new)
    for path in TREE.rglob("*"):
        if path.is_file() and path.relative_to(TREE).as_posix() not in wanted:
            path.unlink()
    # Some tests read files written by real tools, where they are available.
    corpus = TREE / "target" / "corpus"
    if (ROOT / "target" / "corpus").exists() and not corpus.exists():
        corpus.parent.mkdir(exist_ok=True)
        corpus.symlink_to(ROOT / "target" / "corpus")


def caught_by(output):
    """The names of the failed tests."""
    return sorted(set(re.findall(r"^    (\S+)$", output, re.MULTILINE)))


def check_sound(commands):
    """Checks that the commands succeed without a bug."""
    for command in commands:
        status, output = build_and_run(command)
        if status != 0:
            sys.exit(f"{output}\n{' '.join(command)}: fails without any bug")


def check(bug):
    """Plants a bug, runs its command, and removes the bug; returns a report and whether it was caught."""
    bug.apply()
    try:
        status, output = build_and_run(bug.command)
    finally:
        bug.apply("--reverse")
    names = caught_by(output)
    if status == FAILED and names:
        more = f" and {len(names) - 1} more" if len(names) > 1 else ""
        return f"caught by {names[0]}{more}", True
    if status and bug.command[0] != "cargo":
        return "caught by the schedules", True
    return "NOT CAUGHT" if status == 0 else output or f"status {status}", False


def main(names):
    step = 1
    only_check = names[:1] == ["--check"]
    if only_check:
        names = names[1:]
    if names[:1] == ["--every"]:
        step, names = int(names[1]), names[2:]
    bugs = [Planted(path) for path in sorted(PATCHES.glob("*.patch"))]
    unknown = set(names) - {bug.name for bug in bugs}
    if unknown:
        sys.exit(f"unknown bug: {', '.join(sorted(unknown))}")
    bugs = [bug for bug in bugs if not names or bug.name in names][::step]
    copy_tree()
    if only_check:
        for bug in bugs:
            bug.apply("--check")
        print(f"{len(bugs)} patches apply")
        return 0
    check_sound(sorted({bug.command for bug in bugs}))
    missed = 0
    for bug in bugs:
        begun = time.monotonic()
        result, is_caught = check(bug)
        missed += not is_caught
        print(f"{bug.name}: {result} ({time.monotonic() - begun:.0f} s)", flush=True)
    print(f"{len(bugs) - missed} of {len(bugs)} planted bugs were caught")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
