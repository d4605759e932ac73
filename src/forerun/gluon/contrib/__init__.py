"""Where MXNet 1.x keeps some of the layers."""

from . import nn as nn
from . import rnn as rnn
