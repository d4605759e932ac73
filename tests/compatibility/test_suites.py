"""The tool that runs other libraries' suites: no test that hangs, or ends the process, takes the others with it."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.support.paths import ROOT

TOOL = ROOT / "compatibility" / "suites.py"
SUITE = """
import os, signal, pytest

def test_passes(): pass
def test_ends_the_process(): os._exit(9)
def test_hangs(): signal.pause()
def test_hangs_whatever_is_raised():
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    signal.pause()
def test_fails(): assert 1 == 2, "one is not two"
def test_is_left_out(): pytest.skip("no reason")
@pytest.fixture
def broken(): raise OSError("cannot be set up")
def test_cannot_begin(broken): pass
@pytest.mark.parametrize("x", ["a", 'b"\\n'])
def test_passes_again(x): pass
"""


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The tool, for the suite above in place of a library's, with little patience."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    spec = importlib.util.spec_from_file_location("suites", TOOL)
    assert spec
    assert spec.loader
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    (tmp_path / "test_of_a_library.py").write_text(SUITE)
    monkeypatch.setitem(tool.SELECTED, "scipy", [])
    monkeypatch.setattr(tool, "OUT", tmp_path)
    monkeypatch.setattr(tool, "PATIENCE", 2)
    monkeypatch.setattr(tool, "GRACE", 1)
    command = tool.command
    file = str(tmp_path / "test_of_a_library.py")
    where = lambda *part: [file if word == "--pyargs" else word for word in command(*part) if word != "scipy.part"]
    monkeypatch.setattr(tool, "command", where)
    return tool


def test_each_test_is_run_once_after_crashes_of_others(suites: ModuleType, tmp_path: Path) -> None:
    assert suites.run("scipy", "part") == Counter(passed=3, failed=5, skipped=1)
    listed = (tmp_path / "scipy.part.failures.txt").read_text()
    reasons = [line.split(" x ")[1] for line in listed.splitlines() if " x " in line]
    assert "2 x the process ended\n" in listed
    kinds = sorted(reason.split(":")[0] for reason in reasons)
    assert kinds == ["AssertionError", "OSError", "TimeoutError", "the process ended"]
    notes = suites.noted.read(suites.notes("scipy", "part"))
    ((_, why, text),) = [n for test, n in notes.items() if "test_fails" in test]
    assert why.startswith("AssertionError: one is not two")
    assert "assert 1 == 2" in text


def test_resume_skips_recorded_tests(suites: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file, suite = tmp_path / "test_of_a_library.py", SUITE.replace("signal.pause()", "assert 0")
    file.write_text(suite)
    suites.main("scipy", ["part"], resume=False, failed=False)
    before = (tmp_path / "scipy.part.jsonl").read_text()
    suites.main("scipy", ["part"], resume=True, failed=False)
    assert (tmp_path / "scipy.part.jsonl").read_text() == before
    file.write_text(suite.replace("assert 1 == 2", "assert 1 == 1").replace("os._exit(9)", "pass"))
    suites.main("scipy", ["part"], resume=False, failed=True)
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| part |")]
    assert rows == ["| part | 3 | 5 | 1 |"] * 2 + ["| part | 5 | 3 | 1 |"]


@pytest.mark.parametrize(("end", "status"), [("raise SystemExit(3)", 3), ("__import__('signal').pause()", -9)])
def test_a_suite_that_does_not_start_is_reported(end: str, status: int, suites: ModuleType, monkeypatch: Any) -> None:
    program = f"print('no pytest here', flush=True); {end}"
    monkeypatch.setattr(suites, "command", lambda *_: [sys.executable, "-c", program])
    monkeypatch.setattr(suites, "START", 0)
    with pytest.raises(RuntimeError, match=f"got status {status}:\nno pytest here"):
        suites.run("scipy", "part")
