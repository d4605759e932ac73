"""The names of `torch.utils`: data sets and loaders."""

from . import data as data
