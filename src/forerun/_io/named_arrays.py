"""Files of named arrays in several formats, which are recognised by their first bytes, not by their names.

npz (NumPy's), safetensors, and MXNet's own (".params").
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy

from . import file_ops as issue
from . import mxnet_params as params
from . import npy
from . import ordering as order
from . import safetensors as tensors
from .atomic_write import place
from .npy import Header

if TYPE_CHECKING:
    from ..typing import Array, DeviceLike


__all__ = ["format_of", "read_named", "save_named", "params_by_name"]

Entries = dict[str, tuple[Header, int]]


def format_of(file: BinaryIO, size: int) -> str:
    """Return "params", "safetensors" or "npz"; the last one also for files of an unknown format."""
    start = file.tell()
    head = file.read(9)
    file.seek(start)
    if head[:8] == params.MAGIC:
        return "params"
    fits = 2 <= int.from_bytes(head[:8], "little") <= size - 8
    return "safetensors" if fits and head[8:] == b"{" else "npz"


def read_named(file: BinaryIO, op: str) -> dict[str, numpy.ndarray]:
    """Return the arrays of an open file by their names; those without a name by their number.

    ValueError if it is in none of the formats, has impossible contents, or has a sparse array.
    """
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)
    kind = format_of(file, size)
    if kind == "npz":
        return npy.read_arrays(file, op)
    found = _tensors(file, size, op) if kind == "safetensors" else _params(file, size, op)
    return {name: _read(file, header, start + at, op, name) for name, (header, at) in found.items()}


def _tensors(file: BinaryIO, size: int, op: str) -> Entries:
    contents = tensors.read_contents(file, size, op).tensors
    return {name: (at.header(), at.start) for name, at in contents.items()}


def _params(file: BinaryIO, size: int, op: str) -> Entries:
    found = params.read_contents(file, size, op)
    named = found if isinstance(found, dict) else {str(i): at for i, at in enumerate(found)}
    return {name: (_dense(name, at, op), at.start) for name, at in named.items()}


def _dense(name: str, at: params.TensorEntry, op: str) -> Header:
    if at.sparse:
        raise ValueError(f"{op}: {name} must be a dense array, got a {at.sparse} one")
    return at.header


def _read(file: BinaryIO, header: Header, at: int, op: str, name: str) -> numpy.ndarray:
    file.seek(at)
    flat = numpy.empty(header.shape, header.dtype).reshape(-1)
    try:
        npy.filled(flat.view("u1").data, file, header, op)
    except ValueError as error:
        raise ValueError(f"{error} for {name}") from None
    return flat.reshape(header.shape)


def save_named(op: str, filename: str | os.PathLike[str], arrays: Mapping[str, Any], wait: bool = True) -> Array:
    """Write arrays by their names: in the safetensors format if the file's name ends so, else as npz.

    Returns the file's size, an array: when the file is written, or at once if it is not to wait.
    """
    if not os.fspath(filename).endswith(".safetensors"):
        return issue.save_arrays(op, filename, arrays, wait=wait)
    begin, names, headers = tensors.laid_out(arrays, None, op)
    write = lambda out, *values: tensors.write(out, begin, values)
    known = {name: arrays[name] for name in names}
    return issue.save(op, place(filename), "safetensors", known, list(headers.values()), write, wait)


def params_by_name(op: str, path: str, device: DeviceLike = None) -> dict[str, Any] | list[Any] | None:
    """The arrays of a file of MXNet's, each read by an operation; None if it is in another format, or is about to be
    written."""
    if order.pending_write(path) is not None or not os.path.isfile(path):
        return None
    file = issue.Opened(path)
    with file.stream() as stream:
        if format_of(stream, file.size) != "params":
            return None
        found = params.read_contents(stream, file.size, op)
    if isinstance(found, list):
        return [_issued(op, file, str(i), at, device) for i, at in enumerate(found)]
    return {name: _issued(op, file, name, at, device) for name, at in found.items()}


def _issued(op: str, file: issue.Opened, name: str, at: params.TensorEntry, device: DeviceLike) -> Any:
    header = _dense(name, at, op)
    fill: Callable[..., Any] = partial(issue.values, op, file, at.start, header)
    return issue.reads(op, header, fill, None, device)
