"""Sums of products in Einstein's notation, as products of matrices."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_dtype, asarrays, cast, check_choice, is_array, promote, write_out
from .contraction import Contraction

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
        return args[0], list(args[1:])
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
    left, arrow, result = subscripts.replace(" ", "").partition("->")
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


# --- planning -------------------------------------------------------------------------------------


def _reduced(p: Contraction, x: int, labels: Labels, needed: set[Label]) -> tuple[int, Labels]:
    """Take diagonals for repeated labels of x, and sum over axes whose labels are not needed further."""
    for c in dict.fromkeys(labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            x = p.diagonal(x, i, j)
            labels = (*labels[:i], *labels[i + 1 : j], *labels[j + 1 :], c)
    x = p.summed(x, tuple(i for i, c in enumerate(labels) if c not in needed))
    return x, tuple(c for c in labels if c in needed)


def _arranged(p: Contraction, x: int, labels: Labels, extents: dict[Label, int], *groups: Sequence[Label]) -> int:
    """Return x with its axes in groups; all but the first group become one axis each."""
    x = p.transposed(x, [labels.index(c) for group in groups for c in group])
    x = p.repeated(x, tuple(extents[c] for group in groups for c in group))
    first = p.shapes[x][: len(groups[0])]
    return p.reshaped(x, (*first, *(math.prod(extents[c] for c in g) for g in groups[1:])))


def _beside(p: Contraction, x: int, labels: Labels, every: Labels) -> int:
    """Return x with one axis for each label of `every`."""
    shape = p.shapes[x]
    laid = p.transposed(x, [labels.index(c) for c in every if c in labels])
    return p.reshaped(laid, tuple(shape[labels.index(c)] if c in labels else 1 for c in every))


def _product(p: Contraction, a: int, la: Labels, b: int, lb: Labels, needed: set[Label]) -> tuple[int, Labels]:
    """Return the product of two operands, summed over labels that only they have.

    It is a product of matrices or vectors, or of stacked matrices; of elements where a stack would be of vectors.
    """
    extents = _extents((la, lb), (p.shapes[a], p.shapes[b]))
    shared = [c for c in la if c in lb]
    batch, summed = [c for c in shared if c in needed], [c for c in shared if c not in needed]
    rows, columns = [c for c in la if c not in lb], [c for c in lb if c not in la]
    if not summed or (batch and not rows and not columns):
        every = (*batch, *rows, *columns, *summed)
        kept = len(every) - len(summed)
        whole = p.multiplied(_beside(p, a, la, every), _beside(p, b, lb, every))
        return p.summed(whole, tuple(range(kept, len(every)))), every[:kept]
    left = _arranged(p, a, la, extents, batch, *([rows] if batch or rows else []), summed)
    right = _arranged(p, b, lb, extents, batch, summed, *([columns] if batch or columns else []))
    labels = (*batch, *rows, *columns)
    return p.reshaped(p.matmul(left, right), tuple(extents[c] for c in labels)), labels


def _contracted(
    p: Contraction, arrays: Sequence[int], terms: Sequence[Labels], needed: set[Label]
) -> tuple[int, Labels]:
    """Contract operands from left to right, down to the labels that are needed."""
    done, labels = -1, ()  # type: tuple[int, Labels]
    for k, (x, term) in enumerate(zip(arrays, terms)):
        later = needed.union(*terms[k + 1 :])
        x, term = _reduced(p, x, term, later | set(labels))
        done, labels = (x, term) if done < 0 else _product(p, done, labels, x, term, later)
        done, labels = _reduced(p, done, labels, later)
    return done, labels


@functools.lru_cache(1024)
def _program(subscripts: str, path: tuple[tuple[int, ...], ...], *shapes: tuple[int, ...]) -> Contraction:
    """Return the program for an expression. At each step of the path the product of some operands goes to the end."""
    read, result = _read(subscripts, shapes)
    p, arrays, terms, needed = Contraction(shapes), list(range(len(shapes))), list(read), set(result)
    for step in path:
        places = sorted(step, reverse=True)
        some = [(arrays.pop(i), terms.pop(i)) for i in places][::-1]
        done, labels = _contracted(p, [x for x, _ in some], [t for _, t in some], needed.union(*terms))
        arrays.append(done)
        terms.append(labels)
    done, labels = _contracted(p, arrays, terms, needed)
    if result:
        p.transposed(done, [labels.index(c) for c in result], always=done == 0)  # a view is not the operand itself
    else:
        p.item(done)
    return p


# --- computing ------------------------------------------------------------------------------------


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


def _plain(*operands: Any) -> Array | None:
    """Return the sum of products of arrays of one dtype by subscripts that are text; None: something else is given."""
    if len(operands) < 2 or type(operands[0]) is not str:
        return None
    subscripts, *arrays = operands
    for x in arrays:
        if not is_array(x) or x.dtype != arrays[0].dtype:
            return None
    done: Array = _program(subscripts, (), *[x.shape for x in arrays]).run(arrays)
    return done


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
    arrays = _common(given, dtype, casting)
    path = () if optimize is False or len(arrays) < 3 else tuple(_path(subscripts, arrays, optimize)[0][1:])
    done = _program(subscripts, path, *[x.shape for x in given]).run(arrays)
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
