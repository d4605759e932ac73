"""Parameters by name, as `collect_params` returns them, and how they are written to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy

from ..._capture import changes
from ..._io.file_ops import opened
from ..._io.named_arrays import read_named, save_named
from ..._runtime.logging import say
from ...init import Initializer
from .constant import Constant
from .deferred import UninitializedError, placed
from .loading import set_values
from .parameter import Devices, Parameter

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["ParameterDict", "save", "load"]


class ParameterDict(dict[str, Parameter]):
    """A dict from names to parameters, with methods for all of them at once.

    >>> params = ParameterDict(a=Parameter("a", shape=2), b=Parameter("b", shape=3))
    >>> params.initialize("ones")
    >>> params["b"].data().tolist()
    [1.0, 1.0, 1.0]
    """

    def __setitem__(self, name: str, parameter: Parameter) -> None:
        super().__setitem__(name, parameter)
        changes.note(self)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        changes.note(self)

    def get(self, name: str, default: object = None, **settings: Any) -> Any:
        """Return the parameter of that name; with settings, a missing one is made with them."""
        if name not in self and settings:
            settings.setdefault("allow_deferred_init", True)
            self[name] = Parameter(name, **settings)
        return super().get(name, default)

    def get_constant(self, name: str, value: Array) -> Parameter:
        """Return the parameter of that name, made as a constant of `value` if it is missing."""
        if name not in self:
            self[name] = Constant(value, name)
        return self[name]

    def distinct(self) -> list[Parameter]:
        """Return the parameters in order, shared ones once."""
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
        """Initialise each parameter with its own rule, else `init`, else Uniform(0.07).

        verbose: says so of each, to `logging.getLogger("forerun")` as info.
        """
        for parameter in self.distinct():
            parameter.initialize(None, ctx, init, force_reinit, device=device)
            if verbose:
                rule = parameter.init or init or "uniform"
                say("info", "%s of shape %s: initialised by %s", parameter.name, parameter.shape, rule)

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for parameter in self.distinct():
            parameter.zero_grad()

    def setattr(self, name: str, value: Array) -> None:
        """Set an attribute of all parameters, as in `params.setattr("grad_req", "null")`."""
        for parameter in self.distinct():
            setattr(parameter, name, value)

    def reset_ctx(self, ctx: Devices = None, *, device: Devices = None) -> None:
        """Move all parameters to one device or several."""
        for parameter in self.distinct():
            parameter.reset_ctx(ctx, device=device)

    reset_device = reset_ctx

    def save(
        self,
        filename: str | os.PathLike[str],
        strip_prefix: str = "",
        deduplicate: bool = False,
        *,
        wait: bool = True,
    ) -> Array:
        """Write the values to a file: in the safetensors format if its name ends in ".safetensors", else as npz.

        Returns the file's size, an array, when the file is written; with wait=False at once, as `np.save` does.
        strip_prefix: taken off the names, which must begin so (ValueError). deduplicate: a parameter that has several
        names is written under the first. Values: `Parameter.mean_data()`.
        """
        wrong = [name for name in self if not name.startswith(strip_prefix)]
        if wrong:
            raise ValueError(f"save: names must begin with {strip_prefix!r}, got {wrong[0]!r}")
        seen: set[int] = set()
        values = {}
        for name, parameter in self.items():
            if not deduplicate or id(parameter) not in seen:
                values[name.removeprefix(strip_prefix)] = named(name, parameter.mean_data)
            seen.add(id(parameter))
        return save(filename, values, wait)

    def load(
        self,
        filename: str | os.PathLike[str],
        ctx: Devices = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        restore_prefix: str = "",
        cast_dtype: bool = False,
        dtype_source: str = "current",
        *,
        device: Devices = None,
    ) -> None:
        """Set the parameters from a file in one of the formats npz, safetensors, and MXNet's own.

        Those that are not initialised are, on the device(s). restore_prefix: put before the file's names; "arg:" and
        "aux:", which MXNet's `export` writes, are left out. cast_dtype: values of another dtype are cast to the
        parameter's, or the parameter to theirs (dtype_source="saved").

        Raises ValueError if the file lacks a parameter or has one more (unless allowed), or for another shape;
        TypeError for another dtype. Then nothing has changed.
        """
        values = {restore_prefix + name: value for name, value in load(filename).items()}
        where = device if device is not None else ctx
        set_values(self, values, where, allow_missing, ignore_extra, cast_dtype, dtype_source)


def named(name: str, get: Callable[[], Any]) -> Any:
    """Return `get()` of a parameter; if it is not initialised the error has its name."""
    try:
        return get()
    except UninitializedError as error:
        placed(error, name)
        raise


def save(filename: str | os.PathLike[str], arrays: Mapping[str, Any], wait: bool = True) -> Array:
    """Write named arrays to a file with exactly this name: safetensors if it ends so, else npz."""
    return save_named("save_parameters", filename, arrays, wait)


def load(filename: str | os.PathLike[str]) -> dict[str, numpy.ndarray]:
    """Return the named arrays of a file, as NumPy arrays. ValueError for a file in another format."""
    with opened(filename) as file:
        return read_named(file, "load")
