"""Traces made by hand, for tests of their pictures and tables."""

from __future__ import annotations

import random

from forerun.profiler import Event, Trace

__all__ = ["MARKUP", "large_trace", "small_trace"]

MARKUP = "</script><img src=x onerror=alert(1)>&amp;<!--"
MS = 1e-3
_names = ("matmul", "add", "multiply", "tanh", "sum", "subtract")


def _op(
    seq: int, name: str, thread: int, start: float, end: float, deps: tuple[int, ...] = (), **more: object
) -> Event:
    known = {"queue": "compute", "issued": seq * 0.1 * MS, "site": ("/folder/program.py", seq), **more}
    times = {"started": start * MS, "ended": end * MS, "bytes": 48, "shape": (3, 4), "dtype": "float32"}
    return Event(kind="op", seq=seq, name=name, thread=thread, device=0, deps=deps, **times, **known)  # type: ignore[arg-type]


def _wait(start: float, end: float, line: int, op: int) -> Event:
    site = ("/folder/program.py", line)
    return Event("wait", 0, "item", site, 0, 0, None, start, start, end, cause="item", waited=op)


def small_trace() -> Trace:
    """Ten milliseconds: a product, a group that reads it and is waited for, a copy, and a name that is markup."""
    product = _op(1, "matmul", 1, 1.1, 3.1, issued=0.1 * MS, live=(0, 48))
    group = _op(2, "multiply + tanh", 1, 4.1, 6.1, (1,), members=(2, 3), live=(4096, 4096))
    copy = _op(4, "copy", 2, 3.1, 5.1, (1,), queue="copy", live=(4096, 2048))
    evil = _op(5, MARKUP, 3, 2.1, 2.6, site=(f"/{MARKUP}/{MARKUP}.py", 5))
    wait = _wait(1.6 * MS, 6.6 * MS, 9, 3)
    late = _op(6, "add", 1, 9.1, 10.1)
    return Trace(sorted([product, group, copy, evil, wait, late], key=lambda e: e.started), {0: "cpu(0)"})


def large_trace(count: int) -> Trace:
    """As many ops as asked for, by three workers, with a wait for each hundredth."""
    draw, issued, live = random.Random(1), 0.0, 0
    events: list[Event] = []
    free, last = [0.0] * 4, [0] * 4
    for seq in range(1, count + 1):
        worker, issued, live = draw.randrange(1, 4), issued + 2e-6, max(0, live + draw.randrange(-4000, 4200))
        start = max(free[worker], issued + 1e-6) + draw.expovariate(1e6)
        free[worker] = end = start + draw.expovariate(1 / 6e-6)
        site, deps = ("program.py", draw.randrange(200)), (last[worker],) if last[worker] else ()
        last[worker] = seq
        times = (issued, start, end, 8, deps)
        events.append(Event("op", seq, draw.choice(_names), site, worker, 0, "compute", *times, live=(live, live + 50)))
        if seq % 100 == 0:
            until = max(end, issued) + 1e-6
            events.append(_wait(issued, until, 7, seq))
            issued = until
    return Trace(sorted(events, key=lambda e: e.started), {0: "cpu(0)"})
