"""array-api-compat on our scalars, which cannot be written to, as NumPy's cannot.

It takes all arrays of libraries that it does not know for writable. Libraries copy what is not before they write to
it. SciPy and scikit-learn have copies of it; all are told when they are imported, by whomever.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._array.scalar import scalar
from .import_hooks import when_imported

_HELPERS = "array_api_compat.common._helpers"
_COPIES = (_HELPERS, f"scipy._lib.{_HELPERS}", f"sklearn.externals.{_HELPERS}")


def _add_scalars(helpers: ModuleType) -> None:
    """Makes what says whether arrays of a class can be written to know scalars."""
    known = getattr(helpers, "_is_writeable_cls", None)
    if known is None:  # another version, which asks in another way
        return

    def is_writeable(cls: type) -> Any:
        return False if issubclass(cls, scalar) else known(cls)

    helpers._is_writeable_cls = is_writeable  # type: ignore[attr-defined]


def register() -> None:
    """Makes array-api-compat know our scalars: at once where it is imported, else when it is."""
    for name in _COPIES:
        when_imported(name, _add_scalars)
