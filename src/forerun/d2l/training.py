"""Data, models and steps of training that are written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .. import autograd, gluon, np

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike

__all__ = ["grad_clipping", "linreg", "load_array", "sgd", "squared_loss", "synthetic_data"]


def synthetic_data(w: Array, b: ArrayLike, num_examples: int) -> tuple[Array, Array]:
    """Return examples of a linear model with noise of standard deviation 0.01.

    Parameters
    ----------
    w : array
        The weights, of shape (features,) or (features, 1).
    b : array_like
        The bias: one number.
    num_examples : int
        The number of examples.

    Returns
    -------
    X : array
        Normal numbers, of shape (num_examples, features) and the default float.
    y : array
        X @ w + b with noise, of shape (num_examples, 1).

    Examples
    --------
    >>> X, y = synthetic_data(np.array([2.0, -3.4]), 4.2, 100)
    >>> X.shape, y.shape
    ((100, 2), (100, 1))
    """
    X = np.random.normal(0, 1, (num_examples, len(w)))
    y = np.dot(X, w) + b + np.random.normal(0, 0.01, (num_examples,) if w.ndim == 1 else (num_examples, 1))
    return X, y.reshape((-1, 1))


def load_array(data_arrays: Sequence[Any], batch_size: int, is_train: bool = True) -> gluon.data.DataLoader:
    """Return the batches of a data set that is in memory.

    Parameters
    ----------
    data_arrays : sequence of arrays
        Arrays of equally many examples, such as features and labels.
    batch_size : int
        The number of examples in a batch; the last one may have fewer.
    is_train : bool, optional
        Whether each epoch has another order.

    Returns
    -------
    gluon.data.DataLoader
        An iterable of lists with one part of each array.

    Raises
    ------
    ValueError
        If the arrays have different numbers of examples.

    Examples
    --------
    >>> batches = load_array((np.arange(5), np.arange(5) * 2), 2, is_train=False)
    >>> [X.tolist() for X, y in batches]
    [[0, 1], [2, 3], [4]]
    """
    return gluon.data.DataLoader(gluon.data.ArrayDataset(*data_arrays), batch_size, shuffle=is_train)


def linreg(X: Array, w: Array, b: Array) -> Array:
    """Return the linear model X @ w + b.

    Parameters
    ----------
    X : array
        The examples, of shape (examples, features).
    w : array
        The weights, of shape (features, outputs).
    b : array
        The biases, of shape (outputs,) or one number.

    Returns
    -------
    array
        The predictions, of shape (examples, outputs).

    Examples
    --------
    >>> linreg(np.ones((2, 3)), np.ones((3, 1)), np.array(0.5)).tolist()
    [[3.5], [3.5]]
    """
    return np.matmul(X, w) + b


def squared_loss(y_hat: Array, y: Array) -> Array:
    """Return half the squared error of each prediction.

    Parameters
    ----------
    y_hat : array
        The predictions.
    y : array
        The labels, which are reshaped to the shape of the predictions.

    Returns
    -------
    array
        The losses, of the shape of the predictions.

    Raises
    ------
    ValueError
        If there are not as many labels as predictions.

    Examples
    --------
    >>> squared_loss(np.array([[1.0], [3.0]]), np.array([1, 1])).tolist()
    [[0.0], [2.0]]
    """
    return (y_hat - y.reshape(y_hat.shape)) ** 2 / 2


def sgd(params: Iterable[Any], lr: float, batch_size: int) -> None:
    """Take a step of gradient descent in place. Gradients that add up (`grad_req="add"`) start anew.

    Parameters
    ----------
    params : iterable of arrays
        Arrays with gradients.
    lr : float
        The learning rate.
    batch_size : int
        The number of examples whose losses were added up: gradients are divided by it.

    Examples
    --------
    >>> from forerun import autograd
    >>> w = np.array([2.0])
    >>> w.attach_grad()
    >>> with autograd.record():
    ...     loss = w * w
    >>> loss.backward()
    >>> sgd([w], lr=0.1, batch_size=1)
    >>> w.tolist()
    [1.600000023841858]
    """
    with autograd.pause():
        for param in params:
            param -= lr * param.grad / batch_size
            if param.node.grad_req == "add":
                param.zero_grad()


def grad_clipping(net: object, theta: float) -> None:
    """Scale gradients in place so that their common 2-norm has a limit. Waits for nothing.

    Parameters
    ----------
    net : Block, Module, or list of arrays
        A network, an object with `params`, or arrays with gradients.
    theta : float
        The largest norm.

    Raises
    ------
    ValueError
        If there is no gradient.

    Examples
    --------
    >>> from forerun import autograd
    >>> w = np.array([3.0, 4.0])
    >>> w.attach_grad()
    >>> with autograd.record():
    ...     loss = (w * w).sum()
    >>> loss.backward()       # the gradient [6, 8] has the norm 10
    >>> grad_clipping([w], 5.0)
    >>> w.grad.tolist()
    [3.0, 4.0]
    """
    params = net if isinstance(net, (list, tuple)) else list(_parameters(net))
    with autograd.pause():
        norm = np.sqrt(np.sum(np.stack([np.sum(np.square(p.grad)) for p in params])))
        factor = np.minimum(theta / np.maximum(norm, 1e-30), 1.0)
        for p in params:
            p.grad[...] = p.grad * factor


def _parameters(net: Any) -> Iterable[Any]:
    if hasattr(net, "collect_params"):
        return [p.data() for p in net.collect_params().values() if p.grad_req != "null"]
    found: Iterable[Any] = net.params if hasattr(net, "params") else net.parameters()
    return found
