"""Arithmetic of times: how long something was busy, and how long several things were busy at once."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Interval", "merged", "length", "at_least", "fewer_than"]

Interval = tuple[float, float]


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the union of intervals, as intervals in order that do not touch.

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
    """Return the length of the union of intervals.

    >>> length([(0, 2), (1, 3), (4, 5)])
    4
    """
    return sum(end - start for start, end in merged(intervals))


def at_least(n: int, lanes: Iterable[Iterable[Interval]]) -> float:
    """Return how long at least `n` of the lanes were busy at the same time.

    Intervals of one lane may overlap: they count once.

    >>> at_least(2, [[(0, 3), (1, 4)], [(2, 6)], [(5, 7)]])
    3
    """
    total: float = 0
    since = 0.0
    busy = 0
    for time, change in _steps(lanes):
        if busy >= n:
            total += time - since
        busy, since = busy + change, time
    return total


def fewer_than(n: int, lanes: Iterable[Iterable[Interval]], within: Interval) -> list[Interval]:
    """When fewer than `n` of the lanes were busy, in a stretch of time.

    >>> fewer_than(2, [[(0, 3)], [(2, 6)]], (1, 9))
    [(1, 2), (3, 9)]
    """
    start, end = within
    found, since, busy = [], start, 0
    for time, change in [*_steps(lanes), (end, 0)]:
        now = min(max(time, start), end)
        if busy < n and now > since:
            found.append((since, now))
        busy, since = busy + change, now
    return merged(found)


def _steps(lanes: Iterable[Iterable[Interval]]) -> list[tuple[float, int]]:
    """When a lane becomes busy (1) or idle (-1), in order."""
    return sorted(step for lane in lanes for start, end in merged(lane) for step in ((start, 1), (end, -1)))
