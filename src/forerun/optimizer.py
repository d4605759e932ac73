"""Optimizers: how gradients change parameters.

Updates are ordinary operations in place: they are issued, run when the gradient is there, and never wait. What changes
from step to step without depending on values (learning rates, bias corrections) is computed in Python.

>>> from forerun import np, optimizer
>>> sgd = optimizer.create("sgd", learning_rate=0.5)
>>> w, g = np.ones(2), np.ones(2)
>>> state = sgd.create_state(0, w)
>>> sgd.update(0, w, g, state)
>>> w.tolist()
[0.5, 0.5]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from . import _core, np

__all__ = [
    "Optimizer", "SGD", "NAG", "Adam", "AdamW", "LAMB", "RMSProp", "AdaGrad", "AdaDelta", "Ftrl",
    "Signum", "create",
]  # fmt: skip

State = dict[str, Any]
"""What an optimizer remembers of one parameter on one device: arrays by name, and the number of steps as "t"."""


Item = tuple[int, Any, Any, State]
"""The index of a weight, the weight, its gradient and its state."""

Advanced = tuple[tuple[float, ...], float]
"""The factors and the weight decay of a step."""

_MOST = 32  # programs of one optimizer


class Multiplied(Protocol):
    """What has factors of its own for learning rate and weight decay, as a Parameter has."""

    lr_mult: float
    wd_mult: float


class Optimizer:
    """What optimizers have in common. Subclasses name their arrays in `slots`, and define `step`.

    learning_rate: float, positive by custom. wd: weight decay, added to the gradient as wd * weight.
    rescale_grad: factor of gradients before anything else. clip_gradient: bound of their absolute values.
    lr_scheduler: called with the number of steps so far, returns the learning rate.
    param_dict: by index, objects with `lr_mult` and `wd_mult`, such as parameters.

    >>> from forerun import np
    >>> class Signs(Optimizer):
    ...     def step(self, weight, g, state, lr):
    ...         weight -= lr * np.sign(g)
    >>> w = np.zeros(2)
    >>> optimizer = Signs(learning_rate=1.0)
    >>> optimizer.update(0, w, np.array([3.0, -2.0]), optimizer.create_state(0, w))
    >>> w.tolist()
    [-1.0, 1.0]
    """

    slots: tuple[str, ...] = ()
    # Names of what a step depends on besides arrays and factors(): it tells that steps may be issued as programs. Must
    # be of the class itself: one derived from it may compute something else.
    constants: tuple[str, ...]

    def __init__(
        self,
        learning_rate: float = 0.01,
        wd: float = 0.0,
        rescale_grad: float = 1.0,
        clip_gradient: float | None = None,
        lr_scheduler: Callable[[int], float] | None = None,
        param_dict: Mapping[int, Multiplied] | None = None,
    ) -> None:
        self.wd = wd
        self.rescale_grad = rescale_grad
        self.clip_gradient = clip_gradient
        self.lr_scheduler = lr_scheduler
        self.param_dict: Mapping[int, Multiplied] = param_dict if param_dict is not None else {}
        self.num_update = 0
        self._lr = learning_rate
        self._programs: dict[Any, list[Any]] = {}

    @property
    def learning_rate(self) -> float:
        """The learning rate of the next step, without the parameters' own factors."""
        return self.lr_scheduler(self.num_update) if self.lr_scheduler is not None else self._lr

    def set_learning_rate(self, lr: float) -> None:
        """Sets the learning rate. Raises ValueError if a scheduler decides it."""
        if self.lr_scheduler is not None:
            raise ValueError(f"set_learning_rate: there must be no lr_scheduler, got {self.lr_scheduler!r}")
        self._lr = lr

    def create_state(self, index: int, weight: Any) -> State:
        """A new state for a weight: zeros in its shape, dtype and device."""
        return {
            "t": 0,
            **{name: np.zeros(weight.shape, weight.dtype, device=weight.device) for name in self.slots},
        }

    def update(self, index: int, weight: Any, grad: Any, state: State) -> None:
        """Changes a weight and its state in place, by one step. Never recorded, never waits."""
        item = index, weight, grad, state
        self._update_each([item], self._advance([item]))

    def update_all(self, items: Sequence[Item]) -> None:
        """`update` for several weights at once: (index, weight, gradient, state) of each.

        If nothing but arrays and factors changes from step to step, steps are recorded and issued as one program.

        >>> from forerun import np
        >>> sgd, w = create("sgd", learning_rate=0.25), np.ones(2)
        >>> state = sgd.create_state(0, w)
        >>> for _ in range(2):
        ...     sgd.update_all([(0, w, np.ones(2), state)])
        >>> w.tolist()
        [0.5, 0.5]
        """
        advanced = self._advance(items)
        if not items or not self._repeats or _core.recording() or _core.capturing():
            return self._update_each(items, advanced)
        factors: list[float] = []
        inputs: list[Any] = [None]
        for (_, weight, grad, state), (own, _) in zip(items, advanced):
            factors += own
            inputs += (weight, grad)
            if self.slots:
                inputs += [state[name] for name in self.slots]
        inputs[0] = _core.scalars(factors, weight.dtype, weight.device)
        given = tuple(inputs)
        key = (
            self.rescale_grad, self.clip_gradient,
            *[getattr(self, name) for name in self.constants], *[wd for _, wd in advanced],
        )  # fmt: skip
        for program in self._programs.get(key, ()):
            if program(given) is not None:
                return None
        if all(w.dtype == weight.dtype and w.device == weight.device for _, w, _, _ in items):
            return self._record(items, advanced, given, key)
        return self._update_each(items, advanced)

    def _update_each(self, items: Sequence[Item], advanced: Sequence[Advanced]) -> None:
        recording = _core.set_recording(False)
        try:
            for (_, weight, grad, state), (factors, wd) in zip(items, advanced):
                self.apply(weight, grad, state, factors, wd)
        finally:
            _core.set_recording(recording)

    def _record(self, items: Sequence[Item], advanced: Sequence[Advanced], inputs: tuple[Any, ...], key: Any) -> None:
        _core.capture(inputs)
        try:
            n = len(advanced[0][0])
            own = [tuple(inputs[0][k * n + i] for i in range(n)) for k in range(len(items))]
            self._update_each(items, [(views, wd) for views, (_, wd) in zip(own, advanced)])
            while len(self._programs) >= _MOST:
                del self._programs[next(iter(self._programs))]
            made = _core.capture_end(inputs, 0, (), (), None, [], (), type(self).__name__)
            self._programs[key] = [made, *self._programs.get(key, ())[:_MOST]]
        finally:
            _core.capture_drop()

    @property
    def _repeats(self) -> bool:
        return "constants" in type(self).__dict__

    def _advance(self, items: Sequence[Item]) -> list[Advanced]:
        """Counts a step of each weight: its factors, and its weight decay."""
        found: list[Advanced] = []
        known: dict[Any, Advanced] = {}
        rate = None
        for index, _, _, state in items:
            t = state["t"] = state["t"] + 1
            if t > self.num_update:
                self.num_update, rate = t, None
            if rate is None:
                rate = self.learning_rate
            own = self.param_dict.get(index)
            of = (t, rate, own.lr_mult, own.wd_mult) if own is not None else (t, rate)
            if (one := known.get(of)) is None:
                lr, wd = (rate, self.wd) if own is None else (rate * own.lr_mult, self.wd * own.wd_mult)
                one = known[of] = self.factors(t, lr, wd), wd
            found.append(one)
        return found

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """The numbers that a step depends on and that may differ from one to the next; `step` gets them."""
        return (lr,)

    def apply(self, weight: Any, grad: Any, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Rescales and clips the gradient, adds the weight decay, and steps."""
        g = self.prepared(grad)
        self.step(weight, g + wd * weight if wd else g, state, *factors)

    def prepared(self, grad: Any) -> Any:
        """The gradient, rescaled and clipped."""
        g = grad if self.rescale_grad == 1 else grad * self.rescale_grad
        bound = self.clip_gradient
        return g if bound is None else np.clip(g, -bound, bound)

    def step(self, weight: Any, g: Any, state: State, lr: Any) -> None:
        """The rule: changes weight and state in place. state["t"] counts this step already."""
        raise NotImplementedError(f"{type(self).__name__}: step must be defined, got none")


class SGD(Optimizer):
    """Gradient descent: weight -= lr * g. With momentum: v = momentum * v - lr * g, weight += v.

    nesterov: the step is momentum * v - lr * g, with the v that is new.
    """

    constants = ("momentum", "nesterov")

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False, **settings: Any
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum = momentum
        self.nesterov = nesterov
        self.slots = ("velocity",) if momentum else ()

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """The learning rate; where only factors change the gradient, all of them in one."""
        return (lr * self.rescale_grad,) if self._plain(wd) else (lr,)

    def _plain(self, wd: float) -> bool:
        own = type(self).step is not SGD.step
        return not (own or self.momentum or wd or self.clip_gradient is not None)

    def apply(self, weight: Any, grad: Any, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """As for others, but where only factors change the gradient they are one."""
        if self._plain(wd):
            weight -= factors[0] * grad
        else:
            super().apply(weight, grad, state, factors, wd)

    def step(self, weight: Any, g: Any, state: State, lr: Any) -> None:
        """One step."""
        if not self.momentum:
            weight -= lr * g
            return
        velocity, step = state["velocity"], lr * g
        velocity *= self.momentum
        velocity -= step
        weight += self.momentum * velocity - step if self.nesterov else velocity


class NAG(SGD):
    """Nesterov's accelerated gradient: SGD with nesterov=True."""

    constants = SGD.constants

    def __init__(self, learning_rate: float = 0.1, momentum: float = 0.9, **settings: Any) -> None:
        super().__init__(learning_rate, momentum, True, **settings)


class Adam(Optimizer):
    """Steps of lr * m / (sqrt(v) + epsilon): bias-corrected moving means of g and of g**2 (Kingma and Ba, 2015)."""

    slots = ("mean", "variance")
    constants: tuple[str, ...] = ("beta1", "beta2", "epsilon")

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        **settings: Any,
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """m / c1 / (sqrt(v) / root + epsilon), with both corrections in one factor."""
        root = math.sqrt(1 - self.beta2**t)
        return lr * root / (1 - self.beta1**t), self.epsilon * root

    def step(self, weight: Any, g: Any, state: State, rate: Any, epsilon: Any) -> None:  # type: ignore[override]
        """One step."""
        mean, variance = state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        weight -= rate * (mean / (np.sqrt(variance) + epsilon))


class AdamW(Adam):
    """Adam whose weight decay does not pass through the moving means: weight *= 1 - lr * wd (Loshchilov and Hutter)."""

    constants = Adam.constants

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """Those of Adam, and what the weight is multiplied by."""
        return *super().factors(t, lr, wd), 1 - lr * wd

    def apply(self, weight: Any, grad: Any, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """Decays the weight, then steps."""
        rate, epsilon, decay = factors
        if wd:
            weight *= decay
        self.step(weight, self.prepared(grad), state, rate, epsilon)


class LAMB(Adam):
    """Adam's step plus the weight decay, scaled to the weight: weight -= lr * |weight| / |r| * r (You et al. 2020).

    r is the step with its decay; the scale is 1 where either norm is 0. lower_bound, upper_bound: of the weight's norm.
    bias_correction: of the moving means, as in Adam. wd is not added to the gradient.
    """

    constants = (*Adam.constants, "lower_bound", "upper_bound", "bias_correction")

    def __init__(
        self, learning_rate: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-6,
        lower_bound: float | None = None, upper_bound: float | None = None, bias_correction: bool = True,
        **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, beta1, beta2, epsilon, **settings)
        self.lower_bound, self.upper_bound, self.bias_correction = lower_bound, upper_bound, bias_correction

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """The learning rate, and the corrections: m * c1 / (sqrt(v) * c2 + epsilon)."""
        if not self.bias_correction:
            return lr, 1.0, 1.0
        return lr, 1 / (1 - self.beta1**t), 1 / math.sqrt(1 - self.beta2**t)

    def apply(self, weight: Any, grad: Any, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """One step."""
        lr, c1, c2 = factors
        g, mean, variance = self.prepared(grad), state["mean"], state["variance"]
        mean *= self.beta1
        mean += (1 - self.beta1) * g
        variance *= self.beta2
        variance += (1 - self.beta2) * np.square(g)
        r = mean * c1 / (np.sqrt(variance) * c2 + self.epsilon)
        r = r + wd * weight if wd else r
        own, other = np.sqrt(np.square(weight).sum()), np.sqrt(np.square(r).sum())
        if self.lower_bound is not None or self.upper_bound is not None:
            own = np.clip(own, self.lower_bound, self.upper_bound)
        scale = np.where((own > 0) & (other > 0), own / np.where(other > 0, other, 1), 1)
        weight -= lr * (scale.astype(weight.dtype) * r)


class RMSProp(Optimizer):
    """Steps of lr * g / (sqrt(v) + epsilon), where v is the moving mean of g**2: v = rho * v + (1 - rho) * g**2.

    gamma1: rho in the spelling of MXNet 1.x; it wins.
    """

    slots = ("variance",)
    constants = ("rho", "epsilon")

    def __init__(
        self, learning_rate: float = 0.001, rho: float = 0.9, epsilon: float = 1e-8, gamma1: float | None = None,
        **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(learning_rate, **settings)
        self.rho, self.epsilon = rho if gamma1 is None else gamma1, epsilon

    def step(self, weight: Any, g: Any, state: State, lr: Any) -> None:
        """One step."""
        variance = state["variance"]
        variance *= self.rho
        variance += (1 - self.rho) * np.square(g)
        weight -= lr * (g / (np.sqrt(variance) + self.epsilon))


class AdaGrad(Optimizer):
    """Steps of lr * g / (sqrt(h) + epsilon), where h is the sum of all g**2 so far (Duchi et al., 2011)."""

    slots = ("history",)
    constants = ("epsilon",)

    def __init__(self, learning_rate: float = 0.01, epsilon: float = 1e-7, **settings: Any) -> None:
        super().__init__(learning_rate, **settings)
        self.epsilon = epsilon

    def step(self, weight: Any, g: Any, state: State, lr: Any) -> None:
        """One step."""
        history = state["history"]
        history += np.square(g)
        weight -= lr * (g / (np.sqrt(history) + self.epsilon))


class AdaDelta(Optimizer):
    """Steps of lr * d, where d = sqrt(s + epsilon) / sqrt(v + epsilon) * g (Zeiler 2012).

    v and s are the moving means of g**2 and d**2: v = rho * v + (1 - rho) * g**2, and s likewise, after the step.
    """

    slots = ("variance", "steps")
    constants = ("rho", "epsilon")

    def __init__(
        self, learning_rate: float = 1.0, rho: float = 0.9, epsilon: float = 1e-6, **settings: Any
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.rho, self.epsilon = rho, epsilon

    def step(self, weight: Any, g: Any, state: State, lr: Any) -> None:
        """One step."""
        variance, steps = state["variance"], state["steps"]
        variance *= self.rho
        variance += (1 - self.rho) * np.square(g)
        delta = np.sqrt(steps + self.epsilon) / np.sqrt(variance + self.epsilon) * g
        steps *= self.rho
        steps += (1 - self.rho) * np.square(delta)
        weight -= lr * delta


class Ftrl(Optimizer):
    """Follow the regularised leader, which leaves weights at 0 until gradients insist (McMahan et al. 2013).

    z += g - (sqrt(n + g**2) - sqrt(n)) / lr * weight; n += g**2; then the weight is 0 where |z| <= lamda1, and
    (sign(z) * lamda1 - z) / ((beta + sqrt(n)) / lr + wd) elsewhere. wd is not added to the gradient.
    """

    slots = ("z", "n")
    constants = ("lamda1", "beta")

    def __init__(
        self, lamda1: float = 0.01, learning_rate: float = 0.1, beta: float = 1.0, **settings: Any
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.lamda1, self.beta = lamda1, beta

    def apply(self, weight: Any, grad: Any, state: State, factors: tuple[Any, ...], wd: float) -> None:
        """One step."""
        (lr,) = factors
        g, z, n = self.prepared(grad), state["z"], state["n"]
        root = np.sqrt(n)
        n += np.square(g)
        z += g - (np.sqrt(n) - root) / lr * weight
        below = (self.beta + np.sqrt(n)) / lr + wd
        weight[...] = np.where(np.abs(z) > self.lamda1, (np.sign(z) * self.lamda1 - z) / below, 0)


class Signum(Optimizer):
    """Steps of lr * sign(m), where m = momentum * m + (1 - momentum) * g; without momentum of g (Bernstein and
    others, 2018).

    wd is added to the gradient; wd_lh: the weight is multiplied by 1 - lr * wd_lh instead.
    """

    constants = ("momentum",)

    def __init__(
        self, learning_rate: float = 0.01, momentum: float = 0.9, wd_lh: float = 0.0, **settings: Any
    ) -> None:
        super().__init__(learning_rate, **settings)
        self.momentum, self.wd_lh = momentum, wd_lh
        self.slots = ("mean",) if momentum else ()

    def factors(self, t: int, lr: float, wd: float) -> tuple[float, ...]:
        """The learning rate, and what the weight is multiplied by."""
        return lr, 1 - lr * self.wd_lh

    def step(self, weight: Any, g: Any, state: State, lr: Any, decay: Any) -> None:  # type: ignore[override]
        """One step."""
        if self.momentum:
            mean = state["mean"]
            mean *= self.momentum
            mean += (1 - self.momentum) * g
            g = mean
        weight *= decay
        weight -= lr * np.sign(g)


_by_name: dict[str, type[Optimizer]] = {
    c.__name__.lower(): c for c in (SGD, NAG, Adam, AdamW, LAMB, RMSProp, AdaGrad, AdaDelta, Ftrl, Signum)
}


def create(name: str | Optimizer, **settings: Any) -> Optimizer:
    """The optimizer of that name with these settings; an optimizer itself is returned as it is.

    Raises ValueError for an unknown name, or for settings beside an object.
    """
    if isinstance(name, Optimizer):
        if settings:
            raise ValueError(f"optimizer: settings must be in the object already, got {settings}")
        return name
    if name.lower() not in _by_name:
        raise ValueError(f"optimizer: name must be one of {', '.join(_by_name)}, got {name!r}")
    return _by_name[name.lower()](**settings)
