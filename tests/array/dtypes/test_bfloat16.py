"""bfloat16: a dtype of arrays like the others, whose numbers are those of the package ml_dtypes."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy
import pytest

from forerun import autograd, gluon, np
from tests.ops.cases.table import EVERY_DTYPE
from tests.support.comparison.bits import same_bits
from tests.support.engine.settings import ENGINES, running

BF16 = numpy.dtype(ml_dtypes.bfloat16)
EVERY_VALUE = numpy.arange(1 << 16, dtype="uint16").view(BF16)
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*encountered in:RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning"
)


def some(*shape: int, low: float = -4, high: float = 4, seed: int = 0) -> numpy.ndarray:
    return numpy.random.default_rng(seed).uniform(low, high, shape).astype(BF16)


# --- casts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("to", EVERY_DTYPE, ids=str)
def test_every_value_is_converted_as_by_numpy(to: numpy.dtype) -> None:
    values = EVERY_VALUE
    if to.kind in "iu":  # beyond that, C defines nothing; test_casts.py has forerun's rules
        wide = values.astype("float64")
        limits = numpy.iinfo(to)
        values = values[(wide > float(limits.min) - 1) & (wide < float(limits.max))]
    assert same_bits(np.asarray(values).astype(to), values.astype(to))
    assert same_bits(np.asarray(values)[::3].astype(to), values[::3].astype(to))


@pytest.mark.parametrize("source", EVERY_DTYPE, ids=str)
def test_every_value_is_rounded_as_by_ml_dtypes(source: numpy.dtype) -> None:
    rng = numpy.random.default_rng(1)
    if source.kind == "b":
        values = numpy.array([True, False])
    elif source.itemsize <= 2:
        values = numpy.arange(1 << 8 * source.itemsize, dtype=f"u{source.itemsize}").view(source)
    else:
        bits = rng.integers(0, 256, (1 << 16) * source.itemsize, dtype="uint8").view(source)
        # Near the middle between two numbers, where rounding decides.
        middles = rng.integers(0, 1 << 16, 1 << 16).astype("uint32") << 16
        near = (middles | rng.choice(numpy.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], "uint32"), 1 << 16)).view("f4")
        values = numpy.concatenate([bits, near.astype(source)])
        if source.itemsize == 8 and source.kind == "f":
            values = numpy.concatenate(
                [values, numpy.nextafter(values, numpy.inf), numpy.nextafter(values, -numpy.inf)]
            )
    assert same_bits(np.asarray(values).astype(BF16), values.astype(BF16))


def test_ties_go_to_even_and_nan_stays() -> None:
    ulp = 2.0**-7
    x = np.array([1 + ulp / 2, 1 + 3 * ulp / 2, 3.4e38, math.nan, -math.inf])
    assert x.astype("bfloat16").tolist()[:3] == [1.0, 1 + 2 * ulp, math.inf]
    assert math.isnan(x.astype("bfloat16")[3].item())


def test_a_copy_has_all_bits_of_a_nan() -> None:
    x = np.asarray(EVERY_VALUE)
    every = np.arange(1 << 16)
    turned = x[::-1].copy()
    strided = np.zeros((1 << 16, 2), "bfloat16")
    strided[:, 1] = x
    for copied in (
        x.copy(),
        turned[::-1],
        strided[:, 1].copy(),
        np.concatenate([x[:9], x[9:]]),
        np.where(True, x, x),
        x[every],
    ):
        assert (copied.numpy().view("uint16") == EVERY_VALUE.view("uint16")).all()


# --- element-wise ops -----------------------------------------------------------------------------

UNARY = [
    "negative", "absolute", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "square",
    "reciprocal", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh", "floor", "ceil", "trunc", "rint", "sign", "isnan", "isinf", "isfinite", "signbit", "positive",
    "conjugate", "logical_not", "deg2rad", "rad2deg", "spacing",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "arctan2", "hypot", "maximum",
    "minimum", "fmax", "fmin", "fmod", "copysign", "nextafter", "logaddexp", "logaddexp2", "equal", "not_equal",
    "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "heaviside",
]  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_each_value_through_each_function(name: str) -> None:
    want = getattr(numpy, name)(EVERY_VALUE)
    assert same_bits(getattr(np, name)(np.asarray(EVERY_VALUE)), want)
    assert same_bits(getattr(np, name)(np.asarray(EVERY_VALUE)[::-2]), want[::-2])


@pytest.mark.parametrize("name", BINARY)
def test_pairs_of_values(name: str) -> None:
    rng = numpy.random.default_rng(0)
    edges = numpy.array([0, -0.0, 1, -1, 0.5, 3, math.inf, -math.inf, math.nan, 3e38, 1e-40, 256, 257]).astype(BF16)
    a = numpy.concatenate([rng.choice(EVERY_VALUE, 20_000), numpy.repeat(edges, len(edges))])
    b = numpy.concatenate([rng.choice(EVERY_VALUE, 20_000), numpy.tile(edges, len(edges))])
    want = getattr(numpy, name)(a, b)
    x, y = np.asarray(a), np.asarray(b)
    assert same_bits(getattr(np, name)(x, y), want)
    assert same_bits(getattr(np, name)(x[::-1], y[::-1])[::-1], want)


def test_results_together_are_rounded_at_each_step() -> None:
    a, b = some(70_000), some(70_000, seed=1)
    want = numpy.tanh(a * b + b) - a
    for mode in ENGINES:
        with running(mode):
            x, y = np.asarray(a), np.asarray(b)
            assert same_bits(np.tanh(x * y + y) - x, want)


# --- dtypes together ------------------------------------------------------------------------------


def test_promotion() -> None:
    x = np.ones(2, "bfloat16")
    for other in EVERY_DTYPE:
        want = BF16 if other.kind in "biu" else numpy.dtype("float32") if other == numpy.float16 else other
        assert (x + np.ones(2, other)).dtype == (np.ones(2, other) * x).dtype == want
        assert np.promote_types(other, "bfloat16") == np.promote_types(BF16, other) == want
        assert np.result_type(x, other) == np.concatenate([x, np.ones(2, other)]).dtype == want
        if other.kind in "fc" and other != numpy.float16:
            assert numpy.result_type(BF16, other) == want
    for number, want in ((True, BF16), (3, BF16), (2.5, BF16), (1j, numpy.dtype("complex64"))):
        assert (x + number).dtype == (number - x).dtype == np.result_type(x, number) == want  # type: ignore[operator]
    assert (x + numpy.float32(1)).dtype == "float32"
    assert (x + ml_dtypes.bfloat16(1)).dtype == (x + some(2)).dtype == BF16


def test_casting_rules() -> None:
    for other in EVERY_DTYPE:
        for a, b in ((BF16, other), (other, BF16)):
            if numpy.float16 not in (a, b):
                assert np.can_cast(a, b) == numpy.can_cast(a, b), (a, b)
            else:
                assert not np.can_cast(a, b)
        assert np.can_cast(other, "bfloat16", "same_kind") == (other.kind in "biuf")
        assert np.can_cast("bfloat16", other, "same_kind") == (other.kind in "fc")
        assert np.can_cast(BF16, other, "unsafe")
        assert not np.can_cast(BF16, other, "equiv")
    assert np.can_cast(BF16, BF16, "no")
    x = np.ones(2, "bfloat16")
    assert x.astype("float32", casting="safe").dtype == "float32"
    with pytest.raises(TypeError, match="astype: casting must be possible by rule 'safe', got float32 to bfloat16"):
        np.ones(2).astype(BF16, casting="safe")
    with pytest.raises(TypeError, match="astype: casting must be possible by rule 'same_kind', got bfloat16 to int8"):
        x.astype("int8", casting="same_kind")


def test_finfo_and_type_predicates_of_bfloat16() -> None:
    assert np.bfloat16 is ml_dtypes.bfloat16
    for name in (np.bfloat16, BF16, np.ones(2, "bfloat16"), some(2), "bfloat16"):
        found = np.finfo(name)
        assert (found.bits, float(found.eps), found.dtype) == (16, 2.0**-7, BF16)
    assert float(np.finfo(BF16).max) == 2.0**127 * (2 - 2.0**-7)
    with pytest.raises(ValueError, match="iinfo: dtype must be of integers, got bfloat16"):
        np.iinfo(BF16)
    for kind in (np.floating, np.inexact, np.number, np.generic, np.bfloat16):
        assert np.issubdtype(BF16, kind)
        assert np.issubdtype("bfloat16", kind)
    for kind in (np.integer, np.complexfloating, np.float32, np.signedinteger):
        assert not np.issubdtype(BF16, kind)
    for kind in ("real floating", "numeric", BF16, np.bfloat16, ("bool", "real floating"), ("bool", BF16)):
        assert np.isdtype(BF16, kind)
    for kind in ("bool", "integral", "complex floating", np.float32, ("signed integer", np.float16)):
        assert not np.isdtype(BF16, kind)
    assert not np.isdtype(np.float32, (BF16, "integral"))
    for wrong, error in (("float", ValueError), (5, TypeError)):
        with pytest.raises(error):
            np.isdtype(BF16, wrong)
    assert np.common_type(np.ones(2, BF16), np.arange(2)) is np.bfloat16
    assert np.min_scalar_type(np.ones((), BF16)) == BF16


# --- everything else ------------------------------------------------------------------------------


class TestReductions:
    """Sums, products and means are made in float32 and rounded once; the rest loses nothing."""

    @pytest.mark.parametrize("axis", [None, 0, 1, (0, 2)])
    @pytest.mark.parametrize("name", ["sum", "prod", "mean"])
    def test_sums_are_rounded_once(self, name: str, axis: Any) -> None:
        a = some(5, 40, 7, low=0.5, high=1.5)
        want = getattr(numpy, name)(a.astype("float64"), axis).astype(BF16)
        got = getattr(np, name)(np.asarray(a), axis)
        assert got.dtype == BF16
        near = abs(got.numpy().astype("float64") - want.astype("float64"))
        assert (near <= 2.0**-7 * abs(want.astype("float64"))).all()

    def test_a_long_sum_exceeds_256(self) -> None:
        ones = np.ones(10_000, "bfloat16")
        assert ones.sum().item() == 9984
        assert np.broadcast_to(ones, (3, 10_000)).sum(1).tolist() == [9984] * 3
        assert ones.mean().item() == 1
        assert np.ones((4096, 3), "bfloat16").sum(0).tolist() == [4096] * 3

    @pytest.mark.parametrize(
        "name", ["max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod", "ptp", "nansum"]
    )
    def test_other_reductions(self, name: str) -> None:
        a = some(6, 50)
        for axis in (0, 1):
            got = getattr(np, name)(np.asarray(a), axis=axis)
            want = getattr(numpy, name)(a, axis=axis)
            assert got.tolist() == want.astype(object).tolist() if name != "nansum" else got.dtype == BF16

    def test_max_of_the_most_negative_values(self) -> None:
        for value in (-math.inf, -3e38):
            x = np.full((300, 5), value, "bfloat16")
            assert x.max().item() == x.max(0).tolist()[0] == x[0, 0].item()
            assert (-x).min().item() == (-x).min(1).tolist()[0] == -x[0, 0].item()

    def test_reductions_of_empty_arrays(self) -> None:
        x = np.ones((0, 2), "bfloat16")
        assert x.sum(0).tolist() == [0, 0]
        assert x.prod(0).tolist() == [1, 1]
        with pytest.raises(ValueError, match="max: reduced axes must not be empty"):
            x.max()


def test_products_go_through_float32() -> None:
    a, b = some(20, 300), some(300, 10, seed=1)
    x, y = np.asarray(a), np.asarray(b)
    wide = (np.asarray(a.astype("float32")) @ np.asarray(b.astype("float32"))).numpy().astype(BF16)
    assert same_bits(x @ y, wide)
    assert same_bits(np.matmul(np.stack([x, x]), y)[1], wide)
    assert same_bits(y.T @ x.T, wide.T)
    assert same_bits(np.einsum("ij,jk->ik", x, y), wide)
    assert (x @ np.ones(300, "bfloat16")).dtype == np.dot(x[0], x[0]).dtype == BF16
    assert (x @ np.ones(300)).dtype == "float32"


def test_copies_and_views() -> None:
    a = some(6, 8)
    x, index = np.asarray(a), np.array([3, 0, 3])
    cases: list[tuple[Any, Any]] = [
        (x[1:, ::2], a[1:, ::2]), (x.T, a.T), (x[index], a[[3, 0, 3]]), (x.reshape(-1), a.reshape(-1)),
        (np.where(x > 0, x, 0), numpy.where(a > 0, a, BF16.type(0))), (np.sort(x), numpy.sort(a)),
        (np.argsort(x), numpy.argsort(a)), (np.flip(x), numpy.flip(a)), (np.roll(x, 3), numpy.roll(a, 3)),
        (np.stack([x, x]), numpy.stack([a, a])), (np.take(x, index, 1), numpy.take(a, [3, 0, 3], 1)),
        (np.clip(x, -1, 1), numpy.minimum(numpy.maximum(a, BF16.type(-1)), BF16.type(1))),
        (np.pad(x, 1), numpy.pad(a, 1)),
        (x[x > 0], a[a > 0]), (np.maximum(x, 0), numpy.maximum(a, BF16.type(0))),
        (np.repeat(x, 2, 0), numpy.repeat(a, 2, 0)), (np.tile(x, 2), numpy.tile(a, 2)),
    ]  # fmt: skip
    for i, (got, want) in enumerate(cases):
        assert same_bits(got, want), i
    x[0] = 1.25
    x[:, 1] += 2
    x[np.array([5, 5])] = np.array([7.0, 8.0])[:, None]
    a[0] = 1.25
    a[:, 1] += BF16.type(2)
    a[5] = 8
    assert same_bits(x, a)


def test_made_from_numbers() -> None:
    for made in (
        np.array([1.5, 2.5], "bfloat16"), np.array([1.5, 2.5], dtype=np.bfloat16), np.asarray([1.5, 2.5], BF16),
        np.asarray(numpy.array([1.5, 2.5], BF16)), np.arange(1.5, 3, dtype="bfloat16"),
        np.linspace(1.5, 2.5, 2, dtype="bfloat16"), np.stack([np.full((), 1.5, BF16), np.full((), 2.5, BF16)]),
        np.array([ml_dtypes.bfloat16(1.5), ml_dtypes.bfloat16(2.5)]), np.asarray([1.5, 2.5]).astype(BF16),
    ):  # fmt: skip
        assert made.dtype == BF16
        assert made.tolist() == [1.5, 2.5]
        assert made.itemsize == 2
    assert np.eye(2, dtype="bfloat16").tolist() == [[1, 0], [0, 1]]
    assert np.zeros_like(np.ones(2, BF16)).dtype == np.empty(2, BF16).dtype == BF16
    assert np.full(2, 1 + 2.0**-9, BF16).tolist() == [1, 1]


def test_random_numbers_are_those_of_float32_rounded() -> None:
    for draw in (np.random.normal, np.random.uniform):
        np.random.seed(3)
        wide = draw(size=100, dtype="float32")
        np.random.seed(3)
        assert same_bits(draw(size=100, dtype="bfloat16"), wide.numpy().astype(BF16))
    assert np.random.gamma(2.0, size=3, dtype="bfloat16").dtype == BF16


def test_npy_files_refuse_bfloat16(tmp_path: Any) -> None:
    for save in (np.save, np.savez):
        with pytest.raises(TypeError, match="save: dtype must be supported by NumPy's format, got bfloat16"):
            save(tmp_path / "x", np.ones(2, "bfloat16"))
    assert list(tmp_path.iterdir()) == []


def test_nan_to_num() -> None:
    x = np.array([math.nan, math.inf, -math.inf], "bfloat16")
    assert np.nan_to_num(x).tolist() == [0, float(np.finfo(BF16).max), float(np.finfo(BF16).min)]


def test_functions_of_several_results() -> None:
    a = some(40)
    for name, args in (("divmod", (a, a[::-1])), ("modf", (a,)), ("frexp", (a,))):
        got = getattr(np, name)(*map(np.asarray, args))
        for g, w in zip(got, getattr(numpy, name)(*args), strict=True):
            assert same_bits(g, w), name


def test_python_sees_numbers() -> None:
    x = np.array([1.5, -3], "bfloat16")
    assert repr(x) == repr(numpy.array([1.5, -3], BF16))
    assert str(x[0]) == "1.5"
    assert type(x[0].item()) is type(x.tolist()[0]) is float
    assert float(x[0]) == 1.5
    assert int(x[1]) == -3
    assert bool(x[0])
    assert f"{x[0]:.2f}" == "1.50"
    for copied in (pickle.loads(pickle.dumps(x)), copy.copy(x), copy.deepcopy(x)):
        assert copied.dtype == BF16
        assert copied.tolist() == [1.5, -3]
    assert numpy.asarray(x).dtype == x.asnumpy().dtype == BF16


class TestGradients:
    def test_gradients_have_the_dtype_of_the_leaf(self) -> None:
        x, w = np.asarray(some(64, 3)), np.asarray(some(3, 2, seed=1))
        b = np.zeros(2, "bfloat16")
        for leaf in (w, b):
            leaf.attach_grad()
        with autograd.record():
            loss = (np.tanh(x @ w + b) ** 2).mean()
        loss.backward()
        assert w.grad.dtype == b.grad.dtype == BF16
        wide = [v.astype("float32") for v in (w, b)]
        for leaf in wide:
            leaf.attach_grad()
        with autograd.record():
            loss = (np.tanh(x.astype("float32") @ wide[0] + wide[1]) ** 2).mean()
        loss.backward()
        for narrow, exact in zip((w, b), wide):
            near = np.max(np.abs(narrow.grad.astype("float32") - exact.grad)) / np.max(np.abs(exact.grad))
            assert near.item() < 0.03

    def test_of_broadcast_operands_are_summed_in_float32(self) -> None:
        b = np.zeros(2, "bfloat16")
        b.attach_grad()
        with autograd.record():
            y = np.ones((4096, 2), "bfloat16") + b
        y.backward()
        assert b.grad.tolist() == [4096, 4096]

    def test_of_repeated_elements_are_added(self) -> None:
        x = np.ones(4, "bfloat16")
        x.attach_grad()
        with autograd.record():
            y = x[np.array([1, 1, 3, 1])] * np.array([1.5, 2, 4, 0.25], dtype="bfloat16")
        y.backward()
        assert x.grad.tolist() == [0, 3.75, 0, 4]

    def test_gradients_of_casts(self) -> None:
        x = np.ones(3)
        x.attach_grad()
        with autograd.record():
            y = (x.astype("bfloat16") * 3).astype("float64").sum()
        y.backward()
        assert x.grad.dtype == "float32"
        assert x.grad.tolist() == [3, 3, 3]

    def test_train_a_layer(self) -> None:
        net = gluon.nn.Dense(1)
        net.initialize()
        net.cast("bfloat16")
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        x = np.asarray(some(32, 2))
        y = x @ np.array([[2.0], [-1.0]], dtype="bfloat16")
        loss = gluon.loss.L2Loss()
        for _ in range(50):
            with autograd.record():
                error = loss(net(x), y)
            error.backward()
            trainer.step(32)
        assert net.weight.data().dtype == BF16
        assert error.mean().item() < 0.01


# --- the package may be absent --------------------------------------------------------------------

ABSENT = """
import sys
sys.modules["ml_dtypes"] = None
from forerun import np
assert not hasattr(np, "bfloat16") and np.ones(2).sum().item() == 2
for use in (lambda: np.bfloat16, lambda: np.zeros(2, "bfloat16"), lambda: np.ones(2).astype("bfloat16")):
    try:
        use()
    except (AttributeError, ImportError) as error:
        assert str(error) == "bfloat16: package ml_dtypes must be installed (pip install ml_dtypes)", error
    else:
        raise SystemExit("it must be missed")
try:
    np.zeros(2, "bfloat")
except TypeError:
    print("told")
"""
LATE = """
import sys
from forerun import np
assert "ml_dtypes" not in sys.modules
x = np.add(1, 2)                         # its loops were read before there was a bfloat16
{first}
assert "ml_dtypes" in sys.modules
y = np.asarray(y)
assert (y + y).tolist() == [3.0] and (y + y).dtype == y.dtype and y.dtype.name == "bfloat16"
print("told")
"""


@pytest.mark.parametrize(
    "program",
    [
        ABSENT,
        LATE.format(first="y = np.full(1, 1.5, 'bfloat16')"),
        LATE.format(first="y = np.full(1, 1.5, np.bfloat16)"),
        LATE.format(first="import ml_dtypes, numpy; y = numpy.full(1, 1.5, ml_dtypes.bfloat16)"),
        LATE.format(first="import ml_dtypes; y = np.full(1, ml_dtypes.bfloat16(1.5))"),
    ],
)
def test_ml_dtypes_is_imported_on_first_use(program: str) -> None:
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.stdout == "told\n", ran.stderr
