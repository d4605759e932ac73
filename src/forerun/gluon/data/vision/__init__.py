"""Data sets of images, and transforms of images before training."""

from ...._display.namespaces import dir_of
from . import datasets as datasets
from . import transforms as transforms
from .datasets import CIFAR10 as CIFAR10
from .datasets import CIFAR100 as CIFAR100
from .datasets import MNIST as MNIST
from .datasets import FashionMNIST as FashionMNIST
from .datasets import ImageFolderDataset as ImageFolderDataset
from .datasets import ImageListDataset as ImageListDataset
from .datasets import ImageRecordDataset as ImageRecordDataset

__all__ = [
    "CIFAR10", "CIFAR100", "datasets", "FashionMNIST", "ImageFolderDataset", "ImageListDataset",
    "ImageRecordDataset", "MNIST", "transforms",
]  # fmt: skip
__dir__ = dir_of(__name__)
