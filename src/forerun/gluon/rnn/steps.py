"""One step of each recurrent rule, and sequences as lists of steps.

A rule gets the terms of the input and of the previous state for each gate, (batch, gates * units) each, and the
previous states; it returns the next states, of which the first is the output.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ... import np, npx

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Activation", "Rule", "GATES", "STATES", "rule_of", "steps_of", "check_states"]

Rule = Callable[[Any, Any, Sequence[Any]], list[Any]]
Function = Callable[[Any], Any]
Activation = str | Function
GATES = {"rnn": 1, "lstm": 4, "gru": 3}
STATES = {"rnn": 1, "lstm": 2, "gru": 1}


def rule_of(mode: str, activation: Activation = "tanh", recurrent: Activation = "sigmoid", axis: int = -1) -> Rule:
    """Return the rule of "rnn", "lstm" or "gru", with that activation, and that of the gates of the latter two.

    axis: where units are. Activations are names of `npx.activation`, or functions.

    >>> rule_of("rnn", "relu")(np.ones((1, 2)), np.ones((1, 2)), [])[0].tolist()
    [[2.0, 2.0]]
    """
    act, gate = _function(activation), _function(recurrent)
    if mode == "rnn":
        return lambda x, h, states: [act(x + h)]
    of = _lstm if mode == "lstm" else _gru
    return lambda x, h, states: of(x, h, states, act, gate, axis)


def _function(activation: Activation) -> Function:
    if callable(activation):
        return activation
    if activation == "sigmoid":
        return npx.sigmoid
    return np.tanh if activation == "tanh" else lambda x: npx.activation(x, activation)


def _lstm(x: Array, h: Array, states: Sequence[Any], act: Function, gate: Function, axis: int) -> list[Any]:
    """Hochreiter and Schmidhuber 1997, with Gers's forget gate; gates in the order input, forget, new, output."""
    i, f, new, o = np.split(x + h, 4, axis=axis)
    c = gate(f) * states[1] + gate(i) * act(new)
    return [gate(o) * act(c), c]


def _gru(x: Array, h: Array, states: Sequence[Any], act: Function, gate: Function, axis: int) -> list[Any]:
    """Cho et al. 2014, with the reset gate behind the product; gates in the order reset, update, new."""
    xr, xz, xn = np.split(x, 3, axis=axis)
    hr, hz, hn = np.split(h, 3, axis=axis)
    z = gate(xz + hz)
    new = act(xn + gate(xr + hr) * hn)
    return [new + z * (states[0] - new)]


def steps_of(x: Array) -> list[Any]:
    """Return views of x's entries along the first axis.

    Split by halves: the recorded gradient of a view is as large as the view's base, so that n views of the whole would
    cost n times the whole, and these cost its size times log n.

    >>> [step.tolist() for step in steps_of(np.arange(3))]
    [0, 1, 2]
    """
    n = x.shape[0]
    if n < 2:
        return [x[0]] if n else []
    return steps_of(x[: n // 2]) + steps_of(x[n // 2 :])


def check_states(name: str, states: Any, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    """States as a list; ValueError unless they have these shapes. An array stands for the only one."""
    given = list(states) if isinstance(states, (list, tuple)) else [states]
    have = [state.shape for state in given]
    if have != list(shapes):
        raise ValueError(f"{name}: states must have shapes {list(shapes)}, got {have}")
    return given
