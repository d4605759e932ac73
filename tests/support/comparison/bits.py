"""Equality of arrays bit by bit. `forerun.testing.assert_same_bits` raises with the first element that differs."""

from __future__ import annotations

from typing import Any

import numpy

from forerun.testing import assert_same_bits

__all__ = ["all_same_bits", "assert_all_same_bits", "assert_same_bits", "bits_of", "equal_bits", "same_bits"]


def bits_of(value: Any) -> Any:
    """Dtype, shape and bytes of an array; of arrays in lists, tuples and dicts the same structure of these."""
    if isinstance(value, (tuple, list)):
        return type(value), [bits_of(x) for x in value]
    if isinstance(value, dict):
        return {key: bits_of(x) for key, x in value.items()}
    x = numpy.asarray(value)
    return x.dtype, x.shape, x.tobytes()


def all_same_bits(a: Any, b: Any) -> bool:
    """Whether arrays in structures of the same form have the same dtypes, shapes and bits."""
    return bits_of(a) == bits_of(b)


def assert_all_same_bits(found: Any, expected: Any) -> None:
    """The same as `assert_same_bits` for tuples and dicts of arrays."""
    if isinstance(expected, dict):
        assert sorted(found) == sorted(expected)
        found, expected = [found[name] for name in expected], list(expected.values())
    if isinstance(expected, (tuple, list)):
        for x, y in zip(found, expected, strict=True):
            assert_all_same_bits(x, y)
    else:
        assert_same_bits(found, expected)


def equal_bits(a: numpy.ndarray, b: numpy.ndarray) -> Any:
    """Where all bits are the same; any NaN is like any other."""
    if a.dtype.kind == "c":
        return equal_bits(a.real, b.real) & equal_bits(a.imag, b.imag)
    if a.dtype.name == "bfloat16":
        return equal_bits(a.astype("float32"), b.astype("float32"))
    same = a == b
    if a.dtype.kind == "f":
        same = same & (numpy.signbit(a) == numpy.signbit(b)) | (numpy.isnan(a) & numpy.isnan(b))
    return same


def same_bits(a: Any, b: Any) -> bool:
    """Whether dtypes, shapes and all bits are the same; any NaN is like any other."""
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and bool(numpy.all(equal_bits(a, b)))
