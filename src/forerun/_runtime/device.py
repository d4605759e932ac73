"""Devices: where arrays live and ops run."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from .. import _core
from .logging import say

__all__ = ["Device", "cpu", "cpu_pinned", "gpu", "num_gpus", "num_cpus", "current_device", "resolve", "devices"]


class Device:
    """A place where arrays are stored, with a queue of its own and a share of the cores.

    Equal devices compare and hash equal. As a context manager it is where this thread makes new arrays.

    Parameters
    ----------
    device_type : {"cpu", "gpu"}, optional
        The kind.
    device_id : int, optional
        The number of the device among those of its kind.

    Examples
    --------
    >>> import forerun
    >>> with forerun.cpu(0):
    ...     x = forerun.np.ones(3)
    >>> x.device
    cpu(0)
    """

    __slots__ = ("device_type", "device_id", "_before", "_hash")

    def __init__(self, device_type: str = "cpu", device_id: int = 0) -> None:
        self.device_type = device_type
        self.device_id = device_id
        self._before: dict[int, list[Device | None]] = {}  # by thread
        self._hash = hash((device_type, device_id) if device_id else device_type)

    @property
    def index(self) -> int:
        """Number of the engine's device, which is made if it is used for the first time.

        Raises ValueError if there can be no such device.
        """
        number = self.device_id + (FIRST_GPU if self.device_type == "gpu" else 0)
        if number not in _used or self.device_type not in ("cpu", "gpu"):
            if self.device_type == "cpu":
                there = 0 <= self.device_id < max(_MOST, len(_devices))
            else:
                there = self.device_type == "gpu" and 0 <= self.device_id < len(_gpus())
            if not there:
                _refuse(self)
            _use(number)
        return number

    def __enter__(self) -> Device:
        device = resolve(self)
        self._before.setdefault(threading.get_ident(), []).append(_here.device)
        _go_to(device)
        return self

    def __exit__(self, *exc: object) -> None:
        before = self._before[threading.get_ident()]
        _go_to(before.pop())
        if not before:
            del self._before[threading.get_ident()]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and _core.numpy_rules():  # which NumPy's arrays have as `device`
            return (self.device_type, self.device_id) == (other, 0)
        if not isinstance(other, Device):
            return NotImplemented
        return (self.device_type, self.device_id) == (other.device_type, other.device_id)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:  # texts have another hash in another process
        return type(self), (self.device_type, self.device_id)

    def __repr__(self) -> str:
        return f"{self.device_type}({self.device_id})"


_MOST = 64
FIRST_GPU: int = _core.FIRST_ACCELERATOR  # the engine's number of gpu(0)
_devices: list[Device] = []  # over which the cores are split
_used: set[int] = set()  # the numbers of these, and of others that have been used since the former were set
known: list[Device] = []  # by number: those that there have been, and those between; arrays say where they are


_making = threading.Lock()


class _Found:
    """The GPUs that plugins have found."""

    def __init__(self) -> None:
        self.gpus: list[Device] | None = None  # None: the plugins are not open
        self.problem: Exception | None = None  # of a plugin that the program has chosen
        self.reasons: list[str] = []  # why other plugins have no devices
        self.lock = threading.Lock()


_found = _Found()
# Opens the plugins, and returns how many devices they have, why there are no more, and the error of one that was
# chosen. Set by `_wiring`: nothing of plugins is imported before.
open_plugins: Callable[[], tuple[int, list[str], Exception | None]] = lambda: (0, [], None)


def _gpus() -> list[Device]:
    """Return the GPUs; opens the plugins if no thread has asked before."""
    if _found.gpus is None:
        with _found.lock:
            if _found.gpus is None:
                _open()
    if _found.problem is not None:
        raise type(_found.problem)(str(_found.problem))
    return _found.gpus or []


def _open() -> None:
    n, _found.reasons, _found.problem = open_plugins()
    for reason in _found.reasons:
        say("warning", "devices: %s", reason)
    _know(FIRST_GPU + n)
    _found.gpus = known[FIRST_GPU:]


def has_open_plugins() -> bool:
    """Whether GPUs have been found: the settings of plugins hold from then on."""
    return bool(_found.gpus)


def forget_plugins() -> None:
    """Look for plugins again at the next use of a GPU; without effect once some have been found."""
    if not _found.gpus:
        _found.gpus = _found.problem = None


def _refuse(device: Device) -> NoReturn:
    cpus = f"cpu(0) to cpu({max(_MOST, len(_devices)) - 1})"
    if device.device_type != "gpu":
        raise ValueError(f"device: must be one of {cpus}, got {device!r}")
    if n := len(_gpus()):
        raise ValueError(f"device: must be one of {cpus} or gpu(0) to gpu({n - 1}), got {device!r}")
    reasons = "; ".join(_found.reasons) or f"no plugin of a GPU is installed; {_command()}"
    raise ValueError(f"device: must be one of {cpus}, got {device!r}, and there is no GPU: {reasons}")


_DRIVERS = {"cuda": "/dev/nvidiactl", "rocm": "/dev/kfd"}  # files that the drivers of GPUs make


def _command() -> str:
    """Return the command that installs the plugin of the GPU, if its driver is installed; else those of all vendors."""
    for extra, file in _DRIVERS.items():
        if os.path.exists(file):
            return f'the driver has made {file}, so `pip install "forerun[{extra}]"` installs the plugin of your GPU'
    return (
        'a GPU needs its driver and the plugin of its vendor: `pip install "forerun[cuda]"`, or [rocm], [oneapi], '
        "[tpu]; FORERUN_PJRT can name a plugin's file"
    )


class _Here(threading.local):
    device: Device | None = None  # None: the first one


_here = _Here()


def _go_to(device: Device | None) -> None:
    """Make a device the one where this thread makes new arrays; None for the first one."""
    _here.device = device
    _core.set_default_device(0 if device is None else device.index)


def cpu(device_id: int = 0) -> Device:
    """Return the logical CPU device number `device_id`.

    The setting `cpu_devices` says over how many of them the cores are split: one, by default. Any other is made when
    it is used for the first time: it has queues of its own, and shares cores and memory with the others.

    Parameters
    ----------
    device_id : int
        A number from 0 to 63.

    Returns
    -------
    Device
        The device; two with one number are equal.

    Raises
    ------
    ValueError
        If an array is made on a device with another number.

    Examples
    --------
    >>> import forerun
    >>> forerun.np.zeros(2, device=forerun.cpu(1)).device
    cpu(1)
    """
    return Device("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Device:
    """Return the device of the host's memory that a GPU can copy directly: without GPUs, that of cpu(0).

    Parameters
    ----------
    device_id : int, optional
        The number of the GPU. The result does not depend on it.

    Returns
    -------
    Device
        The device cpu(0).

    Examples
    --------
    >>> from forerun import np, npx
    >>> np.zeros(2, device=npx.cpu_pinned()).device
    cpu(0)
    """
    return Device("cpu", 0)


def gpu(device_id: int = 0) -> Device:
    """Return the GPU number `device_id`: a device of a plugin (docs/howto/gpu.md), numbered through over all plugins.

    Parameters
    ----------
    device_id : int
        Its number. Any can be named.

    Returns
    -------
    Device
        The device; two with one number are equal.

    Raises
    ------
    ValueError
        If an array is made on a device that does not exist.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.gpu(1)
    gpu(1)
    """
    return Device("gpu", device_id)


def num_gpus() -> int:
    """Return the number of GPUs that the installed plugins find; `FORERUN_PJRT` says which plugins.

    The first call opens the plugins.

    Returns
    -------
    int
        The number, 0 without a plugin.

    Raises
    ------
    Exception
        The error of a plugin that was chosen and cannot be used.

    Examples
    --------
    >>> from forerun import npx
    >>> npx.num_gpus() >= 0
    True
    """
    return len(_gpus())


def info(device: Device) -> dict[str, Any]:
    """Return a GPU's properties, as its plugin reports them: model ("kind"), platform, and bytes of memory."""
    return _core.accelerator_info(device.index)


