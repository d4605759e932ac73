"""Reductions, scans, sorting and products."""

import numpy

import forerun.np
from tests.ops.cases.table import ALL, NONE, ZERO, Case, Options, row

A = (0,)
AB = (0, 1)
ABC = (0, 1, 2)
NUMBERS = "iuhfc"

AXES = [
    lambda x: (x(3, 4),),
    lambda x: (x(3, 4), 0),
    lambda x: (x(2, 3, 4), (0, -1)),
    lambda x: (x(2, 3, 4), 1, Options(keepdims=True)),
]
ORDER = [
    lambda x: (x.order(3, 4),),
    lambda x: (x.order(3, 4), 1),
    lambda x: (x.order(3, 4), 0, Options(keepdims=True)),
]


def logsumexp(x, axis=None, keepdims=False):
    """Without overflow: with the largest element taken out."""
    top = x.max(axis, keepdims=True)
    result = numpy.log(numpy.sum(numpy.exp(x - top), axis, keepdims=True)) + top
    return result if keepdims else result.squeeze(axis)


def cumulative(scan, first):
    """NumPy has these functions since 2.1: a scan, with its initial value in front of it."""

    def function(x, axis=0, include_initial=False):
        found = scan(x, axis)
        edge = numpy.full_like(found.take([0], axis), first)
        return numpy.concatenate([edge, found], axis) if include_initial else found

    return function


