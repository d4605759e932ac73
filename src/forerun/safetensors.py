"""Files in the safetensors format, by the names of the package of that name; values are read and written by operations.

>>> import tempfile
>>> from forerun import np
>>> from forerun.safetensors import load_file, save_file
>>> with tempfile.TemporaryDirectory() as folder:
...     size = save_file({"weight": np.ones((2, 2)), "bias": np.zeros(2)}, f"{folder}/model")
...     found = load_file(f"{folder}/model")
...     found["weight"].sum().item(), found["bias"].tolist()
(4.0, [0.0, 0.0])
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy

from ._display.namespaces import dir_of
from ._io import file_ops as issue
from ._io import ordering as order
from ._io import safetensors as form
from ._io.atomic_write import place
from ._io.npy import Header, Room
from ._runtime.device import Device, resolve
from .ops._base.convert import asarray, check_choice

if TYPE_CHECKING:
    from .typing import Array


__all__ = ["save_file", "load_file", "save", "load", "safe_open"]
__dir__ = dir_of(__name__)


def save_file(
    tensors: Mapping[str, Any],
    filename: str | os.PathLike[str],
    metadata: Mapping[str, str] | None = None,
    *,
    wait: bool = True,
) -> Array:
    """Write arrays by name to a file. The file is whole or not there, as with `np.save`.

    Parameters
    ----------
    tensors : mapping of array_like
        The arrays by their names.
    filename : path
        The file.
    metadata : mapping of str, optional
        Texts by name to write beside the arrays.
    wait : bool, optional
        Whether the call returns only when the file is written. With False it returns at once, as `np.save` does, and an
        error of the write is raised by reads of the size.

    Returns
    -------
    array
        The size of the file in bytes.

    Raises
    ------
    TypeError
        For a dtype that the format does not have (complex128), or metadata other than texts.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"x": np.ones(4)}, f"{folder}/x", {"by": "me"}).item()
    112
    """
    known = {name: asarray(x) for name, x in tensors.items()}
    begin, names, headers = form.laid_out(known, metadata, "save_file")
    write = lambda out, *values: form.write(out, begin, values)
    arrays = {name: known[name] for name in names}
    laid_out = list(headers.values())
    return issue.save("save_file", place(filename), "safetensors", arrays, laid_out, write, wait)


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """Return the bytes that `save_file` would write. Waits for the values.

    Parameters
    ----------
    tensors : mapping of array_like
        The arrays by their names.
    metadata : mapping of str, optional
        Texts by name to write beside the arrays.

    Returns
    -------
    bytes
        The contents of the file.

    Raises
    ------
    TypeError
        For a dtype that the format does not have (complex128), or metadata other than texts.

    Examples
    --------
    >>> from forerun import np
    >>> load(save({"x": np.arange(3)}))["x"].tolist()
    [0, 1, 2]
    """
    known = {name: asarray(x) for name, x in tensors.items()}
    begin, names, _ = form.laid_out(known, metadata, "save")
    out = io.BytesIO()
    form.write(out, begin, [known[name].numpy() for name in names])
    return out.getvalue()


def load_file(filename: str | os.PathLike[str], device: Device | str | None = None) -> dict[str, Array]:
    """Return the arrays of a file, each read by an operation. Waits for nothing but the file's header.

    If the file is about to be saved, the operations come after that.

    Parameters
    ----------
    filename : path
        The file.
    device : Device or str, optional
        Where the arrays are created; None for the current device.

    Returns
    -------
    dict of arrays
        The arrays by their names.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        If it is in another format, or contradicts itself.
    ImportError
        For bfloat16 without ml_dtypes.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = save_file({"x": np.ones(4)}, f"{folder}/x")
    ...     load_file(f"{folder}/x")["x"].sum().item()
    4.0
    """
    path, where = place(filename), None if device is None else resolve(device)
    write = order.pending_write(path)
    if write and write.kind == "safetensors":
        return {name: _promised(path, write, name, h, where) for name, h in write.headers.items()}
    file, contents = _opened("load_file", path)
    return {name: _read("load_file", file, p, where) for name, p in contents.tensors.items()}


def load(data: bytes) -> dict[str, Array]:
    """Return the arrays in the bytes of a file.

    Parameters
    ----------
    data : bytes
        The contents of the file.

    Returns
    -------
    dict of arrays
        The arrays by their names.

    Raises
    ------
    ValueError
        If the bytes are in another format, or contradict themselves.
    ImportError
        For bfloat16 without ml_dtypes.

    Examples
    --------
    >>> load(save({"x": [1.0, 2.0]}))["x"].tolist()
    [1.0, 2.0]
    """
    contents = form.read_contents(io.BytesIO(data), len(data), "load")
    return {name: _copied(data, at) for name, at in contents.tensors.items()}


_FRAMEWORKS = ("np", "numpy", "pt", "torch", "pytorch", "tf", "tensorflow", "jax", "flax", "mlx", "paddle")


class safe_open:
    """A file whose arrays are read one by one, or in part.

    Parameters
    ----------
    filename : path
        The file.
    framework : str, optional
        One of the names of the safetensors package, such as "np" or "pt". Arrays are always forerun's.
    device : Device or str, optional
        Where the arrays are created; None for the current device.

    Raises
    ------
    OSError
        If there is no such file.
    ValueError
        For another framework, or a file in another format.

    Examples
    --------
    >>> import tempfile
    >>> from forerun import np
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     size = save_file({"x": np.arange(12).reshape(4, 3)}, f"{folder}/x", {"by": "me"})
    ...     with safe_open(f"{folder}/x") as file:
    ...         file.keys(), file.metadata(), file.get_slice("x")[1:3, 0].tolist()
    (['x'], {'by': 'me'}, [3, 6])
    """

    def __init__(
        self,
        filename: str | os.PathLike[str],
        framework: str = "np",
        device: Device | str | None = None,
    ) -> None:
        check_choice("safe_open", "framework", framework, _FRAMEWORKS)
        path = place(filename)
        order.settled(path)
        self._file: issue.Opened | None
        self._file, self._contents = _opened("safe_open", path)
        self._device = None if device is None else resolve(device)

    def keys(self) -> list[str]:
        """Return the names, sorted.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = save_file({"b": np.ones(2), "a": np.zeros(3)}, f"{folder}/x", {"by": "me"})
        ...     with safe_open(f"{folder}/x") as file:
        ...         file.keys()
        ['a', 'b']
        """
        return sorted(self._contents.tensors)

    def offset_keys(self) -> list[str]:
        """Return the names, in the order of the values.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = save_file({"b": np.ones(2), "a": np.zeros(3)}, f"{folder}/x", {"by": "me"})
        ...     with safe_open(f"{folder}/x") as file:
        ...         sorted(file.offset_keys())
        ['a', 'b']
        """
        places = self._contents.tensors
        return sorted(places, key=lambda name: (places[name].start, name))

    def metadata(self) -> dict[str, str] | None:
        """Return the texts that the file was given, or None.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = save_file({"b": np.ones(2), "a": np.zeros(3)}, f"{folder}/x", {"by": "me"})
        ...     with safe_open(f"{folder}/x") as file:
        ...         file.metadata()
        {'by': 'me'}
        """
        return self._contents.metadata

    def get_tensor(self, name: str) -> Array:
        """Return an array, read by an operation. KeyError if no array has that name.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = save_file({"b": np.ones(2), "a": np.zeros(3)}, f"{folder}/x", {"by": "me"})
        ...     with safe_open(f"{folder}/x") as file:
        ...         file.get_tensor("b").tolist()
        [1.0, 1.0]
        """
        return _read("get_tensor", self._opened(), self._contents.tensors[name], self._device)

    def get_slice(self, name: str) -> Slices:
        """Return an array to be indexed, of which only those rows are read that are asked for.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = save_file({"b": np.ones(2), "a": np.zeros(3)}, f"{folder}/x", {"by": "me"})
        ...     with safe_open(f"{folder}/x") as file:
        ...         file.get_slice("a")[1:].tolist()
        [0.0, 0.0]
        """
        return Slices(self._opened(), self._contents.tensors[name], self._device)

    def _opened(self) -> issue.Opened:
        if self._file is None:
            raise ValueError("safe_open: file must be open, got a closed one")
        return self._file

    def __enter__(self) -> safe_open:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file = None


class Slices:
    """An array of a file, of which parts can be read."""

    def __init__(self, file: issue.Opened, at: form.TensorEntry, device: Device | None) -> None:
        self._file, self._at, self._device = file, at, device

    def get_shape(self) -> list[int]:
        """Its extents."""
        return list(self._at.shape)

    def get_dtype(self) -> str:
        """Its dtype, by the format's name."""
        return self._at.kind

    def __getitem__(self, index: object) -> Array:
        parts = index if isinstance(index, tuple) else (index,)
        shape = self._at.shape
        if not shape or not parts or not isinstance(parts[0], slice) or parts[0].step not in (None, 1):
            return _read("get_slice", self._file, self._at, self._device)[index]
        first, last, _ = parts[0].indices(shape[0])
        rows = max(0, last - first)
        row = self._at.nbytes // shape[0] if shape[0] else 0
        part = form.TensorEntry(self._at.kind, (rows, *shape[1:]), self._at.start + first * row, rows * row)
        return _read("get_slice", self._file, part, self._device)[(slice(None), *parts[1:])]


