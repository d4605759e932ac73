"""Norms of vectors and matrices, and functions of them."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy
from numpy.linalg import LinAlgError

from .._base import core as _core
from .._base.convert import asarray, axes_of, cast, default_float
from .._base.primitive import direct, primitive
from ..elementwise.arithmetic import absolute, equal, isnan, not_equal, sqrt, square
from ..elementwise.select import where
from ..reduce.reduction import any as any_
from ..reduce.reduction import max as max_
from ..reduce.reduction import min as min_
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import moveaxis
from ..shape.complex_parts import imag, real
from ..shape.memory_order import dense
from ..shape.reshape import reshape
from .lapack import inexact, matrices, stacked
from .matmul import matmul
from .solve import _inv
from .svd_qr import svdvals

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis

__all__ = ["cond", "matrix_norm", "norm", "vector_norm"]


@primitive(lambda g, y: where(equal(y, 0), 0, g / where(equal(y, 0), 1, 2 * y)), op="linalg.norm.root")
def _root(x: Array) -> Array:
    """Return the square root, with gradient 0 at 0, which is a subgradient of a norm there."""
    return sqrt(x)


def _squares(x: Array) -> Array:
    return square(real(x)) + square(imag(x)) if x.dtype.kind == "c" else square(x)


_MOST_BY_BLAS = 1 << 18  # elements, as in the core's norm, which has the same bits


def _sum_of_squares(x: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    of_all = len(axes) == x.ndim and not keepdims and not (_core.recording() and x.node is not None)
    if of_all and x.dtype.char in "fd" and 0 < x.size <= _MOST_BY_BLAS and dense(x):
        elements = reshape(x, (-1,))
        return matmul(elements, elements)
    return sum_(_squares(x), axes, keepdims=keepdims)


def _largest(x: Array, axes: Any, keepdims: bool) -> Array:
    """Return the largest of sizes; of none, 0."""
    if all(x.shape[a] for a in axes):
        return max_(x, axes, keepdims=keepdims)
    return sum_(x, axes, keepdims=keepdims)


_INFINITE = {"inf": numpy.inf, "-inf": -numpy.inf}  # MXNet's words


def _of_vectors(op: str, x: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    ord = _INFINITE.get(ord, ord) if isinstance(ord, str) else ord
    if isinstance(ord, str):
        raise ValueError(f"{op}: ord of vectors must be a number, got {ord!r}")
    if ord is None or ord == 2:
        return _root(_sum_of_squares(x, axes, keepdims))
    size = absolute(x)
    if ord == numpy.inf:
        return _largest(size, axes, keepdims)
    if ord == -numpy.inf:
        return min_(size, axes, keepdims=keepdims)
    if ord == 0:
        return sum_(cast(not_equal(size, 0), size.dtype), axes, keepdims=keepdims)
    if ord == 1:
        return sum_(size, axes, keepdims=keepdims)
    result: Array = sum_(size**ord, axes, keepdims=keepdims) ** (1 / ord)
    return result


def _of_matrices(op: str, x: Array, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Array:
    ord = _INFINITE.get(ord, ord) if isinstance(ord, str) else ord
    if ord is None or ord in ("fro", "f"):
        return _of_vectors(op, x, None, axes, keepdims)
    if ord in (2, -2, "nuc"):
        result = _of_values(svdvals(inexact(op, moveaxis(x, axes, (-2, -1)))), ord)
    elif ord in (1, -1, numpy.inf, -numpy.inf):
        summed, taken = axes if abs(ord) == 1 else axes[::-1]
        sums = sum_(absolute(x), summed, keepdims=True)
        most = _largest(sums, (taken,), True) if ord > 0 else min_(sums, taken, keepdims=True)
        result = _core.as_scalar(reshape(most, tuple(n for i, n in enumerate(x.shape) if i not in axes)))
    else:
        raise ValueError(f'{op}: ord of matrices must be "fro", "nuc", 1, 2 or inf or these negative, got {ord!r}')
    return reshape(result, tuple(1 if i in axes else n for i, n in enumerate(x.shape))) if keepdims else result


def _of_values(s: Array, ord: Any) -> Array:
    if ord == "nuc":
        return sum_(s, -1)
    return _largest(s, (s.ndim - 1,), False) if ord == 2 else min_(s, -1)


def _floats(x: ArrayLike) -> Array:
    x = asarray(x)
    return cast(x, default_float()) if x.dtype.kind in "biu" else x


@direct("norm")
def norm(x: ArrayLike, ord: float | str | None = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """Return a norm of vectors, over all elements or along one axis, or of matrices, along two. Real, at least 0.

    ord of vectors: 2 (the default), 1, inf, -inf, 0 (how many are not 0) or any p; of matrices: "fro" (the default),
    "nuc", 2 and -2 (the sum, the largest and the smallest of singular values), 1, -1, inf, -inf. The infinities may be
    words, "inf" and "-inf". Of integers in the default float.

    Parameters
    ----------
    x : array_like
        The values.
    ord : int, float or str, optional
        The norm, as described above.
    axis : int or tuple of ints, optional
        One axis for vectors, two for matrices; by default all elements.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.

    Returns
    -------
    array
        a norm of vectors.

    Raises
    ------
    ValueError
        For another ord or number of axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.norm([3, -4]).item(), np.linalg.norm([[3, 4], [6, 8]], 1, axis=1).tolist()
    (5.0, [7.0, 14.0])
    """
    x = _floats(x)
    if axis is None:
        if ord is None or (ord in ("f", "fro") and x.ndim == 2) or (x.ndim == 1 and ord == 2):
            return _of_vectors("norm", x, None, tuple(range(x.ndim)), keepdims)
        axes = tuple(range(x.ndim))
    else:
        axes = axes_of("norm", tuple(axis) if isinstance(axis, (tuple, list)) else _whole(axis), x.ndim)
    if len(axes) == 1:
        return _of_vectors("norm", x, ord, axes, keepdims)
    if len(axes) != 2:
        raise ValueError(f"norm: there must be one axis or two, got {len(axes)}")
    return _of_matrices("norm", x, ord, axes, keepdims)


def _whole(axis: Any) -> int:
    try:
        return operator.index(axis)
    except TypeError:
        raise TypeError(f"norm: axis must be None, an integer or a tuple of integers, got {axis!r}") from None


def vector_norm(x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: float = 2) -> Array:
    """Return the norm of the elements along one or more axes, by default all. Real, at least 0. ord: as of `norm`.

    Parameters
    ----------
    x : array_like
        The values.
    axis : int or tuple of ints, optional
        The axis or axes; by default all.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    ord : int, float or str, optional
        The norm, as of `norm`.

    Returns
    -------
    array
        The norm of the elements along one or more axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.vector_norm([[3, 4], [0, 0]]).item(), np.linalg.vector_norm([[3, 4], [6, 8]], axis=1).tolist()
    (5.0, [5.0, 10.0])
    """
    x = _floats(x)
    return _of_vectors("vector_norm", x, ord, axes_of("vector_norm", axis, x.ndim), keepdims)


def matrix_norm(
    x: ArrayLike, /, *, keepdims: bool = False, ord: str = "fro", axis: tuple[int, int] = (-2, -1)
) -> Array:
    """Return the norm of matrices: of two axes, by default the last. ord: as of `norm`.

    Parameters
    ----------
    x : array_like
        The values.
    keepdims : bool, optional
        Whether axes that are reduced stay, with extent 1.
    ord : int, float or str, optional
        The norm, as of `norm`.
    axis : tuple, optional
        The two axes of the matrices.

    Returns
    -------
    array
        The norm of matrices.

    Raises
    ------
    ValueError
        If there are not two axes.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.matrix_norm([[[3, 4]], [[6, 8]]]).tolist(), np.linalg.matrix_norm([[3, 4]], ord="nuc").item()
    ([5.0, 10.0], 5.0)
    """
    x = _floats(x)
    axes = axes_of("matrix_norm", axis, x.ndim)
    if len(axes) != 2:
        raise ValueError(f"matrix_norm: there must be two axes, got {axis}")
    return _of_matrices("matrix_norm", x, ord, axes, keepdims)


def _inverses_or_nan(x: numpy.ndarray) -> numpy.ndarray:
    """Return the inverses of a stack, with NaN for singular matrices."""
    try:
        return numpy.linalg.inv(x)
    except LinAlgError:
        if x.ndim == 2:
            return numpy.full_like(x, numpy.nan)
        return numpy.stack([_inverses_or_nan(one) for one in x])


_inv_grad = _inv.grads[0][0]  # type: ignore[attr-defined]


@primitive(_inv_grad, op="linalg.cond.inv")
def _inv_or_nan(x: Array) -> Array:
    n = x.shape[-1]
    return stacked("cond", _inverses_or_nan, [x], [((n, n), x.dtype)], x.shape[:-2], n**3)[0]


def cond(x: ArrayLike, p: float | str | None = None) -> Array:
    """Return the condition number of matrices: by default the largest singular value divided by the smallest.

    inf of singular matrices.

    Parameters
    ----------
    x : array_like
        The matrices: the last two axes.
    p : int, float or str, optional
        A norm of matrices as of `norm`; the result is the norm times that of the inverse.

    Returns
    -------
    array
        The condition number of matrices.

    Raises
    ------
    LinAlgError
        If x is empty or (but for p of None, 2 and -2) of matrices that are not square.

    Examples
    --------
    >>> from forerun import np
    >>> np.linalg.cond([[1, 0], [0, 4]]).item(), np.linalg.cond([[1, 0], [0, 0]], 1).item()
    (4.0, inf)
    """
    x = asarray(x)
    if 0 in x.shape[-2:] and x.ndim > 1:
        raise LinAlgError(f"cond: array must not be empty, got shape {x.shape}")
    x = matrices("cond", x, square=p not in (None, 2, -2))
    if p in (None, 2, -2):
        s = svdvals(x)
        ratio = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        axes = (x.ndim - 2, x.ndim - 1)
        ratio = _of_matrices("cond", x, p, axes, False) * _of_matrices("cond", _inv_or_nan(x), p, axes, False)
    unknown = isnan(ratio) & ~any_(isnan(x), (-2, -1))
    return _core.as_scalar(where(unknown, numpy.full((), numpy.inf, ratio.dtype), ratio))
