"""Scalars are arrays all the same: asynchronous, awaited, poisoned, on the tape, in blocks, on devices."""

from __future__ import annotations

import asyncio
import copy
import pickle
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np, npx
from forerun.gluon import nn
from tests.support.engine.settings import configured


def test_in_place_operators_on_the_tape_are_recorded() -> None:
    x = np.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        loss = x.sum()
        loss += (x * x).sum()
        loss *= x[1]
    loss.backward()
    assert x.grad.tolist() == [2 * (1 + 2), 2 * (1 + 4) + (3 + 5)]


def test_reading_an_element_does_not_wait(gate: None) -> None:
    x = np.arange(6).reshape(2, 3) + 1
    found = [x[0, 1], *x[0], *x.flat, x.sum(), x[1, 1] * 2]
    assert not any(s.ready for s in found)


def test_scalars_can_be_awaited() -> None:
    async def main() -> Any:
        return await (np.arange(4) + 1)[2]

    assert asyncio.run(main()) == 3


def test_gradients_come_through_elements() -> None:
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        first, *rest = x
        y = first * x[1] + sum(e * e for e in rest) + x.flat[2] + x.take(0)
    y.backward()
    assert x.grad.tolist() == [2 + 1, 1 + 2 * 2, 2 * 3 + 1]


def test_a_leaf_is_an_array() -> None:
    x = np.array([3.0, 4.0])
    w = x.sum()
    before, hashed = copy.copy(w), w.detach()
    w.attach_grad()
    with autograd.record():
        loss = w * w
    loss.backward()
    assert loss.asscalar() == 49
    w -= 0.5 * w.grad
    assert (w.item(), w.grad.item(), before.item(), hashed.item()) == (0, 14, 7, 7)


def test_gradients_of_gradients_are_written_to() -> None:
    x = np.array([3.0])[0] + 0
    x.attach_grad()
    for _ in range(2):
        with autograd.record():
            y = x * x * x
            (g,) = autograd.grad(y, [x], create_graph=True, retain_graph=True)
            z = g * g
        z.backward()
        assert x.grad.item() == 2 * 27 * 18
        x.zero_grad()
        assert x.grad.item() == 0


def test_results_of_recorded_blocks_are_scalars(engine: str) -> None:
    class Loss(nn.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x.sum(), x[0, 1], x[..., 0, 1].reshape(()), x.reshape(-1)

    net = Loss()
    net.hybridize()
    values = numpy.arange(2.0, 14.0).reshape(3, 4)
    for i in range(3):
        total, element, made, flat = net(np.array(values) + i)
        assert [_core.is_scalar(y) for y in (total, element, made, flat)] == [True, True, False, False]
        assert (total.item(), element.item()) == (values.sum() + 12 * i, 3 + i)


def test_blocks_know_scalars_from_arrays() -> None:
    class Same(nn.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x.reshape(1)

    net = Same()
    net.hybridize()
    made = np.array(5.0)
    net(made)
    s = np.array([5.0])[0]
    net(s)[...] = 1
    assert s.item() == 5


def test_a_poisoned_array_has_poisoned_elements(ahead: str) -> None:
    x = np.take(np.arange(3), np.array([1, 7]))
    for read in (lambda: x.wait(), lambda: hash(x[0]), lambda: next(x.flat).item()):
        with pytest.raises(IndexError, match="take: index must be in"):
            read()


def test_devices_are_kept() -> None:
    with configured(cpu_devices=2):
        x = np.array([1.0, 2.0], device=npx.cpu(1))
        assert x[1].device == x.sum().device == pickle.loads(pickle.dumps(x[1])).device == npx.cpu(1)
        assert _core.is_scalar(x[1].to_device(npx.cpu(0)))
