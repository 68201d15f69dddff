#!/usr/bin/env python3
"""Reads and writes the corpus of the fuzz targets, fuzz/corpus/TARGET.tar.gz:

    fuzz/corpus.py unpack [TARGET...]      replace target/fuzz/corpus/TARGET with the archive's content
    fuzz/corpus.py pack [TARGET...]        write the archive from target/fuzz/corpus/TARGET
    fuzz/corpus.py merge [TARGET...]       add inputs from target/fuzz/TARGET that reach new code
    fuzz/corpus.py minimise [TARGET...]    merge, and drop every input that the others make redundant

No TARGET means every target. merge and minimise need cargo-fuzz; they start from the archive and
write it again. The same inputs always give the same archive, and an archive whose inputs have not
changed is left alone.
"""

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUZZ = ROOT / "fuzz"
WORK = ROOT / "target/fuzz"


def archive_of(target):
    return FUZZ / "corpus" / f"{target}.tar.gz"


def folder_of(target):
    return WORK / "corpus" / target


def read_archive(path):
    """The inputs of an archive by name. Folders and links are an error."""
    inputs = {}
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(path.read_bytes())), mode="r:") as archive:
        for member in archive:
            if not member.isreg() or Path(member.name).name != member.name:
                sys.exit(f"{path}: {member.name!r} is not a plain file at the top level")
            inputs[member.name] = archive.extractfile(member).read()
    return inputs


def archived(inputs):
    """An archive of the inputs: sorted names, no times or owners, and no name or time in the head of gzip."""
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(inputs.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(tar.getvalue())
    return packed.getvalue()


def new_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def unpack(target):
    folder, archive = folder_of(target), archive_of(target)
    new_folder(folder)
    if not archive.exists():
        # A target starts without a corpus; `merge` writes its first archive. tests/replay.rs requires one.
        print(f"{target}: no archive yet, starting from an empty corpus", file=sys.stderr)
        return
    for name, content in read_archive(archive).items():
        (folder / name).write_bytes(content)


def pack(target):
    folder, archive = folder_of(target), archive_of(target)
    if not folder.is_dir():
        sys.exit(f"{folder} does not exist: unpack the archive first")
    inputs = {path.name: path.read_bytes() for path in folder.iterdir()}
    if not inputs:
        sys.exit(f"{folder} is empty: no archive written")
    size = sum(map(len, inputs.values()))
    # zlib may compress differently elsewhere: what counts is the content.
    if archive.exists() and read_archive(archive) == inputs:
        print(f"{target}: {len(inputs)} inputs, {size} bytes, unchanged")
        return
    archive.parent.mkdir(exist_ok=True)
    written = archive.with_suffix(".new")
    written.write_bytes(archived(inputs))
    os.replace(written, archive)
    print(f"{target}: {len(inputs)} inputs, {size} bytes")


def add(target, to, sources):
    """Copies inputs to a folder, the smallest that reach code which those already there do not."""
    sources = [source for source in sources if source.is_dir()]
    subprocess.run([FUZZ / "target.sh", target, to, *sources, "--", "-merge=1"], check=True)


def merge(target):
    unpack(target)
    add(target, folder_of(target), [WORK / target])
    pack(target)


def minimise(target):
    unpack(target)
    smaller = WORK / "minimised" / target
    new_folder(smaller)
    add(target, smaller, [folder_of(target), WORK / target])
    shutil.rmtree(folder_of(target))
    smaller.rename(folder_of(target))
    pack(target)


def main():
    verbs = {verb.__name__: verb for verb in [unpack, pack, merge, minimise]}
    targets = re.findall(r'^\[\[bin\]\]\nname = "(.*)"$', (FUZZ / "Cargo.toml").read_text(), re.MULTILINE)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=verbs)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    arguments = parser.parse_args()
    unknown = set(arguments.targets) - set(targets)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    for target in arguments.targets or targets:
        verbs[arguments.verb](target)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"fuzz/corpus.py: the fuzzer ended with status {error.returncode}; the archive was not changed")
