"""Data sets and loaders in PyTorch's spelling, over those of gluon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...gluon.data import ArrayDataset
from ...gluon.data import DataLoader as _Loader
from ...gluon.data import Dataset as Dataset

if TYPE_CHECKING:
    from collections.abc import Callable


__all__ = ["Dataset", "TensorDataset", "DataLoader"]


class TensorDataset(ArrayDataset):
    """Tensors side by side: item i holds element i of each. ValueError for different lengths."""


class DataLoader(_Loader):
    """Batches of a data set, made when they are asked for, or by `num_workers` processes ahead, as in gluon.

    shuffle: another order in each epoch. drop_last: no smaller batch at the end. collate_fn: makes a batch of a list
    of examples. pin_memory is accepted and ignored: devices compute on the host's memory.

    >>> from forerun import torch
    >>> data = TensorDataset(torch.arange(5), torch.ones(5, 2))
    >>> [x.tolist() for x, y in DataLoader(data, batch_size=2, drop_last=True)]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[..., Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
    ) -> None:
        last = "discard" if drop_last else "keep"
        super().__init__(dataset, batch_size, shuffle, last_batch=last, batchify_fn=collate_fn, num_workers=num_workers)
