"""Shapes, indexing and creation: nothing is computed, so values are exact."""

import operator

import numpy

from tests.ops.cases.table import ALL, ZERO, Case, Options, row

A = (0,)
AB = (0, 1)
ABC = (0, 1, 2)

VIEWS: list[Case] = [
    row("np.reshape", lambda x: (x(3, 4), (2, -1)), lambda x: (x(2, 3).T, (6,)), dtypes=ALL, grad=A),
    row("np.ravel", lambda x: (x(3, 4),), lambda x: (x(3, 4).T,), lambda x: (x(),), dtypes=ALL, grad=A),
    row(
        "np.transpose",
        lambda x: (x(2, 3, 4),),
        lambda x: (x(2, 3, 4), (1, 2, 0)),
        lambda x: (x(2, 3, 4), (-1, 0, 1)),
        dtypes=ALL,
        grad=A,
    ),
    row("np.matrix_transpose", lambda x: (x(2, 3, 4),), dtypes=ALL, grad=A),
    row("np.swapaxes", lambda x: (x(2, 3, 4), 0, -1), dtypes=ALL, grad=A),
    row(
        "np.moveaxis",
        lambda x: (x(2, 3, 4), 0, -1),
        lambda x: (x(2, 3, 4), (0, 1), (2, 0)),
        dtypes=ALL,
        grad=A,
    ),
    row("np.rollaxis", lambda x: (x(2, 3, 4), 2), lambda x: (x(2, 3, 4), 0, 3), dtypes=ALL, grad=A),
    row("np.expand_dims", lambda x: (x(3, 4), 1), lambda x: (x(3, 4), (0, -1)), dtypes=ALL, grad=A),
    row("np.squeeze", lambda x: (x(1, 3, 1),), lambda x: (x(1, 3, 1), -1), dtypes=ALL, grad=A),
    row("np.broadcast_to", lambda x: (x(3, 1), (2, 3, 4)), dtypes=ALL, grad=A),
    row("np.broadcast_arrays", lambda x: (x(3, 1), x(4), x()), dtypes=ALL, grad=ABC),
    row("np.atleast_1d", lambda x: (x(),), lambda x: (x(3),), dtypes=ALL, grad=A),
    row("np.atleast_2d", lambda x: (x(),), lambda x: (x(3),), dtypes=ALL, grad=A),
    row("np.atleast_3d", lambda x: (x(3),), lambda x: (x(3, 4),), lambda x: (x(),), dtypes=ALL, grad=A),
    row(
        "np.flip",
        lambda x: (x(3, 4),),
        lambda x: (x(3, 4), 1),
        lambda x: (x(2, 3, 4), (0, -1)),
        dtypes=ALL,
        grad=A,
    ),
    row("np.fliplr", lambda x: (x(3, 4),), dtypes=ALL, grad=A),
    row("np.flipud", lambda x: (x(3, 4),), dtypes=ALL, grad=A),
    row(
        "np.rot90",
        *[lambda x, k=k: (x(2, 3), k) for k in range(-1, 5)],
        lambda x: (x(2, 3, 4), 1, (2, 0)),
        dtypes=ALL,
        grad=A,
    ),
    row("np.real", lambda x: (x(3, 4),), dtypes=ALL, grad=A),
    row("np.imag", lambda x: (x(3, 4),), dtypes=ALL, grad=A),
]

