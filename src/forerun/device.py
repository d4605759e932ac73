"""Devices: where arrays live and ops run."""

from __future__ import annotations

import threading

from . import _core

__all__ = ["Device", "cpu", "gpu", "num_gpus", "num_cpus", "current_device", "resolve", "devices"]


class Device:
    """A place where arrays live, with a queue of its own and a share of the cores.

    Equal devices compare and hash equal. As a context manager it is where this thread makes new arrays:

    >>> import forerun
    >>> with forerun.cpu(0):
    ...     x = forerun.np.ones(3)
    >>> x.device
    cpu(0)
    """

    __slots__ = ("device_type", "device_id", "_before")

    def __init__(self, device_type: str = "cpu", device_id: int = 0) -> None:
        self.device_type = device_type
        self.device_id = device_id
        self._before: dict[int, list[Device | None]] = {}  # by thread

    @property
    def index(self) -> int:
        """Position among the engine's devices. Raises ValueError if there is no such device."""
        if self.device_type != "cpu" or not 0 <= self.device_id < len(_devices):
            have = ", ".join(map(repr, _devices))
            raise ValueError(f"device: must be one of {have}, got {self!r}")
        return self.device_id

    def __enter__(self) -> Device:
        device = resolve(self)
        self._before.setdefault(threading.get_ident(), []).append(_here.device)
        _here.device = device
        return self

    def __exit__(self, *exc: object) -> None:
        before = self._before[threading.get_ident()]
        _here.device = before.pop()
        if not before:
            del self._before[threading.get_ident()]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return hash((self.device_type, self.device_id))

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"


_devices: list[Device] = []
_known: list[Device] = []  # all there have been: arrays of devices that are gone still say where they are


class _Here(threading.local):
    device: Device | None = None  # None: the first one


_here = _Here()


def cpu(device_id: int = 0) -> Device:
    """The logical CPU device number `device_id`; `FORERUN_CPU_DEVICES` says how many there are.

    >>> from forerun import np, npx
    >>> np.zeros(2, device=npx.cpu(0)).device
    cpu(0)
    """
    return Device("cpu", device_id)


def gpu(device_id: int = 0) -> Device:
    """The GPU number `device_id`. Using it raises ValueError: this version has no GPU devices.

    >>> from forerun import npx
    >>> npx.gpu(1)
    gpu(1)
    """
    return Device("gpu", device_id)


def num_gpus() -> int:
    """How many GPUs there are: none in this version.

    >>> from forerun import npx
    >>> npx.num_gpus()
    0
    """
    return 0


def num_cpus() -> int:
    """How many logical CPU devices there are."""
    return len(_devices)


def devices() -> list[Device]:
    """All devices, in the order of their numbers."""
    return list(_devices)


def current_device() -> Device:
    """Where this thread makes new arrays when nothing else is said.

    >>> from forerun import npx
    >>> npx.current_device()
    cpu(0)
    """
    device = _here.device
    return device if device is not None and device.device_id < len(_devices) else _devices[0]


def resolve(device: Device | str | None = None) -> Device:
    """The device meant by a Device, a string such as "cpu" or "cpu:1", or None (the current one).

    Raises ValueError if it does not exist, TypeError for anything else.
    """
    if device is None:
        return current_device()
    if isinstance(device, str):
        kind, _, number = device.partition(":")
        if not (number or "0").isdecimal():
            raise ValueError(f'device: must be "cpu" or "cpu:" and a number, got {device!r}')
        device = Device(kind, int(number or 0))
    if not isinstance(device, Device):
        raise TypeError(f"device: must be a Device, a string or None, got {type(device).__name__}")
    return _devices[device.index]


def set_count(n: int) -> None:
    """Makes `n` logical CPU devices known; the engine has been told before."""
    _known.extend(Device("cpu", i) for i in range(len(_known), n))
    _devices[:] = _known[:n]
    _core.set_devices(_known)
