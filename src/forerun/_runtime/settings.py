"""Settings of the engine: read from the environment at import, changed with `configure`."""

from __future__ import annotations

import os
import pathlib
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

from .. import _core
from . import default_dtypes, device
from .logging import say
from .system import machine_memory

__all__ = ["configure", "config"]

_settings: dict[str, Any] = {}


class _Unchanged:
    def __repr__(self) -> str:
        return "<unchanged>"


_SAME: Any = _Unchanged()  # arguments that are not given change nothing


_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(?:([KMGT])(?:i?B)?|B)?\s*", re.IGNORECASE)


def _size(text: str) -> int:
    """Return bytes from text such as "512M", "2GB" or "1.5 GiB"; all units are powers of 1024."""
    match = _SIZE.fullmatch(text)
    if match is None:
        raise ValueError
    number, unit = match.groups()
    return int(float(number) * 1024 ** ("KMGT".index(unit.upper()) + 1)) if unit else int(number)


def _switch(text: str) -> bool:
    """True or False from "1" or "0"."""
    if text not in ("0", "1"):
        raise ValueError
    return text == "1"


def _module_cache() -> str:
    """Return the folder where compiled modules of devices are kept, for this user."""
    return str(pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "forerun" / "modules")


_KINDS = {_size: "a size such as 512M or 2GiB", _switch: "0 or 1", int: "an integer"}
VARIABLES: dict[str, tuple[str, Callable[[str], Any]]] = {  # of the environment: the setting, and how it is read
    "FORERUN_ENGINE": ("engine", str),
    "FORERUN_WORKERS": ("workers", int),
    "FORERUN_CPU_DEVICES": ("cpu_devices", int),
    "FORERUN_OPS_AHEAD": ("ops_ahead", int),
    "FORERUN_MEMORY_BUDGET": ("memory_budget", _size),
    "FORERUN_MEMORY_LIMIT": ("memory_limit", _size),
    "FORERUN_IO_THREADS": ("io_threads", int),
    "FORERUN_IO_MEMORY": ("io_memory", _size),
    "FORERUN_DIRECT_READS": ("direct_reads", _switch),
    "FORERUN_FLOAT": ("float", str),
    "FORERUN_PASSES": ("passes", str),
    "FORERUN_EXIT_STATUS": ("exit_status", _switch),
    "FORERUN_HANG_REPORT": ("hang_report", float),
    "FORERUN_PJRT": ("pjrt", str),
    "FORERUN_GPU_MEMORY": ("gpu_memory", float),
    "FORERUN_GPU_PREALLOCATE": ("gpu_preallocate", _switch),
    "FORERUN_MODULE_CACHE": ("module_cache", str),
}
KNOWN = {*VARIABLES, "FORERUN_PROFILE", "FORERUN_TOP", "FORERUN_RANK", "FORERUN_SIZE", "FORERUN_RESTART"} | {
    f"FORERUN_LAUNCHER{part}" for part in ("", "_KEY", "_PREFIX")
}  # the launcher of ranks sets all but the first two of these
_MAY_BE_EMPTY = {"passes": "", "pjrt": "off", "module_cache": None}  # and the meaning of an empty value


def unknown_variables() -> list[str]:
    """Return variables of the environment that look like settings but are unknown."""
    return sorted(name for name in os.environ if name.startswith("FORERUN_") and name not in KNOWN)


def _environment() -> dict[str, Any]:
    found = {}
    for name, (key, read) in VARIABLES.items():
        if (text := os.environ.get(name)) or (text is not None and key in _MAY_BE_EMPTY):
            try:
                found[key] = read(text) if text else _MAY_BE_EMPTY[key]
            except ValueError:
                kind = _KINDS.get(read, "a number")
                raise ValueError(f"{name}: must be {kind}, got {text!r}") from None
    if (text := os.environ.get("FORERUN_TOP", "")) not in ("", "0", "1"):
        raise ValueError(f"FORERUN_TOP: must be 0 or 1, got {text!r}")
    return found


