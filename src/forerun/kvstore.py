"""MXNet's stores, as far as they say where gradients are summed: over the devices of a process, or over ranks as well.

There are no servers: sums over ranks are operations between these (`forerun.distributed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import distributed as _dist
from ._display.namespaces import dir_of

if TYPE_CHECKING:
    from .typing import Array

__all__ = ["KVStore", "create"]
__dir__ = dir_of(__name__)

# MXNet has two spellings of the last.
_OVER_DEVICES, _OVER_RANKS = ("local", "device"), ("dist", "dist_sync", "dist_sync_device", "dist_device_sync")


class KVStore:
    """Where gradients are summed, as `create` returns it. `gluon.Trainer(params, optimizer, kvstore=kv)` uses it.

    Parameters
    ----------
    name : str
        As for `create`.

    Examples
    --------
    >>> from forerun import kvstore
    >>> kv = kvstore.KVStore("dist_sync")
    >>> kv.type, kv.rank, kv.num_workers      # without a launcher
    ('dist_sync', 0, 1)
    """

    def __init__(self, name: str = "local") -> None:
        if name not in (*_OVER_DEVICES, *_OVER_RANKS):
            raise ValueError(f"kvstore: must be one of {', '.join((*_OVER_DEVICES, *_OVER_RANKS))}, got {_why(name)}")
        self._name = name

    @property
    def type(self) -> str:
        """The name by which it was made."""
        return self._name

    @property
    def over_ranks(self) -> bool:
        """Whether gradients are summed over ranks, too."""
        return self.type in _OVER_RANKS

    @property
    def balanced(self) -> bool:
        """Whether the devices of a process share the sums and updates, by size."""
        return "device" in self.type

    @property
    def rank(self) -> int:
        """The number of this rank, from 0; 0 for a store that is not over ranks."""
        return _dist.rank() if self.over_ranks else 0

    @property
    def num_workers(self) -> int:
        """The number of ranks; 1 for a store that is not over ranks."""
        return _dist.size() if self.over_ranks else 1

    def broadcast(
        self,
        key: int | str | Sequence[int | str],
        value: Array | Sequence[Array],
        out: Array | Sequence[Array],
        priority: int = 0,
    ) -> None:
        """Copy rank 0's value of the first array into arrays, on all devices and ranks.

        Parameters
        ----------
        key : str or int
            A name, which is ignored: operations are in program order.
        value : array or list of arrays
            An array, or one per device, of which the first counts.
        out : array or list of arrays
            Get the value.
        priority : int
            Ignored.

        Examples
        --------
        >>> from forerun import kvstore, np
        >>> out = np.zeros(2)
        >>> kvstore.create("dist_sync").broadcast("w", np.ones(2), out)
        >>> out.tolist()
        [1.0, 1.0]
        """
        first = _listed(value)[0]
        found = _dist.broadcast(first) if self.over_ranks else first
        for each in _listed(out):
            each[...] = found.to_device(each.device)

    def pushpull(
        self,
        key: int | str | Sequence[int | str],
        value: Array | Sequence[Array],
        out: Array | Sequence[Array] | None = None,
        priority: int = 0,
    ) -> None:
        """Copy the sum of arrays, over devices and ranks, into arrays.

        Parameters
        ----------
        key : str or int
            A name, which is ignored: operations are in program order.
        value : array or list of arrays
            An array, or one per device.
        out : array or list of arrays, optional
            Get the sum; by default those of `value`.
        priority : int
            Ignored.

        Examples
        --------
        >>> from forerun import kvstore, np
        >>> parts = [np.ones(2), np.ones(2)]
        >>> kvstore.create("dist_sync").pushpull("w", parts)
        >>> parts[0].tolist()
        [2.0, 2.0]
        """
        first, *others = _listed(value)
        found = sum((each.to_device(first.device) for each in others), first)
        if self.over_ranks:
            found = _dist.allreduce(found)
        for each in _listed(value if out is None else out):
            each[...] = found.to_device(each.device)

    def barrier(self) -> None:
        """Let later operations between ranks begin when all ranks have issued it.

        Examples
        --------
        >>> from forerun import kvstore
        >>> kvstore.create("dist_sync").barrier()
        """
        if self.over_ranks:
            _dist.barrier()


def _why(name: object) -> str:
    if isinstance(name, str) and "async" in name:
        return f"{name!r}: ranks would compute gradients of parameters that others have changed; there is dist_sync"
    return repr(name)


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, (list, tuple)) else [value]


def create(name: str = "local") -> KVStore:
    """Return a store by its name.

    Parameters
    ----------
    name : {"local", "device", "dist_sync", "dist_sync_device"}
        "local": gradients are summed over the devices of this process, on the first; "device": each on one of the
        devices, by size. "dist_sync", "dist_sync_device": then over the ranks. "dist" is short for the former, and
        "dist_device_sync" means the latter.

    Returns
    -------
    KVStore
        Has `rank` and `num_workers`.

    Raises
    ------
    ValueError
        Another name; "dist_async" among these.

    Examples
    --------
    >>> from forerun import kvstore
    >>> kvstore.create("dist_sync").num_workers
    1
    """
    return KVStore(name)
