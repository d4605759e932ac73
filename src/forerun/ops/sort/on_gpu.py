"""Arrays on GPUs, whose lines the core sorts and searches there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import core as _core
from .._base.primitive import plain_calls
from ..create.fill import zeros

if TYPE_CHECKING:
    from ...typing import Array

__all__: list[str] = []

_CORE = {entry: plain_calls(entry) for entry in ("argmax", "argmin", "argsort", "sort")}


def _on_gpu(x: Array) -> bool:
    return x.device.device_type == "gpu"


def _by_core(entry: str, x: Array, axis: int) -> Any:
    """Return the core's result for an array on a GPU, whose lines it sorts or searches there; else None."""
    if entry not in _CORE or not _on_gpu(x):
        return None
    if x.size == 0:  # there is nothing to sort
        return zeros(x.shape, "int64" if entry == "argsort" else x.dtype, device=x.device)
    values = _core.detach(x)
    # In a dtype that the core takes; the order is the same.
    return _CORE[entry](values.astype("float32") if x.dtype.name == "bfloat16" else values, axis)
