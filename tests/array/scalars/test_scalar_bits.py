"""Operators on scalars give the bits of NumPy's scalars, which are not always those of its loops over arrays."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

from forerun import np, npx
from forerun.testing import closed_gate

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "power": operator.pow,
    "multiply": operator.mul,
    "add": operator.add,
    "subtract": operator.sub,
    "equal": operator.eq,
}
NUMBERS: list[Any] = [2, 3, -1, -2, 0.5, 2.0, 2.5, -1.0, 1 + 2j, True]
DTYPES = ("float16", "float32", "float64", "complex64", "complex128", "int64", "int32")


@pytest.fixture(autouse=True)
def _numpy_rules() -> Iterator[None]:
    npx.set_np(dtype=True)
    yield
    npx.reset_np()


@pytest.fixture(params=["in the call", "by operations"])
def moment(request: pytest.FixtureRequest) -> Callable[[], contextlib.AbstractContextManager[None]]:
    return closed_gate if request.param == "by operations" else contextlib.nullcontext


def values(dtype: str, n: int) -> numpy.ndarray:
    """Random values of many magnitudes."""
    generator = numpy.random.default_rng(sum(map(ord, dtype)))
    x = generator.normal(size=n) * 10 ** generator.uniform(-2, 2, n)
    return (x + 1j * generator.normal(size=n) if dtype.startswith("complex") else x).astype(dtype)


def outcomes(call: Callable[..., Any], *operands: list[Any]) -> list[Any]:
    """Return the result of a call for each pair of operands, or the type of its error."""
    made: list[Any] = []
    with numpy.errstate(all="ignore"):
        for pair in zip(*operands):
            try:
                made.append(call(*pair))
            except ValueError as error:
                made.append(type(error))
    return made


def assert_bits(found: list[Any], expected: list[Any], what: str) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        if isinstance(theirs, type):  # of integers to negative powers: raised when the result is read
            with pytest.raises(theirs):
                ours.asnumpy()
            continue
        if not isinstance(theirs, numpy.generic):
            continue  # Python's complex numbers take float64, which is a subclass of float, as a float of their own
        value = ours.asnumpy()
        assert value.dtype == theirs.dtype, what
        same = value.tobytes() == theirs.tobytes() or (value != value and theirs != theirs)
        assert same, f"{what}: {value!r}, NumPy {theirs!r}"


def check(moment: Callable[[], Any], call: Callable[..., Any], what: str, *operands: Any) -> None:
    """Compare with NumPy; operands: arrays, whose elements are scalars, and Python's numbers."""
    n = max(len(x) for x in operands if isinstance(x, numpy.ndarray))
    theirs = [list(x) if isinstance(x, numpy.ndarray) else [x] * n for x in operands]
    arrays = [np.array(x, dtype=x.dtype) if isinstance(x, numpy.ndarray) else None for x in operands]
    with moment():
        ours = [x if a is None else [a[i] for i in range(n)] for a, x in zip(arrays, theirs)]
        found = outcomes(call, *ours)
    assert_bits(found, outcomes(call, *theirs), what)


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_scalar_and_a_number(moment: Callable[[], Any], name: str, dtype: str) -> None:
    for number in NUMBERS:
        check(moment, OPERATORS[name], f"{dtype} {name} {number!r}", values(dtype, 300), number)
        check(moment, OPERATORS[name], f"{number!r} {name} {dtype}", number, values(dtype, 60))


@pytest.mark.parametrize("name", OPERATORS)
def test_two_scalars(moment: Callable[[], Any], name: str) -> None:
    for left, right in itertools.product(DTYPES, DTYPES):
        if {"float16", "float32", "complex64"} & {left, right} and {"int32", "int64"} & {left, right}:
            continue  # of double precision in NumPy
        check(moment, OPERATORS[name], f"{left} {name} {right}", values(left, 100), values(right, 100)[::-1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_absolute_value(moment: Callable[[], Any], dtype: str) -> None:
    check(moment, abs, f"abs of {dtype}", values(dtype, 300))


def test_functions_and_arrays_keep_the_loops_over_arrays() -> None:
    x = values("complex128", 300)
    ours = np.array(x, dtype=x.dtype)
    assert [np.multiply(z, z).item() for z in ours] == [numpy.multiply(z, z) for z in x]
    assert [np.abs(z).item() for z in ours] == [numpy.abs(z) for z in x]
    assert [(z.reshape(()) * z).item() for z in ours[:, None]] == [(z.reshape(()) * z)[0] for z in x[:, None]]
