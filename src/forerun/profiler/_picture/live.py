"""Live memory over time, as far as the ops of a trace tell."""

from __future__ import annotations

from collections import defaultdict

from ..events import Trace

__all__ = ["live"]


def live(trace: Trace) -> dict[int, list[tuple[float, int]]]:
    """By device: times, in order, and the bytes of arrays from then on. Devices that never had any are left out.

    >>> live(Trace([]))
    {}
    """
    steps: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for e in (e for e in trace.ops if e.queue != "network"):  # which has no memory of its own
        steps[e.device] += [(e.started, e.live[0]), (e.ended, e.live[1])]
    return {device: sorted(found) for device, found in sorted(steps.items()) if any(n for _, n in found)}
