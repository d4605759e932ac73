"""`torch.distributed`: PyTorch's spelling of operations between ranks, in place, over `forerun.distributed`.

Ranks are started by `forerun run -n 4 train.py`, `mpiexec` or `srun`. Every call returns at once, as with
`async_op=True`: tensors that are used later wait for it by themselves.

>>> from forerun import torch
>>> import forerun.torch.distributed as dist
>>> dist.init_process_group("mpi")
>>> dist.get_rank(), dist.get_world_size()
(0, 1)
>>> x = torch.ones(2)
>>> dist.all_reduce(x)
>>> x.tolist()
[1.0, 1.0]
>>> dist.destroy_process_group()
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from .. import distributed as _dist
from .. import np
from ..distributed import Group as ProcessGroup
from ..distributed.collectives import allreduce_into
from .grad import no_grad

__all__ = [
    "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all_single",
    "barrier", "broadcast", "destroy_process_group", "get_backend", "get_group_rank", "get_rank", "get_world_size",
    "init_process_group", "is_available", "is_initialized", "irecv", "isend", "new_group", "recv", "reduce",
    "reduce_scatter_tensor", "send",
]  # fmt: skip

_BACKENDS = ("mpi", "gloo", "nccl")
_begun = False


class ReduceOp(Enum):
    """The function of the ranks' tensors.

    >>> from forerun.torch.distributed import ReduceOp
    >>> ReduceOp.SUM.value
    'sum'
    """

    SUM = "sum"
    AVG = "mean"
    MAX = "max"
    MIN = "min"


class Work:
    """An operation with `async_op=True`: it may be waited for, and need not.

    >>> from forerun import torch
    >>> x = torch.ones(2)
    >>> Work(x).wait()
    True
    """

    def __init__(self, *results: Any) -> None:
        self._results = results

    def wait(self, timeout: Any = None) -> bool:
        """Wait until the result is computed; raises RankFailed if another rank has failed."""
        for x in self._results:
            x.wait()
        return True

    def is_completed(self) -> bool:
        """Return whether the result is computed."""
        return all(x.ready for x in self._results)


def is_available() -> bool:
    """Return True: the calls exist."""
    return True


def is_initialized() -> bool:
    """Return whether `init_process_group` was called, and `destroy_process_group` not since."""
    return _begun


def init_process_group(
    backend: str | None = None, init_method: str | None = None, timeout: Any = None, world_size: int = -1,
    rank: int = -1, store: Any = None, group_name: str = "", pg_options: Any = None, device_id: Any = None,
) -> None:  # fmt: skip
    """Begin to use operations between ranks. The launcher has said which rank this is.

    Parameters
    ----------
    backend : {"mpi", "gloo", "nccl"}, optional
        MPI carries the values, whichever is named.
    world_size, rank : int
        Checked, if given, against what the launcher says.
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
    for name, given, said in (("world_size", world_size, _dist.size()), ("rank", rank, _dist.rank())):
        if given not in (-1, said):
            raise ValueError(
                f"init_process_group: {name} must be the launcher's, {said}, got {given}; "
                f"start ranks by `forerun run -n`"
            )
    if _begun:
        raise RuntimeError("init_process_group: must be called once, got a second call")
    _begun = True


def _check_backend(op: str, backend: str | None) -> None:
    if backend is not None and not set(backend.replace("cpu:", "").replace("cuda:", "").split(",")) <= set(_BACKENDS):
        raise ValueError(f"{op}: backend must be one of {', '.join(_BACKENDS)}, got {backend!r}")


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """End the use of operations between ranks, or of a group. Operations that were issued go on.

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


def _must_begin(op: str) -> None:
    if not _begun:
        raise RuntimeError(f"{op}: init_process_group must be called first, got no process group")


def get_backend(group: ProcessGroup | None = None) -> str:
    """Return "mpi"."""
    _must_begin("get_backend")
    return "mpi"


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the number of this rank, or its place in a group: -1 if it is not in it."""
    _must_begin("get_rank")
    return _dist.rank() if group is None else group.rank


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return the number of ranks, or of those of a group; -1 if this rank is not in it."""
    _must_begin("get_world_size")
    return _dist.size() if group is None else group.size if group.rank >= 0 else -1


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the place of a rank in a group. Raises ValueError if it is not in it."""
    return group.ranks.index(global_rank)


