"""Recurrent layers: all steps of a sequence in one loop, for one layer in one direction, and the backward pass."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..types import Type
from ..values import Value
from .call import Call

__all__ = ["rnn", "rnn_back"]


def _tanh(b: Builder, x: Value) -> Value:
    return b.unary("tanh", x)


def _gates(b: Builder, x: Value, count: int) -> list[Value]:
    """The gates of (batch, gates * units), each (batch, units)."""
    n = x.shape[-1] // count
    return [b.along(x, 1, i * n, (i + 1) * n) for i in range(count)]


def _step(b: Builder, rule: str, x: Value, u: Value, h: Value, c: Value) -> tuple[Value, Value, list[Value]]:
    """The states after a step, and the values that the backward pass needs. x, u: input's and state's terms of the
    gates."""
    if rule == "tanh":
        return _tanh(b, x + u), c, []
    if rule == "relu":
        total = x + u
        return b.select(total < 0.0, 0.0, total), c, []
    if rule == "lstm":
        into, forget, fresh, out = _gates(b, x + u, 4)
        into, forget, out = (b.unary("logistic", g) for g in (into, forget, out))
        fresh = _tanh(b, fresh)
        cell = forget * c + into * fresh
        return out * _tanh(b, cell), cell, [into, forget, fresh, out]
    (xr, xz, xn), (ur, uz, inner) = _gates(b, x, 3), _gates(b, u, 3)
    reset, update = b.unary("logistic", xr + ur), b.unary("logistic", xz + uz)
    fresh = _tanh(b, xn + reset * inner)
    return fresh + update * (h - fresh), c, [reset, update, fresh, inner]


def _given(call: Call) -> dict[str, Value]:
    return dict(zip(call.attribute("has"), call.inputs))


def _at(b: Builder, values: Value, step: Value) -> Value:
    """The values of one step."""
    shape = values.shape[1:]
    zeros = [b.scalar(0, "int64") for _ in shape]
    sizes = f"slice_sizes = array<i64: {', '.join(map(str, (1, *shape)))}>"
    part = b.operation("dynamic_slice", (values, step, *zeros), Type((1, *shape), values.dtype), sizes)
    return b.reshape(part, shape)


def _put(b: Builder, values: Value, part: Value, step: Value) -> Value:
    """The values with those of one step replaced."""
    zeros = [b.scalar(0, "int64") for _ in part.shape]
    part = b.reshape(part, (1, *part.shape))
    return b.operation("dynamic_update_slice", (values, part, step, *zeros), values.type)


def rnn(call: Call) -> Sequence[Value] | None:
    """The states of all steps."""
    b, given, rule = call.b, _given(call), call.spec.attributes["rule"]
    x, u = given["x"], given["u"]
    steps, batch, _ = x.shape
    state = Type((batch, u.shape[1]), x.dtype)
    h, c = (given.get(name) or b.constant(0, state) for name in "hc")
    bias = given.get("b") or b.constant(0, Type((u.shape[0],), x.dtype))
    names: Sequence[str] = call.attribute("gives")
    kept = {"lstm": 4, "gru": 4}.get(rule, 0)
    widths = {"y": 1, "cells": 1, "kept": kept}
    results = [b.constant(0, Type((steps, batch, widths[n] * state.shape[1]), x.dtype)) for n in names]
    reversed_ = call.attribute("reversed", False)

    def step(i: Value, h: Value, c: Value, x: Value, u: Value, bias: Value, *results: Value) -> list[Value]:
        at = (steps - 1) - i if reversed_ else i
        of_state = b.dot(h, u, h.dtype, contract=([1], [1]))
        of_state = of_state + b.broadcast(bias, of_state.shape)
        h, c, more = _step(b, rule, _at(b, x, at), of_state, h, c)
        found = {"y": h, "cells": c, "kept": b.concatenate(more, 1) if more else h}
        return [i + 1, h, c, x, u, bias, *(_put(b, r, found[n], at) for n, r in zip(names, results))]

    start = [b.scalar(0, "int64"), h, c, x, u, bias, *results]
    return b.loop(start, lambda i, *_: i < steps, step)[6:]


# --- backward pass


def _step_back(
    b: Builder, rule: str, g: Value, dc: Value, states: Sequence[Value], kept: Sequence[Value]
) -> tuple[list[Value], list[Value], Value | None, Value]:
    """The gradients of the input's and the state's terms of the gates, and of the previous states without the products.

    g: the gradient of the state after the step. states: those before it, and those after it.
    """
    h, c, y, cell = states
    if rule == "tanh":
        gx = [g * (1.0 - y * y)]
        return gx, gx, None, dc
    if rule == "relu":
        gx = [b.select(y > 0.0, g, g * 0.0)]
        return gx, gx, None, dc
    if rule == "lstm":
        into, forget, fresh, out = kept
        t = _tanh(b, cell)
        gc = dc + g * out * (1.0 - t * t)
        gx = [gc * fresh * (into * (1.0 - into)), gc * c * (forget * (1.0 - forget))]
        gx += [gc * into * (1.0 - fresh * fresh), g * t * (out * (1.0 - out))]
        return gx, gx, None, gc * forget
    reset, update, fresh, inner = kept
    gn = g * (1.0 - update) * (1.0 - fresh * fresh)
    gz = g * (h - fresh) * (update * (1.0 - update))
    gr = gn * inner * (reset * (1.0 - reset))
    return [gr, gz, gn], [gr, gz, gn * reset], g * update, dc


def _before(b: Builder, values: Value, first: Value, reversed_: bool) -> Value:
    """The states before each step."""
    first = b.reshape(first, (1, *first.shape))
    steps = values.shape[0]
    if reversed_:
        return b.concatenate([b.along(values, 0, 1, steps), first], 0)
    return b.concatenate([first, b.along(values, 0, 0, steps - 1)], 0)


def rnn_back(call: Call) -> Sequence[Value] | None:
    """The gradients of the inputs and of the first states."""
    b, given, rule = call.b, _given(call), call.spec.attributes["rule"]
    y, u, gy, reversed_ = given["y"], given["u"], given["gy"], call.attribute("reversed", False)
    steps, batch, units = y.shape
    state = Type((batch, units), y.dtype)
    zero = b.constant(0, state)
    cells, kept = given.get("cells") or y, given.get("kept") or y
    before = _before(b, y, given.get("h") or zero, reversed_)
    before_c = _before(b, cells, given.get("c") or zero, reversed_)
    gates = b.constant(0, Type((steps, batch, u.shape[0]), y.dtype))

    def step(
        i: Value, dh: Value, dc: Value, u: Value, gy: Value, y: Value, cells: Value, kept: Value, before: Value,
        before_c: Value, gx: Value, gu: Value,
    ) -> list[Value]:  # fmt: skip
        at = i if reversed_ else (steps - 1) - i
        g = dh + _at(b, gy, at)
        parts = _gates(b, _at(b, kept, at), kept.shape[2] // units)
        states = [_at(b, v, at) for v in (before, before_c, y, cells)]
        of_x, of_u, direct, dc = _step_back(b, rule, g, dc, states, parts)
        row = b.concatenate(of_u, 1)
        through = b.dot(row, u, u.dtype, contract=([1], [0]))
        dh = through if direct is None else direct + through
        gx, gu = _put(b, gx, b.concatenate(of_x, 1), at), _put(b, gu, row, at)
        return [i + 1, dh, dc, u, gy, y, cells, kept, before, before_c, gx, gu]

    dc = given.get("gc") or zero
    start = [b.scalar(0, "int64"), zero, dc, u, gy, y, cells, kept, before, before_c, gates, gates]
    ended = b.loop(start, lambda i, *_: i < steps, step)
    found = {"gx": ended[10], "gh": ended[1], "gc0": ended[2], "gu": ended[11]}
    return [found[name] for name in call.attribute("gives")]
