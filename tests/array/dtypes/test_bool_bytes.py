"""Bools whose byte is neither 0 nor 1: they count as true in every function, for every way in which they come in."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest

from forerun import np, safetensors
from tests.support.comparison.outcomes import outcome, type_and_message

RAW = numpy.frombuffer(b"\x02\xff\x00\x80\x01\x00\x10", "?")
TRUE = RAW.view("u1") != 0
Door = Callable[[pathlib.Path], Any]


def seen_as_bools(_: pathlib.Path) -> Any:
    return np.array(RAW.view("u1")).view("bool")


def written_as_bytes(_: pathlib.Path) -> Any:
    x = np.zeros(RAW.size, bool)
    x.view("uint8")[...] = np.array(RAW.view("u1"))
    return x


def load_npy(path: pathlib.Path) -> Any:
    numpy.save(path / "x.npy", RAW)
    return np.load(path / "x.npy")


def load_npz(path: pathlib.Path, save: Any = numpy.savez) -> Any:
    save(path / "x.npz", x=RAW)
    return np.load(path / "x.npz")["x"]


def opened_npy(path: pathlib.Path) -> Any:
    numpy.save(path / "x.npy", RAW)
    with open(path / "x.npy", "rb") as file:
        return np.load(file)


def tensors(path: pathlib.Path) -> pathlib.Path:
    header = {"x": {"dtype": "BOOL", "shape": [RAW.size], "data_offsets": [0, RAW.size]}}
    text = json.dumps(header).encode()
    (path / "x.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + RAW.tobytes())
    return path / "x.safetensors"


DOORS: dict[str, Door] = {
    "array": lambda _: np.array(RAW),
    "asarray": lambda _: np.asarray(RAW),
    "frombuffer": lambda _: np.frombuffer(RAW.tobytes(), "?"),
    "a list of arrays": lambda _: np.array([RAW, RAW])[1],
    "a column": lambda _: np.array(numpy.stack([RAW, RAW], 1)[:, 1]),
    "assignment": lambda _: (x := np.zeros(RAW.size, bool), x.__setitem__(..., RAW))[0],
    "dlpack": lambda _: np.from_dlpack(RAW.copy()),
    "a copy by dlpack": lambda _: np.from_dlpack(RAW.copy(), copy=True),
    "view": seen_as_bools,
    "bytes": written_as_bytes,
    "npy": load_npy,
    "npz": load_npz,
    "opened npy": opened_npy,
    "compressed npz": lambda p: load_npz(p, numpy.savez_compressed),
    "safetensors": lambda p: safetensors.load_file(tensors(p))["x"],
    "safetensors in memory": lambda p: safetensors.load(tensors(p).read_bytes())["x"],
}

# The bytes that other libraries get of it.
EXITS: dict[str, Callable[[Any], bytes]] = {
    "numpy": lambda x: x.numpy().tobytes(),
    "asnumpy": lambda x: x.asnumpy().tobytes(),
    "tobytes": lambda x: x.tobytes(),
    "asarray": lambda x: numpy.asarray(x).tobytes(),
    "memoryview": lambda x: memoryview(x).tobytes(),
    "dlpack": lambda x: numpy.from_dlpack(x).tobytes(),
    "a part": lambda x: numpy.asarray(x[::-1]).tobytes()[::-1],
    "a copy": lambda x: x.copy().numpy().tobytes(),
    "taken": lambda x: np.take(x, np.arange(x.size)).numpy().tobytes(),
    "joined": lambda x: np.concatenate([x[:3], x[3:]]).numpy().tobytes(),
    "a cast": lambda x: x.astype("int8").tobytes(),
}


def dot_of_floats(x: Any) -> Any:
    return x.astype("float32") @ x.astype("float32")


def added_at(x: Any) -> Any:
    y = np.zeros(x.size, "int64")
    np.add.at(y, np.arange(x.size), x)
    return y


def added_at_itself(x: Any) -> Any:
    y = x.copy()
    np.add.at(y, [0, 2], True)
    return y


def stored_in_floats(x: Any) -> Any:
    y = np.zeros(x.size)
    y[...] = x
    return y


def writes_under_mask(x: Any) -> Any:
    y = np.zeros(x.size)
    y[x] = 1
    y[x & True] += 1
    np.add(y, 1, out=y, where=x)
    np.copyto(y, 7, where=~x)
    np.place(y, x, [1, 2, 3])
    return y


Use = Callable[[Any], Any]


def call_by_name(name: str) -> Use:
    return lambda x: getattr(np, name)(x)


def binary(name: str) -> Use:
    return lambda x: getattr(np, name)(x, np.array(OTHER))


def method(name: str, of: str) -> Use:
    return lambda x: getattr(getattr(np, name), of)(x)


OTHER = numpy.array([True, True, False, False, True, True, False])
USES: dict[str, Use] = {
    **{
        name: call_by_name(name)
        for name in (
            "sum",
            "prod",
            "mean",
            "var",
            "max",
            "min",
            "any",
            "all",
            "argmax",
            "argmin",
            "cumsum",
            "cumprod",
            "sort",
            "unique",
            "nonzero",
            "flatnonzero",
            "count_nonzero",
            "logical_not",
            "absolute",
            "sqrt",
            "exp",
            "diff",
            "flip",
            "median",
            "isfinite",
            "isnan",
            "invert",
            "square",
            "floor",
            "argwhere",
            "packbits",
            "copy",
            "ravel",
            "nansum",
            "average",
        )
    },
    **{
        name: binary(name)
        for name in (
            "add",
            "multiply",
            "logical_and",
            "logical_or",
            "logical_xor",
            "bitwise_and",
            "bitwise_or",
            "bitwise_xor",
            "equal",
            "not_equal",
            "less",
            "less_equal",
            "greater",
            "greater_equal",
            "maximum",
            "minimum",
            "fmax",
            "fmin",
            "divide",
            "floor_divide",
            "remainder",
            "power",
            "left_shift",
            "arctan2",
            "hypot",
            "array_equal",
            "dot",
            "inner",
            "outer",
            "kron",
            "convolve",
            "isin",
            "union1d",
            "intersect1d",
            "correlate",
            "copysign",
            "heaviside",
            "ldexp",
        )
    },
    **{
        f"{name}.reduce": method(name, "reduce")
        for name in (
            "logical_or",
            "logical_and",
            "logical_xor",
            "bitwise_or",
            "bitwise_and",
            "bitwise_xor",
            "maximum",
            "minimum",
            "add",
            "multiply",
        )
    },
    **{f"{name}.accumulate": method(name, "accumulate") for name in ("logical_or", "maximum", "minimum", "add")},
    **{
        f"as {d}": lambda x, d=d: x.astype(d)
        for d in ("int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex64")
    },
    "+ 1": lambda x: x + 1,
    "* 2.0": lambda x: x * 2.0,
    "+ 1j": lambda x: x + 1j,
    "== True": lambda x: x == True,  # noqa: E712
    "sum of bools": lambda x: x.sum(dtype=bool),
    "rows": lambda x: np.stack([x, x]).sum(1),
    "columns": lambda x: np.stack([x, x]).sum(0),
    "any of columns": lambda x: np.stack([x, x]).any(0),
    "largest of columns": lambda x: np.stack([x, x]).max(0),
    "one row": lambda x: x[None].any(0) + 1,
    "where": lambda x: np.where(x, 1, 2),
    "chosen": lambda x: np.where(x, x, False) + 1,
    "masked by it": lambda x: np.arange(x.size)[x],
    "its elements": lambda x: x[np.array(OTHER)] + 1,
    "matmul": lambda x: x[None] @ x[:, None],
    "of floats": dot_of_floats,
    "at": added_at,
    "at itself": added_at_itself,
    "stored": stored_in_floats,
    "a mask": writes_under_mask,
    "bincount": lambda x: np.bincount(x.astype("int64")),
    "searchsorted": lambda x: np.searchsorted(np.array([0, 1]), x),
    "where=": lambda x: np.sqrt(np.ones(x.size), where=x),
    "sum(where=)": lambda x: np.arange(x.size).sum(where=x),
    "elements": lambda x: [int(e) + bool(e) + e.item() for e in x],
    "repr": repr,
    "tolist": lambda x: x.tolist(),
    "put": lambda x: (y := np.zeros(7, int), np.put(y, np.arange(7), x))[0],
    "select": lambda x: np.select([x], [np.arange(7)], 9),
}


def text_of(found: Any) -> str:
    parts = found if isinstance(found, (tuple, list)) else (found,)
    return repr([v.tolist() if hasattr(v, "tolist") else v for v in parts])


outcome_of = partial(outcome, read=text_of, error=type_and_message)


@pytest.fixture(scope="module")
def want() -> dict[str, Any]:
    return {name: outcome_of(use, np.array(TRUE)) for name, use in USES.items()}


@pytest.mark.parametrize("door", DOORS)
def test_bytes_other_than_zero_count_as_true(door: str, want: dict[str, Any], tmp_path: pathlib.Path) -> None:
    x = DOORS[door](tmp_path)
    for name, use in USES.items():
        assert outcome_of(use, x) == want[name], name
    for name, leave in EXITS.items():
        assert leave(x) == TRUE.tobytes(), name


def test_no_listed_function_raises(want: dict[str, Any]) -> None:
    failed = {name for name, found in want.items() if isinstance(found, tuple)}
    assert failed == set()


def test_a_view_to_bools_shares_memory() -> None:
    x = np.array([0, 2, 0], "uint8")
    view = x.view("bool")
    view[0] = True
    x[2] = 7
    assert (view.tolist(), x.tolist()) == ([True] * 3, [1, 2, 7])


def test_dlpack_does_not_share_other_bytes() -> None:
    with pytest.raises(BufferError, match="bools must be bytes of 0 or 1 to be shared"):
        np.from_dlpack(RAW.copy(), copy=False)
    good = TRUE.copy()
    assert numpy.shares_memory(np.from_dlpack(good, copy=False).numpy(), good)


def test_frombuffer_of_bools_counts_nonzero_bytes() -> None:
    assert np.array(numpy.frombuffer(b"\x02\xff\x00\x80", "?")).sum() == 3
