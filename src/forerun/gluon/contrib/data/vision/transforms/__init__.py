"""Transforms of images with boxes; those of images alone are in `gluon.data.vision.transforms`."""

from ......_display.namespaces import dir_of
from . import bbox as bbox
from .bbox import ImageBboxCrop as ImageBboxCrop
from .bbox import ImageBboxRandomCropWithConstraints as ImageBboxRandomCropWithConstraints
from .bbox import ImageBboxRandomExpand as ImageBboxRandomExpand
from .bbox import ImageBboxRandomFlipLeftRight as ImageBboxRandomFlipLeftRight
from .bbox import ImageBboxResize as ImageBboxResize

__all__ = [
    "bbox", "ImageBboxCrop", "ImageBboxRandomCropWithConstraints", "ImageBboxRandomExpand",
    "ImageBboxRandomFlipLeftRight", "ImageBboxResize",
]  # fmt: skip
__dir__ = dir_of(__name__)
