"""Blocks that run other blocks one after another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..block.block import Block
from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Sequential", "HybridSequential"]


class Sequential(Block):
    """Runs its blocks in order, each on the result of the one before (tuples become several arguments).

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> net = nn.Sequential()
    >>> net.add(nn.Dense(4, activation="relu"), nn.Dense(1))
    >>> net.initialize()
    >>> net(np.ones((2, 3))).shape
    (2, 1)
    >>> net[0].weight
    Parameter weight (shape=(4, 3), dtype=float32)
    """

    _automatic = True

    def add(self, *blocks: Block) -> None:
        """Append blocks. Raises TypeError for anything else.

        Examples
        --------
        >>> from forerun.gluon import nn
        >>> net = nn.Sequential()
        >>> net.add(nn.Dense(4), nn.Dense(1))
        >>> len(net)
        2
        """
        for block in blocks:
            if not isinstance(block, Block):
                raise TypeError(f"{type(self).__name__}.add: must be a Block, got {type(block).__name__}")
            self.register_child(block)

    def forward(self, x: Array, *args: Any) -> Any:
        """Apply all blocks, one after the other.

        Parameters
        ----------
        x : array
            The input of the first block.
        *args : object
            Its further inputs. If a block returns several results, the next one gets all of them.

        Returns
        -------
        array or tuple
            The results of the last block.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Sequential()
        >>> net.add(nn.Lambda(lambda x: x + 1), nn.Lambda(lambda x: x * 2))
        >>> net(np.ones(2)).tolist()
        [4.0, 4.0]
        """
        for block in self._children.values():
            x = block(x, *args)
            args = ()
            if isinstance(x, (tuple, list)) and x:
                x, *args = x
        return (x, *args) if args else x

    def __getitem__(self, index: int | slice) -> Block:
        """A block, or for a slice a new container of the same blocks."""
        blocks = list(self._children.values())[index]
        if not isinstance(blocks, list):
            return blocks
        part = type(self)()
        part.add(*blocks)
        return part

    def __len__(self) -> int:
        return len(self._children)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._children.values())


class HybridSequential(Sequential, HybridBlock):
    """Blocks that are called one after the other, as in `Sequential`; `hybridize()` captures their calls.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> net = HybridSequential()
    >>> net.add(nn.Dense(8, activation="relu"), nn.Dense(2))
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(np.ones((4, 3))).shape
    (4, 2)
    """
