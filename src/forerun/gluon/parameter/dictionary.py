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
        """Return the parameter of a name.

        Parameters
        ----------
        name : str
            The name.
        default : object, optional
            The result if there is no such parameter and no settings are given.
        **settings : object
            Arguments of `Parameter`: with any, a missing parameter is made with them, and added.

        Returns
        -------
        Parameter
            The parameter, or `default`.

        Examples
        --------
        >>> params = ParameterDict()
        >>> params.get("a", shape=2) is params.get("a"), params.get("b")
        (True, None)
        """
        if name not in self and settings:
            settings.setdefault("allow_deferred_init", True)
            self[name] = Parameter(name, **settings)
        return super().get(name, default)

    def get_constant(self, name: str, value: Array) -> Parameter:
        """Return the parameter of a name, made as a constant if it is missing.

        Parameters
        ----------
        name : str
            The name.
        value : array_like
            The value of a new constant.

        Returns
        -------
        Parameter
            The parameter.

        Examples
        --------
        >>> from forerun import np
        >>> ParameterDict().get_constant("two", np.array([2.0])).name
        'two'
        """
        if name not in self:
            self[name] = Constant(value, name)
        return self[name]

    def distinct(self) -> list[Parameter]:
        """Return the parameters in order, shared ones once.

        Examples
        --------
        >>> p = Parameter("p", shape=2)
        >>> len(ParameterDict(a=p, b=p).distinct())
        1
        """
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

        Parameters
        ----------
        init : str or Initializer, optional
            The rule of parameters without one.
        ctx, device : device or list of devices, optional
            The device or devices; None for the current one. Both names mean the same.
        verbose : bool, optional
            Whether each parameter is reported to `logging.getLogger("forerun")`, at level info.
        force_reinit : bool, optional
            Whether parameters that are initialised get new values.

        Examples
        --------
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> params.initialize("ones")
        >>> params["a"].data().tolist()
        [1.0, 1.0]
        """
        for parameter in self.distinct():
            parameter.initialize(None, ctx, init, force_reinit, device=device)
            if verbose:
                rule = parameter.init or init or "uniform"
                say("info", "%s of shape %s: initialised by %s", parameter.name, parameter.shape, rule)

    def zero_grad(self) -> None:
        """Set all gradients to zero.

        Examples
        --------
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> params.initialize()
        >>> params.zero_grad()
        >>> params["a"].grad().tolist()
        [0.0, 0.0]
        """
        for parameter in self.distinct():
            parameter.zero_grad()

    def setattr(self, name: str, value: Array) -> None:
        """Set an attribute of all parameters.

        Parameters
        ----------
        name : str
            The attribute.
        value : object
            Its value.

        Examples
        --------
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> params.setattr("grad_req", "null")
        >>> params["a"].grad_req
        'null'
        """
        for parameter in self.distinct():
            setattr(parameter, name, value)

    def reset_ctx(self, ctx: Devices = None, *, device: Devices = None) -> None:
        """Move all parameters to one device or several.

        Parameters
        ----------
        ctx, device : device or list of devices, optional
            The device or devices; None for the current one. Both names mean the same.

        Raises
        ------
        RuntimeError
            Before initialisation.

        Examples
        --------
        >>> import forerun
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> params.initialize()
        >>> params.reset_ctx(forerun.cpu(1))
        >>> params["a"].list_ctx()
        [cpu(1)]
        """
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

        The values are those of `Parameter.mean_data()`.

        Parameters
        ----------
        filename : str or path
            The name of the file.
        strip_prefix : str, optional
            Removed from the names, which must begin with it.
        deduplicate : bool, optional
            Whether a parameter that has several names is written only under the first.
        wait : bool, optional
            Whether the call returns when the file is written; with False it returns at once, as `np.save` does.

        Returns
        -------
        array
            The size of the file, in bytes.

        Raises
        ------
        ValueError
            If a name does not begin with `strip_prefix`.
        RuntimeError
            Before initialisation.

        Examples
        --------
        >>> import tempfile
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> params.initialize("ones")
        >>> other = ParameterDict(a=Parameter("a", shape=2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = params.save(f"{folder}/some.params")
        ...     other.load(f"{folder}/some.params")
        >>> other["a"].data().tolist()
        [1.0, 1.0]
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
        """Set the parameters from a file in one of the formats npz, safetensors, and MXNet's own. On an error, nothing
        changes.

        "arg:" and "aux:", which MXNet's `export` writes before names, are left out.

        Parameters
        ----------
        filename : str or path
            The name of the file.
        ctx, device : device or list of devices, optional
            Where parameters that are not initialised are made; None for the current device. Both names mean the same.
        allow_missing : bool, optional
            Whether the file may lack parameters; these keep their values.
        ignore_extra : bool, optional
            Whether the file may have further arrays.
        restore_prefix : str, optional
            Put before the file's names.
        cast_dtype : bool, optional
            Whether values of another dtype are cast.
        dtype_source : str, optional
            "current" casts values to the parameter's dtype; "saved" casts the parameter to theirs.

        Raises
        ------
        ValueError
            If the file lacks a parameter or has one more, unless allowed, or for another shape.
        TypeError
            For another dtype, unless it is cast.

        Examples
        --------
        >>> import tempfile
        >>> from forerun import np
        >>> params = ParameterDict(a=Parameter("a", shape=2))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     size = np.savez(f"{folder}/some.npz", a=np.ones(2))
        ...     params.load(f"{folder}/some.npz")
        >>> params["a"].data().tolist()
        [1.0, 1.0]
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
