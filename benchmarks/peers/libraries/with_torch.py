"""The rows with PyTorch: eager, and behind `torch.compile`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy
import torch
from base import RATE, CompiledRows, Program
from ocean.programs import Ocean
from torch import nn

from .torch_networks import NETWORKS


class Names:
    """PyTorch's namespace, where the first operand of these two is a number."""

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    @staticmethod
    def minimum(x: float, y: Any) -> Any:
        return torch.clamp_max(y, x)

    @staticmethod
    def maximum(x: float, y: Any) -> Any:
        return torch.clamp_min(y, x)


class Eager(Ocean):
    """PyTorch on the CPU computes at once: there is nothing to wait for."""

    xp = Names()
    package = "torch"

    def array(self, x: numpy.ndarray) -> Any:
        return torch.tensor(x)

    def values(self, y: Any) -> numpy.ndarray:
        return y.detach().numpy()

    def normal(self, shape: tuple[int, ...]) -> Any:
        return torch.randn(shape)

    def softmax_of(self, x: Any) -> Any:
        return torch.softmax(x, 1)

    def moments_of(self, x: Any, axis: int) -> Any:
        variance, mean = torch.var_mean(x, axis, correction=0)
        return mean, variance

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        layers: list[nn.Module] = []
        for w in parameters[::2]:
            layers += [nn.Linear(w.shape[1], w.shape[0]), nn.ReLU()]
        return self._steps(nn.Sequential(*layers[:-1]), x, y, parameters, count)

    def network(self, name: str, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        return self._steps(NETWORKS[name](), x, y, parameters, count)

    def _steps(self, net: nn.Module, x: Any, y: Any, parameters: Sequence[Any], count: int) -> Program:
        """Steps of a network from those parameters."""
        with torch.no_grad():
            for p, value in zip(net.parameters(), parameters, strict=True):
                p.copy_(value)
        optimizer = torch.optim.SGD(net.parameters(), RATE)
        update = self.compiled(lambda: optimizer.step())

        def loss(x: Any, y: Any) -> Any:
            if y.is_floating_point():
                return 0.5 * nn.functional.mse_loss(net(x), y)
            return nn.functional.cross_entropy(net(x).flatten(0, y.ndim - 1), y.flatten())

        cost = self.compiled(loss)

        def program() -> Any:
            for _ in range(count):
                optimizer.zero_grad()
                cost(x, y).backward()
                update()
            return list(net.parameters())

        return program


class Compiled(CompiledRows, Eager):
    """The same with each row's function behind `torch.compile`; of a training step, loss and optimizer are."""

    def compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        torch._dynamo.reset()  # of the row before
        return torch.compile(function)

    def ocean(self, name: str, *inputs: Any, count: int) -> Program:
        if name != "state":
            raise NotImplementedError("programs that write slices take minutes to compile")
        return super().ocean(name, *inputs, count=count)
