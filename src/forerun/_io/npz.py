"""An npz file as a mapping: each array is read when it is asked for, as an operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from . import file_ops as issue
from . import npy
from . import ordering as order
from .npy import Header, Room

if TYPE_CHECKING:
    import zipfile

    from ..typing import Array, DeviceLike

__all__ = ["Archive", "Members", "Promised", "Given"]


class Source(Protocol):
    """Where the arrays of an archive come from."""

    names: list[str]

    def read(self, name: str) -> Any:
        """Submit the read of one of them."""


class Archive(Mapping[str, Any]):
    """Arrays of an npz file by their names, as NumPy's NpzFile. An array is read when it is first asked for.

    That waits for nothing but the array's header. A name may have ".npy" behind it. `close`, or the end of a `with`
    block, closes the file; arrays that were requested before are still read.

    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> _ = np.savez(file, a=[1, 2], b=[3.0]); _ = file.seek(0)
    >>> with np.load(file) as found:
    ...     found.files, found["a"].tolist()
    (['a', 'b'], [1, 2])
    """

    def __init__(self, source: Source) -> None:
        self.files = list(source.names)
        self._source: Source | None = source
        self._arrays: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        key = name if name in self.files else str(name).removesuffix(".npy")
        if key not in self.files:
            raise KeyError(f"{name} is not a file in the archive")
        if key not in self._arrays:
            if self._source is None:
                raise ValueError(f"load: archive must be open to read {key}, got a closed one")
            self._arrays[key] = self._source.read(key)
        return self._arrays[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files or (isinstance(name, str) and name.removesuffix(".npy") in self.files)

    def __repr__(self) -> str:
        return f"Archive with arrays {', '.join(self.files)}"

    def close(self) -> None:
        """Close the file."""
        self._source = None

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class Members:
    """The arrays of an archive that is open."""

    def __init__(self, op: str, file: issue.Opened, device: DeviceLike) -> None:
        import zipfile

        self.op, self.file, self.device = op, file, device
        with npy.reading_archive(op):
            self.archive = zipfile.ZipFile(file.stream())
            self.members = npy.members(self.archive, op)
        self.names = list(self.members)

    def read(self, name: str) -> Array:
        """Read the header now, and the values asynchronously."""
        file, archive, member = self.file, self.archive, self.members[name]
        with npy.opened_member(archive, member, self.op) as (_, header):
            pass
        fill = lambda room, file=file: _member(self.op, archive, member, header, room)
        return issue.reads(self.op, header, fill, None, self.device)


class Promised:
    """The arrays of an archive that is about to be written."""

    def __init__(self, op: str, path: str, write: order.Write, device: DeviceLike) -> None:
        self.op, self.path, self.write, self.device = op, path, write, device
        self.names = list(write.headers)

    def read(self, name: str) -> Any:
        """Read header and values when they are written."""
        header = self.write.headers[name]
        fill = lambda room: _again(self.op, self.path, name, header, room)
        return issue.reads(self.op, header, fill, self.write.mark, self.device)


class Given:
    """Arrays that have been read already."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.names, self.read = list(arrays), arrays.__getitem__


def _member(op: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, expected: Header, room: Room) -> None:
    with npy.opened_member(archive, member, op) as (values, header):
        issue.checked(op, expected, header)
        npy.filled(room, values, header, op)


def _again(op: str, path: str, name: str, header: Header, room: Room) -> None:
    import zipfile

    with npy.reading_archive(op), zipfile.ZipFile(path) as archive:
        found = npy.members(archive, op)
        if name not in found:
            raise ValueError(f"{op}: file must hold {name}, got {sorted(found)}")
        _member(op, archive, found[name], header, room)
