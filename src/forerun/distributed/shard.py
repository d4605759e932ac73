"""The part of a data set that one rank takes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy

from . import _peers

__all__ = ["Shard"]

LAST = ("keep", "discard", "repeat")


class Shard:
    """A sampler: the numbers of the examples below `length` that are this rank's, in another order in each epoch.

    Over all ranks an epoch has each example once. The order follows `seed` and the number of the epoch, the same on all
    ranks, independent of other random numbers.

    Parameters
    ----------
    length : int
        The number of examples.
    shuffle : bool
        False: in order of their numbers in each epoch.
    seed : int
        Of the order; on all ranks the same.
    last : {"keep", "discard", "repeat"}
        For lengths that the ranks do not divide. "keep": some ranks have one example more; "discard": the end of the
        order is left out; "repeat": its start is taken twice. A program with collectives in each batch needs as many
        batches on all ranks, so one of the latter.
    rank, size : int, optional
        The rank, and the number of ranks, if it is not this process's.

    Raises
    ------
    ValueError
        For another `last`, or a rank that is not one of them.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> first, second = (dist.Shard(5, rank=r, size=2) for r in range(2))
    >>> list(first), list(second)
    ([0, 2, 4], [1, 3])
    >>> shuffled = [list(dist.Shard(5, shuffle=True, rank=r, size=2)) for r in range(2)]
    >>> sorted(shuffled[0] + shuffled[1])
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self, length: int, shuffle: bool = False, *, seed: int = 0, last: str = "keep", rank: int | None = None,
        size: int | None = None,
    ) -> None:  # fmt: skip
        self._size = _peers.size() if size is None else size
        self._rank = _peers.rank() if rank is None else rank
        if last not in LAST:
            raise ValueError(f"Shard: last must be one of {', '.join(LAST)}, got {last!r}")
        if not 0 <= self._rank < self._size:
            raise ValueError(f"Shard: rank must be from 0 below {self._size}, got {self._rank}")
        self._length, self._shuffle, self._seed, self._last = length, shuffle, seed, last
        self.epoch, self._taken = 0, 0

    def start(self, epoch: int, taken: int = 0) -> None:
        """Let the next iteration be an epoch, without the first examples of it, which this rank has taken before.

        Parameters
        ----------
        epoch : its number, from 0
        taken : number of this rank's examples to leave out

        Examples
        --------
        >>> from forerun import distributed as dist
        >>> shard = dist.Shard(6, rank=0, size=1)
        >>> shard.start(2, taken=4)
        >>> list(shard), shard.epoch
        ([4, 5], 3)
        """
        self.epoch, self._taken = epoch, taken

    def __iter__(self) -> Iterator[int]:
        order = numpy.arange(self._length)
        if self._shuffle:
            order = numpy.random.default_rng((self._seed, self.epoch)).permutation(order)
        rest = self._length % self._size
        if rest and self._last == "discard":
            order = order[: self._length - rest]
        elif rest and self._last == "repeat":
            order = numpy.resize(order, self._length + self._size - rest)
        taken, self._taken = self._taken, 0
        self.epoch += 1
        return iter(order[self._rank :: self._size][taken:].tolist())

    def __len__(self) -> int:
        whole, rest = divmod(self._length, self._size)
        more = {"keep": self._rank < rest, "discard": False, "repeat": rest > 0 and self._length > 0}[self._last]
        return max(0, whole + more - self._taken)
