"""A program like a service, run for a given time: does memory grow, and is every result correct?

Training steps and recorded ones, tasks that sometimes fail, threads that start and end, asyncio, forks, arrays of
all sizes, settings that change. Every few seconds it notes pages, live and cached bytes, objects, threads and files.
The verdict is the slope of pages over the second half; the exit status is 1 if memory grows, or a result was wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import pathlib
import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

import forerun
from forerun import _core, autograd, gluon, np, npx
from forerun.gluon import nn

MB = 1 << 20
LINES = 150_000  # pieces of code that fill the tables of lines and their files
SLOPE = 0.25  # megabytes a minute by which pages may grow over the second half of a long run,
NOISE = 12.0  # and megabytes by which they may differ in any run: the size of the cache depends on random sizes


class Sometimes(Exception):
    """The error of a task that fails."""


@dataclass
class Sample:
    seconds: float
    pages: int
    live: int
    cached: int
    objects: int
    storages: int
    threads: int
    files: int
    rounds: int

    @classmethod
    def taken(cls, started: float, rounds: int) -> Sample:
        forerun.waitall()
        gc.collect()
        memory = [forerun.memory(device) for device in forerun.devices()]
        return cls(
            time.monotonic() - started,
            int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
            sum(m["live"] for m in memory),
            memory[0]["cached"],
            len(gc.get_objects()),
            _core.in_use()["storages"],
            threading.active_count(),
            len(os.listdir("/proc/self/fd")),
            rounds,
        )

    HEAD = "      s   rounds  pages MB  live MB cached MB  objects storages threads files"

    def line(self) -> str:
        return (
            f"{self.seconds:7.0f} {self.rounds:8d} {self.pages / MB:9.1f} {self.live / MB:8.1f} {self.cached / MB:9.1f}"
            f" {self.objects:8d} {self.storages:8d} {self.threads:7d} {self.files:5d}"
        )


class Service:
    """The work of the program, a piece at a time. Each piece checks its results against NumPy's."""

    def __init__(self) -> None:
        self.rng = numpy.random.default_rng(1)
        self.net = nn.Sequential()
        self.net.add(nn.Dense(32, activation="relu"), nn.Dense(1))
        self.net.initialize()
        self.net.hybridize()
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.01})
        self.loss = gluon.loss.L2Loss()
        self.gelu = forerun.hybrid(lambda x: 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x * x * x))))
        self.ring: list[tuple[Any, float]] = []
        self.counter = np.zeros(64, dtype="int64")
        self.added = 0
        self.pieces: list[tuple[int, Callable[[], None]]] = [  # how often: one round in so many
            (1, self.arithmetic),
            (1, self.sizes),
            (2, self.training),
            (2, self.recorded),
            (3, self.tape),
            (5, self.task),
            (7, self.threads),
            (11, self.awaits),
            (50, self.generated),
            (100, self.settings),
            (200, self.fork),
        ]

    def round(self, n: int) -> None:
        for every, piece in self.pieces:
            if n % every == 0:
                piece()

    def arithmetic(self) -> None:
        a = self.rng.normal(size=(40, 50)).astype("float32")
        x = np.array(a)
        assert (x * 2 + np.sin(x)).asnumpy().tobytes() == (a * 2 + numpy.sin(a)).tobytes()
        numpy.testing.assert_allclose((x @ x.T).sum(1).asnumpy(), (a @ a.T).sum(1), rtol=1e-2, atol=1e-2)

    def sizes(self) -> None:
        n = int(10 ** self.rng.uniform(0, 6))
        value = float(self.rng.integers(1000))
        self.ring.append((np.full((n,), value - 1) + 1, value))
        while len(self.ring) > 30:
            x, expected = self.ring.pop(int(self.rng.integers(len(self.ring))))
            assert x[-1].item() == expected

    def training(self) -> None:
        x = np.array(self.rng.normal(size=(16, 8)).astype("float32"))
        with autograd.record():
            cost = self.loss(self.net(x), np.ones((16, 1)))
        cost.backward()
        self.trainer.step(16)
        assert numpy.isfinite(cost.asnumpy()).all()

    def recorded(self) -> None:
        a = self.rng.normal(size=(int(self.rng.integers(1, 6)), 100)).astype("float32")
        expected = 0.5 * a * (1 + numpy.tanh(0.79788456 * (a + 0.044715 * a * a * a)))
        numpy.testing.assert_allclose(self.gelu(np.array(a)).asnumpy(), expected, rtol=1e-5, atol=1e-6)

    def tape(self) -> None:
        a = self.rng.normal(size=20)
        x = np.array(a)
        x.attach_grad()
        with autograd.record():
            y = (np.tanh(x) * x).sum()
        y.backward()
        numpy.testing.assert_allclose(x.grad.asnumpy(), numpy.tanh(a) + a * (1 - numpy.tanh(a) ** 2), rtol=1e-6)

    def task(self) -> None:
        bad = bool(self.rng.integers(2))

        def work(v: numpy.ndarray) -> numpy.ndarray:
            if bad:
                raise Sometimes("now and then")
            return numpy.sort(v)

        a = self.rng.normal(size=50)
        (out,) = npx.host(work, [np.array(a)], [((50,), "float64")])
        late = out + 1
        try:
            assert late.tolist() == (numpy.sort(a) + 1).tolist()
            assert not bad
        except Sometimes:
            assert bad

    def threads(self) -> None:
        def add(by: int) -> None:
            target = self.counter
            for _ in range(20):
                target += by

        by = [int(i) for i in self.rng.integers(100, size=4)]
        threads = [threading.Thread(target=add, args=(i,)) for i in by]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.added += 20 * sum(by)
        assert self.counter.tolist() == [self.added] * 64

    def awaits(self) -> None:
        async def one(i: int) -> float:
            x = np.full((100,), i) * 2
            await x
            return float(x[3].item())

        async def main() -> list[float]:
            return list(await asyncio.gather(*(one(i) for i in range(8))))

        assert asyncio.run(main()) == [2.0 * i for i in range(8)]

    def generated(self) -> None:
        """Code whose file name is used once."""
        name = f"<generated {self.rng.integers(1 << 60)}>"
        space: dict[str, Any] = {"x": np.ones(3)}
        exec(compile("y = x + 1\nz = y * 2\n", name, "exec"), space)
        assert space["z"].tolist() == [4] * 3

    def settings(self) -> None:
        forerun.configure(workers=int(self.rng.integers(1, 5)), ops_ahead=int(2 ** self.rng.integers(6, 16)))
        forerun.configure(passes=str(self.rng.choice(["", "drop", "drop,fuse", "drop,fuse,reuse"])))

    def fork(self) -> None:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                self.arithmetic()
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def growth(samples: list[Sample]) -> float:
    """Megabytes a minute by which pages less cached blocks grow, by least squares."""
    minutes = numpy.array([s.seconds / 60 for s in samples])
    pages = numpy.array([(s.pages - s.cached) / MB for s in samples])
    return float(numpy.polyfit(minutes, pages, 1)[0]) if len(samples) > 2 else 0.0