# --- by the format's own terms ---


def _opened(op: str, path: str) -> tuple[issue.Opened, form.Contents]:
    order.settled(path)
    file = issue.Opened(path)
    with file.stream() as stream:
        return file, form.read_contents(stream, file.size, op)


def _read(op: str, file: issue.Opened, at: form.TensorEntry, device: Device | None) -> Array:
    header = at.header()
    return issue.reads(op, header, partial(issue.values, op, file, at.start, header), None, device)


def _promised(path: str, write: order.Write, name: str, header: Header, device: Device | None) -> Any:
    """Return an array of a file that is about to be written."""

    def fill(room: Room) -> None:
        file, contents = issue.Opened(path), None
        with file.stream() as stream:
            contents = form.read_contents(stream, file.size, "load_file")
        if name not in contents.tensors:
            raise ValueError(f"load_file: file must hold {name}, got {sorted(contents.tensors)}")
        at = contents.tensors[name]
        issue.checked("load_file", header, at.header())
        issue.values("load_file", file, at.start, header, room)

    return issue.reads("load_file", header, fill, write.mark, device)


def _copied(data: bytes, at: form.TensorEntry) -> Array:
    header = at.header()
    values = numpy.frombuffer(data[at.start : at.start + at.nbytes], header.dtype)
    return asarray(values.reshape(header.shape))
