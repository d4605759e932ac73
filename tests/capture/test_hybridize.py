"""Recorded calls: the same bits as without, whatever is called, recorded, replaced or raised."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx, optimizer
from forerun.gluon import loss as losses
from forerun.gluon import nn
from forerun.testing import closed_gate
from tests.support.bits import all_same_bits
from tests.support.settings import running

pytestmark = pytest.mark.usefixtures("engine")
RNG = numpy.random.default_rng(7)
X = RNG.normal(size=(4, 3)).astype("float32")
IMAGES = RNG.normal(size=(4, 3, 5)).astype("float32")


def mlp(*more: gluon.Block) -> nn.HybridSequential:
    net = nn.HybridSequential()
    net.add(nn.Dense(5, activation="tanh"), *more, nn.Dense(2))
    return net


def programs(block: Any) -> int:
    return len(block._recorded.recorded.calls)


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
    assert programs(kept[-1]) == 2  # one for training, one without


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
                trainer.optimizer._programs.clear()  # recorded in each step: as if it were written out
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


def test_an_optimizer_of_ones_own_runs_as_written() -> None:
    class Counting(optimizer.SGD):
        def step(self, weight: Any, g: Any, state: Any, lr: Any) -> None:
            weight += state["t"]

    made, w = Counting(), np.zeros(2)
    state = made.create_state(0, w)
    for _ in range(3):
        made.update_all([(0, w, w, state)])
    assert w.tolist() == [6.0, 6.0]


# --- signatures ------------------------------------------------------------------------------------------


def counted() -> tuple[gluon.HybridBlock, list[int]]:
    """A block that counts how often its `forward` runs."""
    calls: list[int] = []

    class Doubled(gluon.HybridBlock):
        def forward(self, x: Any, factor: Any = 2) -> Any:
            calls.append(1)
            return x * factor

    block = Doubled()
    block.hybridize()
    return block, calls


def test_a_program_stands_for_what_it_was_recorded_with() -> None:
    block, calls = counted()
    for shape, dtype in [((2,), "float32"), ((3,), "float32"), ((2,), "float64"), ((2, 1), "int32")]:
        for value in (1, 2, 3):
            y = block(np.full(shape, value, dtype=dtype))
            assert all_same_bits(y, numpy.full(shape, 2 * value, dtype))
    assert len(calls) == 4


def test_layouts_are_told_apart() -> None:
    block, calls = counted()
    x = numpy.arange(12.0, dtype="float32").reshape(3, 4)
    for look in (lambda a: a.T, lambda a: a[::2], lambda a: a[:, 1:], lambda a: a[::-1]):
        a, view = look(x), look(np.array(x))
        assert all_same_bits(block(view), a * 2)
        assert all_same_bits(block(view), a * 2)
    assert len(calls) == 4


def test_rows_of_a_larger_array_are_one_signature() -> None:
    block, calls = counted()
    x = np.array(numpy.arange(12.0, dtype="float32").reshape(6, 2))
    for i in range(0, 6, 2):
        assert all_same_bits(block(x[i : i + 2]), x.asnumpy()[i : i + 2] * 2)
    assert all_same_bits(block(np.ones((2, 2))), numpy.full((2, 2), 2, "float32"))
    assert len(calls) == 1


@pytest.mark.parametrize("factors", [(1, 1.0, True), (0.0, -0.0)])
def test_plain_arguments_are_part_of_the_signature(factors: tuple[Any, ...]) -> None:
    block, calls = counted()
    x = np.array([1.0, -2.0])
    for _ in range(2):
        for factor in factors:
            assert all_same_bits(block(x, factor), (x * factor).asnumpy())
    assert len(calls) == len(factors)


def test_numpy_arguments_are_not_frozen() -> None:
    block, _ = counted()
    for value in (1.0, 2.0):
        assert block(np.ones(1), numpy.array([value])).tolist() == [value]


def test_structures_of_arguments_and_results() -> None:
    class Cell(gluon.HybridBlock):
        def forward(self, x: Any, states: Any, scale: Any) -> Any:
            h, more = states
            return x + h, [more["c"] * scale, {"h": h}, None, 3]

    cell, plain = Cell(), Cell()
    cell.hybridize()
    for i in range(3):
        args = (np.full(2, i), [np.ones(2), {"c": np.full(2, 2.0)}], 0.5)
        y, (c, rest, none, three) = cell(*args)
        z, others = plain(*args)
        assert all_same_bits([y, c, rest["h"]], [z, others[0], others[1]["h"]])
        assert none is None
        assert three == 3
    assert programs(cell) == 1


def test_two_arguments_that_share_memory() -> None:
    class Add(gluon.HybridBlock):
        def forward(self, x: Any, y: Any) -> Any:
            x += 1
            return x * y

    block = Add()
    block.hybridize()
    for _ in range(2):
        x, y = np.ones(2), np.ones(2)
        assert block(x, y).tolist() == [2.0, 2.0]
        assert x.tolist() == [2.0, 2.0]
        assert block(x, x).tolist() == [9.0, 9.0]
    assert programs(block) == 2


def test_writing_into_a_part_of_an_argument() -> None:
    class Fill(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            x[:] = 7
            return x + 1

    block = Fill()
    block.hybridize()
    for _ in range(3):
        whole = np.zeros((3, 2))
        assert block(whole[1:2]).tolist() == [[8.0, 8.0]]
        assert whole.tolist() == [[0, 0], [7, 7], [0, 0]]


def test_default_dtype_is_part_of_the_signature() -> None:
    class Ones(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x + np.ones(2)

    block, x = Ones(), np.zeros(2, dtype="float32")
    block.hybridize()
    assert block(x).dtype == "float32"
    npx.set_np(dtype=True)
    assert block(x).dtype == "float64"
    assert block(x).dtype == "float64"


# --- parameters ------------------------------------------------------------------------------------------


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


# --- gradients -------------------------------------------------------------------------------------------


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


def test_grad_with_regard_to_what_is_not_a_leaf() -> None:
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
    def spoiled(x: Any) -> Any:
        h = np.exp(x)
        y = h * 2
        with autograd.pause():
            h[:] = 0.0
        return y

    block = nn.HybridLambda(spoiled)
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


def test_an_array_of_an_outer_tape_keeps_the_block_as_written() -> None:
    w = np.array([2.0])
    w.attach_grad()
    box: dict[str, Any] = {}

    class Uses(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            return x * box["h"]

    block = Uses()
    block.hybridize()
    for value in (1.0, 2.0, 3.0):
        with autograd.record():
            box["h"] = w * value
            y = block(np.array([10.0]))
        y.backward()
        assert w.grad.item() == 10 * value
    assert "computed under record() before" in block.hybridized


class Straight(autograd.Function):
    def forward(self, x: Any) -> Any:
        self.save_for_backward(x)
        return np.sign(x)

    def backward(self, g: Any) -> Any:
        return g * self.saved_tensors[0]


def test_functions_of_ones_own_run_as_written() -> None:
    block = nn.HybridLambda(lambda x: Straight()(x))
    block.hybridize()
    for value in (2.0, 3.0):
        x = np.array([value])
        x.attach_grad()
        with autograd.record():
            y = block(x)
        y.backward()
        assert x.grad.item() == value
    assert "Straight" in block.hybridized


# --- what cannot be recorded -----------------------------------------------------------------------------


def test_an_error_ends_recording() -> None:
    def fails(x: Any) -> Any:
        raise KeyError("mine")

    block = nn.HybridLambda(fails)
    block.hybridize()
    with pytest.raises(KeyError, match="mine"):
        block(np.ones(2))
    assert not _core.capturing()
    assert np.ones(2).sum().item() == 2


def test_setting_attributes_keeps_the_block_as_written() -> None:
    class Remembers(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            self.last = x
            return x + 1

    block = Remembers()
    block.hybridize()
    for value in (1.0, 2.0):
        assert block(np.array([value])).item() == value + 1
        assert block.last.item() == value
    assert "sets Remembers.last" in block.hybridized


def test_returning_other_objects_keeps_the_block_as_written() -> None:
    block = nn.HybridLambda(lambda x: {x.shape: object()} and {1, 2})
    block.hybridize()
    assert block(np.ones(1)) == block(np.ones(1)) == {1, 2}


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
            assert any("test_hybridize.py" in note for note in caught.value.__notes__)
    assert all_same_bits(layer(np.array([1])), good)


def test_synchronous_mode_gives_the_same_bits() -> None:
    found = []
    for mode in ("sync", "4 workers"):
        with running(mode):
            found.append(trajectory(lambda: mlp(nn.BatchNorm(), nn.Dropout(0.3)), True, X))
    assert all_same_bits(*found)


# --- state, randomness, hooks, nesting -------------------------------------------------------------------


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


def test_arrays_that_the_function_keeps_are_read_and_written_as_they_are() -> None:
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


def test_a_state_from_the_host_that_is_overwritten_whole() -> None:
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
    assert programs(net) == 1
    inner = net[0].register_forward_hook(lambda *_: seen.append("inside"))
    net(np.array(X))
    assert seen[-3:] == ["before", "inside", "after"]
    assert "hooks" in net.hybridized
    assert programs(net[0]) == 1
    inner.detach()
    outer.detach()
    net(np.array(X))
    assert seen[-1] == "before"
    assert programs(net) == 1


def test_the_outermost_block_records() -> None:
    net = nn.HybridSequential()
    net.add(mlp(), mlp())
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(np.array(X))  # the first call finishes the parameters, the second records
    assert programs(net) == 1
    assert [programs(block) for part in net for block in (part, *part)] == [0] * 6


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


def test_hybridize_may_be_switched_off() -> None:
    block, calls = counted()
    for active, total in [(True, 1), (False, 3), (True, 4)]:
        block.hybridize(active)
        block(np.ones(2))
        block(np.ones(2))
        assert len(calls) == total
    block.hybridize(False)
    assert block.hybridized == "not hybridized"


def test_host_tasks_are_repeated() -> None:
    block = nn.HybridLambda(lambda x: np.sort(x) + np.linalg.inv(x))
    block.hybridize()
    for seed in range(3):
        x = numpy.random.default_rng(seed).normal(size=(3, 3)).astype("float32")
        assert all_same_bits(block(np.array(x)), (np.sort(np.array(x)) + np.linalg.inv(np.array(x))).asnumpy())
    assert programs(block) == 1


def test_large_programs_are_issued_op_by_op() -> None:
    block = nn.HybridLambda(lambda x: np.tanh(x @ x) + x.sum(axis=0))
    block.hybridize()
    x = np.array(RNG.normal(size=(400, 400)).astype("float32"))
    eager = (np.tanh(x @ x) + x.sum(axis=0)).asnumpy()
    assert all_same_bits(block(x), eager)
    assert all_same_bits(block(x), eager)
    assert not block._recorded.recorded.calls[0].program.whole


def test_two_devices(two_devices: list[forerun.Device]) -> None:
    net = mlp()
    net.initialize(device=two_devices)
    net.hybridize()
    for _ in range(3):
        a, b = (net(np.array(X, device=device)) for device in two_devices)
        assert (a.device, b.device) == tuple(two_devices)
        assert all_same_bits(a, b.asnumpy())


# --- many at once ----------------------------------------------------------------------------------------


def test_calls_under_way_do_not_mix() -> None:
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


def test_what_another_thread_issues_is_not_recorded() -> None:
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
    assert block._recorded.recorded.calls[0].program.steps == ("add", "multiply")


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
    assert len(trainer.optimizer._programs) == 1


def test_a_block_that_is_gone_takes_its_programs_along() -> None:
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


# --- functions -------------------------------------------------------------------------------------------


@pytest.fixture
def twice() -> Iterator[Any]:
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x * 2

    f.calls = calls  # type: ignore[attr-defined]
    return f


def test_functions_may_be_hybrid(twice: Any) -> None:
    quick = forerun.hybrid(twice)
    for value in (1.0, 2.0, 3.0):
        x = np.array([value])
        x.attach_grad()
        with autograd.record():
            y = quick(x)
        y.backward()
        assert (y.item(), x.grad.item()) == (2 * value, 2)
    assert len(twice.calls) == 1
    assert quick.__name__ == "f"
