"""Products of matrices and what is made of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from .. import _core
from .arithmetic import _value, conjugate
from .base import primitive
from .convert import asarray, axes_of, cast, is_array, promote
from .diagonals import diagonal
from .reduction import sum as sum_
from .shape import ravel, reshape, swapaxes, transpose

__all__ = ["matmul", "dot", "vdot", "vecdot", "inner", "outer", "tensordot", "kron", "einsum"]


def _matmul_da(g: Any, b: Any, inputs: Any, ta: bool, tb: bool) -> Any:
    b = _value(b)
    if b.ndim == 1:
        return g[..., None] * b
    if inputs[0].ndim == 1:
        return _matmul(b, g[..., None])[..., 0]
    return _matmul(b, g, tb, True) if ta else _matmul(g, b, False, not tb)


def _matmul_db(g: Any, a: Any, inputs: Any, ta: bool, tb: bool) -> Any:
    a = _value(a)
    if inputs[1].ndim == 1:
        if a.ndim == 1:
            return g * a
        return _matmul(swapaxes(a, -1, -2), g[..., None])[..., 0]
    if a.ndim == 1:
        return a[:, None] * g[..., None, :]
    return _matmul(g, a, True, ta) if tb else _matmul(a, g, not ta, False)


@primitive(_matmul_da, _matmul_db)
def _matmul(a: Any, b: Any, ta: bool = False, tb: bool = False) -> Any:
    """The product of two arrays of one dtype; ta, tb: of a or b (matrices) with its last axes exchanged."""
    return _core.matmul(a, b, ta, tb)


_matmul.name = "matmul"


def matmul_pair(a: Any, b: Any, op: str) -> tuple[Any, Any]:
    """Both as arrays of one dtype on one device; what is no array goes where the other is."""
    if is_array(a) and is_array(b) and a.dtype is b.dtype:
        return a, b
    a = a if is_array(a) else asarray(a, device=getattr(b, "device", None), op=op)
    b = b if is_array(b) else asarray(b, device=a.device, op=op)
    if a.dtype == b.dtype:
        return a, b
    dtype = promote(a.dtype, b.dtype)
    return (a if a.dtype == dtype else cast(a, dtype)), (b if b.dtype == dtype else cast(b, dtype))


def matmul(x1: Any, x2: Any, out: Any = None) -> Any:
    """The matrix product over the last two axes, leading axes broadcast; a vector counts as a row or column.

    Dtypes are promoted. ValueError if inner dimensions differ or an operand has no axis. `x1 @ x2` is the same.

    >>> from forerun import np
    >>> np.matmul(np.array([[1, 2], [3, 4]]), np.array([1, 1])).tolist()
    [3, 7]
    >>> np.matmul(np.ones((4, 2, 3)), np.ones((3, 5))).shape
    (4, 2, 5)
    """
    result = _matmul(*matmul_pair(x1, x2, "matmul"))
    if out is None:
        return result
    _core.assign(out, result)
    return out


_core.set_hooks(matmul=matmul)


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """The product over a's last axis and b's second to last (or only) one; with a scalar, a * b.

    As `numpy.dot`: the other axes of a stand before those of b, nothing broadcasts. ValueError if extents
    differ.

    >>> from forerun import np
    >>> np.dot([1, 2], [3, 4]).item(), np.dot(np.ones((2, 3)), np.ones((4, 3, 5))).shape
    (11, (2, 4, 5))
    """
    a, b = matmul_pair(a, b, "dot")
    if a.ndim == 0 or b.ndim == 0:
        result = a * b
    elif b.ndim <= 2:
        result = _matmul(a, b)
    else:
        result = tensordot(a, b, ((-1,), (-2,)))
    if out is None:
        return result
    _core.assign(out, result)
    return out


def vdot(a: Any, b: Any) -> Any:
    """The sum of conj(a) * b over the flat arrays: without axes. ValueError if sizes differ.

    >>> from forerun import np
    >>> np.vdot([1 + 1j, 2], [1, 1j]).item()
    (1+1j)
    """
    a, b = matmul_pair(a, b, "vdot")
    return _matmul(_value(ravel(a)), ravel(b))


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Any:
    """The sum of conj(x1) * x2 along `axis`; the other axes broadcast.

    >>> from forerun import np
    >>> np.vecdot([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    a, b = matmul_pair(x1, x2, "vecdot")
    return sum_((conjugate(a) if a.dtype.kind == "c" else a) * b, axis, dtype=a.dtype)


def inner(a: Any, b: Any) -> Any:
    """The sum of products over the last axis of both; the other axes of a stand before those of b.

    ValueError if the last axes differ in extent.

    >>> from forerun import np
    >>> np.inner([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    a, b = matmul_pair(a, b, "inner")
    if a.ndim == 0 or b.ndim == 0:
        return a * b
    return tensordot(a, b, ((-1,), (-1,)))


def outer(a: Any, b: Any) -> Any:
    """The matrix of all products of an element of a and one of b, both flat.

    >>> from forerun import np
    >>> np.outer([1, 2], [3, 4]).tolist()
    [[3, 4], [6, 8]]
    """
    a, b = matmul_pair(a, b, "outer")
    return ravel(a)[:, None] * ravel(b)


def _contracted(a: Any, b: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    if isinstance(axes, (int, numpy.integer)):
        n = int(axes)
        if not 0 <= n <= min(a.ndim, b.ndim):
            raise ValueError(f"tensordot: axes must be between 0 and {min(a.ndim, b.ndim)}, got {n}")
        left, right = tuple(range(a.ndim - n, a.ndim)), tuple(range(n))
    else:
        one, other = axes
        as_tuple = lambda x: (x,) if isinstance(x, (int, numpy.integer)) else tuple(x)
        left = axes_of("tensordot", as_tuple(one), a.ndim)
        right = axes_of("tensordot", as_tuple(other), b.ndim)
    if len(left) != len(right) or any(a.shape[i] != b.shape[j] for i, j in zip(left, right)):
        raise ValueError(
            f"tensordot: summed axes must have one extent, got {a.shape} and {b.shape} over {axes}"
        )
    return left, right


def tensordot(a: Any, b: Any, axes: int | Sequence[Any] = 2) -> Any:
    """The sum of products over axes of both; the others of a stand before those of b.

    axes: n for the last n of a with the first n of b, or a pair of lists of axes. ValueError if extents
    differ.

    >>> from forerun import np
    >>> np.tensordot(np.ones((2, 3, 4)), np.ones((4, 3, 5)), axes=((1, 2), (1, 0))).shape
    (2, 5)
    """
    a, b = matmul_pair(a, b, "tensordot")
    left, right = _contracted(a, b, axes)
    keep_a = [i for i in range(a.ndim) if i not in left]
    keep_b = [i for i in range(b.ndim) if i not in right]
    n = math.prod(a.shape[i] for i in left)
    rows = reshape(transpose(a, [*keep_a, *left]), (math.prod(a.shape[i] for i in keep_a), n))
    columns = reshape(transpose(b, [*right, *keep_b]), (n, math.prod(b.shape[i] for i in keep_b)))
    return reshape(_matmul(rows, columns), (*(a.shape[i] for i in keep_a), *(b.shape[i] for i in keep_b)))


def kron(a: Any, b: Any) -> Any:
    """The Kronecker product: a with each element replaced by its product with b. Extents are multiplied.

    >>> from forerun import np
    >>> np.kron([1, 10], [1, 2]).tolist()
    [1, 2, 10, 20]
    """
    a, b = matmul_pair(a, b, "kron")
    n = max(a.ndim, b.ndim)
    sa, sb = (1,) * (n - a.ndim) + a.shape, (1,) * (n - b.ndim) + b.shape
    wide = reshape(a, tuple(v for s in sa for v in (s, 1))) * reshape(b, tuple(v for s in sb for v in (1, s)))
    return reshape(wide, tuple(x * y for x, y in zip(sa, sb)))


# --- Einstein's notation --------------------------------------------------------------------------


def _parse(subscripts: str, arrays: Sequence[Any]) -> tuple[list[str], str]:
    """Labels of each operand and of the result; what "..." stands for gets capital letters that are free."""
    text = subscripts.replace(" ", "")
    left, arrow, result = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(arrays):
        raise ValueError(f"einsum: subscripts must name {len(arrays)} operands, got {subscripts!r}")
    free = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in text]
    rest = max((a.ndim - len(t.replace("...", "")) for t, a in zip(terms, arrays) if "..." in t), default=0)
    dots = "".join(free[:rest])
    full = []
    for term, a in zip(terms, arrays):
        n = a.ndim - len(term.replace("...", ""))
        full.append(term.replace("...", dots[len(dots) - n :] if n > 0 else ""))
        if len(full[-1]) != a.ndim:
            raise ValueError(f"einsum: subscripts must name each axis, got {term!r} for shape {a.shape}")
    letters = "".join(full)
    if not arrow:
        result = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))
    return full, result.replace("...", dots)


def _reduced(a: Any, labels: str, needed: set[str]) -> tuple[Any, str]:
    """a with repeated labels taken as diagonals, and axes summed whose label nobody else needs."""
    for c in sorted(set(labels)):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            if a.shape[i] != a.shape[j]:
                raise ValueError(
                    f"einsum: axes of one label must have one extent, got {a.shape} for {labels!r}"
                )
            a = diagonal(a, 0, i, j)
            labels = labels[:i] + labels[i + 1 : j] + labels[j + 1 :] + c
    gone = tuple(i for i, c in enumerate(labels) if c not in needed)
    if gone:
        a = sum_(a, gone, dtype=a.dtype)
    return a, "".join(c for c in labels if c in needed)


def _contract(a: Any, la: str, b: Any, lb: str, needed: set[str]) -> tuple[Any, str]:
    """The product of two operands, summed over labels that only they have, as one batched matrix product."""
    extent: dict[str, int] = {}
    for labels, x in ((la, a), (lb, b)):
        for c, n in zip(labels, x.shape):
            if extent.setdefault(c, n) != n and n != 1 and extent[c] != 1:
                raise ValueError(
                    f"einsum: axes of one label must have one extent, got {extent[c]} and {n} for {c!r}"
                )
            extent[c] = max(extent[c], n)
    shared = [c for c in la if c in lb]
    batch = [c for c in shared if c in needed]
    summed = [c for c in shared if c not in needed]
    rows, columns = [c for c in la if c not in lb], [c for c in lb if c not in la]

    def arranged(x: Any, labels: str, *groups: list[str]) -> Any:
        x = transpose(x, [labels.index(c) for group in groups for c in group])
        sizes = iter(x.shape)
        exact = [[next(sizes) for _ in group] for group in groups]
        return reshape(x, (*exact[0], *(math.prod(e) for e in exact[1:])))

    product = _matmul(arranged(a, la, batch, rows, summed), arranged(b, lb, batch, summed, columns))
    labels = "".join([*batch, *rows, *columns])
    return reshape(product, tuple(extent[c] for c in labels)), labels


def einsum(subscripts: str, *operands: Any) -> Any:
    """Sums of products in Einstein's notation; operands are contracted from left to right.

    A label that the result lacks is summed over; "..." stands for axes that broadcast. Without "->" the
    result has the labels that occur once, in order of the alphabet. ValueError if subscripts and shapes do
    not fit.

    >>> from forerun import np
    >>> np.einsum("ij,kj->ik", np.ones((2, 3)), np.ones((2, 3))).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    """
    arrays = [asarray(x) for x in operands]
    dtype = promote(*(a.dtype for a in arrays))
    arrays = [a if a.dtype == dtype else cast(a, dtype) for a in arrays]
    terms, result = _parse(subscripts, arrays)
    if not set(result) <= set("".join(terms)) or len(set(result)) != len(result):
        raise ValueError(
            f"einsum: labels of the result must be those of operands, once each, got {subscripts!r}"
        )
    done, labels = None, ""
    for k, (a, term) in enumerate(zip(arrays, terms)):
        later = set(result).union(*terms[k + 1 :])
        a, term = _reduced(a, term, later | set(labels))
        if done is None:
            done, labels = a, term
        else:
            done, labels = _contract(done, labels, a, term, later)
            done, labels = _reduced(done, labels, later)
    return transpose(done, [labels.index(c) for c in result]) if result else reshape(done, ())
