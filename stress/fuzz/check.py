"""One program against its references: NumPy, forerun step by step, and forerun's synchronous engine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass

from forerun import np
from stress.fuzz.forerun_back import RunningAhead, StepByStep, raised_entry
from stress.fuzz.modes import Mode, engine, run_in, run_program
from stress.fuzz.numpy_back import InOrder, Open
from stress.fuzz.pool import Entry
from stress.fuzz.program import SHAPES, Program
from stress.fuzz.steps import Machine

Logs = list[list[Entry]]


@dataclass(frozen=True)
class Finding:
    """The position of a read that differs from its reference. mode: "crash" or "hang" if a process did so."""

    mode: str
    text: str


@dataclass
class Counts:
    """Counts for the figures at the end."""

    programs: int = 0
    steps: int = 0
    runs: int = 0
    reads: int = 0
    poisoned: int = 0
    refused: int = 0

    def add(self, logs: Logs) -> None:
        """Counts a run."""
        entries = [entry for log in logs for entry in log]
        self.runs += 1
        self.reads += len(entries)
        self.poisoned += sum(entry[0] == "raises" for entry in entries)
        self.refused += sum(entry[0] == "refused" for entry in entries)


def first_finding(program: Program, modes: Iterable[Mode], counts: Counts | None = None) -> Finding | None:
    """The first difference, or None."""
    counts = counts if counts is not None else Counts()
    counts.programs, counts.steps = counts.programs + 1, counts.steps + program.steps
    reference, failed = step_by_step(program)
    counts.add(reference)
    if program.exact:
        with contextlib.suppress(Open):
            if text := difference(run_program(program, InOrder), reference):
                return Finding("step by step", f"NumPy {text}")
    if len(program.threads) == 1 and (text := synchronous(program, reference[0], failed)):
        return Finding("sync", text)
    for mode in modes:
        if mode.settings.get("engine") == "sync" and (failed or len(program.threads) > 1):
            continue  # a failing call has no result there: compared above
        logs = run_in(mode, program)
        counts.add(logs)
        if text := difference(reference, logs):
            return Finding(mode.name, text)
    return None


def step_by_step(program: Program) -> tuple[Logs, list[Entry]]:
    """Return the reads of a program that forerun runs step by step, a thread after the other; and the failures."""
    with engine(workers=1, passes=""):
        np.random.seed(7)
        logs, failed = [], []
        for steps in program.threads:
            back = StepByStep()
            logs.append(Machine(back, SHAPES[program.shapes], program.exact, program.room).run(steps))
            failed += back.failed
        return logs, failed


class _UntilItFails(RunningAhead):
    """Lets a program end at the first call that fails."""


class Failed(BaseException):
    """A call of the synchronous engine has raised the error of the computation."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry


class _Strict(Machine):
    def refused(self, error: Exception) -> None:
        if any(note.startswith("issued at") for note in getattr(error, "__notes__", ())):
            raise Failed(raised_entry(error))
        super().refused(error)


def synchronous(program: Program, reference: list[Entry], failed: list[Entry]) -> str:
    """Compare the synchronous engine: up to the first call that fails, which must be the first failure."""
    with engine(engine="sync", passes=""):
        np.random.seed(7)
        machine = _Strict(RunningAhead(), SHAPES[program.shapes], program.exact, program.room)
        try:
            log = machine.run(program.threads[0])
        except Failed as stop:
            if not failed or stop.entry != failed[0]:
                return f"the first failure is {failed[:1]}, the call raised {stop.entry}"
            return difference([reference[: len(machine.log)]], [machine.log])
    return f"{failed[0]} was not raised" if failed else difference([reference], [log])


def difference(want: Logs, got: Logs) -> str:
    """Describe the first read that differs; empty if all are equal."""
    for thread, (expected, found) in enumerate(zip(want, got, strict=True)):
        for i, (e, f) in enumerate(zip(expected, found)):
            if not entries_agree(e, f):
                return f"thread {thread}, read {i} of {len(expected)}: expected {short_text(e)}, got {short_text(f)}"
        if len(expected) != len(found):
            return f"thread {thread}: expected {len(expected)} reads, got {len(found)}"
    return ""


def entries_agree(want: Entry, got: Entry) -> bool:
    """Whether a read has an expected result; NumPy predicts the failures that it may raise, and rejected calls."""
    if want == got:
        return True
    if want[0] == "perhaps":
        return entries_agree(want[2], got) or entries_agree(("raises", want[1]), got)
    if want[0] == "raises" and isinstance(want[1], frozenset):
        return got[0] in ("raises", "refused") and got[1:3] in want[1]
    return want[0] == got[0] == "refused" and want[3] == () and len(want) == 4 and want[1] == got[1]


def short_text(entry: Entry) -> str:
    """Shorten a text."""
    text = repr(entry)
    return text if len(text) < 300 else f"{text[:200]} ... {text[-80:]}"
