"""The modes of the engine, and programs run in them."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from forerun import _core, np
from forerun._runtime.settings import _PASSES
from stress.fuzz.forerun_back import AllAtOnce, RunningAhead
from stress.fuzz.numpy_back import InOrder
from stress.fuzz.pool import Entry
from stress.fuzz.program import SHAPES, SMALL, Program, Shape, Step
from stress.fuzz.steps import Machine
from tests.support.engine.settings import configured

ALL = ",".join(_PASSES)
_REWRITES = [name for name in _PASSES if name != "compile"]  # enabled in all other modes
SUBSETS = [",".join(some) for n in range(len(_REWRITES) + 1) for some in combinations(_REWRITES, n)]
# The engine's own: smaller operations are not worth a group, or an order by parts; and loops that compute less are not
# compiled.
FUSE_FROM, APART_FROM, COMPILE_FROM = 2000, 20000, 1 << 26


@dataclass(frozen=True)
class Mode:
    """Settings, and whether all operations are issued before any runs."""

    name: str
    at_once: bool = False
    settings: dict[str, Any] = field(default_factory=dict, hash=False)


MODES = [
    Mode("1 worker", settings={"workers": 1}),
    Mode("2 workers", settings={"workers": 2}),
    Mode("4 workers", settings={"workers": 4}),
    Mode("32 workers", settings={"workers": 32}),
    Mode("2 ops ahead", settings={"workers": 4, "ops_ahead": 2}),
    Mode("5 ops ahead, 1 worker", settings={"workers": 1, "ops_ahead": 5}),
    Mode("no budget", settings={"workers": 4, "memory_budget": 256}),
    Mode("a megabyte", settings={"workers": 2, "memory_budget": 1 << 20}),
    Mode("no budget, 2 ops ahead", settings={"workers": 2, "memory_budget": 1, "ops_ahead": 2}),
    Mode("sync, all passes", settings={"engine": "sync", "passes": ALL}),
    *[Mode(f"4 workers, passes {p or 'off'}", settings={"workers": 4, "passes": p}) for p in SUBSETS],
    *[Mode(f"at once, passes {p or 'off'}", True, {"workers": 2, "passes": p}) for p in SUBSETS],
    Mode("at once, 1 worker", True, {"workers": 1}),
    Mode("at once, 32 workers", True, {"workers": 32}),
    Mode("at once, no budget", True, {"workers": 4, "memory_budget": 256}),
]
BY_NAME = {mode.name: mode for mode in MODES}


@contextmanager
def engine(**settings: Any) -> Iterator[None]:
    """Set the engine up for a program: two devices, passes apply to ops of any cost, and no failures remain."""
    default = {
        "engine": "async",
        "cpu_devices": 2,
        "passes": ALL,
        "ops_ahead": 1 << 14,
        "memory_budget": None,
    }
    with configured(**default | settings):
        _core.set_fuse_from(0)
        _core.set_apart_from(0)
        _core.set_compile_from(0)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield
        finally:
            _core.gate(False)
            _core.quiesce()
            _core.unseen_failures()
            _core.set_fuse_from(FUSE_FROM)
            _core.set_apart_from(APART_FROM)
            _core.set_compile_from(COMPILE_FROM)


def run_in(mode: Mode, program: Program) -> list[list[Entry]]:
    """Return the reads of each thread of a program in a mode."""
    with engine(**mode.settings):
        return run_program(program, AllAtOnce if mode.at_once else RunningAhead)


def run_program(program: Program, back: Any) -> list[list[Entry]]:
    """Return the reads of each thread of a program; the threads run at once."""
    np.random.seed(7)
    machines = [Machine(back(), SHAPES[program.shapes], program.exact, program.room) for _ in program.threads]
    if len(machines) == 1:
        return [machines[0].run(program.threads[0])]
    with machines[0].back.running():
        return _together(machines, program)


def _together(machines: list[Machine], program: Program) -> list[list[Entry]]:
    found: list[Any] = [None] * len(machines)

    def one(i: int) -> None:
        try:
            machines[i].issue(program.threads[i])
            found[i] = machines[i].results()
        except BaseException as error:
            found[i] = error

    threads = [threading.Thread(target=one, args=(i,)) for i in range(len(machines))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in found:
        if isinstance(result, BaseException):
            raise result
    return found


def in_order(steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, room: int = 12) -> list[Entry]:
    """Return the reads of an exact program if NumPy runs it."""
    return Machine(InOrder(), shapes, True, room).run(steps)


def running_ahead(
    steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, exact: bool = True, room: int = 12
) -> list[Entry]:
    """Return the reads of a program if forerun runs it, in the mode that is set; there must be two devices."""
    np.random.seed(7)
    return Machine(RunningAhead(), shapes, exact, room).run(steps)


def all_at_once(
    steps: Iterable[Step], shapes: tuple[Shape, ...] = SMALL, exact: bool = True, room: int = 12
) -> list[Entry]:
    """The same if no operation starts before all are issued, or a step reads."""
    np.random.seed(7)
    return Machine(AllAtOnce(), shapes, exact, room).run(steps)
