"""The rows with NumPy, whose results are the reference for the others."""

from __future__ import annotations

from typing import Any

import numpy
from base import RATE, Program
from ocean.programs import Ocean


class NumPy(Ocean):
    """NumPy as it comes; softmax and the training step are written by hand, as NumPy lacks them."""

    def __init__(self) -> None:
        self.generator = numpy.random.default_rng(1)

    def array(self, x: numpy.ndarray) -> Any:
        return x.copy()

    def normal(self, shape: tuple[int, ...]) -> Any:
        return self.generator.standard_normal(shape, dtype="float32")

    def softmax_of(self, x: Any) -> Any:
        e = numpy.exp(x - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    def training(self, x: Any, y: Any, *parameters: Any, count: int) -> Program:
        parameters = tuple(p.copy() for p in parameters)
        weights, biases = parameters[::2], parameters[1::2]

        def step() -> None:
            inputs = [x]
            for w, b in zip(weights[:-1], biases[:-1]):
                inputs.append(numpy.maximum(inputs[-1] @ w.T + b, 0))
            prediction = inputs[-1] @ weights[-1].T + biases[-1]
            g = self._gradient(prediction, y) / len(x)
            for i in reversed(range(len(weights))):
                of_weight, of_bias = g.T @ inputs[i], g.sum(0)
                if i:
                    g = (g @ weights[i]) * (inputs[i] > 0)
                weights[i][...] -= RATE * of_weight
                biases[i][...] -= RATE * of_bias

        def program() -> Any:
            for _ in range(count):
                step()
            return list(parameters)

        return program

    def _gradient(self, prediction: Any, y: Any) -> Any:
        """The gradient of the sum of losses."""
        if y.dtype.kind == "f":
            return prediction - y
        g = self.softmax_of(prediction)
        g[numpy.arange(len(y)), y] -= 1
        return g
