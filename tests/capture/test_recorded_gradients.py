"""Gradients of recorded calls: of some results, of gradients, of values that were overwritten, of other leaves."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from tests.support.comparison.bits import all_same_bits
from tests.support.gluon.hybrid_blocks import X, mlp

pytestmark = pytest.mark.usefixtures("engine")


class Three(gluon.HybridBlock):
    """Several results, one of them not differentiable, one an argument as it is."""

    def __init__(self) -> None:
        super().__init__()
        self.w = gluon.Parameter("w", shape=(3,), init="ones")

    def forward(self, x: Any) -> Any:
        h = x * self.w.data()
        return np.log(h), h * h, h.argmax(axis=1), x


@pytest.mark.parametrize("heads", [(0,), (1,), (0, 1), (1, 3), (3,)])
def test_gradients_of_some_of_several_results(heads: tuple[int, ...]) -> None:
    def grads(hybrid: bool) -> list[Any]:
        net, found = Three(), []
        net.initialize()
        net.hybridize(hybrid)
        for start in (1.0, 0.0, 0.0):  # log(0) has no good gradient: it must not reach other inputs
            x = np.array([[start, 2.0, 3.0]])
            x.attach_grad()
            with autograd.record():
                results = net(x)
            autograd.backward([results[i] for i in heads])
            found += [x.grad.asnumpy(), net.w.grad().asnumpy()]
        return found

    with numpy.errstate(divide="ignore", invalid="ignore"):
        assert all_same_bits(grads(False), grads(True))


def test_head_gradients_and_a_kept_graph() -> None:
    net = mlp()
    net.initialize()
    net.hybridize()
    x = np.array(X)
    for _ in range(3):
        with autograd.record():
            y = net(x)
        y.backward(np.full((4, 2), 2.0), retain_graph=True)
        twice = net[0].weight.grad().asnumpy()
        y.backward()
        assert all_same_bits(twice, 2 * net[0].weight.grad().asnumpy())
        with pytest.raises(RuntimeError, match="must not have been freed"):
            y.backward()


def test_gradients_of_gradients() -> None:
    class Cube(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x * x * x

    cube = Cube()
    cube.hybridize()
    for value in (2.0, 3.0, 4.0):
        x = np.array([value])
        x.attach_grad()
        with autograd.record():
            slope = autograd.grad(cube(x), x, create_graph=True)
            (cube(x) + slope).backward()
        assert slope.item() == 3 * value**2
        assert x.grad.item() == 3 * value**2 + 6 * value


def test_grad_with_regard_to_intermediate_arrays() -> None:
    net = mlp()
    net.initialize()
    net.hybridize()
    for _ in range(3):
        x = np.array(X)
        x.attach_grad()
        with autograd.record():
            h = x * 2
            y = net(h).sum()
        dh, dw = autograd.grad(y, [h, net[0].weight.data()], retain_graph=True)
        y.backward()
        assert all_same_bits(x.grad, (2 * dh).asnumpy())
        assert all_same_bits(dw, net[0].weight.grad().asnumpy())


def test_overwritten_values_are_noticed() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    net.hybridize()
    x = np.array(X)
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = net(x)
        net.bias.data()[:] = 1.0  # its value is not needed
        y.backward()
        with autograd.record():
            y = net(x)
        net.weight.data()[:] = 1.0
        with pytest.raises(RuntimeError, match="must not be overwritten"):
            y.backward()


def test_values_that_the_function_itself_overwrites_are_noticed() -> None:
    def poisoned(x: Any) -> Any:
        h = np.exp(x)
        y = h * 2
        with autograd.pause():
            h[:] = 0.0
        return y

    block = nn.HybridLambda(poisoned)
    block.hybridize()
    x = np.array([1.0])
    x.attach_grad()
    for _ in range(3):
        with autograd.record():
            y = block(x)
        with pytest.raises(RuntimeError, match="must not be overwritten"):
            y.backward()


def test_one_network_on_two_inputs() -> None:
    """Both calls contribute to the same gradients."""

    def grads(hybrid: bool) -> list[Any]:
        npx.random.seed(3)
        net, found = mlp(), []
        net.initialize()
        net(np.array(X))
        net.hybridize(hybrid)
        for _ in range(3):
            with autograd.record():
                y = net(np.array(X)) * net(np.array(X[::-1].copy()))
            y.backward()
            found += [p.grad().asnumpy() for p in net.collect_params().values()]
        return found

    assert all_same_bits(grads(False), grads(True))


def test_leaves_that_are_neither_arguments_nor_parameters() -> None:
    scale = np.array([2.0])
    scale.attach_grad()

    class Scaled(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x * scale

    block = Scaled()
    block.hybridize()
    for value in (3.0, 4.0):
        block(np.array([value]))  # a program without gradients
        with autograd.record():
            y = block(np.array([value]))
        y.backward()
        assert (y.item(), scale.grad.item()) == (2 * value, value)
    scale[:] = 5.0
    assert block(np.array([1.0])).item() == 5
