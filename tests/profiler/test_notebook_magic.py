"""`%%forerun trace`: a cell runs as always, and its report follows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SHELL = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(user_ns={})
shell.history_manager.enabled = False
assert shell.run_cell("%load_ext forerun").success
for cell in sys.argv[1:]:
    shell.run_cell(cell)
"""
WORK = "%%forerun trace\nfrom forerun import np\nx = np.ones((200, 200))\ntotal = (x @ x).sum().item()\n"


def output_of_cells(*cells: str, folder: Path) -> str:
    command = [sys.executable, "-c", SHELL, *cells]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, cwd=folder)
    return done.stdout + done.stderr


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """IPython keeps a history in its folder."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))


def test_a_cell_is_recorded(tmp_path):
    shown = output_of_cells(WORK, "print('total', total)", folder=tmp_path)
    assert "waits by line" in shown
    assert "matmul" in shown
    assert "total 8000000.0" in shown


def test_the_timeline_is_written_to_a_file(tmp_path):
    shown = output_of_cells(WORK.replace("trace", "trace --out run.html --limit 1", 1), folder=tmp_path)
    assert "timeline: run.html" in shown
    assert (tmp_path / "run.html").stat().st_size > 10_000


def test_errors_and_mistakes(tmp_path):
    shown = output_of_cells("%%forerun trace\n1 / 0", "%%forerun tarce\n1", WORK, folder=tmp_path)
    assert "ZeroDivisionError" in shown
    assert "%%forerun: argument command: invalid choice: 'tarce'" in shown
    assert shown.count("matmul") >= 1  # a recording can follow
