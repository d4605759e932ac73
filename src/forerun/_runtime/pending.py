"""Pending operations and the reason why each waits, to find out why a program makes no progress."""

from __future__ import annotations

import sys
from typing import NamedTuple

from .. import _core
from .logging import say

__all__ = ["Pending", "pending"]

_MOST = 1_000_000  # ops that a report considers
_LINES = 12  # that it prints


class Pending(NamedTuple):
    """An operation that has not ended.

    Attributes
    ----------
    number : int
        Its place in program order.
    name : str
        The operation, such as "matmul".
    site : (str, int) or None
        The file and the line that issued it.
    state : {"issued", "waiting", "ready", "running"}
        "issued": not planned yet; "waiting": for other operations; "ready": for a thread, or for memory.
    after : int
        The number of the oldest operation that it waits for, or 0.
    device : int
        The number of its device.
    queue : {"compute", "copy", "io"}
        The queue that runs it.
    needs : int
        Bytes of memory that it still has to allocate.

    Examples
    --------
    >>> import forerun
    >>> [operation.name for operation in forerun.pending() if operation.state == "running"]
    []
    """

    number: int
    name: str
    site: tuple[str, int] | None
    state: str
    after: int
    device: int
    queue: str
    needs: int

    def __str__(self) -> str:
        where = f" of {self.site[0]}:{self.site[1]}" if self.site else ""
        return f"operation {self.number}, {self.name}{where}: {self._why()}"

    def _why(self) -> str:
        if self.state == "waiting":
            return f"waits for operation {self.after}"
        if self.state == "issued":
            return "issued, not planned yet"
        if self.state == "running":
            return "runs"
        if not self.needs:
            return "ready, waits for a thread"
        memory = _core.memory(self.device)
        held = ", ".join(f"{key} {memory[key]}" for key in ("live", "budget", "limit"))
        return f"ready, waits for a thread or for {self.needs} bytes of memory ({held})"


def pending(most: int = 100) -> list[Pending]:
    """Return operations that have been issued and have not ended, the oldest first, without waiting.

    Parameters
    ----------
    most : int
        The number of operations to return at most.

    Returns
    -------
    list of Pending
        Each with its name, the line that issued it, its state and the operation that it waits for.

    Raises
    ------
    ValueError
        If `most` is negative.

    Examples
    --------
    >>> import forerun
    >>> forerun.waitall()
    >>> forerun.pending()
    []
    """
    if most < 0:
        raise ValueError(f"pending: most must not be negative, got {most}")
    return [Pending(*fields) for fields in _core.pending(most)]


def _chain(target: int, found: list[Pending]) -> list[Pending]:
    """Return the operation that is waited for, the one that it waits for, and so on; without a target, the oldest
    ones."""
    by_number = {one.number: one for one in found}
    if target not in by_number:
        return found[:_LINES]
    chain = [by_number[target]]
    while chain[-1].after in by_number and len(chain) < len(found):
        chain.append(by_number[chain[-1].after])
    return chain


def report(what: str, target: int, seconds: float) -> None:
    """Print the operations that a wait is for; called when none has ended for some time."""
    found = pending(_MOST)
    site = _core.current_site()
    where = f" at {site[0]}:{site[1]}" if site else ""
    lines = [f"forerun: no operation has ended for {seconds:.1f} s, during a wait ({what}){where} for"]
    chain = _chain(target, found)
    cut = chain if len(chain) <= _LINES else [*chain[: _LINES // 2], *chain[-_LINES // 2 :]]
    lines += [f"  {one}" for one in cut]
    if len(chain) > len(cut):
        lines.insert(1 + _LINES // 2, f"  ... {len(chain) - len(cut)} operations between ...")
    lines.append(f"  {len(found)} operations have not ended; forerun.pending() lists them")
    say("warning", "%s", "\n".join(lines))
    print("\n".join(lines), file=sys.stderr, flush=True)
