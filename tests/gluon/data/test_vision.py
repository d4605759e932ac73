"""Transforms of NumPy's images and of forerun's, data sets of images in files, records."""

from __future__ import annotations

import io
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy
import pytest
from PIL import Image

from forerun import np, npx
from forerun.gluon import data, nn
from forerun.gluon.data import vision
from forerun.gluon.data.vision import transforms as T
from tests.support.comparison.tolerances import assert_close
from tests.support.files.data_files import MAGIC, record_part

RNG = numpy.random.default_rng(6)
PICTURE = RNG.integers(0, 256, (9, 12, 3)).astype("u1")
FLOATS = RNG.uniform(size=(3, 9, 12)).astype("f4")

OF_PICTURES = {
    "Cast": lambda: T.Cast("int16"),
    "ToTensor": T.ToTensor,
    "Resize": lambda: T.Resize((5, 4)),
    "Resize, ratio kept": lambda: T.Resize(4, keep_ratio=True, interpolation=2),
    "CenterCrop": lambda: T.CenterCrop((4, 5)),
    "CenterCrop, larger": lambda: T.CenterCrop(20),
    "CropResize": lambda: T.CropResize(1, 2, 4, 5),
    "CropResize, resized": lambda: T.CropResize(1, 2, 4, 5, (3, 2)),
    "RandomCrop": lambda: T.RandomCrop(5),
    "RandomCrop, padded": lambda: T.RandomCrop((13, 10), pad=(1, 2, 3, 0), pad_value=7),
    "RandomResizedCrop": lambda: T.RandomResizedCrop(5, scale=0.2),
    "RandomFlipLeftRight": T.RandomFlipLeftRight,
    "RandomFlipTopBottom": T.RandomFlipTopBottom,
    "RandomBrightness": lambda: T.RandomBrightness(0.5),
    "RandomContrast": lambda: T.RandomContrast(0.5),
    "RandomSaturation": lambda: T.RandomSaturation(0.5),
    "RandomHue": lambda: T.RandomHue(0.5),
    "RandomColorJitter": lambda: T.RandomColorJitter(0.5, 0.5, 0.5, 0.5),
    "RandomLighting": lambda: T.RandomLighting(0.5),
    "RandomGray": T.RandomGray,
    "RandomApply": lambda: T.RandomApply([T.RandomBrightness(0.9), T.RandomFlipLeftRight(1)]),
    "HybridRandomApply": lambda: T.HybridRandomApply(T.RandomBrightness(0.9)),
    "HybridCompose": lambda: T.HybridCompose([T.CenterCrop(4), T.ToTensor()]),
    "Compose": lambda: T.Compose([T.RandomCrop(5), T.ToTensor(), T.Normalize([0.1, 0.2, 0.3], 0.5)]),
}
OF_TENSORS = {
    "Normalize": lambda: T.Normalize(0.5, [1, 2, 3]),
    "Rotate": lambda: T.Rotate(30),
    "RandomRotation": lambda: T.RandomRotation((-40, 40), zoom_in=True, rotate_with_proba=0.7),
}


def transformed(transform: Any, x: Any) -> list[Any]:
    np.random.seed(2)
    return [transform(x) for _ in range(6)]


@pytest.mark.parametrize("name", [*OF_PICTURES, *OF_TENSORS])
def test_numpys_images_give_the_same_results(name: str) -> None:
    make, x = (OF_PICTURES[name], PICTURE) if name in OF_PICTURES else (OF_TENSORS[name], FLOATS)
    before = x.copy()
    results, numpy_results = transformed(make(), np.array(x, dtype=x.dtype)), transformed(make(), x)
    for a, b in zip(results, numpy_results):
        assert isinstance(b, numpy.ndarray)
        assert not isinstance(a, numpy.ndarray)
        assert (a.shape, a.dtype) == (b.shape, b.dtype)
        difference = abs(a.asnumpy().astype("f8") - b)
        assert difference.max() <= (1 if b.dtype == "uint8" else 1e-5)  # a half may round to either side
        assert (difference > 1e-5).mean() < 0.02
    assert numpy.array_equal(x, before)
    if "Random" in name:
        assert len({a.tobytes() for a in numpy_results}) > 1


def test_all_transforms_of_mxnet_exist() -> None:
    names = """Compose HybridCompose Cast RandomApply HybridRandomApply ToTensor Normalize Rotate RandomRotation
    RandomResizedCrop CropResize RandomCrop CenterCrop Resize RandomFlipLeftRight RandomFlipTopBottom RandomBrightness
    RandomContrast RandomSaturation RandomHue RandomColorJitter RandomLighting RandomGray"""
    assert [name for name in names.split() if not hasattr(T, name)] == []


