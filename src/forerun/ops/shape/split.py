"""Arrays cut into parts, which are views."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, is_whole
from .._base.registry import register
from .axis_order import moveaxis
from .join import _concatenate, _part

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, SupportsArray

__all__ = ["array_split", "hsplit", "split", "unstack", "vsplit", "dsplit"]


class _Split:
    """The parts of an array, which it is all of: their gradients are put together at once."""

    name = "split"
    stateless = True

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: tuple[list[int], int]) -> tuple[Any]:
        """Return all parts' gradients, one after the other."""
        return (_concatenate(g if isinstance(g, tuple) else (g,), attrs[1]),)

    def exported_attributes(self, attrs: tuple[list[int], int]) -> tuple[list[int], int]:
        """Return the arguments of `repeated` besides the inputs."""
        return attrs

    def repeated(self, inputs: Sequence[Any], attrs: tuple[list[int], int]) -> Any:
        """Return the op once more."""
        parts = self(inputs[0], *attrs)
        return parts if len(parts) > 1 else parts[0]

    def __call__(self, x: Array, bounds: list[int], axis: int) -> tuple[Any, ...]:
        parts = tuple(_core.getitem(x, _part(axis, i, j)) for i, j in itertools.pairwise(bounds))
        if _core.recording():
            _core.record(self, (x,), parts, (bounds, axis), 0)
        return parts


_split = _Split()
register(__name__, _split)


def array_split(
    ary: ArrayLike, indices_or_sections: SupportsIndex | Sequence[SupportsIndex] | SupportsArray, axis: int = 0
) -> list[Array]:
    """Return views of ary cut along `axis`: into so many parts, as even as can be, or before the given positions.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.
    axis : int, optional
        The axis to cut along.

    Returns
    -------
    list of arrays
        Views of ary cut along `axis`.

    Raises
    ------
    ValueError
        If the number of parts is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.array_split(np.arange(5), 2)]
    [[0, 1, 2], [3, 4]]
    """
    x = asarray(ary)
    a = axis_of("split", axis, x.ndim)
    n = x.shape[a]
    sections: Any = indices_or_sections
    if is_whole(sections):
        k = operator.index(sections)
        if k < 1:
            raise ValueError(f"split: number of sections must be positive, got {k}")
        sizes = [n // k + (i < n % k) for i in range(k)]
        cuts = [sum(sizes[:i]) for i in range(1, k)]
    elif numpy.ndim(sections) != 1:
        raise TypeError(f"split: sections must be an integer or positions, got {sections}")
    else:
        cuts = [int(i) for i in sections]
    bounds = [0, *cuts, n]
    if bounds == sorted(bounds):
        return list(_split(x, bounds, a))
    return [x[_part(a, i, j)] for i, j in itertools.pairwise(bounds)]


def split(
    ary: ArrayLike, indices_or_sections: SupportsIndex | Sequence[SupportsIndex] | SupportsArray, axis: int = 0
) -> list[Array]:
    """Return views of ary cut along `axis` into equal parts, or before the given positions.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.
    axis : int, optional
        The axis to cut along.

    Returns
    -------
    list of arrays
        Views of ary cut along `axis` into equal parts.

    Raises
    ------
    ValueError
        If parts are not equal.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.split(np.arange(4), 2)]
    [[0, 1], [2, 3]]
    >>> [a.tolist() for a in np.split(np.arange(4), [1, 3])]
    [[0], [1, 2], [3]]
    """
    x = asarray(ary)
    n = x.shape[axis_of("split", axis, x.ndim)]
    sections: Any = indices_or_sections
    if is_whole(sections) and sections > 0 and n % int(sections):
        raise ValueError(f"split: axis must divide into equal parts, got extent {n} into {indices_or_sections}")
    return array_split(x, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Array]:
    """Return views cut along the second axis, or the only one; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views cut along the second axis.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.hsplit(np.arange(4).reshape(2, 2), 2)]
    [[[0], [2]], [[1], [3]]]
    """
    return split(ary, indices_or_sections, 1 if asarray(ary).ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Array]:
    """Return views of an array of two axes or more, cut along the first one; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views of an array of two axes or more.

    Raises
    ------
    ValueError
        If the array has fewer than two axes.

    Examples
    --------
    >>> from forerun import np
    >>> [a.tolist() for a in np.vsplit(np.arange(4).reshape(2, 2), 2)]
    [[[0, 1]], [[2, 3]]]
    """
    x = asarray(ary)
    if x.ndim < 2:
        raise ValueError(f"vsplit: array must have at least two axes, got shape {x.shape}")
    return split(x, indices_or_sections, 0)


def dsplit(ary: ArrayLike, indices_or_sections: int | Sequence[int] | Array) -> list[Array]:
    """Return views cut along the third axis; as `split`.

    Parameters
    ----------
    ary : array_like
        The array to cut.
    indices_or_sections : int or sequence of ints
        The number of parts, or the positions to cut at.

    Returns
    -------
    list of arrays
        Views cut along the third axis.

    Examples
    --------
    >>> from forerun import np
    >>> [a.shape for a in np.dsplit(np.zeros((2, 3, 4)), 2)]
    [(2, 3, 2), (2, 3, 2)]
    """
    return split(ary, indices_or_sections, 2)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Split x into views of its slices along an axis, without that axis. `stack` is the inverse.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int, optional
        The axis to split along.

    Returns
    -------
    tuple of arrays
        The views.

    Raises
    ------
    ValueError
        For an array without axes.

    Examples
    --------
    >>> from forerun import np
    >>> [v.tolist() for v in np.unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]
    """
    x = asarray(x)
    if x.ndim == 0:
        raise ValueError("unstack: array must have at least one axis, got shape ()")
    return tuple(_slices(moveaxis(x, axis, 0)))


def _slices(x: Array) -> list[Array]:
    """Return views of x at each position of the first axis.

    By halves where it is recorded: the gradient of a view is as large as the view's base, so that n views of the
    whole would cost n times the whole, and these cost its size times log n.
    """
    n = x.shape[0]
    if n < 3 or not _core.recording():
        rows: list[Array] = list(x)
        return rows
    return _slices(x[: n // 2]) + _slices(x[n // 2 :])
