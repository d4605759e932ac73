"""A recurrent layer as one op has the results and gradients of its steps."""

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, profiler
from forerun.gluon.rnn import sequence
from forerun.gluon.rnn.steps import GATES, STATES
from forerun.testing import closed_gate
from tests.support.comparison.gradients import leaves_of
from tests.support.engine.settings import configured

RULES = [("rnn", "tanh"), ("rnn", "relu"), ("lstm", "tanh"), ("gru", "tanh")]
SIZES = [(1, 1, 1), (4, 3, 5), (3, 19, 50), (2, 70, 8)]  # steps, batch, units


def inputs(mode: str, size: tuple[int, int, int], dtype: str) -> list[Any]:
    """x, weight, bias and states that have gradients."""
    steps, batch, units = size
    rows = GATES[mode] * units
    shapes = [(steps, batch, rows), (rows, units), (rows,), *[(batch, units)] * STATES[mode]]
    generator = numpy.random.default_rng(3)
    return leaves_of(*(generator.normal(size=shape) / shape[-1] ** 0.5 for shape in shapes), dtype=dtype)


def loss(y: Any, after: list[Any]) -> Any:
    """Each result times numbers of its own."""
    total = 0.0
    for i, part in enumerate((y, *after)):
        total = total + (part * np.arange(part.size, dtype=part.dtype).reshape(part.shape)).sum() * (i + 1) / part.size
    return total


def run_sequence(mode: str, activation: str, backwards: bool, values: list[Any]) -> tuple[Any, list[Any]]:
    x, w, b, *states = values
    return sequence.run(mode, activation, backwards, x, states, w, b)


def tolerance(dtype: str) -> float:
    return 2e-4 if dtype == "float32" else 1e-11


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(("mode", "activation"), RULES)
def test_results_and_gradients_are_those_of_the_steps(
    mode: str, activation: str, size: Any, dtype: str, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def everything() -> list[numpy.ndarray]:
        values = inputs(mode, size, dtype)
        with autograd.record():
            y, after = run_sequence(mode, activation, backwards, values)
            cost = loss(y, after)
        cost.backward()
        return [x.asnumpy() for x in (y, *after, *(v.grad for v in values))]

    found = everything()
    assert all(map(numpy.array_equal, found, everything())), "the same bits again"
    monkeypatch.setattr(sequence, "_KERNELS", {})
    for a, b in zip(found, everything(), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        assert abs(a - b).max() <= tolerance(dtype) * max(1, abs(b).max())


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("mode", "activation"), RULES)
def test_gradients_of_gradients_are_those_of_the_steps(
    mode: str, activation: str, backwards: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def second() -> list[numpy.ndarray]:
        values = inputs(mode, (3, 2, 4), "float64")
        with autograd.record():
            inner = [v * 1 for v in values]  # not leaves
            y, after = run_sequence(mode, activation, backwards, inner)
            first = autograd.grad(loss(y * y, after), inner, create_graph=True)
            total = sum((g * g).sum() for g in first)
        total.backward()
        return [v.grad.asnumpy() for v in values]

    found = second()
    monkeypatch.setattr(sequence, "_KERNELS", {})
    for a, b in zip(found, second(), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)
    assert any(abs(a).max() > 1e-3 for a in found)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("size", [(1, 2, 3), *SIZES[1:]], ids=str)
@pytest.mark.parametrize(("mode", "activation"), RULES)
def test_missing_states_are_zeros(mode: str, activation: str, size: Any, backwards: bool) -> None:
    def everything(given: bool) -> list[numpy.ndarray]:
        values = inputs(mode, size, "float64")
        with autograd.record():
            states = [s * 0 for s in values[3:]] if given else None
            y, after = sequence.run(mode, activation, backwards, values[0], states, *values[1:3])
            cost = loss(y, after)
        cost.backward()
        return [x.asnumpy() for x in (y, *after, *(v.grad for v in values[:3]))]

    for a, b in zip(everything(True), everything(False), strict=True):
        numpy.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-13)


def test_without_states_gradients_of_gradients_are_those_from_zeros() -> None:
    def second(given: bool) -> numpy.ndarray:
        x, w, b, *states = inputs("lstm", (3, 2, 4), "float64")
        with autograd.record():
            y, after = run_sequence("lstm", "tanh", False, [x, w * 1, b, *(s * 0 for s in states if given)])
            first = autograd.grad(loss(y * y, after), w, create_graph=True)
            total = (first * first).sum()
        total.backward()
        return w.grad.asnumpy()

    numpy.testing.assert_allclose(second(True), second(False), rtol=1e-12)
    assert abs(second(True)).max() > 1e-6


def test_an_lstm_writes_into_the_memory_of_its_operands() -> None:
    steps, batch, units = 5, 40, 64
    nbytes = 4 * steps * batch * units

    def program() -> tuple[list[numpy.ndarray], dict[str, int]]:
        x, w, b, *states = inputs("lstm", (steps, batch, units), "float32")
        forerun.waitall()
        with profiler.record() as recorded:
            with closed_gate(), autograd.record():
                y, after = run_sequence("lstm", "tanh", False, [x * 1, w, b, *states])
                cost = loss(y, after)
                cost.backward()
            forerun.waitall()
        taken = {e.name: e.bytes for e in recorded.trace.events if e.kind == "op" and e.name in ("rnn", "rnn_back")}
        return [v.asnumpy() for v in (y, *after, x.grad, w.grad, b.grad)], taken

    with configured(engine="async", passes="drop,fuse"):
        expected, taken = program()
        assert taken["rnn"] == 6 * nbytes  # results, cells, and four gates for the backward pass
        assert taken["rnn_back"] >= 4 * nbytes
        of_states = taken["rnn_back"] - 4 * nbytes
    with configured(engine="async", passes="drop,fuse,reuse"):
        found, taken = program()
        assert taken == {"rnn": 2 * nbytes, "rnn_back": of_states}
    for a, e in zip(found, expected, strict=True):
        assert a.tobytes() == e.tobytes()


def test_values_beyond_the_range_of_the_functions_saturate() -> None:
    values = [1000.0, -1000.0, numpy.inf, -numpy.inf, numpy.nan, 0.0, 1e-30]
    for dtype in ("float32", "float64"):
        x = np.array(values, dtype=dtype).reshape(1, 1, -1)
        n = len(values)
        zeros = np.zeros((1, n), dtype=dtype)
        y, _ = sequence.run("rnn", "tanh", False, x, [zeros], np.zeros((n, n), dtype=dtype), np.zeros(n, dtype=dtype))
        numpy.testing.assert_array_equal(y.asnumpy().ravel(), numpy.tanh(numpy.array(values, dtype)))


def test_outputs_must_not_be_overwritten_before_backward() -> None:
    values = inputs("lstm", (2, 3, 4), "float32")
    with autograd.record():
        y, _ = run_sequence("lstm", "tanh", False, values)
        cost = y.sum()
    y[...] = 0
    with pytest.raises(RuntimeError, match="rnn saved must not be overwritten"):
        cost.backward()
