"""Where MXNet 1.x keeps some of the layers, and 2.0 loaders of images with their transforms."""

from ..._display.namespaces import dir_of
from . import cnn as cnn
from . import data as data
from . import nn as nn
from . import rnn as rnn

__all__ = ["cnn", "data", "nn", "rnn"]
__dir__ = dir_of(__name__)
