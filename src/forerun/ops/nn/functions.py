"""Functions of neural networks: normalised exponentials, selections along an axis, layers as functions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import as_dtype, as_real_float, asarray, asarray_like_device, asarrays, axis_of, cast, check_choice
from .._base.primitive import nondifferentiable, primitive
from ..elementwise.arithmetic import maximum, sqrt
from ..elementwise.exponential import exp, log
from ..elementwise.select import where
from ..index.getitem import _gather, _gather_along, _scatter_along, take_along_axis
from ..index.parser import places_within
from ..linalg.tensordot import _matmul, matmul_pair
from ..random.uniform_normal import uniform
from ..reduce.reduction import _max, _sum
from ..shape.reshape import reshape
from ..sort.sort import argsort

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = [
    "relu", "sigmoid", "softmax", "log_softmax", "masked_softmax", "cross_entropy", "pick", "topk", "batch_dot",
    "dropout", "fully_connected", "embedding", "sequence_mask", "smooth_l1", "l2_normalization", "softmin",
]  # fmt: skip


@primitive(lambda g, y: g * (y > 0), op="relu")
def relu(x: ArrayLike) -> Array:
    """Return max(x, 0), the rectified linear unit. The gradient at 0 is 0.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The larger one of each element and 0, in x's dtype.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return maximum(asarray(x), 0)


@primitive(lambda g, y: g * (y * (1 - y)), op="sigmoid")
def sigmoid(x: ArrayLike) -> Array:
    """Return the logistic function, 1 / (1 + exp(-x)).

    Parameters
    ----------
    x : array_like
        The values, of real numbers.

    Returns
    -------
    array
        Numbers between 0 and 1, in x's dtype; of integers and bools in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.sigmoid([0.0]).tolist()
    [0.5]
    """
    return 1 / (1 + exp(-as_real_float("sigmoid", x)))


# --- normalised exponentials ----------------------------------------------------------------------


@primitive(lambda g, y, axis: y * (g - _sum(g * y, (axis,), True)), op="softmax")
def _softmax(x: Array, axis: int) -> Array:
    e = exp(x - _max(x, (axis,), True))
    return e / _sum(e, (axis,), True)


@primitive(lambda g, y, axis: g - exp(y) * _sum(g, (axis,), True), op="log_softmax")
def _log_softmax(x: Array, axis: int) -> Array:
    shifted = x - _max(x, (axis,), True)
    return shifted - log(_sum(exp(shifted), (axis,), True))


def _prepared(op: str, x: Array, axis: int, temperature: float | None, dtype: DTypeLike) -> tuple[Array, int]:
    """Return x in floats, divided by the temperature, and its axis; an array without axes may stand for a vector."""
    x = as_real_float(op, x)
    if dtype is not None:
        x = as_real_float(op, cast(x, as_dtype(op, dtype)))
    x = x if temperature is None else x / temperature
    return x, 0 if x.ndim == 0 and axis in (0, -1) else axis_of(op, axis, x.ndim)


def _within(op: str, x: Array, axis: int, length: ArrayLike | None, use_length: bool) -> Array | None:
    """Return where positions along the axis are below lengths; None if there are none."""
    if use_length != (length is not None):
        raise ValueError(f"{op}: use_length must be True with length, and only then, got {use_length}")
    if length is None:
        return None
    n, shape = asarray_like_device(length, x), x.shape[:axis] + x.shape[axis + 1 :]
    if n.shape != shape:
        raise ValueError(f"{op}: length must have x's shape without axis {axis}, got {n.shape} for {x.shape}")
    steps = _core.from_numpy(numpy.arange(x.shape[axis]).reshape(-1, *(1,) * (x.ndim - axis - 1)), x.device)
    return steps < reshape(n, (*shape[:axis], 1, *shape[axis:]))


