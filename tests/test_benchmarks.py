"""The workers of the benchmark beside the peers compute what NumPy does, and its table says what was measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[1] / "benchmarks" / "peers"


def output(*command: str, given: str = "") -> str:
    """What Python prints, run beside the scripts with these arguments."""
    command = (sys.executable, "-W", "error", *command)
    done = subprocess.run(
        command, input=given, cwd=PEERS, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("factory", "missing"), [("with_gluon:Forerun", 0), ("with_numpy:NumPy", 4)])
def test_each_row_gives_what_numpy_computes_in_float64(factory, missing):
    rows = output("-c", "from rows import ROWS; print(*(row.name for row in ROWS))").split()
    version, *answers = output("worker.py", factory, "--quick", given="\n".join(rows)).splitlines()
    assert list(json.loads(version)) == ["version"]
    found = {row: json.loads(answer) for row, answer in zip(rows, answers, strict=True)}
    assert [row for row, answer in found.items() if not answer.keys() & {"seconds", "missing"}] == [], found
    assert sum("missing" in answer for answer in found.values()) == missing


def test_a_step_of_training_that_is_not_along_the_gradient_is_refused():
    program = (
        "import with_gluon, worker\n"
        "class Wrong(with_gluon.Forerun):\n"
        "    def values(self, y): return super().values(y) - 1e-4\n"
        "with_gluon.Wrong = Wrong\n"
        "print(worker.Worker('with_gluon:Wrong', True).answer('lenet'))"
    )
    assert "loss must fall" in output("-c", program)


def test_a_result_that_is_not_numpys_is_refused():
    program = (
        "import with_numpy, worker\n"
        "class Wrong(with_numpy.NumPy):\n"
        "    def gelu(self, x, count): return lambda: x\n"
        "with_numpy.Wrong = Wrong\n"
        "print(worker.Worker('with_numpy:Wrong', True).answer('gelu'))"
    )
    assert "must be NumPy's within" in output("-c", program)


def test_a_worker_says_what_it_lacks_and_what_fails():
    given = "sum\nnothing\n"
    *_, lacks, fails = output("worker.py", "with_gluon:Hybrid", "--quick", given=given).splitlines()
    assert "gluon" in json.loads(lacks)["missing"]
    assert "KeyError" in json.loads(fails)["error"]


def test_the_table_and_the_file_have_the_rows_asked_for(tmp_path):
    path = tmp_path / "figures.json"
    printed = output("run.py", "--quick", "--rows", "gelu", "small_training", "--peers", "--json", str(path))
    assert "| tanh-GELU" in printed
    gelu, training = json.loads(path.read_text())["rows"]
    assert list(gelu["seconds"]) == ["forerun"]
    assert list(training["seconds"]) == ["forerun", "hybrid"]


def test_the_ratio_is_of_the_same_round_and_the_best_peer_is_in_bold():
    program = (
        "from report import cells; from rows import ROWS; from columns import OURS, PEERS\n"
        "seconds = {'forerun': [1e-6, 4e-6, 3e-6], 'numpy': [2e-6, 8e-6, 3e-6], 'torch': [9e-6] * 3}\n"
        "print(*cells(ROWS[0], seconds, OURS + PEERS[:3])[1:], sep=';')"
    )
    assert output("-c", program) == "3.00;-;**3.00 (0.50)**;9.00 (0.33);-"
