"""Layers that exchange channels for places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D"]


class _PixelShuffle(HybridBlock):
    """Spreads each group of channels over more places. Subclasses say along how many axes."""

    _axes = 0

    def __init__(self, factor: int | tuple[int, ...]) -> None:
        super().__init__()
        factors = (factor,) * self._axes if isinstance(factor, int) else tuple(factor)
        if len(factors) != self._axes or min(factors) < 1:
            raise ValueError(f"{type(self).__name__}: factor must be {self._axes} positive numbers, got {factor}")
        self._factors = factors

    def forward(self, x: Array) -> Array:
        """Return x (batch, channels, *extents), with fewer channels and longer extents.

        ValueError if channels do not fit.
        """
        if x.ndim != self._axes + 2:
            wanted = f"{self._axes + 2} axes (batch, channels, ...)"
            raise ValueError(f"{type(self).__name__}: data must have {wanted}, got shape {x.shape}")
        batch, channels, *extents = x.shape
        n = channels
        for f in self._factors:
            n, rest = divmod(n, f)
            if rest:
                wanted = f"a multiple of {self._factors} channels"
                raise ValueError(f"{type(self).__name__}: data must have {wanted}, got shape {x.shape}")
        k = self._axes
        apart = x.reshape((batch, n, *self._factors, *extents))
        pairs = [axis for i in range(k) for axis in (2 + k + i, 2 + i)]
        longer = tuple(e * f for e, f in zip(extents, self._factors))
        return apart.transpose((0, 1, *pairs)).reshape((batch, n, *longer))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._factors})"


class PixelShuffle1D(_PixelShuffle):
    """Sequences (batch, f * channels, width) to (batch, channels, width * f).

    Parameters
    ----------
    factor : int or tuple of ints
        The factor of all extents, or one for each.

    Raises
    ------
    ValueError
        If a factor is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> PixelShuffle1D(2)(np.array([[[1, 2], [3, 4]]])).tolist()
    [[[1, 3, 2, 4]]]
    """

    _axes = 1


class PixelShuffle2D(_PixelShuffle):
    """Images (batch, f1 * f2 * channels, height, width) to (batch, channels, height * f1, width * f2).

    After Shi et al. 2016.

    Parameters
    ----------
    factor : int or tuple of ints
        The factor of all extents, or one for each.

    Raises
    ------
    ValueError
        If a factor is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> PixelShuffle2D((2, 3))(np.zeros((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _axes = 2


class PixelShuffle3D(_PixelShuffle):
    """Volumes (batch, f1 * f2 * f3 * channels, depth, height, width), with all three extents longer.

    Parameters
    ----------
    factor : int or tuple of ints
        The factor of all extents, or one for each.

    Raises
    ------
    ValueError
        If a factor is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> PixelShuffle3D(2)(np.zeros((1, 8, 1, 2, 3))).shape
    (1, 1, 2, 4, 6)
    """

    _axes = 3
