"""Waiting for several things, of which several have failed: one error as itself, more as a group."""

from __future__ import annotations

import collections
import threading
import types
from collections.abc import Callable, Iterable
from typing import Any

import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.late_arrays import FAILURE_NOTE, failing_array
from tests.support.engine.settings import running


class Strange(BaseException):
    """Something that is not an Exception."""


def described(errors: Iterable[BaseException]) -> set[Any]:
    """Return the types and arguments of errors: readers get copies."""
    return {(type(e), e.args) for e in errors}


def raised(wait: Callable[[], Any]) -> list[BaseException]:
    """The errors that it raises, alone or as a group."""
    try:
        wait()
    except BaseExceptionGroup as group:
        return list(group.exceptions)
    except BaseException as error:
        return [error]
    return []


def pace_to_end(x: Any) -> None:
    for _ in forerun.pace([1, 2], ahead=0):
        pass


WAITS: dict[str, Callable[[Any], Any]] = {
    "wait": forerun.wait,
    "waitall": lambda x: forerun.waitall(),
    "npx.waitall": lambda x: npx.waitall(),
    "pace": pace_to_end,
    "profile": lambda x: profiler.start().stop(),
}


@pytest.mark.parametrize("name", WAITS)
class TestSeveral:
    def test_a_single_error_is_raised_as_itself(self, name, ahead):
        good, error = np.ones(3) + 1, KeyError("one")
        bad = failing_array(error)
        with pytest.raises(KeyError) as caught:
            WAITS[name]([good, bad, bad + 1])
        assert described([caught.value]) == described([error])
        assert caught.value.__notes__ == [FAILURE_NOTE]

    def test_several_are_a_group(self, name, ahead):
        errors = [KeyError("one"), OSError("two"), KeyError("three")]
        bad = [failing_array(e) for e in errors]
        with pytest.raises(ExceptionGroup, match="operations that failed") as caught:
            WAITS[name](bad)
        assert described(caught.value.exceptions) == described(errors)
        assert all(e.__notes__ == [FAILURE_NOTE] for e in caught.value.exceptions)

    def test_each_counts_once(self, name, ahead):
        """However many arrays it has poisoned, and however it reached them."""
        errors = [KeyError("one"), OSError("two")]
        a, b = (failing_array(e) for e in errors)
        found = raised(lambda: WAITS[name]([a, b, a + 1, (a * 2).sum(), b[:1], a]))
        assert len(found) == 2
        assert described(found) == described(errors)

    def test_all_have_ended(self, name, ahead):
        bad = [failing_array(KeyError(i)) for i in range(3)]
        good = [np.ones(3) * i for i in range(30)]
        assert len(raised(lambda: WAITS[name](bad + good))) == 3
        assert all(g.ready for g in good)
        assert raised(forerun.waitall) == []  # all have been seen

    def test_errors_of_kernels(self, name, ahead):
        x, far = np.ones(3), np.array([7])
        bad = [np.take(x, far), np.take(x, far + 1)]
        found = raised(lambda: WAITS[name](bad))
        assert sorted(str(e)[-1] for e in found) == ["7", "8"]
        assert all(len(e.__notes__) == 1 and __file__ in e.__notes__[0] for e in found)

    def test_base_exceptions_raise_a_base_exception_group(self, name, ahead):
        errors = [Strange("one"), KeyError("two")]
        bad = [failing_array(e) for e in errors]
        with pytest.raises(BaseExceptionGroup) as caught:
            WAITS[name](bad)
        assert not isinstance(caught.value, Exception)
        assert described(caught.value.exceptions) == described(errors)


class TestWait:
    @pytest.mark.parametrize(
        "nest",
        [
            lambda x: x,
            lambda x: [x],
            lambda x: ((x,), [[x]]),
            lambda x: {"a": x, "b": {"c": (x, [])}},
            lambda x: collections.OrderedDict(a=[x]),
            lambda x: types.MappingProxyType({"a": collections.deque([x])[0]}),
            lambda x: collections.UserList([x]),
        ],
    )
    def test_any_nesting(self, nest, ahead):
        x = np.ones(3) + 1
        forerun.wait(nest(x))
        assert x.ready
        error = KeyError("here")
        bad = failing_array(error)
        assert described(raised(lambda: forerun.wait(nest(bad)))) == described([error])

    @pytest.mark.parametrize("empty", [[], (), {}, [[], {}]])
    def test_wait_for_no_arrays(self, empty):
        forerun.wait(empty)

    @pytest.mark.parametrize("other", [5, None, "text", [np.ones(1), "text"], {"a": object()}])
    def test_non_array_argument_raises(self, other):
        with pytest.raises(TypeError, match="wait: must be given arrays, or sequences or dicts of them, got"):
            forerun.wait(other)

    def test_does_not_wait_for_others(self):
        with running("1 worker"):
            x = np.ones(3) + 1
            forerun.wait(x)
            with closed_gate():
                y = x + 1
                forerun.wait([x])
                assert not y.ready
            assert y.tolist() == [3, 3, 3]


