"""Data sets of images in local folders. Nothing is downloaded."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy

from .... import image, np
from ..dataset import Dataset

__all__ = ["MNIST", "FashionMNIST", "CIFAR10", "ImageFolderDataset"]

Transform = Callable[[Any, Any], Any] | None
_SUFFIXES = (".jpg", ".jpeg", ".png")


class _Images(Dataset):
    """Images and labels in memory: (image, label) by number, through `transform(image, label)` if there is one."""

    def __init__(self, images: numpy.ndarray, labels: numpy.ndarray, transform: Transform) -> None:
        self._images, self._labels, self._transform = images, labels.astype("int32"), transform

    def __getitem__(self, index: int) -> Any:
        example = np.array(self._images[index], dtype="uint8"), self._labels[index]
        return example if self._transform is None else self._transform(*example)

    def __len__(self) -> int:
        return len(self._labels)


def _read(root: Path, name: str) -> bytes:
    """The bytes of a file, or of the one with .gz at its end."""
    for path, opened in ((root / name, open), (root / f"{name}.gz", gzip.open)):
        if path.exists():
            with opened(path, "rb") as file:  # type: ignore[operator]
                return file.read()
    raise FileNotFoundError(f"{root}: must have {name} or {name}.gz (nothing is downloaded), got neither")


def _idx(root: Path, name: str, axes: int) -> numpy.ndarray:
    """An array of bytes in the format of MNIST; ValueError for other files, and sizes that are not the file's."""
    data = _read(root, name)
    head = 4 * (axes + 1)
    numbers = numpy.frombuffer(data[:head], ">u4") if len(data) >= head else numpy.zeros(1, ">u4")
    shape = tuple(int(n) for n in numbers[1:])
    if numbers[0] != 0x800 + axes or len(data) != head + int(numpy.prod(shape, dtype=object)):
        raise ValueError(f"{root / name}: must hold {axes} axes of bytes, got {len(data)} bytes of {shape}")
    return numpy.frombuffer(data, "u1", offset=head).reshape(shape)


class MNIST(_Images):
    """Handwritten digits (28, 28, 1), uint8, from a folder with the four files of MNIST, packed by gzip or not.

    train: the 60000 to train with, otherwise the 10000 to test with. FileNotFoundError if a file is missing, ValueError
    if it is damaged.
    """

    folder = "mnist"

    def __init__(
        self, root: str | os.PathLike[str] | None = None, train: bool = True, transform: Transform = None
    ) -> None:
        place = Path(root) if root is not None else Path.home() / ".mxnet" / "datasets" / self.folder
        kind = "train" if train else "t10k"
        images = _idx(place.expanduser(), f"{kind}-images-idx3-ubyte", 3)
        labels = _idx(place.expanduser(), f"{kind}-labels-idx1-ubyte", 1)
        if len(images) != len(labels):
            raise ValueError(f"{place}: images and labels must be as many, got {len(images)} and {len(labels)}")
        super().__init__(images[..., None], labels, transform)


class FashionMNIST(MNIST):
    """Clothes in MNIST's format."""

    folder = "fashion-mnist"


class CIFAR10(_Images):
    """Small photographs (32, 32, 3), uint8, from a folder with the binary files of CIFAR-10, packed by gzip or not."""

    def __init__(
        self, root: str | os.PathLike[str] | None = None, train: bool = True, transform: Transform = None
    ) -> None:
        place = Path(root) if root is not None else Path.home() / ".mxnet" / "datasets" / "cifar10"
        names = [f"data_batch_{i}.bin" for i in range(1, 6)] if train else ["test_batch.bin"]
        data = b"".join(_read(place.expanduser(), name) for name in names)
        if len(data) % 3073:
            raise ValueError(f"{place}: files must hold records of 3073 bytes, got {len(data)} bytes")
        records = numpy.frombuffer(data, "u1").reshape(-1, 3073)
        super().__init__(records[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), records[:, 0], transform)


class ImageFolderDataset(Dataset):
    """Images in folders that are named as their classes: (image, number of the class), read when asked for.

    `synsets` has the classes in alphabetical order, `items` the files with their numbers. flag: as for `image.imread`.
    FileNotFoundError if there is no such folder.
    """

    def __init__(self, root: str | os.PathLike[str], flag: int = 1, transform: Transform = None) -> None:
        self._flag, self._transform = flag, transform
        folders = sorted(path for path in Path(root).expanduser().iterdir() if path.is_dir())
        self.synsets = [folder.name for folder in folders]
        self.items = [
            (str(path), label)
            for label, folder in enumerate(folders)
            for path in sorted(folder.iterdir())
            if path.suffix.lower() in _SUFFIXES
        ]

    def __getitem__(self, index: int) -> Any:
        path, label = self.items[index]
        example = image.imread(path, self._flag), label
        return example if self._transform is None else self._transform(*example)

    def __len__(self) -> int:
        return len(self.items)
