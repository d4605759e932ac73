"""Views whose elements share memory are not written at once; views of read-only arrays are read-only."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import _core, np

windows, strided = np.lib.stride_tricks.sliding_window_view, np.lib.stride_tricks.as_strided
numpy_tricks = numpy.lib.stride_tricks

OVERLAP: dict[str, Callable[[], Any]] = {
    "windows": lambda: windows(np.zeros(6), 3),
    "windows of a matrix": lambda: windows(np.zeros((5, 6)), (2, 2)),
    "windows, some of them": lambda: windows(np.zeros(9), 4)[::2],
    "windows, turned": lambda: windows(np.zeros(6), 3).T[::-1],
    "strided": lambda: strided(np.zeros(9, "float64"), (3, 4), (16, 8)),
    "strided, no axis is inside the other": lambda: strided(np.zeros(13, "float64"), (4, 3), (16, 24)),
    "broadcast": lambda: np.broadcast_to(np.zeros(3), (2, 3)),
    "imported windows": lambda: np.from_dlpack(numpy_tricks.sliding_window_view(numpy.zeros(6), 3, writeable=True)),
    "an imported broadcast": lambda: np.from_dlpack(numpy.broadcast_to(numpy.zeros(3), (2, 3))),
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "assign": lambda x: x.__setitem__(..., 1),
    "in place": lambda x: x.__iadd__(1),
    "out": lambda x: np.add(np.ones(x.shape), 1, out=x),
    "where": lambda x: np.add(np.ones(x.shape), 1, out=x, where=np.ones(x.shape, bool)),
    "mask": lambda x: x.__setitem__(np.ones(x.shape, bool), 1),
    "values under a mask": lambda x: x.__setitem__(np.ones(x.shape, bool), np.ones(x.size)),
    "positions": lambda x: x.__setitem__(np.array([0]), 1),
    "put": lambda x: np.put(x, [0], 1),
    "place": lambda x: np.place(x, np.ones(x.shape, bool), [1, 2]),
    "putmask": lambda x: np.putmask(x, np.ones(x.shape, bool), [1, 2]),
    "copyto": lambda x: np.copyto(x, 1),
    "at": lambda x: np.add.at(x, np.array([0]), 1),
    "along": lambda x: np.put_along_axis(x, np.zeros(x.shape, int), 1, 0),
    "fill": lambda x: x.fill(1),
    "sort": lambda x: x.sort(),
    "sum": lambda x: np.sum(np.ones((2, *x.shape)), 0, out=x),
    "product": lambda x: np.matmul(np.ones((*x.shape[:-1], 2)), np.ones((2, x.shape[-1])), out=x),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", OVERLAP)
def test_overlapping_elements_are_not_written(name: str, write: str) -> None:
    x = OVERLAP[name]()
    assert not x.flags.writeable
    with pytest.raises(ValueError, match="destination must"):
        WRITES[write](x)
    assert not x.any()


def test_elements_that_do_not_overlap_are_written() -> None:
    x = np.zeros(6)
    w = windows(x, 3)
    for part in (w[0], w[:, 1], w[::3], w[1, 1:]):
        assert part.flags.writeable
    w[::3] = np.arange(6.0).reshape(2, 3)
    w[1, 0] = 9
    assert x.tolist() == [0, 9, 2, 3, 4, 5]
    y = np.zeros(8, "float64")
    strided(y, (2, 3), (24, 16))[...] = 1  # no axis lies inside the other, and still no two elements meet
    assert y.tolist() == [1, 0, 1, 1, 1, 1, 0, 1]


def test_every_small_layout_is_judged_as_by_trying() -> None:
    base = np.zeros(64, "float64")
    for shape in itertools.product((1, 2, 3), repeat=3):
        for steps in itertools.product((-1, 1, 2, 3, 5), (1, 2, 4, 6), (2, 3, 7)):
            places = [sum(i * s for i, s in zip(at, steps)) for at in itertools.product(*map(range, shape))]
            x = _core.view(base, shape, tuple(8 * s for s in steps), 8 * 8)
            assert x.flags.writeable == (len(set(places)) == len(places)), (shape, steps)


BROADCAST: dict[str, Callable[[Any], Any]] = {
    "element": lambda b: b[0],
    "slice": lambda b: b[:1],
    "turned": lambda b: b.T,
    "column": lambda b: b[:, 1],
    "reshaped": lambda b: b[0].reshape(3, 1),
    "axis": lambda b: b[:, None],
    "other bytes": lambda b: b[0].view("uint8"),
    "all": lambda b: b[...],
    "diagonal": lambda b: strided(b, (2,), (b.itemsize,)),
    "squeezed": lambda b: np.squeeze(b[:1]),
    "broadcast again": lambda b: np.broadcast_to(b[0], (4, 3))[1],
    "detached": lambda b: b[0].detach(),
}


@pytest.mark.parametrize("part", BROADCAST)
@pytest.mark.parametrize(
    "make",
    [
        lambda x: np.broadcast_to(x, (2, 3)),
        lambda x: np.broadcast_to(x, (2, 3))[::-1],
        lambda x: np.broadcast_arrays(x, np.zeros((2, 1)))[0],
        lambda x: np.from_dlpack(numpy.broadcast_to(numpy.zeros(3), (2, 3))),
    ],
)
def test_views_of_broadcast_views_are_read_only(part: str, make: Any) -> None:
    x = np.zeros(3)
    b = make(x)
    found = BROADCAST[part](b)
    assert not b.flags.writeable
    assert not found.flags.writeable
    for write in (lambda v: v.__setitem__(..., 1), lambda v: v.__iadd__(1), lambda v: np.copyto(v, 1)):
        with pytest.raises(ValueError, match="destination must"):
            write(found)  # type: ignore[no-untyped-call]
    assert x.tolist() == [0, 0, 0]


def test_results_of_read_only_views_are_writeable() -> None:
    b = np.broadcast_to(np.ones(3), (3,))
    assert not b.flags.writeable
    for made in (
        b + 1,
        b.copy(),
        b * b,
        b.astype("float32"),
        b.astype("int64"),
        np.array(b),
        np.sqrt(b),
        b[np.array([0])],
    ):
        assert made.flags.writeable
        made += 1
    assert b.tolist() == [1, 1, 1]


def test_strides_that_lead_out_of_the_array() -> None:
    x = np.arange(4.0, dtype="float64")
    for shape, strides, message in [
        ((5,), (8,), "must lie in the array's memory"),
        ((2,), (3,), "multiples of 8"),
        ((-1,), (8,), "must not be negative"),
        ((2,), (8, 8), "one length"),
        ((2**40, 2**40), (0, 0), "fewer than 2\\*\\*63 bytes"),
    ]:
        with pytest.raises(ValueError, match=message):
            strided(x, shape, strides)
    assert not strided(x, (2, 2), (16, 8), writeable=False).flags.writeable
    assert strided(x, (2, 2), (16, 8)).flags.writeable
