"""Data sets, samplers, and functions that make batches of examples."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np, npx
from forerun.gluon import data
from forerun.gluon.data import batchify

TEN = data.SimpleDataset(list(range(10)))


def test_parts_of_data_sets() -> None:
    assert [list(TEN.shard(3, i)) for i in range(3)] == [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert list(TEN.take(3)) == [0, 1, 2]
    assert list(TEN.take(None)) == list(TEN.take(99)) == list(range(10))
    assert list(TEN.filter(lambda n: n > 6)) == [7, 8, 9]
    assert list(TEN.sample(data.IntervalSampler(10, 4))) == [0, 4, 8, 1, 5, 9, 2, 6, 3, 7]
    assert list(TEN.shard(2, 1).filter(lambda n: n % 2).take(2)) == [5, 7]
    with pytest.raises(ValueError, match=r"shard: index must be in \[0, 3\), got 3"):
        TEN.shard(3, 3)
    with pytest.raises(TypeError, match="sample: sampler must be a Sampler, got list"):
        TEN.sample([1])  # type: ignore[arg-type]
    with pytest.raises(IndexError):
        TEN.take(3)[3]


def test_transforms_are_lazy_or_not() -> None:
    calls: list[int] = []

    def twice(n: int) -> int:
        calls.append(n)
        return 2 * n

    lazy = TEN.transform(twice)
    assert not calls
    assert [lazy[3], lazy[3], len(calls), len(lazy)] == [6, 6, 2, 10]
    calls.clear()
    eager = TEN.transform(twice, lazy=False)
    assert len(calls) == 10
    assert [eager[3], eager[3], len(calls)] == [6, 6, 10]
    pairs = data.ArrayDataset([1, 2], [3, 4])
    assert list(pairs.transform_first(lambda x: -x)) == [(-1, 3), (-2, 4)]
    assert list(pairs.transform(lambda x, y: x + y)) == [4, 6]
    assert list(TEN.take(2).transform_first(lambda x: -x)) == [0, -1]


def test_samplers() -> None:
    assert list(data.SequentialSampler(3, 2)) == [2, 3, 4]
    assert list(data.FilterSampler(lambda n: n % 3 == 0, TEN)) == [0, 3, 6, 9]
    for sampler in (data.IntervalSampler(7, 3), data.IntervalSampler(7, 3, rollover=False)):
        assert len(list(sampler)) == len(sampler)
    orders = []
    for seed in (5, 5, 6):
        np.random.seed(seed)
        sampler = data.RandomSampler(20)
        orders += [list(sampler), list(sampler)]
    assert orders[:2] == orders[2:4] != orders[4:]
    assert orders[0] != orders[1]
    assert all(sorted(order) == list(range(20)) for order in orders)
    with pytest.raises(ValueError, match=r"IntervalSampler: interval must be in \[1, 3\], got 4"):
        data.IntervalSampler(3, 4)


@pytest.mark.parametrize(
    ("last", "first", "second"),
    [
        ("keep", [[0, 1], [2, 3], [4]], [[0, 1], [2, 3], [4]]),
        ("discard", [[0, 1], [2, 3]], [[0, 1], [2, 3]]),
        ("rollover", [[0, 1], [2, 3]], [[4, 0], [1, 2], [3, 4]]),
    ],
)
def test_batch_sampler(last: str, first: list[list[int]], second: list[list[int]]) -> None:
    sampler = data.BatchSampler(data.SequentialSampler(5), 2, last)
    for batches in (first, second):
        assert len(sampler) == len(batches)
        assert list(sampler) == batches


def test_bad_settings_of_batch_sampler() -> None:
    with pytest.raises(ValueError, match=r"BatchSampler: last_batch must be one of .* got 'drop'"):
        data.BatchSampler(data.SequentialSampler(5), 2, "drop")
    with pytest.raises(ValueError, match="BatchSampler: batch_size must be positive, got 0"):
        data.BatchSampler(data.SequentialSampler(5), 0)


def nested_values(batch: Any) -> Any:
    return [nested_values(x) for x in batch] if isinstance(batch, (list, tuple)) else batch.tolist()


class TestBatchify:
    def test_stack(self) -> None:
        one = numpy.arange(3, dtype="int16")
        both = batchify.Stack()([(one, np.ones(2), 1, 0.5), (one + 1, np.zeros(2), 2, 1.5)])
        assert nested_values(both) == [[[0, 1, 2], [1, 2, 3]], [[1, 1], [0, 0]], [1, 2], [0.5, 1.5]]
        assert [x.dtype for x in both] == ["int16", "float32", "int64", "float64"]
        assert nested_values(batchify.Stack()([[one, 2], [one, 3]])) == [[[0, 1, 2], [0, 1, 2]], [2, 3]]
        assert batchify.Stack()([[1, 2], [3, 4]]).shape == (2, 2)
        assert batchify.Stack()([numpy.int8(1), numpy.int32(1)]).dtype == "int32"
        assert batchify.Stack()([numpy.zeros((0, 2))] * 3).shape == (3, 0, 2)
        assert batchify.Stack()([numpy.float16(1), numpy.float16(2)]).dtype == "float16"
        assert batchify.Stack()([numpy.array([1], ">i2")] * 2).tolist() == [[1], [1]]
        for wrong in (numpy.ones(2, "longdouble"), "word"):
            with pytest.raises(TypeError, match="values must be"):
                batchify.Stack()([wrong, wrong])
        with pytest.raises(ValueError, match=r"Stack: examples must have one shape, got \(2,\) and \(3,\)"):
            batchify.Stack()([numpy.ones(2), numpy.ones(3)])

    def test_stacked_batch_is_a_copy(self) -> None:
        source = numpy.ones(3)
        batch = batchify.Stack()([source])
        source[:] = 7
        batch += 1
        assert (batch.tolist(), source.tolist()) == ([[2, 2, 2]], [7, 7, 7])

    def test_floats_follow_set_np(self) -> None:
        npx.set_np()
        try:
            assert batchify.Stack()([numpy.ones(2)]).dtype == "float32"
            assert batchify.Stack()([1, 2]).dtype == "int64"
            assert batchify.Pad()([[0.5], []]).dtype == "float32"
        finally:
            npx.reset_np()

    def test_pad(self) -> None:
        a, b = numpy.arange(6).reshape(2, 3), numpy.ones((3, 1), "int64")
        found = batchify.Pad(val=-1)([a, np.array(b)])
        assert found.tolist() == [
            [[0, 1, 2], [3, 4, 5], [-1, -1, -1]],
            [[1, -1, -1], [1, -1, -1], [1, -1, -1]],
        ]
        assert batchify.Pad(dtype="float32", round_to=4)([[1], [2, 3]]).tolist() == [[1, 0, 0, 0], [2, 3, 0, 0]]
        with pytest.raises(TypeError, match="Pad: examples must be arrays or lists, got tuples"):
            batchify.Pad()([(1, 2)])
        with pytest.raises(ValueError, match="Pad: examples must have the same number of axes, got shapes"):
            batchify.Pad()([numpy.ones(2), numpy.ones((2, 2))])

    def test_append_group_and_list(self) -> None:
        assert nested_values(batchify.Append(expand=False)([[1], [2, 3]])) == [[1], [2, 3]]
        assert batchify.Append(batch_axis=1)([numpy.ones((2, 3))])[0].shape == (2, 1, 3)
        group = batchify.Group([batchify.Pad(), batchify.AsList(), batchify.Stack()])
        x, words, y = group([([1], "a", 2), ([3, 4], "b", 5)])
        assert (x.tolist(), words, y.tolist()) == ([[1, 0], [3, 4]], ["a", "b"], [2, 5])
        with pytest.raises(ValueError, match="Group: examples must have 3 parts, got 2"):
            group([(1, 2)])
        with pytest.raises(TypeError, match="Group: functions must be callable, got int"):
            batchify.Group(1)


class TestArrayDataset:
    def test_batches_are_the_examples(self) -> None:
        arrays = [numpy.arange(12.0).reshape(6, 2), np.arange(6), list("abcdef"), numpy.arange(6, dtype=">i4")]
        loader = data.DataLoader(data.ArrayDataset(arrays[0], arrays[1], arrays[3]), batch_sampler=[[0, 1], [5, 2, -1]])
        for rows, (x, y, z) in zip([[0, 1], [5, 2, -1]], loader):
            assert x.tolist() == arrays[0][rows].tolist()
            assert y.tolist() == z.tolist() == numpy.arange(6)[rows].tolist()
        with pytest.raises(IndexError):
            list(data.DataLoader(data.ArrayDataset(arrays[0]), batch_sampler=[[6]]))

    def test_a_subclass_defines_its_examples(self) -> None:
        class Negative(data.ArrayDataset):
            def __getitem__(self, index: int) -> Any:
                return -super().__getitem__(index)

        assert next(iter(data.DataLoader(Negative(numpy.arange(3)), 3))).tolist() == [0, -1, -2]

    def test_batches_do_not_wait(self, gate: None) -> None:
        x = np.ones((4, 2)) + 1
        batches = list(data.DataLoader(data.ArrayDataset(x, x), 3, shuffle=True))
        assert [a.shape for a, _ in batches] == [(3, 2), (1, 2)]
