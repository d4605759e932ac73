"""The rest of NumPy's namespace: windows, polynomials, bins of several axes, bits, queries."""

import numpy

from tests.ops.cases.statistics import WITH_NAN
from tests.ops.cases.table import ALL, ZERO, Case, Options, row

A = (0,)
AB = (0, 1)


def blocks(x, *shape):
    """Whole numbers of any dtype with zeros among them."""
    return x.order(*shape) * (x.order(*shape) > 0)


def infinite(x):
    """Infinities among other numbers."""
    return numpy.array([1, numpy.inf, -numpy.inf, numpy.nan], x.dtype)


SOME = numpy.arange(12).reshape(3, 4) % 3 != 1


def masked(**options):
    """Samples of a reduction with masks that leave elements in each row and column."""
    return [
        lambda x: (x(3, 4), Options(where=SOME, **options)),
        lambda x: (x(3, 4), 0, Options(where=SOME[:, 2:3], keepdims=True, **options)),
    ]


ARGUMENTS: list[Case] = [
    row("np.sum", *masked(), lambda x: (x(3, 4), 1, Options(initial=3)), dtypes="bifc", grad=A, tolerance=8),
    row("np.prod", *masked(), lambda x: (x(3, 4), 1, Options(initial=3)), dtypes="if", grad=A, tolerance=16),
    row("np.max", *masked(initial=-1), lambda x: (x(3, 0), 1, Options(initial=1)), dtypes="if", grad=A),
    row("np.min", *masked(initial=1), lambda x: (x(3, 0), 1, Options(initial=1)), dtypes="if", grad=A),
    row("np.all", *masked(), dtypes=ALL, grad=ZERO),
    row("np.any", *masked(), dtypes=ALL, grad=ZERO),
    row("np.mean", *masked(), dtypes="ifc", grad=A, tolerance=8),
    row("np.var", *masked(), lambda x: (x(3, 4), 0, Options(mean=x(1, 4))), dtypes="fc", grad=A, tolerance=32),
    row("np.std", *masked(ddof=1), dtypes="ifc", grad=A, tolerance=32),
    row("np.nanmax", *masked(initial=-1), dtypes="f", grad=A),
    row("np.nanmin", *masked(initial=1), dtypes="f", grad=A),
    row("np.nansum", *masked(), dtypes="f", grad=A, tolerance=8),
    row("np.nanprod", *masked(), dtypes="f", grad=A, tolerance=16),
    row("np.nanmean", *masked(), dtypes="f", grad=A, tolerance=8),
    row("np.nanvar", *masked(), dtypes="f", grad=A, tolerance=32),
    row("np.average", lambda x: (x(3, 4), Options(returned=True)),
        lambda x: (x(3, 4), 1, x(4, low=1), Options(returned=True, keepdims=True)), dtypes="f", grad=A, tolerance=16),
    row("np.diff", lambda x: (x(3, 4), Options(prepend=x(3, 1), append=x(3, 2))),
        lambda x: (x(3, 4), 2, 0, Options(prepend=0)), dtypes="ifc", grad=A, tolerance=4),
    row("np.cov", lambda x: (x(3, 5), Options(dtype="float64")), dtypes="f", grad=A, tolerance=64),
    row("np.concatenate", lambda x: ((x(2), x(3)), Options(dtype="complex128")), dtypes=ALL, grad=A),
    row("np.reshape", lambda x: (x(3, 4), (2, 6), "F"), dtypes=ALL, grad=A),
    row("np.ravel", lambda x: (x(3, 4), "F"), lambda x: (x(3, 4), "K"), dtypes=ALL, grad=A),
    row("np.atleast_2d", lambda x: (x(), x(2)), dtypes=ALL, grad=A),
    row("np.pad", lambda x: (x(3, 4), 2, "linear_ramp", Options(end_values=1)),
        lambda x: (x(3, 4), {1: (1, 2)}, "mean", Options(stat_length=2)),
        lambda x: (x(3, 4), 1, Options(constant_values=((1, 2), (3, 4)))), dtypes="if"),
    row("np.round", lambda x: (x(3, 4), 1), grad=ZERO),
    row("np.unwrap", lambda x: (x(9), Options(period=4)), lambda x: (x(9), Options(period=3)), dtypes="i"),
    row("np.searchsorted", lambda x: (x.order(5), x(3), "left", numpy.arange(5)), dtypes="f", grad=ZERO),
    row("np.histogram", *(lambda x, rule=rule: (x(50), rule) for rule in ("auto", "fd", "sqrt")), dtypes="iuhf",
        tolerance=16, waits=True),
    row("np.unique", lambda x: (x(4, 2), Options(axis=0, return_counts=True)),
        lambda x: (numpy.full(3, numpy.nan, x.dtype), Options(equal_nan=False)), waits=True),
    row("np.array_equal", lambda x: (WITH_NAN[0](x)[0], WITH_NAN[0](x)[0], True), grad=ZERO,
        reference=lambda *a: numpy.asarray(numpy.array_equal(*a))),
    row("np.quantile", lambda x: (x(3, 4), 0.5, 1, Options(method="inverted_cdf", weights=x(4, low=1))),
        lambda x: (x(3, 4), [0.1, 0.9], 0, Options(keepdims=True)), tolerance=8),
    row("np.histogram_bin_edges", *(lambda x, rule=rule: (x(50), rule, (-1, 1)) for rule in ("rice", "scott")),
        dtypes="iuf", tolerance=16, waits=True),
]  # fmt: skip

