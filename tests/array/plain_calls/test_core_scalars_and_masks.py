"""Numbers beside arrays, masks of ufuncs, ufuncs at positions: the core's results in the call are those of
operations."""

from __future__ import annotations

import itertools
import operator
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

from forerun import autograd, np, profiler
from forerun.ops._base.primitive import Elementwise
from forerun.testing import closed_gate
from tests.support.comparison.outcomes import comparable, outcome, type_and_message
from tests.support.engine.passes import operations_run_in_call

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
OPERATORS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
]  # fmt: skip
BITWISE: list[Callable[[Any, Any], Any]] = [
    operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift,
]  # fmt: skip
IN_PLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
NUMPYS = (
    numpy.float64(-0.3), numpy.float32(0.7), numpy.int64(7), numpy.int8(-3), numpy.uint64(2**63), numpy.bool_(True),
    numpy.complex128(1 + 2j), numpy.float16(2),
)  # fmt: skip
NUMBERS = (3, -1, 0, 2.5, -0.0, float("nan"), float("inf"), True, 2**40, 2**70, 1j)


outcome_of = partial(outcome, read=comparable, error=type_and_message)


def outcome_behind_gate(work: Callable[..., Any], *operands: Any) -> Any:
    """The same of work whose operations are all issued, and run later."""

    def behind_the_gate(*operands: Any) -> Any:
        with closed_gate():
            return work(*operands)

    return outcome_of(behind_the_gate, *operands)


def assign(x: Any, index: Any, value: Any) -> Any:
    """Writes, and waits."""
    x[index] = value
    return x.asnumpy()


def call_under_mask(f: Callable[..., Any], given: Any, dtype: str, mask: Any) -> Any:
    """A call with `where` into ones."""
    return f(*given, out=np.ones(5, dtype=dtype), where=mask)


def changed(call: Callable[..., Any], dtype: str, index: Any, value: Any) -> Any:
    """Return the values after a call of a method that writes."""
    x = five_values(dtype)
    call(x, index, value)
    return x


def five_values(dtype: str) -> Any:
    return np.array(numpy.array([3, 0, 1, 7, 2]).astype(dtype))


