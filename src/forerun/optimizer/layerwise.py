"""Optimizers for large batches: steps scaled to the norm of each weight."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

from .. import np
from .adam import Adam
from .base import Advanced, Item, Settings, State
from .sgd import SGD

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["LARS", "LAMB", "LANS"]

_UNSCALED = ("gamma", "beta", "bias")  # ends of the names of parameters that LARS leaves their learning rate


def _norm(x: Array) -> Array:
    return np.sqrt(np.square(x).sum())


def _ratio(above: Array, below: Array, like: Array) -> Array:
    """Return above / below where both are positive, else 1, in the dtype of an array."""
    scale = np.where((above > 0) & (below > 0), above / np.where(below > 0, below, 1), 1)
    return scale.astype(like.dtype)


class LARS(SGD):
    """Gradient descent with a learning rate scaled for each weight (You, Gitman and Ginsburg 2017).

    The scale is eta * |weight| / (|g| + wd * |weight| + epsilon), or 1 where a norm is 0, and for parameters whose
    names end in gamma, beta or bias; g is the gradient before the weight decay. The rest is as in `SGD`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    momentum : float, optional
        The part of the last step that is kept.
    eta : float, optional
        The factor of the scale.
    epsilon : float, optional
        A small number that keeps quotients finite.
    momentum_correction : bool, optional
        Whether after a change of the learning rate momentum is multiplied by the new one over the old one (Goyal et al.
        2017).
    eps : float, optional
        `epsilon` in the spelling of MXNet 1.x; it wins.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = LARS(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [1. 1.]
    """

    constants: tuple[str, ...] = (*SGD.constants, "eta", "epsilon")

    def __init__(
        self, learning_rate: float = 0.1, momentum: float = 0.0, eta: float = 0.001, epsilon: float = 1e-8,
        momentum_correction: bool = False, eps: float | None = None, **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, momentum, **settings)
        self.eta, self.epsilon = eta, epsilon if eps is None else eps
        self.momentum_correction = momentum_correction
        self._rates: tuple[int, float, float] = (-1, 0.0, 0.0)  # the step, its learning rate, that of the one before

    def _advance(self, items: Sequence[Item]) -> list[Advanced]:
        advanced = super()._advance(items)
        if self.num_update != self._rates[0]:
            self._rates = self.num_update, self.learning_rate, self._rates[1]
        _, rate, before = self._rates
        change = rate / before if self.momentum_correction and before else 1.0
        return [((*own, self._scaled(item[0]), change), wd) for (own, wd), item in zip(advanced, items)]

    def _progress(self) -> Any:
        return super()._progress(), self._rates

    def _resume(self, progress: Any) -> None:
        before, self._rates = progress
        super()._resume(before)

    def _scaled(self, index: int) -> float:
        """Return 1 if the learning rate of a weight is scaled, else 0."""
        name = getattr(self.param_dict.get(index), "name", self.idx2name.get(index, ""))
        return 0.0 if name.endswith(_UNSCALED) else 1.0

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate.

        Parameters
        ----------
        t : int
            The number of the step of this weight, from 1.
        lr : float
            The learning rate of the step.
        wd : float
            The weight decay.

        Returns
        -------
        tuple of float
            The learning rate.

        Examples
        --------
        >>> [round(x, 4) for x in LARS().factors(1, 0.25, 0.0)]
        [0.25]
        """
        return (lr,)

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        grad : array
            Its gradient, as the backward pass has computed it.
        state : dict
            Its state, which is changed in place.
        factors : tuple
            The learning rate; 1 if it is scaled, otherwise 0; and the factor of the velocity.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = LARS(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, (0.1, 1.0, 1.0), 0.0)
        >>> print(np.round(w, 4))
        [0.9999 0.9999]
        """
        lr, scaled, change = factors
        g, own = self.prepared(grad), _norm(weight)
        norm = _norm(g)
        ratio = np.where(norm > 0, _ratio(self.eta * own, norm + wd * own + self.epsilon, weight), 1)
        lr = lr * (1 + scaled * (ratio.astype(weight.dtype) - 1))
        if self.momentum:
            state["velocity"] *= change
        self.step(weight, g + wd * weight if wd else g, state, lr)


class LAMB(Adam):
    """Adam's step plus the weight decay, scaled to the weight: weight -= lr * |weight| / |r| * r (You et al. 2020).

    r is the step with its decay; the scale is 1 where either norm is 0. wd is not added to the gradient.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    beta1 : float, optional
        The part of the moving mean of gradients that is kept.
    beta2 : float, optional
        The part of the moving mean of squares that is kept.
    epsilon : float, optional
        A small number that keeps quotients finite.
    lower_bound : float, optional
        The least norm of a weight that counts.
    upper_bound : float, optional
        The largest norm of a weight that counts.
    bias_correction : bool, optional
        Whether means have Adam's corrections.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = LAMB(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants = (*Adam.constants, "lower_bound", "upper_bound", "bias_correction")

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
        lower_bound: float | None = None, upper_bound: float | None = None, bias_correction: bool = True,
        **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, **settings)
        self.lower_bound, self.upper_bound, self.bias_correction = lower_bound, upper_bound, bias_correction

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate, and the corrections: m * c1 / (sqrt(v) * c2 + epsilon).

        Parameters
        ----------
        t : int
            The number of the step of this weight, from 1.
        lr : float
            The learning rate of the step.
        wd : float
            The weight decay.

        Returns
        -------
        tuple of float
            The learning rate, and the factors of mean and variance; these are 1 without `bias_correction`.

        Examples
        --------
        >>> [round(x, 4) for x in LAMB().factors(1, 0.25, 0.0)]
        [0.25, 10.0, 31.6228]
        """
        if not self.bias_correction:
            return lr, 1.0, 1.0
        return lr, 1 / (1 - self.beta1**t), 1 / math.sqrt(1 - self.beta2**t)

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        grad : array
            Its gradient, as the backward pass has computed it.
        state : dict
            Its state, which is changed in place.
        factors : tuple
            The numbers that `factors` returns.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = LAMB(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        lr, c1, c2 = factors
        g, mean, variance = self.prepared(grad), state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        r = mean * c1 / (np.sqrt(variance) * c2 + self.epsilon)
        r = r + wd * weight if wd else r
        weight -= lr * (_ratio(self._own(weight), _norm(r), weight) * r)

    def _own(self, weight: Array) -> Array:
        """Return the weight's norm, within the bounds."""
        own = _norm(weight)
        bounded = self.lower_bound is not None or self.upper_bound is not None
        return np.clip(own, self.lower_bound, self.upper_bound) if bounded else own


