#!/usr/bin/env python3
"""Kills and fails the real command at every system call that changes something.

    tests/kill.py [--all] [--seed N] target/release/blpk [PART ...]

Parts: kill, errors, signals, short, full (all by default). Whatever happens, the file or dataset is
the old one or the new one, sound, and can be changed again; the exit status is that of a failure (1),
with the old content where the message says so, or that of success or of a committed change (6), with the
new content. After an error nothing else remains in the folder. Every verb
that writes is tried (tests/kill/cases.py), at some of its system calls, or with `--all` at each of them.
Needs only Python's standard library, strace (parts kill, errors, signals) and a C compiler (part short).
If one of these is missing the script fails, unless BLOSCPACK_ALLOW_MISSING_TOOLS is set; then it reports
what it left out.
"""

import argparse
import contextlib
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "kill"))

from cases import cases
from kit import COMMITTED, KILLED, LONGEST_RUN, Failure, Kit, expect, remove

CHANGING = ("openat", "write", "pwrite64", "ftruncate", "fsync", "fchmod", "fchown", "linkat", "mkdir", "mkdirat",
            "rename", "renameat", "renameat2", "rmdir", "unlink", "unlinkat", "flock")
READING = ("read", "pread64", "statx", "lseek", "getdents64")
# Calls that clean up.
CLEARING = ("getdents64", "rmdir", "unlink", "unlinkat")
# How many system calls fail in each case, unless all do.
SAMPLES = {"kill": 14, "errors": 20, "signals": 6, "full": 6, "disk": 2}

