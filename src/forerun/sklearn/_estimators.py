"""Estimators that train a network."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from .. import autograd, gluon, init, np, npx
from .._runtime.pacing import pace
from ..gluon import nn

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike


__all__ = ["NetClassifier", "NetRegressor"]

Net = gluon.Block | Callable[[int], gluon.Block] | None


class _NetEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """The base of both: parameters, and the training loop."""

    def __init__(
        self,
        net: Net = None,
        *,
        hidden: Sequence[int] = (100,),
        loss: Any = None,
        optimizer: str = "adam",
        learning_rate: float = 0.001,
        epochs: int = 100,
        batch_size: int = 32,
        random_state: int | None = None,
    ) -> None:
        self.net = net
        self.hidden = hidden
        self.loss = loss
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.epochs = epochs
        self.batch_size = batch_size
        self.random_state = random_state

    def _made(self, outputs: int) -> gluon.Block:
        """Return a network that nothing else uses."""
        if self.net is None:
            layers = nn.HybridSequential()
            layers.add(*(nn.Dense(n, activation="relu") for n in self.hidden), nn.Dense(outputs))
            return layers
        return copy.deepcopy(self.net) if isinstance(self.net, gluon.Block) else self.net(outputs)

    def _train(self, x: Any, y: Any, outputs: int, loss: Any) -> None:
        """Train a new network. No step waits for a value; `pace` bounds run-ahead."""
        random = check_random_state(self.random_state)
        if self.random_state is not None:
            np.random.seed(int(random.randint(2**31)))
        net, data, labels = self._made(outputs), np.array(x, dtype="float32"), np.array(y)
        net.initialize(init.Xavier(), force_reinit=True)
        net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), self.optimizer, {"learning_rate": self.learning_rate})
        losses = []
        for _ in pace(range(self.epochs)):
            order, total = random.permutation(len(data)), 0
            for start in range(0, len(data), self.batch_size):
                chosen = np.array(order[start : start + self.batch_size])
                with autograd.record():
                    error = loss(net(data[chosen]), labels[chosen])
                error.backward()
                trainer.step(len(chosen))
                total = total + error.sum()
            losses.append(total / len(data))
        net.hybridize()  # anew: programs of training are not needed any more
        self.net_ = net
        self.losses_ = np.stack(losses).tolist() if losses else []

    def _outputs(self, x: ArrayLike) -> Array:
        check_is_fitted(self)
        given = validate_data(self, x, reset=False, allow_nd=True, dtype="float32")
        found = [self.net_(np.array(given[i : i + 1024])) for i in range(0, len(given), 1024)]
        return found[0] if len(found) == 1 else np.concatenate(found)


class NetClassifier(ClassifierMixin, _NetEstimator):  # type: ignore[misc]
    """A classifier of scikit-learn that trains a Gluon network.

    Parameters
    ----------
    net : Block or callable, optional
        The network, with as many outputs as there are classes; each `fit` trains a copy of it from new initial values,
        Xavier's where a layer names none. Or a function that makes one for a number of outputs. By default a multilayer
        perceptron.
    hidden : sequence of int
        Units of the hidden layers of the default network.
    loss : gluon.loss.Loss, optional
        By default softmax cross-entropy.
    optimizer : str
        Name of an optimizer of `forerun.optimizer`.
    learning_rate : float
        Learning rate of the optimizer.
    epochs, batch_size : int
        How often all examples are used, and how many make a step.
    random_state : int, RandomState or None
        Seeds the initial values and the order of examples. An integer also seeds `np.random`.

    Attributes
    ----------
    net_ : Block
        The trained network.
    classes_ : numpy.ndarray
        The labels.
    losses_ : list of float
        The mean loss of each epoch.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon import nn
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["low", "low", "high", "high"]
    >>> model = NetClassifier(nn.Dense(2), learning_rate=0.1, epochs=100, random_state=0).fit(x, y)
    >>> model.predict(x).tolist()
    ['low', 'low', 'high', 'high']
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> NetClassifier:
        """Train a new network on examples.

        Parameters
        ----------
        X : array_like
            The examples, along the first axis.
        y : array_like
            The labels, shape (examples,).

        Returns
        -------
        NetClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            If they do not fit.

        Examples
        --------
        >>> from forerun.gluon import nn
        >>> model = NetClassifier(nn.Dense(2), epochs=2, random_state=0).fit([[0.0], [1.0]], [0, 1])
        >>> len(model.losses_)
        2
        """
        examples, targets = validate_data(self, X, y, allow_nd=True, dtype="float32")
        check_classification_targets(targets)
        self.classes_, labels = numpy.unique(targets, return_inverse=True)
        self._train(examples, labels, len(self.classes_), self.loss or gluon.loss.SoftmaxCrossEntropyLoss())
        return self

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class, for each example. Waits."""
        return npx.softmax(self._outputs(X).astype("float64")).asnumpy()

    def predict(self, X: ArrayLike) -> Any:
        """Return the label of the most probable class, for each example. Waits."""
        best = self._outputs(X).argmax(1).asnumpy()
        return self.classes_[best]


class NetRegressor(RegressorMixin, _NetEstimator):  # type: ignore[misc]
    """A regressor of scikit-learn that trains a Gluon network.

    A target with several columns has as many outputs.

    Parameters
    ----------
    net : Block or callable, optional
        The network, with as many outputs as a target has columns; each `fit` trains a copy of it from new initial
        values, Xavier's where a layer names none. Or a function that makes one for a number of outputs. By default a
        multilayer perceptron.
    hidden : sequence of int
        Units of the hidden layers of the default network.
    loss : gluon.loss.Loss, optional
        By default half the square of the difference.
    optimizer : str
        Name of an optimizer of `forerun.optimizer`.
    learning_rate : float
        Learning rate of the optimizer.
    epochs, batch_size : int
        How often all examples are used, and how many make a step.
    random_state : int, RandomState or None
        Seeds the initial values and the order of examples. An integer also seeds `np.random`.

    Attributes
    ----------
    net_ : Block
        The trained network.
    losses_ : list of float
        The mean loss of each epoch.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.linspace(-1, 1, 64).reshape(-1, 1)
    >>> model = NetRegressor(hidden=(32,), learning_rate=0.01, random_state=0).fit(x, np.sin(3 * x[:, 0]))
    >>> bool(model.score(x, np.sin(3 * x[:, 0])) > 0.9)
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> NetRegressor:
        """Train a new network on examples.

        Parameters
        ----------
        X : array_like
            The examples, along the first axis.
        y : array_like
            The targets, shape (examples,) or (examples, outputs).

        Returns
        -------
        NetRegressor
            The estimator itself.

        Raises
        ------
        ValueError
            If they do not fit.

        Examples
        --------
        >>> from forerun.gluon import nn
        >>> model = NetRegressor(nn.Dense(1), epochs=2, random_state=0).fit([[0.0], [1.0]], [0, 1])
        >>> len(model.losses_)
        2
        """
        x, given = validate_data(self, X, y, allow_nd=True, dtype="float32", multi_output=True, y_numeric=True)
        self._several = given.ndim > 1
        targets = numpy.asarray(given, dtype="float32").reshape(len(given), -1)
        self._train(x, targets, targets.shape[1], self.loss or gluon.loss.L2Loss())
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def predict(self, X: ArrayLike) -> numpy.ndarray:
        """Return the predicted target of each example. Waits."""
        found = self._outputs(X).astype("float64").asnumpy()
        return found if self._several else found[:, 0]
