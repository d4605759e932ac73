"""Register forerun's scalars with array-api-compat as not writable, like NumPy's.

It considers all arrays of unknown libraries writable; libraries copy arrays that are not before they write to them.
SciPy and scikit-learn contain copies of it. Each is patched when any module imports it.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._array.scalar import scalar
from .import_hooks import when_imported

_HELPERS = "array_api_compat.common._helpers"
_COPIES = tuple(f"{where}{_HELPERS}" for where in ("", "scipy._lib.", "scipy._external.", "sklearn.externals."))


def _add_scalars(helpers: ModuleType) -> None:
    """Let the function that says whether arrays of a class are writable know scalars."""
    known = getattr(helpers, "_is_writeable_cls", None)
    if known is None:  # another version, which asks in another way
        return

    def is_writeable(cls: type) -> Any:
        return False if issubclass(cls, scalar) else known(cls)

    helpers._is_writeable_cls = is_writeable  # type: ignore[attr-defined]


def register() -> None:
    """Register forerun's scalars with array-api-compat, now or when it is imported."""
    for name in _COPIES:
        when_imported(name, _add_scalars)
