"""Mean 0 and variance 1: over a batch, or over parts of each example."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy

from ...autograd.backward_pass import of_steps
from .._base import core as _core
from .._base.convert import asarray_like_device, asarrays, axis_of, cast, copy, default_float, is_inexact, promote
from .._base.one_module import one_module
from .._base.registry import register
from ..elementwise.arithmetic import sqrt, square
from ..reduce.mean_variance import mean
from ..reduce.reduction import _sum
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]


def _wide(vector: Array, axis: int, ndim: int) -> Array:
    """Return a vector along one axis of several."""
    return reshape(vector, tuple(-1 if i == axis else 1 for i in range(ndim)))


@one_module
def _of_batch(x: Array, beta: Array, gamma: Array, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any, Any]:
    """Return x with mean 0 and variance 1 over axes, times gamma (None: 1), plus beta; mean, variance, square root.

    Few large operations: the factor of x and the term added to it are small.
    """
    own = mean(x, axes, keepdims=True)
    var = mean(square(x - own), axes, keepdims=True)
    root = sqrt(var + eps)
    factor = (1 if gamma is None else gamma) / root
    shift = beta - own * factor
    return x * factor + shift, own, var, root


@one_module
def _back_through_batch(
    g: Array, x: Array, gamma: Array, axes: tuple[int, ...], own: Array, root: Array
) -> tuple[Any, Any, Any]:
    """Return the gradients of x, beta and gamma: all follow from two sums, so that x is read twice."""
    total, along = _sum(g, axes, True), _sum(g * x - g * own, axes, True)  # none of this runs before g is computed
    n = x.size / max(1, own.size)
    factor, slope = (1 if gamma is None else gamma) / root, along / (square(root) * n)
    scale, shift = slope * factor, (own * slope - total / n) * factor
    return g * factor - x * scale + shift, total, along / root


@one_module
def _of_parts(x: Array, beta: Array, gamma: Array, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any, Any]:
    """The same for many small parts, where steps for each element count; 1 / square root in place of the root."""
    n = max(1, math.prod(x.shape[i] for i in axes))
    own = _sum(x, axes, True) / n
    centred = x - own
    var = _sum(square(centred), axes, True) / n
    rate = 1 / sqrt(var + eps)
    y = centred * (rate if gamma is None else gamma * rate)
    return y if beta is None else y + beta, own, var, rate


@one_module
def _back_through_parts(
    g: Array, x: Array, gamma: Array, axes: tuple[int, ...], own: Array, rate: Array
) -> tuple[Any, Any, Any]:
    """Return the gradients of x, beta and gamma. The axes along which gamma is the same are summed first."""
    same = tuple(i for i in axes if gamma is None or gamma.shape[i] == 1)
    rest = tuple(i for i in axes if i not in same)
    centred, factor = x - own, rate if gamma is None else gamma * rate
    total, along, back = g, g * centred, g * factor
    shift = back
    if same:
        total, along = _sum(total, same, True), _sum(along, same, True)
        shift = total * factor
    slope = along * factor
    if rest:
        shift, slope = _sum(shift, rest, True), _sum(slope, rest, True)
    n = max(1, math.prod(x.shape[i] for i in axes))
    return back - centred * (slope * (square(rate) / n)) - shift / n, total, along * rate


class _Norm:
    """The op: its inputs are x, and perhaps beta, and perhaps gamma. Outputs beside its result have no gradients.

    Nothing of x's size is kept but x. Gradients that are recorded themselves are those of the steps.
    """

    stateless = True  # gradients depend on the tape alone

    def __init__(self, name: str, steps: Callable[..., Any], back: Callable[..., Any]) -> None:
        self.name, self._steps, self._back = name, steps, back

    def __call__(self, inputs: tuple[Any, ...], axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
        recording = _core.set_recording(False)
        try:
            y, own, var, root = self._steps(*_three(inputs), axes, eps)
        finally:
            _core.set_recording(recording)
        if recording:
            _core.record(self, inputs, (y,), (axes, eps, own, root), (1 << len(inputs)) - 1)
        return y, own, var

    def exported_attributes(self, attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of `repeated` besides the inputs."""
        return attrs[:2]

    def repeated(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """Return the op once more."""
        return self(tuple(inputs), *attrs)[0]

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients of all inputs, for the backward pass."""
        axes, eps, own, root = attrs
        if _core.recording():
            return of_steps(lambda *inputs: self._steps(*_three(inputs), axes, eps)[0], g, inputs)
        x, _, gamma = _three(inputs)
        found: tuple[Any, ...] = self._back(g, x, gamma, axes, own, root)
        return found


def _three(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return x, beta and gamma; None for those that the block lacks."""
    return (*inputs, None, None)[:3]


_batch_norm = _Norm("batch_norm", _of_batch, _back_through_batch)
_layer_norm, _group_norm, _instance_norm = (
    _Norm(name, _of_parts, _back_through_parts) for name in ("layer_norm", "group_norm", "instance_norm")
)
register(__name__, _batch_norm, _layer_norm, _group_norm, _instance_norm)


@overload
def batch_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, running_mean: ArrayLike, running_var: ArrayLike, eps: float = 1e-3,
    momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False,
    output_mean_var: Literal[False] = False, axis: int = 1, cudnn_off: bool = False,
) -> Array: ...  # fmt: skip
@overload
def batch_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, running_mean: ArrayLike, running_var: ArrayLike, eps: float = 1e-3,
    momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, *, output_mean_var: Literal[True],
    axis: int = 1, cudnn_off: bool = False,
) -> list[Array]: ...  # fmt: skip
def batch_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, running_mean: ArrayLike, running_var: ArrayLike, eps: float = 1e-3,
    momentum: float = 0.9, fix_gamma: bool = True, use_global_stats: bool = False, output_mean_var: bool = False,
    axis: int = 1, cudnn_off: bool = False,
) -> Any:  # fmt: skip
    """Return x with mean 0 and variance 1 along all axes but one, times gamma, plus beta (Ioffe and Szegedy 2015).

    While training, the batch's own statistics are used, and the running ones follow them, in place: momentum * running
    + (1 - momentum) * batch. Otherwise, and always with `use_global_stats`, the running ones are used.

    Parameters
    ----------
    x : array_like
        The values, with channels along `axis`.
    gamma : array_like
        The factors, of shape (channels,).
    beta : array_like
        The numbers that are added, of shape (channels,).
    running_mean : array_like
        The running means, of shape (channels,). While training this is an array, which is changed in place.
    running_var : array_like
        The running variances, of shape (channels,). While training this is an array, which is changed in place.
    eps : float, optional
        The number that is added to the variance.
    momentum : float, optional
        The share of a running statistic that one call while training keeps.
    fix_gamma : bool, optional
        True: gamma counts as 1.
    use_global_stats : bool, optional
        True uses the running statistics while training, too, and leaves them unchanged.
    output_mean_var : bool, optional
        True returns the statistics that were used, too.
    axis : int, optional
        The axis of channels.
    cudnn_off : bool, optional
        This changes nothing.

    Returns
    -------
    array or list of arrays
        The result, in the shape of `x`. With `output_mean_var` a list of the result, the mean, and 1 / sqrt of the
        variance plus eps, which were used, both of shape (channels,); no gradients flow through these two.

    Raises
    ------
    ValueError
        If `x` lacks the axis, or the other arrays do not fit its extent.

    Examples
    --------
    >>> from forerun import np, npx
    >>> one, zero = np.ones(2), np.zeros(2)
    >>> npx.batch_norm(np.array([[1.0, 3.0]]), one, zero, one, one, eps=0).tolist()
    [[0.0, 2.0]]
    """
    given = (x, gamma, beta, running_mean, running_var)
    x, gamma, beta = (asarray_like_device(v, *given) for v in given[:3])
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"batch_norm: array must have axis {axis}, got shape {x.shape}")
    channels, ndim = axis % x.ndim, x.ndim
    if _core.training() and not use_global_stats:
        axes = tuple(i for i in range(ndim) if i != channels)
        wide = (_wide(v, channels, ndim) for v in ((beta,) if fix_gamma else (beta, gamma)))
        y, own, var = _batch_norm((x, *wide), axes, eps)
        own, var = reshape(own, -1), reshape(var, -1)
        _follow((running_mean, running_var), (own, var), momentum)
        return [y, own, 1 / sqrt(var + eps)] if output_mean_var else y
    running_mean, running_var = (asarray_like_device(v, x) for v in given[3:])
    root = sqrt(running_var + eps)
    centred = x - _wide(running_mean, channels, ndim)
    factor = (1 if fix_gamma else gamma) / root
    y = centred * _wide(factor, channels, ndim) + _wide(beta, channels, ndim)
    return [y, copy(running_mean.detach()), 1 / root.detach()] if output_mean_var else y


