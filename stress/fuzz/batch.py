"""Many programs in one process, which prints a line before each program and a line after it."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy

from stress.fuzz.check import Counts, Finding, first_finding
from stress.fuzz.modes import BY_NAME, MODES, Mode
from stress.fuzz.program import Program, random_program, read
from stress.fuzz.shrink import shrunk

ROOM = 6 << 30  # bytes of address space: a program that takes more is a finding
MODES_EACH = 3


def modes_of(seed: int) -> list[Mode]:
    """Return the modes in which the program of a number runs."""
    rng = numpy.random.default_rng([seed, 1])
    return [MODES[i] for i in rng.choice(len(MODES), MODES_EACH, replace=False)]


def run_batch(first: int, count: int) -> None:
    """Runs programs `first`, `first` + 1, and so on, each in some modes."""
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    for seed in range(first, first + count):
        say({"begin": seed})
        counts, program = Counts(), random_program(seed)
        finding = first_finding(program, modes_of(seed), counts)
        say({"end": seed, "counts": asdict(counts), "finding": finding and asdict(finding)})


def replay(path: Path, modes: Sequence[Mode] = MODES) -> Finding | None:
    """A kept program in all modes."""
    return first_finding(read(path), modes)


def smallest(program: Program, finding: Finding) -> Program:
    """Print the smallest program with a wrong read in the same mode."""
    modes = [BY_NAME[finding.mode]] if finding.mode in BY_NAME else []

    def fails(candidate: Program) -> bool:
        found = first_finding(candidate, modes)
        return found is not None and found.mode == finding.mode

    return shrunk(program, fails)


def say(message: object) -> None:
    """Print a line for the watching process."""
    print(json.dumps(message), flush=True)


def main(arguments: list[str]) -> None:
    """Run `batch FIRST COUNT`, `replay FILE [MODE]` or `shrink FILE MODE`, as the parent process requests."""
    what, *rest = arguments
    if what == "batch":
        run_batch(int(rest[0]), int(rest[1]))
    elif what == "replay":
        finding = replay(Path(rest[0]), [BY_NAME[name] for name in rest[1:]] or MODES)
        say({"finding": finding and asdict(finding)})
    elif what == "shrink":
        path = Path(rest[0])
        path.write_text(smallest(read(path), Finding(rest[1], "")).text(), encoding="utf-8")
        say({"shrunk": str(path)})


if __name__ == "__main__":
    main(sys.argv[1:])
