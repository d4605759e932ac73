"""Statistics of more data than memory holds, by Dask on two worker processes: a figure of memory while chunks pass.

    python examples/larger_than_memory.py [--gigabytes 20] [--limit 4] [--figure FILE.svg]

The chunks are made where a program would read files. Memory is that of both workers, by the system, ten times a second.
Needs `pip install forerun "dask[array]" distributed`.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
from distributed import Client, LocalCluster

from forerun import np
from forerun.profiler.svg import FAINT, INK, QUIET, document, element, text

COLUMNS, ROWS = 256, 100_000  # of a chunk, of some 100 MB
PAGE = os.sysconf("SC_PAGESIZE")


def read(block_id: tuple[int, int], counter: str) -> Any:
    """Make a chunk, and count it: a byte in a file that all workers see."""
    with open(counter, "ab") as file:
        file.write(b".")
    return np.random.RandomState(block_id[0]).normal(1.0, 2.0, size=(ROWS, COLUMNS)).astype("float32")


class Memory(threading.Thread):
    """Memory of processes over time, with the bytes of chunks that were made."""

    def __init__(self, processes: list[int], counter: str) -> None:
        super().__init__(daemon=True)
        self.processes, self.counter = processes, counter
        self.ended = threading.Event()
        self.points: list[tuple[float, float, float]] = []  # seconds, bytes in memory, bytes made

    def run(self) -> None:
        began = time.perf_counter()
        while not self.ended.wait(0.1):
            resident = sum(int(Path(f"/proc/{p}/statm").read_text().split()[1]) * PAGE for p in self.processes)
            made = os.path.getsize(self.counter) * ROWS * COLUMNS * 4
            self.points.append((time.perf_counter() - began, resident, made))


def figure(points: list[tuple[float, float, float]], limit: float) -> str:
    """Return the picture of memory over time."""
    width, height, left, top = 900.0, 380.0, 90.0, 70.0
    last, most = points[-1][0], max(made for _, _, made in points) * 1.05
    x = lambda t: left + t / last * (width - left - 30)
    y = lambda b: top + (height - top - 50) * (1 - b / most)
    line = lambda which: " ".join(f"{x(p[0]):.1f},{y(p[which]):.1f}" for p in points)
    peak = max(resident for _, resident, _ in points)
    words = f"{most / 1.05 / 1e9:.0f} GB of chunks in {last:.0f} s, through at most {peak / 1e9:.1f} GB of memory"
    parts = [text(24, 34, words, 18, font_weight=600)]
    step = max(1, round(most / 5e9)) * 1e9
    for n in range(int(most // step) + 1):
        parts.append(element("line", x1=left, x2=width - 30, y1=y(n * step), y2=y(n * step), stroke=FAINT))
        parts.append(text(left - 8, y(n * step) + 4, f"{n * step / 1e9:.0f} GB", 11, QUIET, text_anchor="end"))
    for n in range(6):
        parts.append(text(x(last * n / 5), height - 28, f"{last * n / 5:.0f} s", 11, QUIET, text_anchor="middle"))
    area = f"{x(0):.1f},{y(0):.1f} {line(1)} {x(last):.1f},{y(0):.1f}"
    parts += [
        element("polygon", points=area, fill="#4e79a7", fill_opacity=0.35),
        element("polyline", points=line(1), fill="none", stroke="#4e79a7", stroke_width=1.5),
        element("polyline", points=line(2), fill="none", stroke="#f28e2b", stroke_width=2.0),
        element("line", x1=left, x2=width - 30, y1=y(limit), y2=y(limit), stroke=INK, stroke_dasharray="5 4"),
        text(left + 8, y(limit) - 6, f"limit of both workers: {limit / 1e9:g} GB", 11, INK),
        text(
            x(last * 0.62), y(points[int(len(points) * 0.6)][2]) - 10, "chunks made", 12, "#b05e10", text_anchor="end"
        ),
        text(x(last) - 8, y(points[-1][1]) - 8, "memory of both workers", 12, "#2f5d8a", text_anchor="end"),
    ]
    return document(width, height, parts, words)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--gigabytes", type=float, default=20.0, help="of all chunks (%(default)s)")
    arguments.add_argument("--limit", type=float, default=4.0, help="gigabytes of memory of both workers (%(default)s)")
    arguments.add_argument("--figure", type=Path, help="a file in .svg")
    given = arguments.parse_args()
    blocks = math.ceil(given.gigabytes * 1e9 / (ROWS * COLUMNS * 4))
    with tempfile.TemporaryDirectory() as folder:
        counter = f"{folder}/made"
        Path(counter).touch()
        with (
            LocalCluster(
                n_workers=2, threads_per_worker=1, memory_limit=int(given.limit * 1e9 / 2), dashboard_address=None,
                local_directory=folder,
            ) as cluster,
            Client(cluster) as client,
        ):  # fmt: skip
            x = da.map_blocks(
                read, counter=counter, chunks=((ROWS,) * blocks, (COLUMNS,)), dtype="float32", meta=np.empty((0, 0))
            )
            memory = Memory(list(client.run(os.getpid).values()), counter)
            memory.start()
            total, products = dask.compute(x.sum(axis=0), x.T @ x)
            memory.ended.set()
            memory.join()
    rows = blocks * ROWS
    covariance = products / rows - np.outer(total / rows, total / rows)
    print(f"{rows:,} rows; mean {float((total / rows).mean()):.4f}, variance {float(np.diag(covariance).mean()):.4f}")
    seconds, made = memory.points[-1][0], memory.points[-1][2]
    peak = max(resident for _, resident, _ in memory.points)
    print(f"{made / 1e9:.1f} GB of chunks in {seconds:.0f} s; memory of both workers at most {peak / 1e9:.2f} GB")
    if given.figure:
        given.figure.write_text(figure(memory.points, given.limit * 1e9), encoding="utf-8")


if __name__ == "__main__":
    main()
