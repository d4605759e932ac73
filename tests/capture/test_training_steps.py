"""Whole training steps as one program: `forerun.hybrid` of a function with a backward pass and an update."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx, optimizer, torch
from forerun.gluon import nn


def dense_network(*inside: Any) -> Any:
    net = nn.HybridSequential()
    net.add(nn.Dense(8, in_units=5, activation="relu"), *inside, nn.Dense(3, in_units=8))
    net.initialize(forerun.init.Xavier())
    return net


def batch(n: int = 6) -> tuple[Any, Any]:
    random = numpy.random.default_rng(n)
    return np.array(random.standard_normal((n, 5), dtype="float32")), np.array(random.integers(0, 3, n))


class Training:
    """A network with its trainer; `whole` steps are captured, others run as they are written."""

    def __init__(self, whole: bool, rule: str = "sgd", *inside: Any, hybridize: bool = False, **settings: Any) -> None:
        npx.random.seed(5)
        self.net = dense_network(*inside)
        if hybridize:
            self.net.hybridize()
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()
        self.trainer = gluon.Trainer(self.net.collect_params(), rule, {"learning_rate": 0.1} | settings)
        self.runs = 0  # of the function itself
        self.step: Any = forerun.hybrid(self.written) if whole else self.written

    def written(self, x: Any, y: Any) -> Any:
        self.runs += 1
        with autograd.record():
            out = self.loss(self.net(x), y)
        out.backward()
        self.trainer.step(len(x))
        return out

    def values(self) -> list[Any]:
        return [p.data().asnumpy() for p in self.net.collect_params().values()]


def assert_same_parameters(one: Training, other: Training) -> None:
    """The same bits in all parameters."""
    for x, y in zip(one.values(), other.values(), strict=True):
        numpy.testing.assert_array_equal(x, y)


def both(*inside: Callable[[], Any], rule: str = "sgd", **settings: Any) -> list[Training]:
    return [Training(whole, rule, *[make() for make in inside], **settings) for whole in (False, True)]


RULES = [
    ("sgd", {}), ("sgd", {"momentum": 0.9}), ("nag", {"momentum": 0.9}), ("signum", {}), ("adam", {}), ("adamw", {}),
    ("adabelief", {}), ("nadam", {}), ("adamax", {}), ("rmsprop", {"centered": True}), ("adagrad", {}),
    ("adadelta", {}), ("ftrl", {}), ("ftml", {}), ("lars", {"momentum": 0.9, "momentum_correction": True}),
    ("lamb", {}), ("lans", {}), ("sgld", {}), ("dcasgd", {}),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "settings"), RULES)
def test_steps_count_and_take_rates_that_change(rule: str, settings: dict[str, Any]) -> None:
    trainings = both(rule=rule, wd=0.01, **settings)
    for training in trainings:
        npx.random.seed(7)
        for k in range(6):
            training.trainer.set_learning_rate(0.1 / (k + 1))
            training.step(*batch())
    assert_same_parameters(*trainings)
    assert [training.runs for training in trainings] == [6, 6 if rule == "sgld" else 1]  # which draws numbers
    assert trainings[1].trainer.optimizer.num_update == 6


def test_a_step_is_one_operation() -> None:
    training = Training(True, "adam")
    x, y = batch()
    training.step(x, y)
    before = forerun.stats()["issued"]
    training.step(x, y)
    assert forerun.stats()["issued"] == before + 1
    assert "matmul" in training.step.hybridized


def test_layers_with_state_and_random_numbers() -> None:
    trainings = both(nn.BatchNorm, lambda: nn.Dropout(0.4))
    for training in trainings:
        npx.random.seed(7)
        for _ in range(4):
            training.step(*batch())
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 2  # shapes were not known in the first call


def test_shapes_that_wait_for_the_first_call() -> None:
    found = []
    for whole in (False, True):
        training = Training(whole, "adam")
        npx.random.seed(4)
        training.net = nn.HybridSequential()
        training.net.add(nn.Dense(8), nn.Dense(3))
        training.net.initialize(forerun.init.Xavier())
        training.trainer = gluon.Trainer(training.net.collect_params(), "adam")
        for _ in range(3):
            training.step(*batch())
        found.append(training)
    assert_same_parameters(*found)
    assert found[1].runs == 2


def test_a_hybridized_network_after_a_call() -> None:
    trainings = both(hybridize=True)
    for training in trainings:
        npx.random.seed(7)
        training.net(batch()[0])
        with autograd.record():
            training.net(batch()[0])
        for _ in range(3):
            training.step(*batch())
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 1


def test_each_call_uses_the_scheduler() -> None:
    trainings = both(lr_scheduler=lambda n: 0.5 / n)
    for training in trainings:
        npx.random.seed(7)
        for _ in range(4):
            training.step(*batch())
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 1


def test_batches_of_several_sizes_have_programs_of_their_own() -> None:
    trainings = both(rule="adam")
    for training in trainings:
        npx.random.seed(7)
        for n in (6, 4, 6, 4, 2, 6):
            training.step(*batch(n))
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 3
    assert trainings[1].trainer.optimizer.num_update == 6


def test_steps_as_written_in_between() -> None:
    trainings = both(rule="adam")
    for training in trainings:
        npx.random.seed(7)
        for k in range(6):
            (training.written if k % 2 else training.step)(*batch(4 if k % 2 else 6))
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 4


def saved_and_loaded(training: Training, path: Path, save: Any, load: Any) -> None:
    save(str(path / "file"))
    training.step(*batch())
    load(str(path / "file"))


CHANGES: dict[str, Callable[[Training, Path], Any]] = {
    "new values": lambda t, _: t.net[0].weight.set_data(t.net[0].weight.data() * 0.5),
    "initialized anew": lambda t, _: t.net.initialize(forerun.init.Constant(0.02), force_reinit=True),
    "another dtype": lambda t, _: t.net.cast("float64"),
    "frozen": lambda t, _: setattr(t.net[0].weight, "grad_req", "null"),
    "a factor of the rate": lambda t, _: setattr(t.net[0].weight, "lr_mult", 0.25),
    "a factor of the decay": lambda t, _: setattr(t.net[0].weight, "wd_mult", 0.0),
    "another decay": lambda t, _: setattr(t.trainer.optimizer, "wd", 0.2),
    "clipped": lambda t, _: setattr(t.trainer.optimizer, "clip_gradient", 0.01),
    "another constant": lambda t, _: setattr(t.trainer.optimizer, "beta1", 0.5),
    "another layer": lambda t, _: setattr(t.net[0], "act", nn.Activation("tanh")),
    "loaded states": lambda t, path: saved_and_loaded(t, path, t.trainer.save_states, t.trainer.load_states),
    "loaded parameters": lambda t, path: saved_and_loaded(t, path, t.net.save_parameters, t.net.load_parameters),
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_calls_are_seen(change: str, tmp_path: Path) -> None:
    trainings = both(rule="adam", wd=0.01)
    for training in trainings:
        npx.random.seed(7)
        for k in range(6):
            if k == 3:
                CHANGES[change](training, tmp_path)
            x, y = batch()
            training.step(x.astype(training.net[0].weight.dtype), y)
    assert_same_parameters(*trainings)
    assert trainings[1].runs <= 2


def test_a_mismatching_call_does_not_count_a_step() -> None:
    training = Training(True, "adam")
    training.step(*batch())
    state = training.trainer._states[0][0]
    training.trainer.optimizer.beta1 = 0.8  # the program of the first call is asked first, and does not hold
    training.step(*batch())
    assert (state["t"], training.trainer.optimizer.num_update, training.runs) == (2, 2, 2)


def test_gradients_computed_outside_of_the_function() -> None:
    trainings = [Training(False), Training(False)]
    update = forerun.hybrid(lambda: trainings[1].trainer.step(6))
    for training, end in zip(trainings, (lambda: trainings[0].trainer.step(6), update)):
        for _ in range(3):
            x, y = batch()
            with autograd.record():
                out = training.loss(training.net(x), y)
            out.backward()
            end()
    assert_same_parameters(*trainings)
    with pytest.raises(RuntimeError, match=r"Trainer\.step: gradients must be computed anew between steps"):
        update()
    assert update.hybridized == "runs as written: it steps a trainer whose gradients it does not compute"


def test_a_function_that_sets_the_rate_runs_as_written() -> None:
    trainings = both()
    for training in trainings:

        def step(x: Any, y: Any, training: Training = training) -> None:
            training.trainer.set_learning_rate(training.trainer.learning_rate / 2)
            training.written(x, y)

        run = forerun.hybrid(step) if training is trainings[1] else step
        for _ in range(3):
            run(*batch())
    assert_same_parameters(*trainings)
    assert trainings[1].trainer.learning_rate == 0.1 / 8


def test_gradients_are_used_once() -> None:
    training = Training(True)
    for _ in range(2):
        training.step(*batch())
    with pytest.raises(RuntimeError, match=r"Trainer\.step: gradients must be computed anew between steps"):
        training.trainer.step(6)


class Fading(optimizer.Optimizer):
    """A rule that depends on a count of its own."""

    count = 0

    def step(self, weight: Any, g: Any, state: Any, lr: Any) -> None:
        self.count += 1
        weight -= lr / self.count * g


def test_a_custom_rule_runs_as_written() -> None:
    trainings = both()
    for training in trainings:
        npx.random.seed(7)
        training.trainer = gluon.Trainer(training.net.collect_params(), Fading(learning_rate=0.1))
        for _ in range(3):
            training.step(*batch())
    assert_same_parameters(*trainings)
    assert trainings[1].runs == 3


def test_two_trainers_and_two_steps_of_one() -> None:
    found = []
    for whole in (False, True):
        npx.random.seed(2)
        nets = dense_network(), dense_network()
        trainers = [gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1}) for net in nets]
        loss = gluon.loss.L2Loss()

        def step(x: Any, nets: Any = nets, trainers: Any = trainers, loss: Any = loss) -> None:
            for net, trainer in ((nets[0], trainers[0]), (nets[1], trainers[1]), (nets[0], trainers[0])):
                with autograd.record():
                    out = loss(net(x), x[:, :3])
                out.backward()
                trainer.step(len(x))

        run = forerun.hybrid(step) if whole else step
        for _ in range(4):
            run(batch()[0])
        found.append([p.data().asnumpy() for net in nets for p in net.collect_params().values()])
        assert [trainer.optimizer.num_update for trainer in trainers] == [8, 4]
    for x, y in zip(*found, strict=True):
        numpy.testing.assert_array_equal(x, y)


def test_an_updater_and_a_separate_optimizer() -> None:
    found = []
    for whole in (False, True):
        w, v = np.ones(4), np.ones(4)
        update = optimizer.Updater(optimizer.create("adam", learning_rate=0.1))
        own = optimizer.create("adam", learning_rate=0.2)
        state = own.create_state(0, v)

        def step(g: Any, update: Any = update, own: Any = own, w: Any = w, v: Any = v, state: Any = state) -> None:
            update(0, g, w)
            own.update(0, v, g * 2, state)

        run = forerun.hybrid(step) if whole else step
        for k in range(4):
            run(np.arange(4.0) + k)
        found.append((w.asnumpy(), v.asnumpy(), update.states[0]["t"], state["t"]))
    numpy.testing.assert_array_equal(found[0][0], found[1][0])
    numpy.testing.assert_array_equal(found[0][1], found[1][1])
    assert found[0][2:] == found[1][2:] == (4, 4)


def test_optimizers_of_torch_take_the_rates_of_their_groups() -> None:
    found = []
    for whole in (False, True):
        w = torch.ones(3, requires_grad=True)
        rule = torch.optim.Adam([w], lr=0.1)

        def step(x: Any, w: Any = w, rule: Any = rule) -> Any:
            rule.zero_grad()
            loss = (w * x).sum() ** 2
            loss.backward()
            rule.step()
            return loss.detach()

        run = forerun.hybrid(step) if whole else step
        for k in range(5):
            rule.param_groups[0]["lr"] = 0.1 / (k + 1)
            run(torch.tensor([1.0, 2.0, 3.0]))
        found.append(w.tolist())
    assert found[0] == found[1]


def test_a_step_in_the_spelling_of_torch_may_return_its_loss() -> None:
    """Recording is always on there: the loss is still an array of the tape, which its backward pass has released."""
    layer = torch.nn.Linear(3, 2)
    start, found = {name: x.clone() for name, x in layer.state_dict().items()}, []
    for whole in (False, True):
        layer.load_state_dict(start)
        rule, criterion = torch.optim.SGD(layer.parameters(), lr=0.1), torch.nn.CrossEntropyLoss()

        def step(x: Any, y: Any, rule: Any = rule, criterion: Any = criterion) -> Any:
            rule.zero_grad()
            loss = criterion(layer(x), y)
            loss.backward()
            rule.step()
            return loss

        run = forerun.hybrid(step) if whole else step
        x, y = torch.tensor([[1.0, 2.0, 3.0], [0.5, 0.0, 1.0]]), torch.tensor([1, 0])
        losses = [run(x, y) for _ in range(4)]
        found.append(([loss.item() for loss in losses], [x.tolist() for x in layer.state_dict().values()]))
        with pytest.raises(RuntimeError, match="backward"):
            losses[-1].backward()
    assert run.hybridized.startswith("1 program: ")
    assert found[0] == found[1]


def test_a_retained_tape_can_be_used_again() -> None:
    w = torch.ones(3, requires_grad=True)

    @forerun.hybrid
    def twice(x: Any) -> Any:
        loss = (w * x).sum() ** 2
        loss.backward(retain_graph=True)
        return loss

    for _ in range(3):
        w.grad.zero_()
        twice(torch.tensor([1.0, 2.0, 3.0])).backward()
        assert w.grad.tolist() == [24.0, 48.0, 72.0]


def test_several_devices(two_devices: Any) -> None:
    found = []
    for whole in (False, True):
        npx.random.seed(5)
        net = dense_network()
        net.initialize(forerun.init.Xavier(), ctx=two_devices, force_reinit=True)
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        loss = gluon.loss.SoftmaxCrossEntropyLoss()

        def step(x: Any, y: Any, net: Any = net, trainer: Any = trainer, loss: Any = loss) -> None:
            with autograd.record():
                parts = zip(*(gluon.utils.split_and_load(z, two_devices) for z in (x, y)))
                losses = [loss(net(a), b) for a, b in parts]
            autograd.backward(losses)
            trainer.step(len(x))

        run = forerun.hybrid(step) if whole else step
        for k in range(4):
            trainer.set_learning_rate(0.1 / (k + 1))
            run(*batch())
        found.append([x.asnumpy() for p in net.collect_params().values() for x in p.list_data()])
    for x, y in zip(*found, strict=True):
        numpy.testing.assert_array_equal(x, y)
