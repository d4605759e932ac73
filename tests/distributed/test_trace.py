"""`forerun trace -n`, and FORERUN_PROFILE under `forerun run -n`: one file and one timeline of all ranks."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
from pathlib import Path

import pytest

from forerun import profiler
from tests.support.processes.subprocesses import run_forerun

needs_mpi = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="needs MPI: run `make ranks`")
PROGRAM = """
import os, sys
from forerun import distributed as dist, np
x = np.ones((40, 40)) * (dist.rank() + 1)
for step in range(3):
    x = dist.allreduce(x @ x / 40)
print(x.sum().item())
if sys.argv[1:] == ["dies"] and dist.rank() == 1:
    os.kill(os.getpid(), 9)
if sys.argv[1:] == ["dies"]:
    dist.allreduce(x).wait()
"""


def run_on_program(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command of forerun in a folder with the program."""
    (folder / "train.py").write_text(PROGRAM)
    return run_forerun(*words, folder=folder, **more)


@needs_mpi
def test_trace_of_ranks_is_one_page_and_one_recording(tmp_path: Path) -> None:
    done = run_on_program(tmp_path, "trace", "-n", "2", "train.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 ranks, " in done.stdout
    assert sorted(p.name for p in (tmp_path / "build/trace").iterdir()) == ["train.frec", "train.html"]
    found = profiler.load(tmp_path / "build/trace/train.frec")
    collectives = [[e for e in found.ops if e.rank == r and e.queue == "network"] for r in range(2)]
    assert [len(row) for row in collectives] == [3, 3]
    for pair in zip(*collectives):  # on one clock no rank has the sum before the other has come
        assert max(e.started for e in pair) <= min(e.ended for e in pair)
    again = run_on_program(tmp_path, "trace", "--json", "build/trace/train.frec")
    assert [r["collectives"] for r in json.loads(again.stdout)["ranks"]] == [3, 3]


@needs_mpi
def test_with_json_standard_output_has_the_report_alone(tmp_path: Path) -> None:
    done = run_on_program(tmp_path, "trace", "-n", "2", "--json", "train.py")
    assert [r["number"] for r in json.loads(done.stdout)["ranks"]] == [0, 1]
    assert "[0] " in done.stderr


@needs_mpi
def test_a_killed_rank_is_shown(tmp_path: Path) -> None:
    done = run_on_program(tmp_path, "trace", "-n", "2", "--grace", "5", "train.py", "dies")
    assert done.returncode == 128 + 9
    assert "rank 1, died while it recorded" in done.stdout
    assert (tmp_path / "build/trace/train.html").exists()


@needs_mpi
def test_the_environment_records_ranks_into_one_file(tmp_path: Path) -> None:
    stale = tmp_path / "run.rank7.frec"
    stale.write_bytes(b"of a larger run")
    done = run_on_program(tmp_path, "run", "-n", "2", "train.py", FORERUN_PROFILE=os.fspath(tmp_path / "run.frec"))
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.frec", "train.py"]
    assert [r.number for r in profiler.load(tmp_path / "run.frec").ranks] == [0, 1]
