"""Programs by signature: how many are kept, which are dropped, and that copies have no programs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from forerun import np, optimizer
from forerun.ops._base import traced
from forerun.ops._base.programs import ProgramCache, ProgramCapture

pytestmark = pytest.mark.usefixtures("engine")


def adder(n: int) -> Any:
    """A program that adds n to vectors of n elements."""
    x = np.zeros(n)
    with ProgramCapture((x,)) as capture:
        return capture.program((x,), [x + n], "add", free=1)


def test_the_matching_program_is_issued() -> None:
    cache: ProgramCache[Any] = ProgramCache()
    for n in (1, 2):
        cache.add("same", adder(n))
    cache.add("other", adder(3))
    assert [cache.issue("same", (np.zeros(n),))[0].tolist() for n in (1, 2)] == [[1.0], [2.0, 2.0]]
    assert cache.issue("same", (np.zeros(3),)) is None
    assert cache.issue("unknown", (np.zeros(3),)) is None


def test_the_oldest_programs_and_signatures_are_dropped() -> None:
    cache: ProgramCache[Any] = ProgramCache(most=2)
    made = {name: adder(1) for name in "abcdef"}
    for name in "abc":
        cache.add("first", made[name])
    assert cache.known["first"] == (made["c"], made["b"])
    cache.add("second", made["d"])
    cache.add("first", made["e"])  # which is the newest signature now
    cache.add("third", made["f"])
    assert "second" not in cache.known
    assert [*cache] == [made["f"], made["e"], made["c"]]
    assert len(cache) == 3


def test_the_number_of_kept_programs_is_bounded() -> None:
    cache: ProgramCache[Any] = ProgramCache()
    program = adder(1)
    for n in range(cache.most):
        cache.add(n, program)
        assert [*cache.known] == [*range(n + 1)]
    cache.refuse("one more")
    assert [*cache.known] == [*range(1, cache.most), "one more"]


def test_the_newest_program_is_the_first() -> None:
    cache: ProgramCache[Any] = ProgramCache()
    one, two, three = (adder(n) for n in (1, 2, 3))
    for signature, program in (("a", one), ("b", two), ("a", three)):
        cache.add(signature, program)
    assert [*cache] == [three, one, two]


def test_some_programs_can_be_dropped() -> None:
    cache: ProgramCache[Any] = ProgramCache()
    one, two = adder(1), adder(2)
    cache.add("a", one)
    cache.add("a", two)
    cache.add("b", one)
    cache.keep(lambda program: program is not one)
    assert [*cache] == [two]
    cache.clear()
    assert [*cache] == []


def test_a_signature_without_programs_is_remembered_until_it_has_one() -> None:
    cache: ProgramCache[Any] = ProgramCache()
    assert not cache.refuses("a")
    cache.refuse("a")
    assert cache.refuses("a")
    assert cache.issue("a", (np.zeros(1),)) is None
    cache.add("a", adder(1))
    assert not cache.refuses("a")


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda cache: pickle.loads(pickle.dumps(cache))])
def test_copies_have_no_programs(copied: Any) -> None:
    cache: ProgramCache[Any] = ProgramCache(most=3)
    cache.add("a", adder(1))
    made = copied(cache)
    assert len(made) == 0
    assert made.most == 3
    assert len(cache) == 1


def test_optimizers_can_be_saved_after_a_step() -> None:
    made = optimizer.create("sgd", learning_rate=0.5)
    x = np.ones(2)
    made.update_all([(0, x, np.ones(2), made.create_state(0, x))])
    assert len(made._programs.cache) == 1
    again = pickle.loads(pickle.dumps(made))
    again.update_all([(0, x, np.ones(2), again.create_state(0, x))])
    assert x.tolist() == [0.0, 0.0]


def test_a_capture_ends_with_its_block() -> None:
    x = np.ones(2)
    with pytest.raises(ValueError, match="array data"), ProgramCapture((x,), strict=True, names=lambda: ["data"]):
        raise ValueError(repr(x))
    assert traced.inputs.names() == ()
    assert repr(x) == "array([1., 1.])"


def test_a_read_of_values_is_named() -> None:
    with ProgramCapture(()) as capture:
        assert capture.first_read is None
        assert capture.refused == ""
        assert np.ones(2).tolist() == [1.0, 1.0]
        assert capture.first_read[0].endswith("test_program_cache.py")
        assert "test_program_cache.py" in capture.refused
