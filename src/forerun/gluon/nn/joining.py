"""Blocks that run side by side on the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import np
from ..block.hybrid import HybridBlock
from .container import Sequential

if TYPE_CHECKING:
    from ...typing import Array
    from ..block.block import Block

__all__ = ["Concatenate", "HybridConcatenate"]


class Concatenate(Sequential):
    """Runs each of its blocks on the same data, and joins their results along an axis.

    Parameters
    ----------
    axis : int, optional
        The axis along which results are joined.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> net = nn.Concatenate(axis=1)
    >>> net.add(nn.Dense(4), nn.Identity())
    >>> net.initialize()
    >>> net(np.ones((2, 3))).shape
    (2, 7)
    """

    def __init__(self, axis: int = -1) -> None:
        super().__init__()
        self._axis = axis

    def forward(self, x: Array, *args: Any) -> Array:
        """Concatenate the results of the blocks for the same arguments.

        Parameters
        ----------
        x : array
            The first input of each block.
        *args : object
            Further inputs of each block.

        Returns
        -------
        array
            The results along the axis of the block.

        Raises
        ------
        ValueError
            Without blocks, or if the shapes of results do not fit.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon import nn
        >>> net = nn.Concatenate()
        >>> net.add(nn.Lambda(lambda x: x), nn.Lambda(lambda x: -x))
        >>> net(np.ones((1, 2))).tolist()
        [[1.0, 1.0, -1.0, -1.0]]
        """
        if not len(self):
            raise ValueError(f"{type(self).__name__}: there must be a block to run, got none")
        return np.concatenate([block(x, *args) for block in self], axis=self._axis)

    def __getitem__(self, index: int | slice) -> Block:
        """A block, or for a slice a new container of the same blocks, along the same axis."""
        part = super().__getitem__(index)
        if isinstance(index, slice):
            part._axis = self._axis
        return part


class HybridConcatenate(Concatenate, HybridBlock):
    """Blocks that are called side by side, as in `Concatenate`; `hybridize()` captures their calls.

    Parameters
    ----------
    axis : int, optional
        The axis along which results are joined.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> both = HybridConcatenate(axis=-1)
    >>> both.add(nn.Identity(), nn.Identity())
    >>> both(np.ones((1, 2))).shape
    (1, 4)
    """
