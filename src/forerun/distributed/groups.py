"""Some of the ranks, with operations among them alone."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence

from . import _peers
from ._world import open_group

__all__ = ["Group"]

_made: Counter[tuple[int, ...]] = Counter()  # how many groups of the same ranks there are


class Group:
    """Some of the ranks, for the argument `group` of collectives: these alone take part, and wait for each other.

    Each of the ranks must make the group, in the same order as other groups of the same ranks; it waits for them. Other
    ranks may make it as well, and need not. Ranks keep their numbers: `broadcast(x, root=2, group=Group([2, 3]))`.

    Parameters
    ----------
    ranks : sequence of int
        Numbers of ranks, each once. Results of `allgather` and parts of `reduce_scatter` are in their order.

    Raises
    ------
    ValueError
        There are no ranks, or not all numbers are those of ranks.
    RankFailed
        Another rank has failed.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> alone = dist.Group([0])
    >>> alone.ranks, alone.size, alone.rank
    ((0,), 1, 0)
    >>> dist.allreduce([1.0, 2.0], group=alone).tolist()
    [1.0, 2.0]
    """

    def __init__(self, ranks: Sequence[int]) -> None:
        self.ranks = tuple(int(each) for each in ranks)
        count = _peers.size()
        if not self.ranks or len(set(self.ranks)) < len(self.ranks) or not all(0 <= r < count for r in self.ranks):
            raise ValueError(f"Group: ranks must be different ones in [0, {count}), got {list(self.ranks)}")
        _made[self.ranks] += 1
        # The same number on all ranks of the group, even if they have made different other groups.
        self.number = zlib.crc32(repr((self.ranks, _made[self.ranks])).encode()) | 1 << 31
        if self.rank >= 0 and self.size > 1:
            open_group(self.number, self.ranks, self.number & 0x3FFF)

    def __repr__(self) -> str:
        return f"Group({list(self.ranks)})"

    @property
    def size(self) -> int:
        """The number of ranks in the group."""
        return len(self.ranks)

    @property
    def rank(self) -> int:
        """The place of this rank in the group, from 0; -1 if it is not in it."""
        return self.ranks.index(_peers.rank()) if _peers.rank() in self.ranks else -1
