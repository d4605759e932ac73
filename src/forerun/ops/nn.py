"""What neural networks are made of: activations, normalised exponentials, selections along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy

from .. import _core
from .arithmetic import maximum, minimum
from .base import nondifferentiable, primitive
from .convert import as_real_float, asarray, asarrays, axis_of, beside, cast
from .exponential import exp, log, logaddexp, tanh
from .indexing import _gather, _gather_along, _scatter_along, take_along_axis, where
from .keys import places_within
from .linear import _matmul, matmul_pair
from .random import uniform
from .reduction import _max, _sum
from .shape import reshape
from .sorting import argsort

__all__ = [
    "relu", "leaky_relu", "sigmoid", "log_sigmoid", "softrelu", "softsign", "silu", "gelu", "elu", "selu",
    "activation", "softmax", "log_softmax", "masked_softmax", "cross_entropy", "pick", "topk", "batch_dot", "dropout",
    "fully_connected", "embedding", "sequence_mask", "smooth_l1",
]  # fmt: skip


@primitive(lambda g, y: g * (y > 0))
def relu(x: Any) -> Any:
    """max(x, 0), in x's dtype. The gradient at 0 is 0.

    >>> from forerun import np, npx
    >>> npx.relu(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """
    return maximum(asarray(x), 0)


def leaky_relu(x: Any, slope: float = 0.25) -> Any:
    """x where it is positive, slope * x elsewhere.

    >>> from forerun import npx
    >>> npx.leaky_relu([-4.0, 2.0]).tolist()
    [-1.0, 2.0]
    """
    x = asarray(x)
    return where(x > 0, x, slope * x)


@primitive(lambda g, y: g * (y * (1 - y)))
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), between 0 and 1; of integers in the default float.

    >>> from forerun import npx
    >>> npx.sigmoid([0.0]).tolist()
    [0.5]
    """
    return 1 / (1 + exp(-as_real_float("sigmoid", x)))


def softrelu(x: Any) -> Any:
    """log(1 + exp(x)), without overflow; of integers in the default float.

    >>> from forerun import npx
    >>> npx.softrelu([-1000.0, 1000.0]).tolist()
    [0.0, 1000.0]
    """
    return logaddexp(asarray(x), 0)


def log_sigmoid(x: Any) -> Any:
    """log(1 / (1 + exp(-x))), without overflow; of integers in the default float.

    >>> from forerun import npx
    >>> npx.log_sigmoid([-1000.0]).tolist()
    [-1000.0]
    """
    return -softrelu(-asarray(x))


def softsign(x: Any) -> Any:
    """x / (1 + |x|), between -1 and 1.

    >>> from forerun import npx
    >>> npx.softsign([-1.0, 3.0]).tolist()
    [-0.5, 0.75]
    """
    x = asarray(x)
    return x / (1 + abs(x))


def silu(x: Any) -> Any:
    """x * sigmoid(x) (Elfwing et al. 2017).

    >>> from forerun import npx
    >>> npx.silu([0.0, 100.0]).tolist()
    [0.0, 100.0]
    """
    x = asarray(x)
    return x * sigmoid(x)


def gelu(x: Any) -> Any:
    """x times the normal distribution's share below x, in the tanh approximation.

    x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x**3))) (Hendrycks and Gimpel 2016).

    >>> from forerun import npx
    >>> npx.gelu([0.0, 10.0]).tolist()
    [0.0, 10.0]
    """
    x = asarray(x)
    return 0.5 * x * (1 + tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def elu(x: Any, alpha: float = 1.0) -> Any:
    """x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al. 2015).

    >>> from forerun import npx
    >>> npx.elu([-1000.0, 2.0], alpha=0.5).tolist()
    [-0.5, 2.0]
    """
    x = asarray(x)
    return where(x > 0, x, alpha * (exp(minimum(x, 0)) - 1))


def selu(x: Any) -> Any:
    """The self-normalising elu (Klambauer et al. 2017): 1.0507 * elu(x, 1.6733), with more digits.

    >>> from forerun import npx
    >>> npx.selu([0.0, 1.0])
    array([0.      , 1.050701])
    """
    return 1.0507009873554805 * elu(x, 1.6732632423543772)


_ACTIVATIONS: dict[str, Any] = {
    "relu": relu, "sigmoid": sigmoid, "tanh": tanh, "softrelu": softrelu, "softsign": softsign,
    "silu": silu, "gelu": gelu, "log_sigmoid": log_sigmoid, "elu": elu, "selu": selu, "leaky": leaky_relu,
}  # fmt: skip


def activation(x: Any, act_type: str = "relu") -> Any:
    """The activation function of that name. ValueError, which lists the names, if there is none.

    >>> from forerun import npx
    >>> npx.activation([-1.0, 2.0], "relu").tolist()
    [0.0, 2.0]
    """
    if act_type not in _ACTIVATIONS:
        raise ValueError(
            f"activation: act_type must be one of {', '.join(sorted(_ACTIVATIONS))}, got {act_type!r}"
        )
    return _ACTIVATIONS[act_type](x)


# --- normalised exponentials ----------------------------------------------------------------------


@primitive(lambda g, y, axis: y * (g - _sum(g * y, (axis,), True)))
def _softmax(x: Any, axis: int) -> Any:
    e = exp(x - _max(x, (axis,), True))
    return e / _sum(e, (axis,), True)


@primitive(lambda g, y, axis: g - exp(y) * _sum(g, (axis,), True))
def _log_softmax(x: Any, axis: int) -> Any:
    shifted = x - _max(x, (axis,), True)
    return shifted - log(_sum(exp(shifted), (axis,), True))


def softmax(x: Any, axis: int = -1, temperature: float | None = None) -> Any:
    """exp(x) divided by its sum along `axis`, without overflow; of integers in the default float.

    temperature: a number that x is divided by first.

    >>> from forerun import np, npx
    >>> npx.softmax(np.zeros(4)).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    x = as_real_float("softmax", x)
    x = x if temperature is None else x / temperature
    return _softmax(x, axis_of("softmax", axis, x.ndim))


def log_softmax(x: Any, axis: int = -1, temperature: float | None = None) -> Any:
    """log(softmax(x)), without loss of small values; parameters as for `softmax`.

    >>> from forerun import npx
    >>> npx.log_softmax([0.0, 1000.0]).tolist()
    [-1000.0, 0.0]
    """
    x = as_real_float("log_softmax", x)
    x = x if temperature is None else x / temperature
    return _log_softmax(x, axis_of("log_softmax", axis, x.ndim))


def masked_softmax(x: Any, mask: Any, axis: int = -1) -> Any:
    """softmax over the elements where the mask is true; 0 elsewhere, and everywhere if it is true nowhere.

    The mask is of x's shape, or broadcasts to it.

    >>> from forerun import np, npx
    >>> npx.masked_softmax(np.zeros(4), [1, 1, 0, 0]).tolist()
    [0.5, 0.5, 0.0, 0.0]
    """
    x, mask = asarrays(x, mask)
    x = as_real_float("masked_softmax", x)
    return softmax(where(mask, x, -1e30), axis) * cast(mask, x.dtype)


def _cross_entropy_grad(g: Any, x: Any, index: Any, axis: int, e: Any, z: Any) -> Any:
    """(softmax(x) - 1 at the index) * g."""
    if _core.recording():  # to be differentiated itself
        return g * _softmax(x, axis) - _scatter_along(g, x.shape, index, axis)
    d = e * (g / z)
    _core.scatter_along(d, index, axis, -g, True)
    return d


@primitive(_cross_entropy_grad, nondifferentiable, kept=("e", "z"))
def _cross_entropy(x: Any, index: Any, axis: int) -> Any:
    shifted = x - _max(x, (axis,), True)
    e = exp(shifted)
    z = _sum(e, (axis,), True)
    return log(z) - _gather_along(shifted, index, axis, "cross_entropy", False), e, z


def cross_entropy(x: Any, index: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """-log(softmax(x)) at one position of each slice along `axis`; parameters and errors as for `pick`.

    >>> from forerun import np, npx
    >>> npx.cross_entropy(np.zeros((2, 4)), [0, 3])
    array([1.3862944, 1.3862944])
    """
    x = as_real_float("cross_entropy", beside(x, index))
    a = axis_of("cross_entropy", axis, x.ndim)
    wide = _one_each("cross_entropy", x, index, a)
    losses = _cross_entropy(x, wide, a)
    return losses if keepdims else reshape(losses, x.shape[:a] + x.shape[a + 1 :])


# --- selections -----------------------------------------------------------------------------------


def _one_each(op: str, x: Any, index: Any, axis: int) -> Any:
    """One position along the axis for each slice: integers with extent 1 there."""
    index = beside(index, x)
    if index.dtype.kind != "i":
        index = cast(index, numpy.dtype("int64"))
    shape = x.shape
    before, after = shape[:axis], shape[axis + 1 :]
    if index.shape == (*before, 1, *after):
        return index
    if index.shape != before + after:
        raise ValueError(
            f"{op}: index must have x's shape without axis {axis}, got {index.shape} for {shape}"
        )
    return reshape(index, (*before, 1, *after))


def pick(x: Any, index: Any, axis: int = -1, keepdims: bool = False) -> Any:
    """One element of each slice along `axis`: the one at the position that `index` gives.

    index: x's shape without `axis`, or with extent 1 there (ValueError if not). IndexError where the result
    is read if a position is not in [0, n): also for negative ones, which are most often padding.

    >>> from forerun import npx
    >>> npx.pick([[1, 2], [3, 4]], [0, 1]).tolist()
    [1, 4]
    """
    x = beside(x, index)
    a = axis_of("pick", axis, x.ndim)
    picked = _gather_along(x, _one_each("pick", x, index, a), a, "pick", False)
    return picked if keepdims else reshape(picked, x.shape[:a] + x.shape[a + 1 :])


def topk(x: Any, k: int = 1, axis: int = -1, ret_typ: str = "indices", is_ascend: bool = False) -> Any:
    """The k largest (`is_ascend`: smallest) elements along `axis`, in order.

    ret_typ: "indices" (int64), "value", or "both" for a list of values and indices; ValueError if another
    word, or if there are no k elements.

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


def batch_dot(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False) -> Any:
    """Products of matrices, one per leading index.

    As `matmul`; transpose_a, transpose_b: of a or b with its last two axes exchanged.

    >>> from forerun import np, npx
    >>> npx.batch_dot(np.ones((2, 3, 4)), np.ones((2, 5, 4)), transpose_b=True).shape
    (2, 3, 5)
    """
    return _matmul(*matmul_pair(a, b, "batch_dot"), transpose_a, transpose_b)


def dropout(x: Any, p: float = 0.5, axes: tuple[int, ...] = (), mode: str = "training") -> Any:
    """While training, elements are zero with probability p, and others divided by 1 - p; otherwise x itself.

    Srivastava et al. 2014. axes: along these, all elements share one fate. mode: "training", or "always".
    ValueError if p is not in [0, 1).

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
    x: Any, weight: Any, bias: Any = None, num_hidden: int | None = None, no_bias: bool = False,
    flatten: bool = True,
) -> Any:  # fmt: skip
    """x @ weight.T + bias; weight of shape (units, inputs), bias of shape (units,) or None.

    no_bias: bias is not added. flatten: all axes of x but the first count as inputs; otherwise the last one. ValueError
    if their number does not fit the weight, or num_hidden is not that of units.

    >>> from forerun import np, npx
    >>> x, weight, bias = np.ones((2, 3)), np.ones((1, 3)), np.array([0.5])
    >>> npx.fully_connected(x, weight, bias).tolist(), npx.fully_connected(x, weight, bias, no_bias=True).tolist()
    ([[3.5], [3.5]], [[3.0], [3.0]])
    """
    x = beside(x, weight, bias)
    if num_hidden is not None and weight.shape[0] != num_hidden:
        raise ValueError(f"fully_connected: weight must have {num_hidden} rows, got shape {weight.shape}")
    before = x.shape[:1] if flatten else x.shape[:-1]
    if x.ndim != 2:
        x = reshape(x, (math.prod(before), math.prod(x.shape[len(before) :])))
    result = _matmul(*matmul_pair(x, weight, "fully_connected"), False, True)
    if bias is not None and not no_bias:
        result = result + bias
    return result if len(before) == 1 else reshape(result, (*before, weight.shape[0]))


def embedding(index: Any, weight: Any, input_dim: int | None = None, output_dim: int | None = None) -> Any:
    """Rows of the weight at positions: of shape index.shape + weight.shape[1:].

    IndexError where the result is read if a position is out of range. input_dim and output_dim are not used.

    >>> from forerun import np, npx
    >>> npx.embedding([1, 0, 1], np.array([[1, 2], [3, 4]])).tolist()
    [[3, 4], [1, 2], [3, 4]]
    """
    index, weight = asarrays(index, weight)
    index = index if index.dtype.kind in "iu" else cast(index, numpy.dtype("int64"))
    at = places_within("embedding", index, weight.shape[0], "raise", weight.device, "same_kind")
    return _gather(weight, [at], 0, "embedding")


def sequence_mask(
    x: Any, sequence_length: Any = None, use_sequence_length: bool = False, value: float = 0.0, axis: int = 0
) -> Any:
    """x with elements beyond each sequence's length set to `value`; x itself without `use_sequence_length`.

    axis: 0 or 1, the one of time (ValueError if another); the other is of sequences.

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


def smooth_l1(x: Any, scalar: float = 1.0) -> Any:
    """(s x)^2 / 2 where |x| < 1 / s^2, |x| - 1 / (2 s^2) elsewhere; s is `scalar`.

    Girshick 2015, where s is 1.

    >>> from forerun import npx
    >>> npx.smooth_l1([0.5, 2.0]).tolist()
    [0.125, 1.5]
    """
    x = asarray(x)
    s2 = scalar * scalar
    return where(abs(x) < 1 / s2, 0.5 * s2 * (x * x), abs(x) - 0.5 / s2)
