"""The names that `dir()` shows of a public module."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["dir_of"]


def dir_of(module: str, *others: str) -> Callable[[], list[str]]:
    """Return the `__dir__` of a module: the names in its `__all__`, these others, and those with two underscores.

    >>> from forerun import testing
    >>> [name for name in dir_of("forerun.testing")() if not name.startswith("__")]
    ['assert_same_bits', 'check_grads', 'closed_gate', 'unread_errors']
    """
    names = vars(sys.modules[module])
    return lambda: sorted({*names["__all__"], *others, *(name for name in names if name.startswith("__"))})
