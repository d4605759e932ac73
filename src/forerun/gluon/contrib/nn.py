"""Layers of `gluon.nn` by their names in MXNet 1.x's `gluon.contrib.nn`."""

from ..nn import Concatenate as Concurrent
from ..nn import HybridConcatenate as HybridConcurrent
from ..nn import Identity as Identity
from ..nn import PixelShuffle1D as PixelShuffle1D
from ..nn import PixelShuffle2D as PixelShuffle2D
from ..nn import PixelShuffle3D as PixelShuffle3D
from ..nn import SyncBatchNorm as SyncBatchNorm

__all__ = [
    "Concurrent", "HybridConcurrent", "Identity", "PixelShuffle1D", "PixelShuffle2D", "PixelShuffle3D",
    "SyncBatchNorm",
]  # fmt: skip
