"""Which rank a recording is of, and how far its clock is from the clock of the launcher.

Processes of one machine share the clock that recordings have. Between machines a rank asks the launcher for its time
when the recording begins, and again when it ends: between the two its clock may have drifted, evenly.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

from ..._launch import link
from ...distributed._peers import rank, size
from ..events import Rank

__all__ = ["LETTER", "encoded", "parsed", "shifted"]

LETTER = "r"  # of the row of a recording that has it
Point = tuple[int, int, int]


def encoded(known: Sequence[Point] = ()) -> tuple[list[Point], list[tuple[str, int, str]]]:
    """Return the known points of this process's clock, with one more, and the row of a recording for it.

    Without other ranks there is no row.
    """
    if size() == 1:
        return [], []
    point = _point()
    points = [*known[:1], *([point] if point else [])]
    facts = {"size": size(), "host": platform.node(), "pid": os.getpid(), "machine": _machine(), "clock": points}
    return points, [(LETTER, rank(), json.dumps(facts))]


def _point() -> Point | None:
    """Return the time of the recording's clock, how far the launcher's is ahead of it, and the error; nanoseconds.

    Without a launcher it is this machine's own time of day; None if the launcher does not answer.
    """
    connection = link.connect()
    asked = connection.clock_offset() if connection else (0, 0)
    now = time.perf_counter_ns()
    return (now, time.time_ns() + asked[0] - now, asked[1]) if asked else None


def _machine() -> str:
    """Return a word that processes have in common if they share the clock of recordings."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/time')}"
    except OSError:
        return platform.node()


def parsed(rows: Sequence[tuple[str, int, str]]) -> list[Rank]:
    """Return the rank of such rows, of which the last counts; none of no rows."""
    if not rows:
        return []
    _, number, text = rows[-1]
    facts = json.loads(text)
    points = tuple((at, ahead, error) for at, ahead, error in facts["clock"])
    return [Rank(number, facts["size"], facts["host"], facts["pid"], facts["machine"], points)]


def shifted(of: Rank, to: Rank) -> tuple[float, float]:
    """Return numbers a and b: the time t of one rank's clock is a + b t of the other's.

    >>> here = Rank(0, 2, "a", 7, "a", ((0, 5_000_000_000, 0),))
    >>> shifted(Rank(1, 2, "b", 7, "b", ((0, 2_000_000_000, 0),)), here)
    (-3.0, 1.0)
    """
    if of.machine == to.machine or not of.clock or not to.clock:
        return 0.0, 1.0
    # Both run at their own pace against the launcher's clock, where all meet.
    begin, pace = _line(of)
    other, other_pace = _line(to)
    return (begin - other) / other_pace, pace / other_pace


def _line(of: Rank) -> tuple[float, float]:
    """Return the launcher's time as a + b t, in seconds."""
    (at, ahead, _), (until, then, _) = of.clock[0], of.clock[-1]
    drift = (then - ahead) / (until - at) if until - at > 1e9 else 0.0  # of less than a second it would be chance
    return (ahead - drift * at) * 1e-9, 1.0 + drift
