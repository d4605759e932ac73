"""Layers of `gluon.nn` that MXNet 1.x keeps in `gluon.contrib.cnn`."""

from ..nn import DeformableConvolution as DeformableConvolution
from ..nn import ModulatedDeformableConvolution as ModulatedDeformableConvolution

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]
