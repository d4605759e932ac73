"""D2L's data-parallel program in several ranks: they print the same numbers, which are those of one rank."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT
from tests.support.processes.ranks import PATIENCE, needs_mpi
from tests.support.processes.subprocesses import environment


def printed_by_ranks(size: int, *options: str) -> list[list[str]]:
    """The lines of each rank."""
    words = [sys.executable, "-m", "forerun", "run", "-n", str(size), os.fspath(ROOT / "examples" / "ranks.py")]
    done = subprocess.run(
        [*words, "--epochs", "2", *options], env=environment(FORERUN_WORKERS="1"), capture_output=True, text=True,
        timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    return [[line[4:] for line in lines if line.startswith(f"[{rank}] ")] for rank in range(size)]


@needs_mpi
@pytest.mark.parametrize("options", [(), ("--devices", "2")], ids=str)
def test_ranks_print_the_output_of_one(options: tuple[str, ...], tmp_path: Path) -> None:
    (one,), (first, second) = printed_by_ranks(1), printed_by_ranks(2, *options)
    assert first == second
    numbers = [[float(text) for text in re.findall(r"[\d.]+\d", line)] for line in (one[1], first[1])]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.02)
    assert first[-1].startswith("parameters ")
