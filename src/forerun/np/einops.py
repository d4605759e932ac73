"""einops on our arrays.

einops asks the subclasses of its backend class who knows an array. Ours is made when einops is imported, by whomever
and whether before or after this package, which does not import it.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

from .protocols import namespace

_BACKENDS = "einops._backends"


def _add_backend(backends: ModuleType) -> None:
    """Makes einops's backend for our arrays: NumPy's, with our namespace in place of NumPy's."""

    class Backend(backends.NumpyBackend):  # type: ignore[misc, name-defined]
        framework_name = "forerun"

        def __init__(self) -> None:
            self.np = namespace()

        def from_numpy(self, x: Any) -> Any:
            return self.np.asarray(x)

        def to_numpy(self, x: Any) -> Any:
            return x.asnumpy()

        def is_float_type(self, x: Any) -> bool:
            return x.dtype.kind == "f" or x.dtype.name == "bfloat16"

    backends.forerun_backend = Backend  # type: ignore[attr-defined]  # subclasses are known as long as they are held


class _Arrival:
    """Finds nothing itself; what the other finders find as einops's backends gets ours once it has run."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _BACKENDS:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return None
        run = spec.loader.exec_module

        def run_and_add(module: ModuleType) -> None:
            run(module)
            _add_backend(module)

        spec.loader.exec_module = run_and_add  # type: ignore[method-assign]
        return spec


def register() -> None:
    """Makes einops know our arrays: at once if it is imported, else when it is."""
    if _BACKENDS in sys.modules:
        _add_backend(sys.modules[_BACKENDS])
    else:
        sys.meta_path.insert(0, _Arrival())
