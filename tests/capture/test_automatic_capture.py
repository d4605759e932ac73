"""Small calls of the library's own layers are captured without `hybridize`, and nothing else differs."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import nn, rnn
from forerun.testing import closed_gate
from tests.support.comparison.bits import all_same_bits
from tests.support.engine.settings import running
from tests.support.gluon.hybrid_blocks import IMAGES, RNG, X, mlp, program_count

pytestmark = pytest.mark.usefixtures("engine")

LABELS = numpy.array([0, 1, 1, 0])


def network(*layers: gluon.Block, kind: type[nn.Sequential] = nn.Sequential) -> Any:
    net = kind()
    net.add(*layers)
    return net


NETWORKS: dict[str, tuple[Callable[[], Any], Any]] = {
    "Sequential": (lambda: network(nn.Dense(5, activation="relu"), nn.Dense(2)), X),
    "HybridSequential": (lambda: network(nn.Dense(5, activation="tanh"), nn.Dense(2), kind=nn.HybridSequential), X),
    "one layer": (lambda: nn.Dense(2), X),
    "norms": (lambda: network(nn.Dense(4), nn.BatchNorm(), nn.Dropout(0.4), nn.LayerNorm(), nn.Dense(2)), X),
    "convolutions": (
        lambda: network(nn.Conv1D(3, 2, activation="relu"), nn.MaxPool1D(2), nn.Flatten(), nn.Dense(2)), IMAGES,
    ),
    "recurrent": (lambda: network(rnn.GRU(4, layout="NTC"), nn.Dense(2)), IMAGES),
    "containers inside": (
        lambda: network(network(nn.Dense(3), nn.GELU()), network(nn.Dense(2), nn.Identity(), kind=nn.Concatenate)), X,
    ),
}  # fmt: skip


def training_results(make: Callable[[], Any], x: Any, automatic: bool, steps: int = 6) -> list[Any]:
    """Losses, gradients and parameters of some steps, and a prediction after each."""
    npx.random.seed(3)
    net, loss = make(), gluon.loss.SoftmaxCELoss()
    net.initialize()
    if not automatic:
        net.hybridize(False)
        loss.hybridize(False)
    data, found = np.array(x), []
    data.attach_grad()
    net(data)
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    for _ in range(steps):
        with autograd.record():
            cost = loss(net(data), np.array(LABELS))
        cost.backward()
        trainer.step(len(x))
        found += [cost.asnumpy(), data.grad.asnumpy(), net(data).asnumpy()]
        found += [p.grad().asnumpy() for p in net.collect_params().values() if p.grad_req != "null"]
        found += [p.data().asnumpy() for p in net.collect_params().values()]
    assert (program_count(net) == program_count(loss) + 1 == 2) if automatic else net._recorded is None
    return found


@pytest.mark.parametrize("name", NETWORKS)
def test_training_has_the_same_bits(name: str) -> None:
    make, x = NETWORKS[name]
    assert all_same_bits(training_results(make, x, True), training_results(make, x, False))


@pytest.mark.parametrize("mode", ["1 worker", "4 workers"])
def test_asynchronous_training_has_the_bits_of_the_synchronous_one(mode: str) -> None:
    make, x = NETWORKS["norms"]
    with running("sync"):
        expected = training_results(make, x, True)
    with running(mode):
        assert all_same_bits(training_results(make, x, True), expected)


def test_a_recurrent_cell_is_captured_in_a_loop() -> None:
    def outputs(automatic: bool) -> list[Any]:
        npx.random.seed(4)
        cell = rnn.LSTMCell(3, input_size=3)
        cell.initialize()
        if not automatic:
            cell.hybridize(False)
        states, found = cell.begin_state(4), []
        for _ in range(5):
            y, states = cell(np.array(X), states)
            found += [y.asnumpy(), *(s.asnumpy() for s in states)]
        assert not automatic or program_count(cell) == 1
        return found

    assert all_same_bits(outputs(True), outputs(False))


def test_the_third_call_of_a_kind_is_captured_without_a_wait() -> None:
    net = mlp()
    net.initialize()
    net(np.array(X))
    found = []
    with running("1 worker"), closed_gate():
        for count in (0, 0, 1, 1):  # after deferred shapes, calls are counted
            found.append(net(np.array(X)))
            assert program_count(net) == count
    assert net.hybridized == "not hybridized; small calls automatically: 1 program: matmul, add, tanh, matmul, add"
    assert all_same_bits(found[0], found[3])


def test_single_calls_are_not_captured() -> None:
    net = mlp()
    net.initialize()
    for batch in range(1, 80):
        net(np.ones((batch, 3)))
        net(np.ones((batch, 3)))
    assert program_count(net) == 0


def test_the_first_of_many_kinds_keep_their_programs() -> None:
    net = nn.Dense(2, in_units=3)
    net.initialize()
    most = net._recorded.recorded.programs.most
    for batch in range(1, most + 10):
        for _ in range(3):
            net(np.ones((batch, 3)))
    assert program_count(net) == most
    oldest = next(reversed([*net._recorded.recorded.programs]))
    for _ in range(4):
        net(np.ones((most + 20, 3)))
    assert next(reversed([*net._recorded.recorded.programs])) is oldest


def repeated(net: Any, *args: Any) -> None:
    """Call a network as often as is enough."""
    net.initialize()
    for _ in range(5):
        net(*args)


def test_large_calls_run_as_written() -> None:
    wide, long = nn.Dense(2048, in_units=2048), network(nn.Dense(1, in_units=3))
    repeated(wide, np.ones((2, 2048)))
    repeated(long, np.ones((30_000, 3)))
    for net in (wide, long):  # not even captured once
        assert program_count(net) == 0
        assert not net._recorded.recorded.refused


def test_calls_that_run_longer_than_their_issue_are_not_captured_again() -> None:
    net = network(nn.Conv2D(32, 7, in_channels=8), kind=nn.HybridSequential)
    x = np.ones((4, 8, 32, 32))
    repeated(net, x)
    assert program_count(net) == 0
    assert net.hybridized.endswith("runs as written: its operations take longer to run than to issue")
    with autograd.record():  # has a program of its own, if it is small
        net(x)
    assert len(net._recorded.recorded.refused) == 1


class Counting(nn.HybridBlock):
    """A layer of a program, whose code counts."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[int] = []

    def forward(self, x: Any) -> Any:
        self.calls.append(1)
        return x * 2


