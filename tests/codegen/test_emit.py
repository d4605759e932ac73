"""Code of loops: each formula has NumPy's bits for every dtype, for any length and on any processor."""

import ctypes
import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun._codegen import compiler
from forerun._codegen.description import Line, parse
from forerun._codegen.emit import Target, emit
from tests.support.comparison.bits import same_bits
from tests.support.many_cases import for_each

pytest.importorskip("llvmlite")

FLOATS, BOOLS = ("float32", "float64"), ("bool",)
INTEGERS = tuple(f"{u}int{bits}" for u in ("", "u") for bits in (8, 16, 32, 64))
NUMBERS = (*FLOATS, *INTEGERS)
FORMULAS: dict[str, tuple[int, tuple[str, ...]]] = {  # of NumPy's names: the number of inputs, and their dtypes
    **dict.fromkeys(("add", "subtract", "multiply"), (2, NUMBERS)),
    **dict.fromkeys(("divide", "copysign"), (2, FLOATS)),
    **dict.fromkeys(("minimum", "maximum"), (2, INTEGERS)),
    **dict.fromkeys(("less", "less_equal", "greater", "greater_equal"), (2, NUMBERS)),
    **dict.fromkeys(("equal", "not_equal"), (2, (*NUMBERS, "bool"))),
    **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor"), (2, (*INTEGERS, "bool"))),
    "invert": (1, (*INTEGERS, "bool")),
    **dict.fromkeys(("square", "negative"), (1, NUMBERS)),
    **dict.fromkeys(("absolute", "sqrt", "reciprocal", "floor", "ceil", "trunc", "rint", "isnan"), (1, FLOATS)),
}
CASES = [(name, dtype) for name, (_, dtypes) in FORMULAS.items() for dtype in dtypes]
TARGETS = {"masks": Target(64, True), "32 bytes": Target(32, False), "16 bytes": Target(16, False)}
LENGTHS = (1, 2, 7, 8, 9, 16, 31, 64, 65, 200)


def function(text: str, target: Target) -> Callable[..., None]:
    """The compiled function of a description, called with arrays."""
    if target.masks and not compiler.processor().masks:
        pytest.skip("this processor has no masks for parts of vectors")
    engine = compiler.engine_of(emit(parse(text), target))
    pointer, count = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(None, pointer, count, count, pointer, pointer, pointer)
    call = kind(engine.get_function_address("loop"))

    def run(n: int, *arrays: numpy.ndarray, rows: int = 1, pitches: tuple[int, ...] = ()) -> None:
        assert engine
        pointers = (pointer * len(arrays))(*[a.ctypes.data for a in arrays])
        call(pointers, rows, n, None, (count * len(arrays))(*pitches), None)

    return run


def special(dtype: str, n: int, seed: int) -> numpy.ndarray:
    """Numbers of a dtype, with those at its ends, infinities and NaN."""
    rng = numpy.random.default_rng(seed)
    if dtype == "bool":
        return rng.random(n) < 0.5
    if dtype in FLOATS:
        rare = [0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-42, -1.5, 2.5, 0.5]
        return numpy.where(rng.random(n) < 0.4, rng.choice(rare, n), rng.normal(size=n) * 100).astype(dtype)
    info = numpy.iinfo(dtype)
    rare = numpy.array([info.min, info.max, 0, 1, info.max - 1], dtype)
    return numpy.where(rng.random(n) < 0.3, rng.choice(rare, n), rng.integers(info.min, info.max, n, dtype))


def guarded(dtype: str, n: int) -> tuple[numpy.ndarray, numpy.ndarray]:
    """An output of n elements, and the memory behind it, which must stay as it is."""
    room = numpy.zeros(n + 64, dtype)
    return room[:n], room[n:]


def check_function(
    text: str, target: Target, inputs: list[numpy.ndarray], expected: list[numpy.ndarray], n: int
) -> None:
    run = function(text, target)
    outputs = [guarded(str(e.dtype), n) for e in expected]
    run(n, *inputs, *(out for out, _ in outputs))
    for (out, behind), wanted in zip(outputs, expected):
        assert same_bits(out, wanted[:n]), (out, wanted[:n])
        assert not behind.any()


