"""The plugin of pytest for programs: a test with an unread error fails, and says which line issued the operation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forerun import np, testing

TESTS = """
import numpy
import pytest
import forerun
from forerun import np

def test_unread():
    np.linalg.inv(np.zeros((2, 2)))

def test_read():
    with pytest.raises(numpy.linalg.LinAlgError):
        np.linalg.inv(np.zeros((2, 2))).tolist()

def test_after_it():
    assert (np.ones(2) + 1).tolist() == [2, 2]

@pytest.mark.unread_errors
def test_intended():
    np.linalg.inv(np.zeros((2, 2)))

def test_other_failure():
    np.linalg.inv(np.zeros((2, 2)))
    assert False, "its own"

def test_engines(forerun_engine):
    assert forerun.config()["engine"] == forerun_engine
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A run of these tests, with the plugin, by a pytest without the settings of this project."""
    folder: Path = tmp_path_factory.mktemp("tests")
    (folder / "test_them.py").write_text(TESTS)
    (folder / "conftest.py").write_text('pytest_plugins = ["forerun.pytest_plugin"]\n')
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "-c", "pytest.ini", "test_them.py"]
    return subprocess.run(command, capture_output=True, text=True, timeout=240, check=False, cwd=folder)


def test_outcomes(run):
    lines = [line.split(" ")[:2] for line in run.stdout.splitlines() if line.startswith("test_them.py::")]
    found = {name.removeprefix("test_them.py::test_"): word for name, word in lines}
    passed = dict.fromkeys(("read", "after_it", "intended", "engines[async]", "engines[sync]"), "PASSED")
    assert found == {"unread": "FAILED", "other_failure": "FAILED", **passed}, run.stdout


def test_failure_report(run):
    assert "1 operation has failed, and the test reads no result of it:" in run.stdout
    assert "LinAlgError: Singular matrix, issued at " in run.stdout
    assert "test_them.py:8" in run.stdout
    assert "AssertionError: its own" in run.stdout


def test_errors_count_as_read():
    np.linalg.inv(np.zeros((2, 2)))
    (error,) = testing.unread_errors()
    assert error.startswith("LinAlgError: Singular matrix, issued at ")
    assert testing.unread_errors() == []
