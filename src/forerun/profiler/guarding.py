"""Guards: report the lines of a thread that would wait."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Collection
from dataclasses import dataclass

from .._runtime import core as _core
from .causes import ADVICE, cause_of, shown

__all__ = ["Blocked", "BlockedWarning", "guard"]

_modes = ("off", "warn", "raise")
_exempt = ("end", "at rest", "synchronous")  # waits that no line of the program causes


class Blocked(RuntimeError):
    """A line would have waited where a guard with the mode "raise" permits no wait.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> x = np.ones(3)
    >>> try:
    ...     with profiler.guard("raise", reads=True):
    ...         total = x.sum().item()
    ... except profiler.Blocked:
    ...     total = x.sum().item()
    >>> total
    3.0
    """


class BlockedWarning(RuntimeWarning):
    """A line waits where a guard with the mode "warn" permits no wait.

    Examples
    --------
    >>> import warnings
    >>> from forerun import np, profiler
    >>> x = np.ones(3)
    >>> with warnings.catch_warnings(record=True) as found, profiler.guard("warn", reads=True):
    ...     warnings.simplefilter("always")
    ...     total = x.sum().item()
    >>> [w.category.__name__ for w in found]
    ['BlockedWarning']
    """


@dataclass(frozen=True)
class _Rule:
    mode: str = "off"
    reads: bool = False
    allow: frozenset[str] = frozenset()


_unset = _Rule()


class _State(threading.local):
    """Of each thread: its rule, and which warnings it has given."""

    def __init__(self) -> None:
        self.rule = _unset
        self.given: dict[str | tuple[str, type[Warning], int], int] = {}


_state = _State()


class guard:
    """Set the reaction when this thread is about to wait: nothing, a warning, or an error before the wait.

    It holds from the call on; as a context manager, until the end of the block, which restores the previous guard. Of
    nested guards the innermost holds. Other threads have their own; a new thread has no guard.

    Parameters
    ----------
    mode : {"warn", "raise", "off"}
        The reaction. A warning is given once for each line, as Python's filters say. The error is `Blocked`, which
        leaves all arrays as they are: read them outside of the block.
    reads : bool, optional
        True to object to every read of values, computed or not, so that the outcome does not depend on timing.
    allow : collection of str, optional
        The kinds of waits that are permitted, such as "wait" and "barrier" (`Event.cause`).

    Raises
    ------
    ValueError
        For another mode or kind.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> x = np.ones(3)
    >>> with profiler.guard("raise", reads=True):
    ...     y = x + 1          # issued: no wait
    ...     y.sum().item()
    Traceback (most recent call last):
    forerun.profiler.guarding.Blocked: item: must not wait here, got ...
    >>> y.sum().item()
    6.0
    """

    def __init__(self, mode: str, *, reads: bool = False, allow: Collection[str] = ()) -> None:
        if mode not in _modes:
            raise ValueError(f"guard: mode must be one of {', '.join(_modes)}, got {mode!r}")
        if unknown := set(allow) - set(ADVICE):
            raise ValueError(f"guard: allow must name kinds of {', '.join(ADVICE)}, got {sorted(unknown)}")
        rule = _Rule(mode, reads, frozenset(allow))
        before = _core.set_guard(0 if mode == "off" else 3 if reads else 1)
        self._before = _state.rule, before
        _state.rule = rule

    def __enter__(self) -> guard:
        return self

    def __exit__(self, *exc: object) -> None:
        _state.rule, before = self._before
        _core.set_guard(before)


def refuse(call: str, site: tuple[str, int] | None) -> None:
    """Called by the core where this thread would wait, or read."""
    rule, cause = _state.rule, cause_of(call)
    if cause in _exempt or cause in rule.allow or (rule.mode == "off" and not _blocks_debug_loop(rule)):
        return
    file, line = site or ("?", 0)
    message = f"{shown(call)}: must not wait here, got a call at {file}:{line}; instead: {ADVICE[cause]}"
    if rule is _unset:
        message = f"{shown(call)}: blocks the event loop at {file}:{line}; instead: await the array that it reads"
    if rule.mode == "raise":
        raise Blocked(message)
    warnings.warn_explicit(message, BlockedWarning, file, line, registry=_state.given)


def _blocks_debug_loop(rule: _Rule) -> bool:
    """Whether the program has set no guard, and this thread runs an event loop whose debug mode is on."""
    from asyncio import _get_running_loop  # the program has imported it

    loop = _get_running_loop()
    return rule is _unset and loop is not None and loop.get_debug()
