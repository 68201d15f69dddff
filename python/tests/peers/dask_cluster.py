"""Workers in processes of their own send arrays that our compression has compressed."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from bloscpack.distributed import NAME, register
from distributed import Client, LocalCluster
from distributed.protocol.compression import compressions


def test_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    register()
    ours, received = compressions[NAME], []
    counting = ours._replace(decompress=lambda frame: received.append(len(frame)) or ours.decompress(frame))
    monkeypatch.setitem(compressions, NAME, counting)
    preload = {f"distributed.{role}.preload": ["bloscpack.distributed"] for role in ("scheduler", "nanny", "worker")}
    with dask.config.set({"distributed.comm.compression": NAME, **preload}):
        with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
            first, second = list(client.scheduler_info()["workers"])
            made = client.submit(np.arange, 3_000_000, workers=[first])
            expected = np.arange(3_000_000)
            assert client.submit(np.sum, made, workers=[second]).result(timeout=60) == expected.sum()
            np.testing.assert_array_equal(made.result(timeout=60), expected)
    assert 0 < sum(received) < expected.nbytes / 10


def test_payloads_of_every_kind() -> None:
    register()
    ours, numbers = compressions[NAME], np.arange(1001) / 4
    for payload in (b"", b"abc" * 10_000, bytearray(range(256)) * 99, memoryview(numbers).cast("B")[3:], memoryview(np.arange(6))):
        assert ours.decompress(ours.compress(payload)) == bytes(payload)
    received = np.frombuffer(ours.decompress(memoryview(ours.compress(numbers))))
    received[0] = 1  # What was received can be changed.
