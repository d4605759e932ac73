"""Each script in examples/chapters runs, prints its figures, and draws pictures that are well formed."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes.subprocesses import environment

FOLDER = ROOT / "examples" / "chapters"
SCRIPTS = sorted(FOLDER.glob("[a-z][0-9]_*.py"))
ROWS = ["A1", "A2", "A3", "A4", "B1", "B2", "C1", "D1", "D2", "E1", "E2", "E3", "E4", "E5"]


def script_output(script: Path, out: Path) -> str:
    """Return the output of a script, run quickly in a process and a folder of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", script, "--quick", "--out", out],
        cwd=out,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_every_row_has_one_script():
    assert [script.name[:2].upper() for script in SCRIPTS] == ROWS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
class TestScript:
    def test_output_has_figures_and_existing_pictures(self, script: Path, tmp_path: Path):
        printed = script_output(script, tmp_path)
        head, *rows = table_of(printed)
        assert head.strip()
        assert rows
        assert all(re.search(r"\d", row) for row in rows if "  " in row.strip())  # a long name takes two lines
        assert "MISSED" not in printed
        assert "WRONG" not in printed
        words = [word.strip(",") for word in printed.split()]
        drawn = {str(path) for path in tmp_path.iterdir()}
        assert drawn == {word for word in words if word.endswith(".svg")}
        for path in drawn:
            assert ElementTree.parse(path).getroot().tag.endswith("svg")

    def test_output_names_the_file_of_the_program(self, script: Path):
        named = re.findall(r"src/forerun/tour/experiments/\S+\.py", script.read_text(encoding="utf-8"))
        assert [(ROOT / name).read_text(encoding="utf-8")[:6] for name in named] == [f'"""{script.name[:2].upper()}:']

    def test_its_docstring_names_the_row_and_how_to_run_it(self, script: Path):
        text = script.read_text(encoding="utf-8")
        assert text.startswith(f'"""{script.name[:2].upper()}: ')
        assert f"python examples/chapters/{script.name} [--quick]" in text


def table_of(printed: str) -> list[str]:
    """The first table: its head and its rows."""
    lines = printed.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("  "))
    end = next(i for i in range(begin, len(lines) + 1) if i == len(lines) or not lines[i])
    return lines[begin:end]


def test_several_devices_draw_a_step(tmp_path: Path):
    printed = script_output(FOLDER.parent / "several_devices.py", tmp_path)
    assert re.search(r"In \d of 2 steps the first sum began before the backward passes had ended", printed)
    assert float(re.search(r"differ by (\S+) from", printed)[1]) < 1e-5
    picture = ElementTree.parse(tmp_path / "several_devices.svg")
    names = {element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert {"data and forward", "backward", "sums and updates", "broadcast"} <= names
