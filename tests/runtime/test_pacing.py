"""Pace: how many iterations a loop may be ahead of its operations."""

import threading
from collections.abc import Iterator

import pytest

import forerun
from forerun import np, pace
from forerun.ops._base.host_task import host
from forerun.testing import closed_gate


@pytest.fixture(autouse=True)
def asynchronous() -> Iterator[None]:
    before = forerun.config()["engine"]
    forerun.configure(engine="async")
    yield
    forerun.configure(engine=before)


class Slow:
    """Operations that end only when they are released, in order."""

    def __init__(self, n: int) -> None:
        self.may_end = [threading.Event() for _ in range(n)]
        self.ended: list[int] = []

    def op(self, i: int):
        def run(x):
            assert self.may_end[i].wait(30)
            self.ended.append(i)
            return x

        return host(run, [np.ones(1)], [((1,), np.float32)], name="slow")[0]


@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_an_iteration_begins_after_the_end_of_the_one_ahead_before(ahead):
    n, slow, begun, timers = 5, Slow(5), [], []

    def let_end(i: int) -> None:
        slow.may_end[i].set()

    for i in pace(range(n), ahead=ahead):
        begun.append(i)
        must_have_ended = list(range(i - ahead))
        assert slow.ended[: len(must_have_ended)] == must_have_ended
        assert len(slow.ended) <= max(0, i - ahead)  # it is not held longer: later ops are still running
        slow.op(i)
        if i >= ahead:
            timers.append(threading.Timer(0, let_end, [i - ahead]))
            timers[-1].start()
    assert begun == list(range(n))
    for event in slow.may_end:
        event.set()
    for timer in timers:
        timer.join()


def test_the_making_of_an_item_belongs_to_its_iteration():
    slow = Slow(2)
    slow.may_end[0].set()

    def items() -> Iterator[int]:
        for i in range(2):
            assert slow.ended == list(range(i))
            slow.op(i)
            yield i

    paced = pace(items(), ahead=0)
    assert next(paced) == 0
    assert next(paced) == 1  # waited for op 0
    slow.may_end[1].set()
    assert list(paced) == []
    assert slow.ended == [0, 1]  # a barrier after the last iteration too


def test_a_loop_with_free_slots_does_not_wait():
    with closed_gate():
        seen = [(i, np.ones(3) + i) for i in pace(range(3), ahead=3)]
    assert [x.tolist() for _, x in seen] == [[1.0 + i] * 3 for i in range(3)]


def test_breaking_off_is_fine():
    for i in pace(range(10)):
        x = np.ones(2) * i
        if i == 3:
            break
    assert x.tolist() == [3.0, 3.0]


def test_errors_of_the_loop_and_of_the_iterable_pass_through():
    def items() -> Iterator[int]:
        yield 1
        raise KeyError("items")

    with pytest.raises(KeyError, match="items"):
        list(pace(items()))
    paced = pace(range(3))
    next(paced)
    with pytest.raises(RuntimeError, match="mine"):  # thrown into the loop's body, as it were
        paced.throw(RuntimeError("mine"))


def test_negative_ahead_is_refused_at_once():
    with pytest.raises(ValueError, match="ahead must not be negative, got -1"):
        pace([], ahead=-1)


def test_an_empty_iterable_gives_nothing():
    assert list(pace([])) == []


def test_pace_has_the_length_of_its_iterable():
    assert len(pace([1, 2, 3])) == 3  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="iterable must have a length, got generator"):
        len(pace(i for i in range(3)))  # type: ignore[arg-type]
    assert list(pace(i for i in range(3))) == [0, 1, 2]
    paced = pace(range(3))
    paced.close()  # type: ignore[attr-defined]
    assert list(paced) == []
