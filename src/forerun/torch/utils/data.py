"""Data sets and loaders in PyTorch's spelling, over those of gluon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._display.namespaces import dir_of
from ...gluon.data import ArrayDataset
from ...gluon.data import DataLoader as _Loader
from ...gluon.data import Dataset as Dataset

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...gluon.data.sampler import Examples


__all__ = ["Dataset", "TensorDataset", "DataLoader"]
__dir__ = dir_of(__name__)


class TensorDataset(ArrayDataset):
    """Tensors side by side: example i holds element i of each.

    Parameters
    ----------
    *arrays : Tensor
        The tensors, all of the same length.

    Raises
    ------
    ValueError
        For tensors of different lengths.

    Examples
    --------
    >>> from forerun import torch
    >>> data = TensorDataset(torch.arange(5), torch.ones(5, 2))
    >>> len(data), [x.tolist() for x in data[3]]
    (5, [3, [1.0, 1.0]])
    """


class DataLoader(_Loader):
    """Batches of a data set, in order or shuffled, made when they are asked for, or ahead by processes.

    Parameters
    ----------
    dataset : Dataset
        The examples: it has a length and is indexed by numbers.
    batch_size : int, optional
        Examples of a batch.
    shuffle : bool, optional
        Whether each epoch has another random order.
    num_workers : int, optional
        The number of processes that make batches ahead; 0 for the calling thread alone.
    collate_fn : callable, optional
        Makes a batch of a list of examples; by default tensors are stacked.
    pin_memory : bool, optional
        Has no effect.
    drop_last : bool, optional
        Whether a smaller batch at the end is left out.

    Examples
    --------
    >>> from forerun import torch
    >>> data = TensorDataset(torch.arange(5), torch.ones(5, 2))
    >>> [x.tolist() for x, y in DataLoader(data, batch_size=2, drop_last=True)]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        dataset: Examples,
        batch_size: int = 1,
        shuffle: bool = False,
        num_workers: int = 0,
        collate_fn: Callable[..., Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
    ) -> None:
        last = "discard" if drop_last else "keep"
        super().__init__(dataset, batch_size, shuffle, last_batch=last, batchify_fn=collate_fn, num_workers=num_workers)
