"""xarray: labelled arrays over forerun's."""

from __future__ import annotations

from typing import Any

import numpy
import xarray

VERSIONS = ["xarray"]


def names(asarray: Any) -> dict[str, Any]:
    """Two labelled arrays that share a dimension, one of them with gaps."""
    table = asarray(numpy.arange(24.0).reshape(4, 6) % 7)
    x = xarray.DataArray(table, dims=("time", "place"), coords={"time": [10, 20, 30, 40]}, name="x")
    w = xarray.DataArray(asarray([1.0, 2.0, 3.0, 4.0]), dims="time", coords={"time": [10, 20, 30, 40]})
    gaps = x.copy(data=asarray(numpy.where(numpy.arange(24).reshape(4, 6) % 5 == 0, numpy.nan, 1.5)))
    return {"xr": xarray, "numpy": numpy, "x": x, "w": w, "gaps": gaps}


ROWS = {
    "arithmetic, broadcasting by name": """
        x + 1
        x * w
        w - x
        -x / 2
        x ** 2
        x > 3
        (x > 3) & (x < 5)
        numpy.exp(x)
        numpy.maximum(x, w)
        x.round()
        x.astype('float32')
        x.clip(1, 3)
        abs(x)
        x.real
    """,
    "reductions": """
        x.sum()
        x.mean('time')
        x.max('place')
        x.min()
        x.std('time')
        x.var()
        x.prod('time')
        (x > 3).any('time')
        (x >= 0).all()
        x.count('time')
        gaps.mean('time')
        gaps.sum('place', skipna=True)
        x.argmax('time')
        x.median('time')
        x.quantile(0.5, 'time')
        x.cumsum('time')
        x.weighted(w).mean('time')
        xr.Dataset({'x': x, 'y': x + 1}).mean()
    """,
    "selection": """
        x.isel(time=1)
        x.isel(time=[0, 2])
        x.sel(time=20)
        x.sel(time=slice(20, 40))
        x[1:, ::2]
        x.where(x > 3)
        xr.where(x > 3, x, 0)
        gaps.fillna(0)
        gaps.isnull()
        x.reindex(time=[10, 20, 50])
        x.sortby('time', ascending=False)
        x.head(time=2)
        gaps.dropna('time')
    """,
    "shape": """
        x.T
        x.transpose('place', 'time')
        x.expand_dims('z')
        x.expand_dims('z').squeeze()
        x.stack(all=('time', 'place'))
        xr.concat([x, x], 'time')
        w.broadcast_like(x)
        x.roll(time=1)
        x.shift(time=1)
        x.pad(time=1)
        x.diff('time')
        x.copy()
        xr.zeros_like(x)
        xr.full_like(x, 2)
    """,
    "groups and windows": """
        x.groupby('time').mean()
        x.coarsen(time=2).mean()
        x.rolling(time=2).mean()
        x.interp(time=[15, 25])
    """,
    "products": """
        xr.dot(x, w)
        x @ w
        xr.apply_ufunc(lambda v: 2 * v, x)
    """,
    "to others": """
        x.to_numpy()
        x.values
        x.to_series()
        x.to_dataframe('v')
        x.equals(x.copy())
        x.chunk(time=2).mean()
    """,
}
