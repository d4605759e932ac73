"""CPU devices that no setting has made: there at first use, with queues of their own; they share cores and memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx, profiler
from forerun.gluon import nn
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.settings import ENGINES, configured
from tests.support.engine.threads import run_in_threads
from tests.support.processes.subprocesses import PATIENCE

HERE, THERE = forerun.cpu(0), forerun.cpu(1)
MB = 1 << 20


@pytest.fixture(params=ENGINES)
def one(request: pytest.FixtureRequest) -> Iterator[str]:
    """One device over which the cores are split, in each mode of the engine."""
    with configured(**ENGINES[request.param], cpu_devices=1):
        yield request.param


@pytest.fixture(params=[mode for mode in ENGINES if mode != "sync"])
def ahead(request: pytest.FixtureRequest) -> Iterator[str]:
    """The same in the modes in which the front end runs ahead."""
    with configured(**ENGINES[request.param], cpu_devices=1):
        yield request.param


def train_on(devices: list[forerun.Device]) -> list[Any]:
    """Return a network's parameters after steps of training on several devices, as programs for several GPUs do it."""
    npx.random.seed(3)
    net = nn.HybridSequential()
    net.add(nn.Dense(8, activation="tanh"), nn.BatchNorm(), nn.Dense(2))
    net.initialize(ctx=devices)
    net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    data, labels = np.random.normal(size=(16, 4)), np.random.randint(0, 2, size=16)
    for _ in range(4):
        parts = [gluon.utils.split_and_load(all_, devices) for all_ in (data, labels)]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts)]
        autograd.backward(losses)
        trainer.step(16)
        assert [each.device for each in losses] == devices
    return [p.data(d).tolist() for p in net.collect_params().values() for d in devices]


def test_programs_for_several_devices_run_as_they_are(one: str) -> None:
    found = train_on([HERE, THERE])
    assert forerun.devices() == [HERE]  # over which the cores are split
    with configured(cpu_devices=2):
        assert train_on([HERE, THERE]) == found


@pytest.mark.parametrize("place", [forerun.cpu(5), "cpu:5", forerun.Device("cpu", 5), npx.cpu(5)])
def test_arrays_of_any_device(one: str, place: Any) -> None:
    device = forerun.cpu(5)
    x = np.ones((2, 3), device=place)
    assert x.device == (x + 1).device == np.random.normal(size=2, ctx=place).device == device
    assert repr(device) == "cpu(5)"
    assert hash(device) == hash(x.device)
    assert (x @ x.T).tolist() == [[3, 3], [3, 3]]
    assert repr(np.zeros(1, device=place)) == "array([0.], device=cpu(5))"
    with forerun.cpu(4):
        assert np.zeros(2).device == forerun.current_device() == forerun.cpu(4)
    y = x.as_in_ctx(HERE)
    y += x.copyto(HERE)
    assert x.copyto(y) is y
    assert y.tolist() == [[1, 1, 1]] * 2
    with pytest.raises(ValueError, match=r"add: arrays must be on one device, got cpu\(5\) and cpu\(0\)"):
        x + y
    assert forerun.memory(device)["limit"] == forerun.memory(HERE)["limit"]


@pytest.mark.parametrize("device", [forerun.cpu(64), forerun.cpu(-1), forerun.gpu(1), "cpu:64", "cpu:1000000000000"])
def test_invalid_devices_raise(one: str, device: Any) -> None:
    for use in (lambda: np.ones(2, device=device), lambda: np.ones(2).as_in_ctx(device), lambda: train_on([device])):
        with pytest.raises(ValueError, match=r"device: must be one of cpu\(0\) to cpu\(63\), got "):
            use()


def test_more_than_64_where_the_cores_are_split_over_more() -> None:
    with configured(engine="sync", cpu_devices=70):
        assert np.ones(1, device=forerun.cpu(69)).device == forerun.cpu(69)
        with pytest.raises(ValueError, match=r"device: must be one of cpu\(0\) to cpu\(69\), got cpu\(70\)"):
            np.ones(1, device=forerun.cpu(70))


