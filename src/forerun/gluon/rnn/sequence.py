"""A recurrent layer in one direction over a sequence: one op where the core has a kernel for it, else step by step."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import np, npx
from ...autograd.backward_pass import of_steps
from ...ops._base import core as _core
from ...ops._base.gradient_rules import SAVE_OUTPUTS
from ...ops._base.registry import register
from .steps import STATES, rule_of, steps_of

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["projected", "run"]

_KERNELS = {"tanh": "rnn", "relu": "rnn", "lstm": "lstm", "gru": "gru"}  # rules, and the modes that they are of
_DTYPES = ("float32", "float64")


def run(
    mode: str, activation: str, reversed: bool, x: Array, states: list[Any] | None, w: Array, b: Array
) -> tuple[Any, list[Any]]:
    """Return all outputs, (steps, batch, units), and the states after the last step.

    x: the inputs' terms of the gates, (steps, batch, gates * units). states: those before the first step; None:
    zeros. w, b: the weight and the bias of the states. reversed: from the last step to the first.

    >>> y, after = run("rnn", "relu", False, np.ones((3, 1, 1)), None, np.ones((1, 1)), np.zeros(1))
    >>> y.ravel().tolist(), after[0].tolist()
    ([1.0, 2.0, 3.0], [[3.0]])
    """
    rule = activation if mode == "rnn" else mode
    inputs = (x, w, b, *(states or ()))
    if rule in _KERNELS and x.dtype in _DTYPES and all(a.dtype == x.dtype and a.size for a in inputs):
        y, *cells = _sequence(rule, reversed, *inputs)
        return y, [y[0 if reversed else -1], *cells]
    return _by_steps(mode, activation, reversed, *inputs)


def _by_steps(
    mode: str, activation: str, reversed: bool, x: Any, w: Any, b: Any, *states: Any
) -> tuple[Any, list[Any]]:
    step, ys = rule_of(mode, activation), []
    like = {"dtype": x.dtype, "device": x.device}
    now = list(states) or [np.zeros((x.shape[1], w.shape[1]), **like) for _ in range(STATES[mode])]
    gates = steps_of(x)
    for gate in gates[::-1] if reversed else gates:
        now = step(gate, npx.fully_connected(now[0], w, b), now)
        ys.append(now[0])
    if not ys:
        return x[..., :0].reshape(0, x.shape[1], w.shape[1]), now
    return np.stack(ys[::-1] if reversed else ys), now


def projected(
    reversed: bool, x: Array, states: list[Any] | None, w: Array, b: Array, r: Array
) -> tuple[Any, list[Any]]:
    """As `run`, of an LSTM whose outputs are projected by r (projection, units), step by step.

    >>> ones = np.ones((4, 1))
    >>> y, after = projected(False, np.zeros((2, 1, 4)), None, ones, np.zeros(4), np.ones((1, 1)))
    >>> y.shape, [state.shape for state in after]
    ((2, 1, 1), [(1, 1), (1, 1)])
    """
    step, ys, n = rule_of("lstm"), [], x.shape[1]

    def zeros(width: int) -> np.ndarray:
        return np.zeros((n, width), dtype=x.dtype, device=x.device)

    now = list(states) if states is not None else [zeros(r.shape[0]), zeros(r.shape[1])]
    gates = steps_of(x)
    for gate in gates[::-1] if reversed else gates:
        h, c = step(gate, npx.fully_connected(now[0], w, b), now)
        now = [npx.fully_connected(h, r, None, no_bias=True), c]
        ys.append(now[0])
    if not ys:
        return x[..., :0].reshape(0, n, r.shape[0]), now
    return np.stack(ys[::-1] if reversed else ys), now


def _outputs_by_steps(rule: str, reversed: bool, *inputs: Array) -> tuple[Any, ...]:
    mode = _KERNELS[rule]
    y, states = _by_steps(mode, rule if mode == "rnn" else "tanh", reversed, *inputs)
    return y, *states[1:]


class _Sequence:
    """The op: its results are the outputs and, of an LSTM, the cells after the last step.

    Gradients that are recorded are those of the steps, which are made again for that.
    """

    name = "rnn"
    stateless = True  # gradients depend on the tape alone

    def __call__(self, rule: str, reversed: bool, x: Array, w: Array, b: Array, *states: Any) -> tuple[Any, ...]:
        h, c = _two(states)
        y, cells, kept = _core.rnn(rule, reversed, x, h, c, w, b)
        outputs = (y,) if cells is None else (y, _core.getitem(cells, 0 if reversed else -1))
        if _core.recording():
            inputs = (x, w, b, *states)
            attrs = (rule, reversed, _core.detach(y), cells, kept)
            _core.record(self, inputs, outputs, attrs, SAVE_OUTPUTS | ((1 << len(inputs)) - 1))
        return outputs

    def exported_attributes(self, attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the arguments of `repeated` besides the inputs."""
        return attrs[:2]

    def repeated(self, inputs: Sequence[Any], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the op once more."""
        return self(*attrs, *inputs)

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the gradients of all inputs, for the backward pass."""
        rule, reversed, y, cells, kept = attrs
        gy, gc = g if isinstance(g, tuple) else (g, None)
        if _core.recording():
            return of_steps(functools.partial(_outputs_by_steps, rule, reversed), g, inputs)
        _, w, b, *states = inputs
        h, c = _two(states)
        gx, gh, gc0, gu = _core.rnn_back(rule, reversed, gy, gc, h, c, w, y, cells, kept)
        gu = gx if gu is None else gu
        return gx, _weight_gradient(gu, y, h, reversed), _core.sum_to(gu, b.shape), *(gh, gc0)[: len(states)]


def _two(states: Sequence[Any]) -> tuple[Any, Any]:
    """Return the state of the outputs and that of the cells, or None for a missing one."""
    h, c, *_ = (*states, None, None)
    return h, c


def _weight_gradient(gu: Array, y: Array, h: Array | None, reversed: bool) -> Array:
    """Return the sum over steps of gu times the state before: one product for the first step, one for all others."""
    first, rest, before = (-1, slice(None, -1), slice(1, None)) if reversed else (0, slice(1, None), slice(None, -1))
    start = None if h is None else _core.matmul(_core.getitem(gu, first), h, True)
    if start is not None and gu.shape[0] == 1:
        return start
    now, past = (_core.reshape(_core.getitem(a, i), (-1, a.shape[2])) for a, i in ((gu, rest), (y, before)))
    total = _core.matmul(now, past, True)
    return total if start is None else start + total


_sequence = _Sequence()
register(__name__, _sequence)
