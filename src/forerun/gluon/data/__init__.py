"""Data sets, and loaders that make batches of them."""

from . import vision as vision
from .dataset import ArrayDataset as ArrayDataset
from .dataset import Dataset as Dataset
from .loader import DataLoader as DataLoader