def test_crops_and_padding() -> None:
    assert numpy.array_equal(T.CropResize(1, 2, 4, 5)(PICTURE), PICTURE[2:7, 1:5])
    batch = np.array(numpy.stack([PICTURE, PICTURE[::-1]]), dtype="uint8")
    assert numpy.array_equal(T.CropResize(1, 2, 4, 5)(batch)[1], PICTURE[::-1][2:7, 1:5])
    assert numpy.array_equal(T.RandomFlipLeftRight(1)(batch)[0], PICTURE[:, ::-1])
    assert numpy.array_equal(T.RandomFlipTopBottom(1)(batch)[0], PICTURE[::-1])
    whole = T.RandomCrop((14, 13), pad=(1, 3, 2, 0), pad_value=9)(PICTURE)
    assert numpy.array_equal(whole[1:10, 2:], PICTURE)
    assert (whole[0] == whole[10:]).all()
    assert (whole[:, :2] == 9).all()
    np.random.seed(0)
    places = {T.RandomCrop(12, pad=2)(PICTURE).tobytes() for _ in range(300)}
    assert len(places) == 2 * 5  # rows 0 and 1 of 13, columns 0 to 4 of 16
    with pytest.raises(ValueError, match=r"RandomCrop: pad must be a number or four, got \(1, 2\)"):
        T.RandomCrop(3, pad=(1, 2))
    with pytest.raises(ValueError, match=r"fixed_crop: crop must be inside \(9, 12\)"):
        T.CropResize(10, 0, 4, 5)(PICTURE)


def test_greys_and_limits() -> None:
    grey = T.RandomGray(1)(FLOATS.transpose(1, 2, 0))
    assert_close(grey[..., 0], FLOATS.transpose(1, 2, 0) @ [0.299, 0.587, 0.114], 1e-5)
    assert numpy.array_equal(grey[..., 0], grey[..., 2])
    assert T.RandomGray(0)(PICTURE) is PICTURE
    np.random.seed(0)
    assert all((T.RandomBrightness(5)(np.ones((1, 1, 3))) >= 0).all() for _ in range(20))


def test_labels_are_handed_on() -> None:
    both = T.Compose([T.CenterCrop(2), T.ToTensor()])
    for transform in (both, T.ToTensor(), T.RandomApply([T.ToTensor()], 1), T.RandomApply([T.ToTensor()], 0)):
        for x in (PICTURE, np.array(PICTURE)):
            y, label, other = transform(x, 5, "b")
            assert (label, other, type(y)) == (5, "b", type(x))
    with pytest.raises(ValueError, match="HybridCompose: transforms must be HybridBlocks, got Lambda"):
        T.HybridCompose([nn.Lambda(lambda x: x)])


class Pictures(vision.MNIST):
    """Without files."""

    def __init__(self) -> None:
        self._images, self._labels = RNG.integers(0, 256, (10, 4, 5, 1)).astype("u1"), numpy.arange(10, dtype="int32")


