"""The device plugins that `make plugins` fetched, and texts for them."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from forerun import _core
from tests.support.paths import ROOT

FOLDER = ROOT / "build" / "plugins"
FILES = {
    "xla-cpu-pjrt": "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
    "fastatomstruct-xla-cpu": "fastatomstruct_xla_cpu/libpjrt_cpu.so",
    "lammps-jax-pjrt-cpu": "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
}
HEADER = FOLDER / "xla-cpu-pjrt" / "xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h"


def plugin_file(name: str) -> Path:
    """Return the library of a plugin, by its name or its path; the test is skipped where it is not installed."""
    path = FOLDER / name / FILES[name] if name in FILES else Path(name).resolve()
    if not path.exists():
        pytest.skip(f"no plugin {name}: `make plugins` fetches it")
    return path


@functools.cache
def fake_gpu() -> Path:
    """Return the plugin that behaves like a device far away (core/tests/fake_gpu), compiled once for all processes."""
    compiler = shutil.which("c++") or shutil.which("g++")
    if not compiler:
        pytest.skip("no C++ compiler, for the fake device")
    folder = ROOT / "core" / "tests" / "fake_gpu"
    sources = *sorted(folder.iterdir()), ROOT / "core" / "pjrt" / "abi.h"
    of_texts = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    path = ROOT / "build" / "tests" / f"fake_gpu_{of_texts}.so"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")  # another process may be at it
        flags = ["-std=c++20", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'core'}", "-o", str(part)]
        subprocess.run([compiler, *flags, str(folder / "fake_gpu.cpp"), "-ldl"], check=True)
        part.replace(path)
    return path


def open_plugin(path: Path, folder: Path | None = None, most: int = 512, devices: int = 2) -> int:
    """Return a client with two devices, which are parts of the processor."""
    client = _core.pjrt_load(str(path), {"cpu_device_count": devices}, folder and str(folder), most)
    assert client is not None
    return client


def module(body: str, arguments: str, results: str) -> str:
    """Return a StableHLO module of one function; `body` assigns `%r`, or returns by itself."""
    end = "" if "return" in body else f"\nreturn %r : {results}"
    return f"module @m {{ func.func public @main({arguments}) -> ({results}) {{\n{body}{end}\n}} }}"


def addition(size: int = 4, dtype: str = "f32", donated: bool = False) -> str:
    """Return a module that adds two flat arrays."""
    t = f"tensor<{size}x{dtype}>"
    donor = " {tf.aliasing_output = 0 : i32}" if donated else ""
    return module(f"%r = stablehlo.add %a, %b : {t}", f"%a: {t}{donor}, %b: {t}", t)
