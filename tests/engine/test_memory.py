"""Memory: run-ahead does not cost any, limits hold, and the memory of dropped arrays is returned."""

from __future__ import annotations

import gc
import os
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.np import host
from forerun.testing import closed_gate

MB = 1 << 20
N = MB // 4  # float32 elements in a megabyte


def live() -> int:
    """Bytes of arrays once all work has ended."""
    gc.collect()
    forerun.waitall()
    _core.quiesce()
    return forerun.memory()["live"]


def peak(program: Callable[[Callable[[], None]], Any], barrier: bool) -> int:
    """The most bytes a program had live, beyond those of before. It calls its argument once in each iteration."""
    before = live()
    _core.reset_peak()
    program(forerun.waitall if barrier else lambda: None)
    forerun.waitall()
    return forerun.memory()["peak"] - before


def branches(each: Callable[[], None]) -> None:
    """Sums of big temporaries that have nothing to do with one another."""
    x = np.ones(N)
    sums = []
    for i in range(100):
        y = np.sqrt(x + i)
        sums.append((y * x).sum())
        each()
    assert sums[3].item() == 2 * N


def wide_chain(each: Callable[[], None]) -> None:
    """A state that changes, with big temporaries at its side."""
    state = np.zeros(N)
    x = np.ones(N)
    for i in range(100):
        wide = np.concatenate([x * i, x])
        state = state * 0.5 + wide[:N] + wide[N:]
        each()
    assert state.shape == (N,)


def products(each: Callable[[], None]) -> None:
    """Short and long ops side by side: those that are ready early must not accumulate results."""
    a = np.ones((512, 512))
    total = np.zeros((512, 512))
    for i in range(60):
        total += (a + i) @ a
        each()
    assert total[0, 0].item() == 512 * (60 + 59 * 30)


def updates(each: Callable[[], None]) -> None:
    """Gradient steps in place."""
    w = [np.zeros(N) for _ in range(4)]
    for i in range(30):
        for v in w:
            v -= (v * 2 - i) * 0.125
        each()


def activations(each: Callable[[], None]) -> None:
    """Strings of element-wise ops, of which some intermediates are held for a while."""
    x = np.ones((4, N))
    for i in range(30):
        wide = x * 0.5 + i
        gate = np.tanh(wide)
        x = gate * wide - (wide * wide).mean() / (i + 1)
        each()
    assert x.shape == (4, N)


