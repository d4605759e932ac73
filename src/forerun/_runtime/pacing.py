"""Pace: a bound on how far a loop runs ahead of the work that it issues.

The engine bounds run-ahead by operations and by memory. A training loop is better bounded by iterations:
with one batch ahead, the next batch is prepared while the last one is still computed, and no more than two
are alive.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sized
from typing import Any, TypeVar

from .. import _core

__all__ = ["pace"]

T = TypeVar("T")


def pace(iterable: Iterable[T], ahead: int = 1) -> Iterator[T]:
    """Iterate, with the loop at most `ahead` iterations ahead of its operations.

    All operations issued up to the end of iteration t have ended before iteration t + 1 + ahead begins; making an item
    counts as part of its iteration.

    Parameters
    ----------
    iterable : iterable
        The items.
    ahead : int
        How many iterations may be pending. 0 is a barrier after each iteration.

    Returns
    -------
    iterator
        The items. It has the length of the iterable, for bars such as `tqdm`, which counts iterations when they begin.

    Raises
    ------
    ValueError
        If `ahead` is negative.
    Exception
        At the beginning of an iteration: errors of ended operations that no read has raised, as `waitall` does.

    Examples
    --------
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
    return _Paced(_paced(iter(iterable), ahead), iterable)


class _Paced(Generator[T, None, None]):
    """The iterator of `pace`: a generator with a length."""

    def __init__(self, generator: Generator[T, None, None], iterable: Iterable[T]) -> None:
        self._generator, self._iterable = generator, iterable

    def __iter__(self) -> Generator[T, None, None]:
        return self._generator

    def __next__(self) -> T:
        return next(self._generator)

    def __len__(self) -> int:
        if isinstance(self._iterable, Sized):
            return len(self._iterable)
        raise TypeError(f"pace: iterable must have a length, got {type(self._iterable).__name__}")

    def send(self, value: None) -> T:
        """Return the next item."""
        return self._generator.send(value)

    def throw(self, *error: Any) -> T:
        """Raise an error at the loop's present position."""
        return self._generator.throw(*error)


def _paced(items: Iterator[T], ahead: int) -> Generator[T, None, None]:
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
