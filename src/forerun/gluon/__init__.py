"""Neural networks in MXNet's spelling: blocks with parameters, losses, and a trainer."""

import sys

from .. import metric as metric
from .._display.namespaces import dir_of
from . import contrib as contrib
from . import data as data
from . import loss as loss
from . import model_zoo as model_zoo
from . import nn as nn
from . import rnn as rnn
from . import utils as utils
from ._export.symbol import SymbolBlock as SymbolBlock
from .block.block import Block as Block
from .block.hybrid import HybridBlock as HybridBlock
from .parameter.constant import Constant as Constant
from .parameter.deferred import DeferredInitializationError as DeferredInitializationError
from .parameter.deferred import UninitializedError as UninitializedError
from .parameter.dictionary import ParameterDict as ParameterDict
from .parameter.parameter import Parameter as Parameter
from .trainer import Trainer as Trainer

sys.modules[f"{__name__}.metric"] = metric  # its place in MXNet 2.0; 1.x has it at the top

__all__ = [
    "Block", "Constant", "DeferredInitializationError", "HybridBlock", "Parameter", "ParameterDict", "SymbolBlock",
    "Trainer", "UninitializedError", "contrib", "data", "loss", "metric", "model_zoo", "nn", "rnn", "utils",
]  # fmt: skip
__dir__ = dir_of(__name__)
