"""Waits, and operations, of a trace as spans of OpenTelemetry."""

from __future__ import annotations

import time
from typing import Any

from ..events import Event, Trace

__all__ = ["spans"]


def spans(trace: Trace, tracer: Any = None, *, ops: bool = False) -> int:
    """Send the waits of a trace as spans, children of the span that is current. Needs `opentelemetry-api`.

    So a request that has waited for an array shows which line did, and how long. Times are those of the recording, if
    this process has made it.

    Parameters
    ----------
    trace : Trace
        A recording that has stopped.
    tracer : opentelemetry.trace.Tracer, optional
        By default the tracer "forerun" of the provider that the program has set.
    ops : bool
        Whether operations are spans, too.

    Returns
    -------
    int
        The number of spans.

    Examples
    --------
    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> from forerun import np, profiler
    >>> with profiler.record() as recording:
    ...     total = np.ones((300, 300)).sum().item()
    >>> profiler.spans(recording.trace, TracerProvider().get_tracer("example")) == len(recording.trace.waits)
    True
    """
    if tracer is None:
        from opentelemetry.trace import get_tracer

        tracer = get_tracer("forerun")
    zero = time.time_ns() - time.perf_counter_ns()
    chosen = [e for e in trace if e.kind == "wait" or (ops and e.kind == "op")]
    for event in chosen:
        start, end = (zero + int(seconds * 1e9) for seconds in (event.started, event.ended))
        tracer.start_span(_name(event), start_time=start, attributes=_attributes(event, trace)).end(end)
    return len(chosen)


def _name(event: Event) -> str:
    return f"wait: {event.name}" if event.kind == "wait" else event.name


def _attributes(event: Event, trace: Trace) -> dict[str, str | int]:
    found: dict[str, str | int] = {"forerun.kind": event.kind, "thread.id": event.thread}
    if event.site is not None:
        found |= {"code.file.path": event.site[0], "code.line.number": event.site[1]}
    if event.kind == "wait":
        return found | {"forerun.cause": event.cause or "", "forerun.waited_for": event.waited}
    return found | {"forerun.number": event.seq, "forerun.device": trace.device_name(event.device)}
