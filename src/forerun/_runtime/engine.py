"""The engine as a whole: waiting for several arrays or for everything, its memory, its counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from .. import _core
from .device import Device

if TYPE_CHECKING:
    from ..typing import Array

    _Arrays: TypeAlias = Array | Sequence["_Arrays"] | Mapping[Any, "_Arrays"]

__all__ = ["wait", "waitall", "memory", "empty_cache", "stats"]


def wait(arrays: _Arrays) -> None:
    """Wait until arrays have their values. Other work may continue.

    Parameters
    ----------
    arrays : array, or nested sequences and dicts of arrays
        The arrays to wait for.

    Raises
    ------
    TypeError
        For other objects than arrays.
    Exception
        The error of their computation, once all have ended; several different errors as an `ExceptionGroup`.

    Examples
    --------
    >>> import forerun
    >>> from forerun import np
    >>> x = np.ones(3)
    >>> forerun.wait({"sum": x + x, "more": [x * 2, (x,)]})
    """
    _core.wait(list(_arrays(arrays)))


def _arrays(nested: Any) -> Iterator[_core.Array]:
    if isinstance(nested, _core.Array):
        yield nested
    elif isinstance(nested, (Mapping, Sequence)) and not isinstance(nested, (str, bytes)):
        for value in nested.values() if isinstance(nested, Mapping) else nested:
            yield from _arrays(value)
    else:
        raise TypeError(f"wait: must be given arrays, or sequences or dicts of them, got {nested!r}")


def waitall() -> None:
    """Wait until all operations issued so far have ended.

    Raises
    ------
    Exception
        The error of an operation that no read has raised; several as an `ExceptionGroup`.
    RuntimeError
        In a host task, which would wait for its own end.

    Examples
    --------
    >>> import forerun
    >>> y = forerun.np.ones((1000, 1000)) + 1
    >>> forerun.waitall()
    >>> y.ready
    True
    """
    _core.waitall()


def memory(device: Device | None = None) -> dict[str, int]:
    """Return how many bytes the arrays of a CPU device take, and its limits.

    Parameters
    ----------
    device : Device, optional
        `cpu(0)` by default.

    Returns
    -------
    dict of int
        "live": bytes of present arrays. "peak": their maximum so far. "cached": bytes of freed buffers that are kept
        for later arrays. "budget" and "limit": the settings `memory_budget` and `memory_limit`.

    Examples
    --------
    >>> import forerun
    >>> x = forerun.np.ones(1000)
    >>> x.wait()
    >>> forerun.memory()["live"] >= x.nbytes
    True
    """
    return _core.memory(device.index if device is not None else 0)


def empty_cache() -> int:
    """Return the memory of freed buffers to the system.

    Returns
    -------
    int
        The number of bytes.

    Examples
    --------
    >>> import forerun
    >>> forerun.empty_cache() >= 0
    True
    """
    return _core.empty_cache()


def stats() -> dict[str, int]:
    """Return counts since the start of the process.

    Returns
    -------
    dict of int
        Among others "issued", "done", "failed" and "dropped": operations; "fused": operations that ran as part of a
        group; "at_once": those that ran in their call; "waits": how often a thread that waited had to sleep.

    Examples
    --------
    >>> import forerun
    >>> before = forerun.stats()["issued"]
    >>> x = forerun.np.ones((1000, 1000)) + 1
    >>> forerun.stats()["issued"] > before
    True
    """
    return _core.stats()
