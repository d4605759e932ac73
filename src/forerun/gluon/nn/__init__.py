"""Layers."""

from ..._display.namespaces import dir_of
from .._export.symbol import SymbolBlock as SymbolBlock
from ..block.block import Block as Block
from ..block.hybrid import HybridBlock as HybridBlock
from .activation import ELU as ELU
from .activation import GELU as GELU
from .activation import SELU as SELU
from .activation import LeakyReLU as LeakyReLU
from .activation import PReLU as PReLU
from .activation import SiLU as SiLU
from .activation import Swish as Swish
from .basic import Dense as Dense
from .container import HybridSequential as HybridSequential
from .container import Sequential as Sequential
from .conv import Conv1D as Conv1D
from .conv import Conv1DTranspose as Conv1DTranspose
from .conv import Conv2D as Conv2D
from .conv import Conv2DTranspose as Conv2DTranspose
from .conv import Conv3D as Conv3D
from .conv import Conv3DTranspose as Conv3DTranspose
from .deformable import DeformableConvolution as DeformableConvolution
from .deformable import ModulatedDeformableConvolution as ModulatedDeformableConvolution
from .embedding import Embedding as Embedding
from .function import Activation as Activation
from .function import Dropout as Dropout
from .function import Flatten as Flatten
from .function import HybridLambda as HybridLambda
from .function import Identity as Identity
from .function import Lambda as Lambda
from .group import GroupNorm as GroupNorm
from .group import InstanceNorm as InstanceNorm
from .joining import Concatenate as Concatenate
from .joining import HybridConcatenate as HybridConcatenate
from .norm import BatchNorm as BatchNorm
from .norm import BatchNormReLU as BatchNormReLU
from .norm import LayerNorm as LayerNorm
from .norm import SyncBatchNorm as SyncBatchNorm
from .padding import ReflectionPad2D as ReflectionPad2D
from .pool import AvgPool1D as AvgPool1D
from .pool import AvgPool2D as AvgPool2D
from .pool import AvgPool3D as AvgPool3D
from .pool import GlobalAvgPool1D as GlobalAvgPool1D
from .pool import GlobalAvgPool2D as GlobalAvgPool2D
from .pool import GlobalAvgPool3D as GlobalAvgPool3D
from .pool import GlobalMaxPool1D as GlobalMaxPool1D
from .pool import GlobalMaxPool2D as GlobalMaxPool2D
from .pool import GlobalMaxPool3D as GlobalMaxPool3D
from .pool import MaxPool1D as MaxPool1D
from .pool import MaxPool2D as MaxPool2D
from .pool import MaxPool3D as MaxPool3D
from .shuffle import PixelShuffle1D as PixelShuffle1D
from .shuffle import PixelShuffle2D as PixelShuffle2D
from .shuffle import PixelShuffle3D as PixelShuffle3D

__all__ = [
    "Activation", "AvgPool1D", "AvgPool2D", "AvgPool3D", "BatchNorm", "BatchNormReLU", "Block", "Concatenate",
    "Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "DeformableConvolution",
    "Dense", "Dropout", "ELU", "Embedding", "Flatten", "GELU", "GlobalAvgPool1D", "GlobalAvgPool2D",
    "GlobalAvgPool3D", "GlobalMaxPool1D", "GlobalMaxPool2D", "GlobalMaxPool3D", "GroupNorm", "HybridBlock",
    "HybridConcatenate", "HybridLambda", "HybridSequential", "Identity", "InstanceNorm", "Lambda", "LayerNorm",
    "LeakyReLU", "MaxPool1D", "MaxPool2D", "MaxPool3D", "ModulatedDeformableConvolution", "PixelShuffle1D",
    "PixelShuffle2D", "PixelShuffle3D", "PReLU", "ReflectionPad2D", "SELU", "Sequential", "SiLU", "Swish",
    "SymbolBlock", "SyncBatchNorm",
]  # fmt: skip
__dir__ = dir_of(__name__)
