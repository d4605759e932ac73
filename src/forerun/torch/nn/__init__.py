"""Modules, layers, losses, and functions of neural networks, in PyTorch's spelling."""

# ruff: noqa: F403, F405  # the modules below list their names themselves

from ..._display.namespaces import dir_of
from . import functional as functional
from . import init as init
from . import parallel as parallel
from . import utils as utils
from .activations import *
from .layers import *
from .losses import *
from .module import Module as Module
from .module import Parameter as Parameter

__all__ = [
    "BCEWithLogitsLoss", "CrossEntropyLoss", "Dropout", "Embedding", "Flatten", "functional", "GELU", "Identity",
    "init", "L1Loss", "LayerNorm", "LazyLinear", "LeakyReLU", "Linear", "LogSoftmax", "Module", "ModuleList",
    "MSELoss", "NLLLoss", "parallel", "Parameter", "ReLU", "Sequential", "Sigmoid", "SiLU", "SmoothL1Loss",
    "Softmax", "Softplus", "Tanh", "utils",
]  # fmt: skip
__dir__ = dir_of(__name__)
