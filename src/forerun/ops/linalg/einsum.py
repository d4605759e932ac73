"""Sums of products in Einstein's notation, as products of matrices."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_dtype, asarrays, cast, check_choice, is_array, promote, write_out
from ..elementwise.arithmetic import multiply
from ..index.diagonal import diagonal
from ..reduce.reduction import sum as sum_
from ..shape.axis_order import transpose
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape
from .tensordot import _matmul, dot

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike, Out

__all__ = ["einsum", "einsum_path"]

# A label names an axis: a letter, or a number below 0 for an axis that "..." stands for, the last one -1.
Label = str | int
Labels = tuple[Label, ...]


# --- parsing --------------------------------------------------------------------------------------


def _letter(label: Any) -> str:
    """Return the letter for a number of a list of labels; numbers and letters have one order."""
    if label is Ellipsis:
        return "..."
    try:
        n = operator.index(label)
    except TypeError:
        raise TypeError(f"einsum: labels must be integers or Ellipsis, got {label!r}") from None
    if not 0 <= n < 52:
        raise ValueError(f"einsum: labels must be in [0, 52), got {n}")
    return chr(ord("A") + n) if n < 26 else chr(ord("a") + n - 26)


def _spelled(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """Subscripts and operands, of either way to give them: operands with lists of labels become letters."""
    if not args:
        raise ValueError("einsum: there must be subscripts and operands, got none")
    if isinstance(args[0], str):
        return args[0].replace(" ", ""), list(args[1:])
    text = ["".join(map(_letter, labels)) for labels in args[1::2]]
    result = "->" + "".join(map(_letter, args[-1])) if len(args) % 2 else ""
    return ",".join(text) + result, list(args[: len(args) // 2 * 2 : 2])


def _labels(term: str, rest: int | None, subscripts: str) -> Labels:
    """Return the labels of a term, in which "..." stands for `rest` axes."""
    before, dots, after = term.partition("...")
    if not all(c.isascii() and c.isalpha() for c in before + after):
        raise ValueError(f"einsum: labels must be letters or one '...' a term, got {subscripts!r}")
    return (*before, *range(-(rest or 0), 0), *after) if dots else tuple(before)


@functools.lru_cache(1024)
def _read(subscripts: str, shapes: tuple[tuple[int, ...], ...]) -> tuple[tuple[Labels, ...], Labels]:
    """Labels of each operand and of the result, which fit the operands' shapes."""
    terms, result = _parse(subscripts, shapes)
    _extents(terms, shapes)
    return tuple(terms), result


def _parse(subscripts: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[Labels], Labels]:
    """Labels of each operand and of the result."""
    left, arrow, result = subscripts.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(f"einsum: subscripts must name {len(shapes)} operands, got {subscripts!r}")
    found = []
    for term, shape in zip(terms, shapes):
        found.append(_labels(term, max(0, len(shape) - len(term) + 3), subscripts))
        if len(found[-1]) != len(shape):
            raise ValueError(f"einsum: subscripts must name each axis, got {term!r} for shape {shape}")
    every = [c for labels in found for c in labels]
    dots = tuple(range(min((c for c in every if isinstance(c, int)), default=0), 0))
    if not arrow:
        return found, dots + tuple(sorted(c for c in set(every) if isinstance(c, str) and every.count(c) == 1))
    asked = _labels(result, len(dots), subscripts)
    if not set(dots) <= set(asked) <= set(every) or len(set(asked)) != len(asked):
        raise ValueError(f"einsum: labels of the result must be those of operands, once each, got {subscripts!r}")
    return found, asked


def _extents(terms: Sequence[Labels], shapes: Sequence[tuple[int, ...]]) -> dict[Label, int]:
    """Return the extent of each label; an extent of 1 is repeated where another operand has more."""
    extents: dict[Label, int] = {}
    for labels, shape in zip(terms, shapes):
        if len(set(zip(labels, shape))) != len(set(labels)):
            text = "".join(map(str, labels))
            raise ValueError(f"einsum: axes of one label must have one extent, got {shape} for {text!r}")
        for c, n in zip(labels, shape):
            if extents.setdefault(c, n) != n and n != 1 and extents[c] != 1:
                raise ValueError(f"einsum: axes of one label must have one extent, got {extents[c]} and {n} for {c!r}")
            extents[c] = n if extents[c] == 1 else extents[c]
    return extents


