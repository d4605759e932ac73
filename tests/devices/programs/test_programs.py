"""Captured programs on a device: one module, whose results and updates are those of its operations one by one."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx
from tests.support.device_plugins.devices import gpus, words_of


def compiled() -> int:
    forerun.waitall()
    return sum(stats["compiled"] for stats in _core.accelerator_compile_stats())


def on(device: Any, *values: float) -> Any:
    return np.array(values, dtype="float32", device=device)


def test_a_program_is_one_module() -> None:
    (device,) = gpus(1)
    x, w = on(device, 1, 2, 3), on(device, 4, 5, 6)
    program = forerun.hybrid(lambda x, w: np.exp(-x) * w + x / w - 1.25)
    kept = [program(x, w) for _ in range(3)]
    before, number = compiled(), forerun.stats()["issued"]
    found = program(x, w)
    assert forerun.stats()["issued"] - number == 1
    h, v = numpy.float32([1, 2, 3]), numpy.float32([4, 5, 6])
    numpy.testing.assert_allclose(found.asnumpy(), numpy.exp(-h) * v + h / v - 1.25, rtol=1e-6)
    assert compiled() == before
    assert all(numpy.array_equal(k.asnumpy(), found.asnumpy()) for k in kept)
    assert _core.fallback_counts() == []


def test_a_program_that_writes_its_inputs() -> None:
    """An array that is written in place may give its old memory: values that are read elsewhere stay."""
    (device,) = gpus(1)
    w, g = on(device, 1, 2, 3, 4), on(device, 10, 20, 30, 40)

    @forerun.hybrid
    def step(w: Any, g: Any) -> Any:
        w -= 0.1 * g
        w[1:3] *= 2
        return w + g

    expected, gradient = numpy.float32([1, 2, 3, 4]), numpy.float32([10, 20, 30, 40])
    for _ in range(5):
        before, kept = w.copy(), expected.copy()
        found = step(w, g)
        expected -= numpy.float32(0.1) * gradient
        expected[1:3] *= 2
        numpy.testing.assert_allclose(w.asnumpy(), expected, rtol=1e-6)
        numpy.testing.assert_allclose(found.asnumpy(), expected + gradient, rtol=1e-6)
        numpy.testing.assert_array_equal(before.asnumpy(), before.asnumpy())
        numpy.testing.assert_allclose(before.asnumpy(), kept, rtol=1e-6)


def test_a_training_step_is_one_module() -> None:
    losses = []
    for device in (forerun.cpu(), *gpus(1)):
        npx.random.seed(3)
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(8, in_units=4, activation="relu"), gluon.nn.Dense(3, in_units=8))
        net.initialize(forerun.init.Xavier(), ctx=device)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
        loss = gluon.loss.SoftmaxCrossEntropyLoss()

        @forerun.hybrid
        def step(x: Any, y: Any, net: Any = net, trainer: Any = trainer, loss: Any = loss) -> Any:
            with autograd.record():
                out = loss(net(x), y)
            out.backward()
            trainer.step(len(x))
            return out

        x, y = np.ones((6, 4), device=device) * np.arange(6.0, device=device)[:, None], np.arange(6, device=device) % 3
        found = []
        for k in range(5):
            trainer.set_learning_rate(0.05 / (k + 1))
            before, number = compiled(), forerun.stats()["issued"]
            found.append(step(x, y).asnumpy())
            if k > 1:
                assert compiled() == before  # rates are arguments
            if k > 0 and device != forerun.cpu():
                assert forerun.stats()["issued"] - number <= 3  # the module, the factors' copy, the copy of the result
        losses.append(found)
    numpy.testing.assert_allclose(*losses, rtol=1e-4)
    assert _core.fallback_counts() == []


def test_an_update_reads_and_writes_the_same_memory() -> None:
    """The same buffer is an operand and is to be replaced: it must not be donated."""
    (device,) = gpus(1)
    x = np.arange(8.0, device=device)
    h = numpy.arange(8.0)
    x[1:] = x[:-1]
    h[1:] = h[:-1].copy()
    x += x[::-1]
    h += h[::-1].copy()
    numpy.testing.assert_array_equal(x.asnumpy(), h)


def test_a_result_takes_the_memory_of_the_values_before() -> None:
    """An array that a program writes whole has values from before, or none yet: readers of these keep them."""
    (device,) = gpus(1)

    @forerun.hybrid
    def program(x: Any, out: Any) -> Any:
        np.multiply(x, x, out=out)
        return out.sum()

    x, empty = on(device, 1, 2, 3), np.empty(3, dtype="float32", device=device)
    assert program(x, empty).item() == 14
    for k in range(4):
        out = np.empty(3, dtype="float32", device=device)
        first = program(x, out)
        before, view = out.copy(), out[1:]
        again = program(x + k, out)
        assert (first.item(), before.tolist()) == (14, [1, 4, 9])
        assert out.tolist() == [(1 + k) ** 2, (2 + k) ** 2, (3 + k) ** 2]
        assert view.tolist() == out.tolist()[1:]
        assert again.item() == sum(out.tolist())


def test_the_message_is_that_of_the_operation_with_bad_values() -> None:
    """One result tells of the checks of all operations."""
    (device,) = gpus(1)
    x, fine = np.arange(4.0, device=device), np.array([0, 3], device=device)

    @forerun.hybrid
    def program(x: Any, i: Any, j: Any) -> Any:
        return np.take(x, i) + npx.pick(np.stack([x[:2], x[2:]]), j)

    for _ in range(3):
        assert program(x, fine, fine * 0).tolist() == [0, 5]
    first, second = program(x, fine + 1, fine * 0), program(x, fine, fine - 2)
    with pytest.raises(IndexError, match=r"^take: "):
        first.wait()
    with pytest.raises(IndexError, match=r"^pick: "):
        second.wait()
    assert program(x, fine, fine * 0).tolist() == [0, 5]


@pytest.mark.parametrize("which", [0, 1])
def test_programs_are_bound_to_the_device_of_their_arrays(which: int) -> None:
    device = gpus(2)[which]
    program = forerun.hybrid(lambda x: np.sqrt(x) + 1)
    for _ in range(3):
        found = program(on(device, 4, 9))
        assert (found.device, found.tolist()) == (device, [3, 4])
    assert program(on(forerun.cpu(), 16)).tolist() == [5]


def test_numbers_are_arguments_of_modules() -> None:
    """A number that changes at each step makes no new module."""
    (device,) = gpus(1)
    x = on(device, 1, 2, 3)
    for rate in (0.5, 0.25):
        x = x * rate + rate
    before = compiled()
    for i in range(20):
        x = x * (1 / (i + 2)) + i
    x.wait_to_read()
    assert compiled() == before


def test_random_numbers_of_programs_differ_from_run_to_run() -> None:
    (device,) = gpus(1)
    with device:
        program = forerun.hybrid(lambda x: x + np.random.uniform(size=(4,)))
        x = np.zeros(4)
        runs = {tuple(program(x).tolist()) for _ in range(4)}
    assert len(runs) == 4


def test_no_module_is_made_after_the_second_iteration() -> None:
    """A loop of training: gradients, momentum and an update in place."""
    (device,) = gpus(1)
    w = np.array(numpy.linspace(-1, 1, 12).reshape(3, 4), dtype="float32", device=device)
    w.attach_grad()
    momentum = np.zeros_like(w)
    counts = []
    for _ in range(5):
        with forerun.autograd.record():
            loss = np.tanh(w) * w
        loss.backward()
        momentum[:] = 0.9 * momentum + w.grad
        w -= 0.1 * momentum
        w.wait_to_read()
        counts.append(compiled())
    assert counts[1:] == [counts[1]] * 4


def test_results_are_the_same_in_each_run() -> None:
    program = """