def scalar(dtype: str, value: Any = 5) -> Any:
    return np.array(numpy.array([value]).astype(dtype))[0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_number_operand_is_a_constant(dtype):
    x = five_values(dtype)
    beside = [scalar(t) for t in DTYPES] + [
        np.array(4.0),
        numpy.float64(2.5),
        numpy.int8(3),
        numpy.bool_(True),
    ]
    for op, b in itertools.product(OPERATORS, beside):
        assert outcome_of(op, x, b) == outcome_behind_gate(op, x, b), (op, b)
        assert outcome_of(op, b, x) == outcome_behind_gate(op, b, x), (op, b)
    for op, b in itertools.product(IN_PLACE, beside):
        assert outcome_of(op, x.copy(), b) == outcome_behind_gate(op, x.copy(), b), (op, b)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint32", "int64", "uint64", "float32", "float64", "complex128"]
)
def test_scalars_are_calculated_as_operations_calculate(dtype):
    values: list[Any] = [5, 0.1, -0.0, numpy.inf, numpy.nan]
    if numpy.dtype(dtype).kind in "iu":
        bounds = numpy.iinfo(dtype)
        values = [5, 0, bounds.max, bounds.min, bounds.min // 2 + 1]
    own = [scalar(dtype, value) for value in values]
    beside = [
        *own,
        *NUMBERS,
        scalar("int64", 7),
        scalar("float64", -0.3),
        scalar("float32", 0.7),
        five_values("float64"),
        *NUMPYS,
    ]
    for a, b, op in itertools.product(own, beside, OPERATORS + BITWISE):
        assert outcome_of(op, a, b) == outcome_behind_gate(op, a, b), (op, a, b)
        assert outcome_of(op, b, a) == outcome_behind_gate(op, b, a), (op, b, a)
    for a in own:
        assert outcome_of(operator.neg, a) == outcome_behind_gate(operator.neg, a), a


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpys_scalars_are_operands_like_arrays_without_axes(dtype):
    for a, b, op in itertools.product((five_values(dtype), scalar(dtype)), NUMPYS, OPERATORS):
        assert outcome_of(op, b, a) == outcome_of(op, np.array(b), a), (op, b, a)
        assert outcome_of(op, a, b) == outcome_of(op, a, np.array(b)), (op, a, b)


def test_numpys_operators_need_no_python_function():
    x, one, numpy_array = five_values("float64"), scalar("float64"), numpy.arange(5.0)
    calls: list[Any] = []
    sys.setprofile(lambda frame, event, _: calls.append(frame.f_code) if event == "call" else None)
    try:
        found = numpy.float64(2.5) * x, numpy.int64(3) - one, numpy.float32(1) < x, numpy_array + x
    finally:
        sys.setprofile(None)
    assert calls == []
    assert [f.tolist() for f in found[:2]] == [[7.5, 0, 2.5, 17.5, 5], -2]


def test_numbers_are_constants_only_where_their_values_are_known():
    x = np.arange(4.0)
    assert operations_run_in_call(lambda: x * x[1] + x[2] * 3) == 3
    with closed_gate():
        late = np.ones(3).sum()
        y = x + late
        z = late * 2
        assert not y.ready
        assert not z.ready
    assert (y.tolist(), z.item()) == ([3, 4, 5, 6], 6)
    a = np.array([2.0, 3.0])
    a.attach_grad()
    with autograd.record():
        (a[0] * a[1] * a).sum().backward()
    assert a.grad.tolist() == [21, 16]
    with profiler.record() as p:
        kept = x * x[1]
    del kept
    assert p.trace.issued == 1


def test_an_element_is_written_by_any_index(engine):
    x = np.zeros((2, 3))
    one, last = np.arange(3)[1], np.array([-1], dtype="int8")[0]
    x[one, last] = 5
    x[0, one] = x[1, 2]
    x[0][one] += 2
    x[1, 0] = np.float32(0.5)
    assert x.tolist() == [[0, 7, 0], [0.5, 0, 5]]
    assert [x[one, last].item(), x.item(1, 2), x.item(4)] == [5, 5, 0]
    with pytest.raises(IndexError):
        assign(x, (0, np.array([3])[0]), 1)


def test_views_see_writes_to_their_base():
    x = np.arange(4.0)
    seen_by_numpy, view = x.numpy(), x[1:]
    x[2] = 70
    assert (seen_by_numpy.tolist(), view.tolist()) == ([0, 1, 2, 3], [1, 70, 3])
    with pytest.raises(ValueError, match="must"):
        np.broadcast_to(np.zeros(1), (3,))[1] = 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_ufunc_under_a_mask_is_the_python_function_s(dtype):
    x, y, mask = five_values(dtype), five_values(dtype)[::-1], np.array([True, False, True, True, False])
    operands = [(x, y), (x, 2), (2.5, x), (x, True), (x, five_values("float64")), (x, 2**70), (x[:2], y)]
    for name, given in itertools.product(("add", "divide", "maximum", "less", "power"), operands):
        op: Elementwise = getattr(np, name)
        calls = [op, op.with_options]
        found = [outcome_of(call_under_mask, f, given, dtype, mask) for f in calls]
        assert found[0] == found[1], (name, given)
    for f in (np.sqrt, np.negative):
        calls = [f, f.with_options]
        found = [outcome_of(lambda g: g(x, where=mask, out=np.ones(5, dtype=dtype)), g) for g in calls]
        assert found[0] == found[1]


def test_a_ufunc_under_a_mask_returns_its_out():
    out, x = np.zeros(3), np.arange(3.0)
    assert np.add(x, 1, out=out, where=x > 0) is out
    assert out.tolist() == [0, 2, 3]
    assert np.divide(1, x, where=x > 0, out=out).tolist() == [0, 1, 0.5]
    np.add(out, out, out=out, where=np.array([False, True, True]))
    assert out.tolist() == [0, 2, 1]


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_ufunc_at_positions_is_the_python_function_s(dtype):
    indices = [
        np.array([0, 2, 0]), np.array([1, -1, -1], dtype="int8"), [0, 0, 1], np.array([True, False, True, True, False]),
        slice(1, 4), 2, np.array([9, 0, 0]), (np.array([1, 1, 1]),),
    ]  # fmt: skip
    values = [
        five_values(dtype)[:3],
        3,
        2.5,
        five_values("float64")[:3],
        2**70,
        five_values(dtype)[:1],
        np.ones((1, 3), dtype=dtype),
    ]
    for name, index, value in itertools.product(("add", "maximum", "divide", "less"), indices, values):
        op: Elementwise = getattr(np, name)
        calls = [op.at, lambda *given, op=op: op._method("at", given, {})]
        left = [outcome_of(changed, call, dtype, index, value) for call in calls]
        assert left[0] == left[1], (name, index, value)


@pytest.mark.parametrize("shape", [(70_001,), (300, 70), (17_000, 2), (4, 100, 50)])
def test_elements_under_large_masks(engine, shape):
    rng = numpy.random.default_rng(5)
    for dtype in ("bool", "int16", "float32", "float64", "complex128"):
        values = rng.integers(0, 100, shape).astype(dtype)
        for share in (0, 0.02, 0.5, 0.999, 1):
            mask = rng.random(shape) < share
            x, m = np.array(values), np.array(mask)
            found = x[m]
            assert found.dtype == dtype
            assert (found.numpy() == values[mask]).all()
            x[m] = found[::-1]
            expected = values.copy()
            expected[mask] = values[mask][::-1]
            assert (x.numpy() == expected).all()
    bytes_ = np.array(numpy.arange(70_000, dtype="uint8"))
    assert np.array(numpy.arange(70_000))[bytes_.view("bool")].size == numpy.count_nonzero(bytes_.numpy())


def test_sizes_in_tiles_are_copied_whole():
    for n in (3, 63, 64, 65, 127, 511, 513, 700):
        x = numpy.arange(6 * n).reshape(6, n).astype("uint8")
        wide = np.zeros((6, n + 9), dtype="uint8")
        wide[:, 5:-4] = np.array(x)
        assert (wide.numpy()[:, 5:-4] == x).all()
        assert (wide.sum(), wide[:, :5].max(), wide[:, -4:].max()) == (x.sum(), 0, 0)
