"""Gradients of views: added where they belong, so that many views of one array cost no more than the array."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, np, profiler

N, WIDTH = 64, 4096
WEIGHTS = numpy.arange(1, N + 1, dtype="float32")


def rows(x: Any) -> Any:
    """Each row in a view of its own, times its number."""
    total = x[0] * 1
    for i in range(1, N):
        total = total + x[i] * float(WEIGHTS[i])
    return total


def bytes_taken(function: Callable[[], Any]) -> int:
    """The memory that its ops took for their results."""
    profile = profiler.start()
    function()
    return sum(op.bytes for op in profile.stop().ops)


@pytest.mark.parametrize("leaf", [True, False])
def test_many_views_cost_about_as_much_as_one(leaf: bool) -> None:
    x = np.ones((N, WIDTH))
    x.attach_grad()
    with autograd.record():
        y = rows(x if leaf else x * 1)
    taken = bytes_taken(y.backward)
    assert taken < 8 * x.nbytes, f"{taken / x.nbytes:.1f} times the array"
    assert (x.grad.asnumpy() == WEIGHTS[:, None]).all()


@pytest.mark.parametrize("wanted", ["write", "add"])
@pytest.mark.parametrize("leaf", [True, False])
def test_views_that_overlap_are_added_up(leaf: bool, wanted: str) -> None:
    x = np.arange(6, dtype="float64")
    x.attach_grad(wanted)
    for _ in range(2):
        with autograd.record():
            z = x if leaf else x * 1
            y = (z[1:4] * 2).sum() + (z * 10).sum() + (z[::2] * 3).sum() + z[-1] * 5 + (z[None, 2:3] * 7).sum()
        y.backward()
    once = numpy.array([13.0, 12, 22, 12, 13, 15])
    assert (x.grad.asnumpy() == once * (2 if wanted == "add" else 1)).all()


def test_a_head_gradient_is_not_changed() -> None:
    """The sum is made in an array of the backward pass, not in the first gradient that arrives."""
    x = np.ones(4)
    x.attach_grad()
    given = np.ones(4)
    with autograd.record():
        z = x * 1
        total = z[0] * 2
        y = z.reshape(2, 2)  # later than the view, so its gradient arrives first
    autograd.backward([y, total], [given.reshape(2, 2), np.array(1.0)])
    assert given.tolist() == [1, 1, 1, 1]
    assert x.grad.tolist() == [3, 1, 1, 1]


def test_gradients_of_gradients_go_through_views() -> None:
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        z = x * 1
        y = z[0] * z[0] * z[1] + z[1:].sum() ** 3
        dx = autograd.grad(y, x, create_graph=True)
        dx.sum().backward()
    assert dx.tolist() == [12, 4 + 27]
    assert x.grad.tolist() == [6 + 4, 4 + 18]


def test_an_intermediate_gradient_is_found() -> None:
    x = np.array([2.0, 3.0])
    x.attach_grad()
    with autograd.record():
        z = x * 1
        y = z[0] * 5 + z[1] * 7
        found = autograd.grad(y, [z, x], create_graph=False)
    assert [g.tolist() for g in found] == [[5, 7], [5, 7]]