REDUCTIONS: list[Case] = [
    row("np.sum", *AXES, lambda x: (x(0, 3), 0), dtypes=ALL, grad=A, tolerance=4),
    row("np.prod", *AXES, lambda x: (x(0, 3), 0), dtypes="b" + NUMBERS, grad=A, tolerance=16, low=-1, high=1),
    row("np.max", *ORDER, dtypes=NUMBERS, grad=A),
    row("np.min", *ORDER, dtypes=NUMBERS, grad=A),
    row("np.all", *AXES, lambda x: (x(0, 3), 0), dtypes=ALL, grad=ZERO),
    row("np.any", *AXES, lambda x: (x(0, 3), 0), dtypes=ALL, grad=ZERO),
    row("np.count_nonzero", *AXES, dtypes=ALL, grad=ZERO),
    row("np.mean", *AXES, dtypes=ALL, grad=A, tolerance=4),
    row("np.var", *AXES, lambda x: (x(3, 4), Options(ddof=1)), dtypes=ALL, grad=A, tolerance=16),
    row("np.std", *AXES, dtypes=ALL, grad=A, tolerance=16),
    row("np.ptp", *ORDER, dtypes="iuhf", grad=A),
    row("np.average", lambda x: (x(3, 4),), lambda x: (x(3, 4), 1, x(3, 4, low=1)),
        lambda x: (x(3, 4), 1, x(4, low=1)), lambda x: (x(2, 3, 4), (2, 0), x(4, 2, low=1)), dtypes="f",
        grad=AB, tolerance=16),
    row("np.nansum", *AXES, lambda x: (numpy.where(x.ones(4, 5), x(4, 5), x.dtype.type("nan")), 0),
        dtypes="hfc", grad=A, tolerance=4),
    row("np.logsumexp", *AXES, reference=logsumexp, grad=A, tolerance=8),
    row("np.cumsum", lambda x: (x(3, 4),), lambda x: (x(3, 4), 0), lambda x: (x(3, 4), -1), dtypes=ALL, grad=A,
        tolerance=8),
    row("np.cumprod", lambda x: (x(3, 4),), lambda x: (x(3, 4), 0), dtypes=ALL, grad=A, tolerance=16, low=-1,
        high=1),
    row("np.diff", lambda x: (x(3, 4),), lambda x: (x(5), 2), lambda x: (x(3, 4), 1, 0), dtypes=ALL, grad=A),
    row("np.trace", lambda x: (x(3, 4),), lambda x: (x(2, 3, 3), 1, 1, 2), dtypes=NUMBERS, grad=A, tolerance=4),
    row("np.sort", lambda x: (x.order(3, 4),), lambda x: (x.order(3, 4), 0), lambda x: (x.order(3, 4), None),
        dtypes="iuhf", grad=A),
    row("np.argsort", lambda x: (x.order(3, 4),), lambda x: (x.order(3, 4), 0),
        lambda x: (x(3, 4), None, "stable"), dtypes="iuhf", grad=ZERO),
    row("np.partition", lambda x: (x.order(3, 7), 3), lambda x: (x.order(5, 2), [1, -1], 0),
        lambda x: (x.order(3, 4), 5, None), dtypes="iuhf", grad=A),
    row("np.argpartition", lambda x: (x.order(3, 7), 3), lambda x: (x.order(5, 2), (1, -1), 0),
        lambda x: (x.order(3, 4), 5, None), dtypes="iuhf", grad=ZERO),
    row("np.lexsort", lambda x: ([x(9) // 3, x(9) // 3],), lambda x: ((x(2, 4), x(2, 4)), 0), lambda x: (x(3, 5),),
        dtypes="iuhf", grad=ZERO),
    row("np.cumulative_sum", lambda x: (x(5),), lambda x: (x(3, 4), Options(axis=0)),
        lambda x: (x(3, 4), Options(axis=-1, include_initial=True)), dtypes=ALL, grad=A, tolerance=8,
        reference=cumulative(numpy.cumsum, 0)),
    row("np.cumulative_prod", lambda x: (x(5),), lambda x: (x(3, 4), Options(axis=0)),
        lambda x: (x(3, 4), Options(axis=-1, include_initial=True)), dtypes=ALL, grad=A, tolerance=16, low=-1,
        high=1, reference=cumulative(numpy.cumprod, 1)),
    row("np.argmax", *ORDER, lambda x: (x(5) * 0,), dtypes=NUMBERS, grad=ZERO),
    row("np.argmin", *ORDER, lambda x: (x(5) * 0,), dtypes=NUMBERS, grad=ZERO),
    row("np.median", *AXES, dtypes="iuhf", grad=NONE, tolerance=2),
    row("np.quantile", lambda x: (x(3, 4), 0.3), lambda x: (x(3, 4), numpy.array([0.1, 0.5]), 0), grad=NONE,
        tolerance=8),
    row("np.percentile", lambda x: (x(3, 4), 30), lambda x: (x(3, 4), numpy.array([10, 50.0]), 0), grad=NONE,
        tolerance=8),
    row("np.searchsorted", lambda x: (numpy.sort(x.order(7)), x(3)),
        lambda x: (numpy.sort(x.order(4)), x(2, 2), "right"), dtypes="iuhf", grad=ZERO),
    row("np.bincount", lambda x: (abs(x.index(5, 9)),), lambda x: (abs(x.index(5, 9)), x(9), 8), waits=True),
    row("np.unique", lambda x: (x(9),), lambda x: (x(2, 5), True, True, True), dtypes="biuhf", waits=True),
]  # fmt: skip

PRODUCTS: list[Case] = [
    row("np.matmul", lambda x: (x(3, 4), x(4, 2)), lambda x: (x(4), x(4, 2)), lambda x: (x(3, 4), x(4)),
        lambda x: (x(4), x(4)), lambda x: (x(2, 1, 3, 4), x(5, 4, 2)), lambda x: (x(2, 3, 4), x(4)),
        lambda x: (x(4), x(2, 4, 3)), lambda x: (x(4, 3).T, x(2, 4).T), lambda x: (x(3, 0), x(0, 2)),
        lambda x: (x(6, 8)[::2, ::-2], x(4, 6)[:, 1::3]), dtypes=ALL, grad=AB, tolerance=16),
    row("np.dot", lambda x: (x(3, 4), x(4, 2)), lambda x: (x(4), x(4)), lambda x: (x(), x(3)),
        lambda x: (x(2, 3, 4), x(5, 4, 2)), lambda x: (x(2, 3, 4), x(4)), dtypes=NUMBERS, grad=AB,
        tolerance=16),
    row("np.vdot", lambda x: (x(3, 4), x(3, 4)), lambda x: (x(4), x(4)), dtypes=NUMBERS, grad=AB, tolerance=16),
    row("np.vecdot", lambda x: (x(3, 4), x(4)), lambda x: (x(3, 4), x(3, 1), Options(axis=0)), dtypes="iufc",
        grad=AB, tolerance=16),
    row("np.inner", lambda x: (x(3, 4), x(2, 4)), lambda x: (x(), x(3)), lambda x: (x(4), x(4)), dtypes=NUMBERS,
        grad=AB, tolerance=16),
    row("np.outer", lambda x: (x(3), x(4)), lambda x: (x(2, 2), x(3)), dtypes=ALL, grad=AB),
    row("np.tensordot", lambda x: (x(2, 3, 4), x(3, 4, 2)), lambda x: (x(3, 4), x(4, 3), ((0, 1), (1, 0))),
        lambda x: (x(3, 4), x(4, 3), 1), lambda x: (x(2), x(3), 0), lambda x: (x(2, 3), x(4, 2), (0, -1)),
        dtypes=NUMBERS, grad=AB, tolerance=16),
    row("np.kron", lambda x: (x(2, 3), x(2, 2)), lambda x: (x(3), x(2, 2)), dtypes=ALL, grad=AB),
    row("np.einsum", lambda x: ("ij,jk->ik", x(2, 3), x(3, 4)), lambda x: ("ij,ij", x(2, 3), x(2, 3)),
        lambda x: ("bij,bjk->bik", x(2, 3, 4), x(2, 4, 2)), lambda x: ("...i,...i->...", x(2, 3), x(3)),
        lambda x: ("i,j->ji", x(2), x(3)), lambda x: ("iij,j->i", x(3, 3, 2), x(2)), lambda x: ("ij->ji", x(2, 3)),
        lambda x: ("ij,jk,kl->li", x(2, 3), x(3, 2), x(2, 4)), lambda x: ("ii", x(3, 3)),
        lambda x: ("ij->", x(2, 3)), lambda x: ("ij,kj", x(2, 3), x(4, 3)),
        lambda x: (x(2, 3), [0, 1], x(4, 3), [2, 1], [2, 0]), lambda x: (x(2, 3), [..., 0], x(3), [0]),
        lambda x: ("ij,jk,kl->li", x(2, 3), x(3, 2), x(2, 4), Options(optimize=True)),
        lambda x: ("ij,jk,kl", x(2, 3), x(3, 2), x(2, 4), Options(optimize=["einsum_path", (1, 2), (0, 1)])),
        lambda x: ("ij,ij->j", x(2, 1), x(1, 3)), lambda x: ("...ii->...i", x(2, 3, 3)),
        dtypes="iufc", grad=ABC, tolerance=16),
    row("npx.batch_dot", lambda x: (x(2, 3, 4), x(2, 4, 2)), lambda x: (x(2, 4, 3), x(2, 2, 4), True, True),
        grad=AB, tolerance=16, reference=lambda a, b, ta=False, tb=False:
            (a.swapaxes(-1, -2) if ta else a) @ (b.swapaxes(-1, -2) if tb else b)),
]  # fmt: skip


def partitioned(partition):
    """Elements on either side of a place may be in any order: they are sorted."""

    def sides(x, kth, axis=-1):
        x = x.ravel() if axis is None else x
        axis = 0 if axis is None else axis % x.ndim
        y = partition(x, kth, axis)
        module = numpy if isinstance(y, numpy.ndarray) else forerun.np
        places = sorted(k % x.shape[axis] for k in (kth if isinstance(kth, (list, tuple)) else [kth]))
        cuts = [c for k in places for c in (k, k + 1)]
        return [module.sort(part, axis) for part in module.array_split(y, cuts, axis)]

    return sides


def arranged(argpartition):
    """The elements at the positions are compared as those of `partition`."""

    def partition(x, kth, axis):
        order = argpartition(x, kth, axis)
        module = numpy if isinstance(order, numpy.ndarray) else forerun.np
        return module.take_along_axis(x, order, axis)

    return partitioned(partition)


# The comparison of an op's results, where they are not unique.
COMPARED = {
    "np.partition": partitioned,
    "np.argpartition": arranged,
}

ROWS = REDUCTIONS + PRODUCTS
