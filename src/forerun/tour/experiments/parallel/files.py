"""E4: reading and writing files is work for the engine, too, and goes on beside the computation.

Several matrices are read from files, worked on, and written to other files, down to the disk. As tasks on the queue
for files (`npx.host(..., queue="io")`), reads and writes depend on the computation as any operation does, and on
nothing else. The same program is timed with a wait after each part, and without.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy

from forerun import np, npx, profiler

from ...finding import Finding, Run, Table, experiment, percent, seconds
from ...measure import medians

Wait = Callable[[], object]


def read(path: Path, n: int) -> np.ndarray:
    """The matrix in a file, sooner or later."""
    task = lambda: numpy.fromfile(path, "float32").reshape(n, n)
    return npx.host(task, [], [((n, n), "float32")], name="read", queue="io")[0]


def write(path: Path, x: np.ndarray) -> np.ndarray:
    """Write a matrix when it is computed; return how many bytes have reached the disk."""

    def task(values: numpy.ndarray) -> numpy.ndarray:
        with open(path, "wb") as file:
            values.tofile(file)
            os.fsync(file.fileno())
        return numpy.array(values.nbytes)

    return npx.host(task, [x], [((), "int64")], name="write", queue="io")[0]


def work(x: np.ndarray) -> np.ndarray:
    """The computation."""
    for _ in range(3):
        x = np.tanh(x @ x)
    return x


def process(sources: list[Path], folder: Path, n: int, wait: Wait) -> int:
    """Reads, works, writes; returns the number of bytes written."""
    written = np.zeros((), dtype="int64")
    for source in sources:
        x = read(source, n)
        wait()
        y = work(x)
        wait()
        written = written + write(folder / f"{source.name}.out", y)
        wait()
    return int(written)


@experiment(
    "E4", "Files beside the computation", "computation, copies and files are separate resources, used at once.",
    rounds=7,
)  # fmt: skip
def files(run: Run) -> Finding:
    n, count = run.size("n", 64, 500), run.size("files", 3, 16)
    with tempfile.TemporaryDirectory(dir=run.out) as name:
        folder = Path(name)
        sources = [folder / f"{i}" for i in range(count)]
        for i, source in enumerate(sources):
            numpy.random.default_rng(i).normal(0, 0.05, (n, n)).astype("float32").tofile(source)

        def free() -> object:
            return process(sources, folder, n, lambda: None)

        free()  # the first run makes threads and memory
        programs = {"a wait after each part": lambda: process(sources, folder, n, npx.waitall), "no wait": free}
        found = medians(programs, run.rounds)
        with profiler.record() as p:
            free()
        last = numpy.fromfile(folder / f"{count - 1}.out", "float32").reshape(n, n)
        right = numpy.array_equal(last, work(np.array(numpy.fromfile(sources[-1], "float32").reshape(n, n))).asnumpy())
    picture = run.out / "e4_files.svg"
    profiler.timeline(p.trace, picture, title="Reading, computing and writing")

    trace = p.trace
    io, compute = trace.busy("io"), trace.busy("compute")
    both = io + compute - trace.busy()
    each, none = found.values()
    rows = [
        *((name, seconds(t)) for name, t in found.items()),
        ("in a traced run without a wait: files busy", seconds(io)),
        ("  computation busy", seconds(compute)),
        ("  both at once", seconds(both)),
    ]
    return Finding(
        [Table((f"{count} matrices of {n} x {n}", "time"), rows)],
        [
            f"Without the waits it takes {percent(none, each)} of the time. "
            f"{percent(both, io)} of the time for files passed while something was computed."
        ],
        [] if right else ["the values from the disk are WRONG"],
        [picture],
    )