def _follow(running: tuple[Any, Any], batch: tuple[Any, Any], momentum: float) -> None:
    """Move the running statistics towards the batch's, in place; not recorded, does not wait."""
    recording = _core.set_recording(False)
    try:
        for r, b in zip(running, batch):
            r *= momentum
            r += (1 - momentum) * b
    finally:
        _core.set_recording(recording)


def _normalized(
    op: _Norm, x: Array, gamma: Any, beta: Any, axes: tuple[int, ...], eps: float, several: bool = False
) -> list[Array]:
    """Return x with mean 0 and variance 1 over axes, times gamma, plus beta, which broadcast; 16-bit floats in float32.

    several: also the mean, and the square root of the variance plus eps.
    """
    dtype = promote(x.dtype if is_inexact(x.dtype) else default_float(), gamma.dtype, beta.dtype)
    if dtype.kind == "c":
        raise TypeError(f"{op.name}: arrays must be real, got {dtype}")
    wide = numpy.dtype("float32") if dtype.itemsize == 2 else dtype
    y, own, var = op((cast(x, wide) if x.dtype != wide else x, beta, gamma), axes, eps)
    found = [y, own, sqrt(var + eps)] if several else [y]
    return [cast(v, dtype) for v in found] if wide != dtype else found


def _fitting(op: str, vectors: tuple[Any, Any], shape: tuple[int, ...]) -> list[Any]:
    """Return gamma and beta in a shape. ValueError if they have neither one element nor as many as that shape."""
    n, ones = math.prod(shape), (1,) * len(shape)
    if any(v.size not in (1, n) for v in vectors):
        got = f"shapes {vectors[0].shape} and {vectors[1].shape}"
        raise ValueError(f"{op}: gamma and beta must have {n} elements, or one, got {got}")
    return [reshape(v, shape if v.size == n else ones) for v in vectors]


