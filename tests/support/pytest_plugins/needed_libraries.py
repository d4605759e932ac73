"""Doctests and sections of pages that import a library which `make test` does not install are left out without it.

A section of a page begins with a heading of the second level. Where no other example remains, the test is skipped. The
libraries are those of the extra `adapters`; `make adapters` runs all examples.
"""

from __future__ import annotations

import doctest
import importlib.util
import re
import tomllib

import pytest

from tests.support.paths import ROOT

# Distributions whose modules have another name.
MODULE_NAMES = {"opentelemetry-sdk": "opentelemetry", "py-rattler-build": "rattler_build"}
IMPORT = re.compile(r"^(?:import|from) +(\w+)", re.MULTILINE)


def libraries() -> set[str]:
    """Return the modules of the libraries that tests beside them need."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = (re.split("[<>=]", requirement)[0] for requirement in extras["adapters"])
    return {MODULE_NAMES.get(name, name) for name in names}


def missing(source: str, wanted: set[str]) -> list[str]:
    """Return which libraries a program imports that are not installed."""
    found = wanted & set(IMPORT.findall(source))
    return sorted(name for name in found if importlib.util.find_spec(name) is None)


def sections(examples: list[doctest.Example], text: str) -> list[list[doctest.Example]]:
    """Return the examples of each section of a page, and all those of another text as one section."""
    headings = [line for line, words in enumerate(text.splitlines()) if words.startswith("## ")]
    found: dict[int, list[doctest.Example]] = {}
    for example in examples:
        found.setdefault(sum(line < example.lineno for line in headings), []).append(example)
    return list(found.values())


def leave_out(test: doctest.DocTest, wanted: set[str]) -> list[str]:
    """Remove the sections of a test that import missing libraries, and return these if no example remains."""
    kept: list[doctest.Example] = []
    absent: set[str] = set()
    for section in sections(test.examples, test.docstring or ""):
        lacking = missing("\n".join(example.source for example in section), wanted)
        absent.update(lacking)
        kept += [] if lacking else section
    if absent and kept:
        test.examples = kept
    return [] if kept else sorted(absent)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pytest calls this with the tests of a run."""
    wanted = libraries()
    for item in items:
        if isinstance(item, pytest.DoctestItem) and (absent := leave_out(item.dtest, wanted)):
            item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(absent)}: run `make adapters`"))
