"""Where MXNet 1.x keeps some of the layers, and 2.0 loaders of images with their transforms."""

from . import cnn as cnn
from . import data as data
from . import nn as nn
from . import rnn as rnn
