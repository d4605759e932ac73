"""NumPy's OpenBLAS, loaded so that its threads sleep soon after a call.

LAPACK's functions in host tasks and NumPy's own products share their work among threads of NumPy's OpenBLAS. After
each call these threads spin for about 2**26 cycles, some 25 ms, in case another call follows: on cores that workers
need meanwhile. OpenBLAS reads `OPENBLAS_THREAD_TIMEOUT`, the logarithm of that number, when it is loaded, which is when
NumPy is imported for the first time. Bits of results do not depend on it.
"""

from __future__ import annotations

import importlib
import os
import sys

_VARIABLE = "OPENBLAS_THREAD_TIMEOUT"
_CYCLES = "16"  # 2**16 cycles: about as long as it takes to wake a thread


def _load_core() -> None:
    """Import the core, which imports NumPy, with short spinning of NumPy's threads: unless NumPy has been imported or
    the user has set the variable."""
    if "numpy" in sys.modules or _VARIABLE in os.environ:
        return
    os.environ[_VARIABLE] = _CYCLES
    try:
        importlib.import_module("forerun._core")
    finally:
        del os.environ[_VARIABLE]


_load_core()