class TestTypesOfImages:
    """Transforms of the package get NumPy's images from the data sets; user-defined functions get forerun's."""

    def test_custom_functions(self) -> None:
        kinds: list[Any] = []

        def look(x: Any, *rest: Any) -> Any:
            kinds.append(type(x))
            return (x, *rest) if rest else x

        examples = Pictures()
        for loaded in (
            examples.transform_first(look), examples.transform(look),
            examples.transform_first(T.Compose([T.CenterCrop((5, 4)), look, T.Cast()])),
        ):  # fmt: skip
            assert [x.shape for x, _ in data.DataLoader(loaded, 5)] == [(5, 4, 5, 1)] * 2
        assert kinds == [type(np.ones(1))] * 30

    def test_custom_blocks(self) -> None:
        kinds: list[Any] = []

        class Custom(T.CenterCrop):
            def forward(self, x: Any, *args: Any) -> Any:
                kinds.append(type(x))
                return super().forward(x, *args)

        for several in (Custom(2), T.Compose([T.CenterCrop(3), Custom(2)])):
            assert next(iter(data.DataLoader(Pictures().transform_first(several), 4)))[0].shape == (4, 2, 2, 1)
        assert kinds == [type(np.ones(1))] * 8

    def test_functions_that_make_batches_get_whole_examples(self) -> None:
        def batch(examples: list[Any]) -> Any:
            kinds.extend((x.dtype, x.shape, x.max() <= 1) for x, _ in examples)
            return data.batchify.Stack()(examples)

        kinds: list[Any] = []
        several = T.Compose([T.CenterCrop(3), T.ToTensor(), T.Normalize()])
        loader = data.DataLoader(Pictures().transform_first(several), 5, batchify_fn=batch)
        assert all(x.max().item() <= 1 for x, _ in loader)
        assert kinds == [("float32", (1, 3, 3), True)] * 10

    def test_hooks_are_called(self) -> None:
        transform, calls = T.Compose([T.ToTensor(), T.Normalize()]), []
        transform[0].register_forward_hook(lambda block, args, y: calls.append(type(y)))
        list(data.DataLoader(Pictures().transform_first(transform), 4))
        assert calls == [type(np.ones(1))] * 10

    def test_a_custom_data_set(self) -> None:
        class Darker(Pictures):
            def __getitem__(self, index: int) -> Any:
                x, y = super().__getitem__(index)
                return x // 2, y

        loader = data.DataLoader(Darker().transform_first(T.ToTensor()).take(4), 4)
        assert (next(iter(loader))[0] <= 0.5).all()

    @pytest.mark.parametrize("workers", [0, 1])
    def test_blocks_that_are_hybridized_draw_for_each_image(self, workers: int) -> None:
        several = nn.HybridSequential()
        several.add(T.RandomFlipLeftRight(), T.RandomLighting(9), T.ToTensor())
        several.hybridize()
        examples = data.SimpleDataset([np.array(PICTURE, dtype="float32", ctx=npx.cpu())] * 12).transform(several)
        batch = next(iter(data.DataLoader(examples, 12, num_workers=workers)))
        assert len({x.tobytes() for x in batch.asnumpy()}) == 12

    @pytest.mark.parametrize("workers", [0, 1])
    def test_batches_are_the_transformed_examples(self, workers: int) -> None:
        both = T.Compose([T.RandomCrop(3, pad=1), T.RandomFlipLeftRight(), T.ToTensor(), T.Normalize(0.5, 0.5)])
        examples = Pictures()
        np.random.seed(3)
        found = list(data.DataLoader(examples.transform_first(both).take(7), 4, num_workers=workers))
        np.random.seed(3)
        single = data.SimpleDataset([examples[i] for i in range(7)]).transform_first(both)
        again = list(data.DataLoader(single, 4, batchify_fn=lambda found: data.batchify.Stack()(found)))
        for (x, y), (a, b) in zip(found, again):
            assert (x.dtype, y.dtype, type(x)) == ("float32", "int32", type(np.ones(1)))
            assert numpy.array_equal(x, a)
            assert y.tolist() == b.tolist()
        assert [len(y) for _, y in found] == [4, 3]


# --- files -------------------------------------------------------------------------------------------


