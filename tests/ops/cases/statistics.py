"""Statistics, sets, and searches in sorted data."""

import numpy

from tests.ops.cases.reduction import AXES
from tests.ops.cases.table import ALL, ZERO, Case, Options, row

A = (0,)
AB = (0, 1)


def holes(x, *shape):
    """Different numbers, some of them NaN; in each row and column there are numbers."""
    values = x.order(*shape)
    if x.dtype.kind in "fc":
        values.reshape(-1)[:: shape[-1] + 1] = numpy.nan
    return values


WITH_NAN = [
    lambda x: (holes(x, 3, 4),),
    lambda x: (holes(x, 3, 4), 0),
    lambda x: (holes(x, 2, 3, 4), (0, -1)),
    lambda x: (holes(x, 3, 4), 1, Options(keepdims=True)),
]

STATISTICS: list[Case] = [
    row("np.nanmax", *WITH_NAN, dtypes="iuhf", grad=A),
    row("np.nanmin", *WITH_NAN, dtypes="iuhf", grad=A),
    row("np.nanprod", *WITH_NAN, *AXES, dtypes="fc", grad=A, tolerance=16, low=-1, high=1),
    row("np.nanmean", *WITH_NAN, *AXES, dtypes=ALL, grad=A, tolerance=8),
    row("np.nanvar", *WITH_NAN, *AXES, lambda x: (holes(x, 3, 4), 0, Options(ddof=1)), dtypes="bifc", grad=A,
        tolerance=32),
    row("np.nanstd", *WITH_NAN, *AXES, lambda x: (holes(x, 3, 4), 0, Options(ddof=1)), dtypes="bifc", grad=A,
        tolerance=32),
    row("np.nancumsum", lambda x: (holes(x, 3, 4),), lambda x: (holes(x, 3, 4), 0), lambda x: (x(3, 4), -1),
        dtypes="biufc", grad=A, tolerance=8),
    row("np.nancumprod", lambda x: (holes(x, 2, 3),), lambda x: (holes(x, 3, 4), 0), dtypes="fc", grad=A,
        tolerance=16),
    row("np.nan_to_num", lambda x: (holes(x, 3, 4),), lambda x: (holes(x, 3, 4), True, 2.5),
        dtypes="hfc", grad=A),
    row("np.cov", lambda x: (x(3, 5),), lambda x: (x(5),), lambda x: (x(5), x(5)),
        lambda x: (x(5, 3), x(5, 2), False), lambda x: (x(3, 5), None, True, True),
        lambda x: (x(3, 5), x(2, 5), Options(ddof=2)),
        lambda x: (x(3, 5), Options(fweights=numpy.arange(1, 6))),
        lambda x: (x(3, 5), Options(aweights=numpy.linspace(0.5, 2, 5).astype(x.dtype), ddof=0)),
        lambda x: (x(3, 5), Options(fweights=numpy.arange(1, 6), aweights=numpy.arange(2, 7))),
        dtypes="fc", grad=A, tolerance=64),
    row("np.corrcoef", lambda x: (x(3, 5),), lambda x: (x(5),), lambda x: (x(5), x(5)),
        lambda x: (x(5, 3), x(5, 2), False), dtypes="fc", grad=A, tolerance=64),
    row("np.digitize", lambda x: (x(3, 4), numpy.sort(x.order(5))),
        lambda x: (x(3), numpy.sort(x.order(5))[::-1], True),
        lambda x: (x(), numpy.sort(x.order(5))), dtypes="iuhf", grad=ZERO),
    row("np.histogram", lambda x: (x(9), 4, (-2, 2)),
        lambda x: (x(3, 4), numpy.array([-2, 0, 0.5, 2]).astype(x.dtype)),
        lambda x: (x(9), 4, (-2, 2), True), lambda x: (x(9), 3, (-1, 1), False, x(9)),
        lambda x: (x.order(9), 3), lambda x: (x(9), Options(weights=x(9), density=True, range=(-3, 3))),
        tolerance=16),
]  # fmt: skip

SETS: list[Case] = [
    row("np.isin", lambda x: (x(3, 4), x(5)), lambda x: (x.order(2, 3), x.order(3), True),
        lambda x: (x(3, 4), x(2, 2), Options(invert=True)), dtypes="biuhfc", grad=ZERO),
    row("np.intersect1d", lambda x: (x(9), x(2, 5)), lambda x: (x.order(5), x.order(4), True),
        lambda x: (x(9), x(9), Options(return_indices=True)), dtypes="biuhfc", waits=True),
    row("np.union1d", lambda x: (x(9), x(2, 5)), dtypes="biuhfc", waits=True),
    row("np.setdiff1d", lambda x: (x(9), x(2, 5)), lambda x: (x.order(5), x.order(4), True), dtypes="biuhfc",
        waits=True),
    row("np.setxor1d", lambda x: (x(9), x(2, 5)), lambda x: (x.order(5), x.order(4), True), dtypes="biuhfc",
        waits=True),
    row("np.unique_all", lambda x: (x(2, 5),), dtypes="biuhf", waits=True),
    row("np.unique_counts", lambda x: (x(2, 5),), dtypes="biuhf", waits=True),
    row("np.unique_inverse", lambda x: (x(2, 5),), dtypes="biuhf", waits=True),
    row("np.unique_values", lambda x: (x(2, 5),), dtypes="biuhf", waits=True, reference=numpy.unique),
]  # fmt: skip

ROWS = STATISTICS + SETS
