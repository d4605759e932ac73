"""Finds the plugins of devices: shared libraries that packages bring along, without importing these packages.

`FORERUN_PJRT` says which: "auto" (the default) takes those of the packages that JAX would use, "off" none; else it has
the files, with commas between them.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .._runtime import core as _core

__all__ = [
    "accelerators", "client_options", "load_vendor_libraries", "missing_driver", "no_device", "platform_of",
    "plugin_files",
]  # fmt: skip

_GROUPS = ("jax_plugins", "xla_plugins")  # of entry points, and folders of packages without one
_PATTERNS = ("*plugin*.so", "*pjrt*.so")
# Parts of the names of files and folders, and the platform that they stand for.
_PLATFORMS = {"cuda": "cuda", "rocm": "rocm", "oneapi": "oneapi", "tpu": "tpu", "cpu": "cpu", "fake": "fake_gpu"}
# Libraries that NVIDIA's plugin looks for by name; each may need some of those before it.
_NVIDIA = (
    "cudart", "nvJitLink", "nvrtc", "cublasLt", "cublas", "cufft", "cusparse", "cusolver", "cupti", "nccl",
    "nvshmem_host", "cudnn",
)  # fmt: skip


def plugin_files(setting: str | None = None) -> list[Path]:
    """Return the libraries of the plugins; by default as the environment says.

    Raises ValueError for a file of the setting that does not exist.

    >>> plugin_files("off")
    []
    """
    setting = os.environ.get("FORERUN_PJRT", "auto") if setting is None else setting
    if setting in ("", "off"):
        return []
    if setting == "auto":
        found = {path.resolve(): path for path in (*_of_entry_points(), *_of_folders())}
        return sorted(path for path in found if platform_of(path) != "cpu")
    paths = [Path(part.strip()).expanduser() for part in setting.split(",")]
    for path in paths:
        if not path.is_file():
            raise ValueError(f'FORERUN_PJRT: must be "auto", "off" or the files of plugins, got {str(path)!r}')
    return paths


def _of_entry_points() -> Iterator[Path]:
    for group in _GROUPS:
        for entry in importlib.metadata.entry_points(group=group):
            for file in (entry.dist and entry.dist.files) or ():
                if any(file.match(pattern) for pattern in _PATTERNS):
                    yield Path(str(file.locate()))


def _of_folders() -> Iterator[Path]:
    for folder in map(Path, sys.path):
        for group in _GROUPS:
            for pattern in _PATTERNS:
                yield from folder.glob(f"{group}/*/{pattern}")
        yield from folder.glob("libtpu/libtpu.so")


def platform_of(path: Path) -> str:
    """Return the platform named by a file's name or folder; "other" if none is.

    >>> platform_of(Path("/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so"))
    'cuda'
    """
    for name in (path.name, path.parent.name):
        for part, platform in _PLATFORMS.items():
            if part in name:
                return platform
    return "other"


def client_options(
    path: Path,
    *,
    memory: float | None = None,
    preallocate: bool = False,
    allocator: str | None = None,
    devices: int = 2,
) -> dict[str, bool | int | float | str]:
    """Return the options that the platform of a plugin knows.

    `memory` is the part of a graphics processor's memory that may be used; without `preallocate` it is taken when it is
    needed. `devices` is into how many devices a plugin for processors divides them.

    >>> client_options(Path("xla_cuda_plugin.so"), memory=0.5)
    {'preallocate': False, 'memory_fraction': 0.5}
    """
    platform = platform_of(path)
    if platform in ("cpu", "fake_gpu"):
        return {"cpu_device_count": devices}
    if platform not in ("cuda", "rocm"):
        return {}
    options: dict[str, bool | int | float | str] = {"preallocate": preallocate}
    return (
        options
        | ({} if memory is None else {"memory_fraction": memory})
        | ({"allocator": allocator} if allocator else {})
    )


_NO_DEVICE = {
    "cuda": "`nvidia-smi` shows which GPUs the driver sees; it must be a driver for CUDA 13 (580 or newer), and "
    "CUDA_VISIBLE_DEVICES must not hide the GPU",
    "rocm": "`rocm-smi` shows which GPUs the driver sees; the user must have the right to open /dev/kfd",
}


def missing_driver(path: Path) -> str | None:
    """Return why a plugin cannot find a device, if the system lacks the driver that it loads."""
    if platform_of(path) != "cuda":
        return None
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "none found: NVIDIA's driver must be installed, got no libcuda.so.1"
    return None


def no_device(path: Path) -> str:
    """Return why a plugin whose driver is not missing may have found no device.

    >>> no_device(Path("libtpu.so"))
    'none found'
    """
    advice = _NO_DEVICE.get(platform_of(path))
    return f"none found: {advice}" if advice else "none found"


def load_vendor_libraries(path: Path) -> list[Path]:
    """Load the libraries that a plugin looks for by name, from the packages that have them; return which.

    NVIDIA's packages have theirs in `nvidia/*/lib`, where the system's loader does not look. Those that are missing are
    left out: the plugin then looks for the system's own.
    """
    loaded: list[Path] = []
    if platform_of(path) == "cuda":
        for name in _NVIDIA:
            for file in (
                file for folder in map(Path, sys.path) for file in folder.glob(f"nvidia/*/lib/lib{name}.so.*")
            ):
                try:
                    ctypes.CDLL(str(file), mode=ctypes.RTLD_GLOBAL)
                except OSError:
                    continue
                loaded.append(file)
                break
    return loaded


def accelerators() -> dict[str, dict[str, Any]]:
    """Return each plugin's description of itself and its devices, by its file; or its error."""
    try:
        return {str(path): _described(path) for path in plugin_files()}
    except ValueError as error:
        return {"FORERUN_PJRT": {"error": str(error)}}


def _libraries(path: Path) -> dict[str, str]:
    """Return the versions of the packages with the libraries that NVIDIA's plugin uses: some do not go together."""
    if platform_of(path) != "cuda":
        return {}
    known = {
        found.name: found.version
        for found in importlib.metadata.distributions()
        if str(found.name).startswith("nvidia-")
    }
    return {"libraries": ", ".join(f"{name} {known[name]}" for name in sorted(known))} if known else {}


def _described(path: Path) -> dict[str, Any]:
    if lack := missing_driver(path):
        return {"devices": lack, **_libraries(path)}
    load_vendor_libraries(path)
    try:
        client = _core.pjrt_load(str(path), client_options(path))
    except Exception as error:
        return {"error": str(error)}
    if client is None:
        return {"devices": no_device(path), **_libraries(path)}
    try:
        info = _core.pjrt_info(client)
    finally:
        _core.pjrt_close(client)
    kinds = [device["kind"] for device in info["devices"]]
    limits = {
        f"memory of {device['id']}": device["memory_limit"] for device in info["devices"] if device["memory_limit"]
    }
    version = {"version": str(info["platform_version"]).split("\n")[-1]}
    return {
        "platform": info["platform"],
        **version,
        "interface": info["api"],
        "devices": kinds,
        **limits,
        **_libraries(path),
        **info["attributes"],
    }
