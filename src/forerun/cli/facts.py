"""Facts about this machine, this Python and the engine, by topic."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy

from .._pjrt.plugins import accelerators
from .._runtime import core as _core
from .._runtime.device import devices, used_devices
from .._runtime.settings import config, unknown_variables, worker_counts
from .._runtime.system import allowed_cores, machine_memory

__all__ = ["facts", "machine"]

Facts = dict[str, Any]

_FEATURES = (
    "sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "amx_tile", "amx_bf16", "amx_int8", "asimd", "sve", "sve2", "bf16", "i8mm",
)  # fmt: skip
_READ = ("FORERUN_", "OPENBLAS_", "OMP_", "GOTO_", "MKL_", "NPY_")
_OPTIONAL = ("ml_dtypes", "llvmlite", "pillow", "scipy", "scikit-learn", "mlxtend", "torch", "jax", "ipykernel")


def facts() -> dict[str, Facts]:
    """Return all of it; sizes in bytes."""
    return {
        "versions": _versions(),
        "system": _system(),
        "processor": _processor(),
        "products": _products(),
        "memory": _memory(),
        "workers": _workers(),
        "settings": config(),
        "environment": _environment(),
        "engine": _core.stats(),
        "accelerators": accelerators(),
    }


def machine(libraries: Iterable[str]) -> dict[str, str]:
    """Return the facts on which a measurement depends: versions of libraries, by their usual names, and threads."""
    packages = {"PyTorch": "torch", "JAX": "jax"}
    versions = [f"{name} {_version(packages.get(name, name.lower()))}" for name in libraries]
    return {
        "versions": ", ".join(versions),
        "processor": str(_processor()["model"]),
        "cores granted": str(_core.granted_cores()),
        "workers": ", ".join(map(str, worker_counts(config())[0])),
        "products": str(_products()["kernel"]),
    }


def _versions() -> Facts:
    kind = "free-threaded " if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
    found = {
        "forerun": _version("forerun"),
        "built with": _core.compiler(),
        "Python": f"{platform.python_version()}, {kind}{platform.python_implementation()}",
        "NumPy": numpy.__version__,
    }
    return found | {name: v for name in _OPTIONAL if (v := _version(name))}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _system() -> Facts:
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    except OSError:
        name = platform.system()
    return {
        "system": name,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "C library": " ".join(platform.libc_ver()),
        "huge pages": _first_line("/sys/kernel/mm/transparent_hugepage/enabled"),
    }


def _first_line(file: str) -> str | None:
    try:
        return Path(file).read_text().strip().splitlines()[0]
    except (OSError, IndexError):
        return None


def _processor() -> Facts:
    fields: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    except OSError:
        pass
    flags = (fields.get("flags") or fields.get("Features") or "").split()
    return {
        "model": fields.get("model name") or platform.processor() or None,
        "features": [f for f in _FEATURES if f in flags],
        "cores seen": os.cpu_count(),
        "cores of the affinity mask": allowed_cores(),
        "cores granted": _core.granted_cores(),
    }


def _products() -> Facts:
    library, _, kernel = _core.blas_info().partition(" kernel ")
    numpy_blas = numpy.show_config(mode="dicts").get("Build Dependencies", {}).get("blas", {})
    return {
        "library": library,
        "kernel": kernel or None,
        "NumPy's library": f"{numpy_blas.get('name', 'unknown')} {numpy_blas.get('version', '')}".strip(),
    }


def _memory() -> Facts:
    found: Facts = {
        "of the machine": machine_memory(),
        "granted": _core.granted_memory(),
    }
    return found | {repr(device): _core.memory(device.index) for device in used_devices()}


def _workers() -> Facts:
    counts, _ = worker_counts(config())
    return {repr(device): n for device, n in zip(devices(), counts)} | {"why": _why()}


def _why() -> str:
    """Return where the number of workers comes from."""
    given = config()
    if given["engine"] == "sync":
        return 'the engine is "sync": every operation runs in the call that issues it'
    if given["workers"] is not None:
        return f"workers={given['workers']} was asked for, for each device"
    cores, mask, seen = _core.granted_cores(), allowed_cores(), os.cpu_count() or 1
    if cores < mask:
        why = f"a cgroup's quota grants {cores} of the {mask} cores of the affinity mask"
    elif mask < seen:
        why = f"the affinity mask has {mask} of {seen} cores"
    else:
        why = f"all {cores} cores may be used" if cores > 1 else "there is one core"
    return why + (f"; shared by {len(devices())} devices" if len(devices()) > 1 else "")


def _environment() -> Facts:
    found: Facts = {name: os.environ[name] for name in sorted(os.environ) if name.startswith(_READ)}
    unknown = unknown_variables()
    return found | {"not known to forerun": unknown} if unknown else found
