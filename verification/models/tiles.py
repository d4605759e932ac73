"""Tiles: a large op is run in pieces by several threads, each piece once, and ends once, after its last piece.

Code: run, run_tiles, run_kernel, guarded (executor.cpp); fail (failure_log.cpp); pick, finish (scheduler.cpp). Fields
of the same names: next_tile, end_tile, tiles_left, Queue::sharing, Op::failure; `kernel` is whether Op::kernel() still
exists. `left` represents everything that ends with the op.

All fields are guarded by the engine's lock, except three accesses, on which this relies: the thread that starts it sets
n_tiles and tiles_left without the lock while no other thread knows of the op; failure is read without it before that,
when no other tile has been given away; and the kernel is dropped without it, when no tile is left. The lock's
hand-overs carry them to the others.
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, unlock


def take(s: Any, me: Any) -> None:
    """Op::take_tile: the first or the last remaining tile, depending on the thread's CPU."""
    if s.choose(2) > 0:
        s.end_tile -= 1
        me.tile = s.end_tile
    else:
        me.tile, s.next_tile = s.next_tile, s.next_tile + 1
    s.sharing = s.next_tile < s.end_tile


class Runner(Program):
    """A worker, or a waiting thread: it starts the op if no other has, and takes tiles while there are any."""

    def __init__(self, name: str, model: Tiles) -> None:
        super().__init__(name, "pick", tile=-1)
        self.model = model

    def pick(self, s: Any, me: Any) -> str | None:
        if self.model.broken == "claim_unlocked" and s.sharing:
            me.tile = s.next_tile
            return "claim"
        if not lock(s, self.number):
            return None
        at = "prepare"
        if not s.started:
            s.started, me.tile = True, 0
        elif s.sharing:
            take(s, me)
            at = "compute"
        else:
            at = END if s.ended else ""
        unlock(s)
        return at or None

    def claim(self, s: Any, me: Any) -> str:  # not in the code
        s.next_tile = me.tile + 1
        s.sharing = s.next_tile < s.end_tile
        return "compute"

    def prepare(self, s: Any, me: Any) -> str:  # run(): take_memory, Kernel::prepare
        if self.model.poisoned or (self.model.failing == "prepare"):
            return "fail"
        if self.model.broken != "count_late":
            s.n_tiles = s.tiles_left = self.model.tiles
        return "share" if self.model.tiles > 1 else "compute"

    def share(self, s: Any, me: Any) -> str | None:  # run_tiles
        if not lock(s, self.number):
            return None
        s.next_tile, s.end_tile = 0, self.model.tiles
        take(s, me)
        if self.model.broken == "count_late":
            s.n_tiles = self.model.tiles
        unlock(s)
        return "count_late" if self.model.broken == "count_late" else "compute"

    def count_late(self, s: Any, me: Any) -> str:  # not in the code
        s.tiles_left = self.model.tiles
        return "compute"

    def compute(self, s: Any, me: Any) -> str:  # run_kernel
        if not s.kernel or s.ended:
            raise Violation("a tile is computed after the op's end")
        if me.tile in s.computed:
            raise Violation("a tile is computed twice")
        s.computed |= {me.tile}
        return "fail" if me.tile in self.model.failing_tiles else "enter"

    def fail(self, s: Any, me: Any) -> str | None:  # guarded: the first failure counts
        if not lock(s, self.number):
            return None
        s.failures += s.failure is None or self.model.broken == "fail_again"
        s.failure = me.tile if s.failure is None else s.failure
        unlock(s)
        if me.tile == 0 and not s.n_tiles:
            return "poisoned"
        return "enter"

    def poisoned(self, s: Any, me: Any) -> str:  # run(): nothing to compute, no tile has been given away
        s.tiles_left = self.model.tiles if self.model.broken == "poison_keeps_tiles" else 1
        return "enter"

    def enter(self, s: Any, me: Any) -> str | None:  # end_work
        if not lock(s, self.number):
            return None
        s.tiles_left -= 1
        me.tile = -1
        last = s.next_tile == s.end_tile if self.model.broken == "ends_with_last_claim" else s.tiles_left == 0
        unlock(s)  # it continues under the same lock, or drops the kernel without it
        return "drop" if last else "pick"

    def drop(self, s: Any, me: Any) -> str:
        s.kernel = False
        return "finish"

    def finish(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number):
            return None
        if s.ended:
            raise Violation("the op ends twice")
        s.ended = True
        unlock(s)
        return "pick"


class Tiles(Model):
    """`failing`: "prepare", or the tiles that fail. `poisoned`: it has inherited a failure."""

    mutants: ClassVar = {
        "claim_unlocked": "a tile is claimed without the lock",
        "count_late": "the tiles are counted when others may already have taken some",
        "ends_with_last_claim": "the op ends when its last tile has been claimed",
        "poison_keeps_tiles": "an op that is not run waits for its tiles",
        "fail_again": "each failing tile counts as a failure of its own",
    }

    def __init__(
        self,
        broken: str | None = None,
        tiles: int = 3,
        runners: int = 3,
        failing: str | tuple[int, ...] = (),
        poisoned: bool = False,
    ) -> None:
        self.broken, self.tiles, self.failing, self.poisoned = broken, tiles, failing, poisoned
        self.failing_tiles = failing if isinstance(failing, tuple) else ()
        shared = {
            "started": False,
            "n_tiles": 0,
            "tiles_left": 0,
            "next_tile": 0,
            "end_tile": 0,
            "sharing": False,
            "computed": frozenset(),
            "kernel": True,
            "failure": None,
            "failures": 0,
            "ended": False,
            "mutex": None,
        }
        super().__init__(shared, [Runner(f"runner {i}", self) for i in range(runners)])

    def complete(self, s: Any) -> bool:
        return bool(s.ended)

    def at_end(self, s: Any, own: list[Any]) -> None:
        unrun = self.poisoned or self.failing == "prepare"
        if len(s.computed) != (0 if unrun else self.tiles) or s.tiles_left:
            raise Violation("the op has ended without all of its tiles")
        if s.failures != bool(self.failing or self.poisoned):
            raise Violation("an op fails once, or not at all")
