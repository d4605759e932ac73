"""The functions that the engine calls."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy

from .. import _core
from .._runtime import device, pending
from .._runtime import logging as log

__all__ = ["table", "wire"]


def _refuse(call: str, site: tuple[str, int] | None) -> None:
    """Call the guards before a thread waits, or reads."""
    from ..profiler import guarding  # a program that has set a guard has imported it

    guarding.refuse(call, site)


def _open_plugins() -> tuple[int, list[str], Exception | None]:
    """Open the plugins of devices: at the first use of a GPU."""
    from .._pjrt import opening  # a program without GPUs does not need it

    return opening.open_all()


def _folders() -> tuple[str, str, str]:
    """Return where lines are that are not the program's: the package's, but for those of its examples, and NumPy's."""
    package = pathlib.Path(__file__).parents[1]
    return f"{package}/", f"{package / 'tour'}/", f"{pathlib.Path(numpy.__file__).parent}/"


def _cell_name(file: str) -> str:
    """Return the name that IPython shows for a cell, such as In[6], by the file that it is compiled as."""
    named = sys.modules["IPython"].get_ipython().compile.format_code_name(file)
    return named[1] if named else file


def table() -> dict[str, Any]:
    """Return the functions and classes by the names that the core gives them."""
    return {
        "log": log.log_event,
        "refuse": _refuse,
        "hang_report": pending.report,
        "cell_name": _cell_name,
        "devices": device.known,
        "folders": _folders(),
    }


def wire() -> None:
    """Register the functions that the engine calls. RuntimeError, which names it, if one is missing."""
    _core.wire("engine", table())
    device.open_plugins = _open_plugins
