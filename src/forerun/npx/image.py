"""Functions of images, (height, width, channels) or batches of such: `forerun.npx.image`."""

from ..ops.vision.images import *  # noqa: F403
from ..ops.vision.images import __all__ as __all__
