"""Optimizers whose steps have a size of their own for each element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

from .. import np
from .base import Optimizer, Settings, State

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["RMSProp", "AdaGrad", "AdaDelta", "Ftrl", "FTML"]


class RMSProp(Optimizer):
    """Steps of lr * g / (sqrt(v) + epsilon), where v is the moving mean of g**2: v = rho * v + (1 - rho) * g**2.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    rho : float, optional
        The part of the moving mean of squares that is kept.
    epsilon : float, optional
        A small number that keeps quotients finite.
    gamma1 : float, optional
        `rho` in the spelling of MXNet 1.x; it wins.
    gamma2 : float, optional
        `momentum` in the spelling of MXNet 1.x; it wins.
    momentum : float, optional
        The part of the last step that is kept, of the centered form alone.
    centered : bool, optional
        Whether v is less the square of the moving mean of g (Graves 2013): d = momentum * d - lr * g / sqrt(v - m**2 +
        epsilon), weight += d.
    clip_weights : float, optional
        The bound of the absolute values of weights after each step.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = RMSProp(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.684 0.684]
    """

    constants = ("rho", "momentum", "epsilon", "centered", "clip_weights")

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.9, epsilon: float = 1e-8, gamma1: float | None = None,
        gamma2: float | None = None, momentum: float = 0.9, centered: bool = False, clip_weights: float | None = None,
        **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **settings)
        self.rho, self.epsilon = rho if gamma1 is None else gamma1, epsilon
        self.momentum, self.centered = momentum if gamma2 is None else gamma2, centered
        self.clip_weights = clip_weights or None
        self.slots = ("variance", "mean", "delta") if centered else ("variance",)

    def step(self, weight: Array, g: Array, state: State, lr: Array | float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        lr : float or array
            The learning rate.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = RMSProp(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.684 0.684]
        """
        variance = state["variance"]
        variance *= self.rho
        variance += (1 - self.rho) * np.square(g)
        if self.centered:
            mean, delta = state["mean"], state["delta"]
            mean *= self.rho
            mean += (1 - self.rho) * g
            delta *= self.momentum
            delta -= lr * (g / np.sqrt(variance - np.square(mean) + self.epsilon))
            weight += delta
        else:
            weight -= lr * (g / (np.sqrt(variance) + self.epsilon))
        if self.clip_weights is not None:
            np.clip(weight, -self.clip_weights, self.clip_weights, out=weight)


class AdaGrad(Optimizer):
    """Steps of lr * g / (sqrt(h) + epsilon), where h is the sum of all g**2 so far (Duchi et al., 2011).

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    epsilon : float, optional
        A small number that keeps quotients finite.
    eps : float, optional
        `epsilon` in the spelling of MXNet 1.x; it wins.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = AdaGrad(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    slots = ("history",)
    constants = ("epsilon",)

    def __init__(
        self, learning_rate: float = 0.01, epsilon: float = 1e-7, eps: float | None = None, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.epsilon = epsilon if eps is None else eps

    def step(self, weight: Array, g: Array, state: State, lr: Array | float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        lr : float or array
            The learning rate.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = AdaGrad(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        history = state["history"]
        history += np.square(g)
        weight -= lr * (g / (np.sqrt(history) + self.epsilon))


class AdaDelta(Optimizer):
    """Steps of lr * d, where d = sqrt(s + epsilon) / sqrt(v + epsilon) * g (Zeiler 2012).

    v and s are the moving means of g**2 and d**2: v = rho * v + (1 - rho) * g**2, and s likewise, after the step.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    rho : float, optional
        The part of the moving means that is kept.
    epsilon : float, optional
        A small number that keeps quotients finite.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = AdaDelta(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [1. 1.]
    """

    slots = ("variance", "steps")
    constants = ("rho", "epsilon")

    def __init__(
        self, learning_rate: float = 1.0, rho: float = 0.9, epsilon: float = 1e-6, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.rho, self.epsilon = rho, epsilon

    def step(self, weight: Array, g: Array, state: State, lr: Array | float) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        lr : float or array
            The learning rate.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = AdaDelta(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 5))
        [0.99968 0.99968]
        """
        variance, steps = state["variance"], state["steps"]
        variance *= self.rho
        variance += (1 - self.rho) * np.square(g)
        delta = np.sqrt(steps + self.epsilon) / np.sqrt(variance + self.epsilon) * g
        steps *= self.rho
        steps += (1 - self.rho) * np.square(delta)
        weight -= lr * delta


class Ftrl(Optimizer):
    """Follow the regularised leader, which keeps weights at 0 while their gradients are small (McMahan et al. 2013).

    z += g - (sqrt(n + g**2) - sqrt(n)) / lr * weight; n += g**2; then the weight is 0 where |z| <= lamda1, and
    (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) elsewhere. wd is not added to the gradient.

    Parameters
    ----------
    lamda1 : float, optional
        The weight of the sum of absolute values: larger ones leave more weights at 0.
    learning_rate : float, optional
        The learning rate.
    beta : float, optional
        The learning rate of a weight falls later for larger ones.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = Ftrl(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.45 0.45]
    """

    slots = ("z", "n")
    constants = ("lamda1", "beta")

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1.0, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.lamda1, self.beta = lamda1, beta

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
            The learning rate.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = Ftrl(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.45 0.45]
        """
        (lr,) = factors
        g, z, n = self.prepared(grad), state["z"], state["n"]
        root = np.sqrt(n)
        n += np.square(g)
        z += g - (np.sqrt(n) - root) / lr * weight
        below = (self.beta + np.sqrt(n)) / lr + wd
        weight[...] = np.where(np.abs(z) > self.lamda1, (np.sign(z) * self.lamda1 - z) / below, 0)


class FTML(Optimizer):
    """Follow the moving leader: the weight minimizes all losses so far, the latest with the largest weight (Zheng, Kwok
    2017).

    v = beta2 * v + (1 - beta2) * g**2; d = (1 - beta1**t) / lr * (sqrt(v / (1 - beta2**t)) + epsilon);
    z = beta1 * z + (1 - beta1) * g - (d - beta1 * d before) * weight; weight = -z / d.

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
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = FTML(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    slots = ("variance", "d", "z")
    constants = ("beta1", "beta2", "epsilon")

    def __init__(
        self, learning_rate: float = 0.0025, beta1: float = 0.6, beta2: float = 0.999, epsilon: float = 1e-8,
        **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **settings)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return (1 - beta1**t) / lr, and 1 / sqrt(1 - beta2**t).

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
            Both numbers; the first is infinite for a learning rate of 0.

        Examples
        --------
        >>> [round(x, 4) for x in FTML().factors(1, 0.25, 0.0)]
        [1.6, 31.6228]
        """
        return (1 - self.beta1**t) / lr if lr else math.inf, 1 / math.sqrt(1 - self.beta2**t)

    def step(self, weight: Array, g: Array, state: State, scale: Array, root: Array | float) -> None:  # type: ignore[override]
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        scale, root : float or array
            The numbers that `factors` returns.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = FTML(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        variance, d, z = state["variance"], state["d"], state["z"]
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        new = scale * (np.sqrt(variance) * root + self.epsilon)
        z *= self.beta1
        z += (1 - self.beta1) * g - (new - self.beta1 * d) * weight
        d[...] = new
        weight[...] = -z / new
