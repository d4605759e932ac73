"""Parameters in files: MXNet's own (of tests/data/mxnet/generate_params.py), safetensors, npz; and invalid files."""

import io
import struct
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, gluon, np, npx
from forerun._io import mxnet_params as params
from forerun.gluon import nn
from forerun.gluon.parameter.dictionary import load
from tests.support.engine.resources import Peak
from tests.support.paths import DATA

FILES = DATA / "mxnet"


def net(**settings: Any) -> nn.HybridSequential:
    """The network of `net.params`."""
    made = nn.HybridSequential()
    made.add(nn.Dense(3, **settings), nn.BatchNorm(), nn.Dense(1))
    return made


def params_file(
    shape: tuple[int, ...] = (2,), mark: int = 0xF993FAC9, dtype: int = 0, data: bytes = bytes(8), **fields: int
) -> bytes:
    """A file with one array named "weight", and fields of its header that may be wrong."""
    head = struct.pack("<QQQ", 0x112, 0, fields.get("arrays", 1))
    axes = struct.pack(f"<i{len(shape)}q", fields.get("axes", len(shape)), *shape)
    array = struct.pack("<Ii", mark, fields.get("storage", 0)) + axes + struct.pack("<iii", 1, 0, dtype) + data
    names = struct.pack("<QQ", fields.get("names", 1), fields.get("length", 6)) + b"weight"
    return head + array + names


# --- MXNet's files ---------------------------------------------------------------------------------------------------


def test_a_net_of_mxnet_is_read() -> None:
    read = net()
    read.load_parameters(FILES / "net.params")
    for i, (name, parameter) in enumerate(read.collect_params().items()):
        counted = numpy.arange(numpy.prod(parameter.shape)).reshape(parameter.shape) + 10 * i
        assert (parameter.data().asnumpy() == counted).all(), name


def test_load_dict_strips_prefixes_of_export() -> None:
    exported = load(FILES / "exported-0000.params")
    assert list(exported)[:3] == ["arg:dense0_weight", "arg:dense0_bias", "arg:batchnorm0_gamma"]
    names = dict(zip(exported, net().collect_params()))
    read = net()
    read.load_dict({f"{old[:4]}{names[old]}": value for old, value in exported.items()})
    assert read[1].running_mean.data().tolist() == [40, 41, 42]


def test_arrays_of_mxnet_are_read() -> None:
    first, second = npx.load(FILES / "list.params")
    assert (first.tolist(), second.tolist()) == ([0, 1, 2], [[1, 1], [1, 1]])
    for dtype, x in npx.load(FILES / "dtypes.params").items():
        assert (x.dtype, x.tolist()) == (dtype, [[1, 2, 3]])
    found = npx.load(FILES / "numpy.params")
    assert (found["scalar"].shape, found["scalar"].item(), found["empty"].shape) == ((), 3.5, (2, 0))
    assert found["bools"].tolist() == [True, False]
    old = npx.load(FILES / "old.params")
    assert (old["first"].tolist(), old["second"].shape) == ([[0, 1, 2], [3, 4, 5]], (3, 2))


def test_reading_mxnets_files_does_not_wait(gate: None) -> None:
    found = npx.load(FILES / "net.params")
    assert not any(x.ready for x in found.values())
    _core.gate(False)
    assert found["2.bias"].tolist() == [70]


@pytest.mark.parametrize("kind", ["csr", "row_sparse"])
def test_sparse_arrays_are_refused_by_name(kind: str) -> None:
    for read in (npx.load, load):
        with pytest.raises(ValueError, match=f"load: x must be a dense array, got a {kind} one"):
            read(FILES / f"{kind}.params")


# --- invalid files ---------------------------------------------------------------------------------------------------

INVALID_FILES = {
    "another mark at the start": (b"\x13" + params_file()[1:], "file must be (an npz archive|in NumPy.s npy format)"),
    "arrays that are not there": (params_file(arrays=2), "array 2 of 2 must have"),
    "very many arrays": (params_file(arrays=1 << 60), "the file's head must count items within 62 bytes, got 11529215"),
    "a storage type": (params_file(storage=7), "array 1 of 1 must have a storage type from 0 to 2, got 7"),
    "axes": (params_file(axes=1 << 30), "array 1 of 1 must have 0 to 64 axes, got 1073741824"),
    "negative axes": (params_file(axes=-1), "array 1 of 1 must have 0 to 64 axes, got -1"),
    "a negative extent": (params_file((-2,)), r"array 1 of 1 must have extents that an array can have, got \(-2,\)"),
    "an extent": (params_file((1 << 40,)), "array 1 of 1 must have 4398046511104 bytes behind byte 56, got 30"),
    "extents that overflow": (params_file((1 << 40, 1 << 40)), "array 1 of 1 must have extents that an array can have"),
    "extents beside nothing": (
        params_file((1 << 62, 0), 0xF993FACA, data=b""), "array 1 of 1 must have extents that an array"
    ),
    "a dtype": (params_file(dtype=99), "array 1 of 1 must have a dtype numbered 0 to 12, got 99"),
    "no values": (params_file((), data=b""), "array 1 of 1 must have values, got none"),
    "the first layout's axes": (params_file(mark=1 << 20), "array 1 of 1 must have 0 to 64 axes, got 1048576"),
    "very many names": (params_file(names=1 << 61), "the names must count items within"),
    "another number of names": (params_file(names=0), "the names must end the file of 86 bytes, got 72"),
    "the length of a name": (params_file(length=1 << 50), "the names must count items within 6 bytes"),
    "bytes behind the end": (params_file() + b"x", "the names must end the file of 87 bytes, got 86"),
    "a name that is not a text": (params_file()[:-1] + b"\xff", "the names must be in UTF-8, got b'weigh"),
}  # fmt: skip