# --- computing ------------------------------------------------------------------------------------


def _reduced(x: Array, labels: Labels, needed: set[Label]) -> tuple[Any, Labels]:
    """Take diagonals for repeated labels of x, and sum over axes whose labels are not needed further."""
    if len(set(labels)) == len(labels) and needed.issuperset(labels):
        return x, labels
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            x = diagonal(x, 0, i, j)
            labels = (*labels[:i], *labels[i + 1 : j], *labels[j + 1 :], c)
    gone = tuple(i for i, c in enumerate(labels) if c not in needed)
    x = sum_(x, gone, dtype=x.dtype) if gone else x
    return x, tuple(c for c in labels if c in needed)


def _arranged(x: Array, labels: Labels, extents: dict[Label, int], *groups: Sequence[Label]) -> Array:
    """Return x with its axes in groups; all but the first group become one axis each."""
    order = [labels.index(c) for group in groups for c in group]
    x = x if order == list(range(x.ndim)) else transpose(x, order)
    shape = tuple(extents[c] for group in groups for c in group)
    x = x if x.shape == shape else broadcast_to(x, shape)  # which is read-only
    whole = (*x.shape[: len(groups[0])], *(math.prod(extents[c] for c in g) for g in groups[1:]))
    return x if x.shape == whole else reshape(x, whole)


def _beside(labels: Labels, shape: tuple[int, ...], every: Labels) -> tuple[list[int], tuple[int, ...]]:
    """Return the order of an operand's axes, and its shape, with one axis for each label of `every`."""
    order = [labels.index(c) for c in every if c in labels]
    return order, tuple(shape[labels.index(c)] if c in labels else 1 for c in every)


def _laid(x: Any, order: list[int], shape: tuple[int, ...]) -> Any:
    """Return x with its axes in an order and a shape."""
    x = x if order == list(range(x.ndim)) else transpose(x, order)
    return x if x.shape == shape else reshape(x, shape)


def _multiplied(a: Any, b: Any, by_a: Any, by_b: Any, summed: tuple[int, ...]) -> Any:
    """Return products of elements of operands that are laid beside each other, summed over some axes."""
    whole: Any = multiply(_laid(a, *by_a), _laid(b, *by_b))
    return sum_(whole, summed, dtype=whole.dtype) if summed else whole


def _product(a: Array, la: Labels, b: Array, lb: Labels, needed: set[Label]) -> tuple[Any, Labels]:
    """Return the product of two operands, summed over labels that only they have.

    It is a product of stacked matrices, or of elements where these would be vectors.
    """
    extents = _extents((la, lb), (a.shape, b.shape))
    shared = [c for c in la if c in lb]
    batch, summed = [c for c in shared if c in needed], [c for c in shared if c not in needed]
    rows, columns = [c for c in la if c not in lb], [c for c in lb if c not in la]
    if not summed or (batch and not rows and not columns):
        every = (*batch, *rows, *columns, *summed)
        kept = len(every) - len(summed)
        laid = _beside(la, a.shape, every), _beside(lb, b.shape, every)
        return _multiplied(a, b, *laid, tuple(range(kept, len(every)))), every[:kept]
    product = _matmul(_arranged(a, la, extents, batch, rows, summed), _arranged(b, lb, extents, batch, summed, columns))
    labels = (*batch, *rows, *columns)
    shape = tuple(extents[c] for c in labels)
    return product if product.shape == shape else reshape(product, shape), labels


def _contracted(arrays: Sequence[Any], terms: Sequence[Labels], needed: set[Label]) -> tuple[Any, Labels]:
    """Contract operands from left to right, down to the labels that are needed."""
    done, labels = None, ()  # type: tuple[Any, Labels]
    for k, (x, term) in enumerate(zip(arrays, terms)):
        later = needed.union(*terms[k + 1 :])
        x, term = _reduced(x, term, later | set(labels))
        done, labels = (x, term) if done is None else _product(done, labels, x, term, later)
        done, labels = _reduced(done, labels, later)
    return done, labels


def _along(path: Sequence[Any], arrays: list[Any], terms: list[Labels], needed: set[Label]) -> tuple[Any, Labels]:
    """Operands contracted as a path says: at each step some of those left, whose product goes to the end."""
    for step in path:
        places = sorted(step, reverse=True)
        some = [(arrays.pop(i), terms.pop(i)) for i in places][::-1]
        done, labels = _contracted([x for x, _ in some], [t for _, t in some], needed.union(*terms))
        arrays.append(done)
        terms.append(labels)
    return _contracted(arrays, terms, needed)


