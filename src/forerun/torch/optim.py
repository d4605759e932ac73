"""Optimizers in PyTorch's spelling, over those of `forerun.optimizer`. A step waits for nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .. import optimizer as _rules
from .._capture.core import capture_paused
from .._capture.participants import Participant, current
from .._display.namespaces import dir_of
from ..ops._base import core as _core
from .grad import enable_grad, no_grad

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Optimizer", "SGD", "Adam", "AdamW", "RMSprop", "Adagrad"]
__dir__ = dir_of(__name__)


class Optimizer:
    """The base of optimizers, which change parameters by their gradients: `zero_grad`, `backward`, `step`.

    `param_groups` has the parameters with their settings; a learning rate that is changed there counts from the next
    step on. A step does not wait.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    rule : callable
        Makes an optimizer of `forerun.optimizer` from `learning_rate`, `wd` and the other settings.
    **settings : optional
        The settings of parameters without settings of their own; `lr` and `weight_decay` among them.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = Optimizer([w], forerun.optimizer.SGD, lr=0.25, weight_decay=0.0)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5]
    """

    def __init__(self, params: Iterable[Any], rule: Callable[..., _rules.Optimizer], **settings: Any) -> None:
        given = list(params)
        if not given:
            raise ValueError(f"{type(self).__name__}: params must not be empty, got none")
        groups = given if isinstance(given[0], dict) else [{"params": given}]
        self.param_groups: list[dict[str, Any]] = []
        self._rules: list[_rules.Optimizer] = []
        self._states: list[list[Any]] = []
        for group in groups:
            whole = {**settings, **group, "params": list(group["params"])}
            others = {key: value for key, value in whole.items() if key not in ("params", "lr", "weight_decay")}
            made = rule(learning_rate=whole["lr"], wd=whole["weight_decay"], **others)
            self.param_groups.append(whole)
            self._rules.append(made)
            self._states.append([made.create_state(i, p) for i, p in enumerate(whole["params"])])
        self._without: dict[int, int] = {}  # by parameter, the version of its gradient when that counted as none

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients to zero.

        set_to_none: they count as missing, so that `step` skips parameters that no gradient reaches until then. Read,
        they are zeros: there is no None here.

        Examples
        --------
        >>> from forerun import torch
        >>> w = torch.nn.Parameter(torch.ones(1))
        >>> sgd = torch.optim.SGD([w], lr=0.5)
        >>> w.sum().backward()
        >>> sgd.zero_grad()
        >>> w.grad.tolist()
        [0.0]
        """
        self._without = {}
        for parameter in (p for group in self.param_groups for p in group["params"]):
            parameter.zero_grad()
            if set_to_none and parameter.grad is not None:
                self._without[id(parameter)] = _version(parameter)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by one step; with a closure, after calling it, and return its loss.

        Examples
        --------
        >>> from forerun import torch
        >>> w = torch.nn.Parameter(torch.ones(1))
        >>> sgd = torch.optim.SGD([w], lr=0.5)
        >>> w.sum().backward()
        >>> sgd.step()
        >>> w.tolist()
        [0.5]
        """
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        if (capture := current()) is not None:
            capture.participants.append(_Rates(self))
        with no_grad():
            capture_paused(self._set_rates)
            for group, rule, states in zip(self.param_groups, self._rules, self._states):
                both = enumerate(zip(group["params"], states))
                rule.update_all([(i, p, p.grad, state) for i, (p, state) in both if self._has_gradient(p)])
        return loss

    def _set_rates(self) -> None:
        """Give the groups' learning rates to the rules."""
        for group, rule in zip(self.param_groups, self._rules):
            rule.set_learning_rate(group["lr"])

    def _has_gradient(self, parameter: Array) -> bool:
        """Return whether something has been written to the gradient since it counted as none."""
        return parameter.grad is not None and self._without.get(id(parameter)) != _version(parameter)