@pytest.mark.parametrize("target", TARGETS)
@for_each("name, dtype", CASES)
def test_a_formula_has_the_bits_of_numpy(name, dtype, target):
    n_in, most = FORMULAS[name][0], max(LENGTHS)
    inputs = [special(dtype, most, seed) for seed in range(n_in)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = getattr(numpy, name)(*inputs)
    loads = "".join(f"load {dtype} {k}\n" for k in range(n_in))
    operands = "".join(f"operand {dtype} dense\n" for _ in inputs) + f"operand {expected.dtype} dense\n"
    text = f"{operands}{loads}{name} {dtype} {' '.join(map(str, range(n_in)))}\nstore {n_in} {n_in}\n"
    run = function(text, TARGETS[target])
    for n in LENGTHS:
        out, behind = guarded(str(expected.dtype), n)
        run(n, *inputs, out)
        assert same_bits(out, expected[:n])
        assert not behind.any()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("name", "sign"), [("minimum", 1), ("maximum", -1)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_the_lesser_and_the_greater_of_two(name, sign, dtype, target):
    a, b = special(dtype, 200, 1), special(dtype, 200, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = numpy.where((sign * a < sign * b) | (a != a), a, b)
    text = f"operand {dtype} dense\n" * 3 + f"load {dtype} 0\nload {dtype} 1\n{name} {dtype} 0 1\nstore 2 2\n"
    check_function(text, TARGETS[target], [a, b], [expected], 200)


CASTS = [
    (a, b) for a, b in itertools.product((*NUMBERS, "bool"), repeat=2) if not (a in FLOATS and b in INTEGERS) and a != b
]


@pytest.mark.parametrize("target", TARGETS)
@for_each("source, to", CASTS)
def test_casts_are_those_of_numpy(source, to, target):
    x = special(source, 77, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = x.astype(to)
    text = f"operand {source} dense\noperand {to} dense\nload {source} 0\ncast {source} {to} 0\nstore 1 1\n"
    check_function(text, TARGETS[target], [x], [expected], 77)


@pytest.mark.parametrize("target", TARGETS)
def test_products_and_sums_are_rounded_one_by_one(target):
    """A fused multiply-add would have other bits."""
    a, b, c = (numpy.random.default_rng(seed).normal(size=1000) for seed in range(3))
    text = "operand float64 dense\n" * 4 + "".join(f"load float64 {k}\n" for k in range(3))
    text += "multiply float64 0 1\nadd float64 3 2\nstore 3 4\n"
    check_function(text, TARGETS[target], [a, b, c], [a * b + c], 1000)


@pytest.mark.parametrize("target", TARGETS)
def test_one_element_for_all_and_several_dtypes(target):
    rng = numpy.random.default_rng(5)
    x, one, flags, flag = rng.normal(size=130), numpy.array(2.5), rng.random(130) < 0.5, numpy.array(True)
    numbers = rng.integers(-9, 9, 130).astype("int8")
    text = (
        "operand float64 dense\noperand float64 one\noperand bool dense\noperand bool one\noperand int8 dense\n"
        "operand float32 dense\noperand bool dense\n"
        "load float64 0\nload float64 1\nload bool 2\nload bool 3\nload int8 4\n"
        "multiply float64 0 1\nbitwise_and bool 2 3\ncast int8 float64 4\nselect float64 6 5 7\n"
        "cast float64 float32 8\nless float64 8 1\nstore 5 9\nstore 6 10\n"
    )
    chosen = numpy.where(flags & flag, x * one, numbers.astype("float64"))
    check_function(text, TARGETS[target], [x, one, flags, flag, numbers], [chosen.astype("float32"), chosen < one], 130)


@pytest.mark.parametrize("target", TARGETS)
def test_a_result_may_take_the_place_of_an_operand(target):
    x = numpy.random.default_rng(6).normal(size=77)
    text = "operand float64 dense\n" * 2 + "load float64 0\nsquare float64 0\nadd float64 1 0\nstore 1 2\n"
    expected = x * x + x
    function(text, TARGETS[target])(77, x, x)
    assert same_bits(x, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool"])
@pytest.mark.parametrize("n", [1, 7, 8, 11, 40])
def test_rows_of_operands_with_all_strides(n, dtype, target):
    """Rows with gaps, elements that are apart, one element for a row, and one for all."""
    rows, size = 5, numpy.dtype(dtype).itemsize
    dense, apart = special(dtype, rows * (n + 3), 1).reshape(rows, n + 3), special(dtype, rows * n * 3, 2)
    each, one = special(dtype, rows, 3), special(dtype, 1, 4)
    text = "".join(
        f"operand {dtype} {w}\n" for w in ("dense", f"strided {3 * size}", "row", "one", f"strided {2 * size}")
    )
    text += "".join(f"load {dtype} {k}\n" for k in range(4))
    name = "bitwise_xor" if dtype == "bool" else "add"
    text += f"{name} {dtype} 0 1\n{name} {dtype} 4 2\n{name} {dtype} 5 3\nstore 4 6\n"
    out = numpy.zeros((rows + 1, n, 2), dtype)  # one row more, which must stay as it is
    function(text, TARGETS[target])(
        n, dense, apart, each, one, out, rows=rows, pitches=((n + 3) * size, n * 3 * size, size, 0, 2 * n * size)
    )
    add = getattr(numpy, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = add(add(add(dense[:, :n], apart.reshape(rows, n, 3)[..., 0]), each[:, None]), one)
    assert same_bits(numpy.ascontiguousarray(out[:rows, :, 0]), expected)
    assert not out[..., 1].any()
    assert not out[rows].any()


def added_up(x: numpy.ndarray) -> numpy.generic:
    """The sum in the order of reductions: of vectors of 64 bytes, four at a time, and of the elements that are left."""
    lanes = 64 // x.itemsize
    whole = len(x) // lanes * lanes
    vectors = x[:whole].reshape(-1, lanes)
    fours = len(vectors) // 4 * 4
    chains = numpy.zeros((4, lanes), x.dtype)
    for k in range(fours):
        chains[k % 4] += vectors[k]
    total = (chains[0] + chains[1]) + (chains[2] + chains[3])
    for k in range(fours, len(vectors)):
        total += vectors[k]
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    rest = x.dtype.type(0)
    for value in x[whole:]:
        rest += value
    return total[0] + rest


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", LENGTHS)
def test_sums_of_rows_are_added_in_the_order_of_reductions(n, dtype, target):
    """Two sums of one loop, added to earlier values, and a result that is stored beside them."""
    rows, size = 3, numpy.dtype(dtype).itemsize
    rng = numpy.random.default_rng(n)
    a, b = (rng.normal(size=(rows, n)).astype(dtype) for _ in range(2))
    text = f"operand {dtype} dense\n" * 3 + f"operand {dtype} sum\n" * 2
    text += f"load {dtype} 0\nload {dtype} 1\nmultiply {dtype} 0 1\nstore 2 2\nsum 3 2\nsum 4 1\n"
    out, first, second = numpy.zeros_like(a), numpy.array([0, -0.0, 1.5], dtype), numpy.zeros(rows, dtype)
    before = first.copy()
    row = n * size
    function(text, TARGETS[target])(n, a, b, out, first, second, rows=rows, pitches=(row, row, row, size, size))
    assert same_bits(out, a * b)
    for k in range(rows):
        assert same_bits(first[k : k + 1], before[k : k + 1] + added_up(a[k] * b[k]))
        assert same_bits(second[k : k + 1], numpy.zeros(1, dtype) + added_up(b[k]))


def test_a_description_is_read_line_by_line():
    loop = parse("operand bool one\noperand int8 strided 24\nload bool 0\ncast bool int8 0\nstore 1 1\n")
    assert [(o.dtype, o.walk, o.stride) for o in loop.operands] == [("bool", "one", 0), ("int8", "strided", 24)]
    assert loop.lines[1] == Line("cast", ("bool", "int8"), (0,))
    assert loop.lines[2] == Line("store", (), (1, 1))


@pytest.mark.parametrize("text", ["operand float64 dense\nload float64 0\ntangent float64 0\nstore 0 1\n", "nonsense"])
def test_compile_loop_returns_0_for_invalid_text(text: str, caplog: Any):
    assert compiler.compile_loop(text) == 0
