"""Where a parameter is an integer, elements of arrays are integers, too, as NumPy's scalars are in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np

VALUES = numpy.array([3.0, 1.0, 2.0, 5.0, 4.0, 6.0])

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "zeros": lambda n, x, k: n.zeros(k),
    "zeros of two axes": lambda n, x, k: n.zeros((k, 2)),
    "ones": lambda n, x, k: n.ones(k),
    "empty": lambda n, x, k: n.empty(k).shape,
    "full": lambda n, x, k: n.full(k, 7.0),
    "zeros, order F": lambda n, x, k: n.zeros((k, k), order="F"),
    "eye": lambda n, x, k: n.eye(k),
    "tri": lambda n, x, k: n.tri(k, k=k - 2),
    "arange": lambda n, x, k: n.arange(k),
    "linspace": lambda n, x, k: n.linspace(0, 1, k),
    "reshape": lambda n, x, k: x.reshape(k, -1),
    "reshape, order F": lambda n, x, k: n.reshape(x, (k, -1), order="F"),
    "broadcast_to": lambda n, x, k: n.broadcast_to(n.ones(1), k),
    "resize": lambda n, x, k: n.resize(x, k),
    "tile": lambda n, x, k: n.tile(x, k),
    "repeat": lambda n, x, k: n.repeat(x, k),
    "roll": lambda n, x, k: n.roll(x, k),
    "split": lambda n, x, k: n.split(x, k),
    "array_split": lambda n, x, k: n.array_split(x, k + 1),
    "partition": lambda n, x, k: n.partition(x, k)[k],
    "argpartition": lambda n, x, k: x[n.argpartition(x, k)][k],
    "histogram": lambda n, x, k: n.histogram(x, bins=k),
    "histogram between values": lambda n, x, k: n.histogram(x, k, (x.min(), x.max())),
    "histogram_bin_edges": lambda n, x, k: n.histogram_bin_edges(x, k),
    "histogram2d": lambda n, x, k: n.histogram2d(x, x, k),
    "histogramdd": lambda n, x, k: n.histogramdd(x.reshape(3, 2), k)[0],
    "bincount": lambda n, x, k: n.bincount(n.array([1, 2]), minlength=k + 3),
    "unravel_index": lambda n, x, k: n.unravel_index(k - 1, k),
    "diag": lambda n, x, k: n.diag(x, k),
    "triu": lambda n, x, k: n.triu(x.reshape(2, 3), k - 2),
    "trace": lambda n, x, k: n.trace(x.reshape(2, 3), k - 2),
    "insert": lambda n, x, k: n.insert(x, k, 9.0),
    "delete": lambda n, x, k: n.delete(x, k),
    "take": lambda n, x, k: n.take(x, k),
    "diff": lambda n, x, k: n.diff(x, k),
    "sum along an axis": lambda n, x, k: n.sum(n.ones((1, 2, 3, 4)), axis=k),
    "expand_dims": lambda n, x, k: n.expand_dims(n.ones((1, 2, 3)), k),
    "moveaxis": lambda n, x, k: n.moveaxis(n.ones((1, 2, 3, 4)), k, 0),
    "rot90": lambda n, x, k: n.rot90(x.reshape(2, 3), k),
    "pad": lambda n, x, k: n.pad(x, k),
    "vander": lambda n, x, k: n.vander(x, k),
    "hanning": lambda n, x, k: n.hanning(k),
    "sliding_window_view": lambda n, x, k: n.lib.stride_tricks.sliding_window_view(x, k),
    "matrix_power": lambda n, x, k: n.linalg.matrix_power(n.eye(2) * 2, k),
    "tensordot": lambda n, x, k: n.tensordot(x.reshape(1, 2, 3), x.reshape(1, 2, 3), k),
    "fft": lambda n, x, k: n.fft.fft(x, k),
    "fftfreq": lambda n, x, k: n.fft.fftfreq(k),
    "size of random numbers": lambda n, x, k: n.random.normal(size=k).shape,
    "permutation": lambda n, x, k: n.sort(n.random.permutation(k)),
    "choice": lambda n, x, k: n.sort(n.random.choice(k, k, replace=False)),
    "randint": lambda n, x, k: n.random.randint(0, k, (k, k)).shape,
    "slices": lambda n, x, k: x[k - 3 : k : k - 2],
    "range of Python": lambda n, x, k: list(range(k)),
}


def python_values(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return [python_values(v) for v in x]
    return x.tolist() if hasattr(x, "tolist") else x


def _rounded(x: Any) -> Any:
    if isinstance(x, list):
        return [_rounded(v) for v in x]
    return round(x, 6) if isinstance(x, float) else x


@pytest.mark.parametrize("name", CALLS)
def test_an_element_of_an_array_is_an_integer(name: str) -> None:
    call = CALLS[name]
    want = python_values(call(numpy, VALUES, numpy.int64(3)))
    numbers = np.array([7, 3])
    for k in (numpy.int64(3), numbers[1], numbers.min(), np.array(3)):
        found = python_values(call(np, np.array(VALUES, dtype="float64"), k))
        numpy.testing.assert_equal(_rounded(found), _rounded(want))


EXTENTS: dict[str, Callable[[Any], Any]] = {
    "zeros": lambda xp: xp.zeros(True),
    "zeros of a tuple": lambda xp: xp.zeros((2, True)),
    "empty": lambda xp: xp.empty((True, 2)),
    "full": lambda xp: xp.full(True, 3),
    "eye": lambda xp: xp.eye(True),
    "reshape": lambda xp: xp.arange(4).reshape(True, 4),
    "broadcast_to": lambda xp: xp.broadcast_to(xp.arange(2), (True, 2)),
    "random": lambda xp: xp.random.normal(size=True),
}


@pytest.mark.parametrize("name", EXTENTS)
def test_a_bool_is_refused_as_an_extent(name: str) -> None:
    for xp in (numpy, np):
        with pytest.raises(TypeError, match="integer"):
            EXTENTS[name](xp)
