"""Blocks for tests of recorded calls, and the results of their training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from forerun import autograd, gluon, np, npx
from forerun.gluon import nn

RNG = numpy.random.default_rng(7)
X = RNG.normal(size=(4, 3)).astype("float32")
IMAGES = RNG.normal(size=(4, 3, 5)).astype("float32")


def mlp(*more: gluon.Block) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="tanh"), *more, nn.Dense(2))
    return net


def program_count(block: Any) -> int:
    return len(block._recorded.recorded.programs)


def newest_program(block: Any) -> Any:
    return next(iter(block._recorded.recorded.programs)).program


def trajectory(make: Callable[[], Any], hybrid: bool, x: Any, steps: int = 3) -> list[Any]:
    """Outputs, gradients, and parameters after some steps of training, and an output without training."""
    npx.random.seed(5)
    net = make()
    net.initialize()
    data = np.array(x)
    if data.dtype.kind == "f":
        data.attach_grad()
    net(data)
    net.hybridize(hybrid)
    found: list[Any] = []
    for _ in range(steps):
        with autograd.record():
            y = net(data)
        y.backward()
        found += [y.asnumpy(), data.grad.asnumpy() if data.grad is not None else 0]
        found += [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
        for p in net.collect_params().values():
            if p.grad_req != "null":
                p.set_data(p.data() - 0.1 * p.grad())
    found += [p.data().asnumpy() for p in net.collect_params().values()]
    return [*found, net(data).asnumpy(), net(data).asnumpy()]


def counting_block() -> tuple[gluon.HybridBlock, list[int]]:
    """A block that counts how often its `forward` runs."""
    calls: list[int] = []

    class Doubled(gluon.HybridBlock):
        def forward(self, x: Any, factor: Any = 2) -> Any:
            calls.append(1)
            return x * factor

    block = Doubled()
    block.hybridize()
    return block, calls