def num_cpus() -> int:
    """Return the number of logical CPU devices that share the cores."""
    return len(_devices)


def devices() -> list[Device]:
    """Return the devices over which the cores are split, in the order of their numbers.

    Others may be used: see `cpu`.

    Returns
    -------
    list of Device
        One device, unless the setting `cpu_devices` names more.

    Examples
    --------
    >>> import forerun
    >>> forerun.devices()
    [cpu(0)]
    """
    return list(_devices)


def used_devices() -> list[Device]:
    """These, and others that have been used, in the order of their numbers."""
    return [known[i] for i in sorted(_used)]


def current_device() -> Device:
    """Return the device on which this thread creates arrays by default.

    Returns
    -------
    Device
        `cpu(0)`, or the device of the `with` block that surrounds the call.

    Examples
    --------
    >>> import forerun
    >>> with forerun.cpu(1):
    ...     forerun.current_device()
    cpu(1)
    """
    return _here.device or _devices[0]


def resolve(device: Device | str | None = None) -> Device:
    """Return the device meant by a Device, a string such as "cpu", "cpu:1" or "gpu:0", or None (the current one).

    "cuda" is PyTorch's word for "gpu".

    Raises ValueError if it cannot exist, TypeError for anything else.
    """
    if device is None:
        return current_device()
    if isinstance(device, str):
        kind, _, number = device.partition(":")
        if not (number or "0").isdecimal():
            raise ValueError(f'device: must be "cpu" or "gpu", or that with ":" and a number, got {device!r}')
        device = Device("gpu" if kind == "cuda" else kind, int(number or 0))
    if not isinstance(device, Device):
        raise TypeError(f"device: must be a Device, a string or None, got {type(device).__name__}")
    return known[device.index]


def set_count(n: int) -> None:
    """Register `n` logical CPU devices, which the engine has already."""
    _know(n)
    _devices[:] = known[:n]
    _used.clear()
    _used.update(range(n))


def _use(i: int) -> None:
    """Make a device, or start its workers again."""
    _know(i + 1)
    _core.use_device(i)
    _core.trace_say("d", i, repr(known[i]))  # if a recording has begun without it
    _used.add(i)


def _know(n: int) -> None:
    with _making:
        known.extend(Device("cpu", i) for i in range(len(known), min(n, FIRST_GPU)))
        known.extend(Device("gpu", i - FIRST_GPU) for i in range(len(known), n))
