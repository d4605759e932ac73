"""Where an error goes in whole programs: views, writes, devices, gradients, hybridized calls, optimizers, groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import FAILURE_NOTE, UserError, failing_array


def is_bad(x: Any) -> bool:
    """Whether each read of the array raises the task's error, with its line."""
    for _ in range(2):
        try:
            x.asnumpy()
        except UserError as error:
            notes = error.__notes__
        else:
            return False
        assert notes == [FAILURE_NOTE]
    return True


VIEWS: dict[str, Callable[[Any], Any]] = {
    "slice": lambda x: x[1:],
    "row": lambda x: x[0],
    "transposed": lambda x: x.T,
    "reshaped": lambda x: x.reshape(-1),
    "broadcast": lambda x: np.broadcast_to(x, (2, 3, 3)),
    "view of a view": lambda x: x[::2].T[None],
    "diagonal": np.diagonal,
    "part": lambda x: np.split(x, 3)[2],
    "empty": lambda x: x[:0],
}


class TestViews:
    @pytest.mark.parametrize("view", VIEWS)
    def test_views_of_a_poisoned_base_raise(self, view, ahead_failing):
        """Views made before the failure and after it, and results computed from them."""
        with closed_gate():
            x = failing_array(UserError("here"), (3, 3))
            early = VIEWS[view](x)
            result = early + 1
        assert is_bad(early)
        assert is_bad(VIEWS[view](x))
        assert is_bad(result)

    def test_write_of_the_whole_base_heals_them(self, ahead_failing):
        x = failing_array(UserError("here"), (3, 3))
        row = x[1]
        x[...] = 2
        assert row.tolist() == [2, 2, 2]

    def test_write_through_a_view_of_everything_heals(self, ahead_failing):
        x = failing_array(UserError("here"), (3, 3))
        x.reshape(-1)[:] = 2
        assert x.tolist() == [[2] * 3] * 3

    def test_write_of_a_part_does_not(self, ahead_failing):
        x = failing_array(UserError("here"), (3, 3))
        x[0] = 1
        x[1:] = 1  # each part of it, but never all of it
        assert is_bad(x)

    def test_a_failed_write_of_a_part_poisons_overlapping_views(self, ahead_failing):
        x = np.zeros((3, 3))
        before, other = x + 1, x[2]
        x[0] = failing_array(UserError("here"))
        assert is_bad(x)
        assert is_bad(x[:, 1])
        assert is_bad(x[:2, 1:] + 1)
        assert (other + x[1]).tolist() == [0] * 3
        assert before.tolist() == [[1] * 3] * 3

    @pytest.mark.parametrize(
        "write",
        [
            lambda x, y: np.add(x, y, out=y),
            lambda x, y: np.exp(x, out=y),
            lambda x, y: np.sum(x, axis=0, out=y[0]),
            lambda x, y: np.copyto(y, x),
            lambda x, y: y.__iadd__(x),
            lambda x, y: y.__setitem__(slice(None), x),
            lambda x, y: y.__setitem__(np.array([0, 1, 2]), x),
            lambda x, y: y.__setitem__(x > 0, 1.0),
            lambda x, y: np.clip(x, 0, 1, out=y),
        ],
    )
    def test_out_and_in_place(self, write, ahead_failing):
        y = np.ones((3, 3))
        good = y * 2
        write(failing_array(UserError("here"), (3, 3)), y)
        assert is_bad(y)
        assert is_bad(y + 1)
        assert good.tolist() == [[2] * 3] * 3
        y[...] = 0
        assert y.tolist() == [[0] * 3] * 3

    def test_numpy_array_as_out(self, ahead_failing):
        a = numpy.zeros(3)
        with pytest.raises(UserError):
            a += failing_array(UserError("here"))
        assert a.tolist() == [0, 0, 0]


class TestDevices:
    def test_copies_propagate_the_error(self, two_devices):
        first, second = two_devices
        x = failing_array(UserError("here"), device=first)
        y = x.copyto(second)
        z = (y + 1).as_in_ctx(first)
        assert all(is_bad(a) for a in (x, y, z, y[1:]))
        assert (np.ones(3, device=second) + 1).tolist() == [2, 2, 2]

    def test_a_copy_into_an_array_poisons_and_repairs_it(self, two_devices):
        first, second = two_devices
        y = np.ones(3, device=second)
        failing_array(UserError("here"), device=first).copyto(y)
        assert is_bad(y)
        np.ones(3, device=first).copyto(y)
        assert y.tolist() == [1, 1, 1]


class TestGradients:
    def test_poisoned_intermediate_value(self, ahead_failing):
        w, v = np.ones(3), np.ones(3)
        w.attach_grad()
        v.attach_grad()
        with autograd.record():
            loss = (w * failing_array(UserError("here")) + v * 2).sum()
        loss.backward()
        assert is_bad(loss)
        assert is_bad(w.grad)
        assert v.grad.tolist() == [2, 2, 2]  # nothing in it comes from there
        assert w.tolist() == [1, 1, 1]

    def test_the_next_backward_heals(self, ahead_failing):
        w = np.ones(3)
        w.attach_grad()
        for values in (failing_array(UserError("here")), np.ones(3)):
            with autograd.record():
                loss = (w * values).sum()
            loss.backward()
        assert w.grad.tolist() == [1, 1, 1]

    def test_added_gradients_do_not_heal(self, ahead_failing):
        """With "add", the previous sum stays part of the gradient, until it is set to zero."""
        w = np.ones(3)
        w.attach_grad("add")
        for values in (failing_array(UserError("here")), np.ones(3)):
            with autograd.record():
                loss = (w * values).sum()
            loss.backward()
        assert is_bad(w.grad)
        w.grad[...] = 0
        with autograd.record():
            loss = (w * 3).sum()
        loss.backward()
        assert w.grad.tolist() == [3, 3, 3]

    def test_bad_leaf(self, ahead_failing):
        w = failing_array(UserError("here"))
        w.attach_grad()
        with autograd.record():
            loss = (w * w).sum()
        loss.backward()
        assert is_bad(w.grad)

    def test_custom_function(self, ahead_failing):
        class Fails(autograd.Function):
            def forward(self, x: Any) -> Any:
                return x * 2

            def backward(self, g: Any) -> Any:
                return g * failing_array(UserError("here"))

        w = np.ones(3)
        w.attach_grad()
        with autograd.record():
            loss = Fails()(w).sum()
        loss.backward()
        assert loss.item() == 6
        assert is_bad(w.grad)


