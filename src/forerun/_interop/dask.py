"""Percentiles of Dask's arrays with forerun's as chunks: the one function that Dask looks up by the type of a chunk."""

from __future__ import annotations

from types import ModuleType

from .. import _core
from .import_hooks import when_imported


def _add_percentile(backends: ModuleType) -> None:
    """Makes Dask compute percentiles of our arrays as it does of NumPy's: by the function of that name."""
    backends.percentile_lookup.register(_core.Array, backends.percentile)


def register() -> None:
    """Makes Dask know our arrays: at once if it is imported, else when it is."""
    when_imported("dask.array.backends", _add_percentile)