def new_group(
    ranks: Sequence[int] | None = None, timeout: Any = None, backend: str | None = None, pg_options: Any = None,
    use_local_synchronization: bool = False, group_desc: str | None = None, device_id: Any = None,
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
    _must_begin("new_group")
    _check_backend("new_group", backend)
    return ProcessGroup(range(_dist.size()) if ranks is None else ranks)


def _left_out(group: ProcessGroup | None) -> bool:
    """Whether this rank is not in a group: PyTorch's calls do nothing then."""
    return group is not None and group.rank < 0


def _ended(async_op: bool, *results: Any) -> Work | None:
    return Work(*results) if async_op else None


def all_reduce(
    tensor: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the sum of all ranks' tensors, or another function of them, into the tensor.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks; gets the result.
    op : ReduceOp
        The function.
    group : ProcessGroup, optional
        The ranks that take part.
    async_op : bool
        Return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None

    Raises
    ------
    RankFailed
        Where the tensor is read: another rank has failed, or does something else.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> x = torch.ones(2)
    >>> dist.all_reduce(x, async_op=True).wait()
    True
    >>> dist.destroy_process_group()
    """
    _must_begin("all_reduce")
    if not _left_out(group):
        with no_grad():
            allreduce_into(tensor, op.value, group)
    return _ended(async_op, tensor)


def reduce(
    tensor: Any, dst: int, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the sum of all ranks' tensors, or another function, into the tensor of rank `dst`; others stay."""
    _must_begin("reduce")
    if not _left_out(group):
        with no_grad():
            found = _dist.allreduce(tensor, op.value, group)
            if _dist.rank() == dst:
                tensor[...] = found
    return _ended(async_op, tensor)


def broadcast(tensor: Any, src: int, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Put the tensor of rank `src` into that of all ranks."""
    _must_begin("broadcast")
    if not _left_out(group):
        with no_grad():
            tensor[...] = _dist.broadcast(tensor, src, group)
    return _ended(async_op, tensor)


def all_gather(
    tensor_list: list[Any], tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the tensors of all ranks into those of a list, one per rank."""
    _must_begin("all_gather")
    if not _left_out(group):
        with no_grad():
            for each, found in zip(tensor_list, _dist.allgather(tensor, group), strict=True):
                each[...] = found
    return _ended(async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the tensors of all ranks into one, behind each other or stacked, as its shape says."""
    _must_begin("all_gather_into_tensor")
    if not _left_out(group):
        with no_grad():
            output_tensor[...] = _dist.allgather(input_tensor, group).reshape(output_tensor.shape)
    return _ended(async_op, output_tensor)


def reduce_scatter_tensor(
    output: Any, input: Any, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put this rank's part of the sum of all ranks' tensors, or of another function, into `output`."""
    _must_begin("reduce_scatter_tensor")
    if not _left_out(group):
        with no_grad():
            output[...] = _dist.reduce_scatter(input, op.value, group).reshape(output.shape)
    return _ended(async_op, output)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None,
    group: ProcessGroup | None = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Give each rank its part of `input`; the parts of all ranks for this one come into `output`. Equal parts only."""
    _must_begin("all_to_all_single")
    if output_split_sizes is not None or input_split_sizes is not None:
        raise NotImplementedError("all_to_all_single: parts must be equal, got split sizes")
    if not _left_out(group):
        with no_grad():
            output[...] = _dist.all_to_all(input, group)
    return _ended(async_op, output)


def send(tensor: Any, dst: int) -> None:
    """Send a tensor to another rank, which must call `recv`."""
    _must_begin("send")
    _dist.send(tensor, dst)


def recv(tensor: Any, src: int) -> int:
    """Put what rank `src` sends into the tensor; return `src`."""
    _must_begin("recv")
    with no_grad():
        tensor[...] = _dist.recv(tensor.shape, tensor.dtype, src)
    return src


def isend(tensor: Any, dst: int) -> Work:
    """Send a tensor, as `send`; the result need not be waited for."""
    send(tensor, dst)
    return Work()


def irecv(tensor: Any, src: int) -> Work:
    """Put what rank `src` sends into the tensor, as `recv`; return what may be waited for."""
    recv(tensor, src)
    return Work(tensor)


def barrier(group: ProcessGroup | None = None, async_op: bool = False, device_ids: Any = None) -> Work | None:
    """Wait until all ranks have come here; with `async_op=True`, let later operations between ranks wait for it."""
    _must_begin("barrier")
    came = np.zeros(1)
    if not _left_out(group):
        with no_grad():
            allreduce_into(came, "sum", group)
        if not async_op:
            came.wait()
    return _ended(async_op, came)
