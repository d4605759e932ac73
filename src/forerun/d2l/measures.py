"""Sums and means over a data set, which are read once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .. import autograd, np
from .._runtime.device import Device
from ..ops._base.convert import is_array
from .places import to

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["Accumulator", "accuracy", "evaluate_accuracy", "evaluate_accuracy_gpu", "evaluate_loss"]


class Accumulator:
    """Running sums of several variables. Adding arrays does not wait; reading a sum waits for all that was added to it.

    Parameters
    ----------
    n : int
        The number of sums.

    Examples
    --------
    >>> sums = Accumulator(2)
    >>> sums.add(1.5, np.ones(()))
    >>> sums.add(1, 2)
    >>> sums[0], sums[1]
    (2.5, 3.0)
    """

    def __init__(self, n: int) -> None:
        self.data: list[Any] = [0.0] * n

    def add(self, *values: Array | float) -> None:
        """Add one value to each sum: numbers, or arrays of one element. ValueError for another number of values.

        Examples
        --------
        >>> sums = Accumulator(2)
        >>> sums.add(1.5, 2)
        >>> sums[0]
        1.5
        """
        self.data = [total + _wide(value) for total, value in zip(self.data, values, strict=True)]

    def reset(self) -> None:
        """Set the sums to zero.

        Examples
        --------
        >>> sums = Accumulator(1)
        >>> sums.add(1)
        >>> sums.reset()
        >>> sums[0]
        0.0
        """
        self.data = [0.0] * len(self.data)

    def __getitem__(self, index: int) -> float:
        return float(self.data[index])


def _wide(value: Array | float) -> Any:
    """As float64, so that long sums stay exact; out of sight of gradients."""
    if not is_array(value):
        return float(value)
    with autograd.pause():
        return value.detach().astype("float64").reshape(())


def _correct(y_hat: Array, y: Array) -> Array:
    """Return the number of correct predictions, as an array: y_hat holds classes, or scores along its last axis."""
    if y_hat.ndim > 1 and y_hat.shape[1] > 1:
        y_hat = np.argmax(y_hat, axis=1)
    return np.sum(y_hat.astype(y.dtype).reshape(y.shape) == y)


def accuracy(y_hat: Array, y: Array) -> float:
    """Return the number of correct predictions. Waits.

    Parameters
    ----------
    y_hat : array
        Classes, or the scores of each class along the second axis: then the largest one is the prediction.
    y : array
        The classes, one for each prediction.

    Returns
    -------
    float
        The number of predictions that equal their class.

    Raises
    ------
    ValueError
        If there are not as many classes as predictions.

    Examples
    --------
    >>> accuracy(np.array([[0.1, 0.9], [0.8, 0.2]]), np.array([1, 1]))
    1.0
    """
    return float(_correct(y_hat, y))


def evaluate_accuracy(net: Callable[..., Any], data_iter: Iterable[Any], device: Device | None = None) -> float:
    """Return the part of correct predictions for a data set. Waits once.

    Parameters
    ----------
    net : callable
        The network: from a batch of examples to predictions as `accuracy` takes them. A module predicts meanwhile.
    data_iter : iterable
        Batches of examples with their classes.
    device : Device, optional
        The device that batches are copied to; None leaves them where they are.

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ZeroDivisionError
        If there is no example.

    Examples
    --------
    >>> batches = [(np.array([1, 2]), np.array([1, 2])), (np.array([3, 4]), np.array([3, 3]))]
    >>> evaluate_accuracy(lambda X: X, batches)
    0.75
    """
    metric = Accumulator(2)
    with autograd.pause(), _predicting(net):
        for X, y in data_iter:
            X, y = (X, y) if device is None else (to(X, device), to(y, device))
            metric.add(_correct(net(X), y), y.size)
    return metric[0] / metric[1]


evaluate_accuracy_gpu = evaluate_accuracy


def evaluate_loss(net: Callable[..., Any], data_iter: Iterable[Any], loss: Callable[[Any, Any], Any]) -> float:
    """Return the mean loss over a data set. Waits once.

    Parameters
    ----------
    net : callable
        The network: from a batch of examples to its outputs. A module predicts meanwhile.
    data_iter : iterable
        Batches of examples with their labels, which get the shape of the outputs if they are as many.
    loss : callable
        The loss: from outputs and labels to an array of losses.

    Returns
    -------
    float
        The mean of all losses.

    Raises
    ------
    ZeroDivisionError
        If there is no example.

    Examples
    --------
    >>> batches = [(np.array([1.0, 3.0]), np.array([1.0, 1.0]))]
    >>> evaluate_loss(lambda X: X, batches, lambda out, y: (out - y) ** 2)
    2.0
    """
    metric = Accumulator(2)
    with autograd.pause(), _predicting(net):
        for X, y in data_iter:
            out = net(X)
            losses = loss(out, y.reshape(out.shape) if y.size == out.size else y)
            metric.add(np.sum(losses), losses.size)
    return metric[0] / metric[1]


@contextlib.contextmanager
def _predicting(net: Any) -> Iterator[None]:
    """Switches a module to predicting inside a `with` block; other models are left alone."""
    was = getattr(net, "training", None)
    if was:
        net.eval()
    try:
        yield
    finally:
        if was:
            net.train()
