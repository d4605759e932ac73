"""The safetensors format: a length, a header in JSON, the values. Read with distrust, without the engine.

Eight bytes give the length of the header. The header names tensors, each with its dtype, its shape and the range of its
bytes after the header; all ranges together cover the rest of the file, without holes and without overlaps.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

from ..ops._base import core as _core
from .direct_io import BLOCK, LEAST
from .npy import Header, possible, write_values

__all__ = ["Contents", "TensorEntry", "read_contents", "laid_out", "write", "LONGEST"]

LONGEST = 100_000_000  # bytes of a header, as in the reference implementation
_NAMES = {
    "BOOL": "bool", "U8": "u1", "I8": "i1", "U16": "u2", "I16": "i2", "U32": "u4", "I32": "i4", "U64": "u8",
    "I64": "i8", "F16": "f2", "F32": "f4", "F64": "f8", "C64": "c8",
}  # fmt: skip
_SIZES = {"BF16": 2, **{name: numpy.dtype(code).itemsize for name, code in _NAMES.items()}}
_ALIGNMENT = 8


@dataclass(frozen=True)
class TensorEntry:
    """Where a tensor's values are. start: in the file."""

    kind: str
    shape: tuple[int, ...]
    start: int
    nbytes: int

    def header(self) -> Header:
        """Return shape and dtype. ImportError for BF16 without ml_dtypes."""
        dtype = _core.bfloat16() if self.kind == "BF16" else numpy.dtype(_NAMES[self.kind])
        return Header(self.shape, numpy.dtype(dtype), False)


@dataclass(frozen=True)
class Contents:
    """The header of a file."""

    tensors: dict[str, TensorEntry]
    metadata: dict[str, str] | None


def read_contents(file: BinaryIO, size: int, op: str) -> Contents:
    """Return the header of a file of `size` bytes. ValueError if it is not a valid one."""
    length = int.from_bytes(file.read(8), "little") if size >= 8 else 0
    if not 2 <= length <= min(LONGEST, size - 8):
        raise ValueError(f"{op}: file must be in the safetensors format, got {size} bytes, header of {length}")
    header = _parsed(file.read(length), op)
    metadata = header.pop("__metadata__", None)
    if metadata is not None and not _texts(metadata):
        raise ValueError(f"{op}: metadata must map strings to strings, got {str(metadata)[:200]}")
    begin = 8 + length
    tensors = {name: _place(name, entry, begin, op) for name, entry in header.items()}
    end = begin
    for name, place in sorted(tensors.items(), key=lambda item: (item[1].start, item[1].nbytes)):
        if place.start != end:
            raise ValueError(f"{op}: {name} must begin where the one before it ends, {end}, got {place.start}")
        end += place.nbytes
    if end != size:
        raise ValueError(f"{op}: tensors must fill the file of {size} bytes, got {end}")
    return Contents(tensors, metadata)


def _parsed(text: bytes, op: str) -> dict[str, Any]:
    try:
        header = _json.decode(text.decode())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{op}: header must be in JSON, got {str(error)[:200]}") from None
    if not isinstance(header, dict):
        raise ValueError(f"{op}: header must name tensors, got {str(header)[:200]}")
    return header


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name twice")
    return found


def _refused(text: str) -> Any:
    raise ValueError(f"the number {text[:50]}")


_json = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused, parse_float=_refused)


def _texts(metadata: Any) -> bool:
    return isinstance(metadata, dict) and all(isinstance(value, str) for value in metadata.values())


def _place(name: str, entry: Any, begin: int, op: str) -> TensorEntry:
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        raise ValueError(f"{op}: {name} must have dtype, shape and data_offsets, got {str(entry)[:200]}")
    kind, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in _SIZES:
        raise ValueError(f"{op}: dtype of {name} must be one of {', '.join(_SIZES)}, got {str(kind)[:50]}")
    if not _counts(shape) or len(shape) > 64:
        raise ValueError(f"{op}: shape of {name} must be a list of extents, got {str(shape)[:200]}")
    if not _counts(offsets) or len(offsets) != 2:
        raise ValueError(f"{op}: data_offsets of {name} must be two positions, got {str(offsets)[:200]}")
    nbytes = math.prod(shape) * _SIZES[kind]
    if offsets[1] - offsets[0] != nbytes or not possible(shape, _SIZES[kind]):
        text = f"{offsets[0]} to {offsets[1]} for {kind} of shape {tuple(shape)}"
        raise ValueError(f"{op}: {name} must have as many bytes as its values take, got {text}"[:400])
    return TensorEntry(kind, tuple(shape), begin + offsets[0], nbytes)


def _counts(numbers: Any) -> bool:
    return isinstance(numbers, list) and all(type(n) is int and n >= 0 for n in numbers)


# --- writing ---


def laid_out(
    tensors: Mapping[str, Any], metadata: Mapping[str, str] | None, op: str
) -> tuple[bytes, list[str], dict[str, Header]]:
    """Return a file's beginning, the names in the order of their values, and the header of each.

    Large elements come before small ones. Large tensors of whole blocks come first, aligned to a block of the file.

    tensors: anything with a shape and a dtype. TypeError for a dtype or a name that the format does not have.
    """
    if metadata is not None and not _texts(dict(metadata)):
        raise TypeError(f"{op}: metadata must map strings to strings, got {metadata!r}")
    kinds = {name: _kind(name, x.dtype, op) for name, x in tensors.items()}
    large = {name for name, x in tensors.items() if x.nbytes >= LEAST}
    whole = {name for name in large if tensors[name].nbytes % BLOCK == 0}
    order = sorted(tensors, key=lambda name: (name not in whole, -_SIZES[kinds[name]], name))
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        start, end = end, end + tensors[name].nbytes
        header[name] = {"dtype": kinds[name], "shape": list(tensors[name].shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % (BLOCK if large else _ALIGNMENT))
    if len(text) > LONGEST:
        raise ValueError(f"{op}: header must have at most {LONGEST} bytes, got {len(text)}")
    headers = {name: Header(tuple(tensors[name].shape), tensors[name].dtype, False) for name in order}
    return len(text).to_bytes(8, "little") + text, order, headers


def _kind(name: Any, dtype: Any, op: str) -> str:
    if not isinstance(name, str) or name == "__metadata__":
        raise TypeError(f"{op}: names must be strings other than __metadata__, got {name!r}")
    for kind, code in _NAMES.items():
        if dtype == numpy.dtype(code):
            return kind
    if dtype.name == "bfloat16":
        return "BF16"
    raise TypeError(f"{op}: dtype of {name} must be supported by the format, got {dtype}")


def write(file: Any, begin: bytes, values: Iterable[numpy.ndarray]) -> None:
    """Write a file's beginning, and values in their order."""
    file.write(begin)
    for x in values:
        write_values(file, x)
