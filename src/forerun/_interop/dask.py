"""Percentiles of Dask's arrays with forerun's as chunks: the one function that Dask looks up by the type of a chunk."""

from __future__ import annotations

from types import ModuleType

from ..ops._base import core as _core
from .import_hooks import when_imported


def _add_percentile(backends: ModuleType) -> None:
    """Let Dask compute percentiles of forerun's arrays by the function for NumPy's."""
    backends.percentile_lookup.register(_core.Array, backends.percentile)


def register() -> None:
    """Register forerun's arrays with Dask, now or when it is imported."""
    when_imported("dask.array.backends", _add_percentile)