@overload
def layer_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, axis: int = -1, eps: float = 1e-5,
    output_mean_var: Literal[False] = False,
) -> Array: ...  # fmt: skip
@overload
def layer_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, axis: int = -1, eps: float = 1e-5, *,
    output_mean_var: Literal[True],
) -> list[Array]: ...  # fmt: skip
def layer_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, axis: int = -1, eps: float = 1e-5, output_mean_var: bool = False
) -> Any:
    """Return `x` with mean 0 and variance 1 along `axis`, times gamma, plus beta (Ba et al. 2016).

    Floats of 16 bits are normalized in float32.

    Parameters
    ----------
    x : array_like
        The values, of real numbers. Integers and bools are taken in the default float.
    gamma : array_like
        The factors: a vector along the axis, or one element.
    beta : array_like
        The numbers to add: a vector along the axis, or one element.
    axis : int, optional
        The axis to normalize along.
    eps : float, optional
        A number that is added to the variance.
    output_mean_var : bool, optional
        Whether the mean and the square root of the variance plus eps are returned too.

    Returns
    -------
    array, or list of arrays
        The result, of x's shape, in the dtype that the three arrays have together. With `output_mean_var` a list of the
        result, the mean, and the square root of the variance plus eps, these with extent 1 along the axis; no gradients
        flow through these.

    Raises
    ------
    ValueError
        If gamma or beta has neither one element nor as many as the axis.
    TypeError
        If an array is complex.
    IndexError
        If the axis is out of range.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.zeros(2), eps=0.0).tolist()
    [[-1.0, 1.0]]
    """
    x, gamma, beta = asarrays(x, gamma, beta)
    a = axis_of("layer_norm", axis, x.ndim)
    gamma, beta = _fitting("layer_norm", (gamma, beta), tuple(n if i == a else 1 for i, n in enumerate(x.shape)))
    found = _normalized(_layer_norm, x, gamma, beta, (a,), eps, output_mean_var)
    return found if output_mean_var else found[0]


