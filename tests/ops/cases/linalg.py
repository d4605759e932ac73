"""Linear algebra."""

import numpy

from tests.ops.cases.table import ZERO, Case, Options, row

A = (0,)
AB = (0, 1)
ABC = (0, 1, 2)
INF = numpy.inf

MATRICES = [lambda x: (x.regular(3),), lambda x: (x.regular(2, 2, 3),)]
POSITIVE = [lambda x: (x.positive(3),), lambda x: (x.positive(2, 3),)]
WIDE = [lambda x: (x(3, 4),), lambda x: (x(2, 4, 3),)]


def spaced(x, n, *lead):
    """Matrices whose eigenvalues are far from one another, and real if the elements are."""
    return (0.1 * x(*lead, n, n) + numpy.diag(numpy.arange(n) * 3 + 1)).astype(x.dtype)


SOLVING: list[Case] = [
    row("np.linalg.inv", *MATRICES, lambda x: (x(0, 0),), lambda x: (x(2, 0, 3, 3),), dtypes="fc", grad=A,
        tolerance=64),
    row("np.linalg.det", *MATRICES, lambda x: (x(0, 0),), dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.slogdet", *MATRICES, dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.solve", lambda x: (x.regular(3), x(3)), lambda x: (x.regular(3), x(3, 2)),
        lambda x: (x.regular(3, 2), x(2, 3, 2)), lambda x: (x.regular(3, 2), x(3)),
        lambda x: (x.regular(3), x(2, 3, 1)), lambda x: (x.regular(2, 3, 1), x(2, 2, 2)), dtypes="fc", grad=AB,
        tolerance=64),
    row("np.linalg.matrix_power", *[lambda x, n=n: (x.regular(3), n) for n in (0, 1, 2, 3, 5, -1, -2)],
        lambda x: (x.regular(2, 4), 3), dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.tensorinv", lambda x: (x.regular(6).reshape(2, 3, 6),), lambda x: (x.regular(6).reshape(6, 3, 2), 1),
        dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.tensorsolve", lambda x: (x.regular(6).reshape(2, 3, 6), x(2, 3)),
        lambda x: (x.regular(6).reshape(6, 2, 3), x(6)), lambda x: (x.regular(6).reshape(2, 6, 3), x(6), (0,)),
        dtypes="fc", grad=AB, tolerance=64),
    row("np.linalg.pinv", *WIDE, lambda x: (x(4, 3), 0.1), lambda x: (x(2, 3, 4), numpy.array([1e-3, 1e-4])),
        lambda x: (x(3, 4), Options(rtol=None)), dtypes="fc", grad=A, tolerance=256),
    row("np.linalg.matrix_rank", *WIDE, lambda x: (numpy.outer(x(3), x(3)),), lambda x: (x(4),),
        lambda x: (x(2, 3, 3), Options(rtol=0.2)), lambda x: (x(3, 3), numpy.array([0.1, 100])),
        lambda x: (x.positive(3), None, True), dtypes="fc", grad=ZERO),
    row("np.linalg.lstsq", lambda x: (x(5, 3), x(5)), lambda x: (x(5, 3), x(5, 2)), lambda x: (x(3, 5), x(3)),
        lambda x: (numpy.outer(x(5), x(3)), x(5), 1e-3), lambda x: (x(3, 3), x(3, 2)), lambda x: (x(4, 2), x(4, 0)),
        lambda x: (x(0, 3), x(0)), dtypes="fc", tolerance=1024, waits=True),
]  # fmt: skip