def configure(
    *,
    engine: str = _SAME,
    workers: int | None = _SAME,
    cpu_devices: int = _SAME,
    ops_ahead: int = _SAME,
    memory_budget: int | None = _SAME,
    memory_limit: int | None = _SAME,
    io_threads: int = _SAME,
    io_memory: int = _SAME,
    direct_reads: bool | None = _SAME,
    float: str = _SAME,
    passes: str = _SAME,
    exit_status: bool = _SAME,
    hang_report: float | None = _SAME,
    pjrt: str = _SAME,
    gpu_memory: float = _SAME,
    gpu_preallocate: bool = _SAME,
    module_cache: str | None = _SAME,
) -> None:
    """Change settings of the engine, after all pending operations have ended. Settings that are not given are kept.

    Parameters
    ----------
    engine : {"async", "sync"}
        "async" is the default. With "sync" each operation has ended when its call returns, and errors are raised there.
    workers : int or None
        Threads of each CPU device. None, the default: the cores that the process may use, shared by the devices.
    cpu_devices : int
        The number of logical devices over which the cores are split. Others that are used share the cores with these.
    ops_ahead : int
        How many operations may be issued and not yet ended.
    memory_budget : int or None
        Bytes of live arrays per device above which no operation runs ahead of program order. None, the default: half of
        the memory that the process may use, shared by the devices.
    memory_limit : int or None
        Bytes of live arrays per device above which operations fail with MemoryError. None, the default: nine tenths of
        that memory.
    io_threads : int
        Threads of each CPU device that read and write files, and run host tasks with `queue="io"`.
    io_memory : int
        Bytes per device that arrays may take beyond the peak of program order, for arrays that are read from files and
        written to files during the computation. 256 MiB by default.
    direct_reads : bool or None
        Whether large arrays are read past the system's page cache, for files that are read once. None, the default:
        only uncached parts, and only while all cores compute.
    float : {"float32", "float64"}
        The dtype of new arrays of Python's floats, of `np.zeros`, random numbers and the like, where none is given.
        "float32" is the default. Arrays that are there keep theirs.
    passes : str
        Rewrites of pending operations, as names with commas between them: "drop" (operations with unused results do not
        run), "fuse" (element-wise operations and reductions run as one kernel, without memory for intermediate values),
        "reuse" (a result is written into the memory of an operand that is not needed any more), "at_once" (an operation
        that costs less than handing it to a worker runs in the call, if its operands are computed), "apart" (operations
        on parts of one array that do not overlap are not ordered), "compile" (fused operations that run often become
        machine code, if llvmlite is installed). "" for none. Results have the same bits.
    exit_status : bool
        Whether a program that would succeed ends with status 1 after an error that no read has raised. True by default.
        The error is reported either way.
    hang_report : float or None
        Seconds after which a wait during which no operation has ended prints to standard error which lines it waits
        for, and again each time they have passed. None, the default: never.
    pjrt : str
        The plugins of devices: "auto", the default, takes those of installed packages, "off" none; otherwise their
        files, with commas between them. This and the following settings must be set before the first use of a GPU.
    gpu_memory : float
        The part of a GPU's memory that arrays may take, 0.9 by default.
    gpu_preallocate : bool
        Whether this part is allocated at once, instead of when it is needed. False by default.
    module_cache : str or None
        The folder in which modules that were compiled for a device are kept for later processes; None: nowhere. By
        default `forerun/modules` in the user's cache (`$XDG_CACHE_HOME` or `~/.cache`).

    Raises
    ------
    ValueError
        For values out of range.
    TypeError
        For values of a wrong type.
    RuntimeError
        In a host task; or for settings of plugins after these have been opened.

    Examples
    --------
    >>> import forerun
    >>> forerun.configure(memory_limit=2 << 30, engine="sync")
    >>> forerun.config()["engine"]
    'sync'
    >>> forerun.configure(memory_limit=None, engine="async")
    """
    given = {k: v for k, v in locals().items() if v is not _SAME}
    before = config()
    new = {**before, **given}
    _check(new)
    _check_plugins(new)
    changed = ", ".join(f"{key}={value!r}" for key, value in given.items() if value != before[key])
    _apply(new)
    if any(key in given for key in _OF_PLUGINS):
        device.forget_plugins()
    _core.tell()  # of threads that have ended
    if changed:
        say("info", "configured: %s", changed)


