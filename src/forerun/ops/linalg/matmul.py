"""Products of stacks of matrices and vectors, with the keywords of NumPy's generalised ufuncs."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_dtype, asarrays, axes_of, cast, castable, check_choice, promote, write_out
from .._base.primitive import direct
from ..elementwise.arithmetic import conj_if_complex, conjugate
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import moveaxis
from ..shape.broadcast import broadcast_to
from ..shape.reshape import expand_dims
from .product import matmul_pair, matrix_product

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = ["matmul", "matvec", "vecdot", "vecmat"]

_CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


# --- over the last axes ---------------------------------------------------------------------------


def _vecdot(a: Array, b: Array) -> Array:
    return sum_((conjugate(a) if a.dtype.kind == "c" else a) * b, -1, dtype=a.dtype)


def _matvec(a: Array, b: Array) -> Array:
    return matrix_product(a, b[..., None])[..., 0]


def _vecmat(a: Array, b: Array) -> Array:
    return matrix_product(conj_if_complex(a)[..., None, :], b)[..., 0, :]


@dataclass(frozen=True)
class _Product:
    """A product over the last axis of one operand and one of the other, `inner`.

    counts: how many axes it takes of each, and gives.
    """

    op: str
    multiply: Callable[[Any, Any], Any]
    counts: tuple[int, int, int]
    inner: int
    must: str  # of operands that fit

    def checked(self, a: Array, b: Array) -> tuple[int, int, int]:
        n, m, _ = self.counts
        if a.ndim < n or b.ndim < m:
            raise ValueError(f"{self.op}: operands must have at least {n} and {m} axes, got {a.shape} and {b.shape}")
        return self.counts

    def __call__(self, a: Array, b: Array) -> Any:
        if a.shape[-1] != b.shape[self.inner]:
            raise ValueError(f"{self.op}: {self.must}, got {a.shape} and {b.shape}")
        return self.multiply(a, b)


class _MatrixProduct(_Product):
    """It takes two axes of each operand, of a vector one."""

    def checked(self, a: Array, b: Array) -> tuple[int, int, int]:
        n, m = min(a.ndim, 2), min(b.ndim, 2)
        return n, m, n + m - 2

    def __call__(self, a: object, b: object) -> Any:
        return self.multiply(a, b)


_MATMUL = _MatrixProduct("matmul", matrix_product, (2, 2, 2), -2, "inner dimensions must match")
_VECDOT = _Product("vecdot", _vecdot, (1, 1, 0), -1, "extents along the axis must be equal")
_MATVEC = _Product("matvec", _matvec, (2, 1, 1), -1, "operands must be matrices and vectors that fit")
_VECMAT = _Product("vecmat", _vecmat, (1, 2, 1), -2, "operands must be vectors and matrices that fit")


# --- keywords -------------------------------------------------------------------------------------


def _loop_dtype(op: str, dtype: DTypeLike, signature: Any) -> numpy.dtype | None:
    """Return the dtype to compute in that a caller names in either way; None if none is named."""
    if signature is None:
        return None if dtype is None else as_dtype(op, dtype)
    if dtype is not None:
        raise TypeError(f"{op}: signature and dtype must not both be given, got {signature!r} and {dtype!r}")
    named = signature.replace("->", "") if isinstance(signature, str) else signature
    if len(named) != 3:
        raise ValueError(f"{op}: signature must name two inputs and one output, got {signature!r}")
    found = {as_dtype(op, d) for d in named if d is not None}
    if len(found) > 1:
        raise TypeError(f"{op}: signature must name one dtype, got {signature!r}")
    return found.pop() if found else None


def _operands(op: str, x1: Any, x2: Any, dtype: numpy.dtype | None, casting: str) -> tuple[Array, Array]:
    """Return both in the dtype to compute in. TypeError if the rule does not allow the cast."""
    check_choice(op, "casting", casting, _CASTINGS)
    x1, x2 = asarrays(x1, x2, op=op)
    want = promote(x1.dtype, x2.dtype) if dtype is None else dtype
    for x in (x1, x2):
        if not castable(x.dtype, want, casting):
            raise TypeError(f"{op}: casting must be possible by rule {casting!r}, got {x.dtype} to {want}")
    x1, x2 = (x if x.dtype == want else cast(x, want) for x in (x1, x2))
    return x1, x2


def _counted(op: str, axes: Axis, counts: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the axes of each operand and of the result as tuples; those of a result without any may be left out."""
    if not isinstance(axes, list):
        raise TypeError(f"{op}: axes must be a list, got {type(axes).__name__}")
    given = [*axes, ()] if len(axes) == 2 and counts == (1, 1, 0) and op == "vecdot" else axes
    if len(given) != 3:
        raise ValueError(f"{op}: axes must be given for both operands and the result, got {axes}")
    found = [(a,) if n == 1 and not isinstance(a, tuple) else a for a, n in zip(given, counts)]
    for a, n in zip(found, counts):
        if not isinstance(a, tuple) or len(a) != n:
            raise numpy.exceptions.AxisError(f"{op}: axes must be {n} of an operand or the result, got {a}")
    return found


