"""Each kind of function with each dtype: NumPy's result, or NumPy's refusal."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy
import pytest

from forerun import np, npx
from forerun.ops._base.convert import is_real_float
from tests.ops.cases.table import EVERY_DTYPE
from tests.support.comparison.bits import same_bits
from tests.support.comparison.outcomes import outcome

BF16 = numpy.dtype(ml_dtypes.bfloat16)
Function = Callable[[Any, Any, Any], Any]
UFUNCS = sorted(
    name
    for name, f in vars(numpy).items()
    if isinstance(f, numpy.ufunc) and f.nin <= 2 and f.signature is None and hasattr(np, name)
)
# Functions of the namespace and two matrices, one for each way to make functions.
FUNCTIONS: dict[str, Function] = {
    "operators": lambda n, a, b: a**2 * (a + b) / (abs(a) + 1),
    "in place": lambda n, a, b: a.__iadd__(b),
    "sum": lambda n, a, b: n.sum(a, 0),
    "prod": lambda n, a, b: n.prod(a, 1),
    "mean": lambda n, a, b: n.mean(a),
    "var": lambda n, a, b: n.var(a, 0),
    "std": lambda n, a, b: n.std(a),
    "max": lambda n, a, b: n.max(a, 0),
    "min": lambda n, a, b: n.min(a),
    "any": lambda n, a, b: n.any(a, 0),
    "all": lambda n, a, b: n.all(a),
    "argmax": lambda n, a, b: n.argmax(a, 0),
    "argmin": lambda n, a, b: n.argmin(a),
    "ptp": lambda n, a, b: n.ptp(a, 0),
    "cumsum": lambda n, a, b: n.cumsum(a, 0),
    "cumprod": lambda n, a, b: n.cumprod(a),
    "count_nonzero": lambda n, a, b: n.count_nonzero(a, 0),
    "nansum": lambda n, a, b: n.nansum(a),
    "nanmean": lambda n, a, b: n.nanmean(a),
    "average": lambda n, a, b: n.average(a, 0),
    "matmul": lambda n, a, b: n.matmul(a, b.T),
    "matrix and vector": lambda n, a, b: n.matmul(a, b[0]),
    "dot": lambda n, a, b: n.dot(a[0], b[0]),
    "outer": lambda n, a, b: n.outer(a[0], b[0]),
    "inner": lambda n, a, b: n.inner(a, b),
    "vdot": lambda n, a, b: n.vdot(a[0], b[0]),
    "tensordot": lambda n, a, b: n.tensordot(a, b.T, 1),
    "einsum": lambda n, a, b: n.einsum("ij,kj->ik", a, b),
    "trace": lambda n, a, b: n.trace(a),
    "take": lambda n, a, b: n.take(a, [0, 2], 1),
    "take_along_axis": lambda n, a, b: n.take_along_axis(a, n.argsort(b, 1, kind="stable"), 1),
    "mask": lambda n, a, b: a[b != 0],
    "where": lambda n, a, b: n.where(a > b, a, b),
    "where with a number": lambda n, a, b: n.where(a > b, a, 1),
    "clip": lambda n, a, b: n.clip(a, 1, 3),
    "concatenate": lambda n, a, b: n.concatenate([a, b]),
    "stack": lambda n, a, b: n.stack([a, b]),
    "roll": lambda n, a, b: n.roll(a, 1),
    "repeat": lambda n, a, b: n.repeat(a, 2, 0),
    "tile": lambda n, a, b: n.tile(a, 2),
    "pad": lambda n, a, b: n.pad(a, 1),
    "tril": lambda n, a, b: n.tril(a),
    "diff": lambda n, a, b: n.diff(a),
    "ediff1d": lambda n, a, b: n.ediff1d(a),
    "gradient": lambda n, a, b: n.gradient(a)[0],
    "sort": lambda n, a, b: n.sort(a, 0),
    "argsort": lambda n, a, b: n.argsort(a, kind="stable"),
    "partition": lambda n, a, b: n.partition(a, 1)[:, 1],
    "unique": lambda n, a, b: n.unique(a),
    "searchsorted": lambda n, a, b: n.searchsorted(n.sort(a[0]), b[0]),
    "isin": lambda n, a, b: n.isin(a, b),
    "intersect1d": lambda n, a, b: n.intersect1d(a, b),
    "median": lambda n, a, b: n.median(a, 0),
    "quantile": lambda n, a, b: n.quantile(a, 0.3, axis=0),
    "percentile": lambda n, a, b: n.percentile(a, 30),
    "bincount": lambda n, a, b: n.bincount(abs(a[0])),
    "histogram": lambda n, a, b: n.histogram(a)[0],
    "edges of a histogram": lambda n, a, b: n.histogram(a, bins=3)[1],
    "digitize": lambda n, a, b: n.digitize(a[0], n.sort(b[0])),
    "convolve": lambda n, a, b: n.convolve(a[0], b[0]),
    "interp": lambda n, a, b: n.interp(a[0], n.sort(b[0]), b[0]),
    "round": lambda n, a, b: n.round(a, 1),
    "isclose": lambda n, a, b: n.isclose(a, b),
    "nan_to_num": lambda n, a, b: n.nan_to_num(a),
    "real": lambda n, a, b: n.real(a),
    "imag": lambda n, a, b: n.imag(a),
    "angle": lambda n, a, b: n.angle(a),
    "norm": lambda n, a, b: n.linalg.norm(a),
    "solve": lambda n, a, b: n.linalg.solve(a[:, :3], b[:, :3]),
    "inv": lambda n, a, b: n.linalg.inv(a[:, :3]),
    "det": lambda n, a, b: n.linalg.det(a[:, :3]),
    "fft": lambda n, a, b: n.fft.fft(a),
    "rfft": lambda n, a, b: n.fft.rfft(a),
    "copy": lambda n, a, b: a.copy(),
    "nonzero": lambda n, a, b: n.nonzero(a)[0],
    "vander": lambda n, a, b: n.vander(a[0]),
    "zeros_like": lambda n, a, b: n.zeros_like(a),
    "trapezoid": lambda n, a, b: n.trapezoid(a),
    "cov": lambda n, a, b: n.cov(a),
}
# Where our values are others, and why.
OTHERS = {
    ("operators", "bool"): "numpy squares bools in int8",
    ("trapezoid", "bool"): "numpy adds bools as bools",
    ("float_power", "biu"): "float64 by definition",
    ("vander", "uint64"): "float64 holds it and int64",
}


def sample(dtype: numpy.dtype, seed: int) -> numpy.ndarray:
    rng = numpy.random.default_rng(seed)
    if dtype.kind == "b":
        return rng.random((3, 4)) < 0.5
    if dtype.kind in "iu":
        return rng.integers(1 if dtype.kind == "u" else -3, 7, (3, 4)).astype(dtype)
    values = rng.uniform(-2, 2, (3, 4))
    return (values + 1j * rng.uniform(-2, 2, (3, 4)) if dtype.kind == "c" else values).astype(dtype)


def first_of(found: Any) -> numpy.ndarray:
    """The values as a NumPy array, of several the first."""
    return numpy.asarray(found[0] if isinstance(found, tuple) else found)


def default_float(source: numpy.dtype, want: numpy.dtype) -> numpy.dtype:
    """Integers give the default float where NumPy gives some float; a float keeps its dtype."""
    if source.kind in "biu" and want.kind in "fc":
        return numpy.dtype("float32" if want.kind == "f" else "complex64")
    return want


def compare_dtype(name: str, dtype: numpy.dtype, function: Function, exact: bool) -> None:
    a, b = sample(dtype, 0), sample(dtype, 1)
    want = outcome(function, numpy, a.copy(), b, read=first_of)
    got = outcome(function, np, np.asarray(a), np.asarray(b), read=first_of)
    what = f"{name} of {dtype}: got {got!r}, NumPy {want!r}"
    if isinstance(want, Exception):
        assert isinstance(got, type(want)) or (isinstance(got, TypeError) and isinstance(want, TypeError)), what
    elif not any(name == n and (dtype.name == k or dtype.kind in k) for n, k in OTHERS):
        assert not isinstance(got, Exception), what
        compare_values(name, dtype, got, want, function, exact, what)


def compare_values(
    name: str,
    dtype: numpy.dtype,
    got: numpy.ndarray,
    want: numpy.ndarray,
    function: Function,
    exact: bool,
    what: str,
) -> None:
    if name in ("cov", "interp", "vander") and dtype.kind in "fc":  # NumPy widens these on its own
        want = want.astype(got.dtype if got.dtype.itemsize == dtype.itemsize else want.dtype)
    kind, narrow = default_float(dtype, want.dtype), numpy.float16 in (dtype, want.dtype)
    if kind != want.dtype:  # of integers: in the dtype that we compute in
        a, b = sample(dtype, 0).astype("float32"), sample(dtype, 1)
        want = (
            outcome(function, numpy, a, b if name == "ldexp" else b.astype("float32"), read=first_of) if exact else want
        )
        want = want.astype(kind)
    assert got.dtype == kind, what
    assert got.shape == want.shape, what
    if exact or kind.kind in "biu":
        assert same_bits(got, want), what
        return
    eps = 2.0**-10 if narrow else float(numpy.finfo(got.dtype).eps)
    assert numpy.allclose(got, want, rtol=64 * eps, atol=64 * eps, equal_nan=True), what


def in_silence(test: Callable[..., None]) -> Callable[..., None]:
    """Ignore NumPy's warnings of its computations."""

    @functools.wraps(test)
    def quiet(*args: Any, **kwargs: Any) -> None:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            test(*args, **kwargs)

    return quiet


