"""Processor cores that all work of a process shares: with more of it than cores, all of it slows down alike."""

from __future__ import annotations

import heapq

__all__ = ["Cores"]


class _Queue:
    """Work that advances at one pace.

    Work ends in the order of its ends if each piece had a core: an amount that every piece has had since the start
    orders it. That amount grows by the pace in each second.
    """

    def __init__(self) -> None:
        self.had = 0.0
        self.work: list[tuple[float, int, str, int]] = []

    def left(self) -> float:
        """Return the seconds of a core until the next work ends."""
        return max(0.0, self.work[0][0] - self.had)


class Cores:
    """Some cores, and the work that they share now. Work that yields has the cores that other work leaves.

    Threads that wait for messages of other ranks yield: between polls, other threads of the machine go first.
    """

    def __init__(self, cores: float) -> None:
        self.cores, self.now = cores, 0.0
        self._first, self._yields = _Queue(), _Queue()

    def begin(self, now: float, seconds: float, count: int, kind: str, n: int, yields: bool = False) -> None:
        """Begin work of so many seconds of a core; `count` orders work that ends at the same time."""
        self._advance(now)
        queue = self._yields if yields else self._first
        heapq.heappush(queue.work, (queue.had + seconds, count, kind, n))

    def next_end(self) -> float:
        """Return when the next work ends, if no other begins or ends before; infinity without work."""
        return min((end for _, end in self._ends()), default=float("inf"))

    def end(self) -> tuple[float, str, int]:
        """End the next work; return its time, its kind and number."""
        queue, end = min(self._ends(), key=lambda each: each[1])
        self._advance(end)
        _, _, kind, n = heapq.heappop(queue.work)
        return self.now, kind, n

    def _paces(self) -> list[tuple[_Queue, float]]:
        """Return queues whose work advances, with its pace."""
        found, free = [], self.cores
        for queue in (self._first, self._yields):
            if queue.work and free > 0:
                found.append((queue, min(1.0, free / len(queue.work))))
                free -= found[-1][1] * len(queue.work)
        return found

    def _ends(self) -> list[tuple[_Queue, float]]:
        return [(queue, self.now + queue.left() / pace) for queue, pace in self._paces()]

    def _advance(self, now: float) -> None:
        for queue, pace in self._paces():
            queue.had += (now - self.now) * pace
        self.now = now