def encoded(i: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 2), (i, 2 * i, 0)).save(file, "png")
    return file.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for i, name in enumerate(("dog/2.png", "dog/1.PNG", "cat/3.png")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(encoded(i + 1))
    return tmp_path


@pytest.mark.parametrize("workers", [0, 1])
def test_folders(folder: Path, workers: int) -> None:
    examples = vision.ImageFolderDataset(folder)
    assert [examples[i][0][0, 0].tolist() for i in range(3)] == [[3, 6, 0], [2, 4, 0], [1, 2, 0]]
    x, y = next(iter(data.DataLoader(examples.transform_first(T.ToTensor()), 3, num_workers=workers)))
    assert (x.shape, y.tolist()) == ((3, 3, 2, 4), [0, 1, 1])
    assert vision.ImageFolderDataset(folder, flag=0)[0][0].shape == (2, 4, 1)
    (folder / "dog" / "2.png").write_bytes(encoded(1)[:40])
    with pytest.raises(ValueError, match="imdecode: buf must hold an image") as caught:
        list(data.DataLoader(examples, 1, num_workers=workers))
    assert caught.value.__notes__ == [f"in {folder}/dog/2.png"]


def test_lists(folder: Path) -> None:
    (folder / "all.lst").write_text("5\t1\tdog/2.png\n7\t0\t2.5\tcat/3.png\n")
    examples = vision.ImageListDataset(folder, "all.lst")
    assert len(examples) == 2
    (x, one), (y, two) = examples
    assert (x[0, 0].tolist(), one.tolist(), y[0, 0].tolist(), two.tolist()) == ([1, 2, 0], [1], [3, 6, 0], [0, 2.5])
    assert (type(one), one.dtype) == (type(x), "float32")
    rows = [[3, "dog/1.PNG"], [[4, 5], "cat/3.png"], [6.0, 7.0, "cat/3.png"]]
    assert [y.tolist() for _, y in vision.ImageListDataset(folder, rows)] == [[3], [4, 5], [6, 7]]
    loader = data.DataLoader(vision.ImageListDataset(folder, rows[:1] * 2).transform_first(T.ToTensor()), 2)
    assert [part.shape for part in next(iter(loader))] == [(2, 3, 2, 4), (2, 1)]
    for wrong in ([["dog/1.png"]], [[1, 2]], [["a", "dog/1.png"]], [5]):
        with pytest.raises(ValueError, match="ImageListDataset: entries must be labels and a path"):
            vision.ImageListDataset(folder, wrong)
    with pytest.raises(ValueError, match="ImageListDataset: imglist must be a file or a list, got NoneType"):
        vision.ImageListDataset(folder)


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Three records, of which the second holds the mark between records twice."""
    parts = [
        record_part(b"first"),
        record_part(b"a", 1) + record_part(b"bc", 2) + record_part(b"", 3),
        record_part(b""),
    ]
    (tmp_path / "x.rec").write_bytes(b"".join(parts))
    return tmp_path / "x.rec"


CONTENTS = [b"first", b"a" + MAGIC + b"bc" + MAGIC, b""]


def test_records(records: Path) -> None:
    found = data.RecordFileDataset(records)
    assert list(found) == CONTENTS
    assert list(pickle.loads(pickle.dumps(found))) == CONTENTS
    records.with_suffix(".idx").write_text("0\t48\n1\t16\n")
    assert list(data.RecordFileDataset(str(records))) == [CONTENTS[2], CONTENTS[1]]
    loader = data.DataLoader(found, 2, batchify_fn=data.batchify.AsList(), num_workers=2)
    assert list(loader) == [CONTENTS[:2], CONTENTS[2:]]


@pytest.mark.parametrize(
    "content",
    [record_part(b"x")[:-5], record_part(b"x")[:7], b"abcd" * 4, record_part(b"x", 1),
     record_part(b"x", 1) + record_part(b"x"), record_part(b"x", 7), MAGIC + struct.pack("<I", 0x1FFFFFFF)],
)  # fmt: skip
def test_damaged_records_are_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.rec").write_bytes(content)
    with pytest.raises(ValueError, match=r"x.rec: must hold a record at byte \d+ of \d+"):
        data.RecordFileDataset(tmp_path / "x.rec")


def test_damaged_indices_are_refused(records: Path) -> None:
    for text in ("0 52", "0\tx", "0"):
        records.with_suffix(".idx").write_text(text)
        with pytest.raises(ValueError, match=r"x.idx: lines must be a key, a tab and a position"):
            data.RecordFileDataset(records)
    for damaged in (b"\xff\xfe0\t16\n", b"0\t16\n\x80\t48\n"):
        records.with_suffix(".idx").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"x.idx: index must be text in UTF-8, got .* can't decode byte"):
            data.RecordFileDataset(records)
    for place in (1, -4, 999, 2**70):
        records.with_suffix(".idx").write_text(f"0\t{place}")
        with pytest.raises(ValueError, match=f"must hold a record at byte {place}"):
            data.RecordFileDataset(records)[0]


def test_images_in_records(tmp_path: Path) -> None:
    one = struct.pack("<IfQQ", 0, 3.0, 1, 0) + encoded(1)
    two = struct.pack("<IfQQ", 2, 0.0, 1, 0) + struct.pack("<2f", 4, 5) + encoded(2)
    (tmp_path / "x.rec").write_bytes(record_part(one) + record_part(two))
    examples = vision.ImageRecordDataset(tmp_path / "x.rec")
    (x, a), (y, b) = examples
    assert (x[0, 0].tolist(), a, y[0, 0].tolist(), b.tolist()) == ([1, 2, 0], 3.0, [2, 4, 0], [4, 5])
    for wrong, message in ((b"short", "a header of 24 bytes"), (two[:28], "must have 2 labels")):
        (tmp_path / "x.rec").write_bytes(record_part(wrong))
        with pytest.raises(ValueError, match=message):
            vision.ImageRecordDataset(tmp_path / "x.rec")[0]
