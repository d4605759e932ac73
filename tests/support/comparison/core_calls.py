"""Arrays to call functions with that the core handles itself, and records of such calls to compare."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import _core, np

DTYPES = [
    "bool",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
REAL = [0.0, -0.0, 3.5, -2.0, 1.25, 3.5, 0.5, -7.75, 2.0, 100.0, 0.0, -1.0]
NUMBERS: list[Any] = [
    0,
    1,
    -1,
    300,
    2**40,
    2**63,
    2**70,
    True,
    1.5,
    -0.0,
    float("nan"),
    float("inf"),
    1e300,
    1e39,
    2j,
    numpy.float32(1.5),
    numpy.int8(3),
    "x",
    None,
    [1, 2],
]


def vector(n: int, dtype: str) -> np.ndarray:
    """Numbers with equal ones among them, zeros of both signs, and a NaN where there can be one."""
    values = numpy.array([REAL[(i * 7 + i // 12) % 12] for i in range(n)])
    if dtype[0] == "u" or dtype == "bool":
        values = abs(values)
    if dtype in ("float16", "float32", "float64") and n > 40:
        values[n // 2] = numpy.nan
    if dtype.startswith("complex"):
        return np.array((values + 1j * values[::-1]).astype(dtype))
    return np.array(values.astype("float32")).astype(dtype) if dtype == "bfloat16" else np.array(values.astype(dtype))


LAYOUTS: dict[str, Callable[[str], np.ndarray]] = {
    "vector": lambda t: vector(6, t),
    "longer": lambda t: vector(70, t),
    "long": lambda t: vector(2100, t),
    "matrix": lambda t: _core.reshape(vector(12, t), (3, 4)),
    "block": lambda t: _core.reshape(vector(24, t), (2, 3, 4)),
    "0-d": lambda t: _core.reshape(vector(1, t), ()),
    "no elements": lambda t: _core.full((0,), 0, t, forerun.Device("cpu")),
    "no rows": lambda t: _core.full((0, 3), 0, t, forerun.Device("cpu")),
    "every other": lambda t: _core.getitem(vector(12, t), slice(None, None, 2)),
    "backwards": lambda t: _core.getitem(vector(5, t), slice(None, None, -1)),
    "turned": lambda t: _core.transpose(_core.reshape(vector(12, t), (3, 4)), (1, 0)),
    "columns": lambda t: _core.getitem(_core.reshape(vector(12, t), (3, 4)), (slice(None), slice(1, 3))),
    "repeated": lambda t: _core.broadcast_to(vector(3, t), (2, 3)),
}


def describe(x: Any) -> Any:
    """All that can be seen of a result."""
    if isinstance(x, np.ndarray):
        values = x.numpy()
        return type(x), x.dtype, x.shape, x.device, values.tobytes(), x.node is not None
    return type(x), repr(x)


def record_of_call(f: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]) -> str:
    """Return the result of a call, or its error and line, and the arguments that the result is a view of."""
    found: Any = ()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = f(*args, **options)
            arrays = [a for a in args if isinstance(a, np.ndarray)]
            found = "read", [isinstance(result, np.ndarray) and np.shares_memory(result, a) for a in arrays]
            found = describe(result), found
        except Exception as error:
            found = found, type(error), str(error)
    return repr((found, [(w.category, str(w.message)) for w in caught]))


def format_differences(found: list[str]) -> str:
    return "\n".join(found[:10])
