"""Gradients as the core calls them: functions, and the sources of their arguments, by the names of their parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

Gradient = Callable[..., Any]
SAVE_OUTPUTS = 1 << 7

# Where a gradient's argument comes from, as the core numbers it: inputs from 0, attributes from 64.
_ATTRIBUTE = 64
_SOURCES = {name: 128 + i for i, name in enumerate(("g", "y", "i", "inputs", "shape", "dtype"))}

Rules = tuple[tuple[Gradient, bytes] | None, ...]


def rules_of(
    gradients: Sequence[Gradient | None], inputs: Sequence[str], attributes: Sequence[str] = ()
) -> tuple[Rules, int]:
    """Return gradients as the core calls them, with their arguments' sources, and the values that a tape keeps."""
    sources = {name: i for i, name in enumerate(inputs)}
    sources |= {name: _ATTRIBUTE + i for i, name in enumerate(attributes)}
    sources |= _SOURCES
    rules: list[tuple[Gradient, bytes] | None] = []
    save = 0
    for gradient in gradients:
        if gradient is None:
            rules.append(None)
            continue
        names = _parameters(gradient)
        rules.append((gradient, bytes(sources[name] for name in names)))
        save |= SAVE_OUTPUTS * ("y" in names)
        for name in names:
            save |= 1 << inputs.index(name) if name in inputs else 0
    return tuple(rules), save


def _parameters(gradient: Gradient) -> tuple[str, ...]:
    """Return the names of its parameters. There are hundreds when the package is imported, and `inspect` takes long."""
    if type(gradient) is FunctionType and not gradient.__code__.co_kwonlyargcount:
        return gradient.__code__.co_varnames[: gradient.__code__.co_argcount]
    return tuple(inspect.signature(gradient).parameters)
