"""Inspection of blocks: summaries, hooks, reports of layers; and the places that errors name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forerun import _core, autograd, gluon, np, npx
from forerun.gluon import nn
from tests.support.comparison.tolerances import assert_close


def shared() -> nn.HybridSequential:
    net, layer = nn.HybridSequential(), nn.Dense(3, in_units=3)
    net.add(nn.Dense(3), layer, layer, nn.BatchNorm(), nn.Dropout(0.5))
    net.initialize()
    return net


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_summary_has_layers_shapes_and_counts(capsys: pytest.CaptureFixture[str], hybrid: bool) -> None:
    net = shared()
    if hybrid:
        net.hybridize()
        net(np.ones((2, 4)))
        net(np.ones((2, 4)))
    net.summary(np.ones((2, 4)))
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[3:10]]
    assert [(name, " ".join(rest.split())) for name, rest in rows] == [
        ("Input", "(2, 4) 0"),
        ("Dense-1", "(2, 3) 15"),
        ("Dense-2", "(2, 3) 12"),
        ("Dense-3", "(2, 3) 12"),
        ("BatchNorm-4", "(2, 3) 12"),
        ("Dropout-5", "(2, 3) 0"),
        ("HybridSequential-6", "(2, 3) 0"),
    ]
    net.summary(np.ones((2, 4)))
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for line in (
        "Total params: 51",
        "Trainable params: 45",
        "Non-trainable params: 6",
        "Shared params in forward computation graph: 12",
        "Unique parameters in model: 39",
    ):
        assert line in lines
    if hybrid:
        net(np.ones((2, 4)))
        assert net.hybridized.startswith("1 program")


def test_a_summary_does_not_wait_and_removes_its_hooks(gate: None, capsys: pytest.CaptureFixture[str]) -> None:
    net = shared()
    net.summary(np.ones((2, 4)))
    assert not any(block._after for block in net._tree())
    _core.gate(False)
    assert net[3].running_mean.data().tolist() == [0, 0, 0]


def test_a_summary_of_several_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    layer = gluon.rnn.LSTM(3, input_size=2)
    layer.initialize()
    layer.summary(np.ones((4, 1, 2)), layer.begin_state(batch_size=1))
    out = capsys.readouterr().out
    assert "[(4, 1, 2), [(1, 1, 3), (1, 1, 3)]]" in out
    assert "[(4, 1, 3), [(1, 1, 3), (1, 1, 3)]]" in out


def test_a_summary_needs_parameters() -> None:
    net = nn.Dense(2, in_units=3)
    with pytest.raises(RuntimeError, match="Parameter weight: initialize"):
        net.summary(np.ones((1, 3)))
    assert not net._after


@pytest.mark.parametrize("hybrid", [False, True])
def test_hooks_run_around_each_call_also_inside_hybridized_blocks(hybrid: bool) -> None:
    net, seen = shared(), []
    net(np.ones((2, 4)))
    if hybrid:
        net.hybridize()
        net(np.ones((2, 4)))
    with (
        net.register_forward_pre_hook(lambda block, args: seen.append(("before", block, args[0].shape))),
        net.register_forward_hook(lambda block, args, y: seen.append(("after", block, y.shape))),
        net[0].register_forward_hook(lambda block, args, y: seen.append(("inside", block, y.shape))),
    ):
        for _ in range(2):
            net(np.ones((2, 4)))
    net(np.ones((2, 4)))
    assert seen == [("before", net, (2, 4)), ("inside", net[0], (2, 3)), ("after", net, (2, 3))] * 2


def test_hooks_get_recorded_arrays_and_do_not_change_gradients() -> None:
    net, x, results = nn.Dense(1, in_units=2), np.ones((1, 2)), []
    net.initialize("ones")
    for _ in range(2):
        with autograd.record():
            y = net(x)
        y.backward()
        results.append(net.weight.grad().asnumpy().copy())
        net.register_forward_hook(lambda block, args, y: None)
    assert_close(results[0], results[1])


@contextmanager
def hooked(net: gluon.Block, everything: bool) -> Iterator[list[Any]]:
    found: list[Any] = []
    with net.register_op_hook(lambda name, kind, x: found.append((name, kind, x.shape)), everything):
        yield found


def test_op_hooks_get_the_arrays_of_layers() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.Sequential())
    net[1].add(nn.Flatten())
    net.initialize()
    net.hybridize()
    with hooked(net, False) as found:
        net(np.ones((2, 4)))
    assert found == [("0.output", "Dense", (2, 3)), ("1.0.output", "Flatten", (2, 3))]
    with hooked(net[0], True) as found:
        net[0](np.ones((2, 4)))
    assert found == [
        ("data", "Dense", (2, 4)),
        ("weight", "Dense", (3, 4)),
        ("bias", "Dense", (3,)),
        ("output", "Dense", (2, 3)),
    ]
    twice = nn.Sequential()
    twice.add(net[0], net[0])
    with hooked(twice, False) as found:
        net[0](np.ones((2, 4)))
    assert found == [("0.output", "Dense", (2, 3))]
    with hooked(net, True) as found:
        pass
    net(np.ones((2, 4)))
    assert found == []


class Outer(gluon.HybridBlock):
    def __init__(self) -> None:
        super().__init__()
        self.inner = shared()
        self.scale = gluon.Parameter("gain", shape=())

    def forward(self, x: Any) -> Any:
        return self.inner(x) * self.scale.data()


@pytest.mark.parametrize("hybrid", [False, True])
def test_uninitialized_parameter_error_has_its_path(hybrid: bool, tmp_path: Path) -> None:
    net = Outer()
    net.inner = nn.HybridSequential()
    net.inner.add(nn.Dense(2), nn.Dense(2, in_units=2))
    if hybrid:
        net.hybridize()
    with pytest.raises(gluon.UninitializedError, match=r"^Parameter inner.0.weight: initialize\(\) must be called"):
        net(np.ones((1, 2)))
    net.inner[0].initialize()
    with pytest.raises(RuntimeError, match=r"^Parameter inner.1.weight: initialize\(\) must be called first"):
        net(np.ones((1, 2)))
    net.inner.initialize()
    with pytest.raises(RuntimeError, match=r"^Parameter scale: initialize\(\) must be called first"):
        net(np.ones((1, 2)))
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for use in (lambda: net.save_parameters(tmp_path / "x"), lambda: trainer.step(1)):
        with pytest.raises(RuntimeError, match=r"^Parameter scale: initialize\(\) must be called first"):
            use()
    net.scale.initialize("ones")
    assert net(np.ones((1, 2))).shape == (1, 2)


def test_deferred_initialization_error_has_its_path(tmp_path: Path) -> None:
    net = nn.Sequential()
    net.add(nn.Dense(2), nn.Dense(2))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    save, step = lambda: net.save_parameters(tmp_path / "x"), lambda: trainer.step(1)
    for use, name in ((save, "0.weight"), (step, "1.weight")):
        with pytest.raises(gluon.DeferredInitializationError, match=f"^Parameter {name}: the block must have seen"):
            use()


def test_stale_gradient_error_names_the_parameter() -> None:
    net = nn.Sequential()
    net.add(nn.Dense(2), nn.Dense(2))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd")
    for block in (net, net[0]):
        with autograd.record():
            y = block(np.ones((1, 2)))
        y.backward()
        if block is net:
            trainer.step(1)
    with pytest.raises(RuntimeError, match=r"got old ones for \['1.bias', '1.weight'\]"):
        trainer.step(1)


def test_labels_out_of_range_name_the_function(tmp_path: Path) -> None:
    pred, label = np.ones((2, 3)), np.array([0, 3])
    with autograd.record():
        losses = [gluon.loss.SoftmaxCrossEntropyLoss()(pred, label), npx.pick(pred, label)]
    layer = nn.Embedding(3, 2)
    layer.initialize()
    least = {"cross_entropy": 0, "pick": 0, "embedding": -3}
    for loss, (name, low) in zip((*losses, layer(label)), least.items()):
        for _ in range(2):
            with pytest.raises(IndexError, match=rf"{name}: index must be in \[{low}, 3\), got 3") as caught:
                loss.tolist()
            assert "test_summary_and_hooks.py" in caught.value.__notes__[0]
