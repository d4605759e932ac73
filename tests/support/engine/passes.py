"""Programs in each choice of the passes of planning: their counts, and that no bit differs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import _core, np
from forerun._runtime.settings import _PASSES
from forerun.testing import closed_gate
from tests.support.comparison.bits import bits_of
from tests.support.engine.settings import configured

ALL = ",".join(_PASSES)
SETTINGS = ("", *_PASSES, ALL)  # none, each alone, all


def pass_counts() -> dict[str, int]:
    """Return the counts of the passes by now, once all work has ended."""
    _core.quiesce()
    stats = forerun.stats()
    return {name: stats[name] for name in ("dropped", "groups", "grouped", "elided")}


def results_and_pass_counts(program: Callable[..., Any], *inputs: Any) -> tuple[Any, dict[str, int]]:
    """Results of a program that is issued as a whole before anything starts; and the counts of the passes."""
    arrays = [np.array(x) for x in inputs]
    forerun.waitall()
    before = pass_counts()
    with closed_gate():
        results = program(*arrays)
    return results, {name: n - before[name] for name, n in pass_counts().items()}


def check_all_passes(program: Callable[..., Any], *inputs: Any) -> dict[str, int]:
    """Runs a program step by step, and with each choice of passes; returns the counts of all passes."""
    with configured(engine="sync", passes=""):
        expected = bits_of(program(*(np.array(x) for x in inputs)))
    did: dict[str, int] = {}
    for passes in SETTINGS:
        with configured(engine="async", workers=2, passes=passes):
            results, did = results_and_pass_counts(program, *inputs)
            assert bits_of(results) == expected, f"passes {passes!r}"
    return did


def random_floats(*shape: int, dtype: str = "float32") -> numpy.ndarray:
    return numpy.random.default_rng(5).normal(size=shape).astype(dtype)


def gelu(x: Any) -> Any:
    """Nine element-wise operations."""
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))


def operations_run_in_call(work: Callable[[], Any]) -> int:
    """How much of this ran in the call."""
    before = forerun.stats()["at_once"]
    kept = work()
    del kept
    return forerun.stats()["at_once"] - before
