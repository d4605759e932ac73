"""Functions of `forerun.image`: files, sizes, crops, borders, colours and rotations, against Pillow and formulas."""

from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from forerun import image, np
from forerun.gluon.data.vision import transforms
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import PICTURE, picture_array

RNG = numpy.random.default_rng(5)
FLOATS = RNG.uniform(size=(3, 9, 12)).astype("f4")


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
        found = image.imresize(picture_array(), 5, 4, interp)
        assert numpy.array_equal(found, numpy.asarray(Image.fromarray(PICTURE).resize((5, 4), kind)))
    floats = image.imresize(np.array(PICTURE, dtype="float64"), 5, 4)
    assert floats.dtype == "float64"
    assert abs(floats.asnumpy() - image.imresize(picture_array(), 5, 4).asnumpy()).max() <= 1
    assert transforms.Resize(3, keep_ratio=True)(picture_array()).shape == (3, 4, 3)
    with pytest.raises(ValueError, match=r"imresize: image and sizes must not be empty"):
        image.imresize(picture_array(), 0, 4)
    with pytest.raises(ValueError, match=r"imresize: interp must be one of"):
        image.imresize(picture_array(), 1, 1, 77)


def test_crops_are_parts() -> None:
    part, (x0, y0, w, h) = image.center_crop(picture_array(), (3, 2))
    assert (x0, y0, w, h) == (3, 2, 3, 2)
    assert numpy.array_equal(part, PICTURE[2:4, 3:6])
    larger, where = image.random_crop(picture_array(), (18, 24))
    assert larger.shape == (24, 18, 3)
    assert where[2:] == (4, 6)
    starts = {image.random_crop(picture_array(), (8, 6))[1][:2] for _ in range(40)}
    assert starts == {(0, 0), (1, 0)}
    for _ in range(20):
        part, (x0, y0, w, h) = image.random_size_crop(picture_array(), (4, 4), (0.3, 0.6), (0.5, 2))
        assert part.shape == (4, 4, 3)
        assert 0.2 * 54 < w * h < 0.75 * 54
    with pytest.raises(ValueError, match=r"fixed_crop: crop must be inside \(6, 9\), got \(0, 8\) to \(2, 10\)"):
        image.fixed_crop(picture_array(), 8, 0, 2, 2)


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


def test_rotation() -> None:
    x = np.array(FLOATS)
    assert_close(image.imrotate(x, 0), FLOATS, 1e-6)
    square = FLOATS[:, :, :9]
    assert_close(image.imrotate(square, 90), numpy.rot90(square, axes=(1, 2)), 1e-5)
    assert_close(transforms.Rotate(-180)(x), FLOATS[:, ::-1, ::-1], 1e-5)
    ones = numpy.ones((1, 9, 9), "f4")
    assert image.imrotate(ones, 45).min() == 0
    assert image.imrotate(ones, 45, zoom_in=True).min() > 0.99
    assert abs(image.imrotate(ones, 45, zoom_out=True).sum() - 81 / 2) < 5  # all of it, in half of the area
    assert image.imrotate(ones, 45).sum() > 60
    both = image.imrotate(np.array(numpy.stack([square, square])), [0, 90])
    assert_close(both, numpy.stack([square, numpy.rot90(square, axes=(1, 2))]), 1e-5)
    with pytest.raises(TypeError, match="imrotate: dtype must be float32, got uint8"):
        transforms.Rotate(3)(PICTURE)
    with pytest.raises(ValueError, match="imrotate: zoom_in and zoom_out must not be given together"):
        transforms.Rotate(3, True, True)(x)
    with pytest.raises(ValueError, match="imrotate: an angle must be given for each image"):
        image.imrotate(x, [1, 2])
    with pytest.raises(ValueError, match="RandomRotation: angle_limits must be in order"):
        transforms.RandomRotation((2, 1))
    with pytest.raises(ValueError, match=r"RandomRotation: rotate_with_proba must be in \[0, 1\]"):
        transforms.RandomRotation((1, 2), rotate_with_proba=2)


def test_wrong_arguments_of_functions_are_refused() -> None:
    x = np.ones((4, 8, 3))
    with pytest.raises(ValueError, match=r"fixed_crop: image must have 3 axes or more, got shape \(4, 8\)"):
        image.fixed_crop(x[..., 0], 0, 0, 2, 2)
    for area, ratio in ((0.5, (0, 1)), ((0.9, 0.5), (1, 2)), (0.5, (2, 1)), (-1, (1, 2))):
        with pytest.raises(ValueError, match="random_size_crop: parts and ratios must be positive and in order"):
            image.random_size_crop(x, (2, 2), area, ratio)
    with pytest.raises(ValueError, match=r"copyMakeBorder: values must be one for each channel, got \[1, 2\]"):
        image.copyMakeBorder(x, 1, 1, 1, 1, values=[1, 2])
    with pytest.raises(ValueError, match="random_rotate: angle_limits must be two in order"):
        image.random_rotate(np.ones((1, 3, 3)), (90, 0))


@pytest.mark.parametrize("wrap", [np.array, numpy.array])
def test_bytes_are_normalized_without_wrapping_around(wrap: Any) -> None:
    assert image.color_normalize(wrap(numpy.full((1, 1, 3), 1, "u1")), 2, 2).tolist() == [[[-0.5, -0.5, -0.5]]]
