"""Register the Python functions and classes that the core calls, in two tables. No other module registers any.

The core knows what each table must have (core/python/wiring.cpp), and refuses one that lacks something: then the import
fails, and says what is missing. The second table is given when `forerun.np` is imported: `import forerun` is short.
"""

from __future__ import annotations

import importlib.util
import pathlib
from typing import Any

import numpy

from . import _core
from ._runtime import device, pending
from ._runtime import logging as log

__all__ = ["wire_arrays", "wire_engine"]


def _refuse(call: str, site: tuple[str, int] | None) -> None:
    """Call the guards before a thread waits, or reads."""
    from .profiler import guarding  # a program that has set a guard has imported it

    guarding.refuse(call, site)


def _open_plugins() -> tuple[int, list[str], Exception | None]:
    """Open the plugins of devices: at the first use of a GPU."""
    from ._pjrt import opening  # a program without GPUs does not need it

    return opening.open_all()


def _compile_loop(text: str) -> int:
    """Return the address of a compiled loop; 0 if it cannot be compiled."""
    from ._codegen import compiler  # a program whose loops are short does not need it

    return compiler.compile_loop(text)


def _folders() -> tuple[str, str, str]:
    """Return where lines are that are not the program's: the package's, but for those of its examples, and NumPy's."""
    package = pathlib.Path(__file__).parent
    all_ = package, package / "tour", pathlib.Path(numpy.__file__).parent
    return tuple(f"{folder}/" for folder in all_)  # type: ignore[return-value]


def _engine() -> dict[str, Any]:
    return {
        "log": log.log_event,
        "refuse": _refuse,
        "hang_report": pending.report,
        "devices": device.known,
        "folders": _folders(),
    }


def _arrays() -> dict[str, Any]:
    from ._array.ndarray import ndarray
    from ._array.scalar import scalar
    from .ops._base import convert
    from .ops._base import promotion as dtype_rules
    from .ops._base.primitive import Elementwise
    from .ops.elementwise import arithmetic, exponential
    from .ops.index import flatiter as iterating
    from .ops.index import getitem as indexing
    from .ops.index import setitem as assigning
    from .ops.linalg import matmul as products
    from .ops.shape import fit as fitting
    from .ops.shape import views as shape

    ops = (*vars(arithmetic).values(), exponential.power)
    operators = {op.operator: op for op in ops if isinstance(op, Elementwise) and op.operator}
    return {
        "array": ndarray,
        "scalar": scalar,
        "flat": iterating.flatiter,
        "promotion": dtype_rules.promotion_table(),
        "compile_loop": _compile_loop,
        "getitem": indexing.getitem,
        "setitem": assigning.setitem,
        "matmul": products.matmul,
        "fit": fitting.fitted,
        "asarray": convert.asarray,
        "transpose": shape.transpose,
        **operators,
    }


def wire_engine() -> None:
    """Register the functions that the engine calls. RuntimeError, which names it, if one is missing."""
    _core.wire("engine", _engine())
    device.open_plugins = _open_plugins


def wire_arrays() -> None:
    """Register the classes and functions of arrays. RuntimeError, which names it, if one is missing."""
    _core.wire("arrays", _arrays())
    if importlib.util.find_spec("llvmlite"):
        _core.open_loop_compiler()
