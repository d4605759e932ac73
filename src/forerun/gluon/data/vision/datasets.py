"""Data sets of images: in a local folder, or brought there from the network and checked."""

from __future__ import annotations

import gzip
import math
import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, cast

import numpy

from ...._display.namespaces import dir_of
from ...download import download
from ..dataset import Plan
from .files import ImageFolderDataset as ImageFolderDataset
from .files import ImageListDataset as ImageListDataset
from .files import ImageRecordDataset as ImageRecordDataset
from .labelled import Labelled, Transform

__all__ = [
    "MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "ImageFolderDataset", "ImageListDataset", "ImageRecordDataset",
]  # fmt: skip
__dir__ = dir_of(__name__)

Root = str | os.PathLike[str] | None
_REPOSITORY = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


class _Images(Labelled):
    """Images and labels in memory, from files in a folder; those that are not there are downloaded.

    root: the folder, by default `~/.mxnet/datasets/` and the data set's name, with `$MXNET_HOME` instead of `~/.mxnet`.
    Files come from `$MXNET_GLUON_REPO`, by default MXNet's, and their checksums are compared. Existing files
    are used unchanged.
    """

    folder = ""

    def __init__(self, root: Root, transform: Transform) -> None:
        home = os.environ.get("MXNET_HOME") or os.path.join("~", ".mxnet")
        self._root = Path(root if root is not None else os.path.join(home, "datasets", self.folder)).expanduser()
        self._transform = transform
        images, labels = self._load()
        self._images, self._labels = images, labels.astype("int32")

    def _load(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        raise NotImplementedError

    def _bring(self, name: str, sha1: str) -> None:
        """Downloads a file into the folder. FileNotFoundError if that cannot be."""
        repository = os.environ.get("MXNET_GLUON_REPO", _REPOSITORY).rstrip("/")
        try:
            download(f"{repository}/gluon/dataset/{self.folder}/{name}", self._root / name, sha1_hash=sha1)
        except OSError as error:
            raise FileNotFoundError(
                f"{self._root}: must have the files of {type(self).__name__}, or {name} be downloaded, got {error}"
            ) from error

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        return self._images[index], self._labels[index]

    def _planned(self, late: bool) -> Plan:
        images, labels = self._images, self._labels
        if self._transform is not None or type(self)._pair is not _Images._pair:
            return super()._planned(late)
        return lambda i: (images[i], labels[i]), []

    def __len__(self) -> int:
        return len(self._labels)


def _find(folders: Sequence[Path], name: str) -> Path | None:
    """Return where a file is, or the one with .gz at its end."""
    places = [folder / file for folder in folders for file in (name, f"{name}.gz")]
    return next((place for place in places if place.exists()), None)


_PACKED = 1100  # the largest ratio of gzip's output to the packed file


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """A file to read, unpacked as it is read. ValueError if it is damaged."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            yield cast("BinaryIO", file)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path}: must be compressed by gzip, got {error}") from None


def _idx(path: Path, axes: int) -> numpy.ndarray:
    """Return an array of bytes in the format of MNIST; ValueError for other files, and sizes that are not the file's.

    A compressed file is unpacked up to its stated size, and up to the most that a file of its size can hold.
    """
    head = 4 * (axes + 1)
    with _unpacked(path) as file:
        numbers = numpy.frombuffer(file.read(head).ljust(head, b"\0"), ">u4")
        shape = tuple(int(n) for n in numbers[1:])
        size = math.prod(shape)
        if numbers[0] != 0x800 + axes or size > path.stat().st_size * _PACKED:
            raise ValueError(f"{path}: must hold {axes} axes of bytes, got a header with shape {shape}")
        data = file.read(size + 1)  # one more: nothing may follow
    if len(data) != size:
        there = f"more than {size}" if len(data) > size else f"{len(data)}"
        raise ValueError(f"{path}: must hold {axes} axes of bytes, got {there} bytes of {shape}")
    return numpy.frombuffer(data, "u1").reshape(shape)


class MNIST(_Images):
    """Handwritten digits: images (28, 28, 1), uint8, and labels, int32, in memory.

    The four files are those of MNIST, compressed by gzip or not.

    Parameters
    ----------
    root : path, optional
        The folder of the files; by default `~/.mxnet/datasets/mnist`, with `$MXNET_HOME` in place of `~/.mxnet`. Files
        that are not there are downloaded from `$MXNET_GLUON_REPO`, by default MXNet's, and their checksums compared.
    train : bool, optional
        Whether these are the 60,000 examples for training; otherwise the 10,000 for tests.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If a file is not there and cannot be downloaded.
    ValueError
        If a file is damaged.

    Examples
    --------
    Files of two images; those of the real data set are downloaded:

    >>> import struct, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = (Path(folder, f"t10k-{name}-ubyte") for name in ("images-idx3", "labels-idx1"))
    ...     _ = images.write_bytes(struct.pack(">4I", 0x803, 2, 28, 28) + bytes(2 * 28 * 28))
    ...     _ = labels.write_bytes(struct.pack(">2I", 0x801, 2) + bytes([7, 1]))
    ...     test = MNIST(folder, train=False)
    >>> image, label = test[0]
    >>> len(test), image.shape, image.dtype, int(label)
    (2, (28, 28, 1), dtype('uint8'), 7)
    """

    folder = "mnist"
    _sums: ClassVar = {
        "train-images-idx3-ubyte": "6c95f4b05d2bf285e1bfb0e7960c31bd3b3f8a7d",
        "train-labels-idx1-ubyte": "2a80914081dc54586dbdf242f9805a6b8d2a15fc",
        "t10k-images-idx3-ubyte": "c3a25af1f52dad7f726cce8cacb138654b760d48",
        "t10k-labels-idx1-ubyte": "763e7fa3757d93b0cdec073cef058b2004252c17",
    }  # of the files compressed by gzip

    def __init__(self, root: Root = None, train: bool = True, transform: Transform = None) -> None:
        self._train = train
        super().__init__(root, transform)

    def _load(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        kind = "train" if self._train else "t10k"
        images = _idx(self._file(f"{kind}-images-idx3-ubyte"), 3)
        labels = _idx(self._file(f"{kind}-labels-idx1-ubyte"), 1)
        if len(images) != len(labels):
            raise ValueError(
                f"{self._root}: images and labels must have the same number, got {len(images)} and {len(labels)}"
            )
        return images[..., None], labels

    def _file(self, name: str) -> Path:
        if found := _find([self._root], name):
            return found
        self._bring(f"{name}.gz", self._sums[name])
        return self._root / f"{name}.gz"


class FashionMNIST(MNIST):
    """Pictures of clothes in the format of MNIST: images (28, 28, 1), uint8, and labels, int32, in memory.

    Parameters
    ----------
    root : path, optional
        The folder of the files; by default `~/.mxnet/datasets/fashion-mnist`, with `$MXNET_HOME` in place of
        `~/.mxnet`. Files that are not there are downloaded from `$MXNET_GLUON_REPO`, by default MXNet's, and their
        checksums compared.
    train : bool, optional
        Whether these are the 60,000 examples for training; otherwise the 10,000 for tests.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If a file is not there and cannot be downloaded.
    ValueError
        If a file is damaged.

    Examples
    --------
    Files of two images; those of the real data set are downloaded:

    >>> import struct, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     images, labels = (Path(folder, f"t10k-{name}-ubyte") for name in ("images-idx3", "labels-idx1"))
    ...     _ = images.write_bytes(struct.pack(">4I", 0x803, 2, 28, 28) + bytes(2 * 28 * 28))
    ...     _ = labels.write_bytes(struct.pack(">2I", 0x801, 2) + bytes([7, 1]))
    ...     test = FashionMNIST(folder, train=False)
    >>> image, label = test[0]
    >>> len(test), image.shape, image.dtype, int(label)
    (2, (28, 28, 1), dtype('uint8'), 7)
    """

    folder = "fashion-mnist"
    _sums: ClassVar = {
        "train-images-idx3-ubyte": "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "train-labels-idx1-ubyte": "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "t10k-images-idx3-ubyte": "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "t10k-labels-idx1-ubyte": "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    }


class CIFAR10(_Images):
    """Small photographs of 10 classes: images (32, 32, 3), uint8, and labels, int32, in memory.

    The files are the binary ones of CIFAR-10, compressed by gzip or not, in the folder or in `cifar-10-batches-bin` in
    it.

    Parameters
    ----------
    root : path, optional
        The folder of the files; by default `~/.mxnet/datasets/cifar10`, with `$MXNET_HOME` in place of `~/.mxnet`.
        Files that are not there are downloaded from `$MXNET_GLUON_REPO`, by default MXNet's, and their checksums
        compared.
    train : bool, optional
        Whether these are the 50,000 examples for training; otherwise the 10,000 for tests.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If a file is not there and cannot be downloaded.
    ValueError
        If a file is damaged.

    Examples
    --------
    A file of two images; those of the real data set are downloaded:

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "test_batch.bin").write_bytes((bytes([3]) + bytes(3072)) * 2)
    ...     test = CIFAR10(folder, train=False)
    >>> image, label = test[0]
    >>> len(test), image.shape, image.dtype, int(label)
    (2, (32, 32, 3), dtype('uint8'), 3)
    """

    folder = "cifar10"
    _archive = "cifar-10-binary.tar.gz", "fab780a1e191a7eda0f345501ccd62d20f7ed891"
    _inner = "cifar-10-batches-bin"
    _train_files = tuple(f"data_batch_{i}.bin" for i in range(1, 6))
    _test_files = ("test_batch.bin",)
    _label, _labels_each = 0, 1

    def __init__(self, root: Root = None, train: bool = True, transform: Transform = None) -> None:
        self._train = train
        super().__init__(root, transform)

    def _load(self) -> tuple[numpy.ndarray, numpy.ndarray]:
        size = 3072 + self._labels_each
        data = b"".join(self._records(path, size) for path in self._files())
        if len(data) % size:
            raise ValueError(f"{self._root}: files must hold records of {size} bytes, got {len(data)} bytes")
        records = numpy.frombuffer(data, "u1").reshape(-1, size)
        images = records[:, self._labels_each :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return numpy.ascontiguousarray(images), records[:, self._label]

    def _records(self, path: Path, size: int) -> bytes:
        """Return the bytes of a file, unpacked, unless these are more than the data set has."""
        most = 50_000 * size
        with _unpacked(path) as file:
            data = file.read(most + 1)
        if len(data) > most:
            raise ValueError(f"{path}: must hold 50000 records of {size} bytes at most, got more")
        return data

    def _files(self) -> list[Path]:
        names = self._train_files if self._train else self._test_files
        folders = [self._root, self._root / self._inner]
        if not all(_find(folders, name) for name in names):
            self._bring(*self._archive)
            _extract(self._root / self._archive[0], {*self._train_files, *self._test_files})
        found = {name: _find(folders, name) for name in names}
        if missing := [name for name, path in found.items() if path is None]:
            raise ValueError(f"{self._root / self._archive[0]}: must hold {' and '.join(missing)}, got other files")
        return [path for path in found.values() if path is not None]


def _extract(archive: Path, names: set[str]) -> None:
    """Unpacks files of these names from an archive to beside it, whichever folder they are in there."""
    with tarfile.open(archive) as tar:
        for member in tar:
            name = os.path.basename(member.name)
            if name in names and member.isfile() and (source := tar.extractfile(member)) is not None:
                with tempfile.NamedTemporaryFile(dir=archive.parent, delete=False) as part:
                    part.write(source.read())
                os.replace(part.name, archive.parent / name)


class CIFAR100(CIFAR10):
    """Small photographs of 100 classes in 20 groups: images (32, 32, 3), uint8, and labels, int32, in memory.

    The files are the binary ones of CIFAR-100, compressed by gzip or not, in the folder or in `cifar-100-binary` in it.

    Parameters
    ----------
    root : path, optional
        The folder of the files; by default `~/.mxnet/datasets/cifar100`, with `$MXNET_HOME` in place of `~/.mxnet`.
        Files that are not there are downloaded from `$MXNET_GLUON_REPO`, by default MXNet's, and their checksums
        compared.
    fine_label : bool, optional
        Whether labels are those of the 100 classes; otherwise those of the 20 groups.
    train : bool, optional
        Whether these are the 50,000 examples for training; otherwise the 10,000 for tests.
    transform : callable, optional
        A function `transform(image, label)` of each example that is asked for; its result is the example.

    Raises
    ------
    FileNotFoundError
        If a file is not there and cannot be downloaded.
    ValueError
        If a file is damaged.

    Examples
    --------
    A file of two images; those of the real data set are downloaded:

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "test.bin").write_bytes((bytes([4, 72]) + bytes(3072)) * 2)
    ...     test = CIFAR100(folder, fine_label=True, train=False)
    >>> image, label = test[0]
    >>> len(test), image.shape, image.dtype, int(label)
    (2, (32, 32, 3), dtype('uint8'), 72)
    """

    folder = "cifar100"
    _archive = "cifar-100-binary.tar.gz", "a0bb982c76b83111308126cc779a992fa506b90b"
    _inner = "cifar-100-binary"
    _train_files = ("train.bin",)
    _test_files = ("test.bin",)
    _labels_each = 2

    def __init__(
        self, root: Root = None, fine_label: bool = False, train: bool = True, transform: Transform = None
    ) -> None:
        self._label = int(fine_label)
        super().__init__(root, train, transform)
