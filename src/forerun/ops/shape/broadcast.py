"""Views that repeat arrays to a larger shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._base import core as _core
from .._base.convert import asarray, asarrays, broadcast_shapes, extents_of
from .._base.primitive import primitive

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = ["broadcast_arrays", "broadcast_to"]


@primitive(lambda g: g, op="broadcast_to")
def broadcast_to(array: ArrayLike, shape: Shape, subok: bool = False) -> Array:
    """Return a view of an array repeated to a larger shape. Not to be written to.

    An extent of -2 stands for that of the array's axis at this place, counted from the last.

    Parameters
    ----------
    array : array_like
        The array.
    shape : int or tuple of ints
        The shape to repeat it to.
    subok : bool, optional
        Has no effect.

    Returns
    -------
    array
        a view of an array repeated to a larger shape.

    Raises
    ------
    ValueError
        If the shape does not fit.

    Examples
    --------
    >>> from forerun import np
    >>> np.broadcast_to(np.arange(3), (2, 3)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    x = asarray(array)
    if not isinstance(shape, int) and -2 in (shape := extents_of("broadcast_to", "shape", shape)):
        before = len(shape) - x.ndim
        if -2 in shape[: max(before, 0)]:
            raise ValueError(f"broadcast_to: an extent of -2 must stand for an axis, got {shape} for {x.shape}")
        shape = tuple(x.shape[i - before] if n == -2 and i >= before else n for i, n in enumerate(shape))
    return _core.broadcast_to(x, shape)


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[Array, ...]:
    """Return views of the arrays with the shape that they have together.

    Parameters
    ----------
    *args : array_like
        The arrays.
    subok : bool, optional
        Has no effect.

    Returns
    -------
    tuple of arrays
        Views of the arrays with the shape that they have together.

    Raises
    ------
    ValueError
        If the shapes do not broadcast together.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.broadcast_arrays([1, 2], [[3], [4]])]
    [[[1, 2], [1, 2]], [[3, 3], [4, 4]]]
    """
    all_ = asarrays(*args)
    shape = broadcast_shapes("broadcast_arrays", *(a.shape for a in all_))
    kept = [a.shape == shape and not _core.is_scalar(a) for a in all_]
    return tuple(a if same else broadcast_to(a, shape) for a, same in zip(all_, kept))