def normalisation(each: Callable[[], None]) -> None:
    """Reductions by rows and by columns, read again, and sums that are kept."""
    x = np.ones((1024, N // 256))
    sums = []
    for i in range(30):
        e = np.exp(x - x.max(1, keepdims=True))
        share = e / e.sum(1, keepdims=True)
        x = (share - share.mean(0)) * i + x
        x += share
        sums.append(x.sum(0))
        each()
    assert len(sums) == 30


def taken_while_the_oldest_sleeps() -> int:
    """Peak of a program whose first op takes long, while fifty arrays that need not wait for it could be made."""
    before = live()
    _core.reset_peak()
    go = threading.Event()
    slow = host(lambda: (go.wait(60), 2)[1], [], [((), "float32")])[0]
    x = np.ones(N)
    sums = [((x + i) * slow).sum() for i in range(50)]  # all sums wait; the operands need not
    for _ in range(1000):
        os.sched_yield()  # workers may run ahead
    go.set()
    assert [s.item() for s in sums] == [2 * N * (i + 1) for i in range(50)]
    return forerun.memory()["peak"] - before


class TestRunAhead:
    @pytest.mark.parametrize("program", [branches, wide_chain, products, updates, activations, normalisation])
    def test_peak_is_near_that_with_barriers(self, ahead, program):
        with_barrier = max(peak(program, True) for _ in range(3))
        without = max(peak(program, False) for _ in range(3))
        assert with_barrier >= 2 * MB  # the program is big enough to tell
        # 2 MiB may be ahead of any program; the arrays that several workers hold at once differ by one or two.
        assert without <= 1.25 * with_barrier + (2 if ahead == "1 worker" else 5) * MB

    def test_an_earlier_peak_does_not_raise_the_budget(self, ahead):
        np.ones(64 * N).sum().item()
        forerun.waitall()
        assert taken_while_the_oldest_sleeps() <= 12 * MB

    def test_small_arrays_do_not_pile_up_either(self, ahead):
        def independent(each):
            total = np.zeros(())
            for _ in range(500):
                x = np.random.normal(size=(64, 100))  # 25 KB, ready at once; the sums wait for one another
                total = total + np.tanh(np.dot(x, x.T)).sum()
                each()

        assert peak(independent, False) <= peak(independent, True) + 4 * MB

    def test_small_budget_bounds_the_peak(self, ahead):
        serial = peak(branches, True)
        forerun.configure(memory_budget=8 * MB)
        assert peak(branches, False) <= 8 * MB + serial

    def test_budget_holds_while_the_oldest_takes_long(self, ahead):
        forerun.configure(memory_budget=8 * MB)
        assert taken_while_the_oldest_sleeps() <= 12 * MB

    def test_refused_ops_start_once_there_is_room_beside_a_long_task(self, ahead):
        """The oldest op is a task that waits for the program; others are refused memory at first."""
        x = np.ones(3 * N)
        x.wait()
        go, begun = threading.Event(), threading.Event()
        rescue = threading.Timer(30, go.set)
        rescue.start()
        task = host(lambda: (begun.set(), go.wait(), numpy.float32(3))[2], [], [((), "float32")])[0]
        assert begun.wait(30)
        with closed_gate():
            totals = [np.sort(x * i).sum() for i in range(8)]
        assert [total.item() for total in totals] == [3 * N * i for i in range(8)]
        assert not go.is_set()  # the timer has not released it
        go.set(), rescue.cancel()
        assert task.item() == 3

    def test_budget_below_one_array_is_no_obstacle(self, ahead):
        forerun.configure(memory_budget=1)
        x = np.ones(N)
        for _ in range(20):
            x = x + 1
        assert x[0].item() == 21

    def test_issued_ops_have_no_memory(self, ahead):
        before = live()
        with closed_gate():
            arrays = [np.ones(N) * i for i in range(50)]
            assert forerun.memory()["live"] == before
            del arrays[1:]
        assert arrays[0][5].item() == 0
        assert live() == before + MB

    def test_dropped_results_do_not_pile_up(self, ahead):
        before = live()
        x = np.ones(N)
        x.wait()
        _core.reset_peak()
        with closed_gate():
            for i in range(50):
                x + i
        forerun.waitall()
        assert forerun.memory()["peak"] - before <= 8 * MB


class TestLimit:
    @pytest.fixture(autouse=True)
    def limited(self, ahead: str) -> Iterator[None]:
        gc.collect()
        forerun.empty_cache()
        forerun.configure(memory_limit=live() + 4 * MB)
        yield
        _core.quiesce()
        _core.unseen_failures()

    def test_op_over_the_limit_raises_where_it_is_read(self):
        x = np.ones(3 * N)
        y = x + 1
        z = y.sum()
        for array in (y, z, y, z):
            with pytest.raises(MemoryError) as caught:
                array.wait()
            asked, had, limit = map(int, re.findall(r"\d+", str(caught.value)))
            assert asked == 3 * MB
            assert had + asked > limit
            assert limit == forerun.memory()["limit"]
            assert "test_memory.py" in caught.value.__notes__[0]

    def test_process_continues_after_memory_error(self):
        x = np.ones(3 * N)
        bad = x + 1
        with pytest.raises(MemoryError):
            bad.wait()
        small = np.ones(10) + x[:10]
        assert small.tolist() == [2] * 10
        del bad, x
        again = np.ones(3 * N)
        assert again.sum().item() == 3 * N

    def test_array_over_the_limit_is_refused_at_the_call(self):
        with pytest.raises(MemoryError, match="asked for"):
            np.ones(forerun.memory()["limit"])

    def test_ops_wait_for_memory_that_will_be_freed(self):
        x = np.ones(N)
        sums = [((x + i) * 2).sum() for i in range(50)]  # one at a time fits, all at once do not
        assert [s.item() for s in sums] == [2 * N * (i + 1) for i in range(50)]

    def test_in_place_needs_no_memory(self):
        x = np.ones(3 * N)
        for _ in range(5):
            x += 1
        assert x[:3].tolist() == [6, 6, 6]

    def test_raising_the_limit_helps(self):
        x = np.ones(3 * N)
        with pytest.raises(MemoryError):
            (x + 1).wait()
        forerun.configure(memory_limit=live() + 8 * MB)
        assert (x + 1)[0].item() == 2

    def test_synchronous_call_raises(self):
        forerun.configure(engine="sync")
        x = np.ones(3 * N)
        with pytest.raises(MemoryError, match=str(3 * MB)):
            x + 1


class TestReturned:
    def test_memory_of_dropped_arrays_is_returned(self, engine):
        before = live()
        x = np.ones((4, N))
        y = x + 1
        z = y[1:].T
        assert live() == before + 8 * MB
        del x
        assert live() == before + 4 * MB
        del y
        assert live() == before + 4 * MB  # the view keeps it
        del z
        assert live() == before

    def test_arrays_dropped_before_they_are_computed(self, ahead):
        before = live()
        with closed_gate():
            x = np.ones(N)
            for _ in range(20):
                x = x * 2 + 1
            del x
        assert live() == before

    def test_failed_ops(self, ahead):
        before = live()
        x = np.ones(N)

        def fail(v: numpy.ndarray) -> numpy.ndarray:
            raise ValueError("here")

        y = host(fail, [x], [(x.shape, x.dtype)])[0]
        z = y + x
        with pytest.raises(ValueError, match="here"):
            z.wait()
        del x, y, z
        assert live() == before

    def test_values_read_outlive_the_array(self, engine):
        x = np.arange(N)
        values = x.numpy()
        del x
        live()
        others = [np.zeros(N, dtype="int64") for _ in range(4)]  # would take the block if it were free
        forerun.waitall()
        assert numpy.array_equal(values, numpy.arange(N))
        del others

    def test_write_allocates_other_memory_for_exported_values(self, engine):
        before = live()
        x = np.ones(N)
        values = x.numpy()
        x += 1
        assert values[0] == 1
        assert x[0].item() == 2
        del x, values
        assert live() == before

    def test_empty_cache(self, engine):
        x = np.ones(4 * N)
        x.wait()
        del x
        live()
        cached = forerun.memory()["cached"]
        assert cached >= 4 * MB
        assert forerun.empty_cache() == cached
        assert forerun.memory()["cached"] == 0
        assert np.ones(4 * N)[0].item() == 1

    def test_cached_blocks_are_used_again(self, engine):
        forerun.empty_cache()
        for _ in range(50):
            np.ones(N).wait()
        live()
        assert forerun.memory()["cached"] <= 8 * MB

    def test_cache_limit(self, engine):
        forerun.empty_cache()
        _core.set_cache_limits(2 * MB, 1 << 62)
        try:
            arrays = [np.ones(N) for _ in range(6)]
            forerun.waitall()
            del arrays
            live()
            assert forerun.memory()["cached"] <= 2 * MB
        finally:
            forerun.configure()  # as it was

    def test_each_device_counts_its_own(self, ahead):
        forerun.configure(cpu_devices=2)
        here, there = live(), forerun.memory(forerun.cpu(1))["live"]
        x = np.ones(N, device=forerun.cpu(1))
        x.wait()
        assert live() == here
        assert forerun.memory(forerun.cpu(1))["live"] == there + MB
        y = x.copyto(forerun.cpu(0))
        y.wait()
        assert live() == here + MB
        del x, y
        live()
        assert forerun.memory(forerun.cpu(1))["live"] == there
