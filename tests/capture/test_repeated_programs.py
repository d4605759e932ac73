"""Programs repeat random numbers, tasks of the host and failures in each call; in threads and processes, too."""

from __future__ import annotations

import gc
import os
import threading
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import loss as losses
from forerun.gluon import nn
from forerun.testing import closed_gate
from tests.support.comparison.bits import all_same_bits
from tests.support.gluon.hybrid_blocks import X, mlp, newest_program, program_count

pytestmark = pytest.mark.usefixtures("engine")


def test_poisoned_inputs_and_failing_steps() -> None:
    layer = nn.Embedding(4, 2)
    layer.initialize()
    layer.hybridize()
    good = layer(np.array([1])).asnumpy()
    if forerun.config()["engine"] == "sync":
        with pytest.raises(IndexError, match="index must be in"):
            layer(np.array([9]))
    else:
        bad = layer(np.array([9]))
        after = layer(bad.astype("int64")[0])
        for poisoned in (bad, bad, after):
            with pytest.raises(IndexError, match="index must be in") as caught:
                poisoned.asnumpy()
            assert any("test_repeated_programs.py" in note for note in caught.value.__notes__)
    assert all_same_bits(layer(np.array([1])), good)


def test_random_numbers_are_those_of_eager_calls() -> None:
    class Noise(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            np.random.uniform(size=3)  # it is not used, but it is drawn
            return x + np.random.normal(size=3), np.random.randint(0, 100, size=3)

    def draws(hybrid: bool) -> list[Any]:
        npx.random.seed(11)
        block = Noise()
        block.hybridize(hybrid)
        found = [tuple(a.asnumpy() for a in block(np.zeros(3))) for _ in range(3)]
        return [found, np.random.normal(size=2).asnumpy()]

    eager = draws(False)
    assert all_same_bits(eager, draws(True))
    assert all_same_bits(eager, draws(True))
    assert not all_same_bits(eager[0][1], eager[0][2])


def test_numbers_drawn_on_the_host_are_drawn_anew() -> None:
    def draws(hybrid: bool) -> list[Any]:
        npx.random.seed(11)
        block = nn.HybridLambda(lambda x: x + np.random.permutation(6))
        block.hybridize(hybrid)
        return [block(np.zeros(6)).asnumpy() for _ in range(3)]

    assert all_same_bits(draws(False), draws(True))


def test_host_tasks_are_repeated() -> None:
    block = nn.HybridLambda(lambda x: np.sort(x) + np.linalg.inv(x))
    block.hybridize()
    for seed in range(3):
        x = numpy.random.default_rng(seed).normal(size=(3, 3)).astype("float32")
        assert all_same_bits(block(np.array(x)), (np.sort(np.array(x)) + np.linalg.inv(np.array(x))).asnumpy())
    assert program_count(block) == 1


def test_large_programs_are_issued_op_by_op() -> None:
    block = nn.HybridLambda(lambda x: np.tanh(x @ x) + x.sum(axis=0))
    block.hybridize()
    x = np.array(numpy.random.default_rng(7).normal(size=(400, 400)).astype("float32"))
    eager = (np.tanh(x @ x) + x.sum(axis=0)).asnumpy()
    assert all_same_bits(block(x), eager)
    assert all_same_bits(block(x), eager)
    assert not newest_program(block).whole


def test_two_devices(two_devices: list[forerun.Device]) -> None:
    net = mlp()
    net.initialize(device=two_devices)
    net.hybridize()
    for _ in range(3):
        a, b = (net(np.array(X, device=device)) for device in two_devices)
        assert (a.device, b.device) == tuple(two_devices)
        assert all_same_bits(a, b.asnumpy())


def test_concurrent_calls_do_not_mix() -> None:
    """All are issued before any runs; then as many as there are workers run at once."""
    net = mlp()
    net.initialize()
    net.hybridize()
    inputs = [np.full((4, 3), i / 10) for i in range(40)]
    net(inputs[0]), net(inputs[0])
    if forerun.config()["engine"] == "sync":
        results = [net(x) for x in inputs]
    else:
        with closed_gate():
            results = [net(x) for x in inputs]
    net.hybridize(False)
    assert all(all_same_bits(y, net(x).asnumpy()) for x, y in zip(inputs, results))


def test_several_threads() -> None:
    net = mlp(nn.BatchNorm())
    net.initialize()
    net(np.array(X))
    net.hybridize()
    expected = net(np.array(X)).asnumpy()
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(50):
            if not all_same_bits(net(np.array(X)), expected):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_capture_ignores_operations_of_other_threads() -> None:
    class Waits(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            y = x + 1
            thread = threading.Thread(target=lambda: (np.ones(3) * 7).wait_to_read())
            thread.start()
            thread.join()
            return y * 2

    block = Waits()
    block.hybridize()
    assert block(np.ones(2)).tolist() == block(np.ones(2)).tolist() == [4.0, 4.0]
    assert newest_program(block).steps == ("add", "multiply")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_programs_survive_a_fork() -> None:
    net = mlp()
    net.initialize()
    net.hybridize()
    x = np.array(X)
    expected = [net(x).asnumpy() for _ in range(3)][-1]
    child = os.fork()
    if child == 0:
        os._exit(0 if all_same_bits(net(x), expected) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert all_same_bits(net(x), expected)


def test_memory_stays_flat() -> None:
    net, loss = mlp(nn.Dropout(0.5)), losses.L2Loss()
    net.initialize()
    net.hybridize()
    loss.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    x, y = np.array(numpy.ones((64, 32), "float32")), np.ones((64, 2))

    def steps(n: int) -> int:
        for _ in range(n):
            with autograd.record():
                cost = loss(net(x), y)
            cost.backward()
            trainer.step(64)
        del cost
        npx.waitall()
        gc.collect()
        return int(forerun.memory()["live"])

    before = steps(20)
    assert steps(2000) == before
    assert len(trainer.optimizer._programs.cache) == 1


def test_programs_are_freed_with_their_block() -> None:
    before = _live()
    net = mlp()
    net.initialize()
    net.hybridize()
    for _ in range(3):
        with autograd.record():
            y = net(np.array(numpy.ones((64, 32), "float32")))
        y.backward()
    assert _live() > before
    del net, y
    assert _live() == before


def _live() -> int:
    npx.waitall()
    gc.collect()
    return int(forerun.memory()["live"])
