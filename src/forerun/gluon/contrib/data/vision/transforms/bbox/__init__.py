"""Transforms of an image together with its boxes, and functions of boxes alone (`utils`)."""

from ......._display.namespaces import dir_of
from . import utils as utils
from .both import ImageBboxCrop as ImageBboxCrop
from .both import ImageBboxRandomCropWithConstraints as ImageBboxRandomCropWithConstraints
from .both import ImageBboxRandomExpand as ImageBboxRandomExpand
from .both import ImageBboxRandomFlipLeftRight as ImageBboxRandomFlipLeftRight
from .both import ImageBboxResize as ImageBboxResize

__all__ = [
    "ImageBboxCrop", "ImageBboxRandomCropWithConstraints", "ImageBboxRandomExpand", "ImageBboxRandomFlipLeftRight",
    "ImageBboxResize", "utils",
]  # fmt: skip
__dir__ = dir_of(__name__)