def test_making_a_device_does_not_wait(ahead: str) -> None:
    x = np.ones(1000) + 1
    x.wait()
    with closed_gate():  # nothing runs
        y = x * 2
        z = y.copyto(forerun.cpu(9)) + 1
        assert not y.ready
    assert z.sum().item() == 5000


def test_a_task_may_make_a_device(one: str) -> None:
    def task() -> Any:
        x = np.ones(3, device=forerun.cpu(11)) * 2
        return x.sum().item()

    assert host(task, [], [((), "float64")])[0].item() == 6.0


def test_queues_of_its_own(ahead: str) -> None:
    """While tasks hold all workers of a device, another one computes, and copies go on."""
    go = threading.Event()
    count = forerun.config()["workers"]
    held = [host(lambda: (go.wait(PATIENCE), 1)[1], [], [((), "int64")], device=HERE)[0] for _ in range(count)]
    try:
        x = np.arange(1000, device=THERE) * 2
        back = (x.copyto(forerun.cpu(2)) + 1).copyto(THERE)
        (x + back).wait()
        assert not any(task.ready for task in held)
    finally:
        go.set()
    assert back[-1].item() == 1999
    assert sum(task.item() for task in held) == count


def test_recordings_name_the_device(ahead: str) -> None:
    with profiler.record() as p:
        np.ones(100, device=forerun.cpu(13)).wait()
    assert {op.device for op in p.trace.ops} == {13}
    assert p.trace.device_name(13) == "cpu(13)"


def test_the_devices_share_the_memory() -> None:
    with configured(engine="async", workers=2, cpu_devices=1, memory_limit=16 * MB, memory_budget=16 * MB):
        x = np.ones(3 * MB, device=HERE)  # 12 MiB
        x.wait()
        y = np.ones(2 * MB, device=THERE)
        with pytest.raises(MemoryError, match=rf"asked for {8 * MB} bytes with \d+ live and a limit of {16 * MB}"):
            y.wait()
        del x, y
        y = np.ones(3 * MB, device=THERE)
        assert y[-1].item() == 1
        x = np.ones(2 * MB, device=HERE)
        with pytest.raises(MemoryError, match="arrays must fit into the limit"):
            x.wait()
        del y
        assert np.ones(2 * MB, device=HERE)[0].item() == 1


def test_work_on_another_device_gives_memory_back() -> None:
    """An operation that does not fit yet waits for older work on other devices."""
    with configured(engine="async", workers=2, cpu_devices=1, memory_limit=16 * MB, memory_budget=16 * MB):
        total = np.zeros((), device=THERE)
        for _ in range(6):
            total += np.full(3 * MB, 1.0, device=HERE).sum().copyto(THERE) / (3 * MB)
            total += np.full(2 * MB, 1.0, device=THERE).sum() / (2 * MB)
        assert total.item() == 12.0


def test_settings_change_in_between(one: str) -> None:
    x = np.ones(3, device=forerun.cpu(6))
    for change in ({"ops_ahead": 1 << 18}, {"cpu_devices": 3}, {"cpu_devices": 7}, {"cpu_devices": 1}, {"workers": 2}):
        forerun.configure(**change)
        x = x + np.ones(3, device=forerun.cpu(6))
        assert (x.copyto(forerun.cpu(8)) * 1).device == forerun.cpu(8)
    assert x.tolist() == [6, 6, 6]


def test_first_uses_in_several_threads(one: str) -> None:
    def work(i: int) -> float:
        x = np.ones(100, device=HERE)
        for k in range(5):
            x = x.copyto(forerun.cpu(20 + (i + k) % 8)) + 1
        return float(x.sum().item())

    for _ in range(5):
        assert run_in_threads(8, work) == [600.0] * 8
        forerun.configure()  # they are to be used again


def test_first_uses_while_the_workers_end(ahead: str) -> None:
    """A device may be made while the engine is drained."""
    stop = threading.Event()

    def work(i: int) -> float:
        if i == 0:
            for _ in range(15):
                _core.quiesce()
            stop.set()
            return 0.0
        n = 0
        while not stop.is_set():
            n = (n + 1) % 40
            assert (np.ones(10, device=forerun.cpu(n + 1)) + n).sum().item() == 10 + 10 * n
        return 1.0

    assert run_in_threads(3, work) == [0.0, 1.0, 1.0]
