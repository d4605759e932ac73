"""The names of `torch.utils`: data sets and loaders."""

from ..._display.namespaces import dir_of
from . import data as data

__all__ = ["data"]
__dir__ = dir_of(__name__)
