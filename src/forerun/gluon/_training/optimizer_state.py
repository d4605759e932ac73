"""The state of an optimizer for a parameter: its device, and its values from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy

from ...optimizer import State

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["beside", "check", "moved", "number", "of_number", "restore"]


def beside(state: State, weight: Array) -> bool:
    """Return whether a state is on its weight's device."""
    return all(x.device == weight.device for name, x in state.items() if name != "t")


def moved(state: State, weight: Array) -> State:
    """Return a state of its own for a weight, with the values of another one."""
    return {name: x if name == "t" else x.copyto(weight.device) for name, x in state.items()}


def number(value: numpy.ndarray | None) -> int:
    """Return a count in a file. ValueError if the value is not a count."""
    if value is None or value.size != 1 or value.dtype.kind not in "iu":
        raise ValueError(f"load_states: counts must be integers, got {value!r}")
    return int(value.item())


def of_number(values: Mapping[str, numpy.ndarray], i: int) -> dict[str, numpy.ndarray]:
    """Return the values of a parameter's state, of all named "number.name"."""
    return {name.partition(".")[2]: v for name, v in values.items() if name.startswith(f"{i}.")}


def check(parameter: str, state: State, values: dict[str, numpy.ndarray]) -> None:
    """Raise ValueError if values are not those of such a state."""
    if state.keys() != values.keys():
        raise ValueError(f"load_states: file must have {sorted(state)}, got {sorted(values)} for {parameter}")
    for name, value in values.items():
        if name == "t":
            number(value)
        elif value.shape != state[name].shape or value.dtype.kind not in "biuf":
            text = f"{name} of {parameter} must be of {state[name].shape}, got {value.dtype} of {value.shape}"
            raise ValueError(f"load_states: {text}")


def restore(state: State, values: dict[str, numpy.ndarray]) -> None:
    """Take over values that have been checked."""
    for name, value in values.items():
        if name == "t":
            state[name] = number(value)
        else:
            state[name][...] = value
