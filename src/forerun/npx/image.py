"""Functions of images, (height, width, channels) or batches of such: `forerun.npx.image`."""

from ..ops.vision.image_colours import (
    adjust_lighting, random_brightness, random_color_jitter, random_contrast, random_hue, random_lighting,
    random_saturation,
)  # fmt: skip
from ..ops.vision.image_crops import crop, random_crop, random_resized_crop, resize
from ..ops.vision.image_flips import flip_left_right, flip_top_bottom, random_flip_left_right, random_flip_top_bottom
from ..ops.vision.image_tensors import normalize, to_tensor

__all__ = [
    "adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness",
    "random_color_jitter", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_top_bottom",
    "random_hue", "random_lighting", "random_resized_crop", "random_saturation", "resize", "to_tensor",
]  # fmt: skip
