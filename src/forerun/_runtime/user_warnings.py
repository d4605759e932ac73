"""Warnings about the line of a program that calls the package."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_at_call"]


def warn_at_call(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the first caller outside of the package.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_at_call("once more")
    >>> str(found[0].message)
    'once more'
    """
    frame, depth = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("forerun."):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, category, stacklevel=depth)
