"""The report: which ops took the time, and which lines waited, as text, and as tables for a notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from html import escape

from .._display.notebook import Shown, preformatted, table
from ._ranks.late import rank_times, rank_title
from .axis import counted, milliseconds
from .blocking_lines import Blocker, blockers
from .costs import bound
from .events import Event, Trace

__all__ = ["report"]

_ops = ("op", "count", "total ms", "mean us", "bytes")
_compiled = ("modules compiled by line", "modules", "total ms")
_ranks = ("rank", "computed ms", "waited ms", "network ms", "late ms", "last")
_on_host = ("on the host by line", "times")
_waits = ("waits by line", "waits", "reads", "total ms", "lost ms", "idle")


def report(trace: Trace, limit: int = 20) -> Shown:
    """Report the limit of the program, time by name of op, and waits by line with changes that avoid them.

    Times of ops are the sum over all threads. A wait counts in full, also while the waiting thread ran ops; `lost` and
    `idle` are those of `blockers`.

    Of devices of plugins it says how many modules were compiled, in which time, for which lines; and which operations
    ran on the host, between copies, as the device has no code for them.

    For several ranks, a table has the times of each. `late` is how much later than the first rank it came to
    collectives, together, and `last` how often the others waited for it.

    limit: rows per table; the last line of a table says how many more there are.

    Parameters
    ----------
    trace : Trace
        A recording.
    limit : int, default 20
        Rows of each table; the last line of a table says how many more there are.

    Returns
    -------
    str
        The text; a notebook shows it as tables.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = float(np.ones(3).sum())
    >>> table = profiler.report(p.trace).splitlines()
    >>> table[3].split()
    ['op', 'count', 'total', 'ms', 'mean', 'us', 'bytes']
    """
    found = blockers(trace)
    ops = list(map(_op_row, _groups(trace.ops, lambda e: e.name)))
    waits = list(map(_wait_row, found))
    beside = list(_beside(trace))
    ranks = _rank_rows(trace)
    text = [
        _summary(trace),
        str(bound(trace)),
        *_of_devices(trace),
        *(["", *_table(_ranks, ranks, len(ranks), limit)] if ranks else []),
        "",
        *_table(_ops, ops, len(ops), limit),
        "",
        *_table(_waits, waits, len(waits), limit),
        *(line for head, rows in beside for line in ("", *_table(head, rows, len(rows), limit))),
        *_instead(found, trace.span, limit),
        *_pending(trace, limit),
    ]
    advice = [(*row, b.advice) for row, b in zip(waits, found)]
    tables = table((*_waits, "instead"), advice[:limit]) + table(_ops, ops[:limit])
    tables = (table(_ranks, ranks[:limit]) if ranks else "") + tables
    tables += "".join(table(head, rows[:limit]) for head, rows in beside)
    left = preformatted("\n".join(pending)) if (pending := _pending(trace, limit)) else ""
    shown = "".join(f"<p>{escape(line)}</p>" for line in text[: text.index("")])
    return Shown("\n".join(text), shown + tables + left)


def _summary(trace: Trace) -> str:
    share = trace.overlap() / (trace.span or 1e-9)
    waits = sum(b.line.waits for b in blockers(trace))
    ranks = [counted(len(trace.ranks), "rank")] if len(trace.ranks) > 1 else []
    parts = ", ".join((*ranks, milliseconds(trace.span), counted(len(trace.ops), "op"), counted(waits, "wait")))
    sample = f"; a sample: {trace.recorded:,} of {trace.issued:,} operations" if trace.sampled else ""
    died = "" if trace.complete else "; the process died while it recorded"
    return f"{parts}; two or more threads ran ops {share:.0%} of the time{sample}{died}"


def _of_devices(trace: Trace) -> list[str]:
    """Return a line about the overhead of plugins' devices, if they had any."""
    parts = []
    if trace.compiled:
        n, took = sum(x.modules for x in trace.compiled), sum(x.seconds for x in trace.compiled)
        parts.append(f"compiled {counted(n, 'module')} in {took:.1f} s")
    if trace.on_host:
        n = sum(x.times for x in trace.on_host)
        parts.append(f"{counted(n, 'operation')} of devices ran on the host, between copies")
    return ["; ".join(parts)] if parts else []


def _beside(trace: Trace) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    """Yield tables of the same, by line."""
    if trace.compiled:
        yield (
            _compiled,
            [(f"{x.where}  {x.name}", f"{x.modules:,}", f"{x.seconds * 1e3:,.3f}") for x in trace.compiled],
        )
    if trace.on_host:
        yield _on_host, [(f"{x.where}  {x.name}", f"{x.times:,}") for x in trace.on_host]


def _rank_rows(trace: Trace) -> list[tuple[str, ...]]:
    """Return a row for each of several ranks: its times, and how late it came to collectives."""
    found = rank_times(trace) if len(trace.ranks) > 1 else []
    titles = {r.number: rank_title(trace, r) for r in trace.ranks}
    return [
        (
            titles[r.number],
            *(f"{s * 1e3:,.3f}" for s in (r.computed, r.waited, r.network, r.late)),
            f"{r.last:,} of {r.collectives:,}",
        )
        for r in found
    ]


def _instead(found: list[Blocker], span: float, limit: int) -> list[str]:
    """Return changes that avoid waits, once for each kind of wait, with its lines, where they gain enough."""
    lines: dict[str, list[str]] = defaultdict(list)
    for b in found[:limit]:
        if b.worth_a_change(span):
            lines[b.advice].append(b.line.line)
    rows = [f"{', '.join(dict.fromkeys(at))}: {advice}" for advice, at in lines.items()]
    return ["", "instead", "-------", *rows] if rows else []


def _pending(trace: Trace, limit: int) -> list[str]:
    """Return the lines about ops that had not ended."""
    started = [e for e in trace.unfinished if e.started]
    rows = [f"{e.where}  {e.name} (op {e.seq}) was running" for e in started[:limit]]
    left = len(trace.unfinished)
    return ["", f"not ended: {left:,} operations", *rows] if left else []


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


def _wait_row(found: Blocker) -> tuple[str, ...]:
    x = found.line
    idle = "" if found.idle is None else f"{found.idle:.0%}"
    times = f"{x.seconds * 1e3:,.3f}", f"{found.lost * 1e3:,.3f}"
    return f"{x.where}  {x.name}", f"{x.waits:,}", f"{x.reads:,}", *times, idle


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]], count: int, limit: int) -> list[str]:
    """Return lines with a column of words on the left, and numbers flush right."""
    shown = [head, *rows][: limit + 1]
    width = [max(map(len, column)) for column in zip(*shown)]
    lines = [
        "  ".join([row[0].ljust(width[0]), *(word.rjust(w) for word, w in zip(row[1:], width[1:]))]) for row in shown
    ]
    more = [f"... and {count - limit:,} more"] if count > limit else []
    return [lines[0], "-" * len(lines[0]), *lines[1:], *more]
