"""Data loaders: images a second through padding, random crop and flip, and normalisation, into shuffled batches.

    python benchmarks/loader.py [--torch PYTHON]

Beside them PyTorch's DataLoader, whose transforms are written in torch's operations and in NumPy's; its worker
processes stay from epoch to epoch, while forerun's are made anew. The epochs of a round run one after the other.
PYTHON: one that has PyTorch, by default that of the peers of `make bench`.

Aim: at least as many images a second as the faster of PyTorch's two, in the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from forerun import np
from forerun._display.terminal import Terminal
from forerun.gluon import data
from forerun.gluon.data.vision import transforms
from forerun.tour.measure import in_turn, median_ratio

ROOT = Path(__file__).parents[1]
SIZES = {"28 x 28 x 1": (20_000, 28, 1, 2), "64 x 64 x 3": (4_000, 64, 3, 4)}  # images, extent, channels, padding
BATCH = 128


class Images(data.vision.MNIST):
    """Images of MNIST's kind, of any size, without files."""

    def __init__(self, count: int, size: int, channels: int) -> None:
        shape = count, size, size, channels
        self._images = numpy.random.default_rng(0).integers(0, 256, shape, "uint8")
        self._labels = numpy.arange(count, dtype="int32")


def forerun_loader(
    count: int, size: int, channels: int, pad: int, workers: int, threads: bool = False
) -> Callable[[], None]:
    """An epoch of our loader."""
    several = transforms.Compose([
        transforms.RandomCrop(size, pad=pad), transforms.RandomFlipLeftRight(), transforms.ToTensor(),
        transforms.Normalize([0.4] * channels, [0.2] * channels),
    ])  # fmt: skip
    examples = Images(count, size, channels).transform_first(several)
    loader = data.DataLoader(examples, BATCH, shuffle=True, num_workers=workers, thread_pool=threads)

    def epoch() -> None:
        total = 0.0
        for x, _ in loader:
            total += x[0, 0, 0, 0].item()

    return epoch


class Peer:
    """A process with PyTorch, which runs an epoch on request."""

    def __init__(self, python: str) -> None:
        line = [python, str(ROOT / "benchmarks" / "peers" / "loader_torch.py")]
        self.process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def epoch(self, *case: Any) -> Callable[[], None]:
        """An epoch of PyTorch's loader."""
        return lambda: self.run(" ".join(map(str, case)))

    def run(self, case: str) -> None:
        """Runs one."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        print(case, file=stdin, flush=True)
        if stdout.readline() != "done\n":
            raise RuntimeError(f"PyTorch ended with status {self.process.wait()}")


def row(name: str, times: dict[str, list[float]], count: int) -> list[str]:
    """Return images a second of each, and forerun's as a multiple of the faster peer's."""
    speeds = [f"{count / statistics.median(seconds):,.0f}" for seconds in times.values()]
    forerun_name, *peer_names = times
    if not peer_names:
        return [name, *speeds, "-", "-", "-", "-"]
    ratio = min(median_ratio(times[peer], times[forerun_name]) for peer in peer_names)
    return [name, *speeds, f"{ratio:.2f}", "yes" if ratio >= 1 else "no"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--torch", default=str(ROOT / "build" / "peers" / "torch" / "bin" / "python"))
    arguments.add_argument("--rounds", type=int, default=7)
    given = arguments.parse_args()
    peer = Peer(given.torch) if Path(given.torch).exists() else None
    if peer is None:
        print(f"PyTorch is not in {given.torch}: `make bench` installs it", file=sys.stderr)
    rows = []
    for name, size in SIZES.items():
        for workers, threads in ((0, False), (2, False), (2, True)):
            programs = {"forerun": forerun_loader(*size, workers, threads)}
            for kind in ("torch", "numpy") if peer is not None and not threads else ():
                programs[kind] = peer.epoch(kind, *size, workers, BATCH)
            in_turn(programs, 1)
            times = in_turn(programs, given.rounds)
            rows.append(row(f"{name}, {workers} {'threads' if threads else 'workers'}", times, size[0]))
    if peer is not None:
        peer.process.stdin.close()  # type: ignore[union-attr]
        peer.process.wait()
    print(f"batches of {BATCH}, shuffled; images a second, medians of {given.rounds} rounds\n")
    head = ["images", "forerun", "PyTorch, torch ops", "PyTorch, NumPy", "times the faster one", "at least 1"]
    Terminal().table(head, rows)


if __name__ == "__main__":
    np.random.seed(0)
    main()
