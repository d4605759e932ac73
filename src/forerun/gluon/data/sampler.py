"""Samplers: in which order examples are taken, and how they are grouped into batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from ...ops._base.random_stream import current

__all__ = [
    "Sampler", "SequentialSampler", "RandomSampler", "FilterSampler", "BatchSampler", "IntervalSampler",
]  # fmt: skip

LAST = ("keep", "discard", "rollover")


class Examples(Protocol):
    """Examples by number: a data set, or a sequence."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int, /) -> Any: ...


class Order(Protocol):
    """Numbers of examples, or lists of them, in an order: a sampler, or a sequence."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Any]: ...


class Sampler:
    """An order of examples: subclasses define `__iter__` and `__len__`.

    Examples
    --------
    >>> class Backwards(Sampler):
    ...     def __init__(self, length):
    ...         self.length = length
    ...     def __iter__(self):
    ...         return iter(range(self.length - 1, -1, -1))
    ...     def __len__(self):
    ...         return self.length
    >>> list(BatchSampler(Backwards(3), 2))
    [[2, 1], [0]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__}: __iter__ must be defined, got none")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__}: __len__ must be defined, got none")


class SequentialSampler(Sampler):
    """Numbers one after the other.

    Parameters
    ----------
    length : int
        How many numbers.
    start : int, optional
        The first one.

    Examples
    --------
    >>> list(SequentialSampler(3, start=5))
    [5, 6, 7]
    """

    def __init__(self, length: int, start: int = 0) -> None:
        self._range = range(start, start + length)

    def __iter__(self) -> Iterator[int]:
        return iter(self._range)

    def __len__(self) -> int:
        return len(self._range)


class RandomSampler(Sampler):
    """The numbers below a length in another order each time, which follows the seed of `np.random`.

    Parameters
    ----------
    length : int
        How many numbers.

    Examples
    --------
    >>> sorted(RandomSampler(4))
    [0, 1, 2, 3]
    """

    def __init__(self, length: int) -> None:
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(current().draws().permutation(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of those examples of a data set for which a function is true.

    Parameters
    ----------
    fn : callable
        The function, which is called with each example when the sampler is made.
    dataset : Dataset or sequence
        The examples.

    Examples
    --------
    >>> list(FilterSampler(lambda x: x > 3, [5, 2, 7]))
    [0, 2]
    """

    def __init__(self, fn: Callable[[Any], Any], dataset: Examples) -> None:
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of another sampler's numbers.

    Parameters
    ----------
    sampler : iterable
        The numbers of examples.
    batch_size : int
        How many numbers a list has.
    last_batch : {"keep", "discard", "rollover"}, optional
        The use of a smaller list at the end; the last word lets it begin the first list of the next epoch.

    Raises
    ------
    ValueError
        For another word, or a size below 1.

    Examples
    --------
    >>> list(BatchSampler(SequentialSampler(5), 2))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Order, batch_size: int, last_batch: str = "keep") -> None:
        if batch_size < 1:
            raise ValueError(f"BatchSampler: batch_size must be positive, got {batch_size}")
        if last_batch not in LAST:
            raise ValueError(f"BatchSampler: last_batch must be one of {LAST}, got {last_batch!r}")
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._left: list[Any] = []  # of the epoch before

    def __iter__(self) -> Iterator[list[Any]]:
        return self._lists(iter(self._sampler))  # the order is drawn now, not with the first batch

    def _lists(self, numbers: Iterator[Any]) -> Iterator[list[Any]]:
        batch, self._left = self._left, []
        for i in numbers:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._left = batch

    def __len__(self) -> int:
        n = len(self._left) + len(self._sampler)
        return -(-n // self._batch_size) if self._last_batch == "keep" else n // self._batch_size


class IntervalSampler(Sampler):
    """The numbers below a length at equal distances.

    Parameters
    ----------
    length : int
        The numbers are below it.
    interval : int
        The distance of two numbers.
    rollover : bool, optional
        Whether those that were left out follow, from the second number on.

    Raises
    ------
    ValueError
        Unless 1 <= interval <= length.

    Examples
    --------
    >>> list(IntervalSampler(7, 3)), list(IntervalSampler(7, 3, rollover=False))
    ([0, 3, 6, 1, 4, 2, 5], [0, 3, 6])
    """

    def __init__(self, length: int, interval: int, rollover: bool = True) -> None:
        if not 1 <= interval <= length:
            raise ValueError(f"IntervalSampler: interval must be in [1, {length}], got {interval}")
        starts = range(interval if rollover else 1)
        self._ranges = [range(start, length, interval) for start in starts]

    def __iter__(self) -> Iterator[int]:
        for numbers in self._ranges:
            yield from numbers

    def __len__(self) -> int:
        return sum(map(len, self._ranges))
