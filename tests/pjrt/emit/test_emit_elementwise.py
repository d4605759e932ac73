"""Element-wise operations and casts as modules, against NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

from forerun._pjrt.accuracy import ULPS, bound
from forerun._pjrt.emit import emit
from forerun._pjrt.kinds.elementwise.loops import names
from forerun.ops._base.registry import operations
from tests.support.device_plugins.pjrt_plugin import Plugin, dtype_of
from tests.support.device_plugins.pjrt_specs import assert_same, compute, empty_array, run_op, spec, ulps

pytestmark = pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SOME = ("int8", "int32", "uint8", "uint64")
FLOATS = ("float32", "float64", "float16")
COMPLEX = ("complex64",)
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, 7.0, -7.0, math.inf, -math.inf, math.nan)


def _names(text: str) -> list[str]:
    return text.split()


def samples(dtype: str, seed: int = 0, n: int = 60) -> Any:
    """Numbers of a dtype: special ones, ends, and others."""
    rng = numpy.random.default_rng([seed, n])
    if dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    if dtype in SIGNED or dtype in UNSIGNED:
        info = numpy.iinfo(dtype)
        ends = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3]
        small = rng.integers(max(info.min, -20), 20, n - 40)
        return rng.permutation(numpy.concatenate([numpy.array(ends, dtype), small.astype(dtype),
                                                  rng.integers(info.min, info.max, 32, dtype, True)]))  # fmt: skip
    if dtype[:7] == "complex":
        return (samples("float64", seed, n) + 1j * samples("float64", seed + 100, n)).astype(dtype)
    rest = rng.standard_normal(n - len(SPECIAL)) * 10 ** rng.uniform(-2, 2, n - len(SPECIAL))
    return rng.permutation(numpy.concatenate([SPECIAL, rest])).astype(dtype_of(dtype))


def check_loop(plugin: Plugin, name: str, *inputs: Any) -> None:
    """An operation that is exact, or rounded once, as NumPy's own loop."""
    expected = getattr(numpy, name)(*inputs)
    expected = expected if isinstance(expected, tuple) else (expected,)
    outputs = [numpy.empty_like(e) for e in expected]
    types = (*(x.dtype.name for x in inputs), *(e.dtype.name for e in expected))
    got = run_op(plugin, "elementwise", name, inputs, outputs, types=types)
    for g, e in zip(got, expected):
        assert_same(g, e)