@overload
def group_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, num_groups: int = 1, eps: float = 1e-3,
    output_mean_var: Literal[False] = False,
) -> Array: ...  # fmt: skip
@overload
def group_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, num_groups: int = 1, eps: float = 1e-3, *,
    output_mean_var: Literal[True],
) -> list[Array]: ...  # fmt: skip
def group_norm(
    x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, num_groups: int = 1, eps: float = 1e-3,
    output_mean_var: bool = False,
) -> Any:  # fmt: skip
    """Normalize each group of channels of each example, then scale by gamma and add beta (Wu and He 2018).

    A group is normalized to mean 0 and variance 1. 16-bit floats are computed in float32.

    Parameters
    ----------
    x : array_like
        The values, of shape (batch, channels, ...).
    gamma : array_like
        The factors, of shape (channels,), or of one element.
    beta : array_like
        The numbers that are added, of shape (channels,), or of one element.
    num_groups : int, optional
        The number of groups that channels are split into.
    eps : float, optional
        The number that is added to the variance.
    output_mean_var : bool, optional
        True returns the statistics, too.

    Returns
    -------
    array or list of arrays
        The result, in the shape of `x`; dtypes are promoted. With `output_mean_var` a list of the result, the mean, and
        the square root of the variance plus eps, both of shape (batch, num_groups), through which no gradients flow.

    Raises
    ------
    ValueError
        If shapes do not fit, or channels are not a multiple of `num_groups`.
    TypeError
        If an array is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.group_norm(np.array([[1.0, 3.0, 0.0, 8.0]]), np.ones(4), np.zeros(4), 2, eps=0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    x, gamma, beta = asarrays(x, gamma, beta)
    if num_groups < 1 or x.ndim < 2 or x.shape[1] % num_groups:
        raise ValueError(f"group_norm: array must have a multiple of {num_groups} channels, got shape {x.shape}")
    shape = (x.shape[0], num_groups, x.shape[1] // num_groups, math.prod(x.shape[2:]))
    gamma, beta = _fitting("group_norm", (gamma, beta), (1, *shape[1:3], 1))
    y, *used = _normalized(_group_norm, reshape(x, shape), gamma, beta, (2, 3), eps, output_mean_var)
    y = reshape(y, x.shape)
    return [y, *(reshape(v, shape[:2]) for v in used)] if output_mean_var else y


def instance_norm(x: ArrayLike, gamma: ArrayLike, beta: ArrayLike, eps: float = 1e-3, axis: int = 1) -> Array:
    """Normalize each channel of each example, then scale by gamma and add beta (Ulyanov et al. 2016).

    A channel is normalized to mean 0 and variance 1. 16-bit floats are computed in float32.

    Parameters
    ----------
    x : array_like
        The values, of shape (batch, channels, extents...), or with channels on another axis after the first.
    gamma : array_like
        The factors, of shape (channels,), or of one element.
    beta : array_like
        The numbers that are added, of shape (channels,), or of one element.
    eps : float, optional
        The number that is added to the variance.
    axis : int, optional
        The axis of channels, which is not the first one.

    Returns
    -------
    array
        The result, in the shape of `x`; dtypes are promoted.

    Raises
    ------
    ValueError
        For other shapes: if `x` has fewer than 3 axes, `axis` is the first one or does not exist, or `gamma` or `beta`
        has another size.
    TypeError
        If an array is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.instance_norm(np.array([[[1.0, 3.0]]]), np.ones(1), np.zeros(1), eps=0).tolist()
    [[[-1.0, 1.0]]]
    """
    x, gamma, beta = asarrays(x, gamma, beta)
    if x.ndim < 3 or not -x.ndim < axis < x.ndim or axis == 0:
        raise ValueError(f"instance_norm: array must have 3 axes or more, got shape {x.shape} for axis {axis}")
    channels = axis % x.ndim
    wide = tuple(n if i == channels else 1 for i, n in enumerate(x.shape))
    gamma, beta = _fitting("instance_norm", (gamma, beta), wide)
    return _normalized(_instance_norm, x, gamma, beta, tuple(i for i in range(1, x.ndim) if i != channels), eps)[0]
