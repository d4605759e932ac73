"""Hybridized blocks whose parameters, parts, hooks or state change between calls."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import nn
from tests.support.comparison.bits import all_same_bits
from tests.support.gluon.hybrid_blocks import X, counting_block, mlp, program_count

pytestmark = pytest.mark.usefixtures("engine")


def test_parameters_may_be_replaced() -> None:
    net, x = mlp(), np.array(X)
    net.initialize()
    net.hybridize()

    def check() -> None:
        for _ in range(2):
            y = net(x.astype(net[0].weight.dtype))
            net.hybridize(False)
            assert all_same_bits(y, net(x.astype(net[0].weight.dtype)))
            net.hybridize()
            net(x.astype(net[0].weight.dtype))

    check()
    net[0].weight.set_data(np.ones((5, 3)))
    check()
    net.initialize(force_reinit=True)
    check()
    net.cast("float64")
    check()
    net[1].weight.reset_ctx(forerun.cpu(0))
    check()


def test_set_data_and_reinitialise_between_calls() -> None:
    net, x = nn.Dense(2, use_bias=False), np.ones((1, 3))
    net.initialize("ones")
    net.hybridize()
    assert [net(x).tolist() for _ in range(2)] == [[[3.0, 3.0]]] * 2
    net.weight.set_data(np.full((2, 3), 2.0))
    assert net(x).tolist() == [[6.0, 6.0]]
    net.weight.initialize("zeros", force_reinit=True)
    assert net(x).tolist() == [[0.0, 0.0]]
    net.cast("float64")
    assert all_same_bits(net(x.astype("float64")), numpy.zeros((1, 2)))


def test_blocks_may_be_changed() -> None:
    net, x = mlp(), np.array(X)
    net.initialize()
    net.hybridize()
    net(x)
    net(x)
    before = net(x).asnumpy()
    net.add(nn.HybridLambda(lambda y: y * 0))
    assert all_same_bits(net(x), before * 0)

    dropout = nn.Dropout(0.5)
    dropout.hybridize()
    with autograd.train_mode():
        assert (dropout(np.ones(1000)) == 0).any().item()
        dropout._rate = 0.0
        assert dropout(np.ones(1000)).min().item() == 1


@pytest.mark.parametrize("request_", ["write", "add", "null"])
def test_gradient_requests(request_: str) -> None:
    def grads(hybrid: bool) -> list[Any]:
        npx.random.seed(1)
        net = mlp()
        net.initialize()
        net(np.array(X))
        net.hybridize(hybrid)
        net[0].weight.grad_req = request_
        found = []
        for _ in range(3):
            with autograd.record():
                y = net(np.array(X))
            y.backward()
            found += [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
        net[0].weight.grad_req = "write"
        with autograd.record():
            y = net(np.array(X))
        y.backward()
        return [*found, net[0].weight.grad().asnumpy()]

    assert all_same_bits(grads(False), grads(True))


def test_closure_arrays_are_read_and_written_with_present_values() -> None:
    state, constant = np.zeros(2), np.array([1.0, 2.0])

    class Counts(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            fresh = np.array([5.0, 5.0])  # made by each call
            fresh += x
            state[:] = state + constant
            return state * 1 + fresh

    block = Counts()
    block.hybridize()
    for i in range(1, 4):
        assert block(np.zeros(2)).tolist() == [5.0 + i, 5.0 + 2 * i]
    constant[:] = 0.0
    assert block(np.ones(2)).tolist() == [9.0, 12.0]
    assert state.tolist() == [3.0, 6.0]


def test_a_host_state_that_is_fully_overwritten() -> None:
    state = np.array(numpy.zeros(2, "float32"))

    class Stores(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            state[:] = x
            return x + 1

    block = Stores()
    block.hybridize()
    for value in (1.0, 2.0, 3.0):
        block(np.full(2, value))
        assert state.tolist() == [value, value]


def test_hooks_run() -> None:
    seen: list[str] = []
    net = mlp()
    net.initialize()
    net.hybridize()
    net(np.array(X))
    outer = net.register_forward_hook(lambda *_: seen.append("after"))
    net.register_forward_pre_hook(lambda *_: seen.append("before"))
    for _ in range(2):
        net(np.array(X))
    assert seen == ["before", "after"] * 2
    assert program_count(net) == 1
    inner = net[0].register_forward_hook(lambda *_: seen.append("inside"))
    net(np.array(X))
    assert seen[-3:] == ["before", "inside", "after"]
    assert "hooks" in net.hybridized
    assert program_count(net[0]) == 1
    inner.detach()
    outer.detach()
    net(np.array(X))
    assert seen[-1] == "before"
    assert program_count(net) == 1


def test_the_outermost_block_records() -> None:
    net = nn.HybridSequential()
    net.add(mlp(), mlp())
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(np.array(X))  # the first call finishes the parameters, the second records
    assert program_count(net) == 1
    assert [program_count(block) for part in net for block in (part, *part)] == [0] * 6


def test_hybridize_may_be_switched_off() -> None:
    block, calls = counting_block()
    for active, total in [(True, 1), (False, 3), (True, 4)]:
        block.hybridize(active)
        block(np.ones(2))
        block(np.ones(2))
        assert len(calls) == total
    block.hybridize(False)
    assert block.hybridized == "not hybridized"


PARAMETER_CHANGES: dict[str, Any] = {
    "values": lambda p: p.set_data(np.array([3.0, 4.0])),
    "initialize": lambda p: p.initialize("zeros", force_reinit=True),
    "cast": lambda p: p.cast("float64"),
}


@pytest.mark.parametrize("read", [gluon.Parameter.data, lambda p: p.list_data()[0]])
@pytest.mark.parametrize("change", PARAMETER_CHANGES)
def test_changes_of_a_parameter_without_a_block_are_seen(change: str, read: Any) -> None:
    weight = gluon.Parameter("weight", shape=(2,), init="ones")
    weight.initialize()
    scaled = forerun.hybrid(lambda x: x * read(weight))
    for _ in range(3):
        scaled(np.ones(2))
    assert scaled.hybridized == "1 program: multiply"
    PARAMETER_CHANGES[change](weight)
    for _ in range(2):
        assert all_same_bits(scaled(np.ones(2)), weight.data())
    assert scaled.hybridized.startswith("1 program")


def test_a_parameter_without_a_block_may_lose_its_gradient() -> None:
    weight = gluon.Parameter("weight", shape=(2,), init="ones")
    weight.initialize()

    @forerun.hybrid
    def step(x: Any) -> Any:
        with autograd.record():
            loss = (x * weight.data()).sum()
        loss.backward()
        return weight.grad() * 2

    for _ in range(3):
        assert step(np.ones(2)).tolist() == [2.0, 2.0]
    weight.grad_req = "null"
    with pytest.raises(RuntimeError, match="head must have been computed under"):
        step(np.ones(2))