def _along(product: _Product, a: Array, b: Array, counts: tuple[int, ...], axes: Any, kept: bool) -> Array:
    """Return the product over the given axes, or the last ones. kept: with an axis of extent 1 for the sum."""
    if axes is None and not kept:
        result: Array = product(a, b)
        return result
    op = product.op

    def last(n: int) -> tuple[int, ...]:
        return tuple(range(-n, 0))

    counts = (*counts[:2], 1) if kept else counts
    given = [last(n) for n in counts] if axes is None else _counted(op, axes, counts)
    a, b = (moveaxis(x, axes_of(op, at, x.ndim), last(n)) for x, at, n in zip((a, b), given, counts))
    result = product(a, b)
    result = expand_dims(result, -1) if kept else result
    return moveaxis(result, last(counts[2]), axes_of(op, given[2], result.ndim))


def _called(
    product: _Product, x1: Any, x2: Any, out: Any, *, axes: Any, axis: Any, keepdims: bool, casting: str, order: str,
    dtype: Any, subok: bool, signature: Any,
) -> Array:  # fmt: skip
    """Return a call with keywords."""
    op = product.op
    check_choice(op, "order", order, ("K", "A", "C"))  # arrays are in C order
    if not isinstance(subok, bool):
        raise TypeError(f"{op}: subok must be True or False, got {subok!r}")
    a, b = _operands(op, x1, x2, _loop_dtype(op, dtype, signature), casting)
    if op != "vecdot" and (axis is not None or keepdims):
        raise TypeError(f"{op}: axis and keepdims must not be given, got {axis} and {keepdims}")
    counts = product.checked(a, b)
    if axis is not None:
        if axes is not None:
            raise TypeError(f"{op}: axis and axes must not both be given, got {axis} and {axes}")
        axis = operator.index(axis)
        axes = [axis, axis, axis] if keepdims else [axis, axis]
    result = _along(product, a, b, counts, axes, keepdims)
    return _write_broadcast(op, result, out, casting)


