"""Standard networks (ResNet, VGG and others), ready to be trained, in Gluon's names: `vision` has those for images."""

from . import vision as vision
