"""Functions of many arguments beside NumPy's, over tables of them: values, shapes, kinds of dtypes and exceptions."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

from forerun import np

RNG = numpy.random.default_rng(5)
F = RNG.normal(size=(4, 5))
NAN = numpy.nan
HOLES = numpy.array([[1.0, NAN, 3.0, -2.0], [NAN, NAN, NAN, NAN], [4.0, 5.0, NAN, 0.5]])


def results_or_exception(call: Callable[..., Any], module: Any, args: tuple[Any, ...]) -> Any:
    """Return the results of a call as a list of NumPy arrays, or the exception."""
    place = lambda a: module.asarray(a) if isinstance(a, numpy.ndarray) else a
    try:
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, where there is nothing to count
            found = call(module, *map(place, args))
        return [numpy.asarray(f) for f in (found if isinstance(found, (tuple, list)) else [found])]
    except Exception as error:
        return error


def compare_call(call: Callable[..., Any], *args: Any) -> None:
    got, want = results_or_exception(call, np, args), results_or_exception(call, numpy, args)
    if isinstance(want, Exception):
        assert isinstance(got, Exception), (args, got, want)
        assert isinstance(want, type(got)) or isinstance(got, type(want)), (args, got, want)
        return
    assert not isinstance(got, Exception), (args, got, want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert (g.shape, g.dtype.kind) == (w.shape, w.dtype.kind), (args, g, w)
        numpy.testing.assert_allclose(g, w, rtol=2e-3, atol=1e-4, err_msg=str(args))


def every(*values: list[Any]) -> Iterator[tuple[Any, ...]]:
    return itertools.product(*values)


def vector_of(*values: float, dtype: str = "float64") -> numpy.ndarray:
    return numpy.array(values, dtype)


def test_searchsorted():
    sorters = [None, [1, 2, 3, 0], vector_of(1, 2), numpy.zeros((1, 1), int), [9, 9, 9, 9], [-1, 0, 1, 2]]
    for side, sorter, x in every(["left", "right", "mid"], sorters, [vector_of(0, 2, 9), numpy.array(NAN)]):
        sorter = numpy.array(sorter) if isinstance(sorter, list) else sorter
        compare_call(lambda m, a, v, s, side: m.searchsorted(a, v, side, s), vector_of(4, 1, 2, 2), x, sorter, side)


def test_digitize():
    bins = [
        vector_of(1, 2),
        vector_of(2, 1),
        vector_of(1, 1),
        vector_of(1, 3, 2),
        vector_of(),
        numpy.ones((1, 1)),
        vector_of(3),
    ]
    for right, b, x in every([False, True], bins, [vector_of(0, 1, 2, 3), numpy.array(NAN), numpy.array([1j])]):
        compare_call(lambda m, x, b, right: m.digitize(x, b, right), x, b, right)


def test_interp():
    points = [vector_of(1, 2, 3), vector_of(3, 1, 2), vector_of(1), vector_of()]
    places = [numpy.array(2.5), vector_of(0, 1.5, 3, 9, NAN, numpy.inf), vector_of()]
    for left, right, period, xp, x, turn in every([None, 5], [None, 7.0], [None, 4.0, -4, 0], points, places, [1, 1j]):
        fp = (numpy.arange(len(xp)) * 2.0 - 1) * turn
        compare_call(lambda m, *args: m.interp(*args), x, xp, fp, left, right, period)


def test_gradient():
    long, wide = vector_of(0, 1, 3, 4), vector_of(0, 1, 2, 4, 8)
    spacings: list[tuple[Any, ...]] = [
        (), (2.0,), (2.0, 3.0), (long,), (long, wide), (2.0, wide), (numpy.zeros((2, 2)),), (1, 2, 3),
        (vector_of(0, 1, 2, 3, dtype="int64"),),
    ]  # fmt: skip
    for order, axis, spacing in every([1, 2, 3], [None, 0, -1, (1, 0), (0, 0), 2, ()], spacings):
        compare_call(lambda m, f, o, a, *s: m.gradient(f, *s, axis=a, edge_order=o), F, order, axis, *spacing)


@pytest.mark.parametrize("dtype", ["float64", "int64", "int8", "int16", "uint8", "bool"])
def test_unwrap(dtype):
    x = (RNG.normal(size=(3, 4)) * 6).astype(dtype)
    for axis, period, discont in every([-1, 0, 2], [3, 6.0, 4], [None, 1.0, 5]):
        compare_call(lambda m, x, d, a, p: m.unwrap(x, d, a, period=p), x, discont, axis, period)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_unwrapped_integers_keep_their_dtype(dtype):
    x = numpy.array([5, 2, 7, 1, 120, 3], dtype)
    found, expected = np.unwrap(np.array(x, dtype=dtype), period=4), numpy.unwrap(x, period=4)
    assert found.dtype == expected.dtype == dtype
    assert found.tolist() == expected.tolist()


PAD_MODES = ["constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap"]


@pytest.mark.parametrize("mode", [*PAD_MODES, "other"])
def test_pad(mode):
    widths = [1, (1, 2), ((1, 2), (0, 3)), {-1: (1, 2)}, -1, 1.5, ((1, 2), (1, 2), (1, 2)), 0]
    options: list[dict[str, Any]] = [
        {}, {"constant_values": ((1, 2), (3, 4))}, {"end_values": 2}, {"stat_length": 2}, {"stat_length": 0},
        {"reflect_type": "odd"}, {"foo": 1},
    ]  # fmt: skip
    for x, width, kw in every([F[:3], (F[:3] * 5).astype(int), F[:0]], widths, options):
        compare_call(lambda m, x, w, kw: m.pad(x, w, mode, **kw), x, width, kw)


def test_pad_by_a_function():
    def fill(row: numpy.ndarray, widths: tuple[int, int], axis: int, options: dict[str, Any]) -> None:
        row[: widths[0]] = options.get("first", 7)
        row[row.size - widths[1] :] = axis

    compare_call(lambda m, x: m.pad(x, 2, fill), F)
    compare_call(lambda m, x: m.pad(x, ((1, 2), (0, 1)), fill, first=3), F)

    def broken(*args: Any) -> None:
        raise KeyError("seen")

    with pytest.raises(KeyError):
        np.pad(np.array(F), 1, broken).wait()


def test_cov():
    x, y = RNG.normal(size=(3, 6)), RNG.normal(size=(2, 6))
    counts = [
        None,
        vector_of(1, 2, 0, 1, 1, 3),
        numpy.full(6, 1.5),
        numpy.full(6, -1),
        numpy.ones((1, 6)),
        numpy.ones(5),
    ]
    shares = [None, vector_of(0.5, 1, 2, 1, 1, 1), numpy.full(6, -1.0), numpy.ones((1, 6))]
    cov = lambda m, x, y, f, a, rows, bias, ddof: m.cov(x, y, rows, bias, ddof, f, a)
    for rows, bias, ddof, more in every([True, False], [False, True], [None, 0, 2, 6, 1.5], [None, y]):
        turned = [v if v is None or rows else v.T for v in (x, more)]
        for f, a in [(f, None) for f in counts] + [(None, a) for a in shares] + [(counts[1], shares[1])]:
            compare_call(cov, *turned, f, a, rows, bias, ddof)
    for dtype in ("float64", "int64"):
        compare_call(lambda m, x, dtype: m.cov(x, dtype=dtype), x, dtype)
        compare_call(lambda m, x, y, dtype: m.corrcoef(x, y, dtype=dtype), x, y, dtype)
    compare_call(lambda m, x, y: m.corrcoef(x, y, False), x.T, y.T)
    compare_call(lambda m, x: m.corrcoef(x), x + 1j * x[::-1])


def test_average():
    weights = [None, *map(RNG.random, ((3, 4), 4, 3, (4, 3), 5)), numpy.zeros((3, 4)), numpy.ones((3, 4), int)]
    axes = [None, 0, 1, (0, 1), (1, 0), 2, ()]
    for x, axis, keep, returned, w in every([HOLES, F[:3, :4] * 1j], axes, [False, True], [False, True], weights):
        compare_call(lambda m, x, w, a, r, k: m.average(x, a, w, r, keepdims=k), x, w, axis, returned, keep)


# --- data with NaN in it --------------------------------------------------------------------------

MASKS = [True, numpy.array([True, False, True, True]), HOLES > 0]


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmax", "nanmin"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_nan_reductions_with_initial(dtype, name):
    x = numpy.nan_to_num(HOLES).astype(dtype) if dtype == "int64" else HOLES
    call = lambda m, x, w, a, k, i: getattr(m, name)(
        x, axis=a, keepdims=k, where=w, **({} if i is None else {"initial": i})
    )
    for axis, keep, mask, initial in every([None, 0, -1, (0, 1), 2, ()], [False, True], MASKS, [None, 2, 2.0]):
        compare_call(call, x, mask, axis, keep, initial)
    for name_of_sum in ("sum", "prod", "max", "min"):
        compare_call(lambda m, x, of: getattr(m, of)(x, initial=2.5), x, name_of_sum)


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
def test_nan_means(name):
    for axis, keep, mask in every([None, 0, -1, (0, 1), 2, ()], [False, True], MASKS):
        call = lambda m, x, w, a, k: getattr(m, name)(x, axis=a, keepdims=k, where=w)
        compare_call(call, HOLES, mask, axis, keep)
    for dtype in ("float64", "int64"):
        compare_call(lambda m, x, d: getattr(m, name)(x, axis=1, dtype=d), HOLES, dtype)
    if name != "nanmean":
        for ddof, correction in every([0, 1, 0.5], [0, 1]):
            call = lambda m, x, d, c: getattr(m, name)(x, axis=1, ddof=d, correction=c)
            compare_call(call, HOLES, ddof, correction)


@pytest.mark.parametrize("method", ["linear", "lower", "inverted_cdf", "other"])
def test_nan_quantiles(method):
    whole = numpy.nan_to_num(HOLES).astype("int64")
    for x, axis, keep, q in every([HOLES, whole], [None, 0, 1, (0, 1), 2], [False, True], [0.3, vector_of(0.1, 0.9)]):
        compare_call(lambda m, x, q, a, k: m.nanquantile(x, q, axis=a, keepdims=k, method=method), x, q, axis, keep)


def test_einsum_casting():
    a, b = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 2))
    rules = ["safe", "same_kind", "unsafe", "no", "any"]
    for left, dtype, casting in every(["float64", "int64", "complex128", "bool"], [None, "float64", "int32"], rules):
        call = lambda m, x, y, d, c: m.einsum("ij,jk->ik", x, y, dtype=d, casting=c)
        compare_call(call, a.astype(left), b, dtype, casting)
    for order in ("K", "C", "A", "Q"):
        compare_call(lambda m, x, y, o: m.einsum("ij,jk->ik", x, y, order=o), a, b, order)
    with pytest.raises(ValueError, match="order must be one of K, A, C"):
        np.einsum("ij->ji", np.array(a), order="F")