@pytest.mark.parametrize("case", INVALID_FILES)
def test_invalid_files_are_refused(case: str, tmp_path: Path) -> None:
    data, words = INVALID_FILES[case]
    (tmp_path / "net.params").write_bytes(data)
    layer = nn.Dense(2, in_units=1, use_bias=False)
    layer.initialize("ones")
    for read in (load, layer.load_parameters, npx.load):
        with pytest.raises(ValueError, match=words):
            read(tmp_path / "net.params")
    assert layer.weight.data().tolist() == [[1], [1]]


@pytest.mark.parametrize("name", ["net.params", "numpy.params", "csr.params", "old.params"])
def test_each_part_of_a_file_is_refused(name: str) -> None:
    whole = (FILES / name).read_bytes()
    for n in range(len(whole)):
        with pytest.raises(ValueError, match="load: "):
            load(io.BytesIO(whole[:n]))  # type: ignore[arg-type]


def test_memory_is_not_taken_for_missing_values() -> None:
    peak = Peak()
    for shape in ((1 << 32,), (1 << 29, 4)):
        with pytest.raises(ValueError, match="array 1 of 1 must have"):
            load(io.BytesIO(params_file(shape)))  # type: ignore[arg-type]
    assert peak.increase() < 64 << 20


def test_names_twice_are_refused() -> None:
    twice = params_file()[24:-22] * 2
    names = struct.pack("<QQ", 2, 6) + b"weight" + struct.pack("<Q", 6) + b"weight"
    data = params_file(arrays=2)[:24] + twice + names
    with pytest.raises(ValueError, match="the names must be one for each of 2 arrays, got 1 in 2"):
        params.read_contents(io.BytesIO(data), len(data), "load")


# --- into blocks -----------------------------------------------------------------------------------------------------


def test_the_suffix_chooses_the_format_and_reading_finds_out(tmp_path: Path) -> None:
    layer = nn.Dense(2, in_units=3)
    layer.initialize()
    for name in ("x.safetensors", "x.params", "x"):
        layer.save_parameters(tmp_path / name)
        again = nn.Dense(2, in_units=3)
        again.load_parameters(tmp_path / name)
        assert (again.weight.data() == layer.weight.data()).all()
    assert forerun.safetensors.load_file(tmp_path / "x.safetensors")["weight"].shape == (2, 3)
    assert (tmp_path / "x.params").read_bytes()[:2] == b"PK"
    (tmp_path / "x.safetensors").rename(tmp_path / "renamed")
    again.load_parameters(tmp_path / "renamed")


def test_a_block_takes_all_or_nothing() -> None:
    layer = nn.Dense(2, in_units=3)
    layer.initialize("ones")
    for bias, error, words in [
        (np.zeros(3), ValueError, r"load_dict: bias must be of shape \(2,\), got \(3,\)"),
        (np.zeros(2, "int32"), TypeError, "load_dict: bias must be float32, got int32"),
    ]:
        with pytest.raises(error, match=words):
            layer.load_dict({"weight": np.zeros((2, 3)), "bias": bias})
        assert layer.weight.data().tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(ValueError, match="load_dict: dtype_source must be one of"):
        layer.load_dict({}, dtype_source="file")


def test_dtypes_come_from_the_block_or_from_the_file(tmp_path: Path) -> None:
    layer, halves = nn.Dense(2, in_units=3), {"weight": np.ones((2, 3), "float16"), "bias": np.zeros(2, "float16")}
    npx.save(tmp_path / "halves", halves)
    layer.load_parameters(tmp_path / "halves", cast_dtype=True)
    assert {p.data().dtype.name for p in layer.collect_params().values()} == {"float32"}
    layer.load_parameters(tmp_path / "halves", cast_dtype=True, dtype_source="saved")
    assert {p.data().dtype.name for p in layer.collect_params().values()} == {"float16"}


def test_shared_parameters_are_written_once_if_asked(tmp_path: Path) -> None:
    def shared() -> nn.Sequential:
        made, layer = nn.Sequential(), nn.Dense(3, in_units=3)
        made.add(layer, layer, nn.Dense(1, in_units=3))
        return made

    made = shared()
    made.initialize("ones")
    for once, names in ((False, 6), (True, 4)):
        made.save_parameters(tmp_path / "x", deduplicate=once)
        assert len(load(tmp_path / "x")) == names
        again = shared()
        again.load_parameters(tmp_path / "x")
        assert again[1].weight.data().tolist() == [[1] * 3] * 3
    with pytest.raises(ValueError, match=r"load_dict: file must have all .*, got none for \['0.bias', '1.bias'"):
        made.load_dict({"0.weight": np.ones((3, 3))})


def test_prefixes_are_taken_off_and_put_back(tmp_path: Path) -> None:
    parameters = gluon.ParameterDict({"net_a": gluon.Parameter("a", shape=2)})
    parameters.initialize("ones")
    parameters.save(tmp_path / "x", strip_prefix="net_")
    assert list(load(tmp_path / "x")) == ["a"]
    parameters.zero_grad()
    parameters.load(tmp_path / "x", restore_prefix="net_")
    with pytest.raises(ValueError, match="save: names must begin with 'other_', got 'net_a'"):
        parameters.save(tmp_path / "x", strip_prefix="other_")


def test_arrays_are_taken_without_a_wait(gate: None) -> None:
    layer = nn.Dense(2, in_units=3)
    layer.initialize()
    layer.load_dict({"weight": np.ones((2, 3)), "bias": [1.0, 2.0]})
    y = layer(np.ones((1, 3)))
    assert not y.ready
    _core.gate(False)
    assert y.tolist() == [[4, 5]]
