"""Gradients and training on GPUs: the numbers of the CPU, on one device and on several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx, torch
from forerun.gluon import nn
from tests.support.comparison.tolerances import assert_close
from tests.support.device_plugins.devices import gpus

Devices = list[forerun.Device]


class TestGradients:
    def test_on_a_device(self) -> None:
        one = gpus()[0]
        x = np.arange(12.0, device=one).reshape(3, 4)
        w = np.ones(4, device=one)
        w.attach_grad()
        with autograd.record():
            loss = ((x @ w) ** 2).sum()
        loss.backward()
        assert w.grad.device == one
        assert_close(w.grad, [784, 916, 1048, 1180], 1e-4, 1e-6)

    def test_through_copies(self) -> None:
        one, two = gpus()
        w = np.arange(4.0, device=one)
        w.attach_grad()
        with autograd.record():
            loss = ((w * w).as_in_ctx(two) * 3).as_in_ctx(npx.cpu()).sum()
        loss.backward()
        assert w.grad.device == one
        assert_close(w.grad, [0, 6, 12, 18], 1e-4, 1e-6)

    def test_added_up(self) -> None:
        w = np.ones(3, device=gpus()[1])
        w.attach_grad("add")
        for _ in range(3):
            with autograd.record():
                loss = (w * 2).sum()
            loss.backward()
        assert_close(w.grad, [6, 6, 6], 1e-4, 1e-6)


def network_by_name(name: str) -> nn.HybridSequential:
    net = nn.HybridSequential()
    if name == "dense":
        net.add(nn.Dense(8, activation="relu"), nn.Dense(3))
    else:
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.MaxPool2D(2), nn.BatchNorm(), nn.Dropout(0.3), nn.Dense(3))
    return net


def batch_for(name: str) -> tuple[Any, Any]:
    numbers = numpy.random.default_rng(0)
    x = numbers.random((8, 6) if name == "dense" else (8, 1, 10, 10), "float32")
    return np.array(x), np.array(numbers.integers(0, 3, 8).astype("float32"))


def test_no_call_is_captured_before_hybridize() -> None:
    """A program would be compiled in the third iteration of a loop."""
    one = gpus()[0]
    net = network_by_name("dense")
    net.initialize(device=one)
    for _ in range(5):
        net(np.ones((2, 6), device=one))
    assert net.hybridized == "not hybridized; small calls automatically: 0 programs"


def trained(name: str, devices: Devices, optimizer: str, hybridized: bool, steps: int = 4, **how: Any) -> list[Any]:
    """Return the parameters after some steps, from the same start on each device."""
    npx.random.seed(1)
    np.random.seed(1)
    net = network_by_name(name)
    net.initialize(ctx=devices)
    if hybridized:
        net.hybridize()
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1}, **how)
    x, y = batch_for(name)
    xs, ys = gluon.utils.split_and_load(x, devices), gluon.utils.split_and_load(y, devices)
    for _ in range(steps):
        with autograd.record():
            losses = [loss(net(a), b) for a, b in zip(xs, ys)]
        for each in losses:
            each.backward()
        trainer.step(8)
    return [p.data(devices[0]).numpy() for p in net.collect_params().values()]


class TestTraining:
    @pytest.mark.parametrize("hybridized", [False, True])
    @pytest.mark.parametrize(("name", "optimizer"), [("dense", "sgd"), ("dense", "adam"), ("convolutions", "sgd")])
    def test_one_device(self, name: str, optimizer: str, hybridized: bool) -> None:
        one = gpus()[0]
        near_all(trained(name, [one], optimizer, hybridized), trained(name, [npx.cpu()], optimizer, hybridized))

    @pytest.mark.parametrize("how", [{}, {"update_on_kvstore": True}, {"kvstore": "local"}, {"kvstore": None}])
    def test_several_devices(self, how: dict[str, Any]) -> None:
        one, two = gpus()
        host = [npx.cpu(0), npx.cpu(1)]
        if how == {"kvstore": None}:
            how = {"kvstore": "device", "update_on_kvstore": False}
        here = trained("dense", host, "sgd", False, **how)
        for devices in ([one, two], [npx.cpu(0), two], [two, npx.cpu(1)]):
            near_all(trained("dense", devices, "sgd", False, **how), here)
        near_all(trained("dense", [one, two, npx.cpu(0), npx.cpu(1)], "sgd", True), here)

    def test_replicas_stay_equal(self) -> None:
        devices = [npx.cpu(0), *gpus()]
        w = gluon.Parameter("w", shape=(5, 3))
        w.initialize(ctx=devices)
        trainer = gluon.Trainer([w], "adam", {"learning_rate": 0.1})
        for step in range(3):
            for i, device in enumerate(devices):
                with autograd.record():
                    loss = (w.data(device) * (i + step)).sum()
                loss.backward()
            trainer.step(1)
        first, *others = [x.numpy() for x in w.list_data()]
        for other in others:
            numpy.testing.assert_array_equal(other, first)

    def test_torch(self) -> None:
        def weights(place: str) -> list[Any]:
            torch.manual_seed(0)
            net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1)).to(place)
            optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
            x: Any = torch.arange(20.0).reshape(5, 4).to(place)
            for _ in range(3):
                optimizer.zero_grad()
                (net(x) ** 2).mean().backward()
                optimizer.step()
            assert {str(p.device) for p in net.parameters()} == {"gpu(0)" if place == "cuda" else "cpu(0)"}
            return [p.detach().cpu().numpy() for p in net.parameters()]

        gpus()
        near_all(weights("cuda"), weights("cpu"))


def near_all(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert_close(a, b, 2e-3, 1e-6)


class TestParameters:
    def test_files(self, tmp_path: Path) -> None:
        one, two = gpus()
        net = nn.Dense(2, in_units=3)
        net.initialize(ctx=one)
        net.save_parameters(str(tmp_path / "net.params"))
        for there in (two, npx.cpu(0)):
            again = nn.Dense(2, in_units=3)
            again.load_parameters(str(tmp_path / "net.params"), ctx=there)
            assert again.weight.data().device == there
            assert_close(again.weight.data(), net.weight.data(), 0, 1e-6)

    def test_moved(self) -> None:
        one = gpus()[0]
        net = nn.Dense(2, in_units=3)
        net.initialize()
        before = net(np.ones((1, 3))).numpy()
        net.reset_ctx(one)
        y = net(np.ones((1, 3), device=one))
        assert y.device == one
        assert_close(y, before, 1e-4, 1e-6)


class TestPrograms:
    def test_captured_functions(self) -> None:
        one, two = gpus()

        @forerun.hybrid
        def program(x: Any) -> Any:
            y = x * 2 + 1
            y[0] = 0
            return (y * x).sum(axis=0)

        for device in (one, two, one):
            for i in range(4):
                x = numpy.arange(12.0, dtype="float32").reshape(3, 4) + i
                expected = x * 2 + 1
                expected[0] = 0
                y = program(np.array(x, device=device))
                assert y.device == device
                assert_close(y, (expected * x).sum(axis=0), 1e-4, 1e-6)
