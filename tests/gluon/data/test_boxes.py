"""Images with boxes: the transforms of both; and the loaders of MXNet 2.0's `contrib.data.vision`."""

import io
import struct
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from forerun import np
from forerun.gluon import contrib, data
from forerun.gluon.contrib.data import vision
from forerun.gluon.contrib.data.vision.transforms import bbox
from tests.support.files.data_files import record_part

BOXES = numpy.array([[1, 2, 5, 6, 7], [6, 0, 9, 4, 8]], "float32")


def image_with_boxes(boxes: Any = BOXES, h: int = 8, w: int = 10) -> numpy.ndarray:
    """An image that says where its boxes are: the class of each, in the first channel."""
    x = numpy.zeros((h, w, 3), "uint8")
    for x0, y0, x1, y1, kind in boxes.astype(int):
        x[y0:y1, x0:x1, 0] = kind
    return x


def box_in_image(x: Any, kind: int) -> list[int]:
    """Where a class is in an image: xmin, ymin, xmax, ymax."""
    rows, columns = numpy.nonzero(numpy.asarray(x)[..., 0] == kind)
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


def assert_boxes_match(x: Any, boxes: Any) -> None:
    """Boxes are where the image has them."""
    for box in numpy.asarray(boxes):
        assert box[:4].tolist() == box_in_image(x, int(box[4]))


@pytest.mark.parametrize("forerun_arrays", [False, True])
def test_mirrored_and_cut_images_have_their_boxes(forerun_arrays: bool) -> None:
    x, boxes = (np.array(image_with_boxes()), np.array(BOXES)) if forerun_arrays else (image_with_boxes(), BOXES)
    flipped = bbox.ImageBboxRandomFlipLeftRight(1)(x, boxes)
    assert flipped[1].tolist() == [[5, 2, 9, 6, 7], [1, 0, 4, 4, 8]]
    assert_boxes_match(*flipped)
    assert bbox.ImageBboxRandomFlipLeftRight(0)(x, boxes)[1].tolist() == BOXES.tolist()
    cut = bbox.ImageBboxCrop((2, 1, 5, 4))(x, boxes)
    assert cut[0].shape == (4, 5, 3)
    assert cut[1].tolist() == [[0, 1, 3, 4, 7]]
    assert_boxes_match(*cut)
    more = bbox.ImageBboxCrop((2, 1, 5, 4), allow_outside_center=True)(x, boxes)
    assert more[1].tolist() == [[0, 1, 3, 4, 7], [4, 0, 5, 3, 8]]
    assert_boxes_match(*more)
    assert isinstance(cut[1], type(boxes))
    assert isinstance(cut[0], type(x))
    none = bbox.ImageBboxCrop((0, 7, 10, 1))(x, boxes)[1]
    assert none.shape == (0, 5)


def test_boxes_are_as_large_as_their_images() -> None:
    x, boxes = bbox.ImageBboxResize(20, 4, 0)(image_with_boxes(), BOXES)
    assert x.shape == (4, 20, 3)
    assert boxes.tolist() == [[2, 1, 10, 3, 7], [12, 0, 18, 2, 8]]
    assert_boxes_match(x, boxes)


@pytest.mark.parametrize("forerun_arrays", [False, True])
def test_larger_images_are_filled(forerun_arrays: bool) -> None:
    np.random.seed(1)
    both = (np.array(image_with_boxes()), np.array(BOXES)) if forerun_arrays else (image_with_boxes(), BOXES)
    shapes = set()
    for keep in (True, False):
        x, boxes = bbox.ImageBboxRandomExpand(1, 3, fill=(1, 2, 3), keep_ratio=keep)(*both)
        assert_boxes_match(x, boxes)
        values = numpy.asarray(x)
        inside = numpy.zeros(values.shape[:2], bool)
        top, left = int(boxes[1][1]), int(boxes[1][0]) - 6
        inside[top : top + 8, left : left + 10] = True
        assert (values[~inside] == [1, 2, 3]).all()
        assert (values[inside].reshape(8, 10, 3) == image_with_boxes()).all()
        shapes.add(values.shape)
    assert len(shapes) == 2
    assert bbox.ImageBboxRandomExpand(0)(*both)[0].shape == (8, 10, 3)


