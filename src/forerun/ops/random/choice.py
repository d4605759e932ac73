"""Elements of an array drawn at random, evenly or by probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, is_whole
from .._base.host_task import host_op
from .._base.random_stream import current
from ..index.getitem import take
from .arguments import _rows, _shape
from .conditions import check_choice, known
from .integers import randint

if TYPE_CHECKING:
    from ...typing import Array, DeviceLike, Shape

__all__ = ["choice"]


def choice(
    a: int | Any,
    size: Shape | None = None,
    replace: bool = True,
    p: Array | None = None,
    axis: int = 0,
    shuffle: bool = True,
    *,
    device: DeviceLike = None,
    ctx: DeviceLike = None,
) -> Array:
    """Return elements (slices along an axis) drawn from an array, or numbers below a (int64).

    Without a size: one.

    Parameters
    ----------
    a : int or array_like
        The elements, or an integer.
    size : int or tuple of ints, optional
        The shape of the result; by default one number, without axes.
    replace : bool, optional
        Whether an element can be drawn again.
    p : array_like, optional
        The probability of each, whose sum is 1.
    axis : int, optional
        The axis of `a` whose slices are drawn.
    shuffle : bool, optional
        Whether the order of elements drawn without replacement is random too.
    device : device, optional
        The device of the result.
    ctx : device, optional
        MXNet's name for `device`.

    Returns
    -------
    array
        The elements or numbers that were drawn.

    Raises
    ------
    ValueError
        If p has not one number for each element, or there are too few elements, or one of p is negative or their sum is
        another: where the result is read, if p is a forerun array.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.choice([5, 6, 7], 2, p=[0, 0, 1]).tolist()
    [7, 7]
    """
    where = device or ctx
    whole = is_whole(a)
    rows = None if whole else asarray(a)
    if rows is None:
        n, at = int(a), 0
    else:
        _rows("choice", rows)
        at = axis_of("choice", axis, rows.ndim)
        n = rows.shape[at]
    shape = () if size is None else _shape("choice", size)
    if n <= 0 and numpy.prod(shape, dtype=int):
        raise ValueError(f"choice: there must be something to choose from, got {n} elements")
    if p is not None and numpy.shape(p) != (n,):
        raise ValueError(f"choice: p must have shape {(n,)}, got {numpy.shape(p)}")
    if replace and p is None:
        picked = randint(0, max(n, 1), shape, device=where)
    else:
        picked = _drawn_by_numpy(n, shape, replace, p, shuffle, where)
    if rows is None:
        return _core.as_scalar(picked) if size is None else picked
    return take(rows, picked, at)


def _drawn_by_numpy(n: int, shape: tuple[int, ...], replace: bool, p: Any, shuffle: bool, where: DeviceLike) -> Array:
    """Return numbers below n: with probabilities, or none of them twice."""
    many = int(numpy.prod(shape, dtype=int))
    if not replace and many > n:
        raise ValueError(f"choice: size must be at most {n} without replacement, got {shape}")
    if p is not None and known(p):
        check_choice(p, many, replace)
    make = current().generator()

    def draw(weights: numpy.ndarray) -> numpy.ndarray:
        share = None
        if p is not None:
            check_choice(weights, many, replace)
            share = weights.astype("float64") / weights.sum(dtype="float64")
        return make().choice(n, shape, replace, share, shuffle=shuffle)

    return host_op("choice", draw, [asarray(0 if p is None else p, device=where)], shape, "int64")
