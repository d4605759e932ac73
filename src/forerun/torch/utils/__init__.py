"""What `torch.utils` holds: data sets and loaders."""

from . import data as data