NANS: list[Case] = [
    row("np.nanargmax", *WITH_NAN[:2], dtypes="iuf", grad=ZERO),
    row("np.nanargmin", *WITH_NAN[:2], dtypes="iuf", grad=ZERO),
    row("np.nanmedian", *WITH_NAN, dtypes="if", tolerance=8),
    row("np.nanquantile", lambda x: (*WITH_NAN[1](x)[:1], 0.3, 0), lambda x: (WITH_NAN[0](x)[0], [0.0, 0.5]),
        dtypes="if", tolerance=8),
    row("np.nanpercentile", lambda x: (*WITH_NAN[1](x)[:1], 30, 0), dtypes="if", tolerance=8),
]  # fmt: skip

WINDOWS: list[Case] = [
    *(row(f"np.{name}", lambda x: (7,), lambda x: (1,), lambda x: (0,), tolerance=8)
      for name in ("bartlett", "blackman", "hamming", "hanning")),
    row("np.kaiser", lambda x: (7, 3.0), lambda x: (1, 2.0), tolerance=8),
    row("np.i0", lambda x: (x(3, 4),), dtypes="if", tolerance=8),
    row("np.angle", lambda x: (x(3, 4),), lambda x: (x(3, 4), True), dtypes="fc", grad=A, tolerance=8),
    row("np.unwrap", lambda x: (8 * x(3, 5),), lambda x: (8 * x(5, 3), None, 0), lambda x: (4 * x(7), 3.0),
        dtypes="f", grad=A, tolerance=64),
    row("np.sort_complex", lambda x: (x(2, 9),), dtypes="iufc", grad=A),
]  # fmt: skip

POLYNOMIALS: list[Case] = [
    row("np.polyval", lambda x: (x(4), x(3, 2)), lambda x: (x(1), x()), dtypes="ifc",
        grad=AB, tolerance=16),
    row("np.polyadd", lambda x: (x(4), x(2)), lambda x: (x(2), x(3)), dtypes="ifc", grad=AB),
    row("np.polysub", lambda x: (x(4), x(2)), lambda x: (x(2), x(3)), dtypes="ifc", grad=AB),
    row("np.polymul", lambda x: (x(4, low=1), x(2, low=1)), dtypes="ifc", grad=AB, tolerance=16),
    row("np.polyder", lambda x: (x(4),), lambda x: (x(4), 2), lambda x: (x(2), 3), dtypes="ifc", grad=A),
    row("np.polyint", lambda x: (x(4),), lambda x: (x(4), 2, [1.0, 2.0]), dtypes="fc", grad=A, tolerance=8),
    row("np.polydiv", lambda x: (numpy.array([3, 5, 2], x.dtype), numpy.array([2, 1], x.dtype)), dtypes="fc",
        tolerance=8, waits=True),
    row("np.roots", lambda x: (x(4, low=1),), tolerance=200, waits=True),
    row("np.poly", lambda x: (x(4),), lambda x: (x(3, 3),), tolerance=200),
    row("np.polyfit", lambda x: (x.order(7), x(7), 2), lambda x: (x.order(7), x(7, 2), 1),
        lambda x: (x.order(7), x(7), 1, Options(w=x(7, low=1), cov=True)),
        lambda x: (x.order(7), x(7, 2), 1, Options(cov=True)),
        lambda x: (x.order(7), x(7, 2), 1, Options(cov="unscaled")), tolerance=2000),
]  # fmt: skip

