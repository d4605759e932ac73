"""Run code when another library is imported, by any module; immediately if it has been imported already.

This package imports none of them.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["when_imported"]


class _Arrival:
    """Finds nothing itself; a module that the other finders find is added to once it has run."""

    def __init__(self, name: str, add: Callable[[ModuleType], None], before: Callable[[], None]) -> None:
        self.name, self.add, self.before = name, add, before

    def find_spec(self, name: str, path: object, target: object = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_add(module: ModuleType) -> None:
            self.before()
            run(module)
            self.add(module)

        spec.loader.exec_module = run_and_add  # type: ignore[method-assign]
        return spec


def when_imported(name: str, add: Callable[[ModuleType], None], before: Callable[[], None] = lambda: None) -> None:
    """Call `add` with a module when it has been imported, and `before` when its code is about to run."""
    if name in sys.modules:
        add(sys.modules[name])
    else:
        sys.meta_path.insert(0, _Arrival(name, add, before))
