"""Random moments at which a rank is killed, raises, freezes, or goes another way, in two to four ranks.

Every other rank must learn of it where it reads, in words that name the rank, its failure, and the line where this one
waited; and no process may keep running.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.ranks import START, needs_mpi
from tests.support.processes.subprocesses import environment

# A loop like training: a sum, a broadcast, a gather and work between, step by step. In the chosen step the chosen rank
# fails as named by HOW.
PROGRAM = (
    START
    + """
how, failing, when, place, large = sys.argv[1], *map(int, sys.argv[2:])
rank = dist.rank()

def misbehave():
    if how == "kill": os.kill(os.getpid(), signal.SIGKILL)
    if how == "terminate": os.kill(os.getpid(), signal.SIGTERM)
    if how == "raise": raise ValueError("a mistake")
    if how == "exit": sys.exit(3)
    if how == "freeze": os.kill(os.getpid(), signal.SIGSTOP)
    if how == "operand": return np.linalg.inv(np.zeros((2, 2))).sum() * np.ones(x.shape, "float32")
    if how == "shape": return np.ones(len(x) + 1)
    if how == "dtype": return x.astype("float64")
    if how == "order": dist.broadcast(x)
    if how == "kind": dist.barrier()
    return x

x = np.ones(large) + rank
try:
    for step in range(when + 3):
        fails = rank == failing and step == when
        if fails and place == 0: x = misbehave()
        x = dist.allreduce(x, "mean")
        if fails and place == 1: x = misbehave()
        x = dist.broadcast(x, root=step % dist.size()) * 0.5
        if fails and place == 2: x = misbehave()
        x = dist.allgather(x)[0]
    print("ended", x.sum().item())
except dist.RankFailed as error:
    notes = " ".join(getattr(error, "__notes__", ()))
    print("learned", str(error).replace("\\n", " "), notes, flush=True)
"""
)
HOWS = ("kill", "freeze", "operand", "shape", "order", "raise", "kind", "terminate", "exit", "dtype")
MOMENTS = int(os.environ.get("EXAMPLES", "6"))  # `make ranks` has 20
SAYS = {
    "kill": r"rank {failing} \(host .*, pid \d+\) was killed by signal 9 \(SIGKILL\)",
    "terminate": r"rank {failing} \(host .*, pid \d+\) was killed by signal 15 \(SIGTERM\)",
    "raise": r"rank {failing} .*raised ValueError: a mistake",
    "exit": r"rank {failing} \(host .*, pid \d+\) ended with status 3|rank {failing} has ended its program",
    "operand": r"rank {failing} took no part in \w+ at .*program.py:\d+: its operand has failed \(.*[Ss]ingular"
    r"|rank {failing} .*raised \w*LinAlgError",
    "freeze": r"rank {failing} \(host .*, pid \d+\) is frozen: it has been stopped for \d+ s",
}
DIFFERS = r"all ranks must issue the same collectives in the same order, got as number \d+ .*program.py:\d+ on rank \d"


def fault_cases() -> list[tuple[str, int, int, int, int, int]]:
    """How, number of ranks, which of them, in which step, where in it, and the size of arrays."""
    draw = random.Random(2024)
    found = []
    for i in range(MOMENTS):
        how = HOWS[i] if i < len(HOWS) else draw.choice(HOWS)
        size = draw.choice((2, 2, 3, 4))
        large = draw.choice((3, 3, 2000, 300_000))
        found.append((how, size, draw.randrange(size), draw.randrange(12), draw.randrange(3), large))
    return found


def remaining_processes(mark: str) -> list[str]:
    """Command lines of processes with the mark in their variables."""
    found = []
    for each in Path("/proc").iterdir():
        try:
            if each.name.isdecimal() and mark.encode() in (each / "environ").read_bytes():
                found.append((each / "cmdline").read_bytes().decode())
        except OSError:
            continue
    return found


@needs_mpi
@pytest.mark.parametrize(("how", "size", "failing", "when", "place", "large"), fault_cases())
def test_other_ranks_raise_rank_failed(
    tmp_path: Path, how: str, size: int, failing: int, when: int, place: int, large: int
) -> None:
    file, mark = tmp_path / "program.py", f"mark-{os.getpid()}-{tmp_path.name}"
    file.write_text(PROGRAM)
    words = [sys.executable, "-m", "forerun", "run", "-n", str(size), str(file), how]
    words += map(str, (failing, when, place, large))
    done = subprocess.run(
        words, env=environment(MARK=mark, FORERUN_WORKERS="1"), capture_output=True, text=True, timeout=100, check=False
    )
    says = SAYS.get(how, DIFFERS).format(failing=failing)
    for rank in range(size):
        lines = [line for line in done.stdout.splitlines() if line.startswith(f"[{rank}] ")]
        if rank == failing and how in SAYS:
            continue
        assert len(lines) == 1, (rank, done.stdout, done.stderr)
        assert lines[0].startswith(f"[{rank}] learned "), done.stdout
        assert re.search(says, lines[0]), lines[0]
        assert re.search(r"this rank waited in \w+|this rank came to \w+", lines[0]), lines[0]
        assert "program.py:" in lines[0]
    assert remaining_processes(mark) == []
