"""Loaders of images, and an order of examples that MXNet 1.x keeps here."""

from ...._display.namespaces import dir_of
from ...data.sampler import IntervalSampler as IntervalSampler
from . import vision as vision

__all__ = ["IntervalSampler", "vision"]
__dir__ = dir_of(__name__)
