"""Functions of several operations that are one module on a GPU: softmax, losses, normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, npx
from tests.support.device_plugins.devices import gpus

X = numpy.random.default_rng(3).standard_normal((6, 5)).astype("float32")
W, B = numpy.linspace(0.5, 2, 5, dtype="float32"), numpy.linspace(-1, 1, 5, dtype="float32")
INDEX = numpy.array([0, 4, 2, 2, 1, 3])


def normalized(x: Any) -> Any:
    return npx.layer_norm(x, np.array(W, device=x.device), np.array(B, device=x.device))


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "softmax": npx.softmax, "softmax along axis 0": lambda x: npx.softmax(x, axis=0), "log_softmax": npx.log_softmax,
    "sigmoid": npx.sigmoid, "cross_entropy": lambda x: npx.cross_entropy(x, INDEX), "layer_norm": normalized,
}  # fmt: skip


def issued_operations(call: Callable[[], Any]) -> int:
    forerun.waitall()
    before: int = forerun.stats()["issued"]
    call()
    return int(forerun.stats()["issued"]) - before


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_one_operation(name: str) -> None:
    function, x = FUNCTIONS[name], np.array(X, device=gpus()[0])
    function(x)
    copies = {"cross_entropy": 1, "layer_norm": 2}.get(name, 0)  # of the arguments that the function makes
    assert issued_operations(lambda: function(x)) == 1 + copies
    for values in (X, X * 50, X.astype("float64")):
        here, there = (function(np.array(values, device=device)).asnumpy() for device in (forerun.cpu(), gpus()[0]))
        numpy.testing.assert_allclose(there, here, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("view", ["whole", "rows", "columns"])
def test_results_and_gradients_of_views_are_the_cpus(name: str, view: str) -> None:
    found = []
    for device in (forerun.cpu(), gpus()[0]):
        whole = np.array(numpy.concatenate([X, X]) if view == "rows" else numpy.repeat(X, 2, 1), device=device)
        for _ in range(2):  # captured, and issued again
            x = {"whole": np.array(X, device=device), "rows": whole[6:], "columns": whole[:, ::2]}[view]
            x.attach_grad()
            with autograd.record():
                y = FUNCTIONS[name](x)
                loss = (y * y).sum()
            loss.backward()
            results = [y.asnumpy(), x.grad.asnumpy()]
        found.append(results)
    for here, there in zip(*found):
        numpy.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)


def test_statistics_of_a_batch_follow_in_training() -> None:
    found = []
    for device in (forerun.cpu(), gpus()[0]):
        arrays = [np.array(v, device=device) for v in (W, B, B * 0, W * 0 + 1)]
        with autograd.record():
            for _ in range(3):
                y = npx.batch_norm(np.array(X, device=device), *arrays)
        found.append([y.asnumpy(), arrays[2].asnumpy(), arrays[3].asnumpy()])
    for here, there in zip(*found):
        numpy.testing.assert_allclose(there, here, rtol=1e-5, atol=1e-6)


def test_an_index_out_of_range_raises_at_the_read() -> None:
    x = np.array(X, device=gpus()[0])
    for _ in range(2):
        y = npx.cross_entropy(x, numpy.array([0, 1, 2, 9, 4, 0]))
        with pytest.raises(IndexError):
            y.asnumpy()
    assert npx.cross_entropy(x, INDEX).shape == (6,)
