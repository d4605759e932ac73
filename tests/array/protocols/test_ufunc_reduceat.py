"""`reduceat`: segments of any length, in any order, bit for bit as NumPy reduces them."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.bits import same_bits

GENERATOR = numpy.random.default_rng(7)
UFUNCS = ["add", "multiply", "maximum", "minimum", "logical_or", "bitwise_xor", "subtract", "fmax"]
STARTS = numpy.array([0, 3, 3, 900, 40, 41, 60, 999, 5, 800])


def normal_values(dtype: str, *shape: int) -> numpy.ndarray:
    return (GENERATOR.standard_normal(shape) * 3).astype(dtype)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("ufunc", UFUNCS)
def test_as_numpy(ufunc: str, dtype: str) -> None:
    x = normal_values(dtype, 1000)
    try:
        with numpy.errstate(all="ignore"):
            expected = getattr(numpy, ufunc).reduceat(x, STARTS)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(np, ufunc).reduceat(np.array(x), np.array(STARTS)).numpy()
        return
    for starts in (np.array(STARTS), np.array(STARTS.astype("int16")), STARTS, list(STARTS)):
        found: Any = getattr(np, ufunc).reduceat(np.array(x), starts)
        assert found.dtype == expected.dtype
        assert same_bits(found.numpy(), expected)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_axes_and_views(axis: int) -> None:
    x = normal_values("float32", 40, 30, 50)
    starts = numpy.array([4, 0, 29, 7, 7, 20])
    for view in (lambda a: a, lambda a: a.T, lambda a: a[::-1, ::-1, 19:]):
        i = starts % view(x).shape[axis]
        found = np.add.reduceat(view(np.array(x)), np.array(numpy.repeat(i, 2))[::2], axis)
        assert same_bits(found.numpy(), numpy.add.reduceat(view(x), i, axis))


def test_several_tiles() -> None:
    x, starts = normal_values("float64", 400_000), numpy.sort(GENERATOR.integers(0, 400_000, 30_000))
    assert same_bits(np.add.reduceat(np.array(x), np.array(starts)).numpy(), numpy.add.reduceat(x, starts))
    rows = x.reshape(200, 2000)
    some = numpy.arange(0, 2000, 7)
    assert same_bits(np.add.reduceat(np.array(rows), np.array(some), 1).numpy(), numpy.add.reduceat(rows, some, 1))


def test_nothing_to_reduce() -> None:
    assert np.add.reduceat(np.arange(3), np.array([], "int64")).shape == (0,)
    assert np.add.reduceat(np.ones((0, 3)), np.array([0, 2]), 1).shape == (0, 2)


@pytest.mark.parametrize("bad", [-1, 3, 2**40])
def test_a_start_out_of_range(bad: int) -> None:
    with pytest.raises(IndexError, match=rf"add.reduceat: index must be in \[0, 3\), got {bad}\b"):
        np.add.reduceat(np.arange(3.0), np.array([0, bad])).numpy()
    with pytest.raises(IndexError, match=r"add.reduceat: index must be in \[0, 0\), got 0"):
        np.add.reduceat(np.zeros(0), np.array([0])).numpy()


def test_it_is_submitted(gate: None) -> None:
    """Without a value being known."""
    assert np.add.reduceat(np.arange(5.0) * 2, np.array([0, 2]) * 1).shape == (2,)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float32", "complex64"])
@pytest.mark.parametrize("ufunc", [*UFUNCS, "bitwise_and", "bitwise_or", "gcd"])
def test_reductions_along_axes(ufunc: str, dtype: str) -> None:
    """`reduce` beside it: in the call, by an operation or by a task, with NumPy's dtype and values."""
    x = normal_values(dtype, 6, 5, 4)
    for axis in (0, 1, -1, (0, 2), None):
        for keepdims in (False, True):
            outcomes: list[Any] = []
            for lib, a in ((numpy, x), (np, np.array(x))):
                try:
                    with numpy.errstate(all="ignore"):
                        found: Any = getattr(lib, ufunc).reduce(a, axis=axis, keepdims=keepdims)
                    outcomes.append((found.dtype, found.shape, numpy.asarray(found)))
                except (TypeError, ValueError) as error:
                    outcomes.append(type(error))
            if isinstance(outcomes[0], type):
                assert isinstance(outcomes[1], type), axis
            else:
                assert outcomes[1][:2] == outcomes[0][:2], axis
                assert numpy.allclose(outcomes[1][2], outcomes[0][2], 1e-5, equal_nan=True), axis
