"""Numbers of Python, of NumPy, and of arrays that are written to elements and slices of any dtype, as NumPy does it."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.bits import same_bits

DTYPES = ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64",
          "complex128"]  # fmt: skip
PYTHON: list[Any] = [
    True, 5, -1, 200, 300, 2**31, 2**40 + 1, 2**60 + 1, 2**63, 2**64 - 1, -(2**63), 2.7, -0.5, -0.0, -1.5, 127.9,
    128.0, 255.5, 256.0, 2.0**31, 2.0**53 + 2, 2.0**63, -(2.0**63), 2.0**64, 1e30, 1e39, 1e300, 65504.0, 65520.0,
    float("nan"), float("inf"), -float("inf"), 1j, 2 + 0j,
]  # fmt: skip
NUMPYS: list[Any] = [
    numpy.dtype(d).type(v) for d in DTYPES for v in (0, 1, 3.7, 100) if d != "bool" or v in (0, 1)
] + [numpy.int64(-1), numpy.int64(2**40), numpy.uint64(2**64 - 1), numpy.float64("nan"), numpy.float32("inf"),
     numpy.float64(1e39), numpy.float64(-0.5), numpy.longlong(7), numpy.longdouble(2)]  # fmt: skip


def after_write(lib: Any, dtype: str, index: Any, value: Any) -> Any:
    """The array after the write, or the class of the error."""
    x = lib.full((3, 4), 1, dtype=dtype)
    try:
        with numpy.errstate(all="ignore"):
            x[index] = value
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)
    return numpy.asarray(x)


def check_writes(dtype: str, value: Any, given: Any = None) -> None:
    for index in ((1, 2), 1, (slice(None), 1), ...):
        expected, found = (
            after_write(lib, dtype, index, v) for lib, v in ((numpy, value), (np, value if given is None else given))
        )
        if isinstance(expected, type):
            assert isinstance(found, type), (dtype, value, index, found)
        else:
            assert not isinstance(found, type), (dtype, value, index, found)
            assert same_bits(found, expected), (dtype, value, index, found)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
class TestOneNumber:
    def test_of_python(self, dtype: str) -> None:
        for value in PYTHON:
            check_writes(dtype, value)

    def test_of_numpy(self, dtype: str) -> None:
        for value in NUMPYS:
            check_writes(dtype, value)

    def test_of_an_array(self, dtype: str) -> None:
        for value in NUMPYS:
            if not isinstance(value, (numpy.longlong, numpy.longdouble)):
                check_writes(dtype, numpy.array(value), np.array(value))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES)
def test_lists(dtype: str) -> None:
    """Of which NumPy makes an array first, so that large integers beside floats are rounded."""
    lists: list[list[Any]] = [
        [1.5, 2.7, 3.0, 4.9], [1, 2.5, 3, 100], [2**60 + 1, 1.5, 0, 0], [True, 2, 3, 4], [numpy.float64(1.5), 2, 3, 4],
        [numpy.float32(1.1)] * 4, [numpy.int64(2**60 + 1), 2.5, 1, 1], [numpy.int8(3), numpy.uint8(200), 1, 2],
    ]  # fmt: skip
    for values in lists:
        check_writes(dtype, values)
        check_writes(dtype, tuple(values))


@pytest.mark.parametrize("dtype", DTYPES)
def test_full(dtype: str) -> None:
    for value in (2.7, 5, True, numpy.float64(2.7), numpy.int64(5), numpy.float32(2.7), numpy.bool_(True)):
        for call in (
            lambda lib, v: lib.full((2, 3), v, dtype=dtype),
            lambda lib, v: lib.full_like(lib.ones(3, dtype), v),
            lambda lib, v: lib.full_like(lib.ones(3), v, dtype=dtype),
        ):
            expected, found = call(numpy, value), call(np, value)
            assert found.dtype == dtype
            assert same_bits(found.numpy(), expected), (dtype, value)
