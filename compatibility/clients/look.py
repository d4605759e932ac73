"""Evaluates an expression with forerun's arrays and with NumPy's: the same values, whose arrays, was there a wait?"""

from __future__ import annotations

import dataclasses
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

import forerun
from forerun import _core
from forerun.np import ndarray

KINDS = ("at once", "waits", "other", "raises", "wrong")
_STABLE = re.compile(r"[^\n{<]*")  # of a message: text in braces or brackets differs from run to run
RTOL = 1e-6  # of float64, where a library may take another way than with NumPy's arrays


@contextmanager
def engine_held() -> Iterator[list[str]]:
    """The engine runs nothing until something waits, which is noted in the list that the block gets."""
    waited: list[str] = []
    over = threading.Event()
    forerun.waitall()
    before = _core.stats()["waits"]

    def watch() -> None:
        while not over.wait(0.0005):
            if _core.stats()["waits"] > before:
                waited.append("waited")
                return _core.gate(False)

    _core.gate(True)
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield waited
        if _core.stats()["waits"] > before:
            waited.append("waited")
    finally:
        over.set()
        watcher.join()
        _core.gate(False)


def leaves(value: Any) -> Iterator[Any]:
    """Yield the arrays and numbers of a library's result, in the library's order."""
    if isinstance(value, (ndarray, numpy.ndarray, numpy.generic, str, int, float, complex, type(None))):
        yield value
    elif isinstance(value, dict):
        for key in value:
            yield from leaves(value[key])
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    elif hasattr(value, "data_vars"):  # xarray's Dataset
        yield from (value[name].data for name in value.data_vars)
    elif type(value).__module__.startswith("pandas"):
        yield value.to_numpy()
    elif isinstance(getattr(value, "data", None), (ndarray, numpy.ndarray)):  # xarray's DataArray
        yield value.data
    elif hasattr(value, "compute"):  # Dask's; one thread, as this one holds the engine's gate
        yield from leaves(value.compute(scheduler="sync"))
    elif dataclasses.is_dataclass(value):
        yield from leaves([getattr(value, field.name) for field in dataclasses.fields(value)])
    else:
        yield from leaves(vars(value))


def same(ours: Any, theirs: Any) -> str:
    """Return the difference between two results' values; an empty string without one."""
    a, b = list(leaves(ours)), list(leaves(theirs))
    if len(a) != len(b):
        return f"{len(a)} parts, with NumPy's arrays {len(b)}"
    for x, y in zip(a, b):
        if x is None or isinstance(x, str):
            if x != y:
                return f"{x!r}, with NumPy's arrays {y!r}"
            continue
        x, y = numpy.asarray(x), numpy.asarray(y)
        if x.shape != y.shape or x.dtype.kind != y.dtype.kind:
            return f"{x.dtype}{x.shape}, with NumPy's arrays {y.dtype}{y.shape}"
        if not numpy.allclose(x, y, rtol=RTOL, atol=RTOL, equal_nan=True):
            return f"{x}, with NumPy's arrays {y}"
    return ""


def on_its_way(values: Any) -> ndarray:
    """Return a forerun array whose values are not computed as long as the engine is held."""
    return forerun.np.asarray(numpy.asarray(values)).copy()


def looked_at(expression: str, names: Callable[[Any], dict[str, Any]]) -> tuple[str, str]:
    """The kind of an expression's result, and its error or another remark."""
    want = eval(expression, names(numpy.asarray))
    try:
        with engine_held() as waited:
            found = eval(expression, names(on_its_way))
            parts = list(leaves(found))
    except Exception as error:
        return "raises", f"{type(error).__name__}: {_STABLE.match(str(error))[0].strip()}"
    if differs := same(found, want):
        return "wrong", differs
    if not any(isinstance(part, ndarray) for part in parts):
        return "other", ", ".join(sorted({type(part).__name__ for part in parts}))
    return ("waits" if waited else "at once"), ""