def dense() -> Any:
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(4, in_units=3, activation="relu"), gluon.nn.Dense(2, in_units=4))
    net.initialize()
    return net


@pytest.mark.parametrize("hybridized", [False, True])
class TestNetworks:
    def test_bad_batch(self, hybridized, ahead_failing):
        net = dense()
        if hybridized:
            net.hybridize()
        good = np.ones((5, 3))
        want = net(good).asnumpy()
        assert is_bad(net(failing_array(UserError("here"), (5, 3))))
        assert (net(good).asnumpy() == want).all()

    def test_poisoned_gradient_poisons_only_the_parameters(self, hybridized, ahead_failing):
        net = dense()
        if hybridized:
            net.hybridize()
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        for batch in (np.ones((5, 3)), failing_array(UserError("here"), (5, 3))):
            with autograd.record():
                loss = (net(batch) ** 2).sum()
            loss.backward()
            trainer.step(5)
        parameters = [p.data() for p in net.collect_params().values()]
        assert all(is_bad(p) for p in parameters)
        assert is_bad(net(np.ones((5, 3))))
        assert dense()(np.ones((5, 3))).asnumpy().shape == (5, 2)  # another network is fine
        for p in net.collect_params().values():
            p.set_data(np.ones(p.shape))
        assert net(np.ones((1, 3))).tolist() == [[17, 17]]


def test_failure_inside_a_hybridized_call(ahead_failing):
    """It poisons all results of the call, and the line is that of the call."""

    class Lookup(gluon.nn.HybridBlock):
        def forward(self, x: Any, i: Any) -> Any:
            return np.take(x, i), x + 1

    block = Lookup()
    block.hybridize()
    x = np.arange(3.0)
    for _ in range(3):
        found, more = block(x, np.array([1]))
    assert (found.tolist(), more.tolist()) == ([1], [1, 2, 3])
    results = block(x, np.array([7]))
    line = test_failure_inside_a_hybridized_call.__code__.co_firstlineno + 13
    for r in results:
        with pytest.raises(IndexError, match="got 7") as caught:
            r.wait()
        assert caught.value.__notes__ == [f"issued at {__file__}:{line}"]
    assert block(x, np.array([2]))[0].tolist() == [2]


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop", "adagrad"])
def test_optimizer_step_with_a_bad_gradient(optimizer, ahead_failing):
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), optimizer, {"learning_rate": 0.1})
    with autograd.record():
        loss = net(np.ones((1, 2))).sum()
    loss.backward()
    net.weight.grad()[...] = failing_array(UserError("here"), (1, 2))
    trainer.step(1)
    assert is_bad(net.weight.data())
    assert net.bias.data().asnumpy().shape == (1,)


def test_random_numbers(ahead_failing):
    """Those with bad parameters are bad; the numbers that follow are the same as without it."""
    npx.random.seed(5)
    np.random.normal(np.zeros(3), 1.0)
    want = np.random.normal(size=(3,)).tolist()
    npx.random.seed(5)
    x = np.random.normal(failing_array(UserError("here")), 1.0)
    assert np.random.normal(size=(3,)).tolist() == want
    assert is_bad(x)


def test_several_outputs(ahead_failing):
    parts = host(lambda x: (x, x + 1), [failing_array(UserError("here"))], [((3,), "float32")] * 2)
    assert all(is_bad(p) for p in parts)
    assert all(is_bad(p) for p in np.linalg.qr(failing_array(UserError("here"), (3, 3))))


class TestGroups:
    """Ops that would run as one: a member with a bad input takes no other with it."""

    @pytest.fixture(autouse=True)
    def all_are_worth_a_group(self) -> Iterator[None]:
        _core.set_fuse_from(0)
        yield
        _core.set_fuse_from(500)

    def test_bad_input(self, ahead_failing):
        x = np.ones(5000)
        forerun.waitall()
        with closed_gate():
            p = failing_array(UserError("here"), (5000,))
            a = x + 1
            b = a * p
            c = a * 3
            d = (b + c).sum()
            e = c.sum()
            del b
        assert is_bad(d)
        assert (a[7].item(), c[7].item(), e.item()) == (2, 6, 30000)

    def test_failing_member_of_a_group(self, ahead_failing):
        """Integers to a negative power fail where the values tell so."""
        x = np.array([2, 3, 4], dtype="int64")
        forerun.waitall()
        with closed_gate():
            a = x + 1
            b = a ** np.array([1, -1, 1])
            c = a * 2
            d = b + c
        assert (a.tolist(), c.tolist()) == ([3, 4, 5], [6, 8, 10])
        for y in (b, d):
            with pytest.raises(ValueError, match="negative"):
                y.wait()
