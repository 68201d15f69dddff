#!/usr/bin/env python3
"""Kills and fails the real command at every system call that changes something.

    tests/kill.py target/release/blpk [PART ...]

Parts: kill, errors, signals, short, full (all by default). Whatever happens, the file is the old
one or the new one, sound, and can be changed again; the exit status is that of a failure (1), or of
success (0) with the new content. Only what the standard library of Python has is used, and strace
(parts kill, errors, signals) and a C compiler (part short). Where one of these is missing this
fails, unless BLOSCPACK_ALLOW_MISSING_TOOLS is set; then it says what was left out.
"""

import contextlib
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

LONGEST_RUN = 60
CHANGING = ("openat", "write", "pwrite64", "ftruncate", "fsync", "fchmod", "fchown", "linkat",
            "rename", "renameat", "renameat2", "unlink", "unlinkat", "flock")
READING = ("read", "pread64", "statx", "lseek")
KILLED = (-signal.SIGKILL, -signal.SIGXFSZ)
MORE = b"more of it "

# A write or read of more than seven bytes is one of seven, as on a slow pipe.
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


class Failure(Exception):
    """Something did not come out as it must."""


def expect(condition, *message):
    if not condition:
        raise Failure(" ".join(str(part) for part in message))


class Case:
    """A command, and what its file holds before and after."""

    def __init__(self, name, files, command, target, contents):
        self.name, self.files, self.command = name, files, command
        self.target, (self.old, self.new) = target, contents
        self.is_records = command[0] == "records"

    def fresh(self, folder):
        """Puts the files into an empty folder."""
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        for name, data in self.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)


class Kit:
    """The command under test in a folder of its own."""

    def __init__(self, blpk, folder):
        self.blpk, self.folder = blpk, folder
        # Files that were found old, new, and in the middle of a change.
        self.old = self.new = self.marked = 0

    def run(self, arguments, wrapper=(), **options):
        """Runs the command, in a wrapper if there is one; gives its status and its output."""
        command = [*wrapper, self.blpk, "-n", "1", *arguments]
        options.setdefault("stdin", subprocess.DEVNULL)
        done = subprocess.run(command, cwd=self.folder, timeout=LONGEST_RUN,
                              capture_output=True, **options)
        return done.returncode, done.stdout, done.stderr

    def content(self, name, is_records):
        """What the command makes of a file; it must be sound."""
        command = ["records", "unpack", name] if is_records else ["d", "-e", name, "-"]
        status, data, errors = self.run(command)
        expect(status == 0, command[0], "gives", status, errors)
        status, _, errors = self.run(["verify", name])
        expect(status == 0, "verify gives", status, errors)
        return data

    def found(self, case):
        """What there is now, which is old or new; None if there is no file."""
        path = os.path.join(self.folder, case.target)
        if not os.path.exists(path):
            expect(case.old is None, "the file is gone")
            return None
        with open(path, "rb") as file:
            data = file.read()
        self.marked += data.startswith(b"!lpk")
        if case.target.endswith(".blp"):
            data = self.content(case.target, case.is_records)
        expect(data in (case.old, case.new), "neither old nor new, but", len(data), "bytes")
        self.old += data == case.old
        self.new += data == case.new
        return data

    def check(self, case, status, errors=b""):
        """Checks what a run has left, and that the file can be changed again."""
        data = self.found(case)
        if status == 0:
            expect(data == case.new, "status 0, but the old content")
        elif status not in KILLED:
            expect(status == 1, "status", status, errors)
        if case.command[case.is_records] in ("append", "patch", "reindex"):
            self.go_on(case, data)

    def go_on(self, case, data):
        with open(os.path.join(self.folder, "more"), "wb") as file:
            file.write(MORE)
        append = ["records", "append"] if case.is_records else ["append"]
        status, _, errors = self.run([*append, case.target, "more"])
        expect(status == 0, "append afterwards gives", status, errors)
        grown = data + MORE + b"\n" * case.is_records
        found = self.content(case.target, case.is_records)
        expect(found == grown, "append afterwards gives other bytes")
        left = set(os.listdir(self.folder)) - set(case.files) - {"more"}
        expect(not left, "left behind:", left)


def packed(kit, data, *options, command=("c",)):
    """A file as the command makes it."""
    with open(os.path.join(kit.folder, "plain"), "wb") as file:
        file.write(data)
    status, _, errors = kit.run([*command, "-f", *options, "plain", "packed.blp"])
    expect(status == 0, command, "gives", status, errors)
    with open(os.path.join(kit.folder, "packed.blp"), "rb") as file:
        return file.read()