BINS: list[Case] = [
    row("np.histogramdd", lambda x: (x(9, 2), 3), lambda x: (x(9, 2), (2, numpy.array([-2, 0, 1, 2]))),
        lambda x: (x(9, 2), 3, ((-1, 1), None), True), lambda x: (x(9, 1), 3, None, None, x(9)), tolerance=16),
    row("np.histogram2d", lambda x: (x(9), x(9), 3), lambda x: (x(9), x(9), (2, 3), ((-1, 1), (0, 2))),
        lambda x: (x(9), x(9), numpy.array([-2, 0, 1, 2])), tolerance=16),
    row("np.histogram_bin_edges", lambda x: (x(9), 4), lambda x: (x(9), 4, (-1, 1)), tolerance=8),
    row("np.packbits", lambda x: (x(3, 11),), lambda x: (x(3, 11), 0, "little"), lambda x: (x(3, 11), 1), dtypes="biu"),
    row("np.unpackbits", lambda x: (numpy.arange(6, dtype="uint8").reshape(2, 3),),
        lambda x: (numpy.arange(6, dtype="uint8").reshape(2, 3), 1, 5, "little"),
        lambda x: (numpy.arange(6, dtype="uint8").reshape(2, 3), 0, -3)),
]  # fmt: skip

QUERIES: list[Case] = [
    row("np.isreal", lambda x: (x(3, 4),), dtypes=ALL, grad=ZERO),
    row("np.iscomplex", lambda x: (x(3, 4),), dtypes=ALL, grad=ZERO),
    row("np.isposinf", lambda x: (infinite(x),), dtypes="hf", grad=ZERO),
    row("np.isneginf", lambda x: (infinite(x),), dtypes="hf", grad=ZERO),
    row("np.array_equiv", lambda x: (x(3), numpy.stack([x(3), x(3)])), lambda x: (x(3), x(4)), dtypes=ALL, grad=ZERO,
        reference=lambda *a: numpy.asarray(numpy.array_equiv(*a))),
    row("np.asarray_chkfinite", lambda x: (x(3, 4),), dtypes=ALL),
    row("np.real_if_close", lambda x: (x(3) * (1 + 0j),), lambda x: (x(3).real + 0j,), dtypes="c", waits=True),
    row("np.diagflat", lambda x: (x(2, 2),), lambda x: (x(3), -1), dtypes=ALL, grad=A),
    row("np.asfortranarray", lambda x: (x(2, 3),), dtypes=ALL, grad=A),
    row("np.require", lambda x: (x(2, 3), None, "F"), lambda x: (x(2, 3).T, None, "C"), dtypes=ALL, grad=A),
    row("np.ascontiguousarray", lambda x: (x(2, 3).T,), lambda x: (x(), x.dtype), dtypes=ALL, grad=A),
    row("np.row_stack", lambda x: ((x(3), x(2, 3)),), dtypes=ALL, grad=A, reference=numpy.vstack),
    row("np.trim_zeros", lambda x: (blocks(x, 7),), lambda x: (blocks(x, 7), "f"), dtypes="if", waits=True),
    row("np.fromiter", lambda x: ([1, 2, 3], x.dtype), lambda x: (range(9), x.dtype, 4), dtypes="if"),
    row("np.frombuffer", lambda x: (b"12345678" * 4, x.dtype), lambda x: (bytearray(b"87654321"), x.dtype, 1),
        lambda x: (b"1234" + b"87654321" * 2, x.dtype, -1, 4), dtypes="if"),
    row("np.fromstring", lambda x: ("1 2 3", x.dtype, Options(sep=" ")), dtypes="if"),
    *(row(f"np.emath.{name}", lambda x: (x(3, 4),), lambda x: (abs(x(3)) / 4,), dtypes="fc", tolerance=16, waits=True)
      for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh")),
    row("np.emath.logn", lambda x: (numpy.array(3, x.dtype), x(3, 4)), dtypes="f", tolerance=32, waits=True),
    row("np.emath.power", lambda x: (x(3, 4), 2.5), dtypes="f", tolerance=64, waits=True),
]  # fmt: skip

ROWS = NANS + WINDOWS + POLYNOMIALS + BINS + QUERIES + ARGUMENTS