_PASSES = {"drop": 1, "fuse": 2, "reuse": 4, "at_once": 8, "apart": 16, "compile": 32}
_MOST = {
    "workers": 4096, "cpu_devices": device.FIRST_GPU, "ops_ahead": 1 << 24, "memory_budget": 1 << 62,
    "memory_limit": 1 << 62, "io_threads": 256, "io_memory": 1 << 62,
}  # fmt: skip


def _check(new: dict[str, Any]) -> None:
    if new["engine"] not in ("async", "sync"):
        raise ValueError(f'configure: engine must be "async" or "sync", got {new["engine"]!r}')
    if not isinstance(new["passes"], str) or not set(_names(new["passes"])) <= set(_PASSES):
        raise ValueError(f"configure: passes must be some of {', '.join(_PASSES)}, got {new['passes']!r}")
    if new["float"] not in ("float32", "float64"):
        raise ValueError(f'configure: float must be "float32" or "float64", got {new["float"]!r}')
    seconds = new["hang_report"]
    if seconds is not None and (not isinstance(seconds, (int, float)) or isinstance(seconds, bool)):
        raise TypeError(f"configure: hang_report must be a number of seconds, got {seconds!r}")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise ValueError(f"configure: hang_report must be positive, got {seconds}")
    if not isinstance(new["exit_status"], bool):
        raise TypeError(f"configure: exit_status must be True or False, got {new['exit_status']!r}")
    if new["direct_reads"] is not None and not isinstance(new["direct_reads"], bool):
        raise TypeError(f"configure: direct_reads must be True, False or None, got {new['direct_reads']!r}")
    for key, most in _MOST.items():
        value = new[key]
        if value is None and key in ("workers", "memory_budget", "memory_limit"):
            continue
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"configure: {key} must be an integer, got {value!r}")
        if not 1 <= value <= most:
            raise ValueError(f"configure: {key} must be between 1 and {most}, got {value}")


_OF_PLUGINS = ("pjrt", "gpu_memory", "gpu_preallocate", "module_cache")


def _check_plugins(new: dict[str, Any]) -> None:
    for key in _OF_PLUGINS:
        if device.has_open_plugins() and new[key] != _settings[key]:
            raise RuntimeError(f"configure: {key} must be set before the first use of a GPU, got {new[key]!r}")
    if not isinstance(new["pjrt"], str):
        raise TypeError(f'configure: pjrt must be "auto", "off" or the files of plugins, got {new["pjrt"]!r}')
    part = new["gpu_memory"]
    if not isinstance(part, (int, float)) or isinstance(part, bool):
        raise TypeError(f"configure: gpu_memory must be a number, got {part!r}")
    if not 0 < part <= 1:
        raise ValueError(f"configure: gpu_memory must be above 0 and at most 1, got {part}")
    if not isinstance(new["gpu_preallocate"], bool):
        raise TypeError(f"configure: gpu_preallocate must be True or False, got {new['gpu_preallocate']!r}")
    if new["module_cache"] is not None and not isinstance(new["module_cache"], str):
        raise TypeError(f"configure: module_cache must be a folder or None, got {new['module_cache']!r}")


def _names(passes: str) -> list[str]:
    return [name for name in passes.replace(" ", "").split(",") if name]


