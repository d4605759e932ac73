"""Values from files and dicts into parameters: all are checked before one is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from .deferred import completes
from .parameter import Devices, Parameter

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["set_values"]

_SOURCES = ("current", "saved")
_KINDS = ("arg:", "aux:")  # prefixes that MXNet's `export` adds to names


def set_values(
    params: Mapping[str, Parameter],
    given: Mapping[str, Any],
    devices: Devices = None,
    allow_missing: bool = False,
    ignore_extra: bool = False,
    cast_dtype: bool = False,
    dtype_source: str = "current",
    op: str = "load",
) -> None:
    """Set parameters by their names; those that are not initialised are, on the device(s).

    A parameter that is there under several names needs one of them. dtype_source: with `cast_dtype`, whether
    the parameter's dtype stays ("current") or becomes the value's ("saved").

    Raises ValueError if a parameter gets no value, or a value has no parameter (unless allowed), or for another shape;
    TypeError for another dtype without `cast_dtype`. Then nothing has changed.
    """
    if dtype_source not in _SOURCES:
        raise ValueError(f"{op}: dtype_source must be one of {_SOURCES}, got {dtype_source!r}")
    values = {_plain(name): value for name, value in given.items()}
    there = {id(params[name]) for name in params.keys() & values.keys()}
    missing = [name for name, parameter in params.items() if id(parameter) not in there]
    extra = values.keys() - params.keys()
    if missing and not allow_missing:
        raise ValueError(f"{op}: file must have all parameters, got none for {sorted(missing)}")
    if extra and not ignore_extra:
        raise ValueError(f"{op}: file must have only the block's parameters, got {sorted(extra)}")
    wanted = [name for name in params if name in values]
    for name in wanted:
        _check(name, params[name], values[name], cast_dtype, op)
    for name in wanted:
        _set(params[name], values[name], devices, dtype_source)


def _plain(name: str) -> str:
    return name[4:] if name.startswith(_KINDS) else name


def _check(name: str, parameter: Parameter, value: Array | numpy.ndarray, cast_dtype: bool, op: str) -> None:
    if value.dtype != parameter.dtype and not cast_dtype:
        raise TypeError(f"{op}: {name} must be {parameter.dtype}, got {value.dtype}")
    if parameter.shape is not None and not completes(tuple(value.shape), parameter.shape):
        raise ValueError(f"{op}: {name} must be of shape {parameter.shape}, got {tuple(value.shape)}")


def _set(parameter: Parameter, value: Array | numpy.ndarray, devices: Devices, dtype_source: str) -> None:
    if value.dtype != parameter.dtype and dtype_source == "saved":
        parameter.cast(value.dtype)
    parameter.shape = value.shape
    parameter.initialize("zeros", devices)
    same = value.dtype == parameter.dtype
    parameter.set_data(value if same else numpy.asarray(value).astype(parameter.dtype))
    if devices is not None:
        parameter.reset_ctx(devices)
