"""A change of a block or a parameter invalidates everything that was computed from it, in each of its trees, and
nothing else."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from collections.abc import Callable
from typing import Any

import pytest

from forerun import autograd, gluon, np
from forerun.gluon import nn


class Scaled(gluon.HybridBlock):
    """Multiplies by an attribute and a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.times = 1.0
        self.weight = gluon.Parameter("weight", shape=(1,), init="ones")

    def forward(self, x: Any) -> Any:
        return x * self.times * self.weight.data(x.device)


X = np.ones(2)


def net_of(*blocks: gluon.Block) -> Any:
    """A hybridized net that has been called and recorded."""
    net = nn.HybridSequential()
    net.add(*blocks)
    net.initialize()
    net.hybridize()
    net(X)
    net(X)
    return net


def stale(net: Any) -> bool:
    """Whether the net's next call reads its blocks and parameters again."""
    return net._recorded.read.stale


def trainer_of(net: Any) -> gluon.Trainer:
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    trainer._trained()
    return trainer


CHANGES: dict[str, Callable[[Any], Any]] = {
    "attribute of a block": lambda net: setattr(net[0], "times", 3.0),
    "attribute of a parameter": lambda net: setattr(net[0].weight, "lr_mult", 2.0),
    "grad_req": lambda net: net.setattr("grad_req", "null"),
    "cast": lambda net: net.cast("float64"),
    "initialize": lambda net: net.initialize("zeros", force_reinit=True),
    "reset_ctx": lambda net: net.reset_ctx("cpu"),
    "parameter": lambda net: setattr(net[0], "weight", net[1].weight),
    "shared parameters": lambda net: net[0].share_parameters(net[1].collect_params()),
    "new parameter": lambda net: net[0].params.get("bias", shape=(1,)),
    "parameter by name": lambda net: net[0].params.__setitem__("bias", net[1].weight),
    "no parameter": lambda net: net[0].params.__delitem__("weight"),
    "new block": lambda net: net.add(nn.Identity()),
    "hook": lambda net: net[0].register_forward_hook(lambda *args: None),
    "hybridize": lambda net: net[0].hybridize(False),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_changes_concern_their_own_tree(change: Callable[[Any], Any]) -> None:
    net, other = net_of(Scaled(), Scaled()), net_of(Scaled(), Scaled())
    assert not stale(net)
    assert not stale(other)
    change(net)
    assert stale(net)
    assert not stale(other)


def test_attributes_may_have_any_name() -> None:
    block = Scaled()
    block._changes, block._snapshots = ["a"], None
    net = net_of(block)
    block._changes = ["b"]
    assert stale(net)


def test_the_end_of_a_hook_is_a_change() -> None:
    net = net_of(Scaled())
    hook = net[0].register_forward_hook(lambda *args: None)
    net(X)
    assert "hooks" in net.hybridized
    hook.detach()
    net(X)
    assert "1 program" in net.hybridized


def test_trainers_read_their_own_parameters_again() -> None:
    net, other = net_of(Scaled()), net_of(Scaled())
    trainer, its_own = trainer_of(net), trainer_of(other)
    before = its_own._snapshot
    net.setattr("grad_req", "null")
    assert trainer._snapshot.stale
    assert trainer._trained() == []
    assert not its_own._snapshot.stale
    assert [i for i, _ in its_own._trained()] == [0]
    assert its_own._snapshot is before


def test_changes_reach_every_tree_that_has_the_parameter() -> None:
    first = net_of(Scaled())
    second, third = net_of(Scaled()), net_of(Scaled())
    second.share_parameters(first.collect_params())
    second(X)
    trainer = trainer_of(second)
    first[0].weight.lr_mult = 2.0
    assert stale(first)
    assert stale(second)
    assert trainer._snapshot.stale
    assert not stale(third)


def test_a_block_that_moves_belongs_to_its_new_tree() -> None:
    moved = Scaled()
    old, new = net_of(moved), net_of(Scaled())
    new.add(moved)
    assert stale(new)
    assert not stale(old)
    assert new(X).tolist() == [1, 1]
    moved.times = 3.0  # in both now
    assert (old(X).tolist(), new(X).tolist()) == ([3, 3], [3, 3])
    old.register_child(Scaled(), "0")
    old.initialize()
    assert (old(X).tolist(), stale(new)) == ([1, 1], False)
    moved.times = 5.0  # no longer in the old one
    moved.weight.set_data(np.full(1, 2.0))
    assert not stale(old)
    assert (old(X).tolist(), new(X).tolist()) == ([1, 1], [10, 10])


def test_no_change_is_lost_between_threads() -> None:
    block = Scaled()
    net = net_of(block, Scaled())
    net._recorded.recorded._captures = -10_000  # is captured anew after each change, however many there are
    started, lower_bound, wrong = threading.Barrier(3), [1.0], []

    def read() -> None:
        started.wait()
        while lower_bound[0] < 100:
            least = lower_bound[0]
            found = net(X)[0].item()
            if found < least:
                wrong.append((least, found))

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    started.wait()
    for times in range(2, 101):
        block.times = float(times)
        lower_bound[0] = float(times)
        net(X)
    for thread in readers:
        thread.join()
    assert not wrong
    assert net(X).tolist() == [100, 100]


def test_a_change_during_a_capture_discards_the_program() -> None:
    block = Scaled()
    block.initialize()
    inside, go_on = threading.Event(), threading.Event()

    class Slow(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            y = block(x)
            if threading.current_thread() is thread:
                inside.set()
                assert go_on.wait(60)
            return y

    net = nn.HybridSequential()
    net.add(Slow(), block)
    net.hybridize()
    thread = threading.Thread(target=lambda: net(X))
    thread.start()
    assert inside.wait(60)
    block.times = 2.0
    assert net(X).tolist() == [4, 4]
    go_on.set()
    thread.join()
    assert net(X).tolist() == [4, 4]


def test_readers_of_a_parameter_are_freed() -> None:
    block = Scaled()
    block.initialize()
    for _ in range(20):
        net_of(block)
    net = net_of(block)
    for times in range(20):
        net.times = times
        net(X)
    gc.collect()
    assert len(block.weight.__dict__["(snapshots)"].snapshots) == 1


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_have_changes_of_their_own(copied: Callable[[Any], Any]) -> None:
    net = net_of(nn.Dense(1, in_units=1))
    net.hybridize()
    net._recorded._revalidate()
    trainer = trainer_of(net)
    twin, trainers_twin = copied((net, trainer))
    assert stale(twin)
    assert trainers_twin._snapshot.stale
    assert twin(X).tolist() == net(X).tolist()
    trainers_twin._trained()
    twin.setattr("grad_req", "null")
    assert trainers_twin._trained() == []
    assert not trainer._snapshot.stale


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_capture_programs_of_their_own(copied: Callable[[Any], Any]) -> None:
    """Of a network that has been trained: its programs and their arrays stay behind."""
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu", in_units=2), nn.Dense(1, in_units=3))
    net.initialize()
    net.hybridize()
    x = np.ones((2, 2))
    for _ in range(3):
        with autograd.record():
            total = net(x).sum()
        total.backward()
    twin = copied(net)
    assert twin.hybridized == "0 programs"
    assert [twin(x).tolist() for _ in range(3)] == [net(x).tolist() for _ in range(3)]
    assert twin.hybridized.startswith("1 program: matmul")