def softmax(
    x: ArrayLike, axis: int = -1, length: ArrayLike | None = None, temperature: float | None = None,
    use_length: bool = False, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """Return exp(x) divided by its sum along `axis`, computed without overflow.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the results add up to 1.
    length : array_like, optional
        With `use_length`, how many elements of each slice along the axis count: an array of x's shape without the axis.
        Other elements of the result are 0.
    temperature : float, optional
        A number that `x` is divided by first.
    use_length : bool, optional
        Whether `length` is used. It must be True with `length`, and False without.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        Numbers between 0 and 1, of x's shape; of integers in the default float.

    Raises
    ------
    ValueError
        If `length` is given without `use_length` or the other way around, or it is of another shape than x's without
        the axis.
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.softmax(np.zeros(4)).tolist(), npx.softmax(np.zeros((1, 4)), length=[2], use_length=True).tolist()
    ([0.25, 0.25, 0.25, 0.25], [[0.5, 0.5, 0.0, 0.0]])
    """
    x, a = _prepared("softmax", asarray_like_device(x, length), axis, temperature, dtype)
    inside = _within("softmax", x, a, length, use_length)
    if not x.ndim or not x.shape[a]:
        return reshape(_softmax(reshape(x, (1,)), 0), ()) if not x.ndim else exp(x)
    return _softmax(x, a) if inside is None else masked_softmax(x, inside, a)


def log_softmax(
    x: ArrayLike, axis: int = -1, length: ArrayLike | None = None, temperature: float | None = None,
    use_length: bool = False, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """Return log(softmax(x)), computed without loss of small values.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the softmax adds up to 1.
    length : array_like, optional
        With `use_length`, how many elements of each slice along the axis count: an array of x's shape without the axis.
        Other elements of the result are -inf.
    temperature : float, optional
        A number that `x` is divided by first.
    use_length : bool, optional
        Whether `length` is used. It must be True with `length`, and False without.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        The logarithms of the softmax, of x's shape; of integers in the default float.

    Raises
    ------
    ValueError
        If `length` is given without `use_length` or the other way around, or it is of another shape than x's without
        the axis.
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.log_softmax([0.0, 1000.0]).tolist()
    [-1000.0, 0.0]
    """
    x, a = _prepared("log_softmax", asarray_like_device(x, length), axis, temperature, dtype)
    inside = _within("log_softmax", x, a, length, use_length)
    if not x.ndim or not x.shape[a]:
        return reshape(_log_softmax(reshape(x, (1,)), 0), ()) if not x.ndim else exp(x)
    if inside is None:
        return _log_softmax(x, a)
    return where(inside, _log_softmax(where(inside, x, -1e30), a), -math.inf)


def softmin(x: ArrayLike, axis: int = -1, temperature: float | None = None, dtype: DTypeLike = None) -> Array:
    """Return softmax(-x), which is largest for the smallest elements.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. An array without axes is taken as a vector of one element.
    axis : int, optional
        The axis along which the results add up to 1.
    temperature : float, optional
        A number that -x is divided by first.
    dtype : dtype, optional
        The dtype of the result; by default x's.

    Returns
    -------
    array
        Numbers between 0 and 1, of x's shape; of integers in the default float.

    Raises
    ------
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.softmin([0.0, 1000.0]).tolist()
    [1.0, 0.0]
    """
    return softmax(-as_real_float("softmin", x), axis, temperature=temperature, dtype=dtype)


def l2_normalization(data: ArrayLike, eps: float = 1e-10, mode: str = "instance") -> Array:
    """Return data divided by the square root of eps plus the sum of its squares.

    Parameters
    ----------
    data : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    eps : float, optional
        A number that is added to the sum of squares.
    mode : str, optional
        The elements whose squares are added: "instance", those of each instance along the first axis; "channel", those
        of all channels, along axis 1, at each place; "spatial", those of each channel by itself.

    Returns
    -------
    array
        The normalized values, of data's shape.

    Raises
    ------
    ValueError
        If the mode is another word, or data has too few axes: "instance" needs one, the others two.
    TypeError
        If data is complex.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.l2_normalization([[3.0, 4.0]]).round(1).tolist()
    [[0.6000000238418579, 0.800000011920929]]
    """
    check_choice("l2_normalization", "mode", mode, ("instance", "channel", "spatial"))
    x = as_real_float("l2_normalization", data)
    if x.ndim < (1 if mode == "instance" else 2):
        raise ValueError(f"l2_normalization: array must have more axes for {mode!r}, got shape {x.shape}")
    axes = {"instance": range(1, x.ndim), "channel": (1,), "spatial": range(2, x.ndim)}[mode]
    return x / sqrt(_sum(x * x, tuple(axes), True) + eps)


def masked_softmax(x: ArrayLike, mask: ArrayLike, axis: int = -1, temperature: float | None = None) -> Array:
    """Return the softmax over the elements where the mask is true; 0 elsewhere, and everywhere if it is true nowhere.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    mask : array_like
        The elements that count: True or 1 for those that do, False or 0 for others. It is of x's shape, or broadcasts
        to it.
    axis : int, optional
        The axis along which the results add up to 1.
    temperature : float, optional
        A number that `x` is divided by first.

    Returns
    -------
    array
        Numbers between 0 and 1; 0 where the mask is false.

    Raises
    ------
    TypeError
        If `x` is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.masked_softmax(np.zeros(4), [1, 1, 0, 0]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    x, mask = asarrays(x, mask)
    x, mask = as_real_float("masked_softmax", x), cast(mask, "bool")
    x = x if temperature is None else x / temperature
    return softmax(where(mask, x, -1e30), axis) * cast(mask, x.dtype)


def _cross_entropy_grad(g: Array, x: Array, index: Array, axis: int, e: Array, z: Array) -> Array:
    """Return (softmax(x) - 1 at the index) * g."""
    if _core.recording():  # to be differentiated itself
        return g * _softmax(x, axis) - _scatter_along(g, x.shape, index, axis)
    d = e * (g / z)
    _core.scatter_along(d, index, axis, -g, True)
    return d


@primitive(_cross_entropy_grad, nondifferentiable, kept=("e", "z"), op="cross_entropy")
def _cross_entropy(x: Array, index: Array, axis: int) -> tuple[Array, ...]:
    shifted = x - _max(x, (axis,), True)
    e = exp(shifted)
    z = _sum(e, (axis,), True)
    return log(z) - _gather_along(shifted, index, axis, "cross_entropy", False), e, z


def cross_entropy(x: ArrayLike, index: ArrayLike, axis: int = -1, keepdims: bool = False) -> Array:
    """Return -log(softmax(x)) at one position of each slice along an axis.

    Positions and errors are as for `pick`.

    Parameters
    ----------
    x : array_like
        The values, before the softmax.
    index : array_like
        The position for each slice: of the shape of `x` without the axis, or with extent 1 there. Numbers that are not
        integers are converted to int64.
    axis : int, optional
        The axis.
    keepdims : bool, optional
        True keeps the axis, with extent 1.

    Returns
    -------
    array
        The losses, of the shape of `x` without the axis, or with extent 1 there. Of integers they have the default
        float, otherwise the dtype of `x`.

    Raises
    ------
    ValueError
        If `index` has another shape.
    IndexError
        Where the result is read, if a position is not in [0, n), where n is the extent of the axis: also for negative
        ones, which are most often padding. In the call, if `x` lacks the axis.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.cross_entropy(np.zeros((2, 4)), [0, 3])
    array([1.3862944, 1.3862944])
    """
    x = as_real_float("cross_entropy", asarray_like_device(x, index))
    a = axis_of("cross_entropy", axis, x.ndim)
    wide = _one_each("cross_entropy", x, index, a)
    losses: Array = _cross_entropy(x, wide, a)  # type: ignore[assignment]  # the primitive gives the first one
    return losses if keepdims else reshape(losses, x.shape[:a] + x.shape[a + 1 :])


# --- selections -----------------------------------------------------------------------------------


def _one_each(op: str, x: Array, index: ArrayLike, axis: int) -> Array:
    """Return one position along the axis for each slice: integers with extent 1 there."""
    index = asarray_like_device(index, x)
    if index.dtype.kind != "i":
        index = cast(index, numpy.dtype("int64"))
    shape = x.shape
    before, after = shape[:axis], shape[axis + 1 :]
    if index.shape == (*before, 1, *after):
        return index
    if index.shape != before + after:
        raise ValueError(f"{op}: index must have x's shape without axis {axis}, got {index.shape} for {shape}")
    return reshape(index, (*before, 1, *after))


def pick(x: ArrayLike, index: ArrayLike, axis: int = -1, keepdims: bool = False) -> Array:
    """Return one element of each slice along `axis`: the one at the position that `index` gives.

    Parameters
    ----------
    x : array_like
        The values.
    index : array_like
        The positions, of x's shape without `axis`, or with extent 1 there. Those that are not integers are converted to
        int64.
    axis : int, optional
        The axis to pick along.
    keepdims : bool, optional
        Whether the axis stays, with extent 1.

    Returns
    -------
    array
        The picked elements, of x's shape without `axis`, or with extent 1 there if `keepdims` is True.

    Raises
    ------
    ValueError
        If `index` is of another shape.
    IndexError
        If the axis is out of range; where the result is read, if a position is not in [0, n), n being the extent of the
        axis: also for negative positions, which are most often padding.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.pick([[1, 2], [3, 4]], [0, 1]).tolist()
    [1, 4]
    """
    x = asarray_like_device(x, index)
    a = axis_of("pick", axis, x.ndim)
    picked = _gather_along(x, _one_each("pick", x, index, a), a, "pick", False)
    return picked if keepdims else reshape(picked, x.shape[:a] + x.shape[a + 1 :])


def topk(x: ArrayLike, k: int = 1, axis: int = -1, ret_typ: str = "indices", is_ascend: bool = False) -> Any:
    """Return the k largest elements along `axis`, in descending order, or their positions.

    Parameters
    ----------
    x : array_like
        The values.
    k : int, optional
        The number of elements.
    axis : int, optional
        The axis to select along.
    ret_typ : str, optional
        The kind of result: "indices", "value", or "both".
    is_ascend : bool, optional
        Whether the k smallest elements are selected, in ascending order.

    Returns
    -------
    array, or list of arrays
        The positions along the axis (int64) for "indices", the elements in x's dtype for "value", or a list of elements
        and positions for "both". Their shape is x's with extent `k` along the axis.

    Raises
    ------
    ValueError
        If `ret_typ` is another word, or `k` is not between 1 and the extent of the axis.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.topk([3, 1, 2], 2).tolist(), npx.topk([3, 1, 2], 2, ret_typ="value").tolist()
    ([0, 2], [3, 2])
    """
    x = asarray(x)
    a = axis_of("topk", axis, x.ndim)
    if not 1 <= k <= x.shape[a]:
        raise ValueError(f"topk: k must be between 1 and {x.shape[a]}, got {k}")
    if ret_typ not in ("indices", "value", "both"):
        raise ValueError(f'topk: ret_typ must be "indices", "value" or "both", got {ret_typ!r}')
    order = argsort(x, a, descending=not is_ascend)[(slice(None),) * a + (slice(0, k),)]
    if ret_typ == "indices":
        return order
    values = take_along_axis(x, order, a)
    return values if ret_typ == "value" else [values, order]


def batch_dot(a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    """Return products of matrices, one for each leading index.

    The last two axes are those of matrices and the axes before them broadcast, as in `matmul`.

    Parameters
    ----------
    a : array_like
        The first operands, of shape (..., n, k), or (..., k, n) with `transpose_a`.
    b : array_like
        The second operands, of shape (..., k, m), or (..., m, k) with `transpose_b`.
    transpose_a : bool, optional
        True exchanges the last two axes of `a` before the product.
    transpose_b : bool, optional
        True exchanges the last two axes of `b` before the product.

    Returns
    -------
    array
        The products, of shape (..., n, m); the dtypes of `a` and `b` are promoted.

    Raises
    ------
    ValueError
        If the inner extents k differ, or the leading axes do not broadcast.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.batch_dot(np.ones((2, 3, 4)), np.ones((2, 5, 4)), transpose_b=True).shape
    (2, 3, 5)
    """
    return _matmul(*matmul_pair(a, b, "batch_dot"), transpose_a, transpose_b)


def dropout(x: ArrayLike, p: float = 0.5, axes: tuple[int, ...] = (), mode: str = "training") -> Array:
    """While training, set elements to zero with a probability and scale the others; otherwise return x itself.

    The others are divided by 1 - p (Srivastava et al. 2014).

    Parameters
    ----------
    x : array_like
        The values.
    p : float, optional
        The probability of each element to be zero, in [0, 1).
    axes : tuple of ints, optional
        The axes along which all elements are set to zero or kept together, counted from 0.
    mode : str, optional
        "training", or "always" for the same when not training.

    Returns
    -------
    array
        The elements that are left and zeros, in the shape of `x`. It is `x` itself if p is 0, or when not training
        unless the mode is "always".

    Raises
    ------
    ValueError
        If `p` is not in [0, 1).

    Examples
    --------
    >>> from forerun import autograd, np, npx
    >>> x = np.ones(100)
    >>> with autograd.train_mode():
    ...     y = npx.dropout(x, 0.5)
    >>> ((y == 0) | (y == 2)).all().item(), npx.dropout(x, 0.5) is x
    (True, True)
    """
    if not 0 <= p < 1:
        raise ValueError(f"dropout: p must be in [0, 1), got {p}")
    x = asarray(x)
    if p == 0 or not (mode == "always" or _core.training()):
        return x
    shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    keep = uniform(size=shape, device=x.device) >= p
    return x * (cast(keep, x.dtype) * (1 / (1 - p)))


def fully_connected(
    x: ArrayLike, weight: Array, bias: ArrayLike | None = None, num_hidden: int | None = None, no_bias: bool = False,
    flatten: bool = True,
) -> Array:  # fmt: skip
    """Return x @ weight.T + bias.

    Parameters
    ----------
    x : array_like
        The inputs, of shape (batch, ...) with `flatten`, otherwise (..., inputs).
    weight : array
        The weight, of shape (units, inputs).
    bias : array_like, optional
        The numbers added to each row of the result, of shape (units,), or None.
    num_hidden : int, optional
        The number of units. It is that of the weight, and is checked if given.
    no_bias : bool, optional
        True does not add `bias`.
    flatten : bool, optional
        True: all axes of `x` but the first count as inputs. False: the last one does.

    Returns
    -------
    array
        The result, of shape (batch, units) with `flatten`, otherwise (..., units). Dtypes are promoted.

    Raises
    ------
    ValueError
        If the number of inputs does not fit the weight, or `num_hidden` is not that of units.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x, weight, bias = np.ones((2, 3)), np.ones((1, 3)), np.array([0.5])
    >>> npx.fully_connected(x, weight, bias).tolist(), npx.fully_connected(x, weight, bias, no_bias=True).tolist()
    ([[3.5], [3.5]], [[3.0], [3.0]])
    """
    x = asarray_like_device(x, weight, bias)
    if num_hidden is not None and weight.shape[0] != num_hidden:
        raise ValueError(f"fully_connected: weight must have {num_hidden} rows, got shape {weight.shape}")
    before = x.shape[:1] if flatten else x.shape[:-1]
    if x.ndim != 2:
        x = reshape(x, (math.prod(before), math.prod(x.shape[len(before) :])))
    result = _matmul(*matmul_pair(x, weight, "fully_connected"), False, True)
    if bias is not None and not no_bias:
        result = result + bias
    return result if len(before) == 1 else reshape(result, (*before, weight.shape[0]))


def embedding(
    index: ArrayLike, weight: ArrayLike, input_dim: int | None = None, output_dim: int | None = None
) -> Array:
    """Return rows of the weight at positions.

    Parameters
    ----------
    index : array_like
        The positions of rows, of any shape. Negative ones count from the end, and numbers that are not integers are
        converted to int64.
    weight : array_like
        The rows, of shape (input_dim, output_dim), or with more axes after these.
    input_dim : int, optional
        The number of rows. It is that of the weight, and is checked if given.
    output_dim : int, optional
        The length of a row. It is that of the weight, and is checked if given.

    Returns
    -------
    array
        The rows, of shape index.shape + weight.shape[1:], in the dtype of `weight`.

    Raises
    ------
    IndexError
        Where the result is read, if a position is out of range.
    ValueError
        If `input_dim` or `output_dim` is given and is not the weight's.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.embedding([1, 0, 1], np.array([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2], [3, 4]]
    """
    index, weight = asarrays(index, weight)
    asked = tuple(n if d is None else d for n, d in zip(weight.shape[:2], (input_dim, output_dim)))
    if asked != weight.shape[:2]:
        raise ValueError(f"embedding: weight must have shape (input_dim, output_dim), got {weight.shape} for {asked}")
    index = index if index.dtype.kind in "iu" else cast(index, numpy.dtype("int64"))
    at = places_within("embedding", index, weight.shape[0], "raise", weight.device, "same_kind")
    return _gather(weight, [at], 0, "embedding")


def sequence_mask(
    x: ArrayLike, sequence_length: ArrayLike | None = None, use_sequence_length: bool = False, value: float = 0.0,
    axis: int = 0,
) -> Array:  # fmt: skip
    """Return `x` with elements beyond each sequence's length set to `value`; `x` itself without `use_sequence_length`.

    Parameters
    ----------
    x : array_like
        The sequences, of shape (steps, sequences, ...), or (sequences, steps, ...) if `axis` is 1.
    sequence_length : array_like, optional
        The number of steps of each sequence, of shape (sequences,).
    use_sequence_length : bool, optional
        Whether `sequence_length` is used.
    value : float, optional
        The value of elements beyond the length.
    axis : int, optional
        The axis of time, 0 or 1; the other one is that of sequences.

    Returns
    -------
    array
        The sequences, of x's shape, in the dtype that `x` and `value` have together; or `x` itself, without
        `use_sequence_length` or without lengths.

    Raises
    ------
    ValueError
        If lengths are used and the axis is neither 0 nor 1.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.sequence_mask(np.ones((3, 2)), np.array([1, 2]), use_sequence_length=True).tolist()
    [[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]
    """
    x, lengths = asarrays(x, sequence_length)
    if not use_sequence_length or lengths is None:
        return x
    if axis not in (0, 1):
        raise ValueError(f"sequence_mask: axis must be 0 or 1, got {axis}")
    steps = _core.from_numpy(numpy.arange(x.shape[axis]), x.device)
    inside = steps[:, None] < lengths if axis == 0 else steps < lengths[:, None]
    return where(reshape(inside, inside.shape + (1,) * (x.ndim - 2)), x, value)


def smooth_l1(x: ArrayLike, scalar: float = 1.0) -> Array:
    """Return (s x)^2 / 2 where |x| < 1 / s^2, and |x| - 1 / (2 s^2) elsewhere; s is `scalar`.

    It is the loss of Girshick 2015, where s is 1.

    Parameters
    ----------
    x : array_like
        The values, of real numbers.
    scalar : float, optional
        The number s: the function is quadratic within 1 / s^2 of 0, and linear beyond.

    Returns
    -------
    array
        The result for each element, of x's shape.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.smooth_l1([0.5, 2.0]).tolist()
    [0.125, 1.5]
    """
    x = asarray(x)
    s2 = scalar * scalar
    return where(abs(x) < 1 / s2, 0.5 * s2 * (x * x), abs(x) - 0.5 / s2)