def cases(kit):
    """Everything that the command does to files."""
    rng = random.Random(1)
    smooth = bytes(i // 97 % 251 for i in range(20_000))
    noise = rng.randbytes(9_000)
    patched = smooth[:3_000] + noise[:5_000] + smooth[8_000:]
    flat = smooth[:3_000] + bytes(5_000) + smooth[8_000:]
    roomy = packed(kit, smooth, "-z", "4K")
    tight = packed(kit, smooth, "-z", "4K", "--max-app-chunks", "0")
    v2 = packed(kit, smooth, "-z", "4K", "--format", "2")
    grown = (smooth, smooth + noise)
    lines, more = (b"".join(b"%d\n" % i for i in numbers) for numbers in (range(300), range(90)))
    longer = (lines, lines + more)
    pack, small = ("records", "pack"), ("--packed", "-z", "500")
    records = packed(kit, lines, command=pack)
    records_v3 = packed(kit, lines, "--format", "3", command=pack)
    many = packed(kit, lines, *small, "--format", "3", command=pack)
    return [
        Case("create", {"in": smooth}, ["c", "-z", "4K", "in", "a.blp"], "a.blp", (None, smooth)),
        Case("replace", {"in": noise, "a.blp": roomy}, ["c", "-f", "-z", "4K", "in", "a.blp"],
             "a.blp", (smooth, noise)),
        Case("decompress", {"a.blp": roomy, "out": b"other"}, ["d", "-f", "a.blp", "out"],
             "out", (b"other", smooth)),
        Case("append", {"in": noise, "a.blp": roomy}, ["append", "a.blp", "in"], "a.blp", grown),
        Case("append, no room", {"in": noise, "a.blp": tight}, ["append", "a.blp", "in"],
             "a.blp", grown),
        Case("append to V2", {"in": noise, "a.blp": v2}, ["append", "a.blp", "in"],
             "a.blp", grown),
        Case("patch", {"in": bytes(5_000), "a.blp": roomy},
             ["patch", "--at", "3000", "a.blp", "in"], "a.blp", (smooth, flat)),
        Case("patch that grows", {"in": noise[:5_000], "a.blp": roomy},
             ["patch", "--at", "3000", "a.blp", "in"], "a.blp", (smooth, patched)),
        Case("pack", {"in": lines}, ["records", "pack", *small, "in", "a.blp"], "a.blp",
             (None, lines)),
        Case("append records to V2", {"in": more, "a.blp": records},
             ["records", "append", "a.blp", "in"], "a.blp", longer),
        Case("append records", {"in": more, "a.blp": records_v3},
             ["records", "append", "a.blp", "in"], "a.blp", longer),
        Case("append packed records", {"in": more, "a.blp": many},
             ["records", "append", "a.blp", "in"], "a.blp", longer),
    ]


def calls(kit, case, names):
    """How often the command makes each system call, and how often before it sees the folder."""
    case.fresh(kit.folder)
    trace = tempfile.NamedTemporaryFile(prefix="blpk-trace-")
    with trace:
        wrapper = ["strace", "-f", "-qq", "-o", trace.name, "-e", "trace=" + ",".join(names)]
        status, _, errors = kit.run(case.command, wrapper)
        expect(status == 0, "under strace:", status, errors)
        lines = trace.read().decode(errors="replace").splitlines()
    before, total, begun = dict.fromkeys(names, 0), dict.fromkeys(names, 0), False
    for line in lines:
        made = re.match(r"\d+ +(\w+)\(", line)
        if not made or made.group(1) not in total:
            continue
        begun = begun or any(f'"{name}"' in line for name in case.files)
        total[made.group(1)] += 1
        before[made.group(1)] += not begun
    return [(name, number) for name in names for number in range(before[name] + 1, total[name] + 1)]


def inject(kit, case, call, number, what):
    """Runs the command; its system call `call` comes to grief at the given time."""
    case.fresh(kit.folder)
    # Nothing is written but the traces, and these into nothing.
    wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call,
               "-e", f"inject={call}:{what}:when={number}"]
    return kit.run(case.command, wrapper)


def each(kit, names, whats, wanted=None):
    """Lets each call fail in each way; gives how many runs there were."""
    runs = 0
    for case in cases(kit):
        for call, number in calls(kit, case, names):
            for what in whats(call):
                status, _, errors = inject(kit, case, call, number, what)
                try:
                    if wanted is not None:
                        expect(status == wanted, "status", status, errors)
                    kit.check(case, status, errors)
                except Failure as failure:
                    raise Failure(f"{case.name}: {call} no. {number}, {what}: {failure}") from None
                runs += 1
    return runs


def kill(kit):
    runs = each(kit, CHANGING, lambda call: ["signal=KILL"], -signal.SIGKILL)
    expect(kit.old and kit.new and kit.marked, "not every state was there to be found")
    return runs


def errors(kit):
    def whats(call):
        full = call in ("openat", "write", "pwrite64", "ftruncate", "linkat", "fsync")
        return ["error=EIO"] + ["error=ENOSPC"] * full
    return each(kit, CHANGING + READING, whats)


def signals(kit):
    """Calls that a signal may interrupt are made again, as if nothing had happened."""
    names = ("openat", "read", "write", "pread64", "pwrite64", "ftruncate", "fsync", "flock")
    return each(kit, names, lambda call: ["error=EINTR"], 0)


