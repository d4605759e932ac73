"""Arrays that other libraries have made, taken without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._runtime.device import Device, current_device, resolve
from ..ops._base import core as _core
from ..ops._base.convert import copy as copied
from ..ops._base.convert import is_array, to_device

if TYPE_CHECKING:
    from ..typing import Array, SupportsDLPack


__all__ = ["from_dlpack"]

_HOST = (1, 3, 11)  # DLPack's numbers of devices whose memory the host can read


def from_dlpack(x: SupportsDLPack, /, *, device: Device | str | None = None, copy: bool | None = None) -> Array:
    """Return an array with the values of another library's, by its `__dlpack__`.

    Shares its memory where that is possible: writes here go to a copy, and its owner must not write to it while
    operations that read it have not ended.

    Parameters
    ----------
    x : array_like
        An array of a library that has `__dlpack__`.
    device : device, optional
        Where the array is created; by default the current device, or the own one of a forerun array.
    copy : bool, optional
        True always makes one, False never.

    Returns
    -------
    array
        An array with the values of another library's.

    Raises
    ------
    BufferError
        If the array cannot be imported, or not without a copy.

    Examples
    --------
    >>> import numpy
    >>> from forerun import np
    >>> values = numpy.arange(3.0)
    >>> x = np.from_dlpack(values)
    >>> x += 1
    >>> x.tolist(), values.tolist()
    ([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    """
    if is_array(x):
        own: Array = _own(x, device, copy)
        return own
    if not hasattr(x, "__dlpack__"):
        raise AttributeError(f"from_dlpack: array must have __dlpack__, got {type(x).__name__}")
    where = current_device() if device is None else resolve(device)
    kind = int(x.__dlpack_device__()[0])
    if kind not in _HOST and copy is False:
        raise BufferError(f"from_dlpack: copy must not be False for memory of another device, got device type {kind}")
    capsule = _capsule(x, None if kind in _HOST else (1, 0), copy if kind in _HOST else None)
    made: Array = _core.from_dlpack(capsule, where, -1 if copy is None else int(copy))
    return made


def _own(x: Any, device: Device | str | None, copy: bool | None) -> Any:
    where = x.device if device is None else resolve(device)
    if where == x.device:
        return copied(_core.detach(x)) if copy else _core.detach(x)
    if copy is False:
        raise BufferError(f"from_dlpack: copy must not be False between devices, got {x.device} and {where}")
    return to_device(_core.detach(x), where)


def _capsule(x: SupportsDLPack, device: tuple[int, int] | None, copy: bool | None) -> Any:
    """Return the capsule of x; producers from before 2024 accept no keywords."""
    asked: dict[str, Any] = {"max_version": (1, 1)}
    if device is not None:
        asked["dl_device"] = device
    if copy is False:  # True is handled here: forerun makes the copy
        asked["copy"] = copy
    try:
        return x.__dlpack__(**asked)
    except TypeError:
        if device is not None:
            raise BufferError(f"from_dlpack: array must be copied to the host first, got {type(x).__name__}") from None
        return x.__dlpack__()
