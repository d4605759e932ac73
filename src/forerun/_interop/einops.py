"""Register forerun's arrays with einops.

einops asks the subclasses of its backend class which one handles an array. The subclass for forerun is created when any
module imports einops, before or after this package, which does not import it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._array.numpy_protocols import namespace
from .import_hooks import when_imported


def _add_backend(backends: ModuleType) -> None:
    """Create einops's backend for forerun's arrays: NumPy's backend with forerun's namespace."""

    class Backend(backends.NumpyBackend):  # type: ignore[misc, name-defined]
        framework_name = "forerun"

        def __init__(self) -> None:
            self.np = namespace()

        def from_numpy(self, x: Any) -> Any:
            return self.np.asarray(x)

        def to_numpy(self, x: Any) -> Any:
            return x.asnumpy()

        def is_float_type(self, x: Any) -> bool:
            return bool(x.dtype.kind == "f" or x.dtype.name == "bfloat16")

    backends.forerun_backend = Backend  # type: ignore[attr-defined]  # subclasses are known as long as they are held


def register() -> None:
    """Register forerun's arrays with einops, now or when it is imported."""
    when_imported("einops._backends", _add_backend)
