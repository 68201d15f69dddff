#!/usr/bin/env python3
"""Run the command of this machine and that of another one, and compare what they write.

    tests/beside.py HERE THERE                      every file has to have the same bytes
    tests/beside.py --lz4-by-content HERE THERE     but those that LZ4 compressed, which have to have the same content

    tests/beside.py target/debug/blpk 'qemu-aarch64-static target/cross/target/aarch64-unknown-linux-gnu/debug/blpk'

LZ4 finds matches by a hash of bytes as a number of the machine, so that one that is big-endian, or has 32 bits, writes other
bytes. Their content is compared by both commands: each reads the files of the other.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from windows import npy, sensor

CODECS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")
# Names that the programs of these layouts do not read.
REFUSED = {("snappy", "bcolz"), ("snappy", "b2nd"), ("snappy", "caterva"), ("zstd", "blz")}
LAYOUTS = {"bcolz": "bcolz", "blz": "blz", "carray-doc": "carray-doc", "b2nd": "b2nd", "caterva": "cat"}


def commands() -> list[tuple[list[str], bool]]:
    """Each command line, and whether LZ4 compresses what it writes."""
    found = []
    for codec in CODECS:
        lines = [f"c -c {codec} --shuffle {shuffle} -t 8 -k sha256 a {codec}-{shuffle}.blp" for shuffle in ("none", "byte", "bit")]
        lines += [f"append {codec}-byte.blp a", f"patch {codec}-bit.blp --at 1000 a.npy"]
        lines += [f"records pack --packed -c {codec} t.csv records-{codec}.blp"]
        lines += [f"import a.npy {codec}.{end} --layout {layout} -c {codec}" for layout, end in LAYOUTS.items()
                  if (codec, layout) not in REFUSED]
        if codec != "snappy":
            lines += [f"import t.csv t-{codec}.bcolz --layout bcolz -c {codec}", f"export t-{codec}.bcolz t-{codec}.jsonl"]
        found += [(shlex.split(line), codec.startswith("lz4")) for line in lines]
    return found


class Side:
    """A command, and the folder in which it runs."""

    def __init__(self, command: str, folder: Path) -> None:
        words = shlex.split(command)
        # Paths to the emulator are searched for, those to the command are relative to where this script was started.
        self.command = [*words[:-1], str(Path(words[-1]).resolve())]
        self.folder = folder
        folder.mkdir()
        (folder / "a").write_bytes(sensor(40_000))
        (folder / "a.npy").write_bytes(npy(sensor(6_000), (60, 100)))
        rows = "".join(f"{i},{i / 7},n{i % 5}\n" for i in range(500))
        (folder / "t.csv").write_text("day,price,name\n" + rows)

    def run(self, args: list[str]) -> tuple[int, bytes, str]:
        done = subprocess.run([*self.command, *args], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
        return done.returncode, done.stdout, done.stderr.decode(errors="replace").strip()

    def files(self) -> dict[str, bytes]:
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}


def contents(reader: Side, name: str, *writers: Side) -> list[tuple[int, bytes, str]]:
    paths = [str(writer.folder / name) for writer in writers]
    if name.startswith("t-"):  # a table, which has no bytes of its own
        return [reader.run(["export", "--to", "jsonl", path, "-"]) for path in paths]
    return [reader.run(["cat", path]) for path in paths]


def main() -> int:
    by_content = sys.argv[1:2] == ["--lz4-by-content"]
    if len(sys.argv) - by_content != 3:
        print(__doc__, file=sys.stderr)
        return 2
    wrong, seen, counts = [], {"a", "a.npy", "t.csv"}, {"bytes": 0, "content": 0}
    with tempfile.TemporaryDirectory(prefix="blpk-beside-") as top:
        here, there = Side(sys.argv[-2], Path(top, "here")), Side(sys.argv[-1], Path(top, "there"))
        of_lz4 = set()
        for args, is_lz4 in commands():
            before, after = here.run(args), there.run(args)
            if before[:2] != after[:2] or before[0] != 0:
                wrong.append(f"{shlex.join(args)}: {before[0]} {before[2]} → {after[0]} {after[2]}")
            written = {path.name for path in here.folder.iterdir()} - seen
            seen |= written
            of_lz4 |= {name for name in written if is_lz4 and not name.endswith(".jsonl")}
        left, right = here.files(), there.files()
        for name in sorted(left.keys() | right.keys()):
            if by_content and name.split("/")[0] in of_lz4:
                continue
            counts["bytes"] += 1
            if left.get(name) != right.get(name):
                wrong.append(f"{name}: other bytes")
        for name in sorted(of_lz4 if by_content else ()):
            counts["content"] += 1
            read = contents(here, name, here, there) + contents(there, name, here, there)
            if any(one[:2] != read[0][:2] for one in read) or read[0][0] != 0:
                wrong.append(f"{name}: other content: {[(status, len(data), error) for status, data, error in read]}")
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    print(f"{len(commands())} commands, {counts['bytes']} files compared by bytes, {counts['content']} outputs of LZ4 by content:"
          f" {len(wrong)} differences")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