import hashlib
x = np.arange(3000, dtype="float32", device="gpu:0") / 7
f = forerun.hybrid(lambda x: np.tanh(np.sin(x) * x + 0.1) / 3)
for _ in range(5): x = f(x)
print(hashlib.sha256(x.asnumpy().tobytes()).hexdigest())
"""
    assert words_of(program) == words_of(program)


class TestPlacesOfParts:
    """Where a part starts whose elements follow one another is an argument: one module for all places."""

    def test_rows_and_elements_are_read(self) -> None:
        (device,) = gpus(1)
        h = numpy.arange(60, dtype="float32").reshape(12, 5)
        x = np.array(h, device=device)
        read = {
            "rows": lambda x, i: x[i] * 2,
            "elements": lambda x, i: x[i, i % 5] + 1,
            "blocks": lambda x, i: x[i % 10 : i % 10 + 3].sum(0),
        }
        for name, part in read.items():
            part(x, 1).asnumpy(), part(x, 2).asnumpy()
            before = compiled()
            for i in range(12):
                numpy.testing.assert_array_equal(part(x, i).asnumpy(), part(h, i), err_msg=name)
            assert compiled() == before, name

    def test_rows_and_elements_are_written(self) -> None:
        (device,) = gpus(1)
        h = numpy.zeros((12, 5), dtype="float32")
        x = np.array(h, device=device)

        def write(x: Any, i: int) -> None:
            x[i] = i
            x[i, i % 5] += 10
            x[i % 10 : i % 10 + 2] *= 2

        for i in (0, 1):
            write(x, i), write(h, i)
        before = compiled()
        for i in range(2, 12):
            write(x, i), write(h, i)
        numpy.testing.assert_array_equal(x.asnumpy(), h)
        assert compiled() == before

    def test_a_copy_from_one_place_to_another(self) -> None:
        (device,) = gpus(1)
        h = numpy.arange(40, dtype="int16")
        x = np.array(h, device=device)
        for i in range(6):
            x[3 * i : 3 * i + 2] = x[38 - i : 40 - i]
            h[3 * i : 3 * i + 2] = h[38 - i : 40 - i]
        numpy.testing.assert_array_equal(x.asnumpy(), h)

    def test_in_a_program(self) -> None:
        (device,) = gpus(1)
        x = on(device, *range(12))
        program = forerun.hybrid(lambda x: x[2:5] * x[7:10] + x[11])
        for k in range(3):
            h = numpy.arange(12, dtype="float32") + k
            numpy.testing.assert_array_equal(program(x + k).asnumpy(), h[2:5] * h[7:10] + h[11])
