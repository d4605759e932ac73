"""Nodes of ONNX that are recurrent layers."""

from __future__ import annotations

from typing import Any

from ... import np, npx
from ...gluon.rnn.sequence import run
from .registry import Attributes, Namespace, Values, node, refuse

_GATES = {"LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2), "RNN": (0,)}  # forerun's order of them, in places of ONNX's


@node("RNN")
def _rnn(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    return _recurrent("RNN", a, *inputs)


@node("LSTM")
def _lstm(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    return _recurrent("LSTM", a, *inputs)


@node("GRU")
def _gru(xp: Namespace, a: Attributes, *inputs: Values) -> list[Any]:
    if not a.get("linear_before_reset"):
        raise refuse("GRU", "linear_before_reset", 0)
    return _recurrent("GRU", a, *inputs)


def _recurrent(
    kind: str, a: Any, x: Any, w: Any, r: Any, b: Any = None, lengths: Any = None, h: Any = None, c: Any = None,
    peepholes: Any = None,
) -> list[Any]:  # fmt: skip
    """Outputs (steps, directions, batch, units), and the states after the last step."""
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}[kind]
    way = a.get("direction", "forward")
    backward = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[way]
    activations = a.get("activations", usual * len(backward))
    rule = activations[0].lower() if kind == "RNN" else "tanh"
    if (kind != "RNN" and activations != usual * len(backward)) or rule not in ("tanh", "relu"):
        raise refuse(kind, "activations", activations)
    for name in ("clip", "layout", "input_forget"):
        if a.get(name):
            raise refuse(kind, name, a[name])
    if lengths is not None or peepholes is not None:
        raise refuse(kind, "sequence_lens or P", "an array")
    ys, after = [], []
    for d, reverse in enumerate(backward):
        states = None if h is None else [s[d] for s in (h, c) if s is not None]
        y, last = _direction(kind, rule, reverse, x, w[d], r[d], None if b is None else b[d], states)
        ys.append(y)
        after.append(last)
    return [np.stack(ys, axis=1), *(np.stack(parts) for parts in zip(*after))]


def _direction(kind: str, rule: str, reverse: bool, x: Values, w: Values, r: Values, b: Any, states: Any) -> Any:
    order = _GATES[kind]

    def gates(value: Any) -> Any:
        parts = np.split(value, len(order))
        return np.concatenate([parts[i] for i in order]) if len(order) > 1 else value

    zeros = np.zeros(2 * r.shape[0], dtype=x.dtype) if b is None else b
    of_inputs, of_states = map(gates, np.split(zeros, 2))
    together = kind != "GRU"  # in a GRU, the part of the state has a factor of its own
    x = npx.fully_connected(x, gates(w), None if together else of_inputs, no_bias=together, flatten=False)
    after = of_inputs + of_states if together else of_states
    return run(kind.lower(), rule, reverse, x, states, gates(r), after)
