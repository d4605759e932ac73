"""Doctests and pages that import a library which `make test` does not install are skipped where it is missing.

The libraries are those of the extra `adapters`; `make adapters` runs the tests that are skipped here.
"""

from __future__ import annotations

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Pytest calls this with the tests of a run."""
    wanted = libraries()
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            source = "\n".join(example.source for example in item.dtest.examples)
            if absent := missing(source, wanted):
                item.add_marker(pytest.mark.skip(reason=f"needs {', '.join(absent)}: run `make adapters`"))
