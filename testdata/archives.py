#!/usr/bin/env python3
"""Packs and unpacks the test data: an archive here for each tool that made some of it, and all of it in target/testdata.

    testdata/archives.py unpack     replaces target/testdata with the content of the archives, unless it is that already
    testdata/archives.py pack       writes the archives from target/testdata

The same files always give the same archives. `crates/testkit` unpacks likewise, so tests need no command before them.
"""

import fcntl
import gzip
import io
import shutil
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "target"
UNPACKED = TARGET / "testdata"
FOLDERS = {
    "bcolz": ["datasets/bcolz", "datasets/bcolz-legacy"],
    "bloscpack": ["bloscpack"],
    "blz": ["datasets/blz"],
    "carray": ["datasets/carray05"],
    "caterva": ["frames/caterva"],
    "documents": ["datasets/documents"],
    "exchange": ["exchange"],
    "python-blosc2": ["blosc2", "frames/b2nd", "plug_ins", "stores", "virtual"],
}
# The first of January 2020: ZIP archives have no times before 1980.
TIME = 1577836800


def archive(folders):
    """A compressed archive of the folders, whose members have sorted names, one time and no owner."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as out:
        for folder in folders:
            for path in sorted([UNPACKED / folder, *(UNPACKED / folder).rglob("*")]):
                member = tarfile.TarInfo(path.relative_to(UNPACKED).as_posix())
                member.mtime = TIME
                if path.is_dir():
                    member.type, member.mode = tarfile.DIRTYPE, 0o755
                    out.addfile(member)
                else:
                    content = path.read_bytes()
                    member.size = len(content)
                    out.addfile(member, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(tar.getvalue())
    return packed.getvalue()


def stamp():
    """A line for each archive: its name, and the CRC and the length in which a gzip file ends."""
    return "".join(f"{path.name} {path.read_bytes()[-8:].hex()}\n" for path in sorted(HERE.glob("*.tar.gz")))


def unpacked():
    """The folder of the unpacked data. Programs that start at once wait for the first of them."""
    TARGET.mkdir(exist_ok=True)
    with open(TARGET / "testdata.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        of_archives, mark = stamp(), UNPACKED / "archives.txt"
        if not mark.exists() or mark.read_text() != of_archives:
            new = TARGET / "testdata.new"
            shutil.rmtree(new, ignore_errors=True)
            for path in sorted(HERE.glob("*.tar.gz")):
                with tarfile.open(path) as packed:
                    packed.extractall(new, filter="data")
            (new / "archives.txt").write_text(of_archives)
            shutil.rmtree(UNPACKED, ignore_errors=True)
            new.rename(UNPACKED)
    return UNPACKED


def pack():
    for name, folders in FOLDERS.items():
        (HERE / f"{name}.tar.gz").write_bytes(archive(folders))
    (UNPACKED / "archives.txt").write_text(stamp())


if __name__ == "__main__":
    if sys.argv[1:] == ["unpack"]:
        print(unpacked())
    elif sys.argv[1:] == ["pack"]:
        pack()
    else:
        sys.exit(__doc__)
