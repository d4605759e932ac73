"""Modules, layers, losses, and functions of neural networks, in PyTorch's spelling."""

from . import functional as functional
from . import init as init
from . import parallel as parallel
from . import utils as utils
from .activations import *  # noqa: F403
from .layers import *  # noqa: F403
from .losses import *  # noqa: F403
from .module import Module as Module
from .module import Parameter as Parameter
