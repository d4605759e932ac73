"""Formulas in NumPy that results are compared with."""

from __future__ import annotations

from typing import Any

import numpy


def sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-x))


def softmax(x: numpy.ndarray, axis: int = -1, temperature: float | None = None) -> Any:
    x = x if temperature is None else x / temperature
    e = numpy.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def log_softmax(x: numpy.ndarray, axis: int = -1, temperature: float | None = None) -> Any:
    return numpy.log(softmax(x, axis, temperature))


def standardized(x: numpy.ndarray, axes: tuple[int, ...], eps: float = 1e-5) -> Any:
    """Return x with the mean 0 and the variance 1 over axes."""
    return (x - x.mean(axes, keepdims=True)) / numpy.sqrt(x.var(axes, keepdims=True) + eps)