@pytest.mark.parametrize(("low", "high"), [(0.3, None), (None, 0.2), (0.05, 0.5), (None, None)])
def test_crops_keep_to_their_constraints(low: float | None, high: float | None) -> None:
    np.random.seed(2)
    crop = bbox.ImageBboxRandomCropWithConstraints(1, 0.4, 0.9, 1.5, constraints=[(low, high)])
    sizes = set()
    for _ in range(60):
        box = numpy.array([[8, 8, 22, 24, 7]], "float32")
        x, boxes = crop(image_with_boxes(box, 40, 32), box)
        h, w = x.shape[:2]
        sizes.add((h, w))
        if (h, w) == (40, 32):
            continue
        assert len(boxes) == 1
        assert_boxes_match(x, boxes)
        assert 0.4**2 * 1280 - h - w <= h * w <= 0.9**2 * 1280
        assert 1 / 1.6 < (w / 32) / (h / 40) < 1.6
        part = (boxes[0, 2] - boxes[0, 0]) * (boxes[0, 3] - boxes[0, 1])
        share = part / (h * w + 14 * 16 - part)
        assert (low or 0) <= share <= (high or 1)
    assert len(sizes) > 10
    assert bbox.ImageBboxRandomCropWithConstraints(0)(image_with_boxes(), BOXES)[0].shape == (8, 10, 3)
    empty = bbox.ImageBboxRandomCropWithConstraints(1, constraints=[(0.9, None)] * 50)(image_with_boxes(), BOXES[:0])
    assert empty[1].shape == (0, 5)


def test_overlaps_of_boxes() -> None:
    rng = numpy.random.default_rng(0)
    a, b = (numpy.sort(rng.integers(0, 9, (n, 2, 2)), 1).reshape(n, 4) for n in (6, 5))
    grid = lambda box: {(i, j) for i in range(box[0], box[2]) for j in range(box[1], box[3])}
    got = bbox.utils.bbox_iou(a, b)
    for i, one in enumerate(map(grid, a)):
        for j, other in enumerate(map(grid, b)):
            assert got[i, j] == pytest.approx(len(one & other) / len(one | other) if one | other else 0)


def test_errors_of_transforms_of_boxes() -> None:
    with pytest.raises(ValueError, match=r"bbox_crop: bbox must have rows of 4 numbers or more, got shape \(4,\)"):
        bbox.ImageBboxCrop((0, 0, 1, 1))(image_with_boxes(), BOXES[0, :4])
    with pytest.raises(ValueError, match=r"ImageBboxRandomExpand: max_ratio must be at least 1, got 0\.5"):
        bbox.ImageBboxRandomExpand(max_ratio=0.5)
    with pytest.raises(ValueError, match=r"p must be in \[0, 1\], got 2"):
        bbox.ImageBboxRandomFlipLeftRight(2)


# --- loaders --------------------------------------------------------------------------------------


def written_images(folder: Path, n: int = 5) -> list[Any]:
    for i in range(n):
        Image.fromarray(numpy.full((8, 10, 3), 10 * i, "uint8")).save(folder / f"{i}.png")
    return [[float(i), f"{i}.png"] for i in range(n)]


@pytest.mark.parametrize("workers", [0, 2])
def test_images_of_a_list(tmp_path: Path, workers: int) -> None:
    names = written_images(tmp_path)
    loader = vision.ImageDataLoader(
        2, (3, 4, 6), imglist=names, path_root=tmp_path, num_workers=workers, mean=[0.1, 0, 0], std=[1, 1, 0.5]
    )
    batches = list(loader)
    assert len(loader) == 3
    assert [x.shape for x, _ in batches] == [(2, 3, 4, 6), (2, 3, 4, 6), (1, 3, 4, 6)]
    assert [y.ravel().tolist() for _, y in batches] == [[0, 1], [2, 3], [4]]
    numpy.testing.assert_allclose(batches[1][0].asnumpy()[1, :, 0, 0], [30 / 255 - 0.1, 30 / 255, 60 / 255], rtol=1e-6)


def test_parts_of_a_file_of_records(tmp_path: Path) -> None:
    file = io.BytesIO()
    Image.fromarray(image_with_boxes()).save(file, "png")
    records = [record_part(struct.pack("<IfQQ", 0, float(i), i, 0) + file.getvalue()) for i in range(5)]
    (tmp_path / "x.rec").write_bytes(b"".join(records))
    parts = [vision.ImageDataLoader(9, (3, 4, 4), tmp_path / "x.rec", num_parts=2, part_index=i) for i in (0, 1)]
    assert [[y.tolist() for _, y in loader] for loader in parts] == [[[0, 1, 2]], [[3, 4]]]


