"""Where MXNet 1.x keeps some of the layers."""

from . import cnn as cnn
from . import nn as nn
from . import rnn as rnn