# Names, and the dtypes for which results are NumPy's, bit for bit.
EXACT = [
    ("add subtract negative", (*SOME, *FLOATS, "complex128")), ("multiply square", (*SOME, *FLOATS)),
    ("maximum minimum fmax fmin equal not_equal less less_equal greater greater_equal",
     ("bool", *SOME, *FLOATS, *COMPLEX)),
    ("floor_divide remainder fmod", (*SIGNED, *UNSIGNED, *FLOATS)),
    ("divmod", ("int32", "float64")),
    ("absolute", ("bool", *SOME, *FLOATS)), ("fabs", FLOATS), ("sign", (*SOME, *FLOATS)),
    ("positive conjugate", ("int32", "float32", *COMPLEX)),
    ("add multiply logical_and logical_or logical_xor logical_not", ("bool",)),
    ("bitwise_and bitwise_or bitwise_xor invert", ("bool",)),
    ("logical_and logical_or logical_xor logical_not", ("int16", "float32", *COMPLEX)),
    ("bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count", (*SIGNED, *UNSIGNED)),
    ("floor ceil trunc", ("bool", "int8", *FLOATS)), ("rint", (*FLOATS, *COMPLEX)), ("modf", FLOATS),
    ("divide reciprocal", ("float64", "float16", "bfloat16")),  # GPUs divide floats with fewer bits
    ("copysign heaviside nextafter", FLOATS),
    ("signbit frexp", FLOATS),
    ("isnan isinf isfinite", ("bool", "int64", *FLOATS, *COMPLEX)),
    ("gcd lcm", ("int32", "uint8")),
]  # fmt: skip
CASES = [(name, dtype) for some, dtypes in EXACT for name in some.split() for dtype in dtypes]


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_exact_operations_are_numpys(plugin: Plugin, name: str, dtype: str) -> None:
    ufunc = getattr(numpy, name)
    inputs = [samples(dtype, i) for i in range(ufunc.nin)]
    if name in ("gcd", "lcm") or (name == "negative" and dtype in UNSIGNED):
        inputs = [x // 2 for x in inputs]
    if name in ("left_shift", "right_shift"):
        inputs[1] = inputs[1] % numpy.array(80 if dtype != "int8" else 12, dtype) - numpy.array(3, dtype)
    if name == "nextafter":
        inputs[0] = numpy.where(abs(inputs[0]) < 1e-3, 1, inputs[0]).astype(dtype)  # subnormal numbers may be 0
    check_loop(plugin, name, *inputs)


def test_logic_of_complex_bfloat16_and_mixed_integers(plugin: Plugin) -> None:
    x, y = samples("bfloat16", 1), samples("bfloat16", 2)
    for name in ("add", "multiply", "divide", "maximum", "less", "isnan", "floor_divide"):
        check_loop(plugin, name, *[x, y][: getattr(numpy, name).nin])
    for name in ("less", "less_equal", "equal", "not_equal", "greater", "greater_equal"):
        check_loop(plugin, name, samples("int64", 1), samples("uint64", 2))
        check_loop(plugin, name, samples("uint64", 1), samples("int64", 2))


@pytest.mark.parametrize("dtype", [*SOME, "float32", "float16", "complex64", "bool", "bfloat16"])
def test_where_and_clip(plugin: Plugin, dtype: str) -> None:
    c, x, y = samples("bool", 1), samples(dtype, 1), samples(dtype, 2)
    got = compute(plugin, "elementwise", "where", [c, x, y], x.shape, dtype, types=("bool", dtype, dtype, dtype))
    assert_same(got, numpy.where(c, x, y))
    if dtype not in ("bool", "complex64", "bfloat16"):
        ends = numpy.asarray(1, dtype)[()], numpy.asarray(5, dtype)[()]
        got = compute(plugin, "elementwise", "clip", [x, *ends], x.shape, dtype, types=(dtype,) * 4)
        numpy.testing.assert_array_equal(got, numpy.clip(x, *ends))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exponent", ["int32", "int64"])
def test_ldexp_and_spacing(plugin: Plugin, dtype: str, exponent: str) -> None:
    x = samples(dtype)
    n = numpy.random.default_rng(1).integers(-100, 100, len(x)).astype(exponent)
    n[:4] = 5000, -5000, 0, 130
    check_loop(plugin, "ldexp", x, n)
    check_loop(plugin, "spacing", numpy.where(abs(x) < 1e-3, 1, x).astype(dtype))


def test_integer_powers_and_their_check(plugin: Plugin) -> None:
    for dtype in SOME:
        x, n = samples(dtype), samples(dtype, 5) % numpy.array(9, dtype)
        check_loop(plugin, "power", x, n)
    x, types = numpy.array([2, 3]), ("int64",) * 3
    for exponents, bad in (([1, 2], False), ([-1, 2], True)):
        inputs = [x, numpy.array(exponents)]
        result = run_op(plugin, "elementwise", "power", inputs, [empty_array((2,), "int64")], types=types, check=True)
        assert result[1].dtype == bool
        assert bool(result[1]) is bad


def _spread(low: float, high: float) -> Callable[[Any], Any]:
    return lambda rng: rng.uniform(low, high, 2000)


def _any(rng: Any) -> Any:
    return numpy.concatenate([rng.standard_normal(1000) * 5, rng.normal(0, 1e-3, 500), rng.uniform(-80, 80, 500)])


def _positive(rng: Any) -> Any:
    return abs(_any(rng)) + 1e-6


# Functions that are not exact, and the numbers on which they are measured.
DOMAINS: dict[str, tuple[Callable[[Any], Any], ...]] = {
    **dict.fromkeys(
        [
            "exp",
            "expm1",
            "exp2",
            "cbrt",
            "sin",
            "cos",
            "tan",
            "tanh",
            "arctan",
            "sinh",
            "cosh",
            "arcsinh",
            "degrees",
            "radians",
        ],
        (_any,),
    ),
    **dict.fromkeys(_names("sqrt log log1p log2 log10 reciprocal"), (_positive,)),
    **dict.fromkeys(_names("arcsin arccos arctanh"), (_spread(-1, 1),)),
    **dict.fromkeys(_names("arctan2 hypot"), (_any, _any)),
    **dict.fromkeys(_names("logaddexp logaddexp2 divide"), (_positive, _positive)),
    **dict.fromkeys(_names("power float_power"), (_positive, _spread(-4, 4))),
    **dict.fromkeys(_names("erf erfc"), (_spread(-5, 5),)),
    **dict.fromkeys(_names("deg2rad rad2deg"), (_any,)),
    "arccosh": (lambda rng: _positive(rng) + 1,),
}


def test_every_inexact_function_is_measured() -> None:
    assert set(DOMAINS) == set(ULPS)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_results_are_within_the_stated_distance(plugin: Plugin, name: str, dtype: str) -> None:
    if name == "float_power" and dtype != "float64":
        dtype = "float64"
    rng = numpy.random.default_rng(3)
    inputs = [make(rng).astype(dtype_of(dtype)) for make in DOMAINS[name]]
    wide = [x.astype("longdouble" if dtype == "float64" else "float64") for x in inputs]
    if name[:3] == "erf":
        exact = numpy.array([getattr(math, name)(v) for v in inputs[0].astype(float)])
    else:
        exact = getattr(numpy, "power" if name == "float_power" else name)(*wide)
    got = compute(plugin, "elementwise", name, inputs, inputs[0].shape, dtype, types=(dtype,) * (len(inputs) + 1))
    keep = abs(exact) > 2 * float(ml_dtypes.finfo(got.dtype).smallest_normal)
    assert ulps(got[keep], exact[keep]) <= bound(name, dtype)


@pytest.mark.parametrize("name", sorted(DOMAINS))
def test_special_numbers(plugin: Plugin, name: str) -> None:
    inputs = [numpy.array(SPECIAL * len(SPECIAL)), numpy.repeat(numpy.array(SPECIAL), len(SPECIAL))][
        : len(DOMAINS[name])
    ]
    if name[:3] == "erf":
        exact = numpy.array([getattr(math, name)(v) for v in inputs[0]])
    else:
        exact = getattr(numpy, name)(*inputs)
    got = compute(
        plugin, "elementwise", name, inputs, inputs[0].shape, "float64", types=("float64",) * (len(inputs) + 1)
    )
    numpy.testing.assert_allclose(got, exact, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    "name", ["exp", "sqrt", "sin", "cos", "tanh", "multiply", "divide", "absolute", "reciprocal", "sign", "power"]
)
def test_complex_functions(plugin: Plugin, name: str, dtype: str) -> None:
    rng = numpy.random.default_rng(4)
    inputs = [(rng.standard_normal(500) + 1j * rng.standard_normal(500)).astype(dtype) for _ in range(2)]
    inputs = inputs[: getattr(numpy, name).nin]
    expected = getattr(numpy, name)(*inputs)
    types = (*[dtype] * len(inputs), expected.dtype.name)
    got = compute(plugin, "elementwise", name, inputs, (500,), expected.dtype.name, types=types)
    assert (abs(got - expected) <= 20 * numpy.finfo(dtype).eps * abs(expected)).all()


ALL = ("bool", *SIGNED, *UNSIGNED, *FLOATS, "bfloat16", "complex64", "complex128")


@pytest.mark.parametrize("source", ALL)
def test_casts(plugin: Plugin, source: str) -> None:
    """As the CPU's, whose rule for floats beyond an integer is that of x86; NumPy's own is not the same everywhere."""
    x = samples(source)
    kind = numpy.dtype(x.dtype).kind
    for target in ALL:
        wraps = kind in "fVc" and target in (*SIGNED, *UNSIGNED)
        given = numpy.where(numpy.isfinite(x) & (abs(x) < 100), abs(x), 3).astype(x.dtype) if wraps else x
        with numpy.errstate(all="ignore"):
            real = given.real if kind == "c" and target not in ("bool", "complex64", "complex128") else given
            expected = real.astype(dtype_of(target))
        got = compute(plugin, "copy", "", [given], given.shape, target)
        assert_same(got, expected)


def test_floats_beyond_an_integer_become_the_values_of_the_cpu(plugin: Plugin) -> None:
    import forerun

    for source in ("float32", "float64", "float16", "bfloat16"):
        x = samples(source)
        x[:6] = numpy.array([3e4, -3e4, 1e9, -1e20, 1e19, -5], x.dtype)
        for target in (*SIGNED, *UNSIGNED):
            expected = forerun.np.array(x).astype(target).asnumpy()
            numpy.testing.assert_array_equal(compute(plugin, "copy", "", [x], x.shape, target), expected)


def test_inputs_and_outputs_are_converted(plugin: Plugin) -> None:
    x, y = numpy.array([1, -2, 3], "int8"), numpy.array([0.5, 2.5, -1.5], "float32")
    types = ("float64", "float64", "float64")
    got = compute(plugin, "elementwise", "multiply", [x, y], (3,), "float16", types=types)
    assert got.tolist() == [0.5, -5.0, -4.5]
    got = compute(plugin, "elementwise", "add", [y, numpy.float32(1)], (3,), "int32", types=("float32",) * 3)
    assert got.tolist() == [1, 3, 0]


def test_masked(plugin: Plugin) -> None:
    x, old, mask = numpy.arange(6.0), numpy.full(6, -1.0), numpy.array([1, 0, 1, 1, 0, 0], bool)
    (got,) = run_op(plugin, "masked", "square", [x, mask], [old], update=True, types=("float64", "float64"))
    assert got.tolist() == [0, -1, 4, 9, -1, -1]
    (got,) = run_op(plugin, "masked", "copy", [numpy.int8(7), mask], [old], update=True)
    assert got.tolist() == [7, -1, 7, 7, -1, -1]


def test_every_ufunc_of_the_front_end_has_a_lowering() -> None:
    """For the dtypes of its first loop; others run on the host."""
    from forerun import _core

    ufuncs = {name for name, op in operations._entries.items() if isinstance(op.thing, _core.Ufunc)}
    assert ufuncs - {"checked"} <= set(names())


def test_unsupported_operations_have_no_lowering() -> None:
    x = numpy.ones(2, "complex64")
    assert emit(spec("elementwise", "cbrt", [x], [x], types=("complex64", "complex64"))) is None
    assert emit(spec("elementwise", "mystery", [x], [x], types=("complex64", "complex64"))) is None
    assert emit(spec("mystery", "", [x], [x])) is None
