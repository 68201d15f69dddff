#!/usr/bin/env python3
"""Writes small real files as inputs of the fuzz targets to a new folder: seeds.py FOLDER

FOLDER/TARGET is for the target of that name, FOLDER/files for targets without a folder of their
own. The files come from the archives of testdata, from fuzz/seeds.tar.gz, and from target/corpus if that is unpacked.
"""

import shutil
import sys
import tarfile
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = ROOT / "fuzz/seeds.tar.gz"
UNPACKED = ROOT / "target/fuzz/kept-seeds"
sys.path.insert(0, str(ROOT / "testdata"))
import archives  # noqa: E402

PLACES = [archives.unpacked(), UNPACKED, ROOT / "target/corpus"]
LONGEST = 8 << 10

# Suffixes and names of files that are inputs without any change.
FILES = {".blp", ".chunk2"}
FRAMES = {".cat", ".b2nd", ".frame"}
TABLES = {".npy", ".csv"}
WIRE = {"sizes", "storage", "shape", "attributes", "__attrs__", "__rootdirs__", "__0.blp", "__1__.bin"}
# Bytes that these targets read before the file: three changes; the share of the input that is the file, not its journal.
BEFORE = {
    "changed_file": bytes([3, 0, 0, 40, 7, 1, 60, 9, 5, 2, 20, 0, 0]),
    "any_journal": b"\xff",
}
# These targets read a list of operations, which real files do not contain: they get random ones.
CHANCE = ["append_patch_crash_reopen", "dataset_ops", "frame_ops", "offsets", "packed_records",
        "record_round_trip", "round_trip"]


def files():
    for place in PLACES:
        for path in sorted(place.rglob("*")):
            if path.is_file() and path.stat().st_size < LONGEST:
                yield path


def directory(root):
    """A dataset in the encoding of fuzz/properties/directory/edits.rs; None if it is too large."""
    edits = b"\0"
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix().encode()
        if len(name) > 127:
            return None
        head = bytes([128 + len(name)]) + name
        if path.is_dir():
            edits += b"\5" + head
        else:
            content = path.read_bytes()[: LONGEST + 1]
            edits += b"\0" + head + len(content).to_bytes(2, "little") + content
        if len(edits) > LONGEST:
            return None
    if (root / "meta").is_dir() and not (root / "data").exists():
        # Git does not track empty folders.
        edits += b"\5" + bytes([128 + 4]) + b"data"
    return edits


def datasets():
    """Folders that are a dataset, not a part of one."""
    for place in PLACES:
        for path in sorted(place.rglob("*")):
            signs = ["__rootdirs__", "meta/sizes", "meta/shape"]
            if path.is_dir() and any((path / sign).is_file() for sign in signs):
                if not (path.parent / "__rootdirs__").is_file():
                    yield path


def main(to):
    for old in (to, UNPACKED):
        shutil.rmtree(old, ignore_errors=True)
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(UNPACKED, filter="data")
    for name in ["files", "frame", "frame_wire", "dataset_dir", "dataset_wire", "import", *BEFORE, *CHANCE]:
        (to / name).mkdir(parents=True)
    for number, path in enumerate(files()):
        name = f"{number}_{path.name}"
        if path.suffix in FILES and path.parent.name != "data":
            shutil.copyfile(path, to / "files" / name)
            for target, before in BEFORE.items():
                (to / target / name).write_bytes(before + path.read_bytes())
        if path.suffix in FRAMES:
            shutil.copyfile(path, to / "frame" / name)
            shutil.copyfile(path, to / "frame_wire" / name)
        if path.name in WIRE or path.suffix == ".npy":
            shutil.copyfile(path, to / "dataset_wire" / name)
        if path.suffix in TABLES:
            # The first byte selects the options.
            (to / "import" / name).write_bytes(b"\0" + path.read_bytes())
    for number, root in enumerate(datasets()):
        edits = directory(root)
        if edits:
            (to / "dataset_dir" / f"{number}_{root.name}").write_bytes(edits)
    random = Random(1)
    for target in CHANCE:
        for number in range(40):
            operations = random.randbytes(random.randrange(20, 600))
            (to / target / f"chance_{number}").write_bytes(operations)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
