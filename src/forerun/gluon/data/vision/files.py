"""Data sets of images in files of the user's: in folders, in a list, or in a file of records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from .... import image, np
from ..dataset import Plan
from ..recordio import RecordFileDataset, unpack
from .labelled import Labelled, Transform

if TYPE_CHECKING:
    from ....typing import Array

__all__ = ["ImageFolderDataset", "ImageListDataset", "ImageRecordDataset"]

_SUFFIXES = (".jpg", ".jpeg", ".png")


class ImageFolderDataset(Labelled):
    """Images in folders, one for each class: (image, number of the class), read when they are asked for.

    `synsets` has the names of the classes in alphabetical order, and `items` the files with the numbers of their
    classes. Files are those that end in .jpg, .jpeg or .png; images are (height, width, channels), uint8, read by
    Pillow.

    Parameters
    ----------
    root : path
        The folder of the folders.
    flag : int, optional
        1 for images of three channels, 0 for one, of greys.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    ValueError
        When an example is asked for whose file holds no image.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name, colour in ("cat", "red"), ("dog", "blue"):
    ...         Path(folder, name).mkdir()
    ...         Image.new("RGB", (4, 2), colour).save(Path(folder, name, "1.png"))
    ...     pets = ImageFolderDataset(folder)
    ...     image, label = pets[1]
    >>> pets.synsets, image.shape, label
    (['cat', 'dog'], (2, 4, 3), 1)
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

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        path, label = self.items[index]
        return image.values_in(path, self._flag), label

    def __len__(self) -> int:
        return len(self.items)


class ImageListDataset(Labelled):
    """Images that a list names: (image, its labels as float32), read when they are asked for.

    `items` has the paths with the labels. Images are (height, width, channels), uint8, read by Pillow.

    Parameters
    ----------
    root : path, optional
        The folder that paths are relative to.
    imglist : list or path
        Lists of a label, or several, and a path; or the name of a file in `root` whose lines are a number, labels and a
        path, with tabs between them.
    flag : int, optional
        1 for images of three channels, 0 for one, of greys.

    Raises
    ------
    FileNotFoundError
        If there is no such file; of an image, when it is asked for.
    ValueError
        For another list; when an example is asked for whose file holds no image.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (4, 2), "red").save(f"{folder}/cat.png")
    ...     pets = ImageListDataset(folder, [[7.0, "cat.png"]])
    ...     image, labels = pets[0]
    >>> len(pets), image.shape, labels.tolist()
    (1, (2, 4, 3), [7.0])
    """

    def __init__(self, root: str | os.PathLike[str] = ".", imglist: Any = None, flag: int = 1) -> None:
        self._flag = flag
        folder = Path(root).expanduser()
        if isinstance(imglist, (str, os.PathLike)):
            lines = (folder / imglist).read_text().splitlines()
            rows: Sequence[Any] = [line.strip().split("\t")[1:] for line in lines if line.strip()]
        elif isinstance(imglist, (list, tuple)):
            rows = imglist
        else:
            raise ValueError(f"ImageListDataset: imglist must be a file or a list, got {type(imglist).__name__}")
        self.items = [(str(folder / path), labels) for path, labels in map(_entry, rows)]

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        path, labels = self.items[index]
        return image.values_in(path, self._flag), labels

    def __getitem__(self, index: int) -> tuple[Array, ...]:
        values, labels = self._pair(index)
        return np.array(values), np.array(labels)

    def _planned(self, late: bool) -> Plan:
        return self._pair, []

    def __len__(self) -> int:
        return len(self.items)


def _entry(row: Any) -> tuple[str, numpy.ndarray]:
    """Return the path and the labels of a row: labels and then the path."""
    try:
        *labels, path = row
        values = numpy.array(labels, "float32").reshape(-1)
        if isinstance(path, (str, os.PathLike)) and values.size:
            return os.fspath(path), values
    except (TypeError, ValueError):
        pass
    raise ValueError(f"ImageListDataset: entries must be labels and a path, got {row!r}")


class ImageRecordDataset(Labelled):
    """Images in a file of records, as `RecordFileDataset` reads it: (image, its label or labels), read when asked for.

    Images are (height, width, channels), uint8, read by Pillow.

    Parameters
    ----------
    filename : path
        The file.
    flag : int, optional
        1 for images of three channels, 0 for one, of greys.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged; when an example is asked for that holds no image.

    Examples
    --------
    >>> import io, struct, tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> png = io.BytesIO()
    >>> Image.new("RGB", (4, 2), "red").save(png, "png")
    >>> record = struct.pack("<IfQQ", 0, 3.0, 0, 0) + png.getvalue()  # a header with the label 3, and the image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "x.rec")
    ...     _ = file.write_bytes(struct.pack("<II", 0xCED7230A, len(record)) + record + bytes(-len(record) % 4))
    ...     image, label = ImageRecordDataset(file)[0]
    >>> image.shape, label
    ((2, 4, 3), 3.0)
    """

    def __init__(self, filename: str | os.PathLike[str], flag: int = 1, transform: Transform = None) -> None:
        self._records, self._flag, self._transform = RecordFileDataset(filename), flag, transform

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        header, data = unpack(self._records[index])
        return image.decoded(data, self._flag), header.label

    def __len__(self) -> int:
        return len(self._records)
