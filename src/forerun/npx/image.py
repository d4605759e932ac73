"""Functions of images, (height, width, channels) or batches of such: `forerun.npx.image`."""

from ..ops.vision.images import (
    adjust_lighting, crop, flip_left_right, flip_top_bottom, normalize, random_brightness, random_color_jitter,
    random_contrast, random_crop, random_flip_left_right, random_flip_top_bottom, random_hue, random_lighting,
    random_resized_crop, random_saturation, resize, to_tensor,
)  # fmt: skip

__all__ = [
    "adjust_lighting", "crop", "flip_left_right", "flip_top_bottom", "normalize", "random_brightness",
    "random_color_jitter", "random_contrast", "random_crop", "random_flip_left_right", "random_flip_top_bottom",
    "random_hue", "random_lighting", "random_resized_crop", "random_saturation", "resize", "to_tensor",
]  # fmt: skip
