"""Recurrent layers and Fourier transforms as modules, against NumPy."""

from __future__ import annotations

import functools
from typing import Any

import numpy
import pytest

from forerun._pjrt.emit import emit
from tests.support.comparison.formulas import sigmoid
from tests.support.comparison.random_arrays import normal_array
from tests.support.device_plugins.pjrt_plugin import Plugin
from tests.support.device_plugins.pjrt_specs import assert_same, compute, empty_array, run_op, spec

STEPS, BATCH, UNITS = 4, 3, 2
GATES = {"tanh": 1, "relu": 1, "lstm": 4, "gru": 3}


def layer(rule: str, reversed_: bool, x: Any, h: Any, c: Any, u: Any, b: Any) -> dict[str, Any]:
    """All steps, as the core's header says it."""
    found: dict[str, Any] = {"y": numpy.zeros((STEPS, BATCH, UNITS)), "cells": numpy.zeros((STEPS, BATCH, UNITS)),
                             "kept": numpy.zeros((STEPS, BATCH, 4 * UNITS)), "gates": []}  # fmt: skip
    for t in range(STEPS)[:: -1 if reversed_ else 1]:
        of_state = h @ u.T + b
        if rule in ("tanh", "relu"):
            h = numpy.tanh(x[t] + of_state) if rule == "tanh" else numpy.maximum(x[t] + of_state, 0)
        elif rule == "lstm":
            i, f, n, o = numpy.split(x[t] + of_state, 4, 1)
            i, f, n, o = sigmoid(i), sigmoid(f), numpy.tanh(n), sigmoid(o)
            c = f * c + i * n
            h = o * numpy.tanh(c)
            found["kept"][t] = numpy.concatenate([i, f, n, o], 1)
        else:
            (xr, xz, xn), (ur, uz, un) = numpy.split(x[t], 3, 1), numpy.split(of_state, 3, 1)
            r, z = sigmoid(xr + ur), sigmoid(xz + uz)
            n = numpy.tanh(xn + r * un)
            h = n + z * (h - n)
            found["kept"][t] = numpy.concatenate([r, z, n, un], 1)
        found["y"][t], found["cells"][t] = h, c
    return {**found, "last": c}


def rnn_operands(rule: str) -> dict[str, Any]:
    gates = GATES[rule]
    return {
        "x": normal_array((STEPS, BATCH, gates * UNITS), 1), "h": normal_array((BATCH, UNITS), 2),
        "c": normal_array((BATCH, UNITS), 3),
        "u": normal_array((gates * UNITS, UNITS), 4), "b": normal_array((gates * UNITS,), 5),
    }  # fmt: skip


