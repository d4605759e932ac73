"""Random programs: with all passes, a program reads the same values as step by step."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stress.fuzz.modes import in_order, running_ahead
from stress.fuzz.program import LARGE, Step, seeded
from stress.fuzz.steps import EXACT_KINDS, FREE_KINDS
from tests.support.engine.settings import configured

MODES: dict[str, dict[str, Any]] = {
    "sync": {"engine": "sync"},
    "1 worker": {"workers": 1},
    "4 workers": {"workers": 4},
    "2 ops ahead": {"workers": 4, "ops_ahead": 2},
    "no budget": {"workers": 4, "memory_budget": 256},
}
AHEAD = [name for name in MODES if name != "sync"]


def mode(name: str, **settings: Any) -> Any:
    return configured(**({"engine": "async", "cpu_devices": 2} | MODES[name] | settings))


def programs(kinds: tuple[str, ...]) -> st.SearchStrategy[list[Step]]:
    numbers = st.integers(0, 999)
    return st.lists(st.builds(Step, st.sampled_from(kinds), numbers, numbers, numbers), max_size=40)


examples = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("name", MODES)
def test_exact_program_reads_the_values_of_numpy(name):
    @examples
    @given(programs(EXACT_KINDS))
    def check(steps):
        assert running_ahead(steps) == in_order(steps)

    with mode(name):
        check()


def test_any_program_reads_the_same_in_every_mode():
    @examples
    @given(programs(FREE_KINDS))
    def check(steps):
        with mode("sync"):
            expected = running_ahead(steps, exact=False)
        for name in AHEAD:
            with mode(name):
                assert running_ahead(steps, exact=False) == expected, name

    check()


def test_long_exact_program():
    steps = seeded(EXACT_KINDS, 4000, seed=1)
    expected = in_order(steps, LARGE, room=100)
    for name in MODES:
        with mode(name):
            assert running_ahead(steps, LARGE, room=100) == expected, name


def test_long_program_in_every_mode():
    steps = seeded(FREE_KINDS, 3000, seed=2)
    with mode("sync"):
        expected = running_ahead(steps, LARGE, exact=False, room=100)
    for name in AHEAD:
        with mode(name):
            assert running_ahead(steps, LARGE, exact=False, room=100) == expected, name


def test_long_program_in_a_megabyte():
    steps = seeded(EXACT_KINDS, 4000, seed=3)
    with mode("4 workers", memory_budget=1 << 20):
        assert running_ahead(steps, LARGE, room=100) == in_order(steps, LARGE, room=100)


def test_a_wrong_result_is_detected():
    steps = [Step("make", 1, 1, 1), Step("copy", 0, 0, 0), Step("update", 0, 1, 0)]
    assert in_order(steps) != in_order(steps[:-1])