def _path(subscripts: str, arrays: Sequence[Any], optimize: Any) -> tuple[list[Any], str]:
    """Return the path that NumPy finds for the shapes of these arrays, without their values."""
    like = [numpy.broadcast_to(numpy.zeros((), x.dtype), x.shape) for x in arrays]
    return numpy.einsum_path(subscripts, *like, optimize=optimize)


def _prepared(op: str, args: Sequence[Any]) -> tuple[str, list[Any]]:
    subscripts, operands = _spelled(args)
    return subscripts, asarrays(*operands, op=op)


def _common(arrays: Sequence[Any], dtype: Any, casting: Any) -> list[Any]:
    """Operands in one dtype. TypeError if one must not be cast to the dtype that was asked for."""
    check_choice("einsum", "casting", casting, ("no", "equiv", "safe", "same_kind", "unsafe"))
    want = promote(*(x.dtype for x in arrays)) if dtype is None else as_dtype("einsum", dtype)
    strict = dtype is not None or casting in ("no", "equiv")  # integers become the floats of others
    for x in arrays:
        if strict and not numpy.can_cast(x.dtype, want, casting):
            raise TypeError(f"einsum: casting must be possible by rule {casting!r}, got {x.dtype} to {want}")
    return [x if x.dtype == want else cast(x, want) for x in arrays]


@functools.lru_cache(1024)
def _plan(subscripts: str) -> Any:
    """Return the plan of an expression that a single function computes, else None.

    ("sum", number of axes, the axis) or ("dot", axes of each operand, whether to turn each).
    """
    left, arrow, result = subscripts.replace(" ", "").partition("->")
    terms = left.split(",")
    if not arrow:
        result = "".join(sorted(c for c in left if c != "," and left.count(c) == 1))
    if "." in left or any(len(set(t)) < len(t) for t in (*terms, result)):
        return None
    if len(terms) == 1:
        gone = [i for i, c in enumerate(left) if c not in result]
        whole = len(gone) == 1 and left.replace(left[gone[0]], "") == result
        return ("sum", len(left), gone[0]) if whole else None
    shared = set(terms[0]) & set(terms[-1])
    if len(terms) > 2 or len(shared) != 1 or not all(1 <= len(t) <= 2 for t in terms):
        return None
    (k,) = shared
    rows, columns = (t.replace(k, "") for t in terms)
    if k in result or result != rows + columns:
        return None
    return "dot", len(terms[0]), len(terms[1]), terms[0] != rows + k, terms[1] != k + columns


@functools.lru_cache(1024)
def _elements(subscripts: str, *shapes: tuple[int, ...]) -> Any:
    """Return how two operands are laid beside each other, where their elements are multiplied, and perhaps summed.

    The order of the axes and the shape of each operand, and the axes to sum over. None: something else.
    """
    terms, result = _read(subscripts.replace(" ", ""), shapes)
    alone = set(terms[0]) ^ set(terms[1])
    summed = tuple(c for c in terms[0] if c in terms[1] and c not in result)
    every = (*result, *summed)
    plain = all(len(set(t)) == len(t) for t in terms) and alone <= set(result)
    if not plain or (summed and (alone or not result)) or len(set(every)) != len(every):
        return None
    laid = [_beside(term, shape, every) for term, shape in zip(terms, shapes, strict=True)]
    return *laid, tuple(range(len(result), len(every)))


def _of_elements(subscripts: str, a: Any, b: Any) -> Array | None:
    """Return products of elements, perhaps summed over axes that both operands have; None: something else."""
    found = _elements(subscripts, a.shape, b.shape) if a.dtype == b.dtype and a.dtype.kind == "f" else None
    return _multiplied(a, b, *found) if found is not None else None


