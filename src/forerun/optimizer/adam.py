"""Adam and its variants."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

from .. import np
from .base import Optimizer, Settings, State

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["Adam", "AdamW", "AdaBelief", "Nadam", "Adamax"]


class Adam(Optimizer):
    """Steps of lr * m / (sqrt(v) + epsilon): bias-corrected moving means of g and of g**2 (Kingma and Ba, 2015).

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
    >>> made = Adam(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    slots = ("mean", "variance")
    constants: tuple[str, ...] = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **settings: Unpack[Settings],
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return m / c1 / (sqrt(v) / root + epsilon), with both corrections in one factor.

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
            The rate, and epsilon with the correction.

        Examples
        --------
        >>> [round(x, 4) for x in Adam().factors(1, 0.25, 0.0)]
        [0.0791, 0.0]
        """
        root = math.sqrt(1 - self.beta2**t)
        return lr * root / (1 - self.beta1**t), self.epsilon * root

    def step(self, weight: Array, g: Array, state: State, rate: Array | float, epsilon: Array | float) -> None:  # type: ignore[override]
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped; in `Adam` with the weight decay added, in `AdamW` without.
        state : dict
            Its state, which is changed in place.
        rate, epsilon : float or array
            The numbers that `factors` returns.
        """
        mean, variance = state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        weight -= rate * (mean / (np.sqrt(variance) + epsilon))


class AdamW(Adam):
    """Adam with decoupled weight decay: weight *= 1 - lr * wd (Loshchilov and Hutter).

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
    correct_bias : bool, optional
        Whether means have Adam's corrections.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = AdamW(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants = (*Adam.constants, "correct_bias")

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        correct_bias: bool = True, **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, **settings)
        self.correct_bias = correct_bias

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return those of Adam, and the factor of the weight.

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
            Those of Adam, and 1 - lr * wd.

        Examples
        --------
        >>> [round(x, 4) for x in AdamW().factors(1, 0.25, 0.0)]
        [0.0791, 0.0, 1.0]
        """
        rates = super().factors(t, lr, wd) if self.correct_bias else (lr, self.epsilon)
        return *rates, 1 - lr * wd

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Decay the weight, then step.

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
        >>> made, w = AdamW(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        rate, epsilon, decay = factors
        if wd:
            weight *= decay
        self.step(weight, self.prepared(grad), state, rate, epsilon)


class AdaBelief(Adam):
    """Adam with the variance of gradients about their moving mean, s, in place of v (Zhuang et al. 2020).

    m = beta1 * m + (1 - beta1) * g; s = beta2 * s + (1 - beta2) * (g - m)**2 + epsilon;
    weight -= lr * sqrt(1 - beta2**t) / (1 - beta1**t) * m / (sqrt(s) + epsilon).

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
    correct_bias : bool, optional
        Whether steps have the factor of t.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = AdaBelief(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.889 0.889]
    """

    constants = (*Adam.constants, "correct_bias")

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
        correct_bias: bool = True, **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, **settings)
        self.correct_bias = correct_bias

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate, with the correction.

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
        >>> [round(x, 4) for x in AdaBelief().factors(1, 0.25, 0.0)]
        [0.0791]
        """
        return (lr * math.sqrt(1 - self.beta2**t) / (1 - self.beta1**t) if self.correct_bias else lr,)

    def step(self, weight: Array, g: Array, state: State, lr: Array | float) -> None:  # type: ignore[override]
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
            The number that `factors` returns.
        """
        mean, variance = state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g - mean) + self.epsilon
        weight -= lr * (mean / (np.sqrt(variance) + self.epsilon))


class Nadam(Adam):
    """Adam with Nesterov's momentum, which grows with the steps (Dozat 2016).

    u(t) = beta1 * (1 - 0.5 * 0.96**(t * schedule_decay)), and p(t) = u(1) * ... * u(t). A step goes by
    (1 - u(t)) * g / (1 - p(t)) + u(t + 1) * m / (1 - p(t + 1)), over sqrt(v / (1 - beta2**t)) + epsilon, with Adam's
    moving means m and v.

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
    schedule_decay : float, optional
        How fast the momentum grows.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = Nadam(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.894 0.894]
    """

    constants = Adam.constants

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        schedule_decay: float = 0.004, **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, **settings)
        self.schedule_decay = schedule_decay
        self._products = [1.0]  # p(0), p(1), ...

    def _momentum(self, t: int) -> float:
        factor: float = 0.96 ** (t * self.schedule_decay)
        return self.beta1 * (1 - 0.5 * factor)

    def _product(self, t: int) -> float:
        while len(self._products) <= t:
            self._products.append(self._products[-1] * self._momentum(len(self._products)))
        return self._products[t]

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the shares of gradient and mean in the step, and 1 / sqrt(1 - beta2**t).

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
            The factors of the gradient and of the mean, and 1 / sqrt(1 - beta2**t).

        Examples
        --------
        >>> [round(x, 4) for x in Nadam().factors(1, 0.25, 0.0)]
        [0.25, 0.1411, 31.6228]
        """
        of_gradient = lr * (1 - self._momentum(t)) / (1 - self._product(t))
        of_mean = lr * self._momentum(t + 1) / (1 - self._product(t + 1))
        return of_gradient, of_mean, 1 / math.sqrt(1 - self.beta2**t)

    def step(  # type: ignore[override]
        self,
        weight: Array,
        g: Array,
        state: State,
        of_gradient: Array | float,
        of_mean: Array | float,
        root: Array | float,
    ) -> None:
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        of_gradient, of_mean, root : float or array
            The numbers that `factors` returns.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = Nadam(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.894 0.894]
        """
        mean, variance = state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        weight -= (of_gradient * g + of_mean * mean) / (np.sqrt(variance) * root + self.epsilon)


class Adamax(Optimizer):
    """Adam with a decaying maximum of |g| in place of sqrt(v) (Kingma and Ba 2015, section 7).

    m = beta1 * m + (1 - beta1) * g; u = max(beta2 * u, |g|); weight -= lr / (1 - beta1**t) * m / (u + epsilon).

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    beta1 : float, optional
        The part of the moving mean of gradients that is kept.
    beta2 : float, optional
        How fast the largest gradient fades.
    epsilon : float, optional
        A small number that keeps quotients finite.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = Adamax(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    slots = ("mean", "largest")
    constants = ("beta1", "beta2", "epsilon")

    def __init__(
        self, learning_rate: float = 0.002, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8,
        **settings: Unpack[Settings],
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **settings)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate, corrected.

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
        >>> [round(x, 4) for x in Adamax().factors(1, 0.25, 0.0)]
        [2.5]
        """
        return (lr / (1 - self.beta1**t),)

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
            The number that `factors` returns.
        """
        mean, largest = state["mean"], state["largest"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        np.maximum(self.beta2 * largest, np.abs(g), out=largest)
        weight -= lr * (mean / (largest + self.epsilon))
