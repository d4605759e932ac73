"""Every ufunc with Python's numbers in every position: NumPy's values, by our rule for dtypes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.outcomes import outcome

UFUNCS = sorted(
    name for name in dir(numpy)
    if isinstance(f := getattr(numpy, name), numpy.ufunc) and f.signature is None and name != "isnat"
)  # fmt: skip
NUMBERS: list[Any] = [3, 2.5, True, 1 + 2j, -1, 2**40]
DTYPES = ["bool", "int8", "int64", "uint64", "float16", "float32", "complex64"]
VALUES = [1, 0, 1, 2]


def agree(result: numpy.ndarray, expected: numpy.ndarray, operands: tuple[Any, ...]) -> None:
    """The dtype is NumPy's, but operands that become floats take that of float operands, or float32; values
    likewise."""
    floats = [x.dtype for x in operands if isinstance(x, numpy.ndarray) and x.dtype.kind in "fc"]
    if floats or expected.dtype.kind not in "fc":
        assert result.dtype == expected.dtype
    else:
        assert result.dtype.kind == expected.dtype.kind
        assert result.dtype in ("float32", "complex64", "float64", "complex128")
    least = min((result.dtype, expected.dtype), key=lambda d: d.itemsize)
    with numpy.errstate(all="ignore"):
        want = expected.astype(result.dtype)
    near = 4 * numpy.finfo(least).eps if least.kind in "fc" else 0
    if result.dtype == expected.dtype:
        numpy.testing.assert_array_equal(result, want)
    else:
        held = numpy.isfinite(want)  # in fewer bits than forerun's, numbers may have become infinite
        numpy.testing.assert_allclose(result[held], want[held], rtol=near, atol=near)


# Where the same number is another one in float32 than in float16 or float64: its neighbours.
OF_THE_DTYPE = {"nextafter", "spacing"}
# NumPy has a loop for bools and Python's large integers here, which it has for no other dtype.
BY_CHANCE = {("ldexp", 2**40)}


def operands_with_number(nin: int, number: Any) -> list[tuple[Any, ...]]:
    """Operands with the number in each position, beside arrays of each dtype."""
    if nin == 1:
        return [(number,)]
    arrays = [numpy.array(VALUES).astype(dtype) for dtype in DTYPES]
    return [(number, number), *((x, number) for x in arrays), *((number, x) for x in arrays)]


@pytest.mark.parametrize("name", UFUNCS)
def test_numbers_in_every_position(name: str) -> None:
    numpy_ufunc, ufunc = getattr(numpy, name), getattr(np, name)
    for number in NUMBERS:
        for operands in operands_with_number(numpy_ufunc.nin, number) if (name, number) not in BY_CHANCE else []:
            want = outcome(numpy_ufunc, *operands, error=type)
            found = outcome(ufunc, *(np.array(o) if isinstance(o, numpy.ndarray) else o for o in operands), error=type)
            message = f"{name}{tuple(getattr(o, 'dtype', o) for o in operands)}: {found}, NumPy: {want}"
            assert isinstance(found, list) == isinstance(want, list), message
            if not isinstance(found, list):
                assert issubclass(want, found), message
            elif name not in OF_THE_DTYPE:
                for a, b in zip(found, want, strict=True):
                    agree(a, b, operands)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ldexp_keeps_the_dtype(dtype: str) -> None:
    x = np.array([1.0, 3.0], dtype)
    assert np.ldexp(x, 2).dtype == dtype
    assert np.ldexp(x, 2).tolist() == [4, 12]
    assert np.ldexp(x, True).tolist() == [2, 6]
    assert np.ldexp(3.0, np.array([1, 2])).tolist() == [6, 12]
    with pytest.raises(OverflowError, match="ldexp: Python integer must fit into int32, got 1099511627776"):
        np.ldexp(x, 2**40)
    with pytest.raises(TypeError, match="ldexp: no loop"):
        np.ldexp(x, 2.5)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_squares_of_integers_are_numpys(dtype: str) -> None:
    values = numpy.array([0, 1, 2, 11, 16, 100, 127]).astype(dtype)
    for exponent in (2, 2.0, True, 3):
        expected, found = values**exponent, np.array(values) ** exponent
        assert expected.dtype.kind == "f" or found.dtype == expected.dtype
        assert found.tolist() == expected.tolist()
    changed, found = values.copy(), np.array(values)
    changed **= 2
    found **= 2
    assert found.dtype == changed.dtype
    assert found.tolist() == changed.tolist()
