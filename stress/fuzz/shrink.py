"""The smallest program that still fails: steps are removed, in halves first, then numbers are made small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from stress.fuzz.program import Program, Step

Fails = Callable[[Program], bool]


def shrunk(program: Program, fails: Fails, tries: int = 2000) -> Program:
    """Return a failing program from which no step can be removed. At most about `tries` programs are tried."""
    left = [tries]

    def still(candidate: Program) -> bool:
        left[0] -= 1
        return left[0] >= 0 and fails(candidate)

    program = _fewer_threads(program, still)
    before = -1
    while before != program.steps and left[0] > 0:
        before = program.steps
        for i in range(len(program.threads)):
            program = _fewer_steps(program, i, still)
    for i in range(len(program.threads)):
        program = _smaller_numbers(program, i, still)
    return program


def _fewer_threads(program: Program, still: Fails) -> Program:
    for i in reversed(range(len(program.threads))):
        fewer = replace(program, threads=(*program.threads[:i], *program.threads[i + 1 :]))
        if fewer.threads and still(fewer):
            program = fewer
    return program


def _fewer_steps(program: Program, thread: int, still: Fails) -> Program:
    size = max(1, len(program.threads[thread]) // 2)
    while True:
        program, removed = _without_chunks(program, thread, size, still)
        if size == 1 and not removed:
            return program
        size = max(1, size // 2) if not removed else size


def _without_chunks(program: Program, thread: int, size: int, still: Fails) -> tuple[Program, bool]:
    removed, at = False, len(program.threads[thread])
    while at > 0:
        at -= size
        steps = program.threads[thread]
        fewer = program.with_thread(thread, (*steps[: max(at, 0)], *steps[max(at, 0) + size :]))
        if fewer.steps < program.steps and still(fewer):
            program, removed = fewer, True
    return program, removed


def _smaller_numbers(program: Program, thread: int, still: Fails) -> Program:
    for i in range(len(program.threads[thread])):
        for name in ("a", "b", "c"):
            for value in (0, 1, 2, 3):
                step = program.threads[thread][i]
                if getattr(step, name) <= value:
                    break
                candidate = program.with_thread(
                    thread, _with(program.threads[thread], i, replace(step, **{name: value}))
                )
                if still(candidate):
                    program = candidate
                    break
    return program


def _with(steps: Sequence[Step], i: int, step: Step) -> list[Step]:
    return [*steps[:i], step, *steps[i + 1 :]]
