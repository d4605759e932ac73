"""The public test functions find the faults that they are for."""

import numpy
import pytest

import forerun
from forerun import autograd, np, profiler
from forerun.extend import primitive
from forerun.testing import assert_same_bits, check_grads, closed_gate

BITS = [
    ([1.0, 2.0], [1.0, 2.0], ""),
    ([[1.0, 2.0]], [[1.0, 3.0]], r"element \(0, 1\) must be 3.0, got 2.0; 1 of 2 differ"),
    ([0.0], [-0.0], r"element \(0,\) must be -0.0, got 0.0; 1 of 1 differ"),
    ([1.0], [1], "array must be int64 of .*, got float32 of"),
    ([1.0], 1.0, r"array must be float32 of \(\), got float32 of \(1,\)"),
    ([], [], ""),
    ([numpy.nan], [numpy.nan], ""),
    (5, 6, r"element \(\) must be 6, got 5"),
]


@pytest.mark.parametrize(("found", "expected", "text"), BITS)
def test_same_bits(found, expected, text):
    pairs = [(np.array(found), np.array(expected)), (np.array(found).numpy(), np.array(expected))]
    for x, y in pairs:
        if not text:
            assert_same_bits(x, y)
            continue
        with pytest.raises(AssertionError, match=text):
            assert_same_bits(x, y)


def test_same_bits_of_strided_arrays():
    x = np.arange(12).reshape(3, 4)
    assert_same_bits(x.T[::2], x.T[::2].copy())


wrong = primitive(lambda g, x: 2 * g * np.ones_like(x))(lambda x: x * x)
wrong_twice = primitive(lambda g, x: g * 3 * x.detach() ** 2)(lambda x: x**3)


def test_gradients_that_are_right():
    x = np.array([[0.5, -1.0], [2.0, 1.5]])
    check_grads(lambda x, y: np.tanh(x) @ y, x, numpy.ones((2, 1)), order=2)
    check_grads(lambda x: (x * x, x + 1, x.argmax()), x, order=2)
    check_grads(lambda x: 2 * x, x, order=2)
    check_grads(lambda x, index, n: x[index] * n, x, np.array([1, 0, 1]), 3)
    check_grads(lambda x: x.detach() * 2 + x * 0, numpy.zeros(0))


@pytest.mark.parametrize(
    ("function", "order", "text"),
    [
        (wrong, 1, r"gradient of args\[0\] must be .* as differences are, got"),
        (lambda x: x * x.detach(), 1, r"gradient of args\[0\]"),
        (wrong_twice, 2, r"gradient of gradients by args\[0\]"),
    ],
)
def test_gradients_that_are_wrong(function, order, text):
    x = np.array([1.5, -2.0])
    with pytest.raises(AssertionError, match=text):
        check_grads(function, x, order=order)
    if order == 2:
        check_grads(function, x)
    assert x.tolist() == [1.5, -2.0]
    assert x.node is None


def test_check_grads_without_float_arguments_raises():
    with pytest.raises(ValueError, match="args must have an array of real floats, got none"):
        check_grads(lambda x: x, np.arange(3))
    with pytest.raises(ValueError, match="order must be positive, got 0"):
        check_grads(lambda x: x, np.ones(3), order=0)


def test_training_is_as_outside():
    seen = []
    with autograd.train_mode():
        check_grads(lambda x: seen.append(autograd.is_training()) or x * x, np.ones(1))
    assert set(seen) == {True}


def test_nothing_runs_while_the_gate_is_closed():
    x = np.ones((64, 64)).copy()
    x.wait()
    with closed_gate():
        y = x @ x
        assert not y.ready
        with pytest.raises(profiler.Blocked, match="must not wait here"):
            y.sum().item()
    assert y.sum().item() == 64**3


def test_a_gate_within_a_gate_stays_closed():
    with closed_gate():
        with closed_gate():
            x = np.ones((64, 64)).copy()
        y = x @ x
        assert not y.ready
    assert y.sum().item() == 64**3


def test_the_gate_is_open_again_after_an_error():
    with pytest.raises(KeyError), closed_gate():
        raise KeyError
    assert (np.ones(3) + 1).tolist() == [2, 2, 2]


def test_the_engine_must_run_ahead():
    forerun.configure(engine="sync")
    try:
        with pytest.raises(RuntimeError, match='engine must be "async", got "sync"'), closed_gate():
            pass
    finally:
        forerun.configure(engine="async")
