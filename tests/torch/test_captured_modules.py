"""Captured functions that use modules: later calls see changes of a module."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import forerun
from forerun import torch
from forerun.torch import nn

pytestmark = pytest.mark.usefixtures("engine")

X = [[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]]


def torch_network() -> Any:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.5), nn.Linear(8, 2))


def as_written(net: Any, x: Any) -> Any:
    torch.manual_seed(1)
    return net(x).tolist()


CHANGES: dict[str, Callable[[Any], Any]] = {
    "eval": lambda net: net.eval(),
    "training of one": lambda net: setattr(net[1], "training", False),
    "a weight": lambda net: setattr(net[0], "weight", nn.Parameter(torch.zeros(8, 3))),
    "values": lambda net: net.load_state_dict({name: x * 2 for name, x in net.state_dict().items()}),
    "another module": lambda net: net.append(nn.ReLU()),
    "a module's number": lambda net: setattr(net[1], "p", 0.9),
    "dtype": lambda net: net.to(torch.float64).to(torch.float32),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_of_a_module_is_seen(name: str) -> None:
    net, x = torch_network(), torch.tensor(X)
    captured = forerun.hybrid(lambda x: net(x))
    for _ in range(3):
        captured(x)
    assert captured.hybridized.startswith("1 program")
    CHANGES[name](net)
    for _ in range(2):
        torch.manual_seed(1)
        assert captured(x).tolist() == as_written(net, x)
    assert captured.hybridized.startswith("1 program")


def test_a_parameter_that_is_frozen_is_not_trained_on() -> None:
    net, x = torch_network().eval(), torch.tensor(X)
    rule = torch.optim.SGD(net.parameters(), lr=0.1)

    @forerun.hybrid
    def step(x: Any) -> Any:
        rule.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        rule.step()
        return loss

    for _ in range(3):
        step(x)
    for parameter in net[0].parameters():
        parameter.requires_grad_(False)
    frozen, trained = net[0].weight.tolist(), net[2].weight.tolist()
    for _ in range(3):
        step(x)
    assert net[0].weight.tolist() == frozen
    assert net[2].weight.tolist() != trained


def test_other_modules_do_not_matter() -> None:
    net, other, x = torch_network().eval(), torch_network(), torch.tensor(X)
    captured = forerun.hybrid(lambda x: net(x))
    for _ in range(3):
        captured(x)
    program = next(iter(captured._recorded.programs))
    other.eval()
    net.eval()  # it is so already
    captured(x)
    assert list(captured._recorded.programs) == [program]


def test_a_forward_that_sets_attributes_runs_as_written() -> None:
    class Counts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x * 2

    counts = Counts()
    captured = forerun.hybrid(lambda x: counts(x))
    for _ in range(4):
        captured(torch.ones(2))
    assert counts.calls == 4
    assert captured.hybridized == "runs as written: its forward sets Counts.calls"


def test_parameters_of_unknown_shape_are_made_in_the_first_call() -> None:
    net, x = nn.Sequential(nn.LazyLinear(4), nn.ReLU()), torch.tensor(X)
    captured = forerun.hybrid(lambda x: net(x))
    values = [captured(x).tolist() for _ in range(3)]
    assert captured.hybridized == "1 program: matmul, add, maximum"
    assert values == [as_written(net, x)] * 3


def test_copies_have_changes_of_their_own() -> None:
    net, x = torch_network().eval(), torch.tensor(X)
    captured = forerun.hybrid(lambda x: net(x))
    for _ in range(3):
        captured(x)
    twin = copy.deepcopy(net)
    twin[0].weight = nn.Parameter(torch.zeros(8, 3))
    assert captured(x).tolist() == as_written(net, x) != as_written(twin, x)
