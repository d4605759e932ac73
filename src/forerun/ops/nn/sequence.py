"""Steps of sequences of several lengths: the last one, the opposite order, a mask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray_like_device, asarrays, cast
from ..create.fill import full
from ..elementwise.select import where
from ..index.getitem import getitem, take_along_axis
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["sequence_mask", "sequence_last", "sequence_reverse"]


def _lengths(op: str, x: Array, lengths: ArrayLike | None, used: bool, axis: int) -> Array | None:
    """Return int64 lengths of sequences, or None.

    ValueError if the axis is neither 0 nor 1, or their number does not fit.
    """
    if axis not in (0, 1) or x.ndim < 2:
        raise ValueError(f"{op}: axis must be 0 or 1 of 2 or more, got {axis} for shape {x.shape}")
    if not used or lengths is None:
        return None
    n = cast(asarray_like_device(lengths, x), numpy.dtype("int64"))
    if n.shape != (x.shape[1 - axis],):
        raise ValueError(f"{op}: sequence_length must have shape {(x.shape[1 - axis],)}, got {n.shape}")
    return n


def _along(x: Array, places: Any) -> Array:
    """Return elements of x (steps, batch, ...) at places (n, batch)."""
    wide = reshape(places, places.shape + (1,) * (x.ndim - 2))
    return take_along_axis(x, broadcast_to(wide, (places.shape[0], *x.shape[1:])), 0)


def sequence_last(
    x: ArrayLike, sequence_length: ArrayLike | None = None, use_sequence_length: bool = False, axis: int = 0
) -> Array:
    """Return the last step of each sequence: by the lengths given, with `use_sequence_length`, or of `x`.

    Parameters
    ----------
    x : array_like
        The sequences, of shape (steps, sequences, ...), or (sequences, steps, ...) if `axis` is 1.
    sequence_length : array_like, optional
        The number of steps of each sequence, of shape (sequences,). A length of 0 counts from the end of `x`.
    use_sequence_length : bool, optional
        Whether `sequence_length` is used.
    axis : int, optional
        The axis of steps, 0 or 1; the other one is that of sequences.

    Returns
    -------
    array
        The last steps, of shape (sequences, ...), in x's dtype.

    Raises
    ------
    ValueError
        If the axis is neither 0 nor 1, `x` has fewer than two axes, or there is not one length for each sequence.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.sequence_last(np.arange(6).reshape(3, 2), np.array([1, 3]), use_sequence_length=True).tolist()
    [0, 5]
    """
    x = asarray_like_device(x, sequence_length)
    n = _lengths("sequence_last", x, sequence_length, use_sequence_length, axis)
    x = moveaxis(x, axis, 0)
    return getitem(x, -1) if n is None else getitem(_along(x, reshape(n - 1, (1, -1))), 0)


def sequence_reverse(
    x: ArrayLike, sequence_length: ArrayLike | None = None, use_sequence_length: bool = False, axis: int = 0
) -> Array:
    """Return steps of sequences in the opposite order: those within each length, with `use_sequence_length`, or all.

    Parameters
    ----------
    x : array_like
        The sequences, of shape (steps, sequences, ...), or (sequences, steps, ...) if `axis` is 1.
    sequence_length : array_like, optional
        The number of steps of each sequence, of shape (sequences,). Steps after these keep their positions.
    use_sequence_length : bool, optional
        Whether `sequence_length` is used.
    axis : int, optional
        The axis of steps, 0 or 1; the other one is that of sequences.

    Returns
    -------
    array
        The sequences, of x's shape and dtype.

    Raises
    ------
    ValueError
        If the axis is neither 0 nor 1, `x` has fewer than two axes, or there is not one length for each sequence.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.sequence_reverse(np.arange(6).reshape(3, 2), np.array([2, 3]), use_sequence_length=True).tolist()
    [[2, 5], [0, 3], [4, 1]]
    """
    x = asarray_like_device(x, sequence_length)
    n = _lengths("sequence_reverse", x, sequence_length, use_sequence_length, axis)
    x = moveaxis(x, axis, 0)
    n = full(x.shape[1], x.shape[0], dtype="int64", device=x.device) if n is None else n
    step = _core.from_numpy(numpy.arange(x.shape[0])[:, None], x.device)
    return moveaxis(_along(x, where(step < n, n - 1 - step, step)), 0, axis)


def sequence_mask(
    x: ArrayLike, sequence_length: ArrayLike | None = None, use_sequence_length: bool = False, value: float = 0.0,
    axis: int = 0,
) -> Array:  # fmt: skip
    """Return `x` with elements beyond each sequence's length set to `value`; `x` itself without `use_sequence_length`.

    Parameters
    ----------
    x : array_like
        The sequences, of shape (steps, sequences, ...), or (sequences, steps, ...) if `axis` is 1.
    sequence_length : array_like, optional
        The number of steps of each sequence, of shape (sequences,).
    use_sequence_length : bool, optional
        Whether `sequence_length` is used.
    value : float, optional
        The value of elements beyond the length.
    axis : int, optional
        The axis of time, 0 or 1; the other one is that of sequences.

    Returns
    -------
    array
        The sequences, of x's shape, in the dtype that `x` and `value` have together; or `x` itself, without
        `use_sequence_length` or without lengths.

    Raises
    ------
    ValueError
        If lengths are used and the axis is neither 0 nor 1.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.sequence_mask(np.ones((3, 2)), np.array([1, 2]), use_sequence_length=True).tolist()
    [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """
    x, lengths = asarrays(x, sequence_length)
    if not use_sequence_length or lengths is None:
        return x
    if axis not in (0, 1):
        raise ValueError(f"sequence_mask: axis must be 0 or 1, got {axis}")
    steps = _core.from_numpy(numpy.arange(x.shape[axis]), x.device)
    inside = steps[:, None] < lengths if axis == 0 else steps < lengths[:, None]
    return where(reshape(inside, inside.shape + (1,) * (x.ndim - 2)), x, value)
