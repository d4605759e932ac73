"""The report: which ops took the time, and which lines waited, as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable

from .axis import milliseconds
from .events import Event, Trace

__all__ = ["report"]


def report(trace: Trace, limit: int = 20) -> str:
    """Two tables: time by name of op, and waits by line; in both the longest first.

    Times of ops are the sum over all threads. A wait counts in full, also while the waiting thread ran ops.

    limit: rows per table; the last line of a table says how many more there are.

    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = float(np.ones(3).sum())
    >>> table = profiler.report(p.trace).splitlines()
    >>> table[2].split()
    ['op', 'count', 'total', 'ms', 'mean', 'us', 'bytes']
    """
    ops, waits = _groups(trace.ops, lambda e: e.name), _groups(trace.waits, lambda e: f"{e.where}  {e.name}")
    return "\n".join(
        [
            _summary(trace),
            "",
            *_table(("op", "count", "total ms", "mean us", "bytes"), map(_op_row, ops), len(ops), limit),
            "",
            *_table(("wait", "count", "total ms"), map(_wait_row, waits), len(waits), limit),
        ]
    )


def _summary(trace: Trace) -> str:
    share = trace.overlap() / (trace.span or 1e-9)
    parts = f"{milliseconds(trace.span)}, {len(trace.ops):,} ops, {len(trace.waits):,} waits"
    full = f"; a sample: 1,024 operations of each {1024 * trace.every:,}" if trace.every > 1 else ""
    return f"{parts}; two or more threads ran ops {share:.0%} of the time{full}"


def _groups(events: Iterable[Event], key: Callable[[Event], str]) -> list[tuple[str, list[Event]]]:
    groups: dict[str, list[Event]] = defaultdict(list)
    for e in events:
        groups[key(e)].append(e)
    return sorted(groups.items(), key=lambda item: -_total(item[1]))


def _total(events: list[Event]) -> float:
    return sum(e.duration for e in events)


def _op_row(group: tuple[str, list[Event]]) -> tuple[str, ...]:
    name, events = group
    total = _total(events)
    taken = sum(e.bytes for e in events)
    return name, f"{len(events):,}", f"{total * 1e3:,.3f}", f"{total / len(events) * 1e6:,.1f}", f"{taken:,}"


def _wait_row(group: tuple[str, list[Event]]) -> tuple[str, ...]:
    name, events = group
    return name, f"{len(events):,}", f"{_total(events) * 1e3:,.3f}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], count: int, limit: int) -> list[str]:
    """Lines with a column of words on the left, and numbers flush right."""
    shown = [head, *rows][: limit + 1]
    width = [max(map(len, column)) for column in zip(*shown)]
    lines = [
        "  ".join([row[0].ljust(width[0]), *(word.rjust(w) for word, w in zip(row[1:], width[1:]))])
        for row in shown
    ]
    more = [f"... and {count - limit:,} more"] if count > limit else []
    return [lines[0], "-" * len(lines[0]), *lines[1:], *more]
