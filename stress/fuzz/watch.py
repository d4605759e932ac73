"""Processes that run programs, and threads that watch them: a process that dies or hangs is a finding."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stress.fuzz.check import Finding
from stress.fuzz.program import Program
from stress.fuzz.shrink import shrunk

ROOT = Path(__file__).parents[2]
PATIENCE = 90.0  # seconds without output, after which a process counts as hanging


class Stopped(Exception):
    """A process has ended too early ("crash") or makes no progress ("hang")."""


def lines(
    arguments: Sequence[str], patience: float = PATIENCE, module: str = "stress.fuzz.batch"
) -> Iterator[dict[str, Any]]:
    """Yield the messages of a process, line by line. Raises Stopped; the process has ended afterwards in any case."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1"}
    command = [sys.executable, "-P", "-m", module, *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    try:
        yield from _messages(process, patience)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


def _messages(process: subprocess.Popen[bytes], patience: float) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    rest, errors = b"", b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        assert process.stderr is not None
        selector.register(process.stderr, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(patience)
            if not ready:
                raise Stopped(f"hang: nothing for {patience:.0f} s\n{_stacks(process, errors)}")
            for key, _ in ready:
                found = os.read(key.fd, 1 << 16)
                if not found:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors = (errors + found)[-4000:]
                else:
                    *whole, rest = (rest + found).split(b"\n")
                    yield from map(json.loads, whole)
    if process.wait() != 0:
        raise Stopped(f"crash: exit status {process.returncode}\n{errors.decode(errors='replace')}")


def _stacks(process: subprocess.Popen[bytes], errors: bytes) -> str:
    """Return the stacks of its threads, which Python's fault handler prints when a process is aborted."""
    process.send_signal(signal.SIGABRT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        errors += process.communicate(timeout=10)[1] or b""
    return errors.decode(errors="replace")


def smallest_that_stops(program: Program, kind: str, folder: Path, patience: float) -> Program:
    """Return the smallest program with which a process crashes or hangs."""
    path = folder / f"trying-{os.getpid()}-{program.seed}.json"

    def fails(candidate: Program) -> bool:
        path.write_text(candidate.text(), encoding="utf-8")
        try:
            for _ in lines(["replay", str(path)], patience):
                pass
        except Stopped as stop:
            return str(stop).startswith(kind)
        return False

    try:
        return shrunk(program, fails, tries=60) if fails(program) else program
    finally:
        path.unlink(missing_ok=True)


def keep(program: Program, finding: Finding, folder: Path, patience: float = PATIENCE) -> Path:
    """Shrink a program with a finding, in a process of its own, and write it to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{program.seed}.json"
    noted = replace(program, note=f"{finding.mode}: {finding.text.splitlines()[0]}"[:400])
    path.write_text(noted.text(), encoding="utf-8")
    if finding.mode in ("crash", "hang"):
        smallest = smallest_that_stops(noted, finding.mode, folder, min(patience, 20))
        path.write_text(smallest.text(), encoding="utf-8")
        return path
    with contextlib.suppress(Stopped):
        for _ in lines(["shrink", str(path), finding.mode], patience=600):
            pass
    return path


Outcome = tuple[int, dict[str, int], Finding | None]


def watched_programs(first: int, count: int, patience: float = PATIENCE) -> Iterator[Outcome]:
    """Run a batch; yields the number of each program, its counts, and its findings.

    Raises Stopped if a process does not even start: then no program is at fault.
    """
    running, until = first, first + count
    while running < until:
        begun = False
        try:
            for message in lines(["batch", str(running), str(until - running)], patience):
                if "begin" in message:
                    running, begun = message["begin"], True
                else:
                    found = message["finding"]
                    running += 1
                    yield message["end"], message["counts"], Finding(**found) if found else None
        except Stopped as stop:
            if not begun:
                raise
            kind, _, text = str(stop).partition(": ")
            yield running, {}, Finding(kind, text)
            running += 1
