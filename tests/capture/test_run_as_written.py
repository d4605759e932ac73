"""Functions that run as written: errors, outer tapes, attributes that are set, results other than arrays."""

from __future__ import annotations

from typing import Any

import pytest

from forerun import _core, autograd, gluon, np
from forerun.gluon import nn

pytestmark = pytest.mark.usefixtures("engine")


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


def test_custom_functions_run_as_written() -> None:
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
