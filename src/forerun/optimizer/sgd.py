"""Gradient descent, with momentum, by signs, with noise, and with late gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

from .. import np
from .base import Optimizer, Settings, State

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["SGD", "NAG", "Signum", "SGLD", "DCASGD"]


class SGD(Optimizer):
    """Gradient descent: weight -= lr * g. With momentum: v = momentum * v - lr * g, weight += v.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    momentum : float, optional
        The part of the last step that is kept.
    nesterov : bool, optional
        Whether the step is momentum * v - lr * g, with the v that is new.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = SGD(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants: tuple[str, ...] = ("momentum", "nesterov")

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum
        self.nesterov = nesterov
        self.slots = ("velocity",) if momentum else ()

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate; where only factors change the gradient, all of them in one.

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
            The factor.

        Examples
        --------
        >>> [round(x, 4) for x in SGD().factors(1, 0.25, 0.0)]
        [0.25]
        """
        return (lr * self.rescale_grad,) if self._plain(wd) else (lr,)

    def _plain(self, wd: float) -> bool:
        own = type(self).step is not SGD.step
        return not (own or self.momentum or wd or self.clip_gradient is not None)

    def apply(self, weight: Array, grad: Array, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """As for others, but where only factors change the gradient they are one.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        grad : array
            Its gradient, as the backward pass has computed it.
        state : dict
            Its state, which is changed in place.
        factors : tuple
            The number that `factors` returns.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = SGD(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        if self._plain(wd):
            weight -= factors[0] * grad
        else:
            super().apply(weight, grad, state, factors, wd)

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

        Examples
        --------
        >>> from forerun import np
        >>> made, w = SGD(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        if not self.momentum:
            weight -= lr * g
            return
        velocity, step = state["velocity"], lr * g
        velocity *= self.momentum
        velocity -= step
        weight += self.momentum * velocity - step if self.nesterov else velocity


class NAG(SGD):
    """Nesterov's accelerated gradient: SGD with nesterov=True.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    momentum : float, optional
        The part of the last step that is kept.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = NAG(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.81 0.81]
    """

    constants = SGD.constants

    def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9, **settings: Unpack[Settings]) -> None:
        super().__init__(learning_rate, momentum, True, **settings)


class Signum(Optimizer):
    """Steps of lr * sign(m), where m = momentum * m + (1 - momentum) * g; without momentum of g.

    Bernstein and others, 2018.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    momentum : float, optional
        The part of the last step that is kept.
    wd_lh : float, optional
        The weight is multiplied by 1 - lr * wd_lh, while `wd` is added to the gradient.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = Signum(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants = ("momentum",)

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum, self.wd_lh = momentum, wd_lh
        self.slots = ("mean",) if momentum else ()

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return the learning rate, and the factor of the weight.

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
            The learning rate, and 1 - lr * wd_lh.

        Examples
        --------
        >>> [round(x, 4) for x in Signum().factors(1, 0.25, 0.0)]
        [0.25, 1.0]
        """
        return lr, 1 - lr * self.wd_lh

    def step(self, weight: Array, g: Array, state: State, lr: Array | float, decay: Array | float) -> None:  # type: ignore[override]
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        lr, decay : float or array
            The numbers that `factors` returns.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = Signum(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.step(w, np.ones(2), state, *made.factors(1, 0.1, 0.0))
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        if self.momentum:
            mean = state["mean"]
            mean *= self.momentum
            mean += (1 - self.momentum) * g
            g = mean
        weight *= decay
        weight -= lr * np.sign(g)


class SGLD(Optimizer):
    """Langevin dynamics: weight += -lr / 2 * g + e, with e normal of variance lr (Welling and Teh 2011).

    Weights are then drawn from the posterior whose gradient g estimates, rather than driven to its top. The noise
    follows the seed of `np.random`.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w = np.zeros(1000)
    >>> sgld = SGLD(learning_rate=0.04)
    >>> sgld.update(0, w, np.zeros(1000), sgld.create_state(0, w))
    >>> 0.15 < w.std().item() < 0.25
    True
    """

    draws = True

    def __init__(self, learning_rate: float = 0.1, **settings: Unpack[Settings]) -> None:
        super().__init__(learning_rate, **settings)

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Return half the learning rate, and the deviation of the noise.

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
            Both numbers.

        Examples
        --------
        >>> [round(x, 4) for x in SGLD().factors(1, 0.25, 0.0)]
        [0.125, 0.5]
        """
        return lr / 2, math.sqrt(lr)

    def step(self, weight: Array, g: Array, state: State, half: float | Array, deviation: float | Array) -> None:  # type: ignore[override]
        """Take one step.

        Parameters
        ----------
        weight : array
            The weight, which is changed in place.
        g : array
            Its gradient, rescaled and clipped, with the weight decay added.
        state : dict
            Its state, which is changed in place.
        half, deviation : float or array
            The numbers that `factors` returns.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = SGLD(), np.ones(2)
        >>> made.step(w, np.ones(2), made.create_state(0, w), *made.factors(1, 0.1, 0.0))
        >>> bool((w != 1).all())
        True
        """
        noise = np.random.normal(0.0, 1.0, weight.shape, weight.dtype, device=weight.device)
        weight -= half * g
        weight += deviation * noise


class DCASGD(Optimizer):
    """Descent with gradients that are late, corrected for how the weight has moved since (Zheng et al. 2017).

    v = momentum * v - lr * (g + wd * weight + lamda * g * g * (weight - previous)); previous = weight; weight += v.

    Parameters
    ----------
    learning_rate : float, optional
        The learning rate.
    momentum : float, optional
        The part of the last step that is kept.
    lamda : float, optional
        The factor of the correction.
    **settings : object
        Settings of `Optimizer`.

    Examples
    --------
    >>> from forerun import np
    >>> w, g = np.ones(2), np.ones(2)
    >>> made = DCASGD(learning_rate=0.1)
    >>> made.update(0, w, g, made.create_state(0, w))
    >>> print(np.round(w, 3))
    [0.9 0.9]
    """

    constants = ("momentum", "lamda")

    def __init__(
        self, learning_rate: float = 0.1, momentum: float = 0.0, lamda: float = 0.04, **settings: Unpack[Settings]
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum, self.lamda = momentum, lamda
        self.slots = ("velocity", "previous") if momentum else ("previous",)

    def create_state(self, index: int, weight: Array) -> State:
        """Return a new state, with the weight as it is.

        Parameters
        ----------
        index : int
            The number of the weight.
        weight : array
            The weight.

        Returns
        -------
        dict
            The state of `Optimizer.create_state`, and a copy of the weight as "previous".

        Examples
        --------
        >>> from forerun import np
        >>> sorted(DCASGD().create_state(0, np.ones(2)))
        ['previous', 't']
        """
        return {**super().create_state(index, weight), "previous": weight.copy()}

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
            The number that `factors` returns.
        wd : float
            The weight decay.

        Examples
        --------
        >>> from forerun import np
        >>> made, w = DCASGD(), np.ones(2)
        >>> state = made.create_state(0, w)
        >>> state["t"] += 1
        >>> made.apply(w, np.ones(2), state, made.factors(1, 0.1, 0.0), 0.0)
        >>> print(np.round(w, 3))
        [0.9 0.9]
        """
        (lr,) = factors
        g, previous = self.prepared(grad), state["previous"]
        whole = g + self.lamda * np.square(g) * (weight - previous)
        step = lr * (whole + wd * weight if wd else whole)
        previous[...] = weight
        if not self.momentum:
            weight -= step
            return
        velocity = state["velocity"]
        velocity *= self.momentum
        velocity -= step
        weight += velocity
