"""What the real tools wrote, read through Python and compared with their manifests."""

import hashlib
import json
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

import bloscpack as bp
from bloscpack import bcolz

ROOT = Path(__file__).resolve().parents[2]
ARCHIVES = Path(os.environ.get("BLOSCPACK_CORPUS_ARCHIVES", ROOT.parent / "shared" / "corpus"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")

    def unpacked(name):
        archive = ARCHIVES / f"{name}.tar.xz"
        if not archive.exists():
            pytest.skip(f"{archive} is not there")
        if not (folder / name).exists():
            with tarfile.open(archive) as package:
                package.extractall(folder, filter="data")
        return folder / name, json.loads((folder / name / "manifest.json").read_text())

    return unpacked


# Filters of plug-ins, and one whose meaning depends on the version of C-Blosc2.
REFUSED = {"b2nd": [], "caterva": ["filt_shuffle_meta.cat"]}


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def test_bloscpack(corpus):
    folder, manifest = corpus("bloscpack")
    read = 0
    for entry in manifest["files"]:
        with bp.open(folder / entry["file"], allow_unterminated=True) as file:
            content = file.read()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (entry["raw_len"], entry["raw_sha256"]), entry["file"]
        if entry.get("metadata") is not None:
            assert json.dumps(file.metadata) == json.dumps(entry["metadata"]), entry["file"]
        read += 1
    assert read == manifest["count"]


def is_checked(entry):
    return entry.get("sha256_native") and not entry.get("writer_error") and entry.get("writer_can_reopen", True)


def check_values(folder, entry, values):
    if "object" in str(entry["dtype"]):
        return False
    padding = values.dtype.names and values.dtype.itemsize > sum(values.dtype[i].itemsize for i in range(len(values.dtype)))
    if padding:
        # The bytes between fields have no meaning, and NumPy does not copy them.
        assert values.tolist() == np.load(folder / entry["npy"]).tolist(), entry["name"]
    else:
        assert digest(values) == entry["sha256_native"], entry["name"]
    assert tuple(entry["shape"]) == values.shape
    return True


@pytest.mark.parametrize("name", ["bcolz", "bcolz-legacy", "blz", "carray05"])
def test_arrays(corpus, name):
    folder, manifest = corpus(name)
    read = 0
    for entry in manifest["datasets"]:
        if entry["kind"] not in ("carray", "barray") or not is_checked(entry):
            continue
        if "object" in str(entry["dtype"]):
            continue
        array = bp.open_array(folder / entry["name"])
        read += check_values(folder, entry, array[...])
        if len(array) > 20:
            assert str(array[7:19:4].tolist()) == str(array[...][7:19:4].tolist())
    assert read > 20, read


@pytest.mark.parametrize(("name", "tables"), [("bcolz", 20), ("bcolz-legacy", 1), ("blz", 5)])
def test_tables(corpus, name, tables):
    folder, manifest = corpus(name)
    read = 0
    for entry in manifest["datasets"]:
        if entry["kind"] in ("carray", "barray") or not entry.get("writer_can_reopen", True):
            continue
        table = bcolz.ctable(rootdir=str(folder / entry["name"]), mode="r")
        assert table.names == entry["names"], entry["name"]
        rows = table[:]
        for column in filter(is_checked, entry["columns"]):
            values = table[column["name"]][:]
            check_values(folder, column, values)
            assert str(rows[column["name"]].tolist()) == str(values.tolist())
        read += 1
    assert read >= tables, read


def mutations(content, count, seed):
    """Cut, flipped and overwritten versions of a file."""
    random = np.random.default_rng(seed)
    for turn in range(count):
        changed = bytearray(content)
        at = int(random.integers(len(changed)))
        match turn % 3:
            case 0:
                del changed[at:]
            case 1:
                changed[at] ^= 1 << int(random.integers(8))
            case _:
                changed[at : at + 4] = random.bytes(4)[: len(changed) - at]
        if changed != content:
            yield bytes(changed)


def test_damaged_files_are_errors_with_chunk_and_byte(corpus, tmp_path):
    folder, manifest = corpus("bloscpack")
    outcomes = {"same": 0, "located": 0, "refused": 0}
    for number, entry in enumerate(manifest["files"]):
        content = (folder / entry["file"]).read_bytes()
        if not 100 < len(content) < 20_000 or entry["header"].get("checksum", "None") == "None" or entry["nchunks"] < 1:
            continue
        for changed in mutations(content, 12, number):
            damaged = tmp_path / "damaged.blp"
            damaged.write_bytes(changed)
            try:
                with bp.open(damaged) as file:
                    read = file.read()
            except bp.errors.Error as error:
                assert isinstance(error, ValueError | OSError), error
                outcomes["refused" if error.byte is None else "located"] += 1
            else:
                # Counters, spare bytes and offsets that nobody needs protect nothing.
                assert hashlib.sha256(read).hexdigest() == entry["raw_sha256"], entry["file"]
                outcomes["same"] += 1
    assert outcomes["located"] > 100, outcomes


@pytest.mark.parametrize("name", ["b2nd", "caterva"])
def test_frames(corpus, name):
    folder, manifest = corpus(name)
    read, refused = 0, []
    for entry in manifest["entries"]:
        if not entry.get("expected_npy") or entry.get("lossy"):
            continue
        array = bp.open_array(folder / entry["file"])
        expected = np.load(folder / entry["expected_npy"])
        assert tuple(entry["shape"]) == array.shape
        try:
            assert array[...].tobytes() == np.ascontiguousarray(expected).tobytes(), entry["file"]
            read += 1
        except bp.errors.UnsupportedError as error:
            assert error.chunk is not None and error.byte is not None
            refused.append(entry["file"])
    assert read > 20 and refused == REFUSED[name]
