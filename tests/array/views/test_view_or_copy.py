"""A result is a view where NumPy's is one, and a copy where NumPy copies, whichever side is written first."""

from __future__ import annotations

import warnings
from typing import Any

import numpy

from forerun import np
from forerun.np import ndarray
from tests.ops.cases.views import COMPLEX, COPIES, FUNCTIONS, LAYOUTS, Function
from tests.support.comparison.bits import all_same_bits
from tests.support.many_cases import for_each

FIRST = numpy.arange(1, 25)  # the memory before any write


def applied(xp: Any, layout: str, function: Function, dtype: str) -> tuple[Any, list[Any] | None]:
    """The vector that owns the memory, and the arrays that the function gives; None if it raises."""
    base = xp.array(FIRST.astype(dtype))
    x = LAYOUTS[layout](xp, base)
    try:
        found = function(xp, x)
    except (ValueError, TypeError, IndexError):
        return base, None
    return base, list(found) if isinstance(found, (list, tuple)) else [found]


def write_new_numbers(x: Any) -> bool:
    """Writes numbers that the memory does not have, if the array lets itself be written."""
    try:
        x[...] = (-1 - numpy.arange(x.size)).reshape(x.shape).astype(x.dtype)
    except ValueError:
        return False
    return True


def repeats(x: numpy.ndarray) -> bool:
    """Return whether elements share memory: forerun's arrays refuse to be written as a whole then."""
    return any(step == 0 and n > 1 for step, n in zip(x.strides, x.shape))


def written_through(layout: str, function: Function, dtype: str, i: int) -> list[str]:
    """Return the differences in the memory after a write to result number i, where both of them allow one."""
    (base, results), (numpy_base, numpy_results) = (applied(xp, layout, function, dtype) for xp in (np, numpy))
    assert results is not None
    assert numpy_results is not None
    may, might = write_new_numbers(results[i]), write_new_numbers(numpy_results[i])
    if might and not may and numpy_results[i].size and not repeats(numpy_results[i]):
        return ["forerun's array refuses to be written"]
    if not (may and might) or all_same_bits(base, numpy_base):
        return []
    return ["copies" if (numpy_base != FIRST).any() else "is a view"]


def written_below(layout: str, function: Function, dtype: str, i: int) -> list[str]:
    """Return the differences in result number i after a write to the memory."""
    (base, results), (numpy_base, numpy_results) = (applied(xp, layout, function, dtype) for xp in (np, numpy))
    assert results is not None
    assert numpy_results is not None
    before = results[i].numpy().tobytes()
    base += 100
    numpy_base += 100
    if all_same_bits(results[i], numpy_results[i]):
        return []
    return ["copies" if results[i].numpy().tobytes() == before else "is a view"]


def differing_views(layout: str, function: Function, dtype: str) -> list[str]:
    """Return the differences between NumPy's results and forerun's."""
    results, numpy_results = (applied(xp, layout, function, dtype)[1] for xp in (np, numpy))
    if results is None or numpy_results is None:
        return [] if results is numpy_results else ["only one raises"]
    if len(results) != len(numpy_results):
        return ["another number of results"]
    arrays = [
        i for i, x in enumerate(numpy_results) if isinstance(x, numpy.ndarray) and isinstance(results[i], ndarray)
    ]
    return [d for i in arrays for look in (written_through, written_below) for d in look(layout, function, dtype, i)]


@for_each("name, dtype", [*((n, "float64") for n in FUNCTIONS), *((n, "complex128") for n in COMPLEX)])
def test_view_or_copy_as_numpy(name: str, dtype: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's, of writes that it will refuse one day
        found = {layout: d for layout in LAYOUTS if (d := differing_views(layout, FUNCTIONS[name], dtype))}
    if name in COPIES:  # on purpose
        assert {d for all_ in found.values() for d in all_} == {"copies"}
    else:
        assert not found


def test_every_layout_is_another_one() -> None:
    views = {name: make(numpy, FIRST) for name, make in LAYOUTS.items()}
    seen = {(x.shape, x.strides, x.__array_interface__["data"][0]) for x in views.values()}
    assert len(seen) == len(views)
