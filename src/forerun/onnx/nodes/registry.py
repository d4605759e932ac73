"""The table of computations of nodes of ONNX, and functions that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy

from ... import np

__all__ = ["Attributes", "FOLLOWED", "NODES", "Namespace", "Values", "node", "number", "numbers", "refuse"]

Values = np.ndarray | numpy.ndarray[Any, Any]
Attributes = Mapping[str, Any]


class Namespace(Protocol):
    """Functions of arrays: forerun's, or NumPy's."""

    def __getattr__(self, name: str) -> Callable[..., Values]: ...


NODES: dict[str, Callable[..., Any]] = {}
FOLLOWED = {"BatchNormalization": (3, 4)}
"""Inputs that follow the data in training, rather than gradients."""


def node(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the function below as the computation of these kinds of nodes."""

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        NODES.update(dict.fromkeys(kinds, function))
        return function

    return enter


def numbers(x: Values) -> tuple[int, ...]:
    """Return integers that are settings; NotImplementedError if they depend on values."""
    if not isinstance(x, numpy.ndarray):
        raise NotImplementedError("OnnxBlock: shapes and axes must not depend on values of arrays, got ones that do")
    return tuple(int(v) for v in x.reshape(-1))


def refuse(kind: str, setting: str, value: object) -> NotImplementedError:
    """Return the error of a setting that forerun has not."""
    return NotImplementedError(f"OnnxBlock: {setting} of {kind} must be one that forerun has, got {value!r}")


def number(x: Values) -> Any:
    """Return an array that is known as a number; others as they are."""
    return x.item() if isinstance(x, numpy.ndarray) else x
