"""Tensors from one rank to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import distributed as _dist
from ..grad import no_grad
from .process_group import must_begin
from .work import Work

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["irecv", "isend", "recv", "send"]


def send(tensor: Array, dst: int) -> None:
    """Send a tensor to another rank, which must call `recv`.

    Parameters
    ----------
    tensor : Tensor
        The values.
    dst : int
        The number of the other rank.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    ValueError
        If there is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.send(torch.ones(2), 1)  # doctest: +SKIP
    >>> dist.destroy_process_group()
    """
    must_begin("send")
    _dist.send(tensor, dst)


def recv(tensor: Array, src: int) -> int:
    """Put the tensor that another rank sends into a tensor.

    Parameters
    ----------
    tensor : Tensor
        Gets the values, of its shape and dtype.
    src : int
        The number of the other rank.

    Returns
    -------
    int
        `src`.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    ValueError
        If there is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.recv(torch.zeros(2), 1)  # doctest: +SKIP
    1
    >>> dist.destroy_process_group()
    """
    must_begin("recv")
    with no_grad():
        tensor[...] = _dist.recv(tensor.shape, tensor.dtype, src)
    return src


def isend(tensor: Array, dst: int) -> Work:
    """Send a tensor to another rank, as `send` does.

    Parameters
    ----------
    tensor : Tensor
        The values.
    dst : int
        The number of the other rank.

    Returns
    -------
    Work
        An object that need not be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    ValueError
        If there is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> work = dist.isend(torch.ones(2), 1)  # doctest: +SKIP
    >>> dist.destroy_process_group()
    """
    send(tensor, dst)
    return Work()


def irecv(tensor: Array, src: int) -> Work:
    """Put the tensor that another rank sends into a tensor, as `recv` does.

    Parameters
    ----------
    tensor : Tensor
        Gets the values, of its shape and dtype.
    src : int
        The number of the other rank.

    Returns
    -------
    Work
        An object that can be waited for.

    Raises
    ------
    RuntimeError
        Before `init_process_group`.
    ValueError
        If there is no such rank, or it is this one.

    Examples
    --------
    >>> from forerun import torch
    >>> import forerun.torch.distributed as dist
    >>> dist.init_process_group()
    >>> dist.irecv(torch.zeros(2), 1).wait()  # doctest: +SKIP
    True
    >>> dist.destroy_process_group()
    """
    recv(tensor, src)
    return Work(tensor)