class _Rates(Participant):
    """The learning rates of an optimizer in a captured function: those of its groups at each call."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer

    def advance(self) -> tuple[Any, ...]:
        """Take the rates over."""
        self.optimizer._set_rates()
        return ()


def _version(parameter: Array) -> int:
    """Another number whenever the gradient has been written to."""
    return _core.gradient_versions([parameter])[0]


class SGD(Optimizer):
    """Gradient descent with momentum: v = momentum * v + g, weight -= lr * v.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    lr : float, optional
        The learning rate.
    momentum : float, optional
        The share of the last step in the next.
    weight_decay : float, optional
        The factor of the weight that is added to its gradient.
    nesterov : bool, optional
        Whether the step is that of Nesterov's momentum, g + momentum * v.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = SGD([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> w.tolist()
    [0.5]
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ) -> None:
        super().__init__(params, _rules.SGD, lr=lr, momentum=momentum, weight_decay=weight_decay, nesterov=nesterov)


class Adam(Optimizer):
    """Steps of lr * m / (sqrt(v) + eps), where m and v are bias-corrected moving means of g and of g**2.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    lr : float, optional
        The learning rate.
    betas : (float, float), optional
        How much of the moving means of g and of g**2 remains in a step.
    eps : float, optional
        Added to the root, so that nothing is divided by zero.
    weight_decay : float, optional
        The factor of the weight that is added to its gradient.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = Adam([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> round(w.item(), 4)
    0.75
    """

    rule: Callable[..., _rules.Optimizer] = _rules.Adam

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        def make(betas: tuple[float, float], eps: float, **settings: Any) -> _rules.Optimizer:
            return self.rule(beta1=betas[0], beta2=betas[1], epsilon=eps, **settings)

        super().__init__(params, make, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)


class AdamW(Adam):
    """Adam whose weight decay does not pass through the moving means.

    In each step a weight shrinks by the share lr * weight_decay of itself.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    lr : float, optional
        The learning rate.
    betas : (float, float), optional
        How much of the moving means of g and of g**2 remains in a step.
    eps : float, optional
        Added to the root, so that nothing is divided by zero.
    weight_decay : float, optional
        The share of the weight that is taken away, times lr.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = AdamW([w], lr=0.25, weight_decay=0.4)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> round(w.item(), 4)
    0.65
    """

    rule = _rules.AdamW

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay)


class RMSprop(Optimizer):
    """Steps of lr * g / (sqrt(v) + eps), where v is the moving mean of g**2.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    lr : float, optional
        The learning rate.
    alpha : float, optional
        How much of the moving mean remains in a step.
    eps : float, optional
        Added to the root, so that nothing is divided by zero.
    weight_decay : float, optional
        The factor of the weight that is added to its gradient.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = RMSprop([w], lr=0.25, alpha=0.75)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> round(w.item(), 4)
    0.5
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 0.01,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        def make(alpha: float, eps: float, **settings: Any) -> _rules.Optimizer:
            return _rules.RMSProp(rho=alpha, epsilon=eps, **settings)

        super().__init__(params, make, lr=lr, alpha=alpha, eps=eps, weight_decay=weight_decay)


class Adagrad(Optimizer):
    """Steps of lr * g / (sqrt(h) + eps), where h is the sum of all g**2 so far.

    Parameters
    ----------
    params : iterable
        Tensors with gradients, or dicts of "params" and settings of their own, such as "lr".
    lr : float, optional
        The learning rate.
    eps : float, optional
        Added to the root, so that nothing is divided by zero.
    weight_decay : float, optional
        The factor of the weight that is added to its gradient.

    Raises
    ------
    ValueError
        If there are no parameters.

    Examples
    --------
    >>> from forerun import torch
    >>> w = torch.ones(1, requires_grad=True)
    >>> optimizer = Adagrad([w], lr=0.25)
    >>> (w * w).sum().backward()
    >>> optimizer.step()
    >>> round(w.item(), 4)
    0.75
    """

    def __init__(self, params: Iterable[Any], lr: float = 0.01, eps: float = 1e-10, weight_decay: float = 0.0) -> None:
        def make(eps: float, **settings: Any) -> _rules.Optimizer:
            return _rules.AdaGrad(epsilon=eps, **settings)

        super().__init__(params, make, lr=lr, eps=eps, weight_decay=weight_decay)