MOVES: list[Case] = [
    row("np.copy", lambda x: (x(3, 4),), lambda x: (x(3, 4).T,), dtypes=ALL, grad=A),
    row("np.array", lambda x: (x(3, 4),), lambda x: (x(3), "float64"), dtypes="biuhf", grad=A),
    row("np.asarray", lambda x: (x(3, 4),), dtypes=ALL, grad=A),
    row(
        "np.astype",
        *[
            lambda x, d=d: (x(3, 4, low=0), d)
            for d in ("bool", "int8", "int64", "uint16", "float16", "float32", "float64", "complex64")
        ],
        dtypes="biuhf",
    ),
    row(
        "np.roll",
        lambda x: (x(3, 4), 2),
        lambda x: (x(3, 4), -1, 1),
        lambda x: (x(3, 4), (1, 2), (0, 1)),
        lambda x: (x(3, 4), (1, 1), 0),
        dtypes=ALL,
        grad=A,
    ),
    row(
        "np.repeat",
        lambda x: (x(2, 3), 2),
        lambda x: (x(2, 3), (1, 0, 2), 1),
        lambda x: (x(2, 3), 2, 0),
        lambda x: (x(0, 3), [], 0),
        dtypes=ALL,
        grad=A,
    ),
    row("np.tile", lambda x: (x(2, 3), 2), lambda x: (x(3), (2, 2)), lambda x: (x(3), numpy.int64(0)), dtypes=ALL,
        grad=A),
    row(
        "np.pad",
        lambda x: (x(2, 3), 1),
        lambda x: (x(2, 3), ((1, 0), (0, 2)), "constant", Options(constant_values=1)),
        dtypes=ALL,
        grad=A,
    ),
    row("np.concatenate", lambda x: ([x(2, 3), x(1, 3)],), lambda x: ([x(2, 3), x(2, 1)], 1),
        lambda x: ([x(2), x(1, 3)], None), dtypes=ALL, grad=AB),
    row("np.stack", lambda x: ([x(3, 4), x(3, 4)],), lambda x: ([x(3), x(3)], -1), dtypes=ALL, grad=AB),
    row("np.unstack", lambda x: (x(3, 2),), lambda x: (x(2, 3, 2), Options(axis=-1)), dtypes=ALL, grad=A),
    row("np.vstack", lambda x: ([x(3), x(2, 3)],), dtypes=ALL, grad=AB),
    row("np.hstack", lambda x: ([x(3), x(2)],), lambda x: ([x(2, 3), x(2, 1)],), dtypes=ALL, grad=AB),
    row("np.dstack", lambda x: ([x(3), x(3)],), lambda x: ([x(2, 3), x(2, 3)],), dtypes=ALL, grad=AB),
    row("np.column_stack", lambda x: ([x(3), x(3, 2)],), dtypes=ALL, grad=AB),
    row(
        "np.array_split",
        lambda x: (x(7), 3),
        lambda x: (x(2, 5), (1, 3), 1),
        lambda x: (x(2, 5), 3, -1),
        dtypes=ALL,
        grad=A,
    ),
    row("np.split", lambda x: (x(6), 3), lambda x: (x(2, 5), [1, 3], 1), dtypes=ALL, grad=A),
    row("np.hsplit", lambda x: (x(6), 3), lambda x: (x(2, 4), 2), dtypes=ALL, grad=A),
    row("np.vsplit", lambda x: (x(4, 3), 2), dtypes=ALL, grad=A),
    row("np.meshgrid", lambda x: (x(3), x(4)), lambda x: (x(3), x(4), Options(indexing="ij")),
        lambda x: (x(3), x(2), x(1), ), lambda x: (x(3), x(4), Options(sparse=True)), dtypes=ALL, grad=AB),
]  # fmt: skip

INDEXING: list[Case] = [
    row("np.take", lambda x: (x(3, 4), x.index(12, 2, 3)), lambda x: (x(3, 4), x.index(4, 5), 1),
        lambda x: (x(3, 4), x.index(3, 2, 2), 0),
        lambda x: (x(5), x.index(9, 4), None, Options(mode="wrap")),
        lambda x: (x(5), x.index(9, 4), 0, Options(mode="clip")), dtypes=ALL, grad=A),
    row("np.take_along_axis", lambda x: (x(3, 4), x.index(4, 3, 2), 1),
        lambda x: (x(3, 4), x.index(3, 1, 4), 0), lambda x: (x(3, 4), x.index(12, 5), None),
        lambda x: (x(3, 4), x.index(4, 1, 2), -1), lambda x: (x(2, 1, 4), x.index(4, 2, 3, 5), 2),
        dtypes=ALL, grad=A),
    row("np.put_along_axis", lambda x: (x(3, 4), numpy.argsort(x.order(3, 4), 1)[:, :2], x(3, 2), 1),
        lambda x: (x(3, 4), numpy.array([[2, 0]]), x(3, 2), 1), lambda x: (x(4, 2, 3), x.index(4, 1, 1, 1), x(2, 1), 0),
        dtypes=ALL, in_place=True),
    row("np.diagonal", lambda x: (x(3, 4),), lambda x: (x(3, 4), 1), lambda x: (x(3, 4), -2),
        lambda x: (x(2, 3, 4), 0, 2, 0), dtypes=ALL, grad=A),
    row("np.diag", lambda x: (x(3),), lambda x: (x(3), -1), lambda x: (x(3, 4), 2), dtypes=ALL, grad=A),
    row("np.tril", lambda x: (x(3, 4),), lambda x: (x(2, 3, 3), -1), lambda x: (x(3),), dtypes=ALL, grad=A),
    row("np.triu", lambda x: (x(3, 4),), lambda x: (x(2, 3, 3), 1), lambda x: (x(3), 1), dtypes=ALL, grad=A),
    row("np.nonzero", lambda x: (x(3, 4),), dtypes=ALL, waits=True),
    row("np.argwhere", lambda x: (x(3, 4),), dtypes=ALL, waits=True),
    row("np.flatnonzero", lambda x: (x(3, 4),), dtypes=ALL, waits=True),
    row("np.compress", lambda x: (x.ones(4), x(3, 4), 1), dtypes=ALL, waits=True,
        reference=lambda c, x, axis: numpy.compress(c, x, axis)),
    row("npx.pick", lambda x: (x(3, 4), x.rng.integers(0, 4, 3)),
        lambda x: (x(3, 4), x.rng.integers(0, 3, 4), 0, True), dtypes=ALL, grad=A,
        reference=lambda x, i, axis=-1, keepdims=False: (
            numpy.take_along_axis(x, numpy.expand_dims(i, axis), axis) if keepdims
            else numpy.take_along_axis(x, numpy.expand_dims(i, axis), axis).squeeze(axis))),
    row("npx.one_hot", lambda x: (abs(x.index(4, 3)), 5), lambda x: (abs(x.index(4, 2, 2)), 5, 3.0, -1.0),
        reference=lambda i, n, on=1.0, off=0.0:
            numpy.where(i[..., None] == numpy.arange(n), on, off).astype("float32")),
    row("npx.gather_nd", lambda x: (x(3, 4), x.index(3, 2, 5)), lambda x: (x(4, 3), x.index(4, 1, 2)),
        dtypes=ALL, grad=A, reference=lambda x, i: x[tuple(i)]),
    row("npx.reshape_like", lambda x: (x(3, 4), x(2, 6)), dtypes=ALL, grad=A,
        reference=lambda x, like: x.reshape(like.shape)),
    row("npx.embedding", lambda x: (abs(x.index(4, 2, 3)), x(5, 3)), grad=(1,), reference=lambda i, w: w[i]),
    row("npx.sequence_mask", lambda x: (x(4, 3, 2), x.rng.integers(0, 5, 3), True, -1.0),
        lambda x: (x(3, 4), x.rng.integers(0, 5, 3), True, 0.0, 1), lambda x: (x(3, 4),), grad=A,
        reference=lambda x, n=None, use=False, value=0.0, axis=0: x if not use else numpy.where(
            (numpy.arange(x.shape[axis])[:, None] < n if axis == 0 else numpy.arange(x.shape[1]) < n[:, None])
            .reshape(x.shape[:2] + (1,) * (x.ndim - 2)), x, numpy.asarray(value, x.dtype))),
]  # fmt: skip