def short(kit):
    """Nothing is lost where few bytes go at once."""
    with tempfile.TemporaryDirectory(prefix="blpk-short-") as folder:
        source, library = os.path.join(folder, "short.c"), os.path.join(folder, "short.so")
        with open(source, "w", encoding="ascii") as file:
            file.write(SHORT)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        runs = 0
        for case in cases(kit):
            case.fresh(kit.folder)
            status, _, errors = kit.run(case.command, env=dict(os.environ, LD_PRELOAD=library))
            expect(status == 0, case.name, "status", status, errors)
            kit.check(case, status)
            runs += 1
        return runs


@contextlib.contextmanager
def longest_file(length):
    """Files may not become longer, in processes that are started meanwhile."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (length, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


def full(kit):
    """The disk is full at every length; a last write is then a short one."""
    runs = 0
    for case in cases(kit):
        for length in [1, 31, 33, 100, 500, 2_000, 4_095, 4_097, 9_000, 15_000]:
            # Python ignores the signal that tells of it; others are killed by it.
            for killed in (False, True):
                case.fresh(kit.folder)
                with longest_file(length):
                    status, _, errors = kit.run(case.command, restore_signals=killed)
                try:
                    expect(killed or status in (0, 1), "status", status, errors)
                    kit.check(case, status, errors)
                except Failure as failure:
                    raise Failure(f"{case.name}: none beyond {length} bytes: {failure}") from None
                runs += 1
    return runs + into_dev_full(kit) + small_disk(kit)


def into_dev_full(kit):
    case = cases(kit)[3]
    case.fresh(kit.folder)
    commands = [["d", "a.blp", "-"], ["c", "in", "-"], ["cat", "a.blp"], ["info", "a.blp"]]
    for command in commands:
        with open("/dev/full", "wb") as target:
            done = subprocess.run([kit.blpk, *command], cwd=kit.folder, stdin=subprocess.DEVNULL,
                                  stdout=target, stderr=subprocess.PIPE, timeout=LONGEST_RUN)
        expect(done.returncode == 1, command, "into /dev/full:", done.returncode, done.stderr)
    return len(commands)


def small_disk(kit):
    """A disk of 128 KiB on which less and less is free."""
    inside = ["unshare", "--mount", "--map-root-user", sys.executable, __file__, kit.blpk]
    with tempfile.TemporaryDirectory(prefix="blpk-disk-") as disk:
        probe = subprocess.run([*inside, "--disk", disk], stderr=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    if probe.returncode == 77:
        missing("a small disk cannot be mounted here")
        return 0
    expect(probe.returncode == 0, probe.stderr.decode(errors="replace"))
    return int(probe.stdout)


def on_disk(blpk, disk):
    """Runs in a name space of its own, in which it may mount."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", disk]
    if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode != 0:
        sys.exit(77)
    # What is checked needs room, and gets it elsewhere.
    with tempfile.TemporaryDirectory(prefix="blpk-room-") as room:
        tight, roomy, runs = Kit(blpk, disk), Kit(blpk, room), 0
        for case in cases(roomy):
            for pages in range(9):
                case.fresh(disk)
                fill(disk, pages)
                status, _, errors = tight.run(case.command)
                for entry in os.scandir(room):
                    os.unlink(entry.path)
                for entry in os.scandir(disk):
                    if entry.name != "filler":
                        shutil.copy(entry.path, room)
                try:
                    roomy.check(case, status, errors)
                except Failure as failure:
                    raise Failure(f"{case.name}: {pages} pages free: {failure}") from None
                runs += 1
    print(runs)


def fill(disk, pages):
    """Takes all of a disk but some pages."""
    page = resource.getpagesize()
    with open(os.path.join(disk, "filler"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(page))
        except OSError:
            pass
        file.truncate(max(0, os.fstat(file.fileno()).st_size - pages * page))


PARTS = {"kill": kill, "errors": errors, "signals": signals, "short": short, "full": full}
NEEDS = {"kill": "strace", "errors": "strace", "signals": "strace", "short": "cc"}


def missing(what):
    """Says what cannot be tested here, and goes on only where that is allowed."""
    print(f"kill.py: {what}", flush=True)
    if not os.environ.get("BLOSCPACK_ALLOW_MISSING_TOOLS"):
        sys.exit(f"kill.py: set BLOSCPACK_ALLOW_MISSING_TOOLS to go on without")


def works(tool):
    """Whether a tool is there, and may do its work: strace needs leave to trace."""
    command = {"strace": ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "true"],
               "cc": ["cc", "--version"]}[tool]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def main():
    blpk = os.path.abspath(sys.argv[1])
    if sys.argv[2:3] == ["--disk"]:
        return on_disk(blpk, sys.argv[3])
    for part in sys.argv[2:] or PARTS:
        tool = NEEDS.get(part)
        if tool and not works(tool):
            missing(f"no {tool} that works; part '{part}' is left out")
            continue
        with tempfile.TemporaryDirectory(prefix="blpk-kill-") as folder:
            try:
                runs = PARTS[part](Kit(blpk, folder))
            except Failure as failure:
                sys.exit(f"kill.py: {part}: {failure}")
        print(f"{part}: {runs} runs", flush=True)


if __name__ == "__main__":
    main()
