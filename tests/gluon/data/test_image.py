"""Images: files, sizes, crops and colours against formulas; data sets from local folders."""

import gzip
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from forerun import _core, gluon, image, np
from forerun.gluon.data.vision import CIFAR10, MNIST, transforms
from tests.support.files.data_files import idx_file
from tests.support.gluon.gluon_samples import assert_close

RNG = numpy.random.default_rng(5)
PICTURE = RNG.integers(0, 256, (6, 9, 3)).astype("uint8")


def picture() -> Any:
    return np.array(PICTURE, dtype="uint8")


@pytest.mark.parametrize("kind", ["png", "bmp"])
def test_files_are_read(kind: str, tmp_path: Path) -> None:
    Image.fromarray(PICTURE).save(tmp_path / f"x.{kind}")
    found = image.imread(tmp_path / f"x.{kind}")
    assert found.dtype == "uint8"
    assert numpy.array_equal(found, PICTURE)
    assert numpy.array_equal(image.imread(tmp_path / f"x.{kind}", to_rgb=False), PICTURE[..., ::-1])
    assert image.imread(tmp_path / f"x.{kind}", 0).shape == (6, 9, 1)


def test_files_that_hold_no_image_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    with pytest.raises(ValueError, match="imdecode: buf must hold an image, got 107 bytes"):
        image.imread(tmp_path / "x.png")
    with pytest.raises(FileNotFoundError):
        image.imread(tmp_path / "y.png")


def test_sizes_change_as_in_pillow() -> None:
    for interp, kind in ((0, 0), (1, 2), (2, 3)):
        found = image.imresize(picture(), 5, 4, interp)
        assert numpy.array_equal(found, numpy.asarray(Image.fromarray(PICTURE).resize((5, 4), kind)))
    floats = image.imresize(np.array(PICTURE, dtype="float64"), 5, 4)
    assert floats.dtype == "float64"
    assert abs(floats.asnumpy() - image.imresize(picture(), 5, 4).asnumpy()).max() <= 1
    assert transforms.Resize(3, keep_ratio=True)(picture()).shape == (3, 4, 3)
    with pytest.raises(ValueError, match=r"imresize: image and sizes must not be empty"):
        image.imresize(picture(), 0, 4)
    with pytest.raises(ValueError, match=r"imresize: interp must be one of"):
        image.imresize(picture(), 1, 1, 77)


def test_crops_are_parts() -> None:
    part, (x0, y0, w, h) = image.center_crop(picture(), (3, 2))
    assert (x0, y0, w, h) == (3, 2, 3, 2)
    assert numpy.array_equal(part, PICTURE[2:4, 3:6])
    larger, where = image.random_crop(picture(), (18, 24))
    assert larger.shape == (24, 18, 3)
    assert where[2:] == (4, 6)
    starts = {image.random_crop(picture(), (8, 6))[1][:2] for _ in range(40)}
    assert starts == {(0, 0), (1, 0)}
    for _ in range(20):
        part, (x0, y0, w, h) = image.random_size_crop(picture(), (4, 4), (0.3, 0.6), (0.5, 2))
        assert part.shape == (4, 4, 3)
        assert 0.2 * 54 < w * h < 0.75 * 54
    with pytest.raises(ValueError, match=r"fixed_crop: crop must be inside \(6, 9\), got \(0, 8\) to \(2, 10\)"):
        image.fixed_crop(picture(), 8, 0, 2, 2)


def test_random_transforms_follow_the_seed() -> None:
    crop, seen = transforms.RandomResizedCrop(4), []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        seen.append([crop(picture()).tolist() for _ in range(3)])
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
    y = several(picture())
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


def test_a_header_larger_than_the_file_raises(tmp_path: Path) -> None:
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


@pytest.mark.parametrize("forerun_array", [False, True])
def test_borders(forerun_array: bool) -> None:
    values = numpy.arange(24, dtype="uint8").reshape(2, 4, 3)
    x = np.array(values, dtype="uint8") if forerun_array else values
    modes = {1: "edge", 2: "symmetric", 3: "wrap", 4: "reflect"}
    for kind, mode in modes.items():
        got = image.copyMakeBorder(x, 1, 0, 2, 1, kind)
        assert numpy.asarray(got).tolist() == numpy.pad(values, ((1, 0), (2, 1), (0, 0)), mode=mode).tolist()
        assert isinstance(got, type(x))
    plain = numpy.asarray(image.copyMakeBorder(x, 1, 0, 2, 1, value=9))
    assert plain.dtype == "uint8"
    assert (plain[1:, 2:6] == values).all()
    assert set(plain[0].ravel()) == set(plain[:, 0].ravel()) == {9}
    colours = numpy.asarray(image.copyMakeBorder(x, 1, 0, 0, 0, values=(7, 8, 9)))
    assert colours[0].tolist() == [[7, 8, 9]] * 4
    with pytest.raises(ValueError, match=r"copyMakeBorder: type must be one of \[0, 1, 2, 3, 4\], got 7"):
        image.copyMakeBorder(x, 1, 1, 1, 1, 7)


def test_colours_are_scaled_and_sizes_made_smaller() -> None:
    x = np.array([[[1.0, 2.0, 3.0]]])
    assert image.color_normalize(x, np.array([1.0, 1.0, 1.0]), np.array([1.0, 2.0, 4.0])).tolist() == [[[0, 0.5, 0.5]]]
    assert image.color_normalize(x, 1).tolist() == [[[0, 1, 2]]]
    assert [image.scale_down((6, 4), size) for size in ((3, 2), (12, 4), (4, 8))] == [(3, 2), (6, 2), (2, 4)]


def test_colour_transforms_have_mxnets_parameters() -> None:
    x = np.full((1, 1, 3), 100, dtype="uint8")
    for word in ("brightness", "contrast", "saturation", "hue"):
        kind = getattr(transforms, f"Random{word.capitalize()}")
        assert kind(**{word: 0.0})(x).tolist() == [[[100] * 3]]
        with pytest.raises(ValueError, match=f"Random{word.capitalize()}: amount must not be negative, got -1"):
            kind(**{word: -1})
