"""The language: a method per kind of step, from the numbers of the step to operations on the pool."""

from __future__ import annotations

from typing import Any

from stress.fuzz.steps.arrays import Arrays
from stress.fuzz.steps.control import Control
from stress.fuzz.steps.elementwise import Elementwise
from stress.fuzz.steps.failures import Failing
from stress.fuzz.steps.free import Free
from stress.fuzz.steps.gradients import Gradients
from stress.fuzz.steps.hosts import Hosts
from stress.fuzz.steps.indexing import Indexing
from stress.fuzz.steps.joined import Joined
from stress.fuzz.steps.moves import Moves
from stress.fuzz.steps.table import Table
from stress.fuzz.steps.views import Views
from stress.fuzz.steps.writes import Writes


class Machine(
    Arrays,
    Elementwise,
    Writes,
    Views,
    Moves,
    Indexing,
    Joined,
    Failing,
    Hosts,
    Control,
    Table,
    Free,
    Gradients,
):
    """Runs any step."""


EXACT_KINDS = (
    "make", "fill", "drop", "read", "move", "copy", "cast", "binary", "unary", "chain", "choose", "update",
    "overlap", "assign", "out", "scatter", "slices", "element", "transpose", "reshape", "view_or_copy", "gather",
    "concatenate", "reduce", "scan", "sort", "product",
)  # fmt: skip
FREE_KINDS = (*EXACT_KINDS, "smooth", "average", "random")
FUSED_EXACT = ("along", "sums", "several", "mixed", "replaced", "through", "wasted")
FUSED_KINDS = (*FUSED_EXACT, "normalised")
INDEX_KINDS = (
    "cut", "paste", "pick_points", "put_points", "mask_read", "mask_write", "along_axis", "ends", "rearranged",
)  # fmt: skip
FAILING = ("far_index", "far_write", "task_fails", "task_fails_sometimes")
HOST_KINDS = ("task", "two_results")
CONTROL = ("barrier", "paced", "recorded", "recorded_twice", "settings")
GRADIENTS = ("slope", "heads", "second", "overwritten", "training")
RANDOM = ("random", "drawn")


def kinds_for(exact: bool, threads: bool, small: bool, rng: Any) -> tuple[str, ...]:
    """The kinds that a program may have.

    Random numbers are numbered in the order of issue: they are excluded with several threads, and with tasks that issue
    operations. Such tasks need a window and a budget with free space.
    """
    kinds: tuple[str, ...] = (
        *EXACT_KINDS,
        *FUSED_EXACT,
        *INDEX_KINDS,
        *HOST_KINDS,
        *CONTROL,
        "row",
        "row",
        "row",
    )
    if rng.random() < 0.5:
        kinds += (*FAILING, "heal", "heal", "spread")
    if not exact:
        kinds += ("smooth", "average", "normalised", *GRADIENTS)
    choice = rng.random()
    if not exact and not threads and choice < 0.5:
        kinds += RANDOM
    elif small and choice < 0.75:
        kinds = (*(k for k in kinds if k != "settings"), "nested", "waiting", "self_wait")
    return tuple(k for k in kinds if not (threads and k in ("barrier", "settings", "training")))
