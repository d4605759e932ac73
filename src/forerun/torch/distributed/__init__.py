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

from ..._display.namespaces import dir_of
from .collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all_single,
    barrier,
    broadcast,
    reduce,
    reduce_scatter_tensor,
)  # fmt: skip
from .messages import irecv, isend, recv, send
from .process_group import (
    ProcessGroup,
    destroy_process_group,
    get_backend,
    get_group_rank,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
)  # fmt: skip
from .work import ReduceOp, Work

__all__ = [
    "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor", "all_reduce", "all_to_all_single",
    "barrier", "broadcast", "destroy_process_group", "get_backend", "get_group_rank", "get_rank", "get_world_size",
    "init_process_group", "is_available", "is_initialized", "irecv", "isend", "new_group", "recv", "reduce",
    "reduce_scatter_tensor", "send",
]  # fmt: skip
__dir__ = dir_of(__name__)
