"""Random calls of NumPy's functions: results are NumPy's, and refused calls raise the same exception.

`NAMES_EXAMPLES=5000 pytest tests/ops/test_random_calls.py` runs more of them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forerun import np
from forerun.ops._base.primitive import Elementwise
from tests.support.comparison.outcomes import outcome

EXAMPLES = int(os.environ.get("NAMES_EXAMPLES", "20"))
bounded = settings(
    max_examples=EXAMPLES, derandomize="NAMES_EXAMPLES" not in os.environ, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip

FLOATS = ["float16", "float32", "float64"]
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", *FLOATS, "complex64",
          "complex128"]  # fmt: skip
SHAPES = st.lists(st.integers(0, 4), min_size=0, max_size=3).map(tuple)
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), -float("inf"), 1e-7, 3e4]


@st.composite
def small_arrays(draw: Any, dtypes: Any = DTYPES, shapes: Any = SHAPES, edges: bool = False) -> numpy.ndarray:
    """Small arrays of any dtype, some of them views; with `edges` NaN and infinities among the values."""
    dtype, shape = numpy.dtype(draw(st.sampled_from(dtypes))), draw(shapes)
    rng = numpy.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(-4, 5, shape) if dtype.kind != "u" else rng.integers(0, 9, shape)
    x = numpy.asarray(values / 2 if dtype.kind in "fc" else values).astype(dtype)
    if dtype.kind == "c":
        x = (x + 1j * rng.integers(-3, 4, shape)).astype(dtype)
    if edges and dtype.kind in "fc" and x.size:
        x.reshape(-1)[rng.integers(0, x.size, 2)] = rng.choice(EDGES, 2).astype(dtype)
    return x.T if draw(st.booleans()) else x


def family(error: Exception) -> type[Exception]:
    """The kind that a program would catch: AxisError is both a ValueError and an IndexError."""
    for kind in (numpy.exceptions.AxisError, TypeError, IndexError, ZeroDivisionError, OverflowError, ValueError):
        if isinstance(error, kind):
            return kind
    return type(error)


def compare_functions(
    name: str, args: tuple[Any, ...], options: dict[str, Any], tolerance: float, bits: bool = False
) -> None:
    """Call NumPy's function and forerun's."""
    convert = lambda a: np.array(a) if isinstance(a, numpy.ndarray) else a
    mapped = lambda v: [convert(a) for a in v] if isinstance(v, list) else convert(v)
    want = outcome(lambda: getattr(numpy, name)(*args, **options))
    got = outcome(lambda: getattr(np, name)(*map(mapped, args), **{k: mapped(v) for k, v in options.items()}))
    what = f"{name}(*{args!r}, **{options!r})"
    if isinstance(want, Exception) or isinstance(got, Exception):
        assert isinstance(want, Exception), f"{what}: NumPy gives {want!r}, refused with {got!r}"
        assert isinstance(got, Exception), f"{what}: NumPy refuses with {want!r}, given {got!r}"
        assert issubclass(family(got), family(want)) or issubclass(family(want), family(got)), (
            f"{what}: NumPy refuses with {want!r}, refused with {got!r}"
        )
        return
    assert len(got) == len(want), what
    for g, w in zip(got, want):
        assert_same_array(g, w, what, tolerance, bits)


def assert_same_array(g: numpy.ndarray, w: numpy.ndarray, what: str, tolerance: float, bits: bool) -> None:
    assert g.shape == w.shape, f"{what}: shape {g.shape}, NumPy's {w.shape}"
    kinds = {"f": "f", "c": "c", "b": "b"}
    assert kinds.get(g.dtype.kind, "i") == kinds.get(w.dtype.kind, "i"), f"{what}: {g.dtype}, NumPy's {w.dtype}"
    if bits and g.dtype == w.dtype:
        assert g.tobytes() == numpy.ascontiguousarray(w).tobytes() or (
            numpy.array_equal(g, w, equal_nan=True) and numpy.array_equal(numpy.signbit(g), numpy.signbit(w))
        ), f"{what}: {g!r}, NumPy's {w!r}"
        return
    if g.dtype.kind in "biu":
        assert (g == w).all(), f"{what}: {g!r}, NumPy's {w!r}"
        return
    narrow = min(g.dtype, w.dtype, key=lambda d: d.itemsize)
    eps = float(numpy.finfo(narrow).eps) * (tolerance or 1)
    with numpy.errstate(all="ignore"):
        w = w.astype(g.dtype)
        size = float(numpy.abs(w[numpy.isfinite(w)]).max(initial=1.0))
    numpy.testing.assert_allclose(g, w, eps, eps * size, err_msg=what)


# --- element-wise: NumPy's bits -------------------------------------------------------------------

UFUNCS = {
    n: getattr(np, n)
    for n in sorted(dir(np))
    if isinstance(getattr(np, n), Elementwise) and isinstance(getattr(numpy, n, None), numpy.ufunc)
}


@pytest.mark.parametrize("inputs", [1, 2])
@bounded
@given(data=st.data())
def test_elementwise(inputs: int, data: Any) -> None:
    name = data.draw(st.sampled_from([n for n in UFUNCS if getattr(numpy, n).nin == inputs]))
    x = data.draw(small_arrays(edges=True))
    args: tuple[Any, ...] = (x,)
    if inputs == 2:
        fits = st.sampled_from([x.shape, (), x.shape[1:], (1, *x.shape[1:]), (*x.shape[:-1], 1) if x.ndim else ()])
        args = (x, data.draw(small_arrays([x.dtype.name], st.one_of(fits, fits, SHAPES), edges=True)))
    if inputs == 2 and not isinstance(outcome(lambda: numpy.broadcast_shapes(*(a.shape for a in args))), list):
        assert isinstance(outcome(lambda: UFUNCS[name](*map(np.array, args))), (TypeError, ValueError))
        return None
    if x.dtype.kind in "bui" and "f" in str(getattr(numpy, name).types):
        return compare_functions(name, args, {}, 4)  # integers give the default float
    # Where operands are strided NumPy may use another loop (docs/reference/numpy.md)
    dense = tuple(numpy.ascontiguousarray(a).reshape(a.shape) for a in args)
    compare_functions(name, dense, {}, 8, bits=True)
    return None


# --- reductions and scans -------------------------------------------------------------------------

REDUCTIONS = {
    "sum": "", "prod": "", "max": "", "min": "", "all": "", "any": "", "mean": "", "var": "d", "std": "d", "ptp": "",
    "median": "", "count_nonzero": "", "nansum": "", "nanprod": "", "nanmax": "", "nanmin": "", "nanmean": "",
    "nanvar": "d", "nanstd": "d", "nanmedian": "", "average": "",
}  # fmt: skip
AXES = st.one_of(st.none(), st.integers(-4, 3), st.lists(st.integers(-3, 2), min_size=1, max_size=2).map(tuple))


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
@bounded
@given(data=st.data())
def test_reductions(name: str, data: Any) -> None:
    x = data.draw(small_arrays([d for d in DTYPES if d != "float16"], edges=name.startswith("nan")))
    options: dict[str, Any] = {"axis": data.draw(AXES)}
    if name == "average" and x.size == 0:
        return  # NumPy divides by the number of results
    if name == "ptp" and x.dtype.kind == "b":
        return  # NumPy looks for a loop last
    if data.draw(st.booleans()):
        options["keepdims"] = data.draw(st.booleans())
    if "d" in REDUCTIONS[name] and data.draw(st.booleans()):
        options["ddof"] = data.draw(st.integers(0, 2))
    if name in ("sum", "prod", "max", "min", "mean", "var", "std") and x.ndim and data.draw(st.integers(0, 3)) == 0:
        options["where"] = data.draw(small_arrays(["bool"], st.just(x.shape)))
        if options["where"].shape != x.shape:
            options["where"] = options["where"].T
    if name in ("sum", "prod", "max", "min") and data.draw(st.integers(0, 3)) == 0:
        options["initial"] = 2
    compare_functions(name, (x,), options, 256)


SCANS = ["cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod", "diff", "ediff1d"]


@pytest.mark.parametrize("name", SCANS)
@bounded
@given(data=st.data())
def test_scans(name: str, data: Any) -> None:
    x = data.draw(small_arrays([d for d in DTYPES if d != "float16"]))
    options: dict[str, Any] = {} if name == "ediff1d" else {"axis": data.draw(st.integers(-3, 2))}
    if name.startswith("cumulative"):
        options["include_initial"] = data.draw(st.booleans())
    if name == "diff":
        options["n"] = data.draw(st.integers(-1, 3))
    compare_functions(name, (x,), options, 64)


# --- manipulation ---------------------------------------------------------------------------------

NUMBERS = st.integers(-4, 4)
MANIPULATIONS: dict[str, Any] = {
    "reshape": lambda d, x: (
        x,
        d(st.sampled_from([(-1,), x.shape[::-1], (x.size, 1), (2, -1), (3, 3)])),
        d(st.sampled_from("CF")),
    ),
    "ravel": lambda d, x: (x, d(st.sampled_from("CF"))),
    "transpose": lambda d, x: (x, d(st.one_of(st.none(), st.permutations(range(x.ndim)).map(tuple), st.just((0, 0))))),
    "moveaxis": lambda d, x: (x, d(NUMBERS), d(NUMBERS)),
    "swapaxes": lambda d, x: (x, d(NUMBERS), d(NUMBERS)),
    "rollaxis": lambda d, x: (x, d(NUMBERS), d(NUMBERS)),
    "expand_dims": lambda d, x: (x, d(NUMBERS)),
    "squeeze": lambda d, x: (x, d(st.one_of(st.none(), NUMBERS))),
    "flip": lambda d, x: (x, d(AXES)),
    "fliplr": lambda d, x: (x,),
    "flipud": lambda d, x: (x,),
    "rot90": lambda d, x: (x, d(NUMBERS), d(st.sampled_from([(0, 1), (1, 0), (0, 0), (-1, -2)]))),
    "roll": lambda d, x: (x, d(NUMBERS), d(st.one_of(st.none(), NUMBERS))),
    "repeat": lambda d, x: (x, d(NUMBERS if x.size else st.integers(0, 3)), d(st.one_of(st.none(), NUMBERS))),
    "tile": lambda d, x: (x, d(st.lists(st.integers(-1 if x.size else 0, 3), max_size=3).map(tuple))),
    "pad": lambda d, x: (x, d(st.integers(-1, 2)), d(st.sampled_from(["constant", "edge", "reflect", "wrap", "mean"]))),
    "split": lambda d, x: (x, d(st.sampled_from([1, 2, 3, [1, 2], [2, 1], [-1]])), d(NUMBERS)),
    "array_split": lambda d, x: (x, d(st.sampled_from([0, 1, 2, 3, [1, 2]])), d(NUMBERS)),
    "atleast_1d": lambda d, x: (x,),
    "atleast_2d": lambda d, x: (x,),
    "atleast_3d": lambda d, x: (x,),
    "concatenate": lambda d, x: ([x, x], d(st.one_of(st.none(), NUMBERS))),
    "stack": lambda d, x: ([x, x], d(NUMBERS)),
    "vstack": lambda d, x: ([x, x],),
    "hstack": lambda d, x: ([x, x],),
    "dstack": lambda d, x: ([x, x],),
    "column_stack": lambda d, x: ([x, x],),
    "append": lambda d, x: (x, x, d(st.one_of(st.none(), NUMBERS))),
    "delete": lambda d, x: (x, d(NUMBERS), d(st.one_of(st.none(), NUMBERS))),
    "insert": lambda d, x: (x, d(NUMBERS), 1, d(st.one_of(st.none(), NUMBERS))),
    "resize": lambda d, x: (x, d(st.lists(st.integers(-1, 3), max_size=3).map(tuple))),
    "broadcast_to": lambda d, x: (x, d(st.sampled_from([x.shape, (2, *x.shape), (3, 4)]))),
    "diagonal": lambda d, x: (x, d(NUMBERS), d(NUMBERS), d(NUMBERS)),
    "diag": lambda d, x: (x, d(NUMBERS)),
    "diagflat": lambda d, x: (x, d(NUMBERS)),
    "trace": lambda d, x: (x, d(NUMBERS)),
    "tril": lambda d, x: (numpy.atleast_1d(x), d(NUMBERS)),
    "triu": lambda d, x: (numpy.atleast_1d(x), d(NUMBERS)),
    "unstack": lambda d, x: (x,),
    "matrix_transpose": lambda d, x: (x,),
}


@pytest.mark.parametrize("name", sorted(MANIPULATIONS))
@bounded
@given(data=st.data())
def test_manipulation(name: str, data: Any) -> None:
    compare_functions(name, MANIPULATIONS[name](data.draw, data.draw(small_arrays())), {}, 4)


# --- sorting and searching ------------------------------------------------------------------------

ONE_AXIS = st.one_of(st.none(), st.integers(-3, 2))
SORTING: dict[str, Any] = {
    "sort": lambda d, x: (x, d(ONE_AXIS)),
    "sort_complex": lambda d, x: (x,),
    "argmax": lambda d, x: (x, d(ONE_AXIS)),
    "argmin": lambda d, x: (x, d(ONE_AXIS)),
    "nanargmax": lambda d, x: (x, d(ONE_AXIS)),
    "nanargmin": lambda d, x: (x, d(ONE_AXIS)),
    "unique": lambda d, x: (x, d(st.booleans()), d(st.booleans()), d(st.booleans())),
    "isin": lambda d, x: (x, x.reshape(-1)[:2]),
    "searchsorted": lambda d, x: (numpy.sort(x.reshape(-1)), x, d(st.sampled_from(["left", "right", "middle"]))),
    "packbits": lambda d, x: (x, d(ONE_AXIS), d(st.sampled_from(["big", "little"]))),
    "array_equal": lambda d, x: (x, x, d(st.booleans())),
    "array_equiv": lambda d, x: (x, x[..., :1]) if x.ndim else (x, x),
}


@pytest.mark.parametrize("name", sorted(SORTING))
@bounded
@given(data=st.data())
def test_sorting_and_searching(name: str, data: Any) -> None:
    x = data.draw(small_arrays(edges=name != "searchsorted"))
    compare_functions(name, SORTING[name](data.draw, x), {}, 0)


# --- statistics -----------------------------------------------------------------------------------

QS = st.one_of(st.floats(0, 1), st.lists(st.floats(0, 1), max_size=3), st.just(1.5))
METHODS = st.sampled_from(["linear", "lower", "higher", "nearest", "midpoint", "hazen", "median_unbiased", "best"])
STATISTICS: dict[str, Any] = {
    "quantile": lambda d, x: ((x, d(QS), d(AXES)), {"method": d(METHODS), "keepdims": d(st.booleans())}),
    "nanquantile": lambda d, x: ((x, d(QS if x.size else st.floats(0, 1)), d(AXES)), {"keepdims": d(st.booleans())}),
    "cov": lambda d, x: ((x,), {"rowvar": d(st.booleans()), "bias": d(st.booleans())}),
    "histogram": lambda d, x: ((x, d(st.integers(-1, 4)), d(st.sampled_from([(-1, 1), (0, 3), (2, 1)]))), {}),
    "digitize": lambda d, x: ((x, numpy.array([-1.0, 0.0, 1.0])), {"right": d(st.booleans())}),
    "trapezoid": lambda d, x: ((x,), {"axis": d(st.integers(-2, 1))}),
    "gradient": lambda d, x: ((x,), {"axis": d(st.integers(-2, 1)), "edge_order": d(st.integers(1, 2))}),
    "unwrap": lambda d, x: ((x,), {"axis": d(st.integers(-2, 1))}),
    "bincount": lambda d, x: ((x,), {"minlength": d(st.integers(-1 if x.dtype.kind == "i" else 0, 5))}),
    "polyval": lambda d, x: ((numpy.array([1.0, -2.0, 0.5], "float64"), x), {}),
    "nan_to_num": lambda d, x: ((x,), {"nan": 2.0}),
    "convolve": lambda d, x: ((x, x[:2] if x.ndim else x, d(st.sampled_from(["full", "same", "valid"]))), {}),
    "interp": lambda d, x: ((x, numpy.array([-1.0, 0.0, 2.0]), numpy.array([3.0, 1.0, 2.0])), {}),
}


@pytest.mark.parametrize("name", sorted(STATISTICS))
@bounded
@given(data=st.data())
def test_statistics(name: str, data: Any) -> None:
    x = data.draw(small_arrays(["int32", "int64", "float32", "float64"], edges=name in ("nanquantile", "nan_to_num")))
    args, options = STATISTICS[name](data.draw, x)
    compare_functions(name, args, options, 256)
