"""The rows with MLX on the CPU."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy
from base import Program

from .functional import Functional


class MLX(Functional):
    """MLX computes when `mx.eval` asks for it, and only the inputs of the requested arrays."""

    xp = mx
    package = "mlx"
    lacks = "has no layers for these networks, and float64 only in part"

    def array(self, x: numpy.ndarray) -> Any:
        return mx.array(x)

    def wait(self, y: Any) -> Any:
        mx.eval(y)
        return y

    def values(self, y: Any) -> numpy.ndarray:
        return numpy.array(y)

    def grad(self, function: Any) -> Any:
        return mx.grad(function)

    def logsumexp(self, x: Any) -> Any:
        return mx.logsumexp(x, 1)

    def softmax_of(self, x: Any) -> Any:
        return mx.softmax(x, 1)

    def normal(self, shape: tuple[int, ...]) -> Any:
        return mx.random.normal(shape)

    def small_each(self, x: Any, count: int) -> Program:
        def program() -> Any:
            for _ in range(count):
                y = x + 1
                mx.eval(y)
            return y

        return program

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        """Evaluated step by step, as its manual asks for."""
        state = list(parameters)

        def program() -> Any:
            nonlocal state
            for _ in range(count):
                state = self.step(state, x, y)
                mx.eval(state)
            return state

        return program
