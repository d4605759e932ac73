"""`x.flags` and `x.setflags` of programs: an array may be made read-only, and writable again, as with NumPy."""

from __future__ import annotations

from typing import Any

from .._array.numpy_methods import Flags
from ..ops._base import core as _core

__all__ = ["flags", "setflags"]


class _SettableFlags(Flags):
    """Flags of which `writeable` can be set, as an attribute or an item."""

    __slots__ = ()

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable":
            raise AttributeError(f"attribute {name!r} of 'numpy._core.multiarray.flagsobj' objects is not writable")
        _set_writeable(self._array, bool(value))
        object.__setattr__(self, name, bool(value))

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in ("WRITEABLE", "W"):
            raise KeyError("Unknown flag")
        self.writeable = value


flags = property(_SettableFlags, doc="How the elements lie in memory, and whether they may be written.")


def setflags(self: Any, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
    """Say whether the array may be written. Every array is aligned, and none has a copy to be written back."""
    if align is not None and not align:
        raise NotImplementedError("setflags: align must be True, as every array of forerun is aligned, got False")
    if uic:
        raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
    if write is not None:
        _set_writeable(self, bool(write))


def _set_writeable(x: Any, writeable: bool) -> None:
    """Let writes to x, and to views made of it from now on, raise or not."""
    if writeable and _core.is_writable(x):
        return
    seen = _core.read_only(x, not writeable)
    if _core.is_writable(seen) != writeable:
        raise ValueError("cannot set WRITEABLE flag to True of this array")
    _core.see_as(x, seen)
