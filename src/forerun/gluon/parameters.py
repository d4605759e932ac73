"""Parameters by name: what `collect_params` gives, and how they are written to files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy

from ..init import Initializer
from ..storage.issue import opened, save_arrays
from ..storage.npy import read_arrays
from .constant import Constant
from .parameter import Devices, Parameter

__all__ = ["ParameterDict", "save", "load"]


class ParameterDict(dict[str, Parameter]):
    """A dict from names to parameters, with what is done to all of them at once.

    >>> params = ParameterDict(a=Parameter("a", shape=2), b=Parameter("b", shape=3))
    >>> params.initialize("ones")
    >>> params["b"].data().tolist()
    [1.0, 1.0, 1.0]
    """

    def get(self, name: str, default: Any = None, **settings: Any) -> Any:
        """The parameter of that name; with settings, one is made of them where there is none."""
        if name not in self and settings:
            settings.setdefault("allow_deferred_init", True)
            self[name] = Parameter(name, **settings)
        return super().get(name, default)

    def get_constant(self, name: str, value: Any) -> Parameter:
        """The parameter of that name, made as a constant of `value` where there is none."""
        if name not in self:
            self[name] = Constant(value, name)
        return self[name]

    def distinct(self) -> list[Parameter]:
        """The parameters in order, shared ones once."""
        return list({id(parameter): parameter for parameter in self.values()}.values())

    def initialize(
        self,
        init: str | Initializer | None = None,
        ctx: Devices = None,
        verbose: bool = False,
        force_reinit: bool = False,
        *,
        device: Devices = None,
    ) -> None:
        """Initialises each parameter with its own rule, else `init`, else Uniform(0.07)."""
        for parameter in self.distinct():
            parameter.initialize(None, ctx, init, force_reinit, device=device)

    def zero_grad(self) -> None:
        """Sets all gradients to zero."""
        for parameter in self.distinct():
            parameter.zero_grad()

    def setattr(self, name: str, value: Any) -> None:
        """Sets an attribute of all parameters, as in `params.setattr("grad_req", "null")`."""
        for parameter in self.distinct():
            setattr(parameter, name, value)

    def reset_ctx(self, ctx: Devices = None, *, device: Devices = None) -> None:
        """Moves all parameters to one device or several."""
        for parameter in self.distinct():
            parameter.reset_ctx(ctx, device=device)

    reset_device = reset_ctx

    def save(self, filename: str | os.PathLike[str]) -> Any:
        """Writes the values to a file, in NumPy's npz format, as `np.savez` does: returns its size, an array."""
        return save(filename, {name: parameter.data() for name, parameter in self.items()})

    def load(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        *,
        device: Devices = None,
    ) -> None:
        """Sets the parameters from a file; those that are not initialised are, on the device(s).

        Raises ValueError if the file lacks a parameter or has one more (unless allowed), or for another shape;
        TypeError for another dtype, unless `cast_dtype`: then values become what the parameter is.
        """
        values = load(filename)
        missing, extra = self.keys() - values.keys(), values.keys() - self.keys()
        if missing and not allow_missing:
            raise ValueError(f"load: file must have all parameters, got none for {sorted(missing)}")
        if extra and not ignore_extra:
            raise ValueError(f"load: file must have only the block's parameters, got {sorted(extra)}")
        for name in self.keys() & values.keys():
            _set(name, self[name], values[name], device if device is not None else ctx, cast_dtype)


def _set(name: str, parameter: Parameter, value: numpy.ndarray, devices: Devices, cast_dtype: bool) -> None:
    if value.dtype != parameter.dtype and not cast_dtype:
        raise TypeError(f"load: {name} must be {parameter.dtype}, got {value.dtype}")
    parameter.shape = value.shape
    parameter.initialize("zeros", devices)
    parameter.set_data(value.astype(parameter.dtype, copy=False))
    if devices is not None:
        parameter.reset_ctx(devices)


def save(filename: str | os.PathLike[str], arrays: Mapping[str, Any]) -> Any:
    """Writes named arrays to an npz file with exactly this name, as `np.savez` does."""
    return save_arrays("save_parameters", filename, arrays)


def load(filename: str | os.PathLike[str]) -> dict[str, numpy.ndarray]:
    """The named arrays of an npz file, as NumPy arrays. ValueError for any other file."""
    with opened(filename) as file:
        return read_arrays(file)
