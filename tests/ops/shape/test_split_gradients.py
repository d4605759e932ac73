"""Parts of an array on the tape: their gradients are put together at once, whichever of them are used."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, hybrid, np, profiler

CUTS: list[tuple[Any, int]] = [
    (3, 0), (1, 0), ([2, 5], 1), ([0, 4, 4], 1), ([5, 2], 1), ([-1], 0), ([2, 20], 1),
]  # fmt: skip


def sum_of_cubes(x: Any, cuts: Any, axis: int) -> Any:
    """Cubes of the parts, each times its number; of several parts the second is not used."""
    parts = np.split(x, cuts, axis=axis)
    return sum(((i + 1) * p**3).sum() for i, p in enumerate(parts) if i != 1 or len(parts) < 3)


def element_counts(cuts: Any, axis: int) -> numpy.ndarray:
    """How often each element counts."""
    parts = numpy.split(numpy.arange(42).reshape(6, 7), cuts, axis=axis)
    found = numpy.zeros(42)
    for i, p in enumerate(parts):
        if i != 1 or len(parts) < 3:
            numpy.add.at(found, p.ravel(), i + 1)
    return found.reshape(6, 7)


@pytest.mark.parametrize(("cuts", "axis"), CUTS)
class TestGradients:
    def test_first_and_second(self, cuts, axis):
        values = numpy.random.default_rng(1).random((6, 7), "float32")
        x, n = np.array(values), element_counts(cuts, axis)
        x.attach_grad()
        with autograd.record():
            g = autograd.grad(sum_of_cubes(x, cuts, axis), x, create_graph=True)
            total = (g * g).sum()
        total.backward()
        numpy.testing.assert_allclose(g.asnumpy(), n * 3 * values**2, rtol=1e-4, atol=1e-6)
        numpy.testing.assert_allclose(x.grad.asnumpy(), n * n * 36 * values**3, rtol=1e-4, atol=1e-6)

    def test_in_a_recorded_call(self, cuts, axis):
        self.recorded_call(cuts, axis, None)

    def test_in_a_recorded_call_on_another_device(self, cuts, axis, two_devices):
        """The gradient of the part that is not used is made where its array is."""
        self.recorded_call(cuts, axis, two_devices[1])

    def recorded_call(self, cuts, axis, device):
        values = numpy.random.default_rng(2).random((6, 7), "float32")
        x, n = np.array(values, device=device), element_counts(cuts, axis)
        x.attach_grad()
        again = hybrid(lambda x: sum_of_cubes(x, cuts, axis))
        for _ in range(3):
            with autograd.record():
                y = again(x)
            y.backward()
            numpy.testing.assert_allclose(x.grad.asnumpy(), n * 3 * values**2, rtol=1e-4, atol=1e-6)


def test_parts_are_views():
    x = np.zeros((2, 4))
    np.split(x, 2, axis=1)[1][...] = 1
    assert x.tolist() == [[0, 0, 1, 1]] * 2


def test_no_zeros_are_made_for_parts_that_are_all_used():
    x = np.ones((4, 6))
    x.attach_grad()
    with autograd.record():
        a, b, c = np.split(x, 3, axis=1)
        y = a * b * c
    forerun.waitall()
    recording = profiler.start()
    y.backward()
    forerun.waitall()
    made = {(op.name, op.shape) for op in recording.stop().ops}
    assert ("concatenate", (4, 6)) in made
    assert ("full", (4, 6)) not in made
    assert x.grad.tolist() == [[1] * 6] * 4
