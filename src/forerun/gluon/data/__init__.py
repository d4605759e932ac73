"""Data sets, and loaders that make batches of them."""

from ..._display.namespaces import dir_of
from . import batchify as batchify
from . import vision as vision
from .dataset import ArrayDataset as ArrayDataset
from .dataset import Dataset as Dataset
from .dataset import SimpleDataset as SimpleDataset
from .loader import DataLoader as DataLoader
from .recordio import RecordFileDataset as RecordFileDataset
from .sampler import BatchSampler as BatchSampler
from .sampler import FilterSampler as FilterSampler
from .sampler import IntervalSampler as IntervalSampler
from .sampler import RandomSampler as RandomSampler
from .sampler import Sampler as Sampler
from .sampler import SequentialSampler as SequentialSampler

__all__ = [
    "ArrayDataset", "batchify", "BatchSampler", "DataLoader", "Dataset", "FilterSampler", "IntervalSampler",
    "RandomSampler", "RecordFileDataset", "Sampler", "SequentialSampler", "SimpleDataset", "vision",
]  # fmt: skip
__dir__ = dir_of(__name__)
