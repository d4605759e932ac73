"""Files beside the computation: products, and arrays that are written to and read from files meanwhile.

    python benchmarks/io.py --dir FOLDER

Writes end on the disk (fsync), and reads begin there: the system is asked to forget the files before. They are read
three times: as forerun chooses, and with `direct_reads` False and True. How many products there are is measured first,
for computing and files to take about the same time. Each round runs the computation alone, the files alone and both
together, one after the other.

Aim: both together take at most 0.7 times the sum, in the median of the rounds. The last column is the processor time
of both together as a multiple of the sum, which other programs on the machine hardly change: the excess over 1 is spent
on waiting for each other.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import forerun
from forerun import np
from forerun._display.terminal import Terminal
from forerun.tour.measure import in_turn, median_ratio

READS = {"read": None, "read, the ordinary way": False, "read, past the system's memory": True}  # direct_reads
SIZES = {"one core": 240, "all cores": 700}  # of matrices: a product of small ones is not cut into parts


class Work:
    """So many files of so many MiB, and products of matrices, one after the other."""

    def __init__(self, folder: Path, files: int, mib: int, size: int) -> None:
        self.paths = [folder / f"{i}.npy" for i in range(files)]
        self.arrays = [np.random.normal(size=(mib << 18,)) for _ in self.paths]
        self.matrix = np.random.normal(size=(size, size)) / size**0.5
        self.products = 1

    def write(self) -> list[Any]:
        """Issues the writes."""
        return [np.save(path, x, wait=False) for path, x in zip(self.paths, self.arrays)]

    def read(self) -> list[Any]:
        """Issues the reads, each followed by an operation that needs all values."""
        return [np.load(path).sum() for path in self.paths]

    def forget(self) -> None:
        """Asks the system to drop the files from its page cache."""
        for path in self.paths:
            with open(path, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def compute(self) -> list[Any]:
        """Issues the products, one after the other."""
        x = self.matrix
        for _ in range(self.products):
            x = x @ self.matrix
        return [x]


def ended(*parts: Callable[[], list[Any]]) -> Callable[[], None]:
    """Issues the parts, and waits for all."""

    def run() -> None:
        results = [part() for part in parts]
        forerun.waitall()
        del results

    return run


def seconds(work: Work, part: Callable[[], list[Any]]) -> float:
    """How long a part takes alone, in the median of three."""
    return statistics.median(in_turn({"forget": work.forget, "part": ended(part)}, 3)["part"])


def balanced(work: Work, files: Callable[[], list[Any]]) -> None:
    """Makes the products take about as long as the files: twice, as both are slower at first."""
    work.products = 50
    for _ in range(2):
        longer = seconds(work, files) / seconds(work, work.compute)
        work.products = max(1, round(work.products * longer))


def measured(work: Work, files: Callable[[], list[Any]], rounds: int) -> tuple[float, ...]:
    """Median seconds of computation, files, both; of both as a multiple of the sum; that in processor time."""
    balanced(work, files)
    spent: Counter[str] = Counter()

    def counted(name: str, *parts: Callable[[], list[Any]]) -> Callable[[], None]:
        def run() -> None:
            spent[name] -= time.process_time_ns()
            ended(*parts)()
            spent[name] += time.process_time_ns()

        return run

    parts = {"compute": [work.compute], "files": [files], "both": [work.compute, files]}
    programs: dict[str, Callable[[], None]] = {}
    for name, some in parts.items():
        programs |= {f"forget before {name}": work.forget, name: counted(name, *some)}
    times = in_turn(programs, rounds)
    sums = [a + b for a, b in zip(times["compute"], times["files"])]
    alone, beside, both = (statistics.median(times[name]) for name in parts)
    processor = spent["both"] / (spent["compute"] + spent["files"])
    return alone, beside, both, median_ratio(times["both"], sums), processor


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--dir", help="where the files are written; a temporary folder by default")
    arguments.add_argument("--files", type=int, default=8)
    arguments.add_argument("--mib", type=int, default=16, help="of each file")
    arguments.add_argument("--rounds", type=int, default=7)
    given = arguments.parse_args()
    found = {}
    for cores, size in SIZES.items():
        with tempfile.TemporaryDirectory(dir=given.dir) as folder:
            work = Work(Path(folder), given.files, given.mib, size)
            ended(work.compute, work.write)()
            time.sleep(0.1)
            found[f"written, products on {cores}"] = measured(work, work.write, given.rounds)
            for name, direct in READS.items():
                forerun.configure(direct_reads=direct)
                found[f"{name}, products on {cores}"] = measured(work, work.read, given.rounds)
    print(f"{given.files} files of {given.mib} MiB beside products of matrices; medians of {given.rounds} rounds\n")
    rows = [
        [name, *(f"{1e3 * t:.0f}" for t in times), f"{ratio:.2f}", "yes" if ratio <= 0.7 else "no", f"{processor:.2f}"]
        for name, (*times, ratio, processor) in found.items()
    ]
    Terminal().table(
        ["files", "products, ms", "files, ms", "both, ms", "times the sum", "at most 0.7", "processor"], rows
    )


if __name__ == "__main__":
    main()
