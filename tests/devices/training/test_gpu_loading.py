"""Batches of a loader for a GPU: made on the host by worker processes, and copied where they are used."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import np, npx
from forerun.gluon import data
from tests.support.device_plugins.devices import gpus

SERIAL: dict[str, Any] = {}
THREADS: dict[str, Any] = {"num_workers": 2, "thread_pool": True}
PROCESSES: dict[str, Any] = {"num_workers": 2}
ALL = pytest.mark.parametrize("how", [SERIAL, THREADS, PROCESSES], ids=["serial", "threads", "processes"])


class MixedExamples(data.Dataset):
    """Of NumPy's arrays, of arrays that are made for each example, and of numbers."""

    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> Any:
        return numpy.full((2, 3), i, "float32"), np.arange(4) + i, i


@ALL
def test_batches_are_on_the_current_device(how: dict[str, Any]) -> None:
    for device in (gpus()[1], npx.cpu(1)):
        with device:
            loader = data.DataLoader(MixedExamples(), 4, **how)
            found = list(loader)
        assert {x.device for batch in found for x in batch} == {device}
        assert [x.tolist() for x in found[1][1:]] == [[[4, 5, 6, 7], [5, 6, 7, 8]], [4, 5]]


@ALL
def test_batches_keep_an_explicit_device(how: dict[str, Any]) -> None:
    def batch(examples: list[Any]) -> Any:
        return np.ones(3, ctx=npx.cpu(1)), np.ones(2)

    one = gpus()[0]
    with one:
        found = next(iter(data.DataLoader(MixedExamples(), 6, batchify_fn=batch, **how)))
    assert [x.device for x in found] == [npx.cpu(1), one]


def test_forked_workers_cannot_read_a_gpu() -> None:
    one = gpus()[0]
    examples = data.ArrayDataset(np.ones((4, 2), device=one), numpy.arange(4))
    assert [y.tolist() for _, y in data.DataLoader(examples, 3)] == [[0, 1, 2], [3]]
    with pytest.raises(RuntimeError, match=r"gpu\(0\): must be used by the process that has opened it, got a forked"):
        list(data.DataLoader(examples, 3, **PROCESSES))
    assert forerun.np.ones(2, device=one).tolist() == [1, 1]