SETTINGS: list[dict[str, Any]] = [
    {"resize": 7}, {"rand_crop": True, "rand_mirror": True}, {"rand_resize": True, "dtype": "float16"},
    {"brightness": 0.2, "contrast": 0.2, "saturation": 0.2, "hue": 0.1, "pca_noise": 0.1, "rand_gray": 0.5},
]  # fmt: skip


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_usual_transforms(settings: dict[str, Any]) -> None:
    augment = vision.create_image_augment((3, 4, 6), mean=True, std=True, **settings)
    x = numpy.random.default_rng(0).integers(0, 255, (9, 12, 3)).astype("uint8")
    y = augment(x)
    assert y.shape == (3, 4, 6)
    assert y.dtype == settings.get("dtype", "float32")
    assert -3 < y.min() < y.max() < 3
    assert augment(np.array(x)).shape == (3, 4, 6)


def test_the_middle_is_cut_out_and_scaled() -> None:
    x = numpy.arange(8 * 10 * 3).reshape(8, 10, 3).astype("uint8")
    y = vision.create_image_augment((3, 4, 6), mean=[0.5] * 3, std=[0.25] * 3)(x)
    numpy.testing.assert_allclose(y, (x[2:6, 2:8].transpose(2, 0, 1) / 255 - 0.5) / 0.25, rtol=1e-5, atol=1e-6)


HEAD = [2, 5]
OBJECTS = [[7, 0.1, 0.25, 0.5, 0.75], [8, 0.6, 0, 0.9, 0.5]]  # BOXES, in parts of 8 x 10


@pytest.mark.parametrize("normalized", [True, False])
def test_images_with_boxes(tmp_path: Path, normalized: bool) -> None:
    Image.fromarray(image_with_boxes()).save(tmp_path / "x.png")
    rows = numpy.array(OBJECTS) if normalized else BOXES[:, [4, 0, 1, 2, 3]]
    one, two = ([*HEAD, *rows[:n].ravel().tolist(), "x.png"] for n in (2, 1))
    loader = vision.ImageBboxDataLoader(
        2, (3, 8, 10), imglist=[one, two], path_root=tmp_path, coord_normalized=normalized, inter_method=0
    )
    ((x, boxes),) = loader
    assert x.shape == (2, 3, 8, 10)
    numpy.testing.assert_allclose(boxes[0].asnumpy(), BOXES, rtol=1e-6)
    numpy.testing.assert_allclose(boxes[1].asnumpy(), [BOXES[0], [-1] * 5], rtol=1e-6)
    assert (x[0].asnumpy().transpose(1, 2, 0) * 255).round().astype(int).tolist() == image_with_boxes().tolist()


def test_boxes_go_through_all_transforms(tmp_path: Path) -> None:
    np.random.seed(3)
    x = image_with_boxes(numpy.array([[10, 10, 30, 30, 200]]), 40, 40)
    augment = vision.create_bbox_augment((3, 80, 80), rand_crop=0.5, rand_pad=0.5, rand_mirror=True, inter_method=0)
    seen = set()
    for _ in range(30):
        y, boxes = augment(x, numpy.array([[10, 10, 30, 30, 200]], "float32"))
        assert y.shape == (3, 80, 80)
        wanted = box_in_image((y.transpose(1, 2, 0) * 255).round(), 200)
        assert abs(boxes[0, :4] - wanted).max() <= 2  # nearest pixels of another size
        seen.add(tuple(wanted))
    assert len(seen) > 8


def test_errors_of_loaders(tmp_path: Path) -> None:
    names = written_images(tmp_path, 1)
    make = lambda **named: vision.ImageDataLoader(1, (3, 4, 4), path_root=tmp_path, **named)
    with pytest.raises(ValueError, match=r"ImageDataLoader: one of path_imgrec, path_imglist and imglist .* got 0"):
        make()
    with pytest.raises(ValueError, match=r"there must be no settings beside aug_list, got {'resize': 4}"):
        make(imglist=names, aug_list=[data.vision.transforms.ToTensor()], resize=4)
    with pytest.raises(ValueError, match=r"data_shape must be \(1 or 3, height, width\), got \(4, 4\)"):
        vision.ImageDataLoader(1, (4, 4), imglist=names)
    with pytest.raises(ValueError, match="rand_resize and rand_crop must not be given together"):
        vision.create_image_augment((3, 4, 4), rand_crop=True, rand_resize=True)
    ((x, _),) = make(imglist=names, aug_list=[data.vision.transforms.ToTensor()])
    assert x.shape == (1, 3, 8, 10)
    for wrong, says in (([2, 4, 1], "must begin with two widths"), ([2, 5, 1, 2], "must be rows of 5, got 2 numbers")):
        loader = vision.ImageBboxDataLoader(1, (3, 4, 4), imglist=[[*wrong, "0.png"]], path_root=tmp_path)
        with pytest.raises(ValueError, match=says):
            list(loader)
    assert contrib.data.IntervalSampler is data.IntervalSampler
