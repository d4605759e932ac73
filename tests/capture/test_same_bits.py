"""Recorded layers, losses and updates give the same bits as those that run as written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx, optimizer
from forerun.gluon import loss as losses
from forerun.gluon import nn
from tests.support.comparison.bits import all_same_bits
from tests.support.engine.settings import running
from tests.support.gluon.hybrid_blocks import IMAGES, X, mlp, program_count, trajectory

pytestmark = pytest.mark.usefixtures("engine")


LAYERS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Dense": (lambda: nn.Dense(2), X),
    "Dense without flatten": (lambda: nn.Dense(2, activation="relu", flatten=False), IMAGES),
    "Dense without bias": (lambda: nn.Dense(2, use_bias=False), IMAGES),
    "BatchNorm": (lambda: nn.BatchNorm(), X),
    "BatchNorm of images": (lambda: nn.BatchNorm(axis=-1), IMAGES),
    "LayerNorm": (lambda: nn.LayerNorm(), X),
    "Dropout": (lambda: nn.Dropout(0.5), X),
    "Embedding": (lambda: nn.Embedding(4, 3), numpy.array([[0, 3], [1, 1]])),
    "Flatten": (lambda: nn.Flatten(), IMAGES),
    "Identity": (lambda: nn.Identity(), X),
    "HybridLambda": (lambda: nn.HybridLambda("sigmoid"), X),
    "all together": (lambda: mlp(nn.BatchNorm(), nn.Dropout(0.3), nn.LayerNorm()), X),
    **{
        name: (lambda name=name: nn.Activation(name), X)
        for name in ("relu", "sigmoid", "tanh", "softrelu", "softsign", "silu", "gelu", "elu", "selu")
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_the_same_bits(name: str) -> None:
    make, x = LAYERS[name]
    kept: list[Any] = []

    def made() -> Any:
        kept.append(make())
        return kept[-1]

    assert all_same_bits(trajectory(made, False, x), trajectory(made, True, x))
    assert program_count(kept[-1]) == 2  # one for training, one without


LOSSES: dict[str, tuple[Callable[[], Any], Any, Any]] = {
    "L1": (losses.L1Loss, X, X[::-1].copy()),
    "L2": (losses.L2Loss, X, X[::-1].copy()),
    "Huber": (losses.HuberLoss, X, X[::-1].copy()),
    "Hinge": (losses.HingeLoss, X, numpy.sign(X[::-1])),
    "softmax": (losses.SoftmaxCELoss, X, numpy.array([0, 2, 1, 1])),
    "softmax, float labels": (losses.SoftmaxCELoss, X, numpy.array([0, 2, 1, 1], "float32")),
    "softmax, dense": (lambda: losses.SoftmaxCELoss(sparse_label=False), X, numpy.abs(X)),
    "sigmoid": (losses.SigmoidBCELoss, X, (X > 0).astype("float32")),
    "KL": (lambda: losses.KLDivLoss(from_logits=False), X, numpy.abs(X)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_losses_give_the_same_bits(name: str) -> None:
    make, pred, label = LOSSES[name]

    def values(hybrid: bool) -> list[Any]:
        loss, found = make(), []
        loss.hybridize(hybrid)
        for weight in (None, 2.0, 3.0):
            x, y = np.array(pred), np.array(label)
            x.attach_grad()
            more = () if weight is None else (np.full((4, 1), weight),)
            with autograd.record():
                z = loss(x, y, *more)
            z.backward()
            found += [z.asnumpy(), x.grad.asnumpy()]
        return found

    assert all_same_bits(values(False), values(True))


@pytest.mark.parametrize("name", ["sgd", "momentum", "nag", "adam", "adamw", "rmsprop", "adagrad"])
def test_training_gives_the_same_bits(name: str) -> None:
    """A whole loop, with rates that change and a smaller last batch; the trainer's updates are programs either way."""

    def weights(hybrid: bool) -> list[Any]:
        npx.random.seed(2)
        net, loss = mlp(nn.Dropout(0.2)), losses.L2Loss()
        net.initialize()
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
            loss.hybridize()
        settings: dict[str, Any] = {"wd": 0.01, "clip_gradient": 0.5, "learning_rate": 0.1}
        if name == "momentum":
            settings["momentum"] = 0.9
        trainer = gluon.Trainer(net.collect_params(), "sgd" if name == "momentum" else name, settings)
        x, y = np.array(X), np.ones((4, 2))
        for step in range(7):
            n = 4 if step % 3 else 3
            trainer.set_learning_rate(0.1 / (step + 1))
            with autograd.record():
                cost = loss(net(x[:n]), y[:n])
            cost.backward()
            if not hybrid:
                trainer.optimizer._programs.cache.clear()  # recorded in each step: as if it were written out
            trainer.step(n)
        return [p.data().asnumpy() for p in net.collect_params().values()]

    assert all_same_bits(weights(False), weights(True))


@pytest.mark.parametrize("name", ["sgd", "nag", "adam", "adamw", "rmsprop", "adagrad"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_updates_of_several_weights_are_those_of_each(name: str, dtype: str) -> None:
    def weights(together: bool) -> list[Any]:
        made = optimizer.create(name, wd=0.1, rescale_grad=0.5)
        ws = [np.array(X[i], dtype=dtype) for i in range(3)]
        gs = [np.array(X[3 - i], dtype=dtype) for i in range(3)]
        items = [(i, w, g, made.create_state(i, w)) for i, (w, g) in enumerate(zip(ws, gs))]
        for _ in range(4):
            if together:
                made.update_all(items)
            else:
                for item in items:
                    made.update(*item)
        return [w.asnumpy() for w in ws]

    assert all_same_bits(weights(False), weights(True))


def test_a_custom_optimizer_runs_as_written() -> None:
    class Counting(optimizer.SGD):
        def step(self, weight: Any, g: Any, state: Any, lr: Any) -> None:
            weight += state["t"]

    made, w = Counting(), np.zeros(2)
    state = made.create_state(0, w)
    for _ in range(3):
        made.update_all([(0, w, w, state)])
    assert w.tolist() == [6.0, 6.0]


def test_synchronous_mode_gives_the_same_bits() -> None:
    found = []
    for mode in ("sync", "4 workers"):
        with running(mode):
            found.append(trajectory(lambda: mlp(nn.BatchNorm(), nn.Dropout(0.3)), True, X))
    assert all_same_bits(*found)


def test_deferred_parameters_are_made_by_the_first_call() -> None:
    def outputs(hybrid: bool) -> list[Any]:
        npx.random.seed(4)
        net = mlp(nn.BatchNorm())
        net.initialize()
        net.hybridize(hybrid)
        found = []
        for _ in range(3):
            with autograd.record():
                y = net(np.array(X))
            y.backward()
            found += [y.asnumpy(), net[0].weight.grad().asnumpy()]
        return found

    assert all_same_bits(outputs(False), outputs(True))
