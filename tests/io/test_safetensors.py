"""The safetensors format: as the package of that name writes and reads it; files with false headers are refused."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy
import pytest
import safetensors
import safetensors.numpy as reference
from hypothesis import given, settings
from hypothesis import strategies as st

import forerun
from forerun import np
from forerun._io import ordering as order
from forerun.safetensors import load, load_file, safe_open, save, save_file
from forerun.testing import closed_gate
from tests.support.comparison.bits import assert_all_same_bits

BF16 = numpy.dtype(forerun._core.bfloat16())
DTYPES = ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8", BF16]
SHAPES = [(), (3,), (0, 2), (2, 3, 5), (1, 7)]


def tensor_samples() -> dict[str, numpy.ndarray]:
    rng = numpy.random.default_rng(1)
    return {
        f"{numpy.dtype(dtype).name} {shape}": (rng.integers(0, 2 if dtype == "?" else 100, shape)).astype(dtype)
        for dtype in DTYPES
        for shape in SHAPES
    }


def file_bytes(header: Any, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(kind: Any = "F32", shape: Any = (2,), offsets: Any = (0, 8)) -> dict[str, Any]:
    return {"dtype": kind, "shape": shape, "data_offsets": offsets}


class TestBothWays:
    def test_the_package_reads_written_files(self, tmp_path: Path) -> None:
        arrays = {name: np.array(x, dtype=x.dtype) for name, x in tensor_samples().items()}
        size = save_file(arrays, tmp_path / "x", {"by": "me", "ü": "é"})
        assert size.item() == (tmp_path / "x").stat().st_size
        assert_all_same_bits(reference.load_file(tmp_path / "x"), tensor_samples())
        with safetensors.safe_open(tmp_path / "x", "np") as file:
            assert file.metadata() == {"by": "me", "ü": "é"}

    def test_files_written_by_the_safetensors_package(self, tmp_path: Path) -> None:
        reference.save_file(tensor_samples(), tmp_path / "x", {"by": "them"})
        assert_all_same_bits(load_file(tmp_path / "x"), tensor_samples())
        with safe_open(tmp_path / "x") as file:
            assert file.metadata() == {"by": "them"}
            assert_all_same_bits({name: file.get_tensor(name) for name in file.keys()}, tensor_samples())  # noqa: SIM118

    def test_bytes(self) -> None:
        known = {
            name: x for name, x in tensor_samples().items() if x.dtype != BF16
        }  # the package's own reader of bytes lacks it
        assert_all_same_bits(reference.load(save(known)), known)
        assert_all_same_bits(load(reference.save(tensor_samples())), tensor_samples())

    def test_no_tensors_and_no_metadata(self, tmp_path: Path) -> None:
        save_file({}, tmp_path / "x")
        assert reference.load_file(tmp_path / "x") == {} == load_file(tmp_path / "x")
        with safe_open(tmp_path / "x") as file:
            assert file.metadata() is None

    def test_values_begin_where_their_dtype_may(self) -> None:
        data = save(tensor_samples())
        length = int.from_bytes(data[:8], "little")
        assert length % 8 == 0
        for name, entry in json.loads(data[8 : 8 + length]).items():
            assert entry["data_offsets"][0] % tensor_samples()[name].dtype.itemsize == 0

    def test_any_layout(self, tmp_path: Path) -> None:
        x = np.arange(24).reshape(2, 3, 4)
        views = {"turned": x.T, "stepped": x[:, ::2, 1::2], "back": x[::-1]}
        save_file(views, tmp_path / "x")
        assert_all_same_bits(reference.load_file(tmp_path / "x"), {name: v.numpy().copy() for name, v in views.items()})

    @settings(max_examples=30, deadline=None)
    @given(
        st.dictionaries(
            st.text(max_size=5),
            st.tuples(st.sampled_from(DTYPES[:-1]), st.lists(st.integers(0, 3), max_size=3)),
        )
    )
    def test_any_names_and_shapes(self, specs: dict[str, Any]) -> None:
        arrays = {name: numpy.ones(shape, dtype) for name, (dtype, shape) in specs.items() if name != "__metadata__"}
        try:
            data = save(arrays)
        except UnicodeEncodeError:
            return  # half a character is not a name
        assert_all_same_bits(reference.load(data), arrays)
        assert_all_same_bits(load(reference.save(arrays)), arrays)

    def test_a_dtype_that_the_format_lacks(self, tmp_path: Path) -> None:
        with pytest.raises(TypeError, match="save_file: dtype of x must be supported by the format, got complex128"):
            save_file({"x": numpy.ones(1, "c16")}, tmp_path / "x")
        with pytest.raises(TypeError, match="names must be strings"):
            save({1: numpy.ones(1)})  # type: ignore[dict-item]
        with pytest.raises(TypeError, match="metadata must map strings to strings"):
            save({}, {"x": 1})  # type: ignore[dict-item]


class TestInOrder:
    def test_a_load_comes_after_the_save_before_it(self, tmp_path: Path) -> None:
        x = np.arange(5)
        with closed_gate():
            first = save_file({"x": x}, tmp_path / "x", wait=False)
            early = load_file(tmp_path / "x")["x"]
            x += 1
            second = save_file({"x": x}, tmp_path / "x", wait=False)
            late = load_file(tmp_path / "x")["x"]
            assert not any(a.ready for a in (first, early, second, late))
        assert early.tolist() == [0, 1, 2, 3, 4]
        assert late.tolist() == [1, 2, 3, 4, 5]

    def test_of_a_file_in_another_format_that_is_about_to_be_written(self, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.arange(3), wait=False)
        with pytest.raises(ValueError, match="load_file: file must be in the safetensors format"):
            load_file(tmp_path / "x.npy")
        save_file({"x": np.arange(3)}, tmp_path / "y", wait=False)
        with pytest.raises(ValueError, match="load: file must be in NumPy's npy format"):
            np.load(tmp_path / "y")

    @pytest.mark.parametrize("other", [{"x": numpy.arange(4)}, {"y": numpy.arange(3)}], ids=["shape", "name"])
    def test_a_file_that_another_program_replaces_before_it_is_read(
        self, other: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        written = order.written
        monkeypatch.setattr(order, "written", lambda *a: (reference.save_file(other, tmp_path / "x"), written(*a)))
        with closed_gate():
            save_file({"x": np.arange(3)}, tmp_path / "x", wait=False)
            found = load_file(tmp_path / "x")["x"]
        with pytest.raises(ValueError, match="load_file: file must hold"):
            found.tolist()

    def test_slices_read_rows(self, tmp_path: Path) -> None:
        x = numpy.arange(60.0).reshape(5, 3, 4)
        save_file({"x": x, "n": numpy.array(3), "e": numpy.ones((0, 2))}, tmp_path / "x")
        with safe_open(tmp_path / "x") as file:
            part = file.get_slice("x")
            assert (part.get_shape(), part.get_dtype()) == ([5, 3, 4], "F64")
            for index in (
                slice(1, 3),
                (slice(-2, None), 1),
                2,
                (slice(None), slice(None), 0),
                slice(4, 1),
                slice(None, None, 2),
                ...,
            ):
                assert part[index].tolist() == x[index].tolist()
            assert file.get_slice("n")[()].item() == 3
            assert file.get_slice("e")[:].shape == (0, 2)
            with pytest.raises(KeyError):
                file.get_tensor("none")
        with pytest.raises(ValueError, match="file must be open"):
            file.get_tensor("x")


ENTRY = b'{"dtype":"F32","shape":[],"data_offsets":[0,4]}'
BAD = {
    "nothing": b"",
    "a length alone": struct.pack("<Q", 2),
    "a header longer than the file": struct.pack("<Q", 1 << 40) + b"{}",
    "a header longer than allowed": struct.pack("<Q", 100_000_001) + b"{}",
    "no JSON": file_bytes(b"{]"),
    "no text": file_bytes(b"\xff\xfe"),
    "a list": file_bytes([]),
    "deep": file_bytes(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "a name twice": file_bytes(b'{"x":%s,"x":%s}' % (ENTRY, ENTRY), bytes(4)),
    "not a number": file_bytes(b'{"x":{"dtype":"F32","shape":[NaN],"data_offsets":[0,4]}}', bytes(4)),
    "fractions": file_bytes({"x": tensor(shape=[2.0])}, bytes(8)),
    "truths": file_bytes({"x": tensor("U8", [True], [0, 1])}, bytes(1)),
    "negative extents": file_bytes({"x": tensor(shape=[-2, -1])}, bytes(8)),
    "too many axes": file_bytes({"x": tensor(shape=[1] * 64 + [2])}, bytes(8)),
    "an unknown dtype": file_bytes({"x": tensor("F31")}, bytes(8)),
    "no dtype": file_bytes({"x": {"shape": [2], "data_offsets": [0, 8]}}, bytes(8)),
    "more than is asked for": file_bytes({"x": {**tensor(), "more": 1}}, bytes(8)),
    "one place": file_bytes({"x": tensor(offsets=[8])}, bytes(8)),
    "places that end before they begin": file_bytes({"x": tensor(offsets=[8, 0])}, bytes(8)),
    "more bytes than values": file_bytes({"x": tensor(offsets=[0, 12])}, bytes(12)),
    "values beyond the file": file_bytes({"x": tensor()}, bytes(4)),
    "bytes of no tensor": file_bytes({"x": tensor()}, bytes(9)),
    "a hole": file_bytes({"x": tensor(), "y": tensor(offsets=[12, 20])}, bytes(20)),
    "an overlap": file_bytes({"x": tensor(), "y": tensor(offsets=[4, 12])}, bytes(12)),
    "twice the same": file_bytes({"x": tensor(), "y": tensor()}, bytes(8)),
    "twice the same, and as many bytes as both": file_bytes({"x": tensor(), "y": tensor()}, bytes(16)),
    "a product beyond 64 bits": file_bytes({"x": tensor("U8", [1 << 33, 1 << 33], [0, 4])}, bytes(4)),
    "an extent beyond 64 bits": file_bytes({"x": tensor("U8", [0, 1 << 70], [0, 0])}),
    "a product that is zero modulo 2**64": file_bytes({"x": tensor("U8", [1 << 32, 1 << 32], [0, 0])}),
    "metadata that are not texts": file_bytes({"__metadata__": {"x": 1}}),
}  # fmt: skip


# Files that the package accepts: the last of two names, unknown entries, and more axes than NumPy has.
ACCEPTED_BY_THE_PACKAGE = {"twice the same", "too many axes", "more than is asked for", "a name twice"}


@pytest.mark.parametrize("name", BAD)
def test_malformed_files_raise(name: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(BAD[name])
    for read in (
        lambda: load_file(tmp_path / "x"),
        lambda: safe_open(tmp_path / "x"),
        lambda: load(BAD[name]),
    ):
        with pytest.raises(ValueError, match=r"(load_file|safe_open|load): "):
            read()


@pytest.mark.parametrize("name", sorted(set(BAD) - ACCEPTED_BY_THE_PACKAGE))
def test_the_package_refuses_these_too(name: str) -> None:
    with pytest.raises((safetensors.SafetensorError, ValueError)):
        reference.load(BAD[name])


def test_values_truncated_after_the_header_was_read(tmp_path: Path) -> None:
    save_file({"x": np.ones(100_000)}, tmp_path / "x")
    with closed_gate():
        found = load_file(tmp_path / "x")["x"]
        with open(tmp_path / "x", "r+b") as file:
            file.truncate(1000)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"load_file: .* must have 400000 bytes of values, got") as caught:
            found.tolist()
    assert any("test_safetensors.py" in note for note in caught.value.__notes__)


# Shapes without values whose other extents no array could have, and one that just can be.
@pytest.mark.parametrize(
    "shape", [[0, 1 << 62], [0, 1 << 63], [1 << 40, 0, 1 << 40], [0, 10**30], [0, 1 << 61, 2], [0, 1 << 60]]
)
def test_shapes_without_values_are_judged_alike_by_all_readers(shape: list[int], tmp_path: Path) -> None:
    head = json.dumps({"x": {"dtype": "F32", "shape": shape, "data_offsets": [0, 0]}}).encode()
    data = len(head).to_bytes(8, "little") + head
    (tmp_path / "x").write_bytes(data)

    def opened(path: Path) -> Any:
        with safe_open(path) as file:
            return file.get_tensor("x")

    readers = (lambda: load(data)["x"], lambda: load_file(tmp_path / "x")["x"], lambda: opened(tmp_path / "x"))
    if shape == [0, 1 << 60]:
        assert [read().shape for read in readers] == [tuple(shape)] * 3
        return
    for read in readers:
        with pytest.raises(ValueError, match="x must have as many bytes as its values take"):
            read()
