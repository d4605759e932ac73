"""Training on several devices: sums while the backward pass goes on, the same bits everywhere, shares by speed."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx, profiler
from forerun.gluon import nn
from forerun.gluon._training.collectives import collective_scope, owners
from forerun.gluon._training.load_balancer import Shares
from forerun.gluon.utils import split_and_load
from forerun.testing import closed_gate
from tests.support.comparison.tolerances import assert_close
from tests.support.engine.settings import configured
from tests.support.engine.waiting import PATIENCE, wait_until_ready
from tests.support.gluon.gluon_samples import RNG

INPUTS = RNG.normal(size=(12, 6)).astype("float32")
TARGETS = RNG.normal(size=(12, 2)).astype("float32")


@pytest.fixture
def three_devices() -> Iterator[list[forerun.Device]]:
    with configured(cpu_devices=3):
        yield forerun.devices()


def network_on_devices(devices: Any, *layers: gluon.Block) -> nn.HybridSequential:
    npx.random.seed(3)
    net = nn.HybridSequential()
    net.add(*(layers or (nn.Dense(5, "tanh"), nn.Dense(3, "tanh"), nn.Dense(2))))
    net.initialize("xavier", ctx=devices)
    return net


def noise(device: forerun.Device, i: int) -> Any:
    """Work of another length each time, beside which the rest comes in another order."""
    x = np.ones((40 + 37 * (i % 5), 60), device=device)
    return [(x @ x.T).sum() for _ in range(i % 7)]


def train(devices: Any, optimizer: str = "sgd", steps: int = 4, hybrid: bool = False, seed: int = 0, **how: Any) -> Any:
    net, loss, others = network_on_devices(devices), gluon.loss.L2Loss(), []
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1, "wd": 0.01}, **how)
    for step in range(steps):
        parts = [split_and_load(np.array(values), devices, even_split=False) for values in (INPUTS, TARGETS)]
        others += [noise(device, seed + 3 * step + i) for i, device in enumerate(devices)] if seed else []
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts)]
        autograd.backward(losses)
        trainer.step(len(INPUTS))
    return net, trainer


def parameter_bits(net: Any, device: forerun.Device) -> list[bytes]:
    return [p.data(device).asnumpy().tobytes() for p in net.collect_params().values()]


# --- sums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{}, {"kvstore": "local"}, {"update_on_kvstore": False}], ids=str)
@pytest.mark.parametrize("optimizer", ["sgd", "nag", "adam"])
def test_devices_together_give_the_results_of_one(
    three_devices: list[forerun.Device], optimizer: str, how: Any
) -> None:
    one, _ = train(three_devices[:1], optimizer)
    for n, hybrid in ((2, False), (3, True)):
        net, _ = train(three_devices[:n], optimizer, hybrid=hybrid, **how)
        for p, q in zip(net.collect_params().values(), one.collect_params().values()):
            assert_close(p.data(), q.data().asnumpy(), 1e-5)
        assert all(parameter_bits(net, d) == parameter_bits(net, three_devices[0]) for d in three_devices[1:n])


@pytest.mark.parametrize("how", [{}, {"update_on_kvstore": False}], ids=str)
def test_bits_are_the_same_run_after_run(how: Any) -> None:
    found = set()
    for seed, workers in enumerate((None, 1, 4, 2, None, 1, 4, 3, 2, 1, 4, None), 1):
        with configured(cpu_devices=3, workers=workers):
            net, _ = train(forerun.devices(), "adam", hybrid=seed % 2 == 0, seed=seed, **how)
            found |= {tuple(parameter_bits(net, device)) for device in forerun.devices()}
    with configured(cpu_devices=3, engine="sync"):
        net, _ = train(forerun.devices(), "adam", **how)
        found |= {tuple(parameter_bits(net, device)) for device in forerun.devices()}
    assert len(found) == 1


def test_without_a_kvstore_devices_are_independent(two_devices: list[forerun.Device]) -> None:
    net, _ = train(two_devices, kvstore=None)
    first, second = (parameter_bits(net, device) for device in two_devices)
    assert first != second


def test_gradients_stay_separate_by_device_by_default(two_devices: list[forerun.Device]) -> None:
    for how, after in (({}, [1, 2]), ({"update_on_kvstore": False}, [3, 3])):
        p = gluon.Parameter("p", shape=(), init="zeros")
        p.initialize(ctx=two_devices)
        for g, value in zip(p.list_grad(), (1, 2)):
            g[...] = value
        gluon.Trainer([p], "sgd", {"learning_rate": 1.0}, **how).step(1)
        assert [g.item() for g in p.list_grad()] == after
        assert [x.item() for x in p.list_data()] == [-3, -3]


def test_stale_gradients_of_one_device_raise(two_devices: list[forerun.Device]) -> None:
    net, trainer = train(two_devices, steps=1)
    with autograd.record():
        y = net(np.array(INPUTS)).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=r"Trainer.step: gradients must be computed anew .*'0.weight'\]"):
        trainer.step(1)
    before = parameter_bits(net, two_devices[0])
    trainer.step(1, ignore_stale_grad=True)
    assert parameter_bits(net, two_devices[0]) == parameter_bits(net, two_devices[1]) == before


def test_sums_are_spread_over_devices_by_size(three_devices: list[forerun.Device]) -> None:
    def copies(*sizes: int) -> list[Any]:
        return [(i, [np.zeros(n, device=d) for d in three_devices]) for i, n in enumerate(sizes)]

    assert owners(copies(1, 50, 30, 20, 10), True) == {0: 1, 1: 0, 2: 1, 3: 2, 4: 2}
    assert owners(copies(1, 50, 30), False) == {0: 0, 1: 0, 2: 0}
    assert owners([(0, copies(1)[0][1][::-1]), (1, copies(1)[0][1][1:])], False) == {0: 2, 1: 0}
    assert owners(copies(7, 7, 7, 7), True) == {0: 0, 1: 1, 2: 2, 3: 0}


def where_states_are(trainer: gluon.Trainer) -> list[list[forerun.Device]]:
    return [[state["mean"].device for state in trainer._states[i]] for i in sorted(trainer._states)]


def test_one_device_of_each_parameter_has_the_optimizers_state(two_devices: list[forerun.Device]) -> None:
    a, b = two_devices
    _, trainer = train(two_devices, "adam")
    assert where_states_are(trainer) == [[a], [b], [b], [b], [b], [b]]
    _, trainer = train(two_devices, "adam", kvstore="local")
    assert where_states_are(trainer) == [[a]] * 6
    _, trainer = train(two_devices, "adam", update_on_kvstore=False)
    assert where_states_are(trainer) == [[a, b]] * 6


def test_states_go_from_two_devices_to_one(two_devices: list[forerun.Device], tmp_path: Path) -> None:
    net, trainer = train(two_devices, "adam", steps=3)
    trainer.save_states(tmp_path / "states")
    whole, _ = train(two_devices, "adam", steps=3)
    net.reset_ctx(two_devices[1])
    moved = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1, "wd": 0.01})
    moved.load_states(tmp_path / "states")
    for made in (trainer, moved):
        with autograd.record():
            y = net(np.array(INPUTS, device=two_devices[1])).sum()
        y.backward()
        before = {name: p.data().copy() for name, p in net.collect_params().items()}
        made.step(1)
        changed = {name: (p.data() - before[name]).asnumpy() for name, p in net.collect_params().items()}
        net.load_dict(before)
        if made is trainer:
            expected = changed
    for name, step in changed.items():
        assert_close(step, expected[name], 1e-5)
    del whole


@pytest.mark.parametrize("how", [{}, {"kvstore": "local"}, {"update_on_kvstore": False}], ids=str)
@pytest.mark.parametrize("n", [2, 3])
def test_devices_get_the_same_noise(three_devices: list[forerun.Device], n: int, how: Any) -> None:
    net, _ = train(three_devices[:n], "sgld", steps=2, **how)
    assert len({tuple(parameter_bits(net, device)) for device in three_devices[:n]}) == 1


def test_states_of_another_shape_are_refused_by_name(tmp_path: Path) -> None:
    net, trainer = train([forerun.cpu(0)], "adam", steps=1)
    trainer.save_states(tmp_path / "states")
    with np.load(tmp_path / "states") as found:
        values = {name: x.asnumpy() for name, x in found.items()}
    values["2.mean"] = numpy.zeros(7)
    npx.save(tmp_path / "states", values)
    before = trainer._states[0][0]["mean"].tolist()
    with pytest.raises(ValueError, match=r"load_states: mean of 1.weight must be of \(3, 5\), got float64 of \(7,\)"):
        trainer.load_states(tmp_path / "states")
    assert trainer._states[0][0]["mean"].tolist() == before
    del net


def test_trainer_refuses_unsupported_arguments() -> None:
    with pytest.raises(NotImplementedError, match=r"Trainer: compression_params must be None, got .*2bit"):
        gluon.Trainer([], "sgd", compression_params={"type": "2bit"})
    with pytest.raises(ValueError, match="Trainer: there must be a kvstore for update_on_kvstore, got None"):
        gluon.Trainer([], "sgd", kvstore=None, update_on_kvstore=True)


# --- while the backward pass goes on ---------------------------------------------------------------------------------


class HeldGradient(autograd.Function):
    """The identity, whose gradient waits until it is let through; it holds no worker meanwhile."""

    def __init__(self, go: threading.Event) -> None:
        self.go = go

    def forward(self, x: Any) -> Any:
        return x + 0

    def backward(self, g: Any) -> Any:
        task = lambda v: (self.go.wait(PATIENCE), v)[1]
        return npx.host(task, [g], [(g.shape, g.dtype)], device=g.device, queue="io")[0]


class HeldBlock(gluon.Block):
    def __init__(self, go: threading.Event) -> None:
        super().__init__()
        self.go = go

    def forward(self, x: Any) -> Any:
        return HeldGradient(self.go)(x) if autograd.is_recording() else x


class Halves:
    """A net whose backward passes stop between the last layer and the others, on each device, until `go`."""

    def __init__(self, devices: list[forerun.Device]) -> None:
        wide = 600  # updates that take long enough not to be one operation
        self.go, self.x, self.devices = threading.Event(), np.ones((4, wide)), devices
        self.net = network_on_devices(devices, nn.Dense(wide), nn.Dense(wide), HeldBlock(self.go), nn.Dense(wide))
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.1})
        self.go.set()
        for _ in range(2):
            self.backward()
            self.trainer.step(4)
        forerun.waitall()
        self.go.clear()
        self.first, self.second, _, self.last = self.net

    def backward(self) -> None:
        with autograd.record():
            losses = [self.net(x).sum() for x in split_and_load(self.x, self.devices)]
        autograd.backward(losses)


@pytest.mark.parametrize("workers", [1, 4])
def test_the_last_layer_is_updated_while_the_first_awaits_its_gradient(workers: int) -> None:
    with configured(cpu_devices=2, workers=workers):
        step = Halves(forerun.devices())
        step.backward()
        step.trainer.step(4)
        try:
            wait_until_ready([*step.last.weight.list_data(), *step.last.bias.list_data()])
            assert not any(g.ready for layer in (step.first, step.second) for g in layer.weight.list_grad())
        finally:
            step.go.set()
        forerun.waitall()


def test_sums_go_before_older_operations_that_are_ready() -> None:
    """One worker, and all is issued when it begins: it takes operations of a collective as soon as they are ready."""
    with configured(workers=1):
        x = np.ones((300, 300))
        forerun.waitall()
        with profiler.record() as p:
            with closed_gate():
                chain = [x @ x]
                for _ in range(8):
                    chain.append(chain[-1] @ x)
                with collective_scope():
                    total = chain[1] @ chain[0]
            wait_until_ready([chain[-1], total])
        ran = [e.seq for e in sorted(p.trace.ops, key=lambda e: e.started)]
        assert ran.index(max(ran)) == 2  # behind the two that it needs


def test_the_sum_of_the_last_layer_goes_before_the_rest_of_the_backward_pass() -> None:
    """The devices, of one worker each, may begin when the sums are ready, and older operations of the backward pass."""
    with configured(cpu_devices=2, workers=1):
        step = Halves(forerun.devices())
        with profiler.record() as p:
            step.backward()
            wait_until_ready(step.last.weight.list_grad())
            with closed_gate():
                step.go.set()
                opened = time.perf_counter()
                step.trainer.step(4)
            wait_until_ready([x for layer in (step.first, step.second) for x in layer.weight.list_data()])
        owner = step.trainer._owners[4]
        later = [e for e in p.trace.ops if e.started > opened and (e.device, e.queue) == (owner, "compute")]
        products = [e.started for e in later if e.issued < opened and "matmul" in e.name]  # of the backward pass
        sums = [e.started for e in later if e.issued > opened and "add" in e.name]
        assert len(products) >= 2
        assert min(sums) < min(products)


def test_operations_between_devices_are_for_exchanges_only(two_devices: list[forerun.Device]) -> None:
    a, b = (np.full((3,), i + 1.0, device=d) for i, d in enumerate(two_devices))
    with collective_scope():
        assert ((a + b).device, (b + a).device) == (a.device, b.device)
        assert (a + b).tolist() == [3, 3, 3]
    with pytest.raises(ValueError, match=r"add: arrays must be on one device, got cpu\(0\) and cpu\(1\)"):
        a + b


# --- state of each device --------------------------------------------------------------------------------------------


def test_running_statistics_are_the_devices_own_and_files_get_their_mean(
    two_devices: list[forerun.Device], tmp_path: Path
) -> None:
    layer = nn.BatchNorm(in_channels=1, momentum=0.0)
    layer.initialize(ctx=two_devices)
    with autograd.record():
        for part in split_and_load(np.array([[1.0], [1.0], [5.0], [5.0]]), two_devices):
            layer(part)
    assert [x.item() for x in layer.running_mean.list_data()] == [1, 5]
    layer.save_parameters(tmp_path / "x")
    layer.load_parameters(tmp_path / "x")
    assert [x.item() for x in layer.running_mean.list_data()] == [3, 3]


def test_the_mean_of_equal_values_is_the_value(three_devices: list[forerun.Device]) -> None:
    values = numpy.array([0.1, 1e38, numpy.inf, -numpy.inf, 3.3], "float32")
    p = gluon.Constant(values)
    p.initialize(ctx=three_devices)
    assert p.mean_data().asnumpy().tobytes() == values.tobytes()
    number = gluon.Constant(np.array([1, 2], dtype="int64"))
    number.initialize(ctx=three_devices)
    assert number.mean_data().tolist() == [1, 2]


# --- shares ----------------------------------------------------------------------------------------------------------


def shares_for_speeds(devices: list[forerun.Device], *speeds: float) -> Shares:
    """Shares with times as they would be on devices of these speeds, in examples a second."""
    times: dict[Any, float] = {}

    def clock(arrays: list[Any]) -> Any:
        device = arrays[0].device
        k = devices.index(device)
        begun = times.pop(device, None)
        if begun is None:
            times[device] = 1.0
            return np.array(1.0, dtype="float64")
        return np.array(1.0 + shares.sizes(100)[k] / speeds[k], dtype="float64")

    shares = Shares(devices, clock)
    return shares


def test_shares_follow_the_speed(two_devices: list[forerun.Device]) -> None:
    shares = shares_for_speeds(two_devices, 30, 10)
    x = [np.ones(1, device=d) for d in two_devices]
    assert shares.sizes(100) == [50, 50]
    for _ in range(3):
        shares.begun(x)
        forerun.waitall()
        shares.ended(x)
        forerun.waitall()
    shares.begun(x)
    assert (shares.sizes(100), shares.sizes(2), shares.fractions) == ([75, 25], [1, 1], pytest.approx([0.75, 0.25]))
    assert shares.weights == [0.5, 0.5]


def test_shares_stay_for_small_differences(two_devices: list[forerun.Device]) -> None:
    shares = shares_for_speeds(two_devices, 10.2, 10)
    x = [np.ones(1, device=d) for d in two_devices]
    for _ in range(4):
        shares.sizes(100)
        shares.begun(x)
        shares.ended(x)
        forerun.waitall()
    assert shares.fractions == [0.5, 0.5]


def test_a_slow_device_gets_less(two_devices: list[forerun.Device]) -> None:
    shares = Shares(two_devices)
    net, loss = network_on_devices(shares, nn.Dense(2, in_units=6)), gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}, shares=shares)
    never = threading.Event()

    def slowed(x: Any) -> Any:
        if x.device == two_devices[0]:
            return x
        (y,) = npx.host(lambda v: (never.wait(0.02 * len(v)), v)[1], [x], [(x.shape, x.dtype)])
        return y

    for _ in range(5):
        xs, ys = (split_and_load(np.array(values), shares) for values in (INPUTS, TARGETS))
        with autograd.record():
            losses = [loss(net(slowed(x)), y) for x, y in zip(xs, ys)]
        autograd.backward(losses)
        trainer.step(len(INPUTS))
        forerun.waitall()
    assert sum(shares.sizes(12)) == 12
    assert shares.sizes(12)[0] > shares.sizes(12)[1] >= 1


def test_unequal_shares_give_the_gradient_of_the_whole(two_devices: list[forerun.Device]) -> None:
    shares = Shares(two_devices)
    shares._fractions = [0.7, 0.3]
    for mean in (False, True):
        net, one = (network_on_devices(d, nn.Dense(2, in_units=6)) for d in (shares, two_devices[:1]))
        one.load_dict({name: p.data() for name, p in net.collect_params().items()})
        xs, ys = (split_and_load(np.array(values), shares) for values in (INPUTS, TARGETS))
        assert [len(x) for x in xs] == [8, 4]
        reduced = np.mean if mean else np.sum
        with autograd.record():
            losses = [reduced((net(x) - y) ** 2) for x, y in zip(xs, ys)]
            if mean:
                losses = [part * weight for part, weight in zip(losses, shares.weights)]
            whole = reduced((one(np.array(INPUTS)) - np.array(TARGETS)) ** 2)
        autograd.backward([*losses, whole])
        gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1}).step(1)
        gluon.Trainer(one.collect_params(), "sgd", {"learning_rate": 0.1}).step(1)
        assert_close(net[0].weight.data(), one[0].weight.data().asnumpy(), 1e-5)


def test_measuring_does_not_wait(two_devices: list[forerun.Device], gate: None) -> None:
    shares = Shares(two_devices)
    net = network_on_devices(shares, nn.Dense(2, in_units=6))
    trainer = gluon.Trainer(net.collect_params(), "sgd", shares=shares)
    for _ in range(3):
        with autograd.record():
            losses = [net(x).sum() for x in split_and_load(np.array(INPUTS), shares)]
        autograd.backward(losses)
        trainer.step(12)
    assert not net[0].weight.data().ready
    _core.gate(False)


def test_a_failed_step_raises_at_the_read_and_is_not_measured(two_devices: list[forerun.Device]) -> None:
    shares = Shares(two_devices)
    net = network_on_devices(shares, nn.Dense(2, in_units=6))
    trainer = gluon.Trainer(net.collect_params(), "sgd", shares=shares)
    for _ in range(4):
        parts = split_and_load(np.array(INPUTS), shares)
        with autograd.record():
            losses = [net(x)[np.array([77], device=x.device)].sum() for x in parts]
        autograd.backward(losses)
        trainer.step(12)
        with pytest.raises((IndexError, ExceptionGroup)):
            forerun.waitall()
    assert shares.fractions == [0.5, 0.5]
    with pytest.raises(IndexError, match=r"index must be in .* got 77"):
        net[0].weight.data().tolist()


def test_errors_of_shares(two_devices: list[forerun.Device]) -> None:
    with pytest.raises(ValueError, match=r"LoadBalancer: devices must be given, each once, got \[\]"):
        Shares([])
    with pytest.raises(ValueError, match="LoadBalancer: examples must be at least one for each of 2 devices, got 1"):
        Shares(two_devices).sizes(1)
