"""Whether operations between ranks are in use, and the ranks that take part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import distributed as _dist
from ...distributed import Group as ProcessGroup

if TYPE_CHECKING:
    from datetime import timedelta

__all__ = [
    "ProcessGroup", "destroy_process_group", "get_backend", "get_group_rank", "get_rank", "get_world_size",
    "init_process_group", "is_available", "is_initialized", "left_out", "must_begin", "new_group",
]  # fmt: skip

_BACKENDS = ("mpi", "gloo", "nccl")
_begun = False


def is_available() -> bool:
    """Return True: operations between ranks can be used.

    Returns
    -------
    bool
        True.

    Examples
    --------
    >>> import forerun.torch.distributed as dist
    >>> dist.is_available()
    True
    """
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` was called, and `destroy_process_group` not since.

    Returns
    -------
    bool
        Whether operations between ranks can be issued.

    Examples
    --------
    >>> import forerun.torch.distributed as dist
    >>> dist.is_initialized()
    False
    """
    return _begun


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: timedelta | float | None = None,
    world_size: int = -1,
    rank: int = -1, store: object = None, group_name: str = "", pg_options: object = None, device_id: object = None,
) -> None:  # fmt: skip
    """Begin to use operations between ranks. The number of this rank is the launcher's.

    Parameters
    ----------
    backend : {"mpi", "gloo", "nccl"}, optional
        MPI carries the values, whichever is named.
    world_size, rank : int
        Checked, if given, against the launcher's values.
    init_method, store : optional
        Not needed: ranks find each other by MPI. As in PyTorch, only one of them may be given.
    timeout : optional
        Has no effect: an operation waits as long as the other ranks live, and a rank that fails or freezes is noticed.
    group_name, pg_options : optional
        Have no effect: they are for PyTorch's own backends.
    device_id : optional
        Has no effect: operations run where their tensors are.

    Raises
    ------
    ValueError
        Another backend, ranks that the launcher has not started, or both a store and an `init_method`.
    RuntimeError
        It was called before.
    TypeError
        An argument has a name that PyTorch's function does not have.

    Examples
    --------
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group("gloo")
    >>> dist.is_initialized()
    True
    >>> dist.destroy_process_group()
    """
    global _begun
    _check_backend("init_process_group", backend)
    if init_method is not None and store is not None:
        raise ValueError(
            f"init_process_group: init_method or store must be given, or none of them, got both ({init_method!r})"
        )
    for name, given, launched in (("world_size", world_size, _dist.size()), ("rank", rank, _dist.rank())):
        if given not in (-1, launched):
            raise ValueError(
                f"init_process_group: {name} must be the launcher's, {launched}, got {given}; "
                f"start ranks by `forerun run -n`"
            )
    if _begun:
        raise RuntimeError("init_process_group: must be called once, got a second call")
    _begun = True


def _check_backend(op: str, backend: str | None) -> None:
    if backend is not None and not set(backend.replace("cpu:", "").replace("cuda:", "").split(",")) <= set(_BACKENDS):
        raise ValueError(f"{op}: backend must be one of {', '.join(_BACKENDS)}, got {backend!r}")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End the use of operations between ranks, or of a group. Pending operations continue.

    Parameters
    ----------
    group : ProcessGroup, optional
        Only this group.

    Examples
    --------
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.destroy_process_group()
    >>> dist.is_initialized()
    False
    """
    global _begun
    if group is None:
        _begun = False


def must_begin(op: str) -> None:
    """Raise RuntimeError if `init_process_group` was not called."""
    if not _begun:
        raise RuntimeError(f"{op}: init_process_group must be called first, got no process group")


def get_backend(group: ProcessGroup | None = None) -> str:
    """Return the library that carries the values.

    Parameters
    ----------
    group : ProcessGroup, optional
        Has no effect.

    Returns
    -------
    str
        "mpi".

    Raises
    ------
    RuntimeError
        Before `init_process_group`.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.get_backend()
    'mpi'
    >>> dist.destroy_process_group()
    """
    must_begin("get_backend")
    return "mpi"


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the number of this rank.

    Parameters
    ----------
    group : ProcessGroup, optional
        A group, to get the place in it.

    Returns
    -------
    int
        From 0; -1 if the rank is not in the group.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.get_rank()
    0
    >>> dist.destroy_process_group()
    """
    must_begin("get_rank")
    return _dist.rank() if group is None else group.rank


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of ranks.

    Parameters
    ----------
    group : ProcessGroup, optional
        A group, to count its ranks.

    Returns
    -------
    int
        From 1; -1 if this rank is not in the group.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.get_world_size()
    1
    >>> dist.destroy_process_group()
    """
    must_begin("get_world_size")
    return _dist.size() if group is None else group.size if group.rank >= 0 else -1


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the place of a rank in a group.

    Parameters
    ----------
    group : ProcessGroup
        The group.
    global_rank : int
        The number of the rank.

    Returns
    -------
    int
        From 0.

    Raises
    ------
    ValueError
        If the rank is not in the group.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.get_group_rank(dist.new_group([0]), 0)
    0
    >>> dist.destroy_process_group()
    """
    if global_rank not in group.ranks:
        raise ValueError(f"get_group_rank: rank must be one of {list(group.ranks)}, got {global_rank}")
    return group.ranks.index(global_rank)


def new_group(
    ranks: Sequence[int] | None = None, timeout: timedelta | float | None = None, backend: str | None = None,
    pg_options: object = None,
    use_local_synchronization: bool = False, group_desc: str | None = None, device_id: object = None,
) -> ProcessGroup:  # fmt: skip
    """Return a group of some ranks. All ranks call it, in the same order.

    Parameters
    ----------
    ranks : sequence of int, optional
        Their numbers; all by default.
    backend : {"mpi", "gloo", "nccl"}, optional
        MPI carries the values, whichever is named.
    timeout, pg_options, group_desc, device_id : optional
        Have no effect, as for `init_process_group`.
    use_local_synchronization : bool
        Has no effect: only the ranks of the group wait for each other in any case.

    Returns
    -------
    ProcessGroup

    Raises
    ------
    ValueError
        Another backend, or numbers that are not those of ranks.
    TypeError
        An argument has a name that PyTorch's function does not have.

    Examples
    --------
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.get_world_size(dist.new_group([0]))
    1
    >>> dist.destroy_process_group()
    """
    must_begin("new_group")
    _check_backend("new_group", backend)
    return ProcessGroup(range(_dist.size()) if ranks is None else ranks)


def left_out(group: ProcessGroup | None) -> bool:
    """Return whether this rank is not in a group: PyTorch's calls do nothing then."""
    return group is not None and group.rank < 0
