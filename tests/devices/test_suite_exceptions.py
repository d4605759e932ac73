"""The list of tests that cannot pass with another current device names tests that exist, with reasons."""

from __future__ import annotations

from tests.support.paths import ROOT
from tests.support.pytest_plugins.on_device import Entry, read_entries


def test_each_entry_names_a_test_and_has_a_reason() -> None:
    entries = read_entries()
    assert len({entry.pattern for entry in entries}) == len(entries)
    for entry in entries:
        file, *_, name = entry.pattern.split("::")
        assert f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(), entry.pattern
        assert entry.reason, entry.pattern


def test_an_entry_matches_all_parameters_of_its_test_alone() -> None:
    entry = Entry("tests/a.py::test_x", "reason", runs=True)
    assert all(map(entry.matches, ["tests/a.py::test_x", "tests/a.py::test_x[1-b]"]))
    assert not any(map(entry.matches, ["tests/a.py::test_xy", "tests/b.py::test_x", "tests/a.py"]))


def test_an_entry_may_be_of_some_parameters() -> None:
    entry = Entry("tests/a.py::test_x[*-b]", "reason", runs=True)
    assert all(map(entry.matches, ["tests/a.py::test_x[1-b]", "tests/a.py::test_x[2-b]"]))
    assert not any(map(entry.matches, ["tests/a.py::test_x[1-c]", "tests/a.py::test_x"]))
