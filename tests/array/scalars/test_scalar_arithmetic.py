"""Arithmetic of scalars in the call gives the dtypes and bits that operations give."""

from __future__ import annotations

import gc
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np, npx
from forerun.testing import closed_gate

VALUES: dict[str, list[Any]] = {
    "bool": [False, True],
    "int8": [-128, -3, 0, 5],
    "uint8": [0, 7, 255],
    "int64": [-(2**63), -7, -1, 0, 2, 2**53 + 1],
    "uint64": [0, 3, 2**64 - 1],
    "float32": [-2.5, 0.0, 0.1, float("inf")],
    "float64": [-7.25, -0.0, 0.1, 1e300, float("nan")],
    "complex64": [1.5 - 2j],
    "complex128": [-0.3 + 2j, complex("inf")],
}
OTHERS: list[Any] = [
    *(2, -3, 0, 64, 300, 2**53 + 1, 2**60 + 2**36 + 1, 2**63, 0.5, -1.25, 1e300, True, 1j, -2.5 + 0.1j),
    *(numpy.float64(1.5), numpy.float32(0.1), numpy.int64(-4)),
]
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name)
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift"),
        *("lt", "le", "eq", "ne", "gt", "ge"),
    )
}
UNARY: dict[str, Callable[[Any], Any]] = {
    "neg": operator.neg,
    "abs": abs,
    "square": lambda x: x**2,
    "root": lambda x: x**0.5,
}


@pytest.fixture(params=["forerun's dtypes", "NumPy's dtypes"])
def dtypes(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "NumPy's dtypes":
        npx.set_np(dtype=True)
    yield
    npx.reset_np()


def scalars() -> list[Any]:
    return [np.array([value], dtype=dtype)[0] for dtype, values in VALUES.items() for value in values]


def result(call: Callable[..., Any], *operands: Any) -> Any:
    """Return the result of a call, or the type of its error."""
    try:
        return call(*operands)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error)


def dtype_and_bits(found: Any) -> Any:
    """Return the dtype and the bits of a scalar, or the error of reading it; anything else as it is."""
    if not isinstance(found, np.ndarray):
        return found
    try:
        return str(found.dtype), found.asnumpy().tobytes()
    except Exception as error:  # values that an operation refuses, as shifts by 64
        return str(found.dtype), str(error).splitlines()[0]


def assert_immediate_results(calls: list[tuple[str, Callable[..., Any], tuple[Any, ...]]]) -> None:
    before = _core.stats()["at_once"]
    at_once = [result(call, *operands) for _, call, operands in calls]
    assert _core.stats()["at_once"] - before > len(calls) // 4
    with closed_gate():
        operations = [result(call, *operands) for _, call, operands in calls]
    for (name, _, operands), found, expected in zip(calls, at_once, operations):
        assert dtype_and_bits(found) == dtype_and_bits(expected), f"{name} of {operands!r}"


@pytest.mark.usefixtures("dtypes")
@pytest.mark.parametrize("name", BINARY)
def test_two_operands(ahead: str, name: str) -> None:
    made = scalars()
    pairs = [(x, y) for x in made for y in [*made, *OTHERS]] + [(y, x) for x in made for y in OTHERS]
    pairs = [(x, y) for x, y in pairs if not isinstance(x, numpy.generic)]  # whose operators are NumPy's
    assert_immediate_results([(name, BINARY[name], pair) for pair in pairs])


@pytest.mark.usefixtures("dtypes")
@pytest.mark.parametrize("name", UNARY)
def test_one_operand(ahead: str, name: str) -> None:
    assert_immediate_results([(name, UNARY[name], (x,)) for x in scalars()])


@pytest.mark.parametrize(
    "call",
    [
        lambda x, i, b: x + 1.5,
        lambda x, i, b: 2 - x,
        lambda x, i, b: x > i,
        lambda x, i, b: i / 2,
        lambda x, i, b: i * 0.5,
        lambda x, i, b: i % 3,
        lambda x, i, b: b | (x > 1),
        lambda x, i, b: b ^ b,
        lambda x, i, b: 1 - b,
        lambda x, i, b: b * x,
        lambda x, i, b: abs(x),
        lambda x, i, b: abs(i),
        lambda x, i, b: x**0.5,
        lambda x, i, b: x**2,
        lambda x, i, b: -i,
        lambda x, i, b: -1j * x,
        lambda x, i, b: x + (1 - 2j),
    ],
)
def test_results_are_ready(ahead: str, call: Callable[..., Any]) -> None:
    npx.set_np(dtype=True)
    try:
        x, i, b = np.array([2.5])[0], np.array([7])[0], np.array([True])[0]
        before = _core.stats()
        assert complex(call(x, i, b)) == complex(call(2.5, 7, True))
        after = _core.stats()
        issued = after["issued"] - before["issued"]
        assert issued == after["at_once"] - before["at_once"] > 0  # such operations are counted as issued as well
    finally:
        npx.reset_np()


def test_comparisons_give_two_objects(ahead: str) -> None:
    x, y = np.array([1.0, 2.0])
    assert (x < y) is (y > x)
    assert (x > y) is (x == y)
    assert (x < y) is not (x > y)


def test_truth_value_as_a_leaf(ahead: str) -> None:
    x, y = np.array([1.0, 2.0])
    leaf = x < y
    leaf.attach_grad()  # makes the object itself an array
    assert not _core.is_scalar(leaf)
    leaf[()] = False
    assert bool(x < y)
    assert _core.is_scalar(x < y)
    assert (x < y).grad is None


def test_reused_scalars_are_independent(ahead: str) -> None:
    x = np.arange(200) * 1.5
    sums = [a + b for a in x[:10] for b in x[:10]]
    del sums[::2]
    gc.collect()
    kept = [(s, s.item()) for s in sums]
    more = [a * 3 for a in x] + [i + 1 for i in np.arange(50)] + [a > 3 for a in x]
    assert all(s.item() == value for s, value in kept)
    assert [m.item() for m in more[:200]] == [i * 4.5 for i in range(200)]
    assert more[200].dtype == numpy.int64


def test_view_of_a_reused_scalar(ahead: str) -> None:
    x = np.array([2.0, 3.0])
    for _ in range(100):
        view = (x[0] * x[1]).reshape(1)
        view += 1
        assert view.tolist() == [7.0]
        assert (x[0] * x[1]).item() == 6.0


def test_recorded_scalars(ahead: str) -> None:
    x = np.array([2.0, 3.0])
    x.attach_grad()
    for _ in range(100):
        with autograd.record():
            y = abs(x[0]) * 2.0 + x[1] ** 0.5
        y.backward()
        numpy.testing.assert_allclose(x.grad.asnumpy(), [2.0, 0.5 * 3.0**-0.5], 1e-6)
