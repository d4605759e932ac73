"""Data sets of images: in a local folder, or brought there from the network and checked."""

from __future__ import annotations

import gzip
import math
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

import numpy

from .... import image, np
from ...download import download
from ..dataset import Hosting, Plan
from ..recordio import RecordFileDataset, unpack

if TYPE_CHECKING:
    from ....typing import Array


__all__ = [
    "MNIST", "FashionMNIST", "CIFAR10", "CIFAR100", "ImageFolderDataset", "ImageListDataset", "ImageRecordDataset",
]  # fmt: skip

Root = str | os.PathLike[str] | None
Transform = Callable[[Any, Any], Any] | None
_SUFFIXES = (".jpg", ".jpeg", ".png")
_REPOSITORY = "https://apache-mxnet.s3-accelerate.dualstack.amazonaws.com/"


class _Labelled(Hosting):
    """(image, label) by number, through `transform(image, label)` if there is one. Subclasses define `_pair`."""

    _transform: Transform = None

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        """Return the example, of NumPy's arrays."""
        raise NotImplementedError

    def _planned(self, late: bool) -> Plan:
        return (self._pair if self._transform is None else self.__getitem__), []

    def __getitem__(self, index: int) -> Any:
        values, label = self._pair(index)
        if isinstance(index, slice):  # of examples
            label = np.array(label, dtype=label.dtype)
        example = np.array(values, dtype=values.dtype), label
        return example if self._transform is None else self._transform(*example)


class _Images(_Labelled):
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


_PACKED = 1100  # how many times as long as the packed file what gzip unpacks may be


@contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """A file to read, unpacked as it is read. ValueError if it is damaged."""
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
            yield file  # type: ignore[misc]
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
    """Handwritten digits (28, 28, 1), uint8, from the four files of MNIST, compressed by gzip or not.

    train: the 60000 to train with, otherwise the 10000 to test with. root: the folder of the files; those that are not
    there are downloaded. FileNotFoundError if that cannot be, ValueError if a file is damaged.
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
    """Clothes in MNIST's format."""

    folder = "fashion-mnist"
    _sums: ClassVar = {
        "train-images-idx3-ubyte": "0cf37b0d40ed5169c6b3aba31069a9770ac9043d",
        "train-labels-idx1-ubyte": "236021d52f1e40852b06a4c3008d8de8aef1e40b",
        "t10k-images-idx3-ubyte": "626ed6a7c06dd17c0eec72fa3be1740f146a2863",
        "t10k-labels-idx1-ubyte": "17f9ab60e7257a1620f4ad76bbbaf857c3920701",
    }


class CIFAR10(_Images):
    """Small photographs (32, 32, 3), uint8, of 10 classes, from the binary files of CIFAR-10, plain or compressed by
    gzip.

    train: the 50000 to train with, otherwise the 10000 to test with. root: the folder of the files, or of theirs;
    otherwise they are downloaded. FileNotFoundError if that cannot be, ValueError if a file is damaged.
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
    """Small photographs (32, 32, 3), uint8, of 20 classes, or with `fine_label` of 100; as CIFAR10."""

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


class ImageFolderDataset(_Labelled):
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

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        path, label = self.items[index]
        return image.values_in(path, self._flag), label

    def __len__(self) -> int:
        return len(self.items)


class ImageListDataset(_Labelled):
    """Images that a list names: (image, array of its labels as float32), read when asked for.

    imglist: lists of a label, or several, and a path; or a file in `root` of lines of a number, labels and a path, with
    tabs between. Paths are relative to `root`. flag: as for `image.imread`. `items` has paths with labels. ValueError
    for another list.
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


class ImageRecordDataset(_Labelled):
    """Images in a file of records (`RecordFileDataset`): (image, its label or labels). flag: as for `image.imread`."""

    def __init__(self, filename: str | os.PathLike[str], flag: int = 1, transform: Transform = None) -> None:
        self._records, self._flag, self._transform = RecordFileDataset(filename), flag, transform

    def _pair(self, index: int) -> tuple[numpy.ndarray, Any]:
        header, data = unpack(self._records[index])
        return image.decoded(data, self._flag), header.label

    def __len__(self) -> int:
        return len(self._records)