class LANS(LAMB):
    """LAMB with Nesterov's momentum and gradients of norm 1 (Zheng et al. 2020).

    With g over its norm, Adam's corrected m and v, and root = sqrt(v) + epsilon, the step is lr * |weight| *
    (beta1 * r / |r| + (1 - beta1) * c / |c|), where r = m / root + wd * weight and c = g / root + wd * weight; a norm
    of 0 scales by 1.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    beta1 : float, optional
        The part of the moving mean of gradients that is kept.
    beta2 : float, optional
        The part of the moving mean of squares that is kept.
    epsilon : float, optional
        A small number that keeps quotients finite.
    lower_bound : float, optional
        The least norm of a weight that counts.
    upper_bound : float, optional
        The largest norm of a weight that counts.
    bias_correction : bool, optional
        Whether means have Adam's corrections.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = LANS(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants = LAMB.constants

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        grad : array
            Its gradient, as the backward pass has computed it.
        state : dict
            Its state, which is changed in place.
        factors : tuple
            The numbers that `factors` returns.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = LANS(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        lr, c1, c2 = factors
        g, mean, variance = self.prepared(grad), state["mean"], state["variance"]
        norm = _norm(g)
        g = g / np.where(norm > 0, norm, 1).astype(weight.dtype)
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        root = np.sqrt(variance) * c2 + self.epsilon
        decay = wd * weight if wd else 0.0
        r, c = mean * c1 / root + decay, g / root + decay
        own = self._own(weight)
        first, second = (_ratio(own, _norm(x), weight) for x in (r, c))
        weight -= lr * (self.beta1 * (first * r) + (1 - self.beta1) * (second * c))
