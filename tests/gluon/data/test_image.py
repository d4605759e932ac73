"""Transforms of images: colours against formulas, random draws; data sets of images from local folders."""

import gzip
from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun import _core, gluon, np
from forerun.gluon.data.vision import CIFAR10, MNIST, transforms
from tests.support.comparison.tolerances import assert_close
from tests.support.files.data_files import idx_file
from tests.support.gluon.gluon_samples import PICTURE, picture_array

RNG = numpy.random.default_rng(5)


def test_random_transforms_follow_the_seed() -> None:
    crop, seen = transforms.RandomResizedCrop(4), []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        seen.append([crop(picture_array()).tolist() for _ in range(3)])
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][0] != seen[0][1]


def test_colours_change_by_formulas() -> None:
    x = PICTURE.astype("float64")
    grey = (x @ [0.299, 0.587, 0.114])[..., None]
    rows = np.array(x, dtype="float32")
    assert_close(transforms.RandomBrightness(1).changed(rows, 0.5), x * 1.5, 1e-3)
    assert_close(transforms.RandomContrast(1).changed(rows, -0.5), 0.5 * x + 0.5 * grey.mean(), 1e-3)
    assert_close(transforms.RandomSaturation(1).changed(rows, -1.0), grey + 0 * x, 1e-3)
    turned = transforms.RandomHue(1).changed(rows, 1.0).asnumpy()
    assert_close((turned @ [0.299, 0.587, 0.114])[..., None], grey, 1e-2)  # as bright as before
    assert abs(turned - x).max() > 10
    assert_close(transforms.RandomHue(1).changed(rows, 0.0), x, 1e-2)
    bright = transforms.RandomBrightness(1)(np.full((1, 1, 3), 200, dtype="uint8"))
    assert bright.dtype == "uint8"  # and no overflow
    with pytest.raises(ValueError, match="RandomHue: amount must not be negative, got -1"):
        transforms.RandomHue(-1)


def test_transforms_do_not_wait(gate: None) -> None:
    several = transforms.Compose([
        transforms.RandomResizedCrop(4), transforms.RandomFlipLeftRight(), transforms.RandomColorJitter(1, 1, 1, 1),
        transforms.RandomLighting(0.1), transforms.ToTensor(), transforms.Normalize([0, 0, 0], [1, 1, 1]),
    ])  # fmt: skip
    y = several(picture_array())
    assert not y.ready
    _core.gate(False)
    assert y.asnumpy().shape == (3, 4, 4)


def test_mnist_is_read_from_a_folder(tmp_path: Path) -> None:
    images, labels = RNG.integers(0, 256, (5, 28, 28)), numpy.arange(5)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx_file(images))
    (tmp_path / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(idx_file(labels)))
    data = MNIST(tmp_path)
    assert len(data) == 5
    x, y = data[3]
    assert (x.shape, x.dtype, int(y)) == ((28, 28, 1), numpy.dtype("uint8"), 3)
    assert numpy.array_equal(x[..., 0], images[3])
    loader = gluon.data.DataLoader(data.transform_first(transforms.ToTensor()), 2)
    assert [batch[0].shape for batch in loader] == [(2, 1, 28, 28), (2, 1, 28, 28), (1, 1, 28, 28)]


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b"\1" + b[1:], lambda b: b[:3], lambda b: b + b"x"])
def test_damaged_files_are_refused(damage: Any, tmp_path: Path) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(damage(idx_file(numpy.zeros((2, 28, 28)))))
    with pytest.raises(ValueError, match="train-images-idx3-ubyte: must hold 3 axes of bytes"):
        MNIST(tmp_path)


def test_damaged_packed_files_are_refused(tmp_path: Path) -> None:
    packed = gzip.compress(idx_file(RNG.integers(0, 256, (5, 28, 28))))
    for damaged in (packed[:-9], packed[:50] + b"\0" * 50 + packed[100:], b"none"):
        (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"train-images-idx3-ubyte.gz: must be compressed by gzip"):
            MNIST(tmp_path)


@pytest.mark.parametrize("file", ["train-images-idx3-ubyte.gz", "test_batch.bin.gz"])
def test_a_packed_file_is_not_unpacked_beyond_its_size(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """160 MiB of zeros, packed into less than 1 MiB."""
    asked: list[int] = []
    read = gzip.GzipFile.read
    monkeypatch.setattr(gzip.GzipFile, "read", lambda self, n=-1: (asked.append(n), read(self, n))[1])
    with gzip.open(tmp_path / file, "wb", 1) as out:
        out.write(idx_file(numpy.zeros((2, 28, 28))))
        for _ in range(10):
            out.write(bytes(16 << 20))
    refused = r"must hold (3 axes of bytes, got more than 1568|50000 records of 3073 bytes)"
    with pytest.raises(ValueError, match=refused):
        MNIST(tmp_path) if file.startswith("train") else CIFAR10(tmp_path, train=False)
    assert -1 not in asked
    assert sum(asked) <= 50_000 * 3073 + 1


def test_a_head_that_says_more_than_a_file_can_hold(tmp_path: Path) -> None:
    """Of packed files one that no packing could have made so short."""
    head = numpy.array([0x803, 2**31, 2**31, 2**31], ">u4").tobytes()
    for name, data in (("train-images-idx3-ubyte.gz", gzip.compress(head)), ("train-images-idx3-ubyte", head)):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(ValueError, match=f"{name}: must hold 3 axes of bytes, got a header with shape"):
            MNIST(tmp_path)
        (tmp_path / name).unlink()


def test_cifar_is_read_from_a_folder(tmp_path: Path) -> None:
    records = RNG.integers(0, 256, (4, 3073)).astype("u1")
    (tmp_path / "test_batch.bin").write_bytes(records.tobytes())
    x, y = CIFAR10(tmp_path, train=False)[2]
    assert int(y) == records[2, 0]
    assert numpy.array_equal(x, records[2, 1:].reshape(3, 32, 32).transpose(1, 2, 0))
    (tmp_path / "test_batch.bin").write_bytes(records.tobytes()[:-5])
    with pytest.raises(ValueError, match="files must hold records of 3073 bytes, got 12287 bytes"):
        CIFAR10(tmp_path, train=False)


def test_changes_of_colour_have_mxnets_words() -> None:
    x = np.full((1, 1, 3), 100, dtype="uint8")
    for word in ("brightness", "contrast", "saturation", "hue"):
        kind = getattr(transforms, f"Random{word.capitalize()}")
        assert kind(**{word: 0.0})(x).tolist() == [[[100] * 3]]
        with pytest.raises(ValueError, match=f"Random{word.capitalize()}: amount must not be negative, got -1"):
            kind(**{word: -1})
