"""The tests' plugins: a test that hangs ends the run and reports its wait; all tests draw the same numbers; one test of
many cases names those that fail, and keeps its fixtures."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

from forerun import _core, np
from tests.support.many_cases import for_each
from tests.support.paths import ROOT
from tests.support.pytest_plugins.needed_libraries import leave_out
from tests.support.pytest_plugins.watchdog import STATUS

HANGS = """
import threading
from forerun import np, npx

def test_hangs():
    never = threading.Event()
    x = npx.host(lambda v: (never.wait(), v)[1], [np.ones(3)], [((3,), "float32")], name="stuck")[0]
    (x + 1).tolist()
"""


def test_a_hang_is_shown(tmp_path):
    (tmp_path / "test_that_hangs.py").write_text(HANGS)
    command = [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "--rootdir", tmp_path, "--limit", "2"]
    done = subprocess.run([*command, tmp_path], capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode == STATUS
    assert "test_hangs has not ended within 2.0 s" in done.stderr
    assert "stuck of " in done.stderr
    assert ": runs" in done.stderr
    assert "in test_hangs" in done.stderr  # the line of the thread


@pytest.mark.parametrize("other", [1, 2])
def test_random_state_is_reset_between_tests(other):
    """Every test begins with the same random numbers (tests/support/pytest_plugins/fresh_state.py)."""
    assert (_core.random_seed(), _core.random_drawn()) == (0, 0)
    np.random.seed(other)
    np.random.normal(size=other)


PAGE = """
>>> first = 1

## A section

>>> import no_such_library

## The next one

>>> third = 3
"""


def test_only_the_sections_of_a_page_that_lack_a_library_are_left_out():
    page = doctest.DocTestParser().get_doctest(PAGE, {}, "page", None, 0)
    assert leave_out(page, {"no_such_library", "doctest"}) == []
    assert [example.source for example in page.examples] == ["first = 1\n", "third = 3\n"]


def test_a_docstring_that_lacks_a_library_is_skipped():
    text = PAGE.replace("## ", "")
    example = doctest.DocTestParser().get_doctest(text, {}, "function", None, 0)
    assert leave_out(example, {"no_such_library"}) == ["no_such_library"]
    assert len(example.examples) == 3


seen: list[tuple[int, str]] = []


@for_each("number, letter", [(1, "a"), (2, "b")])
def test_fixtures_and_other_parameters_are_kept(number: int, letter: str, tmp_path: Path) -> None:
    assert tmp_path.is_dir()
    seen.append((number, letter))


def test_every_case_is_checked() -> None:
    seen.clear()
    for_each("number, letter", [(1, "a"), (2, "b")])(lambda number, letter: seen.append((number, letter)))()
    assert seen == [(1, "a"), (2, "b")]


def test_all_cases_that_fail_are_named() -> None:
    def check(number: int) -> None:
        assert number != 2, "an even number"
        if number == 3:
            raise ValueError("three")

    with pytest.raises(AssertionError, match=r"2 of 3 cases fail:\n<2>: AssertionError: an even(.|\n)*<3>: ValueError"):
        for_each("number", [1, 2, 3], ids=lambda number: f"<{number}>")(check)()


def test_a_test_without_cases_fails() -> None:
    with pytest.raises(AssertionError, match="there are no cases"):
        for_each("number", [])(lambda number: None)()
