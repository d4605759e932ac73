"""Two logical devices on one CPU: the place of arrays, operands on two devices, and the queue for copies."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, profiler
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.settings import running

MODES: dict[str, str] = {"sync": "sync", "1 worker each": "1 worker", "4 workers each": "4 workers"}
PATIENCE = 60.0


@pytest.fixture(params=MODES)
def two(request: pytest.FixtureRequest) -> Iterator[str]:
    """Two devices, in each mode of the engine."""
    with running(MODES[request.param]):
        forerun.configure(cpu_devices=2)
        yield MODES[request.param]


@pytest.fixture(params=[mode for mode in MODES if mode != "sync"])
def ahead(request: pytest.FixtureRequest) -> Iterator[str]:
    """Two devices, in the modes in which the front end runs ahead."""
    with running(MODES[request.param]):
        forerun.configure(cpu_devices=2)
        yield MODES[request.param]


HERE, THERE = forerun.cpu(0), forerun.cpu(1)


def test_a_pickled_device_is_equal_in_another_process() -> None:
    """Hashes of texts differ between processes: one that came with the device would find no entry."""
    program = "import pickle, sys, forerun; print({forerun.cpu(1): 7}[pickle.load(sys.stdin.buffer)])"
    for seed in ("1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", program], input=pickle.dumps(THERE), capture_output=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )  # fmt: skip
        assert ran.stdout.split() == [b"7"]


class TestDevice:
    def test_names(self, two):
        assert forerun.devices() == [HERE, THERE]
        assert repr(THERE) == "cpu(1)"
        assert (THERE.device_type, THERE.device_id) == ("cpu", 1)
        assert len({forerun.cpu(), forerun.cpu(0), THERE, forerun.gpu(1)}) == 3
        assert HERE != "cpu(0)"

    @pytest.mark.parametrize("device", [forerun.cpu(64), forerun.cpu(-1), forerun.gpu(-1), "cpu:64", "gpu:64", "tpu:1"])
    def test_missing_device_raises(self, two, device):
        for use in (
            lambda: np.ones(2, device=device),
            lambda: np.array([1.0], ctx=device),
            lambda: np.ones(2).to_device(device),
            lambda: np.random.normal(size=2, device=device),
        ):
            with pytest.raises(ValueError, match=r"device: must be one of cpu\(0\) to cpu\(63\).*, got "):
                use()

    def test_invalid_device_string_raises(self, two):
        with pytest.raises(ValueError, match=r"device: .* got 'cpu:x'"):
            np.ones(2, device="cpu:x")

    def test_invalid_device_object_raises(self, two):
        with pytest.raises(TypeError, match=r"device: .* got float"):
            np.ones(2, device=1.5)


class TestPlace:
    @pytest.mark.parametrize(
        "make",
        [
            lambda d: np.ones(3, device=d),
            lambda d: np.zeros((2, 2), ctx=d),
            lambda d: np.array([1, 2], device=d),
            lambda d: np.arange(4, device=d),
            lambda d: np.full((2,), 7, device=d),
            lambda d: np.empty((2,), device=d),
            lambda d: np.eye(3, device=d),
            lambda d: np.linspace(0, 1, 5, device=d),
            lambda d: np.random.normal(size=(2,), device=d),
            lambda d: np.random.randint(5, size=(2,), device=d),
        ],
    )
    @pytest.mark.parametrize("place", [THERE, "cpu:1"])
    def test_new_arrays(self, two, make, place):
        assert make(place).device == THERE
        assert make(None).device == HERE
        with THERE:
            assert make(None).device == THERE

    @pytest.mark.parametrize(
        "f",
        [
            lambda x: x + 1,
            lambda x: 2 - x,
            lambda x: x.sum(),
            lambda x: x.T,
            lambda x: x[1:, ::2],
            lambda x: x.reshape(-1),
            lambda x: x @ x.T,
            lambda x: x.astype("int32"),
            lambda x: x.copy(),
            lambda x: np.concatenate([x, x]),
            lambda x: np.take(x, [0, 1]),
            lambda x: np.sort(x),
            lambda x: np.zeros_like(x),
            lambda x: np.where(x > 0, x, 0),
            lambda x: x + numpy.ones((3, 4), "float32"),
            lambda x: np.cumsum(x, axis=0),
        ],
    )
    def test_results_are_where_the_operands_are(self, two, f):
        x = np.ones((3, 4), device=THERE)
        assert f(x).device == THERE
        assert numpy.array_equal(f(x).asnumpy(), f(np.ones((3, 4))).asnumpy())

    def test_context_manager(self, two):
        with THERE as entered:
            assert entered == THERE
            assert forerun.current_device() == THERE
            with HERE:
                assert np.ones(1).device == HERE
            assert np.ones(1).device == THERE
        assert forerun.current_device() == HERE

    def test_context_manager_ends_behind_an_error(self, two):
        with pytest.raises(KeyError), THERE:
            raise KeyError
        assert np.ones(1).device == HERE

    def test_repr_names_another_device(self, two):
        assert repr(np.ones(2, device=THERE)) == "array([1., 1.], device=cpu(1))"
        assert "cpu" not in repr(np.ones(2))


class TestMeeting:
    @pytest.mark.parametrize(
        ("name", "f"),
        [
            ("add", lambda a, b: a + b),
            ("multiply", lambda a, b: b * a),
            ("add", lambda a, b: a.__iadd__(b)),
            ("less", lambda a, b: a < b),
            ("where", lambda a, b: np.where(a > 0, a, b)),
            ("matmul", lambda a, b: a @ b),
            ("matmul", lambda a, b: np.tensordot(b, a, 1)),
            ("host", lambda a, b: host(lambda u, v: u, [a, b], [((3, 3), "float32")])),
            ("concatenate", lambda a, b: np.concatenate([a, b])),
            ("concatenate", lambda a, b: np.stack([a, b])),
        ],
    )
    def test_two_devices_in_one_op_are_refused_at_the_call(self, two, name, f):
        a, b = np.ones((3, 3)), np.ones((3, 3), device=THERE)
        issued = forerun.stats()["issued"]
        with pytest.raises(ValueError, match=rf"{name}: .*one device, got cpu\([01]\) and cpu\([01]\)"):
            f(a, b)
        assert forerun.stats()["issued"] - issued <= 1  # `a > 0` may be
        assert a.tolist() == b.tolist()

    def test_out_on_another_device_is_refused(self, two):
        a, b = np.ones(3), np.zeros(3, device=THERE)
        with pytest.raises(ValueError, match="add: out must be on the inputs' device"):
            np.add(a, a, out=b)
        assert b.tolist() == [0, 0, 0]


class TestCopies:
    @pytest.mark.parametrize(
        "copy",
        [
            lambda x: x.copyto(THERE),
            lambda x: x.as_in_ctx(THERE),
            lambda x: x.as_in_context(THERE),
            lambda x: x.to_device("cpu:1"),
            lambda x: np.array(x, device=THERE),
            lambda x: x.copyto(np.zeros((3, 4), device=THERE)),
        ],
    )
    @pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T.copy().T, lambda x: x[::-1]])
    def test_values(self, two, copy, layout):
        x = layout(np.arange(12, dtype="float32").reshape(3, 4))
        expected = x.tolist()
        y = copy(x)
        x += 1
        assert y.device == THERE
        assert y.tolist() == expected

    def test_as_in_ctx_on_the_same_device_returns_the_array(self, two):
        x = np.ones(3)
        assert x.as_in_ctx(HERE) is x
        y = x.copyto(HERE)
        y += 1
        assert x.tolist() == [1, 1, 1]

    def test_assignment_across(self, two):
        x, y = np.zeros((2, 3)), np.arange(3, dtype="float32").copyto(THERE)
        x[1] = y
        assert x.tolist() == [[0, 0, 0], [0, 1, 2]]
        assert x.device == HERE

    def test_copy_to_another_device_and_back(self, two):
        x = np.arange(50_000)
        y = x
        for i in range(20):
            y = y.copyto(THERE if i % 2 == 0 else HERE) + 1
        assert y.device == HERE
        assert numpy.array_equal(y.asnumpy(), numpy.arange(50_000) + 20)

    def test_source_is_written_after_the_copy_was_issued(self, ahead):
        with closed_gate():
            x = np.ones(1000)
            y = x.copyto(THERE)
            x[...] = 5
            z = x.copyto(THERE) - y
        assert set(z.tolist()) == {4}

    def test_copies_run_on_the_copy_queue(self, ahead):
        x = np.ones(1000)
        x.wait()
        with profiler.record() as p:
            copies = [x.copyto(THERE), x.copyto(HERE), x.copyto(np.zeros(1000, device=THERE))]
            y = x + 1
            _core.wait([*copies, y])
        ops = p.trace.ops
        assert sorted((e.queue, e.device) for e in ops if e.name == "copy") == [
            ("copy", 0),
            ("copy", 1),
            ("copy", 1),
        ]
        assert {e.queue for e in ops if e.name != "copy"} == {"compute"}

    def test_copy_overlaps_with_compute(self, ahead):
        """While a task holds the only worker of a device, copies to it go on."""
        go = threading.Event()
        x = np.arange(1000)
        task = host(lambda: (go.wait(PATIENCE), 1)[1], [], [((), "int64")], device=HERE)[0]
        try:
            back = (x.copyto(THERE) * 2).copyto(HERE)
            back.wait()
            assert not task.ready
        finally:
            go.set()
        assert numpy.array_equal(back.asnumpy(), numpy.arange(1000) * 2)
        assert task.item() == 1

    def test_devices_do_not_wait_for_one_another(self, ahead):
        go = threading.Event()
        task = host(lambda: (go.wait(PATIENCE), 1)[1], [], [((), "int64")], device=HERE)[0]
        try:
            x = (np.ones((20, 20), device=THERE) @ np.ones((20, 20), device=THERE)).sum()
            assert x.item() == 8000
            assert not task.ready
        finally:
            go.set()
        assert task.item() == 1

    def test_copies_propagate_errors(self, ahead):
        y = np.take(np.ones(3), np.array([7])).copyto(THERE) + 1
        for _ in range(2):
            with pytest.raises(IndexError, match="take: "):
                y.wait()


class TestGradients:
    def test_through_a_copy(self, two):
        x = np.array([1.0, 2.0, 3.0])
        x.attach_grad()
        with autograd.record():
            y = (x * 2).copyto(THERE)
            z = (y * y).sum()
        z.backward()
        assert z.device == THERE
        assert x.grad.device == HERE
        assert x.grad.tolist() == [8, 16, 24]

    def test_leaves_on_two_devices(self, two):
        w, v = np.array([2.0]), np.array([3.0], device=THERE)
        for leaf in (w, v):
            leaf.attach_grad()
        with autograd.record():
            loss = (w.as_in_ctx(THERE) * v * v).as_in_ctx(HERE) * w
        loss.backward()
        assert (w.grad.item(), v.grad.item()) == (36, 24)
        assert (w.grad.device, v.grad.device) == (HERE, THERE)


class TestConfigure:
    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_number_of_devices(self, n):
        with running("4 workers"):
            forerun.configure(cpu_devices=n)
            arrays = [np.full(10, i, device=forerun.cpu(i)) + 1 for i in range(n)]
            assert [x[0].item() for x in arrays] == list(range(1, n + 1))
            assert len(forerun.devices()) == n

    def test_context_of_a_removed_device(self):
        with running("1 worker"):
            forerun.configure(cpu_devices=2)
            with THERE:
                forerun.configure(cpu_devices=1)
                assert np.ones(1).device == THERE  # it shares the cores now
            assert np.ones(1).device == HERE

    def test_values_of_a_removed_device_can_be_read(self):
        with running("1 worker"):
            forerun.configure(cpu_devices=2)
            x = np.ones(3, device=THERE) + 1
            forerun.configure(cpu_devices=1)
            assert x.tolist() == [2, 2, 2]

    def test_ops_on_a_device_over_which_the_cores_are_not_split_any_more(self):
        with running("1 worker"):
            forerun.configure(cpu_devices=2)
            x = np.ones(3, device=THERE)
            forerun.configure(cpu_devices=1)
            for y in (x + 1, x * 2, x.copy() + 1):
                assert y.device == THERE
                assert y.tolist() == [2, 2, 2]
            assert forerun.devices() == [HERE]


def data_parallel_sums(place: Callable[[int], Any]) -> list[Any]:
    """Data-parallel sums: each half of a batch on its device, summed on the first."""
    np.random.seed(3)
    w = np.random.normal(size=(64, 64), device=place(0))
    total = np.zeros((64, 64), device=place(0))
    for _ in range(20):
        x = np.random.normal(size=(128, 64), device=place(0))
        halves = [x[:64].to_device(place(0)), x[64:].to_device(place(1))]
        parts = [np.tanh(h @ w.to_device(h.device)) for h in halves]
        total += parts[0].to_device(place(0)) + parts[1].to_device(place(0))
        w = w * 0.9 + total * 0.01
    return w.tolist()


def test_two_devices_compute_the_results_of_one(two):
    assert data_parallel_sums(forerun.cpu) == data_parallel_sums(lambda i: HERE)
