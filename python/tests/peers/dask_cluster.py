"""What our compression has compressed arrives, in messages of Dask.distributed and in clusters whose processes load it."""

from __future__ import annotations

import dask
import numpy as np
from bloscpack.distributed import NAME, register
from distributed import Client, LocalCluster
from distributed.protocol import dumps, loads, to_serialize
from distributed.protocol.compression import compressions


def test_messages() -> None:
    register()
    array = np.linspace(0, 1, 1_000_000)
    frames = dumps({"x": to_serialize(array), "y": [to_serialize(array[::-1])]}, context={"compression": NAME})
    assert sum(memoryview(frame).nbytes for frame in frames) < array.nbytes / 9
    message = loads([bytes(frame) for frame in frames])
    np.testing.assert_array_equal(message["x"], array)
    np.testing.assert_array_equal(message["y"][0], array[::-1])
    message["x"][0] = 1  # What was received can be changed.


def test_a_cluster() -> None:
    # Between processes of one host nothing is compressed, but all of them must know what is configured.
    register()
    preload = {f"distributed.{role}.preload": ["bloscpack.distributed"] for role in ("scheduler", "nanny", "worker")}
    with dask.config.set({"distributed.comm.compression": NAME, **preload}):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            first, second = list(client.scheduler_info()["workers"])
            made = client.submit(np.arange, 3_000_000, workers=[first])
            assert client.submit(np.sum, made, workers=[second]).result(timeout=60) == np.arange(3_000_000).sum()


def test_payloads_of_every_kind() -> None:
    register()
    ours, numbers = compressions[NAME], np.arange(1001) / 4
    for payload in (b"", b"abc" * 10_000, bytearray(range(256)) * 99, memoryview(numbers).cast("B")[3:], memoryview(np.arange(6))):
        assert ours.decompress(ours.compress(payload)) == bytes(payload)
