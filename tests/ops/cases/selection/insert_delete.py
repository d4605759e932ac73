"""Elements put in, taken out and written over; positions of elements."""

import numpy

from tests.ops.cases.table import ALL, Case, Options, row

A = (0,)
AB = (0, 1)

EDITS: list[Case] = [
    row("np.append", lambda x: (x(3), x(2)), lambda x: (x(2, 3), x(1, 3), 0), lambda x: (x(2, 2), x(3)), dtypes=ALL,
        grad=AB),
    row("np.delete", lambda x: (x(5), 1), lambda x: (x(3, 4), -1, 1), lambda x: (x(3, 4), [0, 2, 0], 1),
        lambda x: (x(3, 4), slice(None, None, 2), 0), lambda x: (x(3), [True, False, True]), lambda x: (x(3), []),
        lambda x: (x(2, 3), 4), dtypes=ALL, grad=A),
    row("np.insert", lambda x: (x(5), 1, x(1)), lambda x: (x(3, 4), -1, x(3), 1), lambda x: (x(3, 4), 0, x(4), 0),
        lambda x: (x(3, 4), [1, 3, 1], x(3, 3), 1), lambda x: (x(3, 4), [1], x(3, 2), 1),
        lambda x: (x(3, 4), slice(0, 2), x(4), 0), lambda x: (x(4), 4, x(2)),
        lambda x: (x(2, 3), 2, x(2)), lambda x: (x(2, 3, 2), 1, x(2, 2), 1),
        lambda x: (x(3), [], x(1)), dtypes=ALL, grad=AB),
    row("np.resize", lambda x: (x(3), (2, 4)), lambda x: (x(2, 3), 4), lambda x: (x(0), (2, 2)), dtypes=ALL, grad=A),
    row("np.select", lambda x: ([x.ones(4), x.ones(4)], [x(4), x(4)], x.dtype.type(1)),
        lambda x: ([x.ones(3, 4), x.ones(4)], [x(3, 1), x(4)]), lambda x: ([x.ones(3)], [x(3)], x(2, 3)),
        dtypes="iuhfc", grad=(1, 2)),
    row("np.dsplit", lambda x: (x(2, 3, 4), 2), lambda x: (x(2, 3, 4), [1, 3]), dtypes=ALL, grad=A),
    row("np.block", lambda x: ([[x(2, 2), x(2, 1)], [x(1, 1), x(1, 2)]],), lambda x: ([x(2), x(3)],),
        lambda x: (x(2),), lambda x: ([[x(2)], [x(1, 2)]],), lambda x: ([[x(2, 1, 2)], [x(2, 2, 2)]],),
        lambda x: ([[[x(2)]], [[x(2)]]],), lambda x: ([x(), x(2)],), dtypes=ALL, grad=AB),
    row("np.copyto", lambda x: (x(2, 3), x(3)), lambda x: (x(2, 3), x(2, 1), "same_kind", x.ones(3)),
        lambda x: (x(2, 3), True), lambda x: (x(2, 3), x(3).astype(bool), Options(where=x.ones(2, 3))),
        lambda x: (x(2, 3), numpy.array(2.5), "unsafe"), dtypes=ALL, in_place=True),
    row("np.put", lambda x: (x(2, 3), [0, -1, 4], x(3)), lambda x: (x(2, 3), x.index(6, 5), x(2)),
        lambda x: (x(2, 3), numpy.array([9, -9]), x(2), "clip"),
        lambda x: (x(2, 3), numpy.array([9, -9]), x(2), "wrap"),
        lambda x: (x(2, 3), [], x(1)), lambda x: (x(3), 1, x()), dtypes=ALL, in_place=True),
    row("np.fill_diagonal", lambda x: (x(3, 3), x()), lambda x: (x(5, 2), x(3)), lambda x: (x(5, 2), x(3), True),
        lambda x: (x(2, 4), x()), lambda x: (x(2, 2, 2), x(2)), lambda x: (x(7, 3), x(), True), dtypes=ALL,
        in_place=True),
]  # fmt: skip

POSITIONS: list[Case] = [
    row("np.tril_indices", lambda x: (3,), lambda x: (3, -1), lambda x: (3, 1, 4), lambda x: (0,)),
    row("np.triu_indices", lambda x: (3,), lambda x: (3, -1), lambda x: (3, 1, 4), lambda x: (0,)),
    row("np.tril_indices_from", lambda x: (x(3, 4),), lambda x: (x(3, 3), -1)),
    row("np.triu_indices_from", lambda x: (x(3, 4),), lambda x: (x(3, 3), -1)),
    row("np.diag_indices", lambda x: (3,), lambda x: (2, 3)),
    row("np.diag_indices_from", lambda x: (x(3, 3),), lambda x: (x(2, 2, 2),)),
    row("np.ix_", lambda x: ([0, 2], x.index(4, 3)), lambda x: (x.index(3, 2),), lambda x: ([], [1])),
    row("np.unravel_index", lambda x: (abs(x.index(11, 2, 3)), (3, 4)), lambda x: (numpy.int64(7), (2, 2, 3)),
        lambda x: (abs(x.index(3, 2)), 4)),
    row("np.ravel_multi_index", lambda x: ([abs(x.index(2, 5)), abs(x.index(3, 5))], (3, 4)),
        lambda x: ([x.index(9, 2, 1), x.index(9, 3)], (3, 4), "wrap"), lambda x: ([x.index(9, 2), 1], (3, 4), "clip")),
]  # fmt: skip

ROWS = EDITS + POSITIONS
