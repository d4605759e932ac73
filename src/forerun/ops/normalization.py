"""Mean 0 and variance 1: over a batch, or over parts of each example."""

from __future__ import annotations

from typing import Any

from .. import _core
from .arithmetic import sqrt, square
from .convert import asarray
from .moments import mean
from .reduction import _sum
from .shape import reshape
from .tape import of_steps

__all__ = ["batch_norm", "group_norm", "instance_norm"]


def _wide(vector: Any, axis: int, ndim: int) -> Any:
    """A vector along one axis of several."""
    return reshape(vector, tuple(-1 if i == axis else 1 for i in range(ndim)))


def _of_batch(x: Any, beta: Any, gamma: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any, Any]:
    """x with mean 0 and variance 1 over axes, times gamma (None: 1), plus beta; mean, variance, square root."""
    own = mean(x, axes, keepdims=True)
    var = mean(square(x - own), axes, keepdims=True)
    root = sqrt(var + eps)
    factor = (1 if gamma is None else gamma) / root
    shift = beta - own * factor
    return x * factor + shift, own, var, root


class _BatchNorm:
    """The op: its inputs are x, beta and perhaps gamma. What it gives beside its result has no gradients.

    The gradients of all inputs come of two sums, so that x is read twice, and nothing of its size is kept but x. Those
    that are recorded themselves are those of `_of_batch`'s steps.
    """

    name = "batch_norm"
    stateless = True  # gradients depend on what stands on the tape, and on nothing else

    def __call__(self, inputs: tuple[Any, ...], axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
        x, beta, *gamma = inputs
        recording = _core.set_recording(False)
        try:
            y, own, var, root = _of_batch(x, beta, gamma[0] if gamma else None, axes, eps)
        finally:
            _core.set_recording(recording)
        if recording:
            _core.record(self, inputs, (y,), (axes, eps, own, root), (1 << len(inputs)) - 1)
        return y, own, var

    def told(self, attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """What `repeated` needs besides the inputs."""
        return attrs[:2]

    def repeated(self, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> Any:
        """The op once more."""
        return self(tuple(inputs), *attrs)[0]

    def gradients(self, g: Any, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of all inputs, for the walk."""
        axes, eps, own, root = attrs
        x, _, *gamma = inputs
        if _core.recording():
            return of_steps(lambda x, beta, gamma=None: _of_batch(x, beta, gamma, axes, eps)[0], g, inputs)
        total, along = _sum(g, axes, True), _sum(g * x - g * own, axes, True)  # nothing of it runs before g is there
        n = x.size / max(1, own.size)
        factor, slope = (gamma[0] if gamma else 1) / root, along / (square(root) * n)
        scale, shift = slope * factor, (own * slope - total / n) * factor
        return g * factor - x * scale + shift, total, *([along / root] if gamma else [])


_batch_norm = _BatchNorm()


def batch_norm(
    x: Any, gamma: Any, beta: Any, running_mean: Any, running_var: Any, eps: float = 1e-3, momentum: float = 0.9,
    fix_gamma: bool = True, use_global_stats: bool = False, axis: int = 1,
) -> Any:  # fmt: skip
    """x with mean 0 and variance 1 along all axes but one, times gamma, plus beta (Ioffe and Szegedy 2015).

    While training, the batch's own statistics are used, and the running ones follow them, in place: momentum * running
    + (1 - momentum) * batch. Otherwise, and always with use_global_stats, the running ones are used. eps is added to
    the variance. fix_gamma: gamma counts as 1. ValueError if x lacks the axis.

    >>> from forerun import np, npx
    >>> one, zero = np.ones(2), np.zeros(2)
    >>> npx.batch_norm(np.array([[1.0, 3.0]]), one, zero, one, one, eps=0).tolist()
    [[0.0, 2.0]]
    """
    x = asarray(x)
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"batch_norm: array must have axis {axis}, got shape {x.shape}")
    channels, ndim = axis % x.ndim, x.ndim
    if _core.training() and not use_global_stats:
        axes = tuple(i for i in range(ndim) if i != channels)
        wide = (_wide(v, channels, ndim) for v in ((beta,) if fix_gamma else (beta, gamma)))
        y, own, var = _batch_norm((x, *wide), axes, eps)
        _follow((running_mean, running_var), (reshape(own, -1), reshape(var, -1)), momentum)
        return y
    factor = (1 if fix_gamma else gamma) / sqrt(running_var + eps)
    centred = x - _wide(running_mean, channels, ndim)
    return centred * _wide(factor, channels, ndim) + _wide(beta, channels, ndim)


def _follow(running: tuple[Any, Any], batch: tuple[Any, Any], momentum: float) -> None:
    """Moves the running statistics towards the batch's, in place; not recorded, does not wait."""
    recording = _core.set_recording(False)
    try:
        for r, b in zip(running, batch):
            r *= momentum
            r += (1 - momentum) * b
    finally:
        _core.set_recording(recording)


def _standard(x: Any, axes: tuple[int, ...], eps: float) -> Any:
    """x with mean 0 and variance 1 over axes."""
    centred = x - mean(x, axes, keepdims=True)
    return centred / sqrt(mean(square(centred), axes, keepdims=True) + eps)


def group_norm(x: Any, gamma: Any, beta: Any, num_groups: int = 1, eps: float = 1e-3) -> Any:
    """Each group of channels of each example with mean 0 and variance 1, times gamma, plus beta (Wu and He 2018).

    x: (batch, channels, ...). gamma, beta: (channels,). ValueError if channels are no multiple of num_groups.

    >>> from forerun import np, npx
    >>> npx.group_norm(np.array([[1.0, 3.0, 0.0, 8.0]]), np.ones(4), np.zeros(4), 2, eps=0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    x = asarray(x)
    if num_groups < 1 or x.ndim < 2 or x.shape[1] % num_groups:
        raise ValueError(f"group_norm: array must have a multiple of {num_groups} channels, got shape {x.shape}")
    grouped = reshape(x, (x.shape[0], num_groups, -1))
    y = reshape(_standard(grouped, (2,), eps), x.shape)
    return y * _wide(gamma, 1, x.ndim) + _wide(beta, 1, x.ndim)


def instance_norm(x: Any, gamma: Any, beta: Any, eps: float = 1e-3, axis: int = 1) -> Any:
    """Each channel of each example with mean 0 and variance 1, times gamma, plus beta (Ulyanov et al. 2016).

    x: (batch, channels, extents...), or with channels on another axis after the first. ValueError for other shapes.

    >>> from forerun import np, npx
    >>> npx.instance_norm(np.array([[[1.0, 3.0]]]), np.ones(1), np.zeros(1), eps=0).tolist()
    [[[-1.0, 1.0]]]
    """
    x = asarray(x)
    if x.ndim < 3 or not -x.ndim < axis < x.ndim or axis == 0:
        raise ValueError(f"instance_norm: array must have 3 axes or more, got shape {x.shape} for axis {axis}")
    channels = axis % x.ndim
    y = _standard(x, tuple(i for i in range(1, x.ndim) if i != channels), eps)
    return y * _wide(gamma, channels, x.ndim) + _wide(beta, channels, x.ndim)
