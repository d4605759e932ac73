"""Training on one device and on two, calls that must not wait, and data."""

from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np
from forerun.gluon import nn
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import RNG

INPUTS = RNG.normal(size=(8, 3)).astype("float32")
TARGETS = (INPUTS @ [[1.0], [-2.0], [0.5]] + 3).astype("float32")


def train_dense(devices: list[forerun.Device], steps: int, optimizer: str, **settings: Any) -> tuple[Any, Any]:
    net, loss = nn.Dense(1, weight_initializer="ones"), gluon.loss.L2Loss()
    net.initialize(ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
    for _ in range(steps):
        parts = [gluon.utils.split_and_load(values, devices) for values in (INPUTS, TARGETS)]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts)]
        autograd.backward(losses)
        trainer.step(len(INPUTS))
    return net, trainer


def descent(steps: int, lr: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    w, b = numpy.ones((1, 3)), numpy.zeros(1)
    for _ in range(steps):
        error = INPUTS @ w.T + b - TARGETS
        w, b = w - lr * (error.T @ INPUTS) / 8, b - lr * error.mean(0)
    return w, b


def test_training_is_gradient_descent() -> None:
    net, _ = train_dense([forerun.current_device()], 5, "sgd", learning_rate=0.2)
    w, b = descent(5, 0.2)
    assert_close(net.weight.data(), w, 1e-5)
    assert_close(net.bias.data(), b, 1e-5)


def test_training_on_two_devices_is_training_on_one(two_devices: list[forerun.Device]) -> None:
    net, _ = train_dense(two_devices, 5, "sgd", learning_rate=0.2)
    w, b = descent(5, 0.2)
    for weight, bias in zip(net.weight.list_data(), net.bias.list_data()):
        assert_close(weight, w, 1e-5)
        assert_close(bias, b, 1e-5)
    assert (net.weight.list_data()[0].asnumpy() == net.weight.list_data()[1].asnumpy()).all()


def test_training_on_two_devices_does_not_wait(two_devices: list[forerun.Device], gate: None) -> None:
    net, _ = train_dense(two_devices, 3, "adam", learning_rate=0.1, wd=0.1)
    norm = gluon.utils.clip_global_norm(net.weight.list_grad(), 1.0)
    assert not any(x.ready for x in (*net.weight.list_data(), norm))
    _core.gate(False)
    assert numpy.isfinite(net.weight.data().asnumpy()).all()


def test_training_does_not_wait(gate: None) -> None:
    net = nn.HybridSequential()
    for rule in ("xavier", "orthogonal", "truncnorm"):
        net.add(nn.Dense(8, "relu", weight_initializer=rule), nn.BatchNorm(), nn.LayerNorm(), nn.Dropout(0.5))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"wd": 0.1, "clip_gradient": 1.0})
    data = gluon.data.ArrayDataset(np.ones((8, 3)), np.zeros(8, dtype="int32"))
    for x, y in gluon.data.DataLoader(data, 4, shuffle=True):
        with autograd.record():
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward()
        trainer.step(4)
    assert not loss.ready
    _core.gate(False)
    assert numpy.isfinite(loss.asnumpy()).all()


def test_stale_gradients_raise() -> None:
    net, trainer = train_dense([forerun.current_device()], 1, "sgd", learning_rate=0.2)
    with pytest.raises(RuntimeError, match=r"Trainer.step: gradients must be computed anew .* \['bias', 'weight'\]"):
        trainer.step(8)
    before = net.weight.data().asnumpy().copy()
    trainer.step(8, ignore_stale_grad=True)
    assert_close(net.weight.data(), before)


def test_stale_gradients_raise_after_a_change_of_other_parameters() -> None:
    net, trainer = train_dense([forerun.current_device()], 1, "sgd", learning_rate=0.2)
    net.bias.grad_req = "null"
    with pytest.raises(RuntimeError, match=r"got old ones for \['weight'\]"):
        trainer.step(8)


def test_a_gradient_on_one_device_is_kept_until_the_others_are_written(two_devices: list[forerun.Device]) -> None:
    p = gluon.Parameter("p", shape=2, init="zeros")
    p.initialize(ctx=two_devices)
    trainer = gluon.Trainer([p], "sgd", {"learning_rate": 1.0})
    first, second = p.list_grad()
    first[...], second[...] = 1.0, 2.0
    trainer.step(1)
    first[...] = 4.0
    trainer.step(1, ignore_stale_grad=True)  # without the second one, nothing is done
    assert p.data().tolist() == [-3.0, -3.0]
    second[...] = 5.0
    trainer.step(1)
    for x in p.list_data():
        assert x.tolist() == [-12.0, -12.0]


