"""Programs that several ranks run: operations between them, shards of data, checkpoints, and metrics of all ranks.

`forerun run -n 4 train.py` starts the ranks. Without a launcher there is one rank, and nothing waits.
"""

from __future__ import annotations

from .._display.namespaces import dir_of
from .._launch.link import RankFailed
from ._peers import rank, size
from .checkpoints import Checkpoint, checkpoint, resume
from .collectives import all_to_all, allgather, allreduce, barrier, broadcast, recv, reduce_scatter, send
from .groups import Group
from .metrics import reduce_metric
from .shard import Shard

__all__ = [
    "Checkpoint", "Group", "RankFailed", "Shard", "all_to_all", "allgather", "allreduce", "barrier", "broadcast",
    "checkpoint", "rank", "recv", "reduce_metric", "reduce_scatter", "resume", "send", "size",
]  # fmt: skip
__dir__ = dir_of(__name__)