def patched() -> Any:
    layer = nn.Dense(2, in_units=3)
    layer.calls = []
    layer.forward = lambda x: layer.calls.append(1) or x
    return layer


def of_a_function() -> Any:
    calls: list[int] = []
    layer = nn.HybridLambda(lambda x: calls.append(1) or x)
    layer.calls = calls
    return layer


class Derived(nn.Dense):
    """A layer of a program, derived from one of the library's."""

    def __init__(self) -> None:
        super().__init__(2, in_units=3)
        self.calls: list[int] = []

    def forward(self, x: Any) -> Any:
        self.calls.append(1)
        return super().forward(x)


@pytest.mark.parametrize("make", [Counting, patched, of_a_function, Derived])
def test_code_of_a_program_runs_in_each_call(make: Callable[[], Any]) -> None:
    layer = make()
    net = network(nn.Dense(3, in_units=3), layer)
    repeated(net, np.array(X))
    assert len(layer.calls) == 5
    assert program_count(net) == 0
    assert program_count(net[0]) == 1  # the library's own layer in it


def test_a_class_that_a_program_changes_runs_as_written(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    forward = nn.Dense.forward
    monkeypatch.setattr(nn.Dense, "forward", lambda self, x: calls.append(1) or forward(self, x))
    repeated(nn.Dense(2, in_units=3), np.array(X))
    assert len(calls) == 5


def test_an_added_or_changed_layer_is_used_by_later_calls() -> None:
    net = network(nn.Dense(3, in_units=3))
    repeated(net, np.array(X))
    assert program_count(net) == 1
    layer = Counting()
    net.add(layer)
    before = len(layer.calls)
    net(np.array(X))
    net(np.array(X))
    assert len(layer.calls) == before + 2

    dropout = network(nn.Dropout(0.5))
    with autograd.train_mode():
        repeated(dropout, np.ones(1000))
        assert program_count(dropout) == 1
        dropout[0]._rate = 0.0
        assert dropout(np.ones(1000)).min().item() == 1


def test_a_network_that_changes_often_is_not_captured_each_time(recwarn: pytest.WarningsRecorder) -> None:
    net = network(nn.Dense(3, in_units=3), nn.Dropout(0.5))
    net.initialize()
    for k in range(100):
        net[1]._rate = k / 100
        for _ in range(3):
            net(np.array(X))
    assert net._recorded.recorded._captures == 64
    assert len(recwarn) == 0


def test_hooks_see_every_array() -> None:
    net, seen = mlp(), []
    net.initialize()
    hook = net[0].register_forward_hook(lambda block, inputs, y: seen.append(y.shape))
    for _ in range(5):
        net(np.array(X))
    assert seen == [(4, 5)] * 5
    assert program_count(net) == 0
    hook.detach()
    for _ in range(5):
        net(np.array(X))
    assert program_count(net) == 1
    with net.register_forward_hook(lambda block, inputs, y: seen.append(y.shape)):
        net(np.array(X))
    assert seen[5:] == [(4, 2)]


def test_parameters_may_be_replaced() -> None:
    net = nn.Dense(1, use_bias=False, in_units=3)
    repeated(net, np.ones((2, 3)))
    assert program_count(net) == 1
    for value in (1.0, 2.0):
        net.weight.set_data(np.full((1, 3), value))
        assert net(np.ones((2, 3))).tolist() == [[3 * value]] * 2
    net.cast("float64")
    assert net(np.ones((2, 3), dtype="float64")).dtype == numpy.float64


def test_hybridize_takes_over_and_switches_off() -> None:
    net, loss = mlp(), gluon.loss.L2Loss()
    repeated(net, np.array(X))
    net.hybridize()
    net(np.array(X))
    assert net.hybridized.startswith("1 program: matmul")
    for block in (net, loss):
        block.hybridize(False)
        assert block.hybridized == "not hybridized"
    for _ in range(5):
        loss(net(np.array(X)), np.ones((4, 2)))
    assert net._recorded is loss._recorded is None

    plain = network(nn.Dense(2))  # not a hybrid block, unlike its layers
    plain.hybridize(False)
    assert plain._recorded is plain[0]._recorded is None
    plain.hybridize()
    repeated(plain, np.array(X))
    assert program_count(plain) == 1


def test_a_captured_function_contains_the_calls() -> None:
    net = mlp()
    repeated(net, np.array(X))
    whole = forerun.hybrid(lambda x: net(x) * 2)
    values = [whole(np.array(X)) for _ in range(3)]
    assert whole.hybridized == "1 program: matmul, add, tanh, matmul, add, multiply"
    assert all_same_bits(values[0], values[2])


def test_gradients_of_gradients() -> None:
    net = network(nn.Dense(3, activation="tanh", in_units=3), nn.Dense(1, in_units=3))
    net.initialize()
    found = []
    for _ in range(5):
        x = np.array(X)
        x.attach_grad()
        with autograd.record():
            (slope,) = autograd.grad(net(x), [x], create_graph=True)
            penalty = (slope**2).sum()
        penalty.backward()
        found.append(x.grad.asnumpy())
    assert program_count(net) == 1
    assert all_same_bits(found[0], found[-1])


def test_an_error_of_values_poisons_the_results_of_its_call_alone() -> None:
    net = network(nn.Embedding(4, 3), nn.Dense(2, flatten=False))
    repeated(net, np.array([1, 2]))
    assert program_count(net) == 1
    with pytest.raises(IndexError, match="7"):
        net(np.array([1, 7])).asnumpy()
    assert net(np.array([1, 2])).shape == (2, 2)


def test_export_needs_hybridize_all_the_same() -> None:
    net = mlp()
    repeated(net, np.array(X))
    with pytest.raises(RuntimeError, match="must be hybridized"):
        net.export("nothing")


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_network_ends_with_its_last_reference(hybridized: bool) -> None:
    net = mlp()
    if hybridized:
        net.hybridize()
    repeated(net, np.array(X))
    assert program_count(net) == 1
    layer = weakref.ref(net[0])
    gc.collect()
    gc.disable()
    try:
        del net
        assert layer() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_capture_programs_of_their_own(copied: Callable[[Any], Any]) -> None:
    net = mlp()
    repeated(net, np.array(X))
    twin = copied(net)
    assert program_count(twin) == 0
    assert all_same_bits([twin(np.array(X)) for _ in range(4)], [net(np.array(X)) for _ in range(4)])
    assert program_count(twin) == 1
    twin[0].weight.set_data(np.zeros((5, 3)))
    assert not all_same_bits(twin(np.array(X)), net(np.array(X)))


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_shallow_copy_runs_its_own_code(hybridized: bool) -> None:
    layer = nn.Dense(2, activation="relu", in_units=3, weight_initializer="ones")
    if hybridized:
        layer.hybridize()
    repeated(layer, -np.ones((1, 3)))
    twin = copy.copy(layer)
    twin.act = None
    for _ in range(4):
        assert twin(-np.ones((1, 3))).tolist() == [[-3.0, -3.0]]
        assert layer(-np.ones((1, 3))).tolist() == [[0.0, 0.0]]
    assert program_count(twin) == program_count(layer) == 1


def test_random_batches_of_random_kinds() -> None:
    """Calls in any order, with and without record, are those of a network that is never captured."""
    npx.random.seed(6)
    net = mlp(nn.BatchNorm())
    net.initialize()
    net(np.array(X))
    other = copy.deepcopy(net)
    other.hybridize(False)
    for _ in range(60):
        x = RNG.normal(size=(int(RNG.integers(1, 4)), 3)).astype("float32")
        recorded, results = bool(RNG.integers(2)), []
        for block in (net, other):
            data = np.array(x)
            data.attach_grad()
            if recorded:
                with autograd.record():
                    y = block(data)
                y.backward()
                results.append([y.asnumpy(), data.grad.asnumpy()])
            else:
                results.append([block(data).asnumpy()])
        assert all_same_bits(results[0], results[1])
    assert program_count(net) == 6
    assert all_same_bits(*([p.data().asnumpy() for p in block.collect_params().values()] for block in (net, other)))
