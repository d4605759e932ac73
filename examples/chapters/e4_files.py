"""E4: reading and writing files is work for the engine, too, and goes on beside the computation.

Several matrices are read from files, worked on, and written to other files, down to the disk. As tasks on the queue
for files (`npx.host(..., queue="io")`), reads and writes depend on the computation as any operation does, and on
nothing else. The same program is timed with a wait after each part, and without.

    python examples/chapters/e4_files.py [--quick] [--out FOLDER]
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
from common import median, ms, options, seconds, table

import forerun
from forerun import np, npx, profiler

Wait = Callable[[], None]


def read(path: Path, n: int) -> np.ndarray:
    """The matrix in a file, sooner or later."""
    task = lambda: numpy.fromfile(path, "float32").reshape(n, n)
    return npx.host(task, [], [((n, n), "float32")], name="read", queue="io")[0]


def write(path: Path, x: np.ndarray) -> np.ndarray:
    """Write a matrix when it is computed; the result is the number of bytes that have reached the disk."""

    def task(values: numpy.ndarray) -> numpy.ndarray:
        with open(path, "wb") as file:
            values.tofile(file)
            os.fsync(file.fileno())
        return numpy.array(values.nbytes)

    return npx.host(task, [x], [((), "int64")], name="write", queue="io")[0]


def work(x: np.ndarray) -> np.ndarray:
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
    return written.item()


def main() -> None:
    quick, out = options(__doc__)
    n, files, runs = (64, 3, 3) if quick else (500, 16, 7)
    with tempfile.TemporaryDirectory(dir=out) as name:
        folder = Path(name)
        sources = [folder / f"{i}" for i in range(files)]
        for i, source in enumerate(sources):
            numpy.random.default_rng(i).normal(0, 0.05, (n, n)).astype("float32").tofile(source)

        def one_by_one() -> object:
            return process(sources, folder, n, npx.waitall)

        def free() -> object:
            return process(sources, folder, n, lambda: None)

        one_by_one()  # the first run makes threads and memory
        times = [median(lambda program=program: seconds(program), runs) for program in (one_by_one, free)]
        with profiler.record() as p:
            free()
        last = numpy.fromfile(folder / f"{files - 1}.out", "float32").reshape(n, n)
        right = numpy.array_equal(last, work(np.array(numpy.fromfile(sources[-1], "float32").reshape(n, n))))
    forerun.waitall()
    profiler.timeline(p.trace, out / "e4_files.svg", title="Reading, computing and writing")

    trace = p.trace
    io, compute = trace.busy("io"), trace.busy("compute")
    both = io + compute - trace.busy()
    table(
        (f"{files} matrices of {n} x {n}", "time"),
        [
            ("a wait after each part", ms(times[0])),
            ("no wait", ms(times[1])),
            ("in a traced run without a wait: files busy", ms(io)),
            ("  computation busy", ms(compute)),
            ("  both at once", ms(both)),
        ],
    )
    print(f"Without the waits it takes {times[1] / times[0]:.0%} of the time.")
    print(f"{both / io:.0%} of the time for files passed while something was computed.")
    print(f"The values read back from the disk are {'right' if right else 'WRONG'}.")
    print(f"Picture: {out / 'e4_files.svg'}")


if __name__ == "__main__":
    main()
