"""Operations of all ranks, or of those of a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ... import distributed as _dist
from ... import np
from ...distributed.collectives import allreduce_into
from ..grad import no_grad
from .process_group import ProcessGroup, left_out, must_begin
from .work import ReduceOp, Work, work_of

if TYPE_CHECKING:
    from ...typing import Array

__all__ = [
    "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all_single", "barrier", "broadcast", "reduce",
    "reduce_scatter_tensor",
]  # fmt: skip


def all_reduce(
    tensor: Array, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
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
    must_begin("all_reduce")
    if not left_out(group):
        with no_grad():
            allreduce_into(tensor, op.value, group)
    return work_of(async_op, tensor)


def reduce(
    tensor: Array, dst: int, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the sum of all ranks' tensors, or another function of them, into the tensor of one rank.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    dst : int
        The number of the rank whose tensor gets the result; others stay.
    op : ReduceOp, optional
        The function of the ranks' tensors.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> x = torch.ones(2)
    >>> dist.reduce(x, 0)
    >>> x.tolist()
    [1.0, 1.0]
    >>> dist.destroy_process_group()
    """
    must_begin("reduce")
    if not left_out(group):
        with no_grad():
            found = _dist.allreduce(tensor, op.value, group)
            if _dist.rank() == dst:
                tensor[...] = found
    return work_of(async_op, tensor)


def broadcast(tensor: Array, src: int, group: ProcessGroup | None = None, async_op: bool = False) -> Work | None:
    """Put the tensor of one rank into that of all ranks.

    Parameters
    ----------
    tensor : Tensor
        Of the same shape and dtype on all ranks.
    src : int
        The number of the rank.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> x = torch.ones(2)
    >>> dist.broadcast(x, 0)
    >>> x.tolist()
    [1.0, 1.0]
    >>> dist.destroy_process_group()
    """
    must_begin("broadcast")
    if not left_out(group):
        with no_grad():
            tensor[...] = _dist.broadcast(tensor, src, group)
    return work_of(async_op, tensor)


def all_gather(
    tensor_list: list[Any], tensor: Array, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the tensors of all ranks into those of a list.

    Parameters
    ----------
    tensor_list : list of Tensors
        A tensor for each rank, which get the values.
    tensor : Tensor
        This rank's tensor, of the same shape and dtype on all ranks.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.
    ValueError
        If the list has another length than there are ranks.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> found = [torch.zeros(2)]
    >>> dist.all_gather(found, torch.ones(2))
    >>> found[0].tolist()
    [1.0, 1.0]
    >>> dist.destroy_process_group()
    """
    must_begin("all_gather")
    if not left_out(group):
        with no_grad():
            for each, found in zip(tensor_list, _dist.allgather(tensor, group), strict=True):
                each[...] = found
    return work_of(async_op, *tensor_list)


def all_gather_into_tensor(
    output_tensor: Array, input_tensor: Array, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put the tensors of all ranks into one, concatenated or stacked, by its shape.

    Parameters
    ----------
    output_tensor : Tensor
        Gets the values: as many as all ranks have together.
    input_tensor : Tensor
        This rank's tensor, of the same shape and dtype on all ranks.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.
    ValueError
        If the output has another number of elements.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> found = torch.zeros(1, 2)
    >>> dist.all_gather_into_tensor(found, torch.ones(2))
    >>> found.tolist()
    [[1.0, 1.0]]
    >>> dist.destroy_process_group()
    """
    must_begin("all_gather_into_tensor")
    if not left_out(group):
        with no_grad():
            output_tensor[...] = _dist.allgather(input_tensor, group).reshape(output_tensor.shape)
    return work_of(async_op, output_tensor)


def reduce_scatter_tensor(
    output: Array, input: Array, op: ReduceOp = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Put this rank's part of the sum of all ranks' tensors, or of another function, into a tensor.

    Parameters
    ----------
    output : Tensor
        Gets the part.
    input : Tensor
        The parts for all ranks along the first axis, of the same shape and dtype on all ranks.
    op : ReduceOp, optional
        The function of the ranks' tensors.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> found = torch.zeros(2)
    >>> dist.reduce_scatter_tensor(found, torch.ones(2))
    >>> found.tolist()
    [1.0, 1.0]
    >>> dist.destroy_process_group()
    """
    must_begin("reduce_scatter_tensor")
    if not left_out(group):
        with no_grad():
            output[...] = _dist.reduce_scatter(input, op.value, group).reshape(output.shape)
    return work_of(async_op, output)


def all_to_all_single(
    output: Array, input: Array, output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None, async_op: bool = False,
) -> Work | None:  # fmt: skip
    """Give each rank its part of a tensor, and put the parts of all ranks for this one into another.

    Parameters
    ----------
    output : Tensor
        Gets the parts, one after the other.
    input : Tensor
        The parts, one after the other along the first axis.
    output_split_sizes : None, optional
        Must be None: the parts are equal.
    input_split_sizes : None, optional
        Must be None.
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        Whether to return a `Work`. The call returns at once in any case.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        Where the result is read: another rank has failed, or does something else.
    NotImplementedError
        For sizes of parts.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> found = torch.zeros(2)
    >>> dist.all_to_all_single(found, torch.ones(2))
    >>> found.tolist()
    [1.0, 1.0]
    >>> dist.destroy_process_group()
    """
    must_begin("all_to_all_single")
    if output_split_sizes is not None or input_split_sizes is not None:
        raise NotImplementedError("all_to_all_single: parts must be equal, got split sizes")
    if not left_out(group):
        with no_grad():
            output[...] = _dist.all_to_all(input, group)
    return work_of(async_op, output)


def barrier(
    group: ProcessGroup | None = None, async_op: bool = False, device_ids: Sequence[int] | None = None
) -> Work | None:
    """Wait until all ranks have called it.

    Parameters
    ----------
    group : ProcessGroup, optional
        The ranks that take part; None for all.
    async_op : bool, optional
        True lets later operations between ranks wait for it, and not the call.
    device_ids : object, optional
        Has no effect.

    Returns
    -------
    Work or None
        With `async_op` an object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    RankFailed
        If another rank has failed, or does something else.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.barrier()
    >>> dist.destroy_process_group()
    """
    must_begin("barrier")
    came = np.zeros(1)
    if not left_out(group):
        with no_grad():
            allreduce_into(came, "sum", group)
        if not async_op:
            came.wait()
    return work_of(async_op, came)
