"""Sequences and shapes in MXNet's spelling: ends and order by lengths, shapes with codes, changes at positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, asarray_like_device, asarrays, axes_of, cast, copy
from ..create.fill import full
from ..elementwise.select import nonzero as _nonzero
from ..elementwise.select import where
from ..index.getitem import _scatter_along, getitem, take, take_along_axis
from ..shape.axis_order import moveaxis, transpose
from ..shape.broadcast import broadcast_to
from ..shape.join import stack
from ..shape.reshape import reshape as _reshape
from ..shape.split import unstack

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Shape

__all__ = [
    "sequence_last", "sequence_reverse", "broadcast_like", "index_add", "index_update", "nonzero", "reshape", "slice",
    "shape_array", "foreach", "stop_gradient",
]  # fmt: skip

_slice = slice


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
    wide = _reshape(places, places.shape + (1,) * (x.ndim - 2))
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
    return getitem(x, -1) if n is None else getitem(_along(x, _reshape(n - 1, (1, -1))), 0)


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


def broadcast_like(x: ArrayLike, like: ArrayLike, lhs_axes: Any = None, rhs_axes: Any = None) -> Array:
    """Return an array in the shape of another one, or with its extents along some axes.

    Parameters
    ----------
    x : array_like
        The values.
    like : array_like
        The array that gives the shape. Its values do not matter.
    lhs_axes : int or tuple of ints, optional
        The axes of `x` that are broadcast; None broadcasts `x` to the shape of `like`.
    rhs_axes : int or tuple of ints, optional
        The axes of `like` that give their extents, as many as `lhs_axes`.

    Returns
    -------
    array
        `x` in the shape of `like`, or in its own shape with other extents along `lhs_axes`.

    Raises
    ------
    ValueError
        If shapes do not fit, axes are not as many in both or not different, or only one of both is given.
    IndexError
        If `x` or `like` lacks an axis.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.broadcast_like(np.ones((1, 3)), np.zeros((2, 3))).shape
    (2, 3)
    """
    x, shape = asarray_like_device(x, like), asarray(like).shape
    if (lhs_axes is None) != (rhs_axes is None):
        raise ValueError(f"broadcast_like: both axes must be given, or none, got {lhs_axes} and {rhs_axes}")
    if lhs_axes is not None:
        own, other = axes_of("broadcast_like", lhs_axes, x.ndim), axes_of("broadcast_like", rhs_axes, len(shape))
        if len(own) != len(other):
            raise ValueError(f"broadcast_like: axes must be as many, got {lhs_axes} and {rhs_axes}")
        wanted = list(x.shape)
        for a, b in zip(own, other):
            wanted[a] = shape[b]
        shape = tuple(wanted)
    return broadcast_to(x, shape)


def index_update(x: ArrayLike, indices: ArrayLike, values: ArrayLike) -> Array:
    """Return a copy of x with values at x[indices[0], indices[1], ...].

    Of several values for one position the last one is written.

    Parameters
    ----------
    x : array_like
        The array.
    indices : array_like
        The positions, integers of shape (axes, n): a row for each of the first axes of `x`. Negative ones count from
        the end.
    values : array_like
        The values that are written, which broadcast to the shape of x[indices[0], indices[1], ...] and are converted to
        the dtype of `x`.

    Returns
    -------
    array
        The copy, in the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `values` do not broadcast to that shape.
    IndexError
        If `indices` are neither integers nor bools, or have more rows than `x` has axes. Where the result is read, if a
        position is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.index_update(np.zeros((2, 2)), np.array([[0, 1], [1, 0]]), np.array([5.0, 6.0])).tolist()
    [[0.0, 5.0], [6.0, 0.0]]
    """
    x, indices, values = asarrays(x, indices, values)
    places = _places(x, indices)
    n = places.size
    given = broadcast_to(cast(values, x.dtype), places.shape)
    last = full(x.size, n, dtype="int64", device=x.device)  # which value each element gets: of several, the last
    last[_reshape(places, (n,))] = _core.from_numpy(numpy.arange(n), x.device)
    last = _reshape(last, x.shape)
    return where(last < n, take(_reshape(given, (n,)), last, mode="clip"), x) if n else copy(x)


def index_add(x: ArrayLike, indices: ArrayLike, values: ArrayLike) -> Array:
    """Return a copy of x with values added at x[indices[0], indices[1], ...].

    Values are added once for each time that a position is named.

    Parameters
    ----------
    x : array_like
        The array.
    indices : array_like
        The positions, integers of shape (axes, n): a row for each of the first axes of `x`. Negative ones count from
        the end.
    values : array_like
        The values that are added, which broadcast to the shape of x[indices[0], indices[1], ...] and are converted to
        the dtype of `x`.

    Returns
    -------
    array
        The sums, in the shape and dtype of `x`.

    Raises
    ------
    ValueError
        If `values` do not broadcast to that shape.
    IndexError
        If `indices` are neither integers nor bools, or have more rows than `x` has axes. Where the result is read, if a
        position is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.index_add(np.zeros(3), np.array([[0, 2, 2]]), np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 0.0, 5.0]
    """
    x, indices, values = asarrays(x, indices, values)
    places = _places(x, indices)
    given = broadcast_to(cast(values, x.dtype), places.shape)
    flat = _scatter_along(_reshape(given, (-1,)), (x.size,), _reshape(places, (-1,)), 0)
    return x + _reshape(flat, x.shape)


def _places(x: Array, at: Array) -> Array:
    """Return the positions of x[indices[0], indices[1], ...] in the flat array."""
    numbers = _core.from_numpy(numpy.arange(x.size).reshape(x.shape), x.device)
    return getitem(numbers, tuple(at[i] for i in range(at.shape[0])))


def nonzero(x: ArrayLike) -> Array:
    """Return the positions of elements that are not 0, in rows.

    It waits, as the shape of the result depends on the values.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The positions, int64, of shape (n, axes), where n is the number of elements that are not 0.

    Raises
    ------
    ValueError
        If `x` has no axes.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.nonzero([[1, 0], [0, 2]]).tolist()
    [[0, 0], [1, 1]]
    """
    return transpose(stack(list(_nonzero(x))))


def slice(
    x: ArrayLike, begin: Sequence[int | None], end: Sequence[int | None], step: Sequence[int | None] = ()
) -> Array:
    """Return x[begin[0]:end[0]:step[0], ...], sliced along the first axes.

    Parameters
    ----------
    x : array_like
        The values.
    begin : sequence of int or None
        The position of the first element along each of the first axes; None as in Python's slices.
    end : sequence of int or None
        The position after the last element along each of these axes; None as in Python's slices.
    step : sequence of int or None, optional
        The distance between elements along each of these axes; None as in Python's slices, also for axes after its end.

    Returns
    -------
    array
        A view of the elements within the slices.

    Raises
    ------
    ValueError
        If `begin` and `end` differ in length, or `step` is longer.
    IndexError
        If there are more slices than axes.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.slice(np.arange(6).reshape(2, 3), (0, 1), (None, 3)).tolist()
    [[1, 2], [4, 5]]
    """
    steps = [*step, *[None] * (len(begin) - len(step))]
    return getitem(asarray(x), tuple(_slice(*bounds) for bounds in zip(begin, end, steps, strict=True)))


def shape_array(x: ArrayLike) -> Array:
    """Return the shape of `x` as an array.

    Parameters
    ----------
    x : array_like
        The array. Its values have no effect.

    Returns
    -------
    array
        The extents, a vector of int64, on x's device.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.shape_array(np.zeros((2, 3))).tolist()
    [2, 3]
    """
    x = asarray(x)
    return asarray(numpy.array(x.shape, "int64"), device=x.device)


def stop_gradient(x: ArrayLike) -> Array:
    """Return `x` as a constant for gradients: nothing flows back through the result.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The same values, as an array that gradients do not flow through.

    Examples
    --------
    >>> from forerun import autograd, np, npx
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * npx.stop_gradient(x)
    >>> y.backward(); x.grad.tolist()
    [3.0]
    """
    return asarray(x).detach()


def foreach(body: Callable[[Any, Any], tuple[Any, Any]], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Call a function for each slice of data along its first axis, with states that it passes on.

    Parameters
    ----------
    body : callable
        The function. `body(slice, states)` returns an output and the states for the next slice.
    data : array_like or list of array_like
        The data. Of a list, `body` gets a list with a slice of each array.
    init_states : array or list of arrays
        The states for the first slice.

    Returns
    -------
    tuple
        The outputs stacked along a new first axis, as a list of arrays if outputs are lists, and the states after the
        last slice.

    Raises
    ------
    ValueError
        If `data` has no axes, or no slices.

    Examples
    --------
    >>> from forerun import np, npx
    >>> ys, total = npx.foreach(lambda x, s: (x * 2, s + x), np.arange(3), np.array(0))
    >>> ys.tolist(), total.item()
    ([0, 2, 4], 3)
    """
    several, states = isinstance(data, (list, tuple)), init_states
    data = [asarray_like_device(x, data, states) for x in data] if several else asarray_like_device(data, states)
    outputs: list[Any] = []
    for part in zip(*map(unstack, data)) if several else unstack(data):
        y, states = body(list(part) if several else part, states)
        outputs.append(y)
    if outputs and isinstance(outputs[0], (list, tuple)):
        return [stack(list(ys)) for ys in zip(*outputs)], states
    return stack(outputs), states