@pytest.mark.parametrize("name", UFUNCS)
@in_silence
def test_ufuncs(name: str) -> None:
    def call(n: Any, a: Any, b: Any) -> Any:
        f = getattr(n, name)
        return f(a) if getattr(numpy, name).nin == 1 else f(a, b)

    for dtype in EVERY_DTYPE:
        compare_dtype(name, dtype, call, exact=True)


@pytest.mark.parametrize("name", FUNCTIONS)
@in_silence
def test_functions(name: str) -> None:
    for dtype in EVERY_DTYPE:
        compare_dtype(name, dtype, FUNCTIONS[name], exact=False)


@pytest.mark.parametrize("dtype", [*EVERY_DTYPE, BF16], ids=str)
def test_random_numbers(dtype: numpy.dtype) -> None:
    for name, args in (("uniform", ()), ("normal", ()), ("exponential", ()), ("gamma", (2.0,)), ("laplace", ())):
        draw = getattr(np.random, name)
        if is_real_float(dtype):
            drawn = draw(*args, size=50, dtype=dtype)
            assert drawn.dtype == dtype
            assert numpy.isfinite(drawn.numpy()).all()
            assert len(set(drawn.tolist())) > 10
        else:
            with pytest.raises(TypeError, match="dtype must be"):
                draw(*args, size=50, dtype=dtype)
    if dtype.kind in "biu":
        high = 2 if dtype.kind == "b" else 5
        drawn = np.random.randint(0, high, 100, dtype=dtype)
        assert drawn.dtype == dtype
        assert set(drawn.tolist()) == set(range(high))
    else:
        with pytest.raises(TypeError):
            np.random.randint(0, 5, 50, dtype=dtype)
    rows = np.ones((4, 2), dtype)
    assert np.random.permutation(rows).dtype == np.random.choice(rows[:, 0], 3).dtype == dtype


@pytest.mark.parametrize("dtype", [*EVERY_DTYPE, BF16], ids=str)
def test_host_tasks(dtype: numpy.dtype) -> None:
    seen = []

    def task(x: Any) -> Any:
        seen.append(x.dtype)
        return x + x, x.real.astype("float32")

    x = np.asarray(numpy.arange(2).astype(dtype))
    twice, wide = npx.host(task, [x], [((2,), dtype), ((2,), "float32")])
    assert twice.dtype == dtype
    assert twice.tolist() == (x + x).tolist()
    assert wide.tolist() == [0, 1]
    assert seen == [dtype]


def test_compared_ufuncs_exist() -> None:
    assert len(UFUNCS) > 90
    assert {"add", "tanh", "bitwise_and", "isnan", "ldexp"} <= set(UFUNCS)
