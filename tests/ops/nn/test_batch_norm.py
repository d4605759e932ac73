"""Batch norm as one operation: gradients to second order, in hybridized blocks too, and its saved arrays."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np, npx
from forerun.testing import check_grads
from tests.support.gluon.gluon_samples import shifted_leaves

RNG = numpy.random.default_rng(7)


def normed(x: Any, gamma: Any, beta: Any, axis: int = 1, fix_gamma: bool = False) -> Any:
    """Of a batch that is trained on."""
    n = x.shape[axis]
    return npx.batch_norm(x, gamma, beta, np.zeros(n), np.ones(n), fix_gamma=fix_gamma, axis=axis)


@pytest.mark.parametrize(("shape", "axis"), [((4, 3, 5, 2), 1), ((5, 4), 1), ((2, 3, 4), -1), ((6, 2, 3), 0)])
@pytest.mark.parametrize("fix_gamma", [False, True])
def test_gradients(shape: tuple[int, ...], axis: int, fix_gamma: bool) -> None:
    x, gamma, beta = shifted_leaves(shape, (shape[axis],), (shape[axis],))
    with autograd.train_mode():
        if fix_gamma:
            check_grads(lambda x, beta: normed(x, gamma, beta, axis, True), x, beta)
        else:
            check_grads(lambda *args: normed(*args, axis), x, gamma, beta)


def test_gradients_of_gradients() -> None:
    x, gamma, beta = shifted_leaves((4, 2, 3), (2,), (2,))
    with autograd.train_mode():
        check_grads(normed, x, gamma, beta, order=2)


def test_batch_norm_saves_only_its_data() -> None:
    x = np.array(RNG.normal(size=(8, 4, 50, 50)))
    gamma, beta, mean, var = np.ones(4), np.zeros(4), np.zeros(4), np.ones(4)
    for leaf in (x, gamma, beta):
        leaf.attach_grad()
    npx.waitall()
    before = forerun.memory()["live"]
    with autograd.record():
        y = npx.batch_norm(x, gamma, beta, mean, var, fix_gamma=False)
    npx.waitall()
    assert forerun.memory()["live"] - before < 1.1 * y.nbytes
    y.backward()