def updated(x: Any, y: Any) -> Any:
    x += y
    return x


def first_written(x: Any, y: Any) -> Any:
    x[:1] = y[:1]
    return x


BOTH: dict[str, Callable[[Any, Any], Any]] = {
    "op": lambda x, y: x + y,
    "group": lambda x, y: ((x * 2).sum() + y).max(),
    "product": lambda x, y: x @ y,
    "host task": lambda x, y: host(lambda u, v: u + v, [x, y], [((2,), "float32")])[0],
    "update": updated,
    "part": first_written,
    "joined": lambda x, y: np.concatenate([x, x, y]),
}


class TestTwoInputs:
    """Of two errors that reach an array, it has the one that a program without an engine would have met."""

    @pytest.mark.parametrize("how", BOTH)
    @pytest.mark.parametrize("turned", [False, True])
    def test_the_earlier_issued_error_is_raised(self, how, turned, ahead):
        with closed_gate():
            x, y = failing_array(KeyError("one")), failing_array(OSError("two"))
            z = BOTH[how](y, x) if turned else BOTH[how](x, y)
        for _ in range(2):
            with pytest.raises(KeyError, match="one"):
                z.wait()
        with pytest.raises(OSError, match="two"):  # an error of its own, which has not been raised
            forerun.waitall()
        forerun.waitall()

    def test_order_of_failures_does_not_matter(self):
        let = threading.Event()

        def late() -> None:
            assert let.wait(60)
            raise KeyError("one")

        with running("4 workers"):
            x = host(late, [], [((3,), "float32")])[0]
            y = failing_array(OSError("two"))
            z = y + x
            with pytest.raises(OSError, match="two"):
                y.wait()
            let.set()
            with pytest.raises(KeyError, match="one"):
                z.wait()
            forerun.waitall()


class TestMany:
    def test_errors_beyond_the_capacity_are_counted(self, ahead):
        i = np.array([7])
        many = [np.take(np.ones(3), i) for _ in range(1300)]
        _core.quiesce()
        for y in many[1100:1200]:  # these have been read
            assert len(raised(y.wait)) == 1
        with pytest.raises(ExceptionGroup, match="operations that failed, and 200 more") as caught:
            forerun.waitall()
        assert len(caught.value.exceptions) == 1000
        forerun.waitall()
        assert len(raised(many[1250].wait)) == 1  # it still says so, and is not counted again
        y = np.take(np.ones(3), i)
        assert len(raised(forerun.waitall)) == 1
        del y

    def test_capacity_for_unread_failures(self, ahead):
        i = np.array([7])
        for _ in range(1100):
            assert len(raised(np.take(np.ones(3), i).wait)) == 1
        np.take(np.ones(3), i)
        assert len(raised(forerun.waitall)) == 1


def test_pace_raises_soon(ahead):
    """At the beginning of an iteration, the errors of the one two before."""
    seen = []

    def loop() -> None:
        for i in forerun.pace(range(10), ahead=1):
            seen.append(i)
            if i == 1:
                failing_array(KeyError("in 1"))

    with pytest.raises(KeyError, match="in 1"):
        loop()
    assert seen == [0, 1, 2]


@pytest.mark.parametrize(
    "call", [forerun.waitall, lambda: forerun.configure(workers=2), lambda: list(forerun.pace([1], 0))]
)
def test_a_task_must_not_wait_for_its_own_end(call, ahead):
    with pytest.raises(RuntimeError, match="must not be called in a host task"):
        host(lambda: call(), [], [((), "int64")])[0].wait()
    assert (np.ones(3) + 1).tolist() == [2, 2, 2]


def test_a_task_may_issue_more_than_the_window_holds(ahead):
    """It must not wait for a free slot: only its own end may free one."""
    before = forerun.config()["ops_ahead"]
    forerun.configure(ops_ahead=16)

    def task() -> float:
        x = np.zeros(3)
        for _ in range(200):
            x = x + 1
        return x[1].item()

    assert host(task, [], [((), "float64")])[0].item() == 200
    forerun.configure(ops_ahead=before)
