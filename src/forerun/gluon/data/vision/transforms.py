"""Transforms of images (height, width, channels), as blocks. Random ones draw anew for each image.

An image of forerun gives one of forerun, by operations, without waiting. NumPy's gives NumPy's, immediately: that is
faster for single small images, and the data sets of `vision` give NumPy's images to these transforms.

>>> from forerun import np
>>> both = Compose([ToTensor(), Normalize(0.5, 0.5)])
>>> both(np.zeros((2, 2, 1), dtype="uint8")).tolist()
[[[-1.0, -1.0], [-1.0, -1.0]]]
"""

# ruff: noqa: F403, F405  # the modules below list their names themselves

from ...._display.namespaces import dir_of
from .colour import *
from .geometry import *
from .transform import Cast as Cast
from .transform import Compose as Compose
from .transform import HybridCompose as HybridCompose
from .transform import HybridRandomApply as HybridRandomApply
from .transform import RandomApply as RandomApply
from .transform import Transform as Transform

__all__ = [
    "Cast", "CenterCrop", "Compose", "CropResize", "HybridCompose", "HybridRandomApply", "Normalize",
    "RandomApply", "RandomBrightness", "RandomColorJitter", "RandomContrast", "RandomCrop", "RandomFlipLeftRight",
    "RandomFlipTopBottom", "RandomGray", "RandomHue", "RandomLighting", "RandomResizedCrop", "RandomRotation",
    "RandomSaturation", "Resize", "Rotate", "ToTensor", "Transform",
]  # fmt: skip
__dir__ = dir_of(__name__)