def _write_broadcast(op: str, result: Array, out: Out, casting: str = "same_kind") -> Array:
    """Return the result, or `out` with the result repeated in it along further axes."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError(f"{op}: out must have 1 entry, got {len(out)}")
        (out,) = out
    shape = getattr(out, "shape", result.shape)
    n = len(shape) - result.ndim
    if shape != result.shape and n >= 0 and all(k in (1, m) for k, m in zip(result.shape, shape[n:])):
        result = broadcast_to(result, shape)
    if casting != "same_kind" and out is not None:
        if not castable(result.dtype, out.dtype, casting):
            raise TypeError(f"{op}: casting must be possible by rule {casting!r}, got {result.dtype} to {out.dtype}")
        result = cast(result, out.dtype)
    return write_out(op, result, out)


# --- public functions -----------------------------------------------------------------------------


@direct("dot")  # with at most two axes each, the same
def matmul(
    x1: ArrayLike, x2: ArrayLike, out: Out = None, *, axes: Axis = None, axis: None = None, keepdims: bool = False,
    casting: str = "same_kind", order: str = "K", dtype: DTypeLike = None, subok: bool = True,
    signature: str | Sequence[DTypeLike] | None = None,
) -> Array:  # fmt: skip
    """Return the matrix product over the last two axes, leading axes broadcast; a vector counts as a row or column.

    Dtypes are promoted. `x1 @ x2` is the same.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, or one that it broadcasts to.
    axes : tuple of ints, optional
        A list of the two axes of each operand and of the result (one where it is a vector).
    axis : None, optional
        Must not be given.
    keepdims : bool, optional
        Must not be given.
    casting : str, optional
        NumPy's rule for casts to `dtype`.
    order : str, optional
        "K", "A" or "C", which make no difference here; ValueError for "F".
    dtype : dtype, optional
        To compute in, TypeError if the rule `casting` forbids that.
    subok : bool, optional
        Has no effect.
    signature : str or tuple of dtypes, optional
        The dtypes of the loop, in place of `dtype`.

    Returns
    -------
    array
        The matrix product over the last two axes.

    Raises
    ------
    ValueError
        If inner dimensions differ or an operand has no axis.

    Examples
    --------
    >>> from forerun import np
    >>> np.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1])).tolist()
    [3, 7]
    >>> np.matmul(np.ones((4, 2, 3)), np.ones((3, 5))).shape
    (4, 2, 5)
    """
    plain = axes is dtype is signature is axis and (casting, order, keepdims) == ("same_kind", "K", False)
    if plain and subok is True:
        result = matrix_product(*matmul_pair(x1, x2, "matmul"))
        return result if out is None else _write_broadcast("matmul", result, out)

    return _called(
        _MATMUL, x1, x2, out, axes=axes, axis=axis, keepdims=keepdims, casting=casting, order=order,
        dtype=dtype, subok=subok, signature=signature,
    )  # fmt: skip


def vecdot(
    x1: ArrayLike, x2: ArrayLike, out: Out = None, *, axes: Axis = None, axis: int = -1, keepdims: bool = False,
    casting: str = "same_kind", order: str = "K", dtype: DTypeLike = None, subok: bool = True,
    signature: str | Sequence[DTypeLike] | None = None,
) -> Array:  # fmt: skip
    """Return the sum of conj(x1) * x2 along `axis` of each, by default the last; the other axes broadcast.

    The others: as for `matmul`.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, which is written and returned.
    axes : tuple of ints, optional
        A list of an axis for each, in place of one for both.
    axis : int, optional
        The axis of the sum in both operands.
    keepdims : bool, optional
        With an axis of extent 1 for the sum.
    casting : str, optional
        NumPy's rule for casts to `dtype`.
    order : str, optional
        "K", "A" or "C", which make no difference here; ValueError for "F".
    dtype : dtype, optional
        The dtype to compute in.
    subok : bool, optional
        Has no effect.
    signature : str or tuple of dtypes, optional
        The dtypes of the loop, in place of `dtype`.

    Returns
    -------
    array
        The sum of conj(x1) * x2 along `axis` of each.

    Raises
    ------
    ValueError
        If one has no axes, or the axis differs in extent.

    Examples
    --------
    >>> from forerun import np
    >>> np.vecdot([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    given = None if axis == -1 and (axes is not None or not keepdims) else axis
    return _called(
        _VECDOT, x1, x2, out, axes=axes, axis=given, keepdims=keepdims, casting=casting, order=order,
        dtype=dtype, subok=subok, signature=signature,
    )  # fmt: skip


def matvec(
    x1: ArrayLike, x2: ArrayLike, out: Out = None, *, axes: Axis = None, axis: None = None, keepdims: bool = False,
    casting: str = "same_kind", order: str = "K", dtype: DTypeLike = None, subok: bool = True,
    signature: str | Sequence[DTypeLike] | None = None,
) -> Array:  # fmt: skip
    """Return products of matrices and vectors: of x1's last two axes and x2's last one; the others broadcast.

    Keywords: as for `matmul`.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, which is written and returned.
    axes : tuple of ints, optional
        The axes of each operand and of the result.
    axis : None, optional
        Must not be given.
    keepdims : bool, optional
        Must not be given.
    casting : str, optional
        NumPy's rule for casts to `dtype`.
    order : str, optional
        "K", "A" or "C", which make no difference here; ValueError for "F".
    dtype : dtype, optional
        The dtype to compute in.
    subok : bool, optional
        Has no effect.
    signature : str or tuple of dtypes, optional
        The dtypes of the loop, in place of `dtype`.

    Returns
    -------
    array
        Products of matrices and vectors.

    Raises
    ------
    ValueError
        If the extents do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> np.matvec([[1, 2], [3, 4]], [[1, 1], [0, 1]]).tolist()
    [[3, 7], [2, 4]]
    """
    return _called(
        _MATVEC, x1, x2, out, axes=axes, axis=axis, keepdims=keepdims, casting=casting, order=order,
        dtype=dtype, subok=subok, signature=signature,
    )  # fmt: skip


def vecmat(
    x1: ArrayLike, x2: ArrayLike, out: Out = None, *, axes: Axis = None, axis: None = None, keepdims: bool = False,
    casting: str = "same_kind", order: str = "K", dtype: DTypeLike = None, subok: bool = True,
    signature: str | Sequence[DTypeLike] | None = None,
) -> Array:  # fmt: skip
    """Return products of conjugated vectors and matrices: of x1's last axis and x2's last two; the others broadcast.

    Keywords: as for `matmul`.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    out : array, optional
        An array of the result's shape, which is written and returned.
    axes : tuple of ints, optional
        The axes of each operand and of the result.
    axis : None, optional
        Must not be given.
    keepdims : bool, optional
        Must not be given.
    casting : str, optional
        NumPy's rule for casts to `dtype`.
    order : str, optional
        "K", "A" or "C", which make no difference here; ValueError for "F".
    dtype : dtype, optional
        The dtype to compute in.
    subok : bool, optional
        Has no effect.
    signature : str or tuple of dtypes, optional
        The dtypes of the loop, in place of `dtype`.

    Returns
    -------
    array
        Products of conjugated vectors and matrices.

    Raises
    ------
    ValueError
        If the extents do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> np.vecmat([1, 1], [[1, 2], [3, 4]]).tolist()
    [4, 6]
    """
    return _called(
        _VECMAT, x1, x2, out, axes=axes, axis=axis, keepdims=keepdims, casting=casting, order=order,
        dtype=dtype, subok=subok, signature=signature,
    )  # fmt: skip
