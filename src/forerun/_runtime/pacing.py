"""Pace: a bound on how far a loop runs ahead of the work that it issues.

The engine bounds run-ahead by operations and by memory. A training loop is better bounded by iterations:
with one batch ahead, the next batch is prepared while the last one is still computed, and no more than two
are alive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import TypeVar

from .. import _core

__all__ = ["pace"]

T = TypeVar("T")


def pace(iterable: Iterable[T], ahead: int = 1) -> Iterator[T]:
    """Iterate, with the loop at most `ahead` iterations ahead of its operations.

    All operations issued up to the end of iteration t have ended before iteration t + 1 + ahead begins; the
    making of an item counts as part of its iteration. ahead=0 is a barrier after each iteration.

    Raises ValueError if ahead is negative; at the beginning of an iteration the errors of operations that have ended
    and that no read has raised, as `waitall` does.

    >>> import forerun
    >>> from forerun import np
    >>> total = np.zeros(2)
    >>> for i in forerun.pace(range(4), ahead=1):
    ...     total += i
    >>> total.tolist()
    [6.0, 6.0]
    """
    if ahead < 0:
        raise ValueError(f"pace: ahead must not be negative, got {ahead}")
    return _paced(iter(iterable), ahead)


def _paced(items: Iterator[T], ahead: int) -> Iterator[T]:
    ends: deque[int] = deque()  # one mark per iteration whose operations may not have ended
    while True:
        if len(ends) > ahead:
            _core.waitall_before(ends.popleft())
        try:
            item = next(items)
        except StopIteration:
            return
        yield item
        del item  # the loop alone decides how long an item lives
        ends.append(_core.mark())