# Writes and reads transfer at most seven bytes, as on a slow pipe.
SHORT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>
#define FEW(n) ((n) > 7 ? 7 : (n))
#define CALL(type, name, ...) ((type)dlsym(RTLD_NEXT, name))(__VA_ARGS__)
typedef ssize_t (*put)(int, const void *, size_t);
typedef ssize_t (*get)(int, void *, size_t);
typedef ssize_t (*put_at)(int, const void *, size_t, off_t);
typedef ssize_t (*get_at)(int, void *, size_t, off_t);
ssize_t write(int f, const void *b, size_t n) { return CALL(put, "write", f, b, FEW(n)); }
ssize_t read(int f, void *b, size_t n) { return CALL(get, "read", f, b, FEW(n)); }
ssize_t pwrite64(int f, const void *b, size_t n, off_t o) { return CALL(put_at, "pwrite64", f, b, FEW(n), o); }
ssize_t pread64(int f, void *b, size_t n, off_t o) { return CALL(get_at, "pread64", f, b, FEW(n), o); }
"""


def calls(kit, case, names):
    """The system calls that the command makes from its first look at the folder on, each with its number within its thread."""
    kit.put(case.files)
    with tempfile.NamedTemporaryFile(prefix="blpk-trace-") as trace:
        wrapper = ["strace", "-f", "-qq", "-o", trace.name, "-e", "trace=" + ",".join(names)]
        status, errors = kit.run_case(case, wrapper)
        expect(status == case.done, "under strace:", status, errors)
        lines = trace.read().decode(errors="replace").splitlines()
    counts, before, found, begun = {}, {}, set(), False
    ours = [f'"{name}"' for name in case.tops()] or ["read(0, "]
    for line in lines:
        made = re.match(r"(\d+) +(\w+)\(", line)
        if not made:
            continue
        call, number = made.group(2), counts.get(made.groups(), 0) + 1
        counts[made.groups()] = number
        begun = begun or any(name in line for name in ours)
        # strace counts in every thread, so a number used before that moment in any thread is excluded.
        if not begun:
            before[call] = max(number, before.get(call, 0))
        elif number > before.get(call, 0):
            found.add((call, number))
    return sorted(found)


def inject(kit, case, call, what):
    """Runs the command with a fault in its system call `call`."""
    kit.put(case.files)
    # The trace itself is discarded.
    wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", f"inject={call}:{what}"]
    return kit.run_case(case, wrapper)


class Part:
    """The parts, each a method that runs one case and returns the number of runs."""

    def __init__(self, blpk, wants_all, seed):
        self.blpk, self.wants_all, self.seed = blpk, wants_all, seed

    def some(self, case, of, part):
        """A sample of these, or all with `--all`."""
        if self.wants_all or len(of) <= SAMPLES[part]:
            return of
        return random.Random(f"{self.seed} {part} {case.name}").sample(of, SAMPLES[part])

    def each(self, kit, case, part, names, whats, wanted=None):
        """Injects each fault into the calls; returns the number of runs."""
        wanted_calls = calls(kit, case, names)
        tries = [(call, what) for call, number in wanted_calls for what in whats(call, number)]
        tries = self.some(case, tries, part)
        for call, what in tries:
            status, errors = inject(kit, case, call, what)
            try:
                if wanted is not None:
                    # The call may not happen if threads shared the work differently.
                    expect(status in (wanted, case.done), "status", status, errors)
                # If everything else succeeded, the failed call may have been part of the cleanup.
                failed = "error=" in what and status != case.done
                is_tidy = failed and not what.endswith("+") and call not in CLEARING
                kit.check(case, status, errors, is_tidy)
            except Failure as failure:
                raise Failure(f"{case.name}: {call}, {what}: {failure}") from None
        return len(tries)

    def kill(self, kit, case):
        def whats(call, number):
            return [f"signal=KILL:when={number}"]
        return self.each(kit, case, "kill", CHANGING, whats, -signal.SIGKILL)

    def errors(self, kit, case):
        def whats(call, number):
            full = call in ("openat", "write", "pwrite64", "ftruncate", "linkat", "fsync", "mkdir", "mkdirat")
            kinds = ["EIO"] + ["ENOSPC"] * full
            # Only this call, or this one and all later ones.
            return [f"error={kind}:when={number}{on}" for kind in kinds for on in ("", "+")]
        return self.each(kit, case, "errors", CHANGING + READING, whats)

    def signals(self, kit, case):
        """Calls interrupted by a signal are repeated as if nothing had happened."""
        names = ("openat", "read", "write", "pread64", "pwrite64", "ftruncate", "fsync", "flock")
        return self.each(kit, case, "signals", names, lambda call, number: [f"error=EINTR:when={number}"], case.done)

    def short(self, kit, case):
        """Nothing is lost if each call transfers only a few bytes."""
        with short_calls() as library:
            kit.put(case.files)
            status, errors = kit.run_case(case, env=dict(os.environ, LD_PRELOAD=library))
            expect(status == case.done, case.name, "status", status, errors)
            kit.check(case, status)
        return 1

    def full(self, kit, case):
        """The disk is full at various lengths; the last write is then a short one."""
        lengths = [1, 31, 33, 100, 500, 2_000, 4_095, 4_097, 9_000, 15_000]
        # Python ignores SIGXFSZ, and so do its children unless signals are restored; then the signal kills them.
        tries = self.some(case, [(length, killed) for length in lengths for killed in (False, True)], "full")
        for length, killed in tries:
            kit.put(case.files)
            with longest_file(length):
                status, errors = kit.run_case(case, restore_signals=killed)
            try:
                expect(killed or status in (case.done, 1, COMMITTED), "status", status, errors)
                kit.check(case, status, errors, is_tidy=not killed)
            except Failure as failure:
                raise Failure(f"{case.name}: files limited to {length} bytes: {failure}") from None
        return len(tries)


def one(told):
    """Runs a case of a part in a process of its own; returns the number of runs and what was found, or the failure."""
    part, name, case = told
    with tempfile.TemporaryDirectory(prefix="blpk-kill-") as folder:
        kit = Kit(part.blpk, folder)
        try:
            runs = getattr(part, name)(kit, case)
        except Failure as failure:
            return f"{failure}"
        except subprocess.TimeoutExpired:
            return f"{case.name}: hangs"
    return runs, kit.old, kit.new, kit.marked


@contextlib.contextmanager
def short_calls():
    """Compiles a library that makes reads and writes short."""
    with tempfile.TemporaryDirectory(prefix="blpk-short-") as folder:
        source, library = os.path.join(folder, "short.c"), os.path.join(folder, "short.so")
        with open(source, "w", encoding="ascii") as file:
            file.write(SHORT)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        yield library


@contextlib.contextmanager
def longest_file(length):
    """Limits the length of files in processes started within the context."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def small_disk(part):
    """Runs the cases on a disk of 256 KiB with 0 to 19 free pages."""
    inside = ["unshare", "--mount", "--map-root-user", sys.executable, __file__, "--seed", str(part.seed),
              *["--all"] * part.wants_all, part.blpk]
    with tempfile.TemporaryDirectory(prefix="blpk-disk-") as disk:
        probe = subprocess.run([*inside, "--disk", disk], stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    if probe.returncode == 77:
        missing("a small disk cannot be mounted here")
        return 0
    expect(probe.returncode == 0, probe.stderr.decode(errors="replace"))
    return int(probe.stdout)


def on_disk(part, disk):
    """Runs in a namespace of its own, where it may mount."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", disk]
    if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(77)
    # The checks need room, so they run on a copy elsewhere.
    with tempfile.TemporaryDirectory(prefix="blpk-room-") as room:
        tight, roomy, runs = Kit(part.blpk, disk), Kit(part.blpk, room), 0
        for case in cases(roomy):
            for pages in part.some(case, range(20), "disk"):
                tight.put(case.files)
                fill(disk, pages)
                status, errors = tight.run_case(case)
                os.unlink(os.path.join(disk, "filler"))
                for entry in os.scandir(room):
                    remove(entry)
                shutil.copytree(disk, room, dirs_exist_ok=True)
                try:
                    roomy.check(case, status, errors, is_tidy=True)
                except Failure as failure:
                    raise Failure(f"{case.name}: {pages} pages free: {failure}") from None
                runs += 1
    print(runs)


def fill(disk, pages):
    """Fills a disk except for some pages."""
    page = resource.getpagesize()
    with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(page))
        except OSError:
            pass
        file.truncate(max(0, os.fstat(file.fileno()).st_size - pages * page))


PARTS = ("kill", "errors", "signals", "short", "full")
NEEDS = {"kill": "strace", "errors": "strace", "signals": "strace", "short": "cc"}


def missing(what):
    """Reports what cannot be tested here, and continues only if that is allowed."""
    print(f"kill.py: {what}", flush=True)
    if not os.environ.get("BLOSCPACK_ALLOW_MISSING_TOOLS"):
        sys.exit(f"kill.py: set BLOSCPACK_ALLOW_MISSING_TOOLS to continue without it")


def works(tool):
    """Whether a tool is installed and works: strace needs permission to trace."""
    command = {"strace": ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"],
               "cc": ["cc", "--version"]}[tool]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="try every system call instead of a sample")
    parser.add_argument("--seed", type=int, default=1, help="selects the sample (default 1)")
    parser.add_argument("--disk", help=argparse.SUPPRESS)
    parser.add_argument("--only", metavar="WORDS", default="", help="only cases with these words in their names")
    parser.add_argument("blpk", help="the command under test")
    parser.add_argument("parts", nargs="*", metavar="PART", default=PARTS, help="parts to run (default: all)")
    chosen = parser.parse_args()
    # Ignored under nohup and in the background of a script, and then in the command, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    part = Part(os.path.abspath(chosen.blpk), chosen.all, chosen.seed)
    # Power cuts are not tested here, so a folder in memory is as good as one on a disk.
    if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK):
        tempfile.tempdir = "/dev/shm"
    if chosen.disk:
        return on_disk(part, chosen.disk)
    with tempfile.TemporaryDirectory(prefix="blpk-kill-") as folder:
        every = [case for case in cases(Kit(part.blpk, folder)) if chosen.only in case.name]
    failed = 0
    for name in chosen.parts:
        tool = NEEDS.get(name)
        if tool and not works(tool):
            missing(f"no working {tool}; leaving out part '{name}'")
            continue
        failed += not done(part, name, every, bool(chosen.only))
    sys.exit(1 if failed else 0)


def done(part, name, every, is_selection):
    """Runs one part; returns whether everything passed."""
    with multiprocessing.Pool(2) as pool:
        found = pool.map(one, [(part, name, case) for case in every], chunksize=1)
    wrong = [told for told in found if isinstance(told, str)]
    for told in wrong:
        print(f"kill.py: {name}: {told}", flush=True)
    runs, old, new, marked = (sum(numbers) for numbers in zip((0, 0, 0, 0), *(told for told in found if told not in wrong)))
    try:
        if name == "full" and not is_selection:
            runs += small_disk(part)
        if name == "kill" and not is_selection:
            expect(old and new and marked, "not every state was found")
    except Failure as failure:
        wrong.append(failure)
        print(f"kill.py: {name}: {failure}", flush=True)
    print(f"{name}: {runs} runs of {len(every)} cases; found old {old}, new {new}, in between {marked}", flush=True)
    return not wrong


if __name__ == "__main__":
    main()
