"""Loaders of images and of images with boxes, by MXNet 2.0's names, and their transforms."""

from ....._display.namespaces import dir_of
from . import transforms as transforms
from .loaders import ImageBboxDataLoader as ImageBboxDataLoader
from .loaders import ImageDataLoader as ImageDataLoader
from .loaders import create_bbox_augment as create_bbox_augment
from .loaders import create_image_augment as create_image_augment

__all__ = [
    "create_bbox_augment", "create_image_augment", "ImageBboxDataLoader", "ImageDataLoader", "transforms",
]  # fmt: skip
__dir__ = dir_of(__name__)
