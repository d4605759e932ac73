"""Errors that only the computation can find: the reads that raise them, and the arrays that stay valid."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import UserError, failing_like
from tests.support.engine.settings import running


def fail_on_values(values: numpy.ndarray) -> numpy.ndarray:
    raise UserError("here")


def line_of_caller() -> str:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return f"{__file__}:{frame.f_back.f_lineno}"


READS: dict[str, Callable[[Any], Any]] = {
    "wait": lambda x: x.wait(),
    "wait_to_read": lambda x: x.wait_to_read(),
    "core wait": lambda x: _core.wait([x]),
    "numpy": lambda x: x.numpy(),
    "asnumpy": lambda x: x.asnumpy(),
    "asarray": numpy.asarray,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "float": float,
    "int": int,
    "bool": bool,
    "repr": repr,
    "str": str,
    "dlpack": numpy.from_dlpack,
    "nonzero": np.nonzero,
}


class TestReads:
    @pytest.mark.parametrize("read", READS)
    def test_every_read_raises(self, ahead, read):
        y = failing_like(np.ones((1,)))
        for _ in range(3):
            with pytest.raises(UserError, match="here"):
                READS[read](y)

    @pytest.mark.parametrize(
        "derive",
        [
            lambda y: y + 1,
            lambda y: y.sum(),
            lambda y: y[1:],
            lambda y: y.T.reshape(-1),
            lambda y: y @ np.ones((3, 2)),
            lambda y: np.concatenate([np.ones((2, 3)), y]),
            lambda y: np.take(np.ones(5), y.astype("int64")),
            lambda y: np.sort(y),
            lambda y: y.copy(),
            lambda y: y.cumsum(axis=0),
            lambda y: np.where(y > 0, 1.0, 2.0),
        ],
    )
    def test_dependent_operations_raise(self, ahead, derive):
        y = failing_like(np.ones((2, 3)))
        z = derive(y) * 2
        for array in (z, y, z + 1):
            with pytest.raises(UserError, match="here"):
                array.wait()

    def test_note_names_the_line_that_issued_the_task(self, ahead):
        here, y = line_of_caller(), host(fail_on_values, [np.ones(3)], [((3,), "float32")])[0]
        for array in (y, (y + 1).sum()):
            with pytest.raises(UserError) as caught:
                array.wait()
            assert caught.value.__notes__ == [f"issued at {here}"]

    def test_note_names_the_line_that_issued_the_op(self, ahead):
        here, y = line_of_caller(), np.linalg.inv(np.zeros((3, 3)))
        z = y + 1
        with pytest.raises(numpy.linalg.LinAlgError, match="Singular") as caught:
            z.wait()
        assert caught.value.__notes__ == [f"issued at {here}"]

    def test_index_out_of_range(self, ahead):
        here, y = line_of_caller(), np.take(np.ones(3), np.array([0, 7]))
        for _ in range(2):
            with pytest.raises(IndexError, match=r"take: .*\[-3, 3\).* 7") as caught:
                y.wait()
            assert caught.value.__notes__ == [f"issued at {here}"]

    def test_traceback_does_not_grow(self, ahead):
        """It shows the task and the reader, not who has read before."""
        y = failing_like(np.ones(3))
        depths = []
        for _ in range(4):
            with pytest.raises(UserError) as caught:
                y.wait()
            depths.append(len(caught.traceback))
        assert len(set(depths)) == 1
        assert caught.traceback[-1].name == "task"

    @pytest.mark.parametrize("error", [KeyError, ValueError, ZeroDivisionError, MemoryError, OSError])
    def test_type_is_the_original_one(self, ahead, error):
        y = failing_like(np.ones(3), error)
        with pytest.raises(error) as caught:
            (y * 2).wait()
        assert type(caught.value) is error
        assert caught.value.args == ("here",)

    def test_wrong_shape_from_a_task(self, ahead):
        y = host(lambda v: numpy.zeros(4), [np.ones(3)], [((3,), "float32")], name="resize")[0]
        with pytest.raises(ValueError, match=r"resize: .*\(3,\).*\(4,\)"):
            y.wait()

    def test_one_bad_output_poisons_all_outputs(self, ahead):
        a, b = host(lambda: (1, numpy.zeros(2)), [], [((), "int64"), ((), "int64")])
        for array in (a, b):
            with pytest.raises(ValueError, match="must return shape"):
                array.wait()


class TestOthers:
    def test_unrelated_arrays_are_fine(self, ahead):
        with closed_gate():
            x = np.ones(3)
            good = x + 1
            bad = failing_like(x)
            later = good * 2 + x
        assert later.tolist() == [5, 5, 5]
        assert good.tolist() == [2, 2, 2]
        with pytest.raises(UserError):
            bad.wait()
        assert (x + 5).tolist() == [6, 6, 6]

    def test_input_is_fine(self, ahead):
        x = np.ones(3)
        bad = failing_like(x)
        with pytest.raises(UserError):
            bad.wait()
        x += 1
        assert x.tolist() == [2, 2, 2]

    def test_first_of_two_errors_wins(self, ahead):
        with closed_gate():
            a = failing_like(np.ones(3), KeyError)
            b = failing_like(np.ones(3), OSError)
            c = a + b
        with pytest.raises(KeyError):
            c.wait()
        with pytest.raises(OSError, match="here"):
            b.wait()

    def test_failure_is_counted_once(self, ahead):
        forerun.waitall()
        before = forerun.stats()["failed"]
        y = failing_like(np.ones(3)) + 1
        with pytest.raises(UserError):
            y.wait()
        assert forerun.stats()["failed"] == before + 1


class TestWaitall:
    def test_raises_once(self, ahead):
        y = failing_like(np.ones(3))
        with pytest.raises(UserError):
            forerun.waitall()
        forerun.waitall()
        with pytest.raises(UserError):  # the array still says so
            y.wait()

    def test_does_not_repeat_an_error_that_a_read_has_raised(self, ahead):
        y = failing_like(np.ones(3))
        with pytest.raises(UserError):
            y.wait()
        forerun.waitall()

    def test_reports_failures_that_can_no_longer_be_read(self, ahead):
        failing_like(np.ones(3))  # no handle
        with pytest.raises(UserError):
            forerun.waitall()
        forerun.waitall()

    def test_has_finished_the_rest(self, ahead):
        bad = failing_like(np.ones(3))
        good = [np.ones(3) * i for i in range(50)]
        with pytest.raises(UserError):
            forerun.waitall()
        assert all(g.ready for g in good)
        assert bad.ready


class TestWrites:
    """A failed array is good again once all of it has been written."""

    @pytest.mark.parametrize(
        "write",
        [
            lambda y: y.__setitem__(..., 0),
            lambda y: y.__setitem__(slice(None), np.zeros(3)),
            lambda y: y.fill(0),
            lambda y: np.subtract(np.ones(3), 1, out=y),
        ],
    )
    def test_full_write_heals(self, ahead, write):
        y = failing_like(np.ones(3))
        z = y + 1
        write(y)
        assert y.tolist() == [0, 0, 0]
        assert (y + 1).tolist() == [1, 1, 1]
        with pytest.raises(UserError):  # computed from the value before
            z.wait()

    @pytest.mark.parametrize(
        "write",
        [
            lambda y: y.__setitem__(0, 5),
            lambda y: y.__setitem__(slice(1, None), 5),
            lambda y: y.__iadd__(1),
            lambda y: np.add(y, 1, out=y),
            lambda y: y.__setitem__(np.array([0, 1, 2]), 5),
        ],
    )
    def test_partial_write_does_not(self, ahead, write):
        y = failing_like(np.ones(3))
        write(y)
        for _ in range(2):
            with pytest.raises(UserError):
                y.wait()

    def test_a_write_of_a_failed_value_poisons(self, ahead):
        x = np.ones(3)
        before = x + 1
        x[...] = failing_like(np.ones(3))
        with pytest.raises(UserError):
            x.wait()
        assert before.tolist() == [2, 2, 2]

    def test_a_write_of_a_failed_value_into_a_part_poisons(self, ahead):
        x = np.ones(3)
        x[:1] = failing_like(np.ones(1))
        for array in (x, x[:2]):
            with pytest.raises(UserError):
                array.wait()
        assert x[1:].tolist() == [1, 1]


class TestSynchronous:
    def test_the_call_raises(self):
        with running("sync"):
            x = np.ones(3)
            with pytest.raises(UserError, match="here"):
                failing_like(x)
            with pytest.raises(numpy.linalg.LinAlgError, match="Singular"):
                np.linalg.inv(np.zeros((2, 2)))
            with pytest.raises(IndexError, match="take: "):
                np.take(x, np.array([7]))
            assert _core.unseen_failures() == []
            assert (x + 1).tolist() == [2, 2, 2]

    def test_note_names_the_line(self):
        with running("sync"):
            x, far = np.ones(3), np.array([7])
            with pytest.raises(IndexError) as caught:
                np.take(x, far)
            assert caught.value.__notes__ == [f"issued at {__file__}:{caught.tb.tb_lineno}"]
