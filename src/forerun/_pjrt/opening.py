"""Opens the plugins of devices, once per process: the engine numbers their devices from FIRST_ACCELERATOR on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._runtime import core as _core
from .._runtime.settings import config
from .lowering import emit_concatenated, emit_operation
from .plugins import client_options, load_vendor_libraries, missing_driver, no_device, platform_of, plugin_files

__all__ = ["open_all"]

_MOST_MODULES = 1024  # that are held in memory, for each plugin
_EXTRAS = {"cuda": "cuda", "rocm": "rocm", "oneapi": "oneapi", "tpu": "tpu"}  # of this package, by platform


def open_all() -> tuple[int, list[str], Exception | None]:
    """Open the plugins that the settings choose.

    Return the number of their devices; the reasons why plugins that were found have no device; and the error of a
    plugin that was chosen by its file.
    """
    setting = config()["pjrt"]
    if setting in ("", "off"):
        return 0, ["plugins are turned off by FORERUN_PJRT or configure(pjrt=...)"], None
    n, reasons = 0, []
    try:
        files = plugin_files(setting)
    except ValueError as error:
        return 0, [], error
    for file in files:
        if lack := missing_driver(file):
            reasons.append(_devices(file, lack))
            continue
        try:
            with _quiet(file):
                found = _open(file, _core.FIRST_ACCELERATOR + n)
        except Exception as error:
            error = _advised(error, file)
            if setting != "auto":
                return n, [], error
            reasons.append(str(error))
            continue
        n += found
        if not found:
            reasons.append(_devices(file, no_device(file)))
    return n, reasons, None


def _devices(file: Path, found: str) -> str:
    return f"the devices of the plugin {file}: {found}"


@contextmanager
def _quiet(file: Path) -> Iterator[None]:
    """No lines of XLA that report no problem, unless the environment asks for them.

    Plugins for processors report an error for each module of the disk whose code prefers instructions.
    """
    given = "TF_CPP_MIN_LOG_LEVEL" in os.environ
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3" if platform_of(file) == "cpu" else "1")
    try:
        yield
    finally:
        if not given:
            del os.environ["TF_CPP_MIN_LOG_LEVEL"]


def _open(file: Path, first: int) -> int:
    """Make a plugin's devices those of the engine from number `first` on; return how many there are."""
    load_vendor_libraries(file)
    settings = config()
    options = client_options(file, memory=settings["gpu_memory"], preallocate=settings["gpu_preallocate"])
    part = 1.0 if "memory_fraction" in options else settings["gpu_memory"]  # of the limit that the plugin states
    folder = _folder(settings["module_cache"])
    return _core.open_accelerators(
        str(file), options, folder, _MOST_MODULES, first, "gpu", part, emit_operation, emit_concatenated
    )


def _folder(given: str | None) -> str | None:
    """Return the folder for compiled modules, made if need be; None if there cannot be one."""
    if given is None:
        return None
    folder = Path(given).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return str(folder)


def _advised(error: Exception, file: Path) -> Exception:
    """Return the error and the command that may help."""
    extra = _EXTRAS.get(platform_of(file))
    advice = f'`pip install -U "forerun[{extra}]"` installs the plugin and its libraries' if extra else ""
    driver = "; the driver of the GPU is the system's" if extra in ("cuda", "rocm") else ""
    return type(error)(f"{error}; {advice}{driver}" if advice else str(error))
