"""Learning rates that depend on the number of steps: callables for optimizers, and for loops over epochs.

Each is a function of the number alone: the same number gives the same rate, whichever numbers were passed before.

>>> from forerun import lr_scheduler
>>> rate = lr_scheduler.MultiFactorScheduler(step=[2, 4], factor=0.5, base_lr=0.8)
>>> [rate(n) for n in range(6)]
[0.8, 0.8, 0.8, 0.4, 0.4, 0.2]
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Sequence

from ._display.namespaces import dir_of

__all__ = ["LRScheduler", "FactorScheduler", "MultiFactorScheduler", "PolyScheduler", "CosineScheduler"]
__dir__ = dir_of(__name__)


class LRScheduler:
    """The base of schedulers: a base rate, and the steps in which it is reached. Subclasses define `rate`.

    Parameters
    ----------
    base_lr : float, optional
        The rate after the warm-up.
    warmup_steps : int, optional
        How many steps come before `base_lr` is reached.
    warmup_begin_lr : float, optional
        The rate at the beginning of these steps.
    warmup_mode : {"linear", "constant"}, optional
        Whether the rate then grows in a straight line, or stays.

    Raises
    ------
    ValueError
        For another mode, a negative number of steps, or a rate to begin with above the base rate.

    Examples
    --------
    >>> class Halved(LRScheduler):
    ...     def rate(self, num_update):
    ...         return self.base_lr / 2
    >>> rate = Halved(base_lr=1.0, warmup_steps=2)
    >>> [rate(n) for n in range(4)]
    [0.0, 0.5, 0.5, 0.5]
    """

    def __init__(
        self,
        base_lr: float = 0.01,
        warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0,
        warmup_mode: str = "linear",
    ) -> None:
        name = type(self).__name__
        if warmup_mode not in ("linear", "constant"):
            raise ValueError(f'{name}: warmup_mode must be "linear" or "constant", got {warmup_mode!r}')
        if warmup_steps < 0:
            raise ValueError(f"{name}: warmup_steps must not be negative, got {warmup_steps}")
        if warmup_begin_lr > base_lr:
            raise ValueError(f"{name}: warmup_begin_lr must be at most {base_lr}, got {warmup_begin_lr}")
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def __call__(self, num_update: int) -> float:
        """The learning rate after that many steps."""
        n = int(num_update)
        return self.get_warmup_lr(n) if n < self.warmup_steps else self.rate(n)

    def get_warmup_lr(self, num_update: int) -> float:
        """Return the learning rate of a step in the warm-up.

        Examples
        --------
        >>> LRScheduler(base_lr=0.5, warmup_steps=10).get_warmup_lr(5)
        0.25
        """
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        return self.warmup_begin_lr + (self.base_lr - self.warmup_begin_lr) * num_update / self.warmup_steps

    def rate(self, num_update: int) -> float:
        """Return the learning rate after the warm-up."""
        raise NotImplementedError(f"{type(self).__name__}: rate must be defined, got none")


class FactorScheduler(LRScheduler):
    """The rate times a factor after every so many steps.

    Parameters
    ----------
    step : int
        The number of steps between two changes.
    factor : float, optional
        The factor, at most 1.
    stop_factor_lr : float, optional
        The rate never falls below it.
    base_lr : float, optional
        The rate after the warm-up.
    warmup_steps : int, optional
        How many steps come before `base_lr` is reached.
    warmup_begin_lr : float, optional
        The rate at the beginning of these steps.
    warmup_mode : {"linear", "constant"}, optional
        Whether the rate then grows in a straight line, or stays.

    Raises
    ------
    ValueError
        If `step` is below 1, or `factor` above 1, and as for `LRScheduler`.

    Examples
    --------
    >>> rate = FactorScheduler(step=2, factor=0.5, base_lr=1.0)
    >>> [rate(n) for n in range(1, 6)]
    [1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, step: int, factor: float = 1.0, stop_factor_lr: float = 1e-8, base_lr: float = 0.01,
        warmup_steps: int = 0, warmup_begin_lr: float = 0.0, warmup_mode: str = "linear",
    ) -> None:  # fmt: skip
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _check("FactorScheduler", [step], factor)
        self.step, self.factor, self.stop_factor_lr = step, factor, stop_factor_lr

    def rate(self, num_update: int) -> float:
        """Return the base rate times the factor's power.

        Examples
        --------
        >>> FactorScheduler(10, 0.5, base_lr=1.0).rate(15)
        0.5
        """
        power = max(num_update - 1, 0) // self.step
        return max(self.base_lr * self.factor**power, self.stop_factor_lr) if power else self.base_lr


