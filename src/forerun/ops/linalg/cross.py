"""The cross product of vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base.convert import axis_of, broadcast_shapes
from .._base.primitive import numpy_when_small
from ..create.fill import zeros
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_arrays
from ..shape.join import concatenate, stack
from .product import matmul_pair

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["cross"]


def _cross_of_three(a: numpy.ndarray, b: numpy.ndarray) -> numpy.ndarray:
    """Return NumPy's cross product of vectors of three elements; IndexError of others, of which it warns."""
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise IndexError("cross: vectors must have three elements")
    return numpy.cross(a, b)


@numpy_when_small(_cross_of_three, "a b", "aa", "iuf")
def cross(
    a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Return the cross product of vectors of three elements along axes of a and b, or of two, whose third counts as 0.

    It lies along `axisc` of the result; the other axes broadcast. Of two vectors of two elements the third element
    alone, without an axis for it.

    Parameters
    ----------
    a : array_like
        The first vectors.
    b : array_like
        The second vectors.
    axisa : int, optional
        The axis of vectors in `a`.
    axisb : int, optional
        The axis of vectors in `b`.
    axisc : int, optional
        The axis of vectors in the result.
    axis : int, optional
        The same one for all three.

    Returns
    -------
    array
        The cross products.

    Raises
    ------
    ValueError
        If vectors have another number of elements.

    Examples
    --------
    >>> from forerun import np
    >>> np.cross(np.array([1, 0, 0]), np.array([0, 1, 0])).tolist()
    [0, 0, 1]
    """
    a, b = matmul_pair(a, b, "cross")
    if axis is not None:
        axisa = axisb = axisc = axis
    p = moveaxis(a, axis_of("cross", axisa, a.ndim), -1)
    q = moveaxis(b, axis_of("cross", axisb, b.ndim), -1)
    if p.shape[-1] not in (2, 3) or q.shape[-1] not in (2, 3):
        raise ValueError(f"cross: vectors must have three elements, or two, got shapes {a.shape} and {b.shape}")
    flat = p.shape[-1] == q.shape[-1] == 2
    p, q = (p, q) if flat else (_with_third(p), _with_third(q))
    broadcast_shapes("cross", p.shape, q.shape)
    if flat:
        return p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
    p, q = broadcast_arrays(p, q)
    parts = [p[..., i] * q[..., j] - p[..., j] * q[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return moveaxis(stack(parts, -1), -1, axis_of("cross", axisc, p.ndim))


def _with_third(x: Array) -> Array:
    """Return vectors along the last axis, with a third element of 0 if there are two."""
    if x.shape[-1] == 3:
        return x
    return concatenate([x, zeros((*x.shape[:-1], 1), x.dtype, device=x.device)], -1)