DECOMPOSITIONS: list[Case] = [
    row("np.linalg.cholesky", *POSITIVE, lambda x: (x.positive(2, 2), Options(upper=True)), dtypes="fc", grad=A,
        tolerance=64),
    row("np.linalg.qr", *WIDE, lambda x: (x(3, 3),), lambda x: (x(2, 4, 3), "r"), lambda x: (x(2, 5), "r"),
        lambda x: (x(2, 4), "complete"), lambda x: (x(3, 0),), dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.svd", *[lambda x, s=s: (x(*s), False) for s in ((3, 4), (2, 4, 3), (2, 2))], lambda x: (x(3, 3),),
        lambda x: (x(2, 3), True, False), dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.svdvals", *WIDE, lambda x: (x(0, 3),), dtypes="fc", grad=A, tolerance=64),
    row("np.linalg.eigh", *POSITIVE, lambda x: (x.positive(3), "U"), dtypes="fc", grad=A, tolerance=256),
    row("np.linalg.eigvalsh", *POSITIVE, lambda x: (x.positive(3), "U"), dtypes="fc", grad=A, tolerance=256),
    row("np.linalg.eig", lambda x: (spaced(x, 3),), lambda x: (spaced(x, 2, 2),), dtypes="fc", grad=A, tolerance=256),
    row("np.linalg.eigvals", lambda x: (x(3, 3),), lambda x: (spaced(x, 2, 2),), dtypes="fc", grad=A, tolerance=256),
]  # fmt: skip

NORMS: list[Case] = [
    row("np.linalg.norm", lambda x: (x(3, 4),), lambda x: (x(3, 4), 1, 0), lambda x: (x(3, 4), 3, 1),
        lambda x: (x(3, 4), INF, 1), lambda x: (x(3, 4), -INF, 1), lambda x: (x(3, 4), 0, 1),
        lambda x: (x(2, 3, 4), INF, (1, 2), True), lambda x: (x(5), 2), lambda x: (x(5), -1.5),
        lambda x: (x(2, 3, 4), None, None, True), lambda x: (x(2, 3, 4), "nuc", (0, 2)), lambda x: (x(0), INF),
        *[lambda x, p=p: (x(3, 4), p) for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)], dtypes="fc", grad=A,
        tolerance=32),
    row("np.linalg.vector_norm", lambda x: (x(3, 4),), lambda x: (x(3, 4), Options(axis=0, ord=1, keepdims=True)),
        lambda x: (x(2, 3, 4), Options(axis=(0, 2), ord=INF)), lambda x: (x(3), Options(ord=0)),
        lambda x: (x(3), Options(ord=2.5)), dtypes="hfc", grad=A, tolerance=32),
    row("np.linalg.matrix_norm", lambda x: (x(2, 3, 4),), lambda x: (x(2, 3, 4), Options(ord="nuc", keepdims=True)),
        lambda x: (x(3, 4), Options(ord=-1)), lambda x: (x(3, 4), Options(ord=-2)), dtypes="fc", grad=A, tolerance=32),
    row("np.linalg.cond", lambda x: (x(3, 4),), lambda x: (x(2, 3, 3),),
        *[lambda x, p=p: (x.regular(2, 2), p) for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)], dtypes="fc", grad=A,
        tolerance=256),
]  # fmt: skip

PRODUCTS: list[Case] = [
    row("np.linalg.multi_dot", lambda x: ([x(2, 3), x(3, 4)],), lambda x: ([x(4), x(4, 2), x(2, 5)],),
        lambda x: ([x(3), x(3, 2), x(2)],), lambda x: ([x(5, 2), x(2, 6), x(6, 3), x(3)],), dtypes="iuhfc", grad=ABC,
        tolerance=32),
    row("np.linalg.outer", lambda x: (x(3), x(4)), dtypes="biuhfc", grad=AB),
    row("np.linalg.cross", lambda x: (x(3), x(3)), lambda x: (x(3, 2), x(3, 1), Options(axis=0)), dtypes="iufc",
        grad=AB, tolerance=8),
    row("np.linalg.diagonal", lambda x: (x(3, 4),), lambda x: (x(2, 3, 4), Options(offset=-1)), dtypes="biuhfc",
        grad=A),
    row("np.linalg.trace", lambda x: (x(3, 4),), lambda x: (x(2, 3, 4), Options(offset=1)), dtypes="biufc", grad=A,
        tolerance=8),
]  # fmt: skip

ROWS = SOLVING + DECOMPOSITIONS + NORMS + PRODUCTS
