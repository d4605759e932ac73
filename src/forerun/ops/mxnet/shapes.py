"""Shapes: by codes, or as another array has it; and the shape as an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray, asarray_like_device, axes_of
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape as _reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = ["broadcast_like", "reshape", "shape_array"]


def reshape(x: ArrayLike, newshape: Shape, reverse: bool = False, order: str = "C") -> Array:
    """Return `x` in another shape, which may have codes for axes of `x`, taken in order.

    Parameters
    ----------
    x : array_like
        The values.
    newshape : int or tuple of ints
        The new shape: extents, and codes in place of some. -1 is the extent that takes up all other elements; -2: this
        axis; -3: leave out this axis, of extent 1; -4: all axes that are left; -5: the product of two axes; -6: this
        axis in two, of the two extents that follow, one of which may be -1.
    reverse : bool, optional
        Whether codes and axes are taken from the last to the first.
    order : str, optional
        "F" takes and places elements with the first axis running fastest, "C" with the last one, as in `np.reshape`.

    Returns
    -------
    array
        An array with the new shape: a view where memory allows.

    Raises
    ------
    ValueError
        If codes and axes do not fit, or the sizes differ.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.zeros((2, 3, 8))
    >>> npx.reshape(x, (-2, -5)).shape, npx.reshape(x, (-2, -2, -6, 2, -1)).shape, npx.reshape(x, (-1, -4)).shape
    ((2, 24), (2, 3, 2, 4), (2, 3, 8))
    """
    x = asarray(x)
    codes: Any = [newshape] if isinstance(newshape, int) else list(newshape)  # type: ignore[arg-type]
    shape = list(x.shape)
    if reverse:
        shape, codes = shape[::-1], _reversed(codes)
    wanted = _Codes(shape, codes).decoded()
    return _reshape(x, tuple(wanted[::-1] if reverse else wanted), order)


def _reversed(codes: list[int]) -> list[int]:
    """Codes from last to first, with each -6 before its two extents, which are reversed too."""
    reversed_codes: list[int] = []
    i = 0
    while i < len(codes):
        n = 3 if codes[i] == -6 else 1
        reversed_codes[:0] = [codes[i], *codes[i + 1 : i + n][::-1]]
        i += n
    return reversed_codes


class _Codes:
    """Reads codes of `reshape`, and the axes that they stand for."""

    def __init__(self, shape: list[int], codes: list[int]) -> None:
        self.shape, self.codes = shape, codes
        self.at = 0

    def axis(self) -> int:
        """Return the next axis of the array."""
        if self.at >= len(self.shape):
            raise ValueError(f"reshape: codes must fit the axes, got {self.codes} for {tuple(self.shape)}")
        self.at += 1
        return self.shape[self.at - 1]

    def decoded(self) -> list[int]:
        """Return the extents, with at most one -1."""
        wanted: list[int] = []
        rest = iter(self.codes)
        for code in rest:
            if code == -2:
                wanted.append(self.axis())
            elif code == -3:
                if (n := self.axis()) != 1:
                    raise ValueError(f"reshape: an axis left out by -3 must have extent 1, got {n}")
            elif code == -4:
                wanted += self.shape[self.at :]
                self.at = len(self.shape)
            elif code == -5:
                wanted.append(self.axis() * self.axis())
            elif code == -6:
                wanted += self.split(next(rest, 0), next(rest, 0))
            else:
                wanted.append(code)
                self.at += code >= 0 or (code == -1 and self.at < len(self.shape))
        return wanted

    def split(self, a: int, b: int) -> list[int]:
        """Return the next axis in two."""
        n = self.axis()
        a, b = (n // b if b > 0 else 0) if a == -1 else a, (n // a if a > 0 else 0) if b == -1 else b
        if a * b != n:
            raise ValueError(f"reshape: extents after -6 must give {n}, got {a} and {b}")
        return [a, b]


def broadcast_like(
    x: ArrayLike,
    like: ArrayLike,
    lhs_axes: int | Sequence[int] | None = None,
    rhs_axes: int | Sequence[int] | None = None,
) -> Array:
    """Return an array in the shape of another one, or with its extents along some axes.

    Parameters
    ----------
    x : array_like
        The values.
    like : array_like
        The array that gives the shape. Its values do not matter.
    lhs_axes : int or tuple of ints, optional
        The axes of `x` that are broadcast; None broadcasts `x` to the shape of `like`.
    rhs_axes : int or tuple of ints, optional
        The axes of `like` that give their extents, as many as `lhs_axes`.

    Returns
    -------
    array
        `x` in the shape of `like`, or in its own shape with other extents along `lhs_axes`.

    Raises
    ------
    ValueError
        If shapes do not fit, axes are not as many in both or not different, or only one of both is given.
    IndexError
        If `x` or `like` lacks an axis.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.broadcast_like(np.ones((1, 3)), np.zeros((2, 3))).shape
    (2, 3)
    """
    x, shape = asarray_like_device(x, like), asarray(like).shape
    if (lhs_axes is None) != (rhs_axes is None):
        raise ValueError(f"broadcast_like: both axes must be given, or none, got {lhs_axes} and {rhs_axes}")
    if lhs_axes is not None:
        own, other = axes_of("broadcast_like", lhs_axes, x.ndim), axes_of("broadcast_like", rhs_axes, len(shape))
        if len(own) != len(other):
            raise ValueError(f"broadcast_like: axes must be as many, got {lhs_axes} and {rhs_axes}")
        wanted = list(x.shape)
        for a, b in zip(own, other):
            wanted[a] = shape[b]
        shape = tuple(wanted)
    return broadcast_to(x, shape)


def shape_array(x: ArrayLike) -> Array:
    """Return the shape of `x` as an array.

    Parameters
    ----------
    x : array_like
        The array. Its values have no effect.

    Returns
    -------
    array
        The extents, a vector of int64, on x's device.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.shape_array(np.zeros((2, 3))).tolist()
    [2, 3]
    """
    x = asarray(x)
    return asarray(numpy.array(x.shape, "int64"), device=x.device)