def verdict(samples: list[Sample]) -> list[str]:
    """Return the resources that have grown over the second half of the run."""
    half = samples[len(samples) // 2 :]
    minutes = (half[-1].seconds - half[0].seconds) / 60
    bound = max(SLOPE, NOISE / max(minutes, 1e-9))
    found = growth(half)
    print(
        f"pages without cached blocks: {found:+.3f} MB a minute over the last {minutes:.1f} minutes; bound {bound:.3f}"
    )
    grown = [] if found <= bound else [f"pages: {found:.3f} MB a minute"]
    quarter = max(1, len(half) // 2)
    for name, room in (("objects", 200), ("storages", 50), ("threads", 0), ("files", 0)):
        early = max(getattr(s, name) for s in half[:quarter])
        late = min(getattr(s, name) for s in half[quarter:] or half)
        print(f"{name}: at most {early} before, at least {late} after")
        if late > early + room:
            grown.append(f"{name}: {early} -> {late}")
    return grown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--every", type=float, default=5.0, help="seconds between two lines")
    given = parser.parse_args()
    service, started, samples, rounds = Service(), time.monotonic(), [], 0
    for _ in range(LINES):  # these tables grow up to a bound: they are full from the beginning
        service.generated()
    print(Sample.HEAD, flush=True)
    while time.monotonic() - started < given.minutes * 60:
        until = time.monotonic() + given.every
        while time.monotonic() < until:
            service.round(rounds)
            rounds += 1
        samples.append(Sample.taken(started, rounds))
        print(samples[-1].line(), flush=True)
    grown = verdict(samples)
    print("nothing grows, all results are correct" if not grown else f"GROWS: {'; '.join(grown)}")
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
