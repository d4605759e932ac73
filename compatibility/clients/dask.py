"""Dask Array with forerun arrays as chunks."""

from __future__ import annotations

from typing import Any

import dask.array
import numpy

VERSIONS = ["dask"]


def names(asarray: Any) -> dict[str, Any]:
    """A matrix in four chunks, and a column of chunks; with a name from Dask, which would ask for the values."""
    table = asarray(numpy.arange(24.0).reshape(4, 6) % 7)
    x = dask.array.from_array(table, chunks=(2, 3), asarray=False, name=False)
    tall = dask.array.from_array(
        asarray(numpy.arange(24.0).reshape(8, 3) % 5), chunks=(4, 3), asarray=False, name=False
    )
    return {"da": dask.array, "numpy": numpy, "table": table, "x": x, "tall": tall}


ROWS = {
    "making": """
        da.from_array(table, chunks=2, asarray=False, name=False)
        da.from_array(table, chunks=2, asarray=False)
        da.from_array(table, chunks=2)
        da.asarray(table)
    """,
    "element-wise": """
        x + 1
        x * x + 2
        -x / 2
        x > 3
        da.exp(x)
        numpy.exp(x)
        da.where(x > 3, x, 0)
        x.clip(1, 3)
        da.isnan(x)
        x.round()
        x.astype('float32')
        da.maximum(x, 2)
    """,
    "reductions": """
        x.sum()
        x.sum(axis=0)
        x.mean(axis=1)
        x.std()
        x.var(axis=0)
        x.prod(axis=1)
        x.max(axis=0)
        x.min()
        (x > 3).any()
        (x >= 0).all(axis=0)
        x.argmax(axis=1)
        x.cumsum(axis=0)
        da.nanmean(x)
        da.median(x, axis=0)
        da.linalg.norm(x)
        da.histogram(x, bins=3, range=(0, 8))[0]
        da.percentile(x.ravel(), [25, 50])
        da.unique(x)
        da.topk(x, 2)
        da.average(x, axis=0)
    """,
    "indexing": """
        x[1:3, ::2]
        x[1]
        x[[0, 2]]
        x[:, -1]
        x[x > 3]
        da.take(x, [0, 1], axis=1)
        x[None]
        x.blocks[0, 1]
        da.compress([True, False, True, False], x, axis=0)
    """,
    "shape": """
        x.T
        x.reshape(24)
        tall.reshape(2, 4, 3)
        x.ravel()
        da.concatenate([x, x])
        da.stack([x, x])
        x.rechunk((4, 2))
        da.pad(x, 1)
        da.repeat(x, 2, axis=0)
        da.roll(x, 1, axis=0)
        da.flip(x, 0)
        da.diff(x)
        da.zeros_like(x)
        da.broadcast_to(x, (2, 4, 6))
    """,
    "products": """
        x @ x.T
        x.dot(x.T)
        da.tensordot(x, x, axes=((0,), (0,)))
        da.einsum('ij,kj->ik', x, x)
        da.outer(x[0], x[0])
        da.linalg.qr(tall)[1] ** 2
        da.linalg.svd(tall)[1]
        da.linalg.solve(x[:, :4].rechunk(2) + 9 * da.eye(4, chunks=2), x[:, 0])
        da.fft.fft(x.rechunk((2, 6)))
    """,
    "functions of chunks": """
        x.map_blocks(lambda chunk: 2 * chunk)
        da.map_blocks(numpy.add, x, x)
        x.map_overlap(lambda chunk: chunk + 1, depth=1)
        da.apply_along_axis(numpy.sum, 0, x)
        da.blockwise(numpy.multiply, 'ij', x, 'ij', x, 'ij', dtype=x.dtype)
        da.reduction(x, chunk=numpy.sum, aggregate=numpy.sum, dtype=x.dtype)
    """,
}
