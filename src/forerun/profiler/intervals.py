"""Arithmetic of times: how long something was busy, and how long several things were busy at once."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Interval", "merged", "length", "at_least"]

Interval = tuple[float, float]


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """The union of intervals, as intervals in order that do not touch.

    >>> merged([(4, 5), (0, 2), (1, 3)])
    [(0, 3), (4, 5)]
    """
    union: list[Interval] = []
    for start, end in sorted(intervals):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((start, end))
    return union


def length(intervals: Iterable[Interval]) -> float:
    """The length of the union of intervals.

    >>> length([(0, 2), (1, 3), (4, 5)])
    4
    """
    return sum(end - start for start, end in merged(intervals))


def at_least(n: int, lanes: Iterable[Iterable[Interval]]) -> float:
    """How long at least `n` of the lanes were busy at the same time.

    Intervals of one lane may overlap: they count once.

    >>> at_least(2, [[(0, 3), (1, 4)], [(2, 6)], [(5, 7)]])
    3
    """
    steps = [step for lane in lanes for start, end in merged(lane) for step in ((start, 1), (end, -1))]
    total: float = 0
    busy, since = 0, 0.0
    for time, change in sorted(steps):
        if busy >= n:
            total += time - since
        busy, since = busy + change, time
    return total
