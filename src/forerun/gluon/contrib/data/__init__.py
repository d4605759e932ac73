"""Loaders of images, and an order of examples that MXNet 1.x keeps here."""

from ...data.sampler import IntervalSampler as IntervalSampler
from . import vision as vision
