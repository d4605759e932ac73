"""Transforms of images with boxes; those of images alone are in `gluon.data.vision.transforms`."""

from . import bbox as bbox
from .bbox import ImageBboxCrop as ImageBboxCrop
from .bbox import ImageBboxRandomCropWithConstraints as ImageBboxRandomCropWithConstraints
from .bbox import ImageBboxRandomExpand as ImageBboxRandomExpand
from .bbox import ImageBboxRandomFlipLeftRight as ImageBboxRandomFlipLeftRight
from .bbox import ImageBboxResize as ImageBboxResize