def _plain(*operands: Any) -> Array | None:
    """Return sums over one axis, and products of matrices and vectors: by the functions for these.

    None: something else.
    """
    arrays = all(is_array(x) or type(x) is numpy.ndarray for x in operands[1:])
    if not operands or type(operands[0]) is not str or not arrays:
        return None
    plan = _plan(operands[0])
    if plan is None:
        return _of_elements(*operands) if len(operands) == 3 else None
    if plan[0] == "sum":
        _, ndim, axis = plan
        x: Any = operands[1] if len(operands) == 2 else None
        plain = x is not None and x.ndim == ndim and x.dtype.kind in "fc" and x.size
        return sum_(x, axis) if plain else None
    if len(operands) != 3:
        return None
    _, axes_a, axes_b, transpose_a, transpose_b = plan
    a, b = operands[1:]
    if a.ndim != axes_a or b.ndim != axes_b or a.dtype != b.dtype or a.dtype.kind != "f":
        return None
    a, b = (a.T if transpose_a else a), (b.T if transpose_b else b)
    return dot(a, b) if a.shape[-1] == b.shape[0] and a.size and b.size else None


def einsum(
    *operands: Any,
    out: Out = None,
    optimize: bool = False,
    dtype: DTypeLike = None,
    order: str = "K",
    casting: str = "safe",
) -> Array:
    """Sum products in Einstein notation: einsum(subscripts, a, b, ...), or einsum(a, [0, 1], b, [1, 2], [0, 2]).

    A label that the result lacks is summed over; "..." (or Ellipsis) stands for axes that broadcast. Without "->" (or
    the last list) the result has the labels that occur once, in order of the alphabet. Operands are contracted two by
    two from left to right; with `optimize` as `einsum_path` finds it, or in the order that it is given. An expression
    that only selects or moves axes of one operand returns a view.

    Parameters
    ----------
    *operands : array_like
        The subscripts and the arrays, as described above.
    out : array, optional
        An array of the result's shape, which is written and returned.
    optimize : bool, str or list, optional
        Whether, and how, to look for a better order of contractions, as in `einsum_path`.
    dtype : dtype, optional
        The dtype of operands and sums.
    order : str, optional
        The order of the result's elements in memory.
    casting : str, optional
        NumPy's rule for casts that are allowed.

    Returns
    -------
    array
        The sums of products, or a view.

    Raises
    ------
    ValueError
        If subscripts and shapes do not fit.
    TypeError
        If a cast is not possible by rule `casting`.

    Examples
    --------
    >>> from forerun import np
    >>> np.einsum("ij,kj->ik", np.ones((2, 3)), np.ones((2, 3))).tolist()
    [[3.0, 3.0], [3.0, 3.0]]
    >>> np.einsum(np.arange(4).reshape(2, 2), [0, 0]).item()
    3
    """
    if out is None and dtype is None and not optimize and order == "K" and casting == "safe":
        found = _plain(*operands)
        if found is not None:
            return found
    check_choice("einsum", "order", order, ("K", "A", "C"))
    subscripts, given = _prepared("einsum", operands)
    terms, result = _read(subscripts, tuple(x.shape for x in given))
    arrays = _common(given, dtype, casting)
    path = [] if optimize is False or len(arrays) < 3 else _path(subscripts, arrays, optimize)[0][1:]
    done, labels = _along(path, arrays, list(terms), set(result))
    moved = labels != result or done is given[0]  # a view is not the operand itself
    done = (transpose(done, [labels.index(c) for c in result]) if moved else done) if result else reshape(done, ())[()]
    if out is not None and not numpy.can_cast(done.dtype, out.dtype, casting):  # type: ignore[arg-type]
        raise TypeError(f"einsum: casting must be possible by rule {casting!r}, got {done.dtype} to {out.dtype}")
    return write_out("einsum", done, out)


def einsum_path(*operands: ArrayLike, optimize: bool | str | Sequence[Any] = "greedy") -> tuple[list[Any], str]:
    """Return the order in which `einsum` would contract operands with `optimize`, and a text that describes it.

    Only shapes matter: this does not wait.

    Parameters
    ----------
    *operands : array_like
        The subscripts and the arrays, as described above.
    optimize : bool, str or list, optional
        "greedy" (or True), "optimal", a pair of either and a limit of elements, False, or an order.

    Returns
    -------
    tuple of list and str
        The order in which `einsum` would contract operands with `optimize`.

    Examples
    --------
    >>> from forerun import np
    >>> np.einsum_path("ij,jk,kl->il", np.ones((5, 9)), np.ones((9, 9)), np.ones((9, 2)))[0]
    ['einsum_path', (1, 2), (0, 1)]
    """
    subscripts, arrays = _prepared("einsum_path", operands)
    _read(subscripts, tuple(x.shape for x in arrays))
    return _path(subscripts, arrays, optimize)
