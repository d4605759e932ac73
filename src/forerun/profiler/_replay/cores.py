"""Processor cores that all work of a process shares: with more of it than cores, all of it slows down alike."""

from __future__ import annotations

import heapq

__all__ = ["Cores"]


class Cores:
    """Some cores, and the work that they share now.

    Work ends in the order of its ends if each piece had a core: it all advances at one pace, so an amount that every
    piece has had since the start orders it. That amount grows by a second in each second while there are enough cores.
    """

    def __init__(self, cores: float) -> None:
        self.cores, self.now, self.had = cores, 0.0, 0.0
        self._work: list[tuple[float, int, str, int]] = []

    def begin(self, now: float, seconds: float, count: int, kind: str, n: int) -> None:
        """Begin work of so many seconds of a core; `count` orders what ends at one time."""
        self._advance(now)
        heapq.heappush(self._work, (self.had + seconds, count, kind, n))

    def next_end(self) -> float:
        """Return when the next work ends, if no other begins or ends before; infinity without work."""
        if not self._work:
            return float("inf")
        return self.now + max(0.0, self._work[0][0] - self.had) / self._pace()

    def end(self) -> tuple[float, str, int]:
        """End the next work; return its time, its kind and number."""
        self._advance(self.next_end())
        _, _, kind, n = heapq.heappop(self._work)
        return self.now, kind, n

    def _pace(self) -> float:
        return min(1.0, self.cores / len(self._work))

    def _advance(self, now: float) -> None:
        if self._work:
            self.had += (now - self.now) * self._pace()
        self.now = now
