"""Programs that several ranks run: shards of data, checkpoints, and metrics of all ranks.

`forerun run -n 4 train.py` starts the ranks. Without a launcher there is one rank, and nothing waits.
"""

from __future__ import annotations

from .._launch.link import RankFailed
from .checkpoint import Checkpoint, checkpoint, resume
from .metrics import reduce_metric
from .shard import Shard

__all__ = ["Shard", "Checkpoint", "checkpoint", "resume", "reduce_metric", "RankFailed"]
