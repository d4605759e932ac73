"""Programs that several ranks run, started by `forerun run -n`, or by MPI's own launcher."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.subprocesses import environment

needs_mpi = pytest.mark.skipif(
    importlib.util.find_spec("mpi4py") is None, reason="needs mpi4py and an MPI: pip install mpi4py mpich"
)
START = "import os, signal, sys\nfrom forerun import autograd, distributed as dist, np\n"
PATIENCE = 100.0  # seconds after which nothing is worth waiting for


def run_ranks(folder: Path, size: int, program: str, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a program, behind `START`, in several ranks to its end."""
    file = folder / "program.py"
    file.write_text(START + program)
    words = [sys.executable, "-m", "forerun", "run", "-n", str(size), *options, str(file)]
    variables = environment(FORERUN_WORKERS="1", **more)
    return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False)


def run_mpiexec(folder: Path, size: int, program: str, **more: str) -> subprocess.CompletedProcess[str]:
    """The same under MPI's own launcher, which knows nothing of forerun."""
    file = folder / "program.py"
    file.write_text(START + program)
    launcher = shutil.which("mpiexec", path=os.pathsep.join([f"{sys.prefix}/bin", os.environ["PATH"]]))
    assert launcher is not None
    # Open MPI starts more ranks than there are cores, or as root, only if these variables say so.
    more |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    more |= {"PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    words = [launcher, "-n", str(size), sys.executable, "-u", str(file)]
    variables = environment(FORERUN_WORKERS="1", **more)
    return subprocess.run(words, env=variables, capture_output=True, text=True, timeout=PATIENCE, check=False)


def launcher_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The lines of the launcher. That of MPI may write others."""
    return [line for line in done.stderr.splitlines() if line.startswith("forerun run: ")]


def check_reports_of_failed_rank_2(
    done: subprocess.CompletedProcess[str], status: int, begins: str, says: str, ends: str
) -> None:
    """Check the lines of ranks 0 and 1, which learned that rank 2 had failed, and that the launcher killed neither."""
    lines = sorted(done.stdout.splitlines())
    assert len(lines) == 2, (lines, done.stderr)
    for rank in (0, 1):
        assert lines[rank].startswith(f"[{rank}] learned rank 2 {begins}"), lines
        assert says in lines[rank]
        assert lines[rank].endswith(ends)
    assert done.returncode == status
    assert "kills the ranks" not in done.stderr


def output_of_ranks(folder: Path, size: int, program: str, **more: str) -> tuple[list[str], str]:
    """The lines of all ranks, in the order of ranks, and the errors."""
    done = run_ranks(folder, size, program, **more)
    return sorted(done.stdout.splitlines(), key=lambda line: line[:3]), done.stderr


def lines_of(folder: Path, size: int, program: str, **more: str) -> list[list[str]]:
    """The lines of each rank, without its number. The program must end well, with nothing on standard error."""
    done = run_ranks(folder, size, program, **more)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    found: list[list[str]] = [[] for _ in range(size)]
    for line in done.stdout.splitlines():
        rank, text = line.removeprefix("[").split("] ", 1)
        found[int(rank)].append(text)
    return found
