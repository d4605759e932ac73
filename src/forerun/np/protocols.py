"""NumPy's protocols: NumPy functions called with our arrays run here where there is an op of that name.

What forerun does not have runs in NumPy, on the values: that waits, and returns NumPy arrays.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from .. import _core
from ..ops import arithmetic, exponential, linear, reduction, signal
from ..ops.base import Elementwise

_UFUNCS: dict[Any, Elementwise] = {
    op.ufunc: op
    for module in (arithmetic, exponential)
    for op in vars(module).values()
    if isinstance(op, Elementwise) and not op.name.startswith("_")
}
_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    numpy.modf: exponential.modf, numpy.frexp: exponential.frexp, numpy.divmod: exponential.divmod,
    numpy.vecdot: linear.vecdot,
}  # fmt: skip
if hasattr(numpy, "matvec"):  # since 2.2
    _FUNCTIONS |= {numpy.matvec: signal.matvec, numpy.vecmat: signal.vecmat}
_WRITERS = {numpy.save, numpy.savez, numpy.savez_compressed, numpy.savetxt}
_REDUCTIONS: dict[Any, Callable[..., Any]] = {
    numpy.add: reduction.sum, numpy.multiply: reduction.prod, numpy.maximum: reduction.max, numpy.minimum:
    reduction.min, numpy.logical_and: reduction.all, numpy.logical_or: reduction.any,
}  # fmt: skip


def array_ufunc(self: Any, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
    """`__array_ufunc__`: a NumPy ufunc called with one of our arrays."""
    target = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if method == "__call__" and ufunc in _UFUNCS and not (set(kwargs) - {"dtype"}):
        if isinstance(target, numpy.ndarray):
            target[...] = _UFUNCS[ufunc](*inputs, **kwargs).numpy()
            return target
        return _UFUNCS[ufunc](*inputs, out=target, **kwargs)
    if method == "__call__" and ufunc in _FUNCTIONS and not kwargs and target is None:
        return _FUNCTIONS[ufunc](*inputs)
    if method == "__call__" and ufunc is numpy.matmul and not kwargs:
        return linear.matmul(*inputs, out=target)  # type: ignore[misc]
    if method == "reduce" and ufunc in _REDUCTIONS and not (set(kwargs) - {"axis", "dtype", "keepdims"}):
        kwargs.setdefault("axis", 0)
        if kwargs.get("dtype") is None:
            kwargs.pop("dtype", None)
        return _REDUCTIONS[ufunc](*inputs, out=target, **kwargs)
    if target is not None:
        return NotImplemented
    return getattr(ufunc, method)(*map(_values, inputs), **{k: _values(v) for k, v in kwargs.items()})


def namespace() -> Any:
    """`forerun.np`, which imports this module."""
    return importlib.import_module(__package__)


_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")


def array_namespace(self: Any, /, *, api_version: str | None = None) -> Any:
    """`__array_namespace__`: where libraries find the functions of the Python array API standard, `forerun.np`.

    ValueError for a version of the standard that it does not hold.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: api_version must be one of {', '.join(_VERSIONS)}, got {api_version!r}"
        )
    return namespace()


def array_function(self: Any, func: Any, types: Iterable[type], args: Any, kwargs: Any) -> Any:
    """`__array_function__`: any other NumPy function called with one of our arrays."""
    ours: Any = namespace()
    for part in func.__module__.split(".")[1:]:
        ours = ours if part.startswith("_") else getattr(ours, part, None)
    ours = getattr(ours, func.__name__, None)
    if func in _WRITERS:  # who calls NumPy's expects the file to be there
        return ours(*args, **kwargs).wait()
    if callable(ours):
        return ours(*args, **kwargs)
    return func(*map(_values, args), **{k: _values(v) for k, v in kwargs.items()})


def _values(x: Any) -> Any:
    """NumPy arrays in place of ours, in nested sequences too."""
    if isinstance(x, _core.Array):
        return x.numpy()
    if isinstance(x, (list, tuple)):
        return type(x)(map(_values, x))
    return x
