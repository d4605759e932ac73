"""Equality of arrays as devices have it: values that differ by some roundings are the same, and small ones may be 0.

In place of the equality of bits, for tests that were written for the processor.
"""

from __future__ import annotations

from typing import Any

import numpy

from tests.support.comparison import bits

# By the name of a dtype: how many roundings results may be off, the unit of one, and the smallest normal number.
_FLOATS = {
    "float16": (2, 2.0**-10, 2.0**-14), "bfloat16": (2, 2.0**-7, 2.0**-126), "float32": (64, 2.0**-23, 2.0**-126),
    "float64": (64, 2.0**-52, 2.0**-1022),
}  # fmt: skip


def close_elements(a: numpy.ndarray, b: numpy.ndarray) -> Any:
    """Where elements are the same but for roundings; any NaN is like any other, 0.0 like -0.0.

    >>> close_elements(numpy.float32([1.0, 2.0, 0.0]), numpy.float32([1.000001, 2.1, -1e-42])).tolist()
    [True, False, True]
    """
    if a.dtype.kind == "c":
        return close_elements(a.real, b.real) & close_elements(a.imag, b.imag)
    same = numpy.asarray(a == b)
    if a.dtype.name not in _FLOATS:
        return same
    roundings, unit, tiny = _FLOATS[a.dtype.name]
    with numpy.errstate(all="ignore"):
        x, y = a.astype("longdouble"), b.astype("longdouble")
        largest = numpy.minimum(numpy.max(numpy.abs(y), initial=0, where=numpy.isfinite(y)), 1)
        near = numpy.abs(x - y) <= roundings * unit * (numpy.abs(y) + largest) + tiny
    return same | near | (numpy.isnan(x) & numpy.isnan(y))


def is_close(a: Any, b: Any) -> bool:
    """Whether dtypes and shapes are the same, and elements are near."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool(numpy.all(close_elements(a, b)))


def all_close(a: Any, b: Any) -> bool:
    """The same for arrays in lists, tuples and dicts."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(all_close, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(all_close(x, b[key]) for key, x in a.items())
    return is_close(a, b)


def assert_within_roundings(found: Any, expected: Any) -> None:
    """Assert that both are near."""
    x, y = numpy.asarray(found), numpy.asarray(expected)
    assert (x.dtype, x.shape) == (y.dtype, y.shape)
    far = numpy.flatnonzero(~numpy.asarray(close_elements(x, y)).reshape(-1))
    assert not len(far), (
        f"element {far[0]} must be {y.flat[far[0]]}, got {x.flat[far[0]]}; {len(far)} of {x.size} differ"
    )


_array_equal, _assert_array_equal = numpy.array_equal, numpy.testing.assert_array_equal


def _same(a: Any, b: Any, equal_nan: bool = False) -> bool:
    x, y = numpy.asarray(a), numpy.asarray(b)
    if _array_equal(a, b, equal_nan):
        return True
    if x.dtype.kind not in "fcV" or y.dtype.kind not in "biufcV" or x.shape != y.shape:
        return False
    return bool(numpy.all(close_elements(x, y.astype(x.dtype))))


def _assert_same(found: Any, expected: Any, *more: Any, **options: Any) -> None:
    if not _same(found, expected):
        _assert_array_equal(found, expected, *more, **options)


def replace_exact_comparisons() -> None:
    """Take nearness for equality in the helpers of tests, before test files import them."""
    import forerun.testing

    bits.equal_bits, bits.same_bits, bits.all_same_bits = close_elements, is_close, all_close
    bits.assert_same_bits = forerun.testing.assert_same_bits = assert_within_roundings
    numpy.array_equal, numpy.testing.assert_array_equal = _same, _assert_same