def reshape(x: ArrayLike, newshape: Shape, reverse: bool = False, order: str = "C") -> Array:
    """Return `x` in another shape, which may have codes for axes of `x`, taken in order.

    Parameters
    ----------
    x : array_like
        The values.
    newshape : int or tuple of ints
        The new shape: extents, and codes in place of some. -1 is the extent that takes up all other elements; -2: this
        axis; -3: leave out this axis, of extent 1; -4: all axes that are left; -5: the product of two axes; -6: this
        axis in two, of the two extents that follow, one of which may be -1.
    reverse : bool, optional
        Whether codes and axes are taken from the last to the first.
    order : str, optional
        "F" takes and places elements with the first axis running fastest, "C" with the last one, as in `np.reshape`.

    Returns
    -------
    array
        An array with the new shape: a view where memory allows.

    Raises
    ------
    ValueError
        If codes and axes do not fit, or the sizes differ.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.zeros((2, 3, 8))
    >>> npx.reshape(x, (-2, -5)).shape, npx.reshape(x, (-2, -2, -6, 2, -1)).shape, npx.reshape(x, (-1, -4)).shape
    ((2, 24), (2, 3, 2, 4), (2, 3, 8))
    """
    x = asarray(x)
    codes: Any = [newshape] if isinstance(newshape, int) else list(newshape)  # type: ignore[arg-type]
    shape = list(x.shape)
    if reverse:
        shape, codes = shape[::-1], _turned(codes)
    wanted = _Codes(shape, codes).decoded()
    return _reshape(x, tuple(wanted[::-1] if reverse else wanted), order)


