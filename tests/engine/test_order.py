"""Order: calls return at once, and reads see the values of program order, in any order of execution."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import PATIENCE, HeldTask
from tests.support.engine.settings import running


class TestIssue:
    def test_calls_return_behind_a_closed_gate(self, ahead):
        with closed_gate():
            x = np.arange(12, dtype="float64").reshape(3, 4)
            y = (x @ x.T).sum(axis=0) * 2
            x[1] = 7
            z = np.concatenate([x, x[::-1]])
            assert not y.ready
            assert not z.ready
        reference = numpy.arange(12.0).reshape(3, 4)
        assert y.tolist() == ((reference @ reference.T).sum(axis=0) * 2).tolist()
        reference[1] = 7
        assert z.tolist() == numpy.concatenate([reference, reference[::-1]]).tolist()

    def test_shape_errors_are_raised_at_the_call(self, ahead):
        with closed_gate():
            x = np.ones((2, 3))
            with pytest.raises(ValueError, match=r"\(2, 3\)"):
                x + np.ones((4, 5))
            with pytest.raises(ValueError, match="matmul: "):
                x @ x
            with pytest.raises(ValueError, match="reshape: "):
                x.reshape(7)
        assert (x + 1).sum().item() == 12

    def test_views_see_shapes_without_waiting(self, ahead):
        with closed_gate():
            x = np.ones((2, 3, 4)) * 3
            assert x[1, :, ::2].T.shape == (2, 3)
            assert x.sum(axis=1).reshape(-1).shape == (8,)
            assert (x > 2).dtype == bool

    def test_counts(self, ahead):
        forerun.waitall()
        before = forerun.stats()
        with closed_gate():
            x = np.ones(3)
            for _ in range(10):
                x = x + 1
            assert forerun.stats()["issued"] - before["issued"] == 11
            assert forerun.stats()["done"] == before["done"]
        x.wait()
        after = forerun.stats()
        assert after["done"] - before["done"] == after["planned"] - before["planned"] == 11
        assert after["failed"] == before["failed"]

    def test_waits_are_counted(self, ahead, gate):
        """Those that had to wait: the gate opens when one does."""
        before = forerun.stats()["waits"]

        def open_gate() -> None:
            while forerun.stats()["waits"] == before:
                os.sched_yield()
            _core.gate(False)

        opener = threading.Thread(target=open_gate)
        x = np.ones(3) + 1
        opener.start()
        x.wait()
        opener.join(PATIENCE)
        waited = forerun.stats()["waits"]
        assert waited > before
        x.wait()  # it is computed
        assert forerun.stats()["waits"] == waited

    @pytest.mark.parametrize("most", [1, 4, 16])
    def test_a_full_window_waits_for_a_free_slot(self, ahead, most):
        forerun.configure(ops_ahead=most)
        held, issued = HeldTask(), threading.Event()
        results: list[int] = []

        def front_end() -> None:
            x = held.result
            for _ in range(40):
                x = x + 1
            issued.set()
            results.append(x.item())

        thread = threading.Thread(target=front_end)
        with held:
            thread.start()
            stats = forerun.stats()
            assert stats["issued"] - stats["done"] <= most
            assert not issued.is_set()  # the last cannot be issued before the first has ended
        thread.join(PATIENCE)
        assert results == [41]


class TestHazards:
    """All behind a closed gate, so that every op is issued before the first one runs."""

    def test_write_after_read(self, ahead):
        with closed_gate():
            x = np.ones(1000)
            y = x + 1
            x[...] = 5
            z = x + 1
        assert set(y.tolist()) == {2}
        assert set(z.tolist()) == {6}

    def test_write_after_write(self, ahead):
        with closed_gate():
            x = np.zeros(1000)
            for i in range(20):
                x[...] = i
        assert set(x.tolist()) == {19}

    def test_read_of_each_value_in_turn(self, ahead):
        with closed_gate():
            x = np.zeros(100)
            seen = []
            for _ in range(10):
                x += 1
                seen.append(x.copy())
        assert [s[7].item() for s in seen] == list(range(1, 11))

    def test_slow_reader_holds_the_writer(self, ahead):
        x = np.ones(4)
        with HeldTask(x) as held:
            x += 1
            y = x * 10
            assert not held.result.ready
        assert held.result.tolist() == [1] * 4
        assert y.tolist() == [20] * 4

    def test_slow_writer_holds_the_next(self, ahead):
        x = np.ones(4)
        with HeldTask(np.ones(4)) as held:
            x[...] = held.result
            x[...] = 5
        assert x.tolist() == [5] * 4

    def test_slow_writer_holds_the_reader(self, ahead):
        x = np.zeros(4)
        with HeldTask(np.ones(4)) as held:
            x[1:] = held.result[1:]
            y = x + 1
        assert y.tolist() == [1, 2, 2, 2]

    def test_writes_through_a_view(self, ahead):
        with closed_gate():
            x = np.zeros((3, 4))
            before = x + 0
            x.T[1] = 7
            x[::2, 2:] += 1
            after = x + 0
        expected = numpy.zeros((3, 4))
        expected.T[1] = 7
        expected[::2, 2:] += 1
        assert before.tolist() == numpy.zeros((3, 4)).tolist()
        assert after.tolist() == expected.tolist()

    @pytest.mark.parametrize(("to", "source"), [((1, None), (0, -1)), ((0, -1), (1, None))])
    def test_overlapping_slices(self, ahead, to, source):
        reference = numpy.arange(50_000.0)
        with closed_gate():
            x = np.array(reference)
            x[slice(*to)] += x[slice(*source)]
        reference[slice(*to)] += reference[slice(*source)]
        assert numpy.array_equal(x.asnumpy(), reference)

    def test_overlap_with_the_transposed(self, ahead):
        reference = numpy.arange(250_000.0).reshape(500, 500)
        with closed_gate():
            x = np.array(reference)
            x += x.T
            x[...] = x[::-1, ::-1] - x
        reference += reference.T.copy()
        reference[...] = reference[::-1, ::-1].copy() - reference
        assert numpy.array_equal(x.asnumpy(), reference)

    def test_handle_dropped_before_the_op_has_run(self, ahead):
        with closed_gate():
            x = np.ones(100)
            y = x + 1
            z = y * 3
            del x, y
            np.ones(100) * 4  # no reference to it exists
        assert set(z.tolist()) == {6}

    def test_base_dropped_while_a_view_waits(self, ahead):
        with closed_gate():
            view = (np.arange(12).reshape(3, 4) * 2)[1:, ::2]
        assert view.tolist() == [[8, 12], [16, 20]]

    def test_out(self, ahead):
        with closed_gate():
            x, target = np.ones(10), np.zeros(10)
            first = target + 0
            result = np.add(x, 2, out=target)
            assert result is target
            np.multiply(target, target, out=target)
        assert set(first.tolist()) == {0}
        assert set(target.tolist()) == {9}

    def test_out_that_overlaps_an_input(self, ahead):
        reference = numpy.arange(10_000.0)
        with closed_gate():
            x = np.array(reference)
            np.add(x[:-1], 1, out=x[1:])
        numpy.add(reference[:-1].copy(), 1, out=reference[1:])
        assert numpy.array_equal(x.asnumpy(), reference)

    def test_values_read_stay_when_the_array_is_written(self, engine):
        x = np.ones(1000)
        values = x.numpy()
        x += 1
        x.wait()
        assert set(values.tolist()) == {1}
        assert set(x.tolist()) == {2}


class TestWait:
    def test_wait_does_not_wait_for_later_work(self, ahead):
        y = np.ones(3) + 1
        with HeldTask() as held:
            y.wait()
            assert y.ready
            assert not held.result.ready
        assert held.result.item() == 1

    def test_work_passes_a_task_that_takes_long(self, ahead):
        """Where the task holds the only worker, who waits does the work."""
        with HeldTask() as held:
            y = np.ones(3) * 2
            y.wait()
            assert not held.result.ready
        assert held.result.item() == 1

    def test_wait_does_not_wait_for_later_readers(self, ahead):
        y = np.ones(3) + 1
        with HeldTask(y) as held:
            assert y.tolist() == [2, 2, 2]
            assert not held.result.ready

    def test_wait_for_several(self, ahead):
        with closed_gate():
            arrays = [np.ones(5) * i for i in range(10)]
        _core.wait(arrays)
        assert all(a.ready for a in arrays)

    def test_waitall_waits_for_all(self, ahead):
        with closed_gate():
            arrays = [np.ones(5) * i for i in range(200)]
            assert not any(a.ready for a in arrays)
        forerun.waitall()
        assert all(a.ready for a in arrays)

    def test_wait_for_a_mark(self, ahead):
        x = np.ones(5) + 1
        mark = _core.mark()
        with HeldTask() as held:
            _core.wait_mark(mark)
            assert x.ready
            assert not held.result.ready

    def test_ready(self, engine):
        x = np.ones(5) + 1
        x.wait()
        assert x.ready
        assert x[1:].ready
        x += 1
        x.wait()
        assert x.ready

    def test_view_of_an_array_that_is_written_is_not_ready(self, ahead):
        x = np.ones(5)
        x.wait()
        with closed_gate():
            view = x[1:]
            x += 1
            assert not view.ready
        assert view.tolist() == [2, 2, 2, 2]


class TestOldestFirst:
    def test_one_worker_runs_tasks_in_program_order(self):
        order: list[int] = []
        with running("1 worker"):
            with closed_gate():
                tasks = [host(lambda i=i: order.append(i) or i, [], [((), "int64")])[0] for i in range(50)]
            forerun.waitall()
        assert order == list(range(50))
        assert [t.item() for t in tasks] == order

    def test_tasks_that_become_ready_late_run_by_age(self):
        """A chain is not overtaken by younger tasks that were ready before it."""
        order: list[int] = []

        def step(i: int) -> Any:
            return lambda *values: order.append(i) or i

        with running("1 worker"):
            with closed_gate():
                link = np.zeros(())
                for i in range(6):
                    link = host(step(i), [link], [((), "float32")])[0]
                others = [host(step(i), [], [((), "int64")])[0] for i in range(6, 20)]
            forerun.waitall()
        assert order == list(range(20))
        assert (link.item(), others[-1].item()) == (5, 19)
