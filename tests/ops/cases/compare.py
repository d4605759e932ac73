"""What the tests of the table share: a test per row, and what counts as the same."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.ops.cases.table import Case


def by_name(cases: list[Case]) -> Any:
    """One test per row."""
    return pytest.mark.parametrize("case", cases, ids=lambda c: c.name)


def equal_bits(a: numpy.ndarray, b: numpy.ndarray) -> Any:
    """Where all bits are the same; any NaN is like any other."""
    if a.dtype.kind == "c":
        return equal_bits(a.real, b.real) & equal_bits(a.imag, b.imag)
    same = a == b
    if a.dtype.kind == "f":
        same = same & (numpy.signbit(a) == numpy.signbit(b)) | (numpy.isnan(a) & numpy.isnan(b))
    return same


def same_bits(a: numpy.ndarray, b: numpy.ndarray) -> bool:
    """Whether dtypes, shapes and all bits are the same."""
    return a.dtype == b.dtype and a.shape == b.shape and bool(numpy.all(equal_bits(a, b)))
