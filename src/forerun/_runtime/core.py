"""Functions of the core about the engine, for the modules above.

These modules take them from here, and `_core` from nowhere else: `tests/package/test_layers.py` has the list of those
that do.
"""

from __future__ import annotations

from .._core import (
    Array,
    Node,
    Waiting,
    blas_info,
    compiler,
    cores_taken,
    empty_cache,
    gate,
    granted_cores,
    granted_memory,
    mark,
    memory,
    needed,
    pending,
    pjrt_close,
    pjrt_info,
    pjrt_load,
    reset_peak,
    set_guard,
    stats,
    trace_look,
    trace_say,
    trace_start,
    trace_stop,
    wait_mark,
    waitall,
    waitall_at_end,
)

__all__ = [
    "Array",
    "Node",
    "Waiting",
    "blas_info",
    "compiler",
    "cores_taken",
    "empty_cache",
    "gate",
    "granted_cores",
    "granted_memory",
    "mark",
    "memory",
    "needed",
    "pending",
    "pjrt_close",
    "pjrt_info",
    "pjrt_load",
    "reset_peak",
    "set_guard",
    "stats",
    "trace_look",
    "trace_say",
    "trace_start",
    "trace_stop",
    "wait_mark",
    "waitall",
    "waitall_at_end",
]
