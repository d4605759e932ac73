"""Measurements as a table and as JSON."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from columns import FORERUN, PEERS, Column
from rows import UNITS, Row

Seconds = Mapping[str, Sequence[float]]  # by column, of each round
PEER_NAMES = [column.name for column in PEERS]


def ratio(forerun_times: Sequence[float], peer_times: Sequence[float]) -> float:
    """The median over rounds of forerun's time as a multiple of the peer's in the same round."""
    return statistics.median(x / y for x, y in zip(forerun_times, peer_times))


def best(seconds: Seconds) -> str | None:
    """The peer with the least median."""
    peers = [name for name in PEER_NAMES if seconds.get(name)]
    return min(peers, key=lambda name: statistics.median(seconds[name]), default=None)


def figures(row: Row, seconds: Seconds) -> dict[str, Any]:
    """A row for the JSON file: all times, medians, and forerun's as multiples of the peers'."""
    forerun_times = seconds.get("forerun")
    return {
        "name": row.name,
        "title": row.title,
        "seconds": {name: list(times) for name, times in seconds.items()},
        "median": {name: statistics.median(times) for name, times in seconds.items() if times},
        "ratio": {n: ratio(forerun_times, seconds[n]) for n in PEER_NAMES if forerun_times and seconds.get(n)},
        "best": best(seconds),
    }


def cells(row: Row, seconds: Seconds, columns: Sequence[Column]) -> list[str]:
    """A line of the table: title and unit, times, and of peers also forerun's time as a multiple."""
    found, forerun_columns, first = figures(row, seconds), [column.name for column in FORERUN], best(seconds)
    line = [f"{row.title}, {row.unit}"]
    for name in (column.name for column in columns):
        if name not in found["median"]:
            line.append("-")
            continue
        text = digits(found["median"][name] * UNITS[row.unit])
        if name not in forerun_columns and name in found["ratio"]:
            text += f" ({found['ratio'][name]:.2f})"
        line.append(f"**{text}**" if name == first else text)
    return line


def digits(x: float) -> str:
    """Three digits, or all before the point."""
    return f"{x:.{3 if x < 1 else 2 if x < 10 else 1 if x < 100 else 0}f}"


def table(rows: Sequence[Row], found: Mapping[str, Seconds], columns: Sequence[Column]) -> str:
    """The table in Markdown, aligned to be read as it is."""
    lines = [["", *(column.title for column in columns)]]
    lines += [cells(row, found[row.name], columns) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])])
    padded = (
        [cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))] for line in lines
    )
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def reasons(missing: Mapping[str, Mapping[str, str]], columns: Sequence[Column]) -> list[str]:
    """A line for each reason of a "-": missing[column][row]; the row "" stands for all that lack."""
    lines = []
    for column in columns:
        rows_of: dict[str, list[str]] = {}
        for row, why in missing.get(column.name, {}).items():
            rows_of.setdefault(why, []).append(row)
        for why, rows in rows_of.items():
            lines.append(f"- {', '.join(filter(None, [column.title, *rows]))}: {why}")
    return lines


def machine(versions: Mapping[str, str]) -> dict[str, Any]:
    """Processor, cores that this process may use, load, system, and versions."""
    with open("/proc/cpuinfo") as file:
        names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    return {
        "processor": names[0] if names else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
        "system": platform.platform(),
        "python": platform.python_version(),
        "versions": dict(versions),
    }
