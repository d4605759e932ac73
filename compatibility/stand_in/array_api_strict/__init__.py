"""forerun under the name of array_api_strict, for test suites that look for a strict implementation of the standard.

SciPy's and scikit-learn's suites run their array API tests on the libraries that they find, from a list of their own.
With this folder before the others on PYTHONPATH they find forerun (`python compatibility/suites.py`). It has the names
that the suites use of array_api_strict itself; the arrays' namespace is `forerun.np`. Floats are float64, as in NumPy
and in the standard's other implementations.
"""

from __future__ import annotations

from typing import Any

import forerun
from forerun import np, npx

__version__ = "2.5"  # the suites ask for at least some version

npx.set_np(dtype=True)


def set_array_api_strict_flags(**flags: Any) -> None:
    """Say nothing: there is one version of the standard here, and nothing that could be switched off."""


def Device(name: str) -> forerun.Device:
    """Return the device of a name that the suites use: all others are on the last one."""
    return forerun.devices()[0 if name == "CPU_DEVICE" else -1]


np.Device = Device  # the suites ask the arrays' namespace for it, too
Array = np.ndarray


class _Info(type(np.__array_namespace_info__())):  # type: ignore[misc]
    """Devices as a list, which they were before version 2025.12 of the standard: SciPy's tests add to it.

    Some of scikit-learn's tests give a device's name instead of it.
    """

    def devices(self) -> Any:
        return list(super().devices())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> Any:
        return super().dtypes(device=Device(device) if isinstance(device, str) else device, kind=kind)


np.__array_namespace_info__ = _Info


def __getattr__(name: str) -> Any:
    return getattr(np, name)