class MultiFactorScheduler(LRScheduler):
    """The rate times a factor after each of the steps in a list.

    Parameters
    ----------
    step : sequence of ints
        The steps after which the rate changes, which increase from at least 1.
    factor : float, optional
        The factor, at most 1.
    base_lr : float, optional
        The rate after the warm-up.
    warmup_steps : int, optional
        How many steps come before `base_lr` is reached.
    warmup_begin_lr : float, optional
        The rate at the beginning of these steps.
    warmup_mode : {"linear", "constant"}, optional
        Whether the rate then grows in a straight line, or stays.

    Raises
    ------
    ValueError
        If the steps do not increase, or `factor` is above 1, and as for `LRScheduler`.

    Examples
    --------
    >>> rate = MultiFactorScheduler([1, 3], factor=0.5, base_lr=1.0)
    >>> [rate(n) for n in range(1, 5)]
    [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self, step: Sequence[int], factor: float = 1.0, base_lr: float = 0.01, warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0, warmup_mode: str = "linear",
    ) -> None:  # fmt: skip
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        _check("MultiFactorScheduler", step, factor)
        self.step, self.factor = list(step), factor

    def rate(self, num_update: int) -> float:
        """Return the base rate times the factor, once for each of the steps that is over.

        Examples
        --------
        >>> MultiFactorScheduler([10, 20], 0.5, base_lr=1.0).rate(25)
        0.25
        """
        return self.base_lr * self.factor ** bisect.bisect_left(self.step, num_update)


class _Descent(LRScheduler):
    """From the base rate to a final one, which is reached at step `max_update` and stays. Subclasses define `share`."""

    def __init__(
        self, max_update: int, base_lr: float, final_lr: float, warmup_steps: int, warmup_begin_lr: float,
        warmup_mode: str,
    ) -> None:  # fmt: skip
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if max_update < 1 or max_update <= warmup_steps:
            least = max(1, warmup_steps + 1)
            raise ValueError(f"{type(self).__name__}: max_update must be at least {least}, got {max_update}")
        self.max_update, self.final_lr = max_update, final_lr

    def rate(self, num_update: int) -> float:
        """Return a rate between the base rate and the final one, by `share` of the steps done."""
        done = (min(num_update, self.max_update) - self.warmup_steps) / (self.max_update - self.warmup_steps)
        return self.final_lr + (self.base_lr - self.final_lr) * self.share(done)

    def share(self, done: float) -> float:
        """Return the remaining part of the difference between the rates after that part of the steps."""
        raise NotImplementedError


class PolyScheduler(_Descent):
    """`final_lr + (base_lr - final_lr) (1 - t)**pwr`, where t goes from 0 to 1 until step `max_update`.

    Parameters
    ----------
    max_update : int
        The step in which the final rate is reached; it stays.
    base_lr : float, optional
        The rate after the warm-up.
    pwr : float, optional
        The power.
    final_lr : float, optional
        The final rate.
    warmup_steps : int, optional
        How many steps come before `base_lr` is reached.
    warmup_begin_lr : float, optional
        The rate at the beginning of these steps.
    warmup_mode : {"linear", "constant"}, optional
        Whether the rate then grows in a straight line, or stays.

    Raises
    ------
    ValueError
        If `max_update` is not positive, or not above `warmup_steps`, and as for `LRScheduler`.

    Examples
    --------
    >>> rate = PolyScheduler(max_update=4, base_lr=1.0)
    >>> [rate(n) for n in range(6)]
    [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    """

    def __init__(
        self, max_update: int, base_lr: float = 0.01, pwr: float = 2, final_lr: float = 0.0, warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0, warmup_mode: str = "linear",
    ) -> None:  # fmt: skip
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.pwr = pwr

    def share(self, done: float) -> float:
        """Return (1 - done)**pwr."""
        share: float = (1 - done) ** self.pwr
        return share


class CosineScheduler(_Descent):
    """`final_lr + (base_lr - final_lr) (1 + cos(pi t)) / 2`, t from 0 to 1 until step `max_update`.

    Loshchilov and Hutter (2016).

    Parameters
    ----------
    max_update : int
        The step in which the final rate is reached; it stays.
    base_lr : float, optional
        The rate after the warm-up.
    final_lr : float, optional
        The final rate.
    warmup_steps : int, optional
        How many steps come before `base_lr` is reached.
    warmup_begin_lr : float, optional
        The rate at the beginning of these steps.
    warmup_mode : {"linear", "constant"}, optional
        Whether the rate then grows in a straight line, or stays.

    Raises
    ------
    ValueError
        If `max_update` is not positive, or not above `warmup_steps`, and as for `LRScheduler`.

    Examples
    --------
    >>> rate = CosineScheduler(max_update=2, base_lr=1.0, final_lr=0.5)
    >>> [rate(n) for n in range(4)]
    [1.0, 0.75, 0.5, 0.5]
    """

    def __init__(
        self, max_update: int, base_lr: float = 0.01, final_lr: float = 0.0, warmup_steps: int = 0,
        warmup_begin_lr: float = 0.0, warmup_mode: str = "linear",
    ) -> None:  # fmt: skip
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def share(self, done: float) -> float:
        """Return (1 + cos(pi done)) / 2."""
        return (1 + math.cos(math.pi * done)) / 2


def _check(name: str, steps: Sequence[int], factor: float) -> None:
    if not steps or any(b <= a for a, b in zip([0, *steps], steps)):
        raise ValueError(f"{name}: step must increase from at least 1, got {steps}")
    if factor > 1:
        raise ValueError(f"{name}: factor must be at most 1, got {factor}")