def _apply(new: dict[str, Any]) -> None:
    n = new["cpu_devices"]
    workers, busy = worker_counts(new)
    _core.configure_queues(workers, busy, new["ops_ahead"], new["io_threads"])
    _core.set_synchronous(new["engine"] == "sync")
    _core.set_passes(sum({_PASSES[name] for name in _names(new["passes"])}))
    granted = _core.granted_memory()
    memory = granted // n
    budget, limit = new["memory_budget"] or memory // 2, new["memory_limit"] or memory - memory // 10
    for i in range(n):
        _core.set_memory(i, budget, limit, new["io_memory"])
    _core.limit_shared_memory(budget, limit, new["io_memory"], n)
    _core.set_hang_report(new["hang_report"] or 0.0)
    _core.set_cache_limits(min(4 << 30, n * limit // 4), n * limit)
    _core.set_registered_limit(min(granted, n * limit) // 4)
    device.set_count(n)
    if new["float"] != default_dtypes.default_float().name:
        default_dtypes.set_defaults(new["float"], ints_become_floats=False)
    _settings.update(new)


def worker_counts(settings: dict[str, Any]) -> tuple[list[int], int]:
    """Return threads that compute on each device, and how many kernels may run at once."""
    n, cores = settings["cpu_devices"], _core.granted_cores()
    if settings["engine"] == "sync":
        return [0] * n, 1
    if (given := settings["workers"]) is not None:
        return [given] * n, max(cores, given * n) if n > 1 else given
    return [max(1, cores // n + (i < cores % n)) for i in range(n)], max(cores, n)


def config() -> dict[str, Any]:
    """Return the settings in force, as `configure` takes them.

    Returns
    -------
    dict
        The value of each setting, by its name.

    Examples
    --------
    >>> import forerun
    >>> forerun.config()["engine"] in ("async", "sync")
    True
    """
    return {**_settings, "float": default_dtypes.default_float().name}  # which npx.set_np() changes, too


def _log_environment() -> None:
    machine, granted = machine_memory(), _core.granted_memory()
    if machine and granted < machine:
        say("info", "memory: %d bytes of the machine's %d are available to this process", granted, machine)
    for name in unknown_variables():
        say("warning", "environment: %s is not a setting; the settings are %s", name, ", ".join(sorted(KNOWN)))
        if meant := _probably_meant(name):
            warnings.warn(f"{name} in the environment is not a setting: did you mean {meant}?", stacklevel=2)


def _probably_meant(name: str) -> str | None:
    """Return the setting of which a variable's name is a misspelling; names that are quite different are another's."""
    import difflib  # only now: it takes longer to import than the rest of this module

    endings = [known.removeprefix("FORERUN_") for known in KNOWN]
    found = difflib.get_close_matches(name.removeprefix("FORERUN_"), endings, 1, 0.8)
    return f"FORERUN_{found[0]}" if found else None


def _is_the_command() -> bool:
    """Return whether the command imports the package; it reports errors in one line."""
    program = getattr(sys, "argv", [""])[:1]
    return (program == ["-m"] and "forerun" in sys.orig_argv) or os.path.basename("".join(program)) == "forerun"


def _start() -> ValueError | None:
    """Apply the environment; return the error of a variable, which `forerun` raises by a short traceback."""
    defaults = {
        "engine": "async",
        "workers": None,
        "cpu_devices": 1,
        "ops_ahead": 1 << 14,
        "memory_budget": None,
        "memory_limit": None,
        "io_threads": 2,
        "io_memory": 256 << 20,
        "direct_reads": None,
        "float": "float32",
        "passes": ",".join(_PASSES),
        "exit_status": True,
        "hang_report": None,
        "pjrt": "auto",
        "gpu_memory": 0.9,
        "gpu_preallocate": False,
        "module_cache": _module_cache(),
    }
    _settings.update(defaults)
    _log_environment()
    try:
        configure(**_environment()) if _environment() else _apply(defaults)
    except ValueError as error:
        if not _is_the_command():
            return error.with_traceback(None)
        print(f"forerun: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    package = pathlib.Path(__file__).parent.parent
    library = package / "lib" / "libforerun_openblas.so"
    _core.load_blas(str(library if library.exists() else pathlib.Path(_core.__file__).parent / "lib" / library.name))
    return None


problem = _start()
