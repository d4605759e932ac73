"""Layers."""

from ..block import Block as Block
from ..hybrid import HybridBlock as HybridBlock
from .basic import Dense as Dense
from .container import HybridSequential as HybridSequential
from .container import Sequential as Sequential
from .embedding import Embedding as Embedding
from .function import Activation as Activation
from .function import Dropout as Dropout
from .function import Flatten as Flatten
from .function import HybridLambda as HybridLambda
from .function import Identity as Identity
from .function import Lambda as Lambda
from .norm import BatchNorm as BatchNorm
from .norm import LayerNorm as LayerNorm
