#!/usr/bin/env python3
"""Run the command for Windows as its users do: on Windows, or here under wine.

    tests/windows.py BLPK.EXE [PATTERN]      every case, or those whose names match a regular expression

`contrib/cross.sh windows env tests/windows.py target/cross/target/x86_64-pc-windows-gnu/debug/blpk.exe` runs it under wine
with the prefix of that script. Wine has no locks that keep others from reading, and no file system that forgets a sync: what
needs those is in docs/platforms.md.
"""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WINE = [] if os.name == "nt" else [os.environ.get("WINE", "/usr/lib/wine/wine64")]
DONE, FAILED, USAGE, DAMAGED, CUT, UNKNOWN = range(6)


def sensor(count: int, seed: int = 1) -> bytes:
    """Numbers of eight bytes that compress, but not to nothing."""
    state, value, out = seed * 2654435761 % 2**32, 3000, bytearray()
    for _ in range(count):
        state = (state * 1664525 + 1013904223) % 2**32
        value += (state >> 16) % 7 - 3
        out += struct.pack("<q", value)
    return bytes(out)


def npy(values: bytes, shape: tuple[int, ...], descr: str = "<i8") -> bytes:
    """A file of NumPy's."""
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + values


class Bench:
    """A folder of its own, in which the command runs."""

    def __init__(self, blpk: Path, folder: Path) -> None:
        self.command = [*WINE, str(blpk)]
        self.folder = folder

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def read(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def names(self) -> list[str]:
        return sorted(os.listdir(self.folder))

    def start(self, *args: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen([*self.command, *args], cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe)

    def run(self, *args: str, status: int = DONE, given: bytes = b"", says: str = "") -> bytes:
        """Runs it to its end, which has to have this status and these words."""
        done = subprocess.run([*self.command, *args], cwd=self.folder, input=given, capture_output=True, timeout=300)
        said = done.stderr.decode(errors="replace")
        assert done.returncode == status, f"{args}: status {done.returncode}, not {status}: {said}"
        assert re.search(says, said), f"{args}: {says!r} is not in {said!r}"
        return done.stdout


def pipes(b: Bench) -> None:
    data = sensor(300_000)
    packed = b.run("compress", "-", "-", given=data)
    assert len(packed) < len(data) // 2
    assert b.run("decompress", "-", "-", given=packed) == data
    assert b.run("cat", "--range", "16..32", "-", given=packed) == data[16:32]


def a_reader_that_has_gone(b: Bench) -> None:
    b.write("a", sensor(1_000_000))
    b.run("c", "a", "a.blp")
    process = b.start("cat", "a.blp")
    process.stdout.read(10)
    process.stdout.close()
    said = process.stderr.read()
    assert (process.wait(60), said) == (DONE, b""), said


def files(b: Bench) -> None:
    data = sensor(50_000)
    b.write("a", data)
    b.run("compress", "a")
    b.run("decompress", "a.blp", "b")
    assert b.read("b") == data
    assert b.names() == ["a", "a.blp", "b"]
    assert json.loads(b.run("info", "--json", "a.blp"))["state"] == "complete"
    b.run("verify", "a.blp")


def redirections(b: Bench) -> None:
    data = sensor(50_000)
    b.write("a", data)
    exe = b.command[-1] if os.name == "nt" else "Z:" + b.command[-1].replace("/", "\\")
    lines = [f"{exe} c < a > a.blp", f"{exe} cat < a.blp > b", f"{exe} cat a.blp > NUL", f"{exe} c - - < NUL > empty.blp"]
    done = subprocess.run([*WINE, "cmd.exe", "/c", " && ".join(lines)], cwd=b.folder, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr) == (DONE, b""), done
    assert b.read("b") == data
    assert b.run("cat", "empty.blp") == b""
    if WINE:
        # From a shell of Unix.
        with open(b.folder / "a.blp", "rb") as given, open(b.folder / "c", "wb") as out:
            assert subprocess.run([*b.command, "cat"], cwd=b.folder, stdin=given, stdout=out, timeout=300).returncode == DONE
        assert b.read("c") == data


def names_beyond_ascii(b: Bench) -> None:
    b.write("größe 数", b"abc" * 100)
    b.run("c", "größe 数")
    assert b.run("cat", "größe 数.blp") == b"abc" * 100


def nothing_is_overwritten_without_force(b: Bench) -> None:
    b.write("a", sensor(5_000))
    b.write("a.blp", b"old")
    b.run("c", "a", status=FAILED, says="exists")
    assert b.read("a.blp") == b"old"
    b.run("c", "-f", "a")
    b.run("verify", "a.blp")
    assert b.names() == ["a", "a.blp"]


def append_and_patch(b: Bench) -> None:
    data = sensor(200_000)
    b.write("a", data[:1_000_000])
    b.run("c", "a")
    b.run("append", "a.blp", given=data[1_000_000:])
    assert b.run("cat", "a.blp") == data
    b.run("patch", "a.blp", "--at", "1000", given=b"\xff" * 64)
    assert b.run("cat", "a.blp") == data[:1000] + b"\xff" * 64 + data[1064:]
    b.run("verify", "a.blp")
    assert b.names() == ["a", "a.blp"]


def records(b: Bench) -> None:
    lines = [f"record {i}" * (i % 5) for i in range(1000)]
    text = "".join(line + "\n" for line in lines).encode()
    for packed in ([], ["--packed"]):
        b.run("records", "pack", *packed, "-f", "-", "r.blp", given=text)
        b.run("records", "append", "r.blp", given=b"one more\n")
        assert b.run("records", "unpack", "r.blp") == text + b"one more\n"
        assert b.run("records", "get", "r.blp", "7") == (lines[7] + "\n").encode()
        b.run("verify", "r.blp")


def datasets(b: Bench) -> None:
    data = sensor(30_000)
    b.write("a.npy", npy(data, (30_000,)))
    for layout in ("bcolz", "blz", "carray-doc"):
        name = f"a.{layout}"
        b.run("import", "a.npy", name, "--layout", layout)
        b.run("dataset", "append", name, "a.npy")
        assert b.run("cat", name) == data + data, layout
        b.run("dataset", "trim", name, "100")
        b.run("dataset", "attrs", name, "unit", '"m"')
        assert json.loads(b.run("info", "--json", name))["shape"] == [100]
        b.run("export", name, f"{layout}.npy")
        assert b.read(f"{layout}.npy").endswith(data[:800])
        b.run("verify", name)
        assert ".blpk" not in os.listdir(b.folder / name)


def tables(b: Bench) -> None:
    b.write("t.csv", b"day,price\n1,2.5\n2,3.5\n")
    b.run("import", "t.csv", "t.bcolz", "--layout", "bcolz")
    b.run("dataset", "append", "t.bcolz", "t.csv")
    assert b.run("export", "t.bcolz", "-", "--to", "csv").splitlines() == [b"day,price", b"1,2.5", b"2,3.5", b"1,2.5", b"2,3.5"]
    b.run("verify", "t.bcolz")


def frames(b: Bench) -> None:
    data = sensor(20_000)
    b.write("a.npy", npy(data, (200, 100)))
    b.run("import", "a.npy", "a.b2nd", "--layout", "b2nd")
    assert b.run("cat", "a.b2nd") == data
    assert b.run("cat", "--slice", "3:4,5:7", "a.b2nd") == data[305 * 8 : 307 * 8]
    b.run("verify", "a.b2nd")


def caterva(b: Bench) -> None:
    data = sensor(20_000)
    b.write("a.npy", npy(data, (200, 100)))
    b.run("import", "a.npy", "a.cat", "--layout", "caterva")
    b.run("verify", "a.cat")
    b.run("export", "a.cat", "b.npy")
    assert b.read("b.npy").endswith(data)
    assert json.loads(b.run("info", "--json", "a.cat"))["shape"] == [200, 100]


def stores(b: Bench) -> None:
    b.write("t.csv", b"day,price\n1,2.5\n2,3.5\n")
    for name in ("t.b2z", "t.b2d"):
        b.run("import", "t.csv", name, "--layout", name[-3:])
        b.run("append", name, "t.csv")
        rows = b.run("export", name, "-", "--to", "csv").splitlines()
        assert rows == [b"day,price", b"1,2.5", b"2,3.5", b"1,2.5", b"2,3.5"], name
        b.run("verify", name)
    assert b.names() == ["t.b2d", "t.b2z", "t.csv"]


def replaced_frames(b: Bench) -> None:
    """A file and a directory, and each in the place of itself."""
    data = sensor(2_000)
    b.write("a.npy", npy(data, (2_000,)))
    for _ in range(2):
        b.run("import", "-f", "a.npy", "a.b2nd", "--layout", "b2nd")
        b.run("import", "-f", "a.npy", "sparse", "--layout", "b2nd", "--sparse")
        b.run("import", "-f", "a.npy", "a.bcolz", "--layout", "bcolz")
        b.run("convert", "-f", "a.bcolz", "a.zarr")
    for name in ("a.b2nd", "sparse", "a.bcolz", "a.zarr"):
        assert b.run("cat", name) == data, name
    assert b.names() == ["a.b2nd", "a.bcolz", "a.npy", "a.zarr", "sparse"]


def conversions(b: Bench) -> None:
    data = sensor(20_000)
    b.write("a.npy", npy(data, (200, 100)))
    b.run("import", "a.npy", "a.b2nd", "--layout", "b2nd")
    b.run("convert", "--layout", "bcolz", "a.b2nd", "a.bcolz")
    for source, name in (("a.bcolz", "a.blp"), ("a.b2nd", "a.cat"), ("a.b2nd", "a.zarr"), ("a.bcolz", "a.b2z")):
        b.run("convert", *(["--layout", "caterva"] if name == "a.cat" else []), source, name)
        b.run("verify", name)
    for name in ("a.blp", "a.bcolz", "a.cat", "a.zarr"):
        b.run("convert", "--layout", "b2nd", "-f", name, "back.b2nd")
        assert b.run("cat", "back.b2nd") == data, name
    b.run("convert", "--format", "2", "a.blp", "old.blp")
    assert json.loads(b.run("info", "--json", "old.blp"))["format_version"] == 2


def what_is_sound_is_recovered(b: Bench) -> None:
    data = sensor(100_000)
    b.write("a", data)
    b.run("c", "-z", "64K", "-k", "crc32", "a")
    packed = bytearray(b.read("a.blp"))
    packed[len(packed) // 2] ^= 1
    b.write("damaged.blp", bytes(packed))
    b.run("recover", "--fill", "damaged.blp", "out.blp", status=DAMAGED)
    b.run("verify", "out.blp")
    content = b.run("cat", "out.blp")
    wrong = [at for at in range(0, len(data), 1 << 16) if content[at : at + (1 << 16)] != data[at : at + (1 << 16)]]
    assert len(content) == len(data) and len(wrong) == 1


def followed(b: Bench) -> None:
    data = sensor(20_000)
    b.write("a", data[:100_000])
    b.run("c", "a")
    follower = b.start("cat", "--follow", "a.blp")
    assert follower.stdout.read(100_000) == data[:100_000]
    b.run("append", "a.blp", given=data[100_000:])
    assert follower.stdout.read(60_000) == data[100_000:]
    follower.kill()
    follower.wait(60)


def mistakes(b: Bench) -> None:
    """Each says what is wrong, by the name that was given."""
    b.write("a", sensor(1_000))
    (b.folder / "folder").mkdir()
    before = b.names()
    b.run("c", "no\\such\\file", status=FAILED, says=re.escape(r"no\such\file"))
    b.run("c", "a", "no\\such\\a.blp", status=FAILED, says=re.escape(r"no\such\a.blp"))
    b.run("c", "folder", status=USAGE, says="is a directory")
    b.run("c", "a", "folder", status=USAGE, says="is a directory")
    b.run("cat", "folder", status=UNKNOWN, says="folder")
    b.run("append", "folder", "-e", given=b"x", status=USAGE, says="is a directory")
    b.run("c", "a:b", status=FAILED, says="a:b")
    assert b.names() == before


def statuses(b: Bench) -> None:
    b.write("a", sensor(100_000))
    b.run("c", "a")
    packed = bytearray(b.read("a.blp"))
    b.run("verify", "missing.blp", status=FAILED)
    b.run("compress", "--no-such-option", status=USAGE)
    b.run("patch", "a.blp", "--at", "9000000", given=b"x", status=USAGE)
    packed[len(packed) // 2] ^= 1
    b.write("damaged.blp", bytes(packed))
    b.run("verify", "damaged.blp", status=DAMAGED)
    b.write("cut.blp", bytes(packed[: len(packed) // 3]))
    b.run("d", "cut.blp", "x", status=CUT)
    b.write("text.blp", b"no such format" * 10)
    b.run("d", "text.blp", "x", status=UNKNOWN)
    assert "x" not in b.names()


def interrupt(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.CTRL_C_EVENT if os.name == "nt" else signal.SIGINT)
    assert process.wait(60) != DONE


def ctrl_c(b: Bench) -> None:
    for old in ([], ["out.blp"]):
        for name in old:
            b.write(name, b"old")
        process = b.start("c", "-f", "-", "out.blp")
        process.stdin.write(sensor(400_000))
        process.stdin.flush()
        wait_for(lambda: len(b.names()) == len(old) + 1)
        interrupt(process)
        assert b.names() == old
    assert b.read("out.blp") == b"old"


def begun_append(b: Bench) -> tuple[bytes, subprocess.Popen[bytes]]:
    """A file's content, and a command that is appending to it."""
    data = sensor(200_000)
    b.write("a", data)
    b.run("c", "a")
    process = b.start("append", "a.blp")
    process.stdin.write(sensor(400_000))
    process.stdin.flush()
    wait_for(lambda: "a.blp.blpk-journal" in b.names())
    return data, process


def as_before(b: Bench, data: bytes) -> None:
    """The file has its old content, and the next writer goes on."""
    assert b.run("cat", "a.blp") == data
    b.run("append", "a.blp", given=b"x")
    assert b.run("cat", "a.blp") == data + b"x"
    assert b.names() == ["a", "a.blp"]


def ctrl_c_in_an_append(b: Bench) -> None:
    data, process = begun_append(b)
    interrupt(process)
    as_before(b, data)


def a_killed_append(b: Bench) -> None:
    data, process = begun_append(b)
    process.kill()
    process.wait(60)
    as_before(b, data)


def an_append_that_rewrites_the_file(b: Bench) -> None:
    """Its metadata does not fit into the room for it, so that another file takes its place."""
    data = sensor(20_000)
    b.write("a", data)
    b.write("small.json", b'{"a": 1}')
    b.write("large.json", json.dumps({"a": list(range(50_000))}).encode())
    b.run("c", "-m", "small.json", "a", "a.blp")
    b.run("append", "-m", "large.json", "a.blp", given=b"x")
    assert b.run("cat", "a.blp") == data + b"x"
    b.run("verify", "a.blp")
    assert b.names() == ["a", "a.blp", "large.json", "small.json"]


def a_killed_writer_leaves_the_old_file(b: Bench) -> None:
    b.write("out.blp", b"old")
    process = b.start("c", "-f", "-", "out.blp")
    process.stdin.write(sensor(400_000))
    process.stdin.flush()
    wait_for(lambda: len(b.names()) == 2)
    process.kill()
    process.wait(60)
    assert b.read("out.blp") == b"old"


def long_paths(b: Bench) -> None:
    folder = "/".join(["a-folder-with-a-long-name-" + "x" * 24] * 7)
    data = sensor(1_000)
    name = f"{folder}/a"
    assert len(str(b.write(name, data))) > 300
    b.run("c", name)
    b.run("append", f"{name}.blp", given=data)
    assert b.run("cat", f"{name}.blp") == data + data
    b.write("a.npy", npy(data, (1_000,)))
    b.run("import", "a.npy", f"{folder}/a.bcolz", "--layout", "bcolz")
    assert b.run("cat", f"{folder}/a.bcolz") == data


def names_that_are_none(b: Bench) -> None:
    b.write("a", sensor(1_000))
    before = b.names()
    for name in ("CON.blp", "com1", "ab:c.blp", "a.blp.", "a.blp ", "a?.blp"):
        b.run("c", "a", name, status=FAILED, says="on Windows")
        assert b.names() == before, name
    b.write("t.csv", b"CON,price\n1,2.5\n")
    for header in (b"CON", b"a:b", b"a.", b"nul.x"):
        b.write("t.csv", header + b",price\n1,2.5\n")
        b.run("import", "t.csv", "t.bcolz", "--layout", "bcolz", status=USAGE, says="on Windows")
        assert b.names() == [*before, "t.csv"], header


def read_only_files(b: Bench) -> None:
    data = sensor(1_000)
    b.write("a", data)
    b.run("c", "a")
    path = b.folder / "a.blp"
    path.chmod(stat.S_IREAD)
    if not (WINE and os.geteuid() == 0):
        # Wine lets root write everything.
        b.run("append", "a.blp", given=data, status=FAILED)
    b.run("c", "-f", "a", status=FAILED, says="read-only")
    assert b.run("cat", "a.blp") == data
    assert b.names() == ["a", "a.blp"]
    path.chmod(stat.S_IREAD | stat.S_IWRITE)


def a_file_that_is_open_elsewhere(b: Bench) -> None:
    data = sensor(1_000_000)
    b.write("old", data)
    b.run("c", "old", "a.blp")
    b.write("new", b"new" * 1000)
    holder = b.start("cat", "a.blp")
    assert holder.stdout.read(8) == data[:8]
    done = subprocess.run([*b.command, "c", "-f", "new", "a.blp"], cwd=b.folder, capture_output=True, timeout=60)
    now = b.run("cat", "a.blp")
    assert (done.returncode, now) in ((DONE, b"new" * 1000), (FAILED, data)), done.stderr
    assert holder.stdout.read() == data[8:]
    holder.wait(60)
    assert b.names() == ["a.blp", "new", "old"]


def a_file_that_others_may_not_touch(b: Bench) -> None:
    data = sensor(1_000)
    b.write("a", data)
    b.run("c", "a")
    old = b.read("a.blp")
    # The shell opens it without the right for others to replace it.
    line = "ping -n 20 127.0.0.1 > nul 2>> a.blp"
    holder = subprocess.Popen([*WINE, "cmd.exe", "/c", line], cwd=b.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(5)
        b.run("c", "-f", "a", status=FAILED)
    finally:
        holder.kill()
        holder.wait(60)
    assert b.read("a.blp") == old
    assert b.names() == ["a", "a.blp"]


def two_writers_of_a_dataset(b: Bench) -> None:
    data = sensor(1_000)
    b.write("a.npy", npy(data, (1_000,)))
    b.run("import", "a.npy", "a.bcolz", "--layout", "bcolz")
    writers = [b.start("dataset", "append", "a.bcolz", "a.npy") for _ in range(4)]
    done = [(w.wait(120), w.stderr.read().decode()) for w in writers]
    assert all(status in (DONE, FAILED) for status, _ in done), done
    count = 1 + sum(status == DONE for status, _ in done)
    assert b.run("cat", "a.bcolz") == data * count, done
    b.run("verify", "a.bcolz")
    assert not [name for name in os.listdir(b.folder / "a.bcolz") if name.startswith(".blpk")]


def wait_for(condition) -> None:
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, "it did not happen within a minute"
        time.sleep(0.05)


CASES = [
    pipes,
    a_reader_that_has_gone,
    files,
    redirections,
    names_beyond_ascii,
    nothing_is_overwritten_without_force,
    append_and_patch,
    records,
    datasets,
    tables,
    frames,
    caterva,
    stores,
    replaced_frames,
    conversions,
    what_is_sound_is_recovered,
    followed,
    mistakes,
    statuses,
    ctrl_c,
    ctrl_c_in_an_append,
    a_killed_append,
    an_append_that_rewrites_the_file,
    a_killed_writer_leaves_the_old_file,
    long_paths,
    names_that_are_none,
    read_only_files,
    a_file_that_is_open_elsewhere,
    a_file_that_others_may_not_touch,
    two_writers_of_a_dataset,
]


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    chosen = [case for case in CASES if pattern.search(case.__name__)]
    failed = 0
    for case in chosen:
        with tempfile.TemporaryDirectory(prefix="blpk-windows-") as folder:
            since = time.monotonic()
            try:
                case(Bench(Path(sys.argv[1]).resolve(), Path(folder)))
                result = "ok"
            except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
                failed += 1
                result = f"FAILED: {error!r}"[:2000]
        print(f"{case.__name__.replace('_', ' '):<40} {time.monotonic() - since:6.1f} s  {result}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} cases")
    return int(failed > 0 or not chosen)


if __name__ == "__main__":
    sys.exit(main())
