"""Standard networks (ResNet, VGG and others), ready to be trained, in Gluon's names: `vision` has those for images."""

from ..._display.namespaces import dir_of
from . import vision as vision

__all__ = ["vision"]
__dir__ = dir_of(__name__)
