"""Choices, masks, grids, functions along axes: related to indexing."""

import numpy

from tests.ops.cases.table import ALL, Case, row

A = (0,)


CHOICES: list[Case] = [
    row("np.choose", lambda x: (x.rng.integers(0, 2, (3, 4)), [x(3, 4), x(4)]),
        lambda x: (x.index(9, 5), [x(5), x(), x(1)], None, "wrap"),
        lambda x: (x.index(9, 5), [x(2, 5), x(5)], None, "clip"),
        lambda x: (numpy.array([True, False]), [x(2), x(2)]), dtypes=ALL, grad=(1, 2)),
    row("np.extract", lambda x: (x.ones(3, 4), x(3, 4)), lambda x: (x.ones(5), x(3, 4)), dtypes=ALL, waits=True),
    row("np.putmask", lambda x: (x(3, 4), x.ones(3, 4), x(5)), lambda x: (x(3, 4), x.ones(12), x()),
        lambda x: (x(4), x.ones(4), x(0)), lambda x: (x(2, 3), x.index(2, 2, 3), x(2, 3)), dtypes=ALL, in_place=True),
    row("np.place", lambda x: (x(3, 4), x.ones(3, 4), x(3)), lambda x: (x(3, 4), x.ones(12), x(20)),
        lambda x: (x(4), numpy.zeros(4, bool), x(0)), lambda x: (x(2, 3), x.index(2, 2, 3), [1]), dtypes=ALL,
        in_place=True),
    row("np.piecewise", lambda x: (x(5), [x.ones(5), x.ones(5)], [1, lambda v: v + v]),
        lambda x: (x(2, 3), [x.ones(2, 3)], [lambda v: v * v, 1]), lambda x: (x(4), x.ones(4), [1, 0]),
        lambda x: (x(4), [x.ones(4)], [lambda v, k: v * k, 1], x.dtype.type(3)), dtypes="iuhfc"),
    row("np.mask_indices", lambda x: (3, numpy.triu, 1), lambda x: (4, numpy.tril), waits=True),
]  # fmt: skip

FUNCTIONS: list[Case] = [
    row("np.apply_along_axis", lambda x: (lambda v: v + v[::-1], 0, x(3, 4)),
        lambda x: (lambda v: v[1:], -1, x(2, 3, 4)),
        lambda x: (lambda v, k: v[k], 1, x(2, 3, 4), 2), lambda x: (lambda v: v[None] * v[:, None], 1, x(2, 3, 2)),
        dtypes="iuhfc", grad=A),
    row("np.apply_over_axes", lambda x: (lambda v, axis: v.max(axis), x(2, 3, 4), [0, -1]),
        lambda x: (lambda v, axis: v[:1], x(2, 3), 0), dtypes="iuhf", grad=A),
]  # fmt: skip

ROWS = CHOICES + FUNCTIONS
