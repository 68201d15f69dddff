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
REFUSED = {"b2nd": ["b_bytedelta_c.b2nd"], "caterva": ["filt_shuffle_meta.cat"]}


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


@pytest.mark.parametrize("name", ["bcolz", "bcolz-legacy", "blz", "carray05"])
def test_datasets(corpus, name):
    folder, manifest = corpus(name)
    read = {"array": 0, "table": 0}
    for entry in manifest["datasets"]:
        path, stated = folder / entry["name"], entry.get("sha256_native")
        if stated is None or entry.get("writer_error") or not entry.get("writer_can_reopen", True):
            continue
        if entry["kind"] in ("carray", "barray"):
            if "O" in str(entry["dtype"]) and "object" in str(entry["dtype"]):
                continue
            array = bp.open_array(path)
            if array.dtype.names and array.dtype.itemsize > sum(array.dtype[i].itemsize for i in range(len(array.dtype))):
                # The bytes between fields have no meaning, and NumPy does not copy them.
                assert array[...].tolist() == np.load(folder / entry["npy"]).tolist()
                continue
            assert digest(array[...]) == stated, entry["name"]
            assert tuple(entry["shape"]) == array.shape
            if len(array) > 20:
                assert array[7:19:4].tobytes() == array[...][7:19:4].tobytes()
            read["array"] += 1
        else:
            table = bcolz.ctable(rootdir=str(path), mode="r")
            rows = table[:]
            assert len(rows) == len(table)
            read["table"] += 1
    assert read["array"] > 20, read


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