def test_sums_can_be_changed_before_the_update(two_devices: list[forerun.Device]) -> None:
    p = gluon.Parameter("p", shape=2, init="zeros")
    p.initialize(ctx=two_devices)
    trainer = gluon.Trainer([p], "sgd", {"learning_rate": 1.0})
    for g, value in zip(p.list_grad(), (1.0, 2.0)):
        g[...] = value
    trainer.allreduce_grads()
    for g in p.list_grad():
        g *= 10
    trainer.update(2)
    for x in p.list_data():
        assert x.tolist() == [-15, -15]


def test_states_survive_a_file(tmp_path: Path) -> None:
    whole, _ = train_dense([forerun.current_device()], 6, "adam", learning_rate=0.1)
    net, trainer = train_dense([forerun.current_device()], 3, "adam", learning_rate=0.1)
    trainer.save_states(tmp_path / "states")
    again = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    again.load_states(tmp_path / "states")
    assert again.optimizer.num_update == 3
    for _ in range(3):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(np.array(INPUTS)), np.array(TARGETS))
        loss.backward()
        again.step(8)
    assert_close(net.weight.data(), whole.weight.data().asnumpy())
    with pytest.raises(ValueError, match=r"load_states: file must have \['t'\], got \['mean', 't', 'variance'\]"):
        gluon.Trainer(net.collect_params(), "sgd").load_states(tmp_path / "states")


def test_errors_of_trainer() -> None:
    with pytest.raises(TypeError, match="Trainer: params must be Parameters, got int"):
        gluon.Trainer([1], "sgd")
    with pytest.raises(ValueError, match=r"kvstore: must be .* got 'dist_async': ranks would compute gradients of"):
        gluon.Trainer([], "sgd", kvstore="dist_async")
    with pytest.raises(TypeError, match="Trainer: kvstore must be a name, a KVStore or None, got int"):
        gluon.Trainer([], "sgd", kvstore=1)
    trainer = gluon.Trainer([], "sgd")
    trainer.set_learning_rate(0.5)
    assert trainer.learning_rate == 0.5


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "first", "second"),
    [("keep", [2, 2, 1], [2, 2, 1]), ("discard", [2, 2], [2, 2]), ("rollover", [2, 2], [2, 2, 2])],
)
def test_loader_keeps_discards_or_rolls_over(last: str, first: list[int], second: list[int]) -> None:
    data = gluon.data.ArrayDataset(numpy.arange(5), np.arange(5) * 10, list(range(5)))
    loader = gluon.data.DataLoader(data, 2, last_batch=last)
    for lengths in (first, second):
        assert len(loader) == len(lengths)
        batches = list(loader)
        assert [len(x) for x, _, _ in batches] == lengths
        for x, y, z in batches:
            assert (x * 10 == y).all()
            assert (x == z).all()


def test_loader_shuffles_by_the_seed() -> None:
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(np.arange(100)), 100, shuffle=True)
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        orders += [x.tolist() for _ in range(2) for x in loader]
    assert orders[:2] == orders[2:4] != orders[4:]
    assert orders[0] != orders[1]
    assert all(sorted(order) == list(range(100)) for order in orders)


def test_data_sets_can_be_transformed() -> None:
    data = gluon.data.ArrayDataset(numpy.ones((4, 2)), numpy.arange(4)).transform_first(lambda x: x * 3)
    (x, y), *_ = gluon.data.DataLoader(data, 4)
    assert_close(x, 3 * numpy.ones((4, 2)))
    assert y.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"ArrayDataset: arrays must have one length, got \[2, 3\]"):
        gluon.data.ArrayDataset([1, 2], [1, 2, 3])


def test_batches_are_split() -> None:
    x = np.arange(10).reshape(5, 2)
    assert [part.tolist() for part in gluon.utils.split_data(x, 2, batch_axis=1)] == [
        [[0], [2], [4], [6], [8]],
        [[1], [3], [5], [7], [9]],
    ]
    with pytest.raises(ValueError, match="split_data: examples must divide evenly by 2, got 5"):
        gluon.utils.split_data(x, 2)
    with pytest.raises(ValueError, match="split_data: parts must be between 1 and the 5 examples, got 6"):
        gluon.utils.split_data(x, 6)


def test_gradients_are_clipped_together(two_devices: list[forerun.Device]) -> None:
    a, b = np.array([3.0, 0.0]), np.array([4.0], ctx=two_devices[1])
    assert gluon.utils.clip_global_norm([a, b], 10.0).item() == 5
    assert (a.tolist(), b.tolist()) == ([3, 0], [4])
    gluon.utils.clip_global_norm([a, b], 0.5)
    assert_close(a, [0.3, 0])
    assert_close(b, [0.4])
    with pytest.raises(ValueError, match="clip_global_norm: norm must be finite, got nan"):
        gluon.utils.clip_global_norm([np.array([numpy.nan])], 1.0, check_isfinite=True)


def test_files_are_replaced_at_once(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    gluon.utils.replace_file(tmp_path / "new", tmp_path / "old")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_text() == "new"
    shapes = ((2, 3), (), (2, -1), (0,), None)
    assert [gluon.utils.shape_is_known(shape) for shape in shapes] == [True, True, False, False, False]
