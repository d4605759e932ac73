"""The workers of the benchmark beside the peers run each row, and its table says what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


def output(script: str, *arguments: str, given: str = "") -> str:
    """What a script prints."""
    command = [sys.executable, "-W", "error", PEERS / script, *arguments]
    done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def names() -> list[str]:
    """The rows."""
    program = "from rows import ROWS; print(*(row.name for row in ROWS))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PEERS, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("factory", ["with_gluon:Forerun", "with_numpy:NumPy"])
def test_each_row_gives_what_numpy_computes_in_float64(factory):
    rows = names()
    version, *answers = map(
        json.loads, output("worker.py", factory, "--quick", given="\n".join(rows)).splitlines()
    )
    assert list(version) == ["version"]
    assert {row: list(answer) for row, answer in zip(rows, answers, strict=True)} == dict.fromkeys(
        rows, ["seconds"]
    )


def test_a_worker_says_what_it_lacks_and_what_fails():
    *_, lacks, fails = output(
        "worker.py", "with_gluon:Hybrid", "--quick", given="sum\nnothing\n"
    ).splitlines()
    assert "gluon" in json.loads(lacks)["missing"]
    assert "KeyError" in json.loads(fails)["error"]


def test_the_table_and_the_file_have_the_rows_asked_for(tmp_path):
    path = tmp_path / "figures.json"
    printed = output("run.py", "--quick", "--rows", "gelu", "small_training", "--peers", "--json", str(path))
    assert "| tanh-GELU" in printed
    gelu, training = json.loads(path.read_text())["rows"]
    assert list(gelu["seconds"]) == ["forerun"]
    assert list(training["seconds"]) == ["forerun", "hybrid"]


def test_the_ratio_is_of_the_same_round_and_the_best_peer_is_in_bold(tmp_path):
    program = (
        "from report import cells; from rows import ROWS; from columns import OURS, PEERS\n"
        "seconds = {'forerun': [1e-6, 4e-6, 3e-6], 'numpy': [2e-6, 8e-6, 3e-6], 'torch': [9e-6] * 3}\n"
        "print(*cells(ROWS[0], seconds, OURS + PEERS[:3])[1:], sep=';')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PEERS, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "3.00;-;**3.00 (0.50)**;9.00 (0.33);-"