def _turned(codes: list[int]) -> list[int]:
    """Codes from last to first, with each -6 before its two extents, which are turned too."""
    turned: list[int] = []
    i = 0
    while i < len(codes):
        n = 3 if codes[i] == -6 else 1
        turned[:0] = [codes[i], *codes[i + 1 : i + n][::-1]]
        i += n
    return turned


class _Codes:
    """Reads codes of `reshape`, and the axes that they stand for."""

    def __init__(self, shape: list[int], codes: list[int]) -> None:
        self.shape, self.codes = shape, codes
        self.at = 0

    def axis(self) -> int:
        """Return the next axis of the array."""
        if self.at >= len(self.shape):
            raise ValueError(f"reshape: codes must fit the axes, got {self.codes} for {tuple(self.shape)}")
        self.at += 1
        return self.shape[self.at - 1]

    def decoded(self) -> list[int]:
        """Return the extents, with at most one -1."""
        wanted: list[int] = []
        rest = iter(self.codes)
        for code in rest:
            if code == -2:
                wanted.append(self.axis())
            elif code == -3:
                if (n := self.axis()) != 1:
                    raise ValueError(f"reshape: an axis left out by -3 must have extent 1, got {n}")
            elif code == -4:
                wanted += self.shape[self.at :]
                self.at = len(self.shape)
            elif code == -5:
                wanted.append(self.axis() * self.axis())
            elif code == -6:
                wanted += self.split(next(rest, 0), next(rest, 0))
            else:
                wanted.append(code)
                self.at += code >= 0 or (code == -1 and self.at < len(self.shape))
        return wanted

    def split(self, a: int, b: int) -> list[int]:
        """Return the next axis in two."""
        n = self.axis()
        a, b = (n // b if b > 0 else 0) if a == -1 else a, (n // a if a > 0 else 0) if b == -1 else b
        if a * b != n:
            raise ValueError(f"reshape: extents after -6 must give {n}, got {a} and {b}")
        return [a, b]
