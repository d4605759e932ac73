"""Settings of floating-point errors, which hold for NumPy's own arrays."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy

__all__ = ["errstate", "geterr", "seterr"]

_QUIET = (None, "ignore", "warn")
Handling: TypeAlias = Literal["ignore", "warn"] | None


def _accepted(op: str, settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if value not in _QUIET:
            raise NotImplementedError(
                f"{op}: {name} must be 'ignore' or 'warn', got {value!r}: values are computed later, by other threads; "
                "np.isfinite(x).all() finds infinities and nan"
            )


class errstate(numpy.errstate):
    """A context manager in which NumPy's own arrays ignore floating-point errors, or warn of them.

    Arrays of forerun never do: values are computed later, on another thread.

    Parameters
    ----------
    **kwargs : {"ignore", "warn"}
        The reaction to errors of a kind: `all`, `divide`, `over`, `under`, `invalid`. Others are a NotImplementedError.

    Examples
    --------
    >>> from forerun import np
    >>> with np.errstate(divide="ignore"):
    ...     (np.array([1.0]) / 0).tolist()
    [inf]
    """

    def __init__(self, **kwargs: Any) -> None:
        _accepted("errstate", {name: value for name, value in kwargs.items() if name != "call"})
        super().__init__(**kwargs)


def seterr(
    all: Handling = None, divide: Handling = None, over: Handling = None, under: Handling = None,
    invalid: Handling = None,
) -> dict[str, Any]:  # fmt: skip
    """Set how NumPy handles floating-point errors, and return the settings before. See `errstate`.

    Parameters
    ----------
    all : str, optional
        For all kinds of errors.
    divide : str, optional
        For divisions by zero.
    over : str, optional
        For results that are too large.
    under : str, optional
        For results that are too small.
    invalid : str, optional
        For results that are not numbers.

    Returns
    -------
    dict
        The settings before.

    Examples
    --------
    >>> from forerun import np
    >>> before = np.seterr(over="ignore")
    >>> np.geterr()["over"], sorted(np.seterr(**before)) == sorted(before)
    ('ignore', True)
    """
    settings = {"all": all, "divide": divide, "over": over, "under": under, "invalid": invalid}
    _accepted("seterr", settings)
    return dict(numpy.seterr(**settings))


def geterr() -> dict[str, Any]:
    """Return how NumPy handles floating-point errors.

    Returns
    -------
    dict
        How NumPy handles floating-point errors.

    Examples
    --------
    >>> from forerun import np
    >>> sorted(np.geterr())
    ['divide', 'invalid', 'over', 'under']
    """
    return dict(numpy.geterr())