@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("rule", list(GATES))
def test_all_steps_of_a_layer(plugin: Plugin, rule: str, reversed_: bool) -> None:
    given = rnn_operands(rule)
    expected = layer(rule, reversed_, **given)
    gives = ["y", *(["cells"] if rule == "lstm" else []), *(["kept"] if GATES[rule] > 1 else [])]
    results = [empty_array(expected[n].shape, "float64") for n in gives]
    words = {"rule": rule, "reversed": reversed_}
    got = run_op(plugin, "rnn", "", list(given.values()), results, has=tuple(given), gives=tuple(gives), **words)
    for g, n in zip(got, gives):
        numpy.testing.assert_allclose(g, expected[n].reshape(-1), rtol=1e-12, atol=1e-14)
    # Without states and bias: zeros.
    some = {n: given[n].astype("float32") for n in "xu"}
    zeros = {n: numpy.zeros_like(v) for n, v in given.items()}
    expected = layer(rule, reversed_, **{**zeros, **some})
    (y,) = run_op(plugin, "rnn", "", list(some.values()), [empty_array((STEPS, BATCH, UNITS), "float32")],
                 has=("x", "u"), gives=("y",), **words)  # fmt: skip
    numpy.testing.assert_allclose(y, expected["y"].reshape(-1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("reversed_", [False, True])
@pytest.mark.parametrize("rule", list(GATES))
def test_backward_of_a_layer(plugin: Plugin, rule: str, reversed_: bool) -> None:
    given = rnn_operands(rule)
    gy, gc = normal_array((STEPS, BATCH, UNITS), 6), normal_array((BATCH, UNITS), 7) * (rule == "lstm")

    def loss(**changed: Any) -> float:
        found = layer(rule, reversed_, **{**given, **changed})
        return float((gy * found["y"]).sum() + (gc * found["last"]).sum())

    def slope(name: str) -> Any:
        total = numpy.zeros_like(given[name])
        for at in numpy.ndindex(total.shape):
            step = numpy.zeros_like(total)
            step[at] = 1e-6
            total[at] = (loss(**{name: given[name] + step}) - loss(**{name: given[name] - step})) / 2e-6
        return total

    after = layer(rule, reversed_, **given)
    has = {"gy": gy, **({"gc": gc} if rule == "lstm" else {}), "h": given["h"]}
    has |= {"c": given["c"]} if rule == "lstm" else {}
    has |= {"u": given["u"], "y": after["y"]}
    has |= {"cells": after["cells"]} if rule == "lstm" else {}
    has |= {"kept": after["kept"]} if GATES[rule] > 1 else {}
    gives = {"gx": given["x"], "gh": given["h"], **({"gc0": given["c"]} if rule == "lstm" else {}), "gu": given["x"]}
    got = run_op(plugin, "rnn_back", "", list(has.values()), [empty_array(v.shape, "float64") for v in gives.values()],
              has=tuple(has), gives=tuple(gives), rule=rule, reversed=reversed_)  # fmt: skip
    found = dict(zip(gives, got))
    for name, of in (("gx", "x"), ("gh", "h"), *((("gc0", "c"),) if rule == "lstm" else ())):
        numpy.testing.assert_allclose(found[name], slope(of).reshape(-1), rtol=1e-5, atol=1e-7)
    # Of the state's terms: its sum is the gradient of the bias.
    total = found["gu"].reshape(-1, GATES[rule] * UNITS).sum(0)
    numpy.testing.assert_allclose(total, slope("b"), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft_n_even", "rfft_n_odd", "irfft"])
@pytest.mark.parametrize("n", [8, 9, 5, 16, 1])
def test_transforms(plugin: Plugin, name: str, dtype: str, n: int) -> None:
    n = n if name not in ("rfft_n_even", "rfft_n_odd") else n // 2 * 2 + (name == "rfft_n_odd") or 2
    real = "float32" if dtype == "complex64" else "float64"
    x = normal_array((3, 9, 2), 1) + 1j * normal_array((3, 9, 2), 2)
    x = x.real.astype(real) if name[0] == "r" else x.astype(dtype)
    public = {"rfft_n_even": "rfft", "rfft_n_odd": "rfft"}.get(name, name)
    function = functools.partial(getattr(numpy.fft, public), norm="forward" if name[0] == "i" else "backward")
    for axis in (1, 2):
        expected = function(x.astype("complex128" if name[0] != "r" else "float64"), n, axis) * 0.5
        out = real if name == "irfft" else dtype
        factor = numpy.asarray(0.5, real)[()]
        got = compute(plugin, "fft", name, [x, factor], expected.shape, out, axis=axis)
        assert abs(got - expected).max() <= 8 * numpy.finfo(real).eps * max(1, abs(expected).max())


def test_empty_and_unsupported_transforms(plugin: Plugin) -> None:
    x, factor = numpy.zeros((0, 4), "complex64"), numpy.float32(1)
    assert emit(spec("fft", "dct", [x, factor], [x], axis=1)) is None
    assert_same(compute(plugin, "fft", "fft", [x, factor], (0, 4), "complex64", axis=1), x)
