"""A program: steps for one or several threads. It follows from a number, and is kept in a file as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy

Shape = tuple[int, ...]

SMALL: tuple[Shape, ...] = ((), (1,), (5,), (0,), (3, 4), (4, 3), (2, 3, 4), (3, 1), (12,))
LARGE: tuple[Shape, ...] = ((200,), (200, 150), (150, 200), (20, 25, 30), (1, 150), (30_000,), (200, 1))
HUGE: tuple[Shape, ...] = ((70_000,), (300, 257), (257, 300), (1, 70_000), (300, 1), (257,), (3, 5))
# Some arrays on either side of the size up to which operations run in the call.
MIXED: tuple[Shape, ...] = (
    (1,), (2,), (4,), (65,), (7, 10), (670,), (25, 27), (2_040,), (2_001, 1), (1_000, 2), (5_000,),
)  # fmt: skip
SHAPES = {"small": SMALL, "large": LARGE, "huge": HUGE, "mixed": MIXED}


@dataclass(frozen=True)
class Step:
    """The kind of a step, and three numbers that select its operands."""

    kind: str
    a: int
    b: int
    c: int


@dataclass(frozen=True)
class Program:
    """Steps of each thread, over a pool of at most `room` arrays.

    exact: whole numbers, so that NumPy gives the same bits; otherwise functions whose last bits are each library's.
    note: for a program that is kept, its finding.
    """

    threads: tuple[tuple[Step, ...], ...]
    exact: bool = True
    shapes: str = "small"
    room: int = 12
    note: str = ""
    seed: int | None = field(default=None, compare=False)

    @property
    def steps(self) -> int:
        """How many steps there are in all threads."""
        return sum(map(len, self.threads))

    def kinds(self) -> set[str]:
        """The kinds of its steps."""
        return {step.kind for thread in self.threads for step in thread}

    def with_thread(self, i: int, steps: Sequence[Step]) -> Program:
        """The program with other steps in one thread."""
        return replace(self, threads=(*self.threads[:i], tuple(steps), *self.threads[i + 1 :]))

    def text(self) -> str:
        """As JSON, a step a line."""
        head = {k: v for k, v in asdict(self).items() if k != "threads"}
        lines = [
            "[\n    " + ",\n    ".join(json.dumps([s.kind, s.a, s.b, s.c]) for s in thread) + "\n  ]"
            for thread in self.threads
        ]
        return json.dumps(head, indent=1)[:-2] + ',\n "threads": [' + ", ".join(lines) + "]\n}\n"


def read(path: Path) -> Program:
    """The program that a file holds."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    threads = tuple(tuple(Step(*step) for step in thread) for thread in found.pop("threads"))
    return Program(threads, **found)


def seeded(kinds: Sequence[str], n: int, seed: int) -> list[Step]:
    """n steps that the seed decides."""
    rng = numpy.random.default_rng(seed)
    likely = ("make", "make", "make", *kinds)  # cuts and reductions make arrays smaller
    names = [likely[i] for i in rng.integers(len(likely), size=n)]
    return [Step(name, *map(int, row)) for name, row in zip(names, rng.integers(10_000, size=(n, 3)))]


def random_program(seed: int) -> Program:
    """The program of a number. Each has a few kinds of steps only: so they meet more often than with all kinds."""
    from stress.fuzz.steps import kinds_for  # which needs this module

    rng = numpy.random.default_rng(seed)
    exact = bool(rng.random() < 0.5)
    threads = 1 if rng.random() < 0.85 else int(rng.integers(2, 4))
    shapes = ("small", "large", "huge")[rng.choice(3, p=[0.7, 0.2, 0.1])]
    if rng.random() < 0.25:
        shapes = "mixed"
    kinds = kinds_for(exact, threads > 1, shapes == "small", rng)
    some = [k for k in kinds if rng.random() < 0.4] or list(kinds)
    length = int(rng.integers(3, 60 if shapes == "small" else 25))
    steps = tuple(tuple(seeded(some, length, int(rng.integers(2**31)))) for _ in range(threads))
    return Program(steps, exact, shapes, int(rng.integers(4, 16)), seed=seed)
