"""Operands of different dtypes, Python numbers, operators, and results written in place."""

from __future__ import annotations

import numpy
import pytest

from forerun import np
from forerun.np import ndarray
from forerun.ops._base.primitive import Elementwise
from tests.ops.cases import CASES
from tests.ops.cases.table import EVERY_DTYPE, Case, Draw, to_forerun
from tests.support.comparison.bits import same_bits
from tests.support.many_cases import for_each

UFUNCS = [c for c in CASES if isinstance(c.op, Elementwise)]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "equal", "power", "arctan2", "remainder"]


def together(a: numpy.dtype, b: numpy.dtype) -> numpy.dtype:
    """NumPy's common dtype, but an integer with a float gives that float."""
    for x, y in ((a, b), (b, a)):
        if x.kind in "fc" and y.kind in "biu":
            return x
    return numpy.result_type(a, b)


@pytest.mark.parametrize("name", BINARY)
def test_promotion(name: str) -> None:
    op, case = getattr(np, name), next(c for c in CASES if c.name == f"np.{name}")
    for a in EVERY_DTYPE:
        for b in EVERY_DTYPE:
            common = together(a, b)
            if common not in case.dtype_list():
                continue
            x, y = case.draw(a)(7, low=1, high=2), case.draw(b, 1)(7, low=1, high=2)
            want = op(to_forerun(x.astype(common)), to_forerun(y.astype(common)))
            assert same_bits(op(to_forerun(x), to_forerun(y)).numpy(), want.numpy()), f"{a}, {b}"


@pytest.mark.parametrize("scalar", [True, 2, 1.5, 1 + 2j], ids=str)
def test_python_numbers(scalar: complex) -> None:
    for dtype in EVERY_DTYPE:
        x = Draw(numpy.random.default_rng(0), dtype)(5)
        want = numpy.add(x, scalar)
        if dtype.kind in "biu" and want.dtype.kind in "fc":
            want = want.astype({"f": "float32", "c": "complex64"}[want.dtype.kind])
        assert same_bits((to_forerun(x) + scalar).numpy(), want), dtype
        assert same_bits((scalar + to_forerun(x)).numpy(), want), dtype


WHOLE = [d for d in EVERY_DTYPE if d.kind in "biu"]
COMPARISONS = ["less", "less_equal", "equal", "not_equal", "greater", "greater_equal"]


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("n", [300, -1, -(2**31) - 1, 2**32, 2**63, 2**64, -(2**63) - 1, 10**30])
def test_comparing_with_an_integer_that_the_dtype_does_not_hold(name: str, n: int) -> None:
    function, numpy_function = getattr(np, name), getattr(numpy, name)
    for dtype in WHOLE:
        x = numpy.array([[0, 1, 2], [1, 0, 127]]).astype(dtype)
        if dtype.kind in "iu":
            x[0, :2] = numpy.iinfo(dtype).max, numpy.iinfo(dtype).min
        for view in map(numpy.asarray, (x, x.T[1:], x[:, 0], x[0, 0])):
            wide = view.astype("int64") if dtype.kind == "b" else view  # NumPy itself does not compare bools with all
            assert same_bits(function(to_forerun(view), n).numpy(), numpy.asarray(numpy_function(wide, n))), dtype
            assert same_bits(function(n, to_forerun(view)).numpy(), numpy.asarray(numpy_function(n, wide))), dtype
    out = np.zeros((2, 3), "bool")
    assert function(np.ones((2, 3), "uint8"), n, out=out) is out
    assert same_bits(out.numpy(), numpy_function(numpy.ones((2, 3), "uint8"), n))


def test_comparing_with_such_an_integer_by_operators() -> None:
    x = np.array([1, 2], dtype="uint8")
    got = [x < 300, x <= -1, x == 300, x != 300, x > -1, x >= 300, numpy.int64(300) > x]
    assert [r.tolist()[0] for r in got] == [True, False, False, True, True, False, True]
    with pytest.raises(OverflowError, match="less: Python integer must fit into int64"):
        np.less(2**70, 1)


OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<",
    "<=",
    "==",
    "!=",
    ">",
    ">=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    "@",
]


@pytest.mark.parametrize("sign", OPERATORS)
def test_operators(sign: str) -> None:
    dtype = "int32" if sign in ("&", "|", "^", "<<", ">>") else "float32"
    a = numpy.array([[3, 1], [2, 5]], dtype)
    b = numpy.array([[1, 2], [2, 3]], dtype)
    names = {"a": a, "b": b, "x": to_forerun(a), "y": to_forerun(b)}
    right = "b" if sign == "@" else "2"
    for expression, numpy_expression in ((f"x {sign} y", f"a {sign} b"), (f"x {sign} {right}", f"a {sign} {right}"),
                         (f"{right} {sign} x", f"{right} {sign} a"), (f"b {sign} x", f"b {sign} a")):  # fmt: skip
        got = eval(expression, names)
        assert isinstance(got, ndarray), expression
        assert same_bits(got.numpy(), eval(numpy_expression, names)), expression
    if sign in ("<", "<=", "==", "!=", ">", ">="):
        return
    x, view = to_forerun(a), to_forerun(a)
    alias = view[0]
    names = {"x": x, "y": to_forerun(b), "view": view}
    exec(f"x {sign}= y", names)
    if sign != "@":
        assert names["x"] is x
        exec(f"view {sign}= 2", names)
        assert same_bits(alias.numpy(), eval(f"a {sign} 2", {"a": a})[0])
    assert same_bits(names["x"].numpy(), eval(f"a {sign} b", {"a": a, "b": b}))


def test_signs() -> None:
    a = numpy.array([[3, -1], [-2, 5]], "int32")
    x = to_forerun(a)
    for result, expected in ((-x, -a), (+x, +a), (abs(x), abs(a)), (~x, ~a)):
        assert same_bits(result.numpy(), expected)
    assert [r.tolist() for r in divmod(x, 2)] == [r.tolist() for r in divmod(a, 2)]


def test_in_place_keeps_the_dtype() -> None:
    x = np.ones(3, "float32")
    x += np.ones(3, "float64") / 3
    assert x.dtype == numpy.float32
    n = np.ones(3, "int32")
    with pytest.raises(TypeError, match=r"^add: "):
        n += np.ones(3)
    assert n.tolist() == [1, 1, 1]


@for_each("case", UFUNCS, ids=lambda case: case.name)
def test_out(case: Case) -> None:
    args = case.arguments(case.dtype_list()[-1])[0]
    if case.name == "np.where":
        return
    want = case(case.op, to_forerun(args))[0]
    wide = np.zeros((2, *want.shape, 2), want.dtype)
    target = wide[0, ..., 0]
    assert case.op(*to_forerun(args), out=target) is target
    assert same_bits(target.numpy(), want.numpy())
    assert not wide[1].numpy().any()
    assert not wide[0, ..., 1].numpy().any()