CREATION: list[Case] = [
    row("np.zeros", lambda x: ((2, 3), x.dtype), lambda x: (3, x.dtype), dtypes=ALL),
    row("np.ones", lambda x: ((2, 3), x.dtype), lambda x: ((), x.dtype), dtypes=ALL),
    row("np.full", lambda x: ((2, 3), 1, x.dtype), lambda x: ((2, 3), x(3)), dtypes=ALL),
    row("np.empty", lambda x: ((0, 3), x.dtype), lambda x: (0, x.dtype), dtypes=ALL),
    row("np.zeros_like", lambda x: (x(2, 3),), lambda x: (x(2, 3).T, "int16"), dtypes=ALL, grad=ZERO),
    row("np.ones_like", lambda x: (x(2, 3),), lambda x: (x(2, 3).T, "int16"), dtypes=ALL, grad=ZERO),
    row("np.full_like", lambda x: (x(2, 3), 1), dtypes=ALL, grad=ZERO),
    row("np.empty_like", lambda x: (x(0, 3),), dtypes=ALL),
    row("np.arange", lambda x: (5, None, 1, x.dtype), lambda x: (1, 6, 2, x.dtype), dtypes="iuhf"),
    row("np.linspace", lambda x: (0, 4, 5, Options(dtype=x.dtype)),
        lambda x: (0.5, 2, 7, False, Options(dtype=x.dtype))),
    row("np.logspace", lambda x: (0, 2, 5, Options(dtype=x.dtype))),
    row("np.geomspace", lambda x: (1, 8, 4, Options(dtype=x.dtype))),
    row("np.eye", lambda x: (3, None, 0, x.dtype), lambda x: (3, 4, 1, x.dtype), lambda x: (3, 2, -1, x.dtype),
        lambda x: (2, 3, 5, x.dtype), dtypes=ALL),
    row("np.identity", lambda x: (3, x.dtype), dtypes=ALL, reference=lambda n, dtype: numpy.identity(n, dtype)),
    row("np.tri", lambda x: (3, 4, 1, x.dtype), dtypes=ALL),
    row("np.indices", lambda x: ((2, 3), x.dtype), dtypes="iuf"),
    row("np.fromfunction", lambda x: (operator.add, (2, 3), Options(dtype=x.dtype))),
    row("np.vander", lambda x: (x(3),), lambda x: (x(3), 2, True), dtypes="f", grad=A, tolerance=4),
    row("npx.arange_like", lambda x: (x(2, 3),), lambda x: (x(2, 3), 1, 0.5, 2.0),
        reference=lambda x, axis=None, start=0.0, step=1.0: (
            (numpy.arange(x.size) * step + start).reshape(x.shape) if axis is None
            else numpy.arange(x.shape[axis]) * step + start).astype(x.dtype)),
]  # fmt: skip

ROWS = VIEWS + MOVES + INDEXING + CREATION
