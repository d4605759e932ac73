"""The training step of peers that differentiate functions of parameters."""

from __future__ import annotations

from typing import Any

from base import RATE, Rows


class Functional(Rows):
    """Peers whose namespace has NumPy's names and `take_along_axis`, and a function that makes gradients."""

    def grad(self, function: Any) -> Any:
        """A function that returns the gradient of another one's first argument."""
        raise NotImplementedError

    def logsumexp(self, x: Any) -> Any:
        """The logarithm of the sum of exponentials over rows."""
        raise NotImplementedError

    def cost(self, parameters: list[Any], x: Any, y: Any) -> Any:
        """The loss of dense layers with relu between them."""
        xp = self.xp
        for w, b in zip(parameters[:-2:2], parameters[1:-2:2]):
            x = xp.maximum(x @ w.T + b, 0)
        prediction = x @ parameters[-2].T + parameters[-1]
        if y.ndim == 2:
            return 0.5 * ((prediction - y) ** 2).mean()
        chosen = xp.take_along_axis(prediction, y[:, None], 1)[:, 0]
        return (self.logsumexp(prediction) - chosen).mean()

    def step(self, parameters: list[Any], x: Any, y: Any) -> list[Any]:
        """The parameters after a step."""
        gradients = self.grad(self.cost)(parameters, x, y)
        return [p - RATE * g for p, g in zip(parameters, gradients, strict=True)]
