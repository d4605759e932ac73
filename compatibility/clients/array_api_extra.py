"""array-api-extra: functions over the standard's."""

from __future__ import annotations

from typing import Any

import array_api_extra
import numpy

VERSIONS = ["array-api-extra"]


def names(asarray: Any) -> dict[str, Any]:
    """A matrix, a vector, whole numbers and a vector with a gap."""
    return {
        "xpx": array_api_extra, "numpy": numpy, "x": asarray(numpy.arange(6.0).reshape(2, 3) % 4),
        "v": asarray([3.0, 1.0, 2.0]), "n": asarray([3, 1, 1, 0]), "gaps": asarray([numpy.nan, 2.0, 1.0]),
        "z": asarray([1 + 1j, 2 - 1j]),
    }  # fmt: skip


ROWS = {
    "functions": """
        xpx.apply_where(v > 1, v, numpy.log, fill_value=0.0)
        xpx.apply_where(v > 1, (v, v), lambda a, b: a + b, lambda a, b: a - b)
        xpx.argpartition(v, 1)
        xpx.partition(v, 1)
        xpx.atleast_nd(v, ndim=3)
        xpx.cov(x)
        xpx.create_diagonal(v)
        xpx.expand_dims(v, axis=(0, 2))
        xpx.isclose(v, v + 1e-9)
        xpx.isin(n, n[:2])
        xpx.kron(x, v)
        xpx.nan_to_num(gaps)
        xpx.nanmax(gaps)
        xpx.nanmin(gaps)
        xpx.nanmean(gaps)
        xpx.nansum(gaps)
        xpx.nunique(n)
        xpx.one_hot(n, 4)
        xpx.pad(v, 2)
        xpx.setdiff1d(n, n[:1])
        xpx.union1d(n, n + 1)
        xpx.searchsorted(v, v)
        xpx.sinc(v)
        xpx.angle(z)
        xpx.deg2rad(v)
        xpx.unravel_index(n, (2, 2))
        xpx.broadcast_shapes((2, 1), (3,))
        xpx.default_dtype(xpx.angle(z).__array_namespace__()).name
        xpx.lazy_apply(numpy.sort, v, as_numpy=True)
    """,
    "at": """
        xpx.at(v, 1).set(9)
        xpx.at(v, v > 1).add(1)
        xpx.at(x)[:, 0].multiply(2)
        xpx.at(x, (0, slice(None))).min(1)
        xpx.at(v)[:2].power(2, copy=True)
    """,
}
