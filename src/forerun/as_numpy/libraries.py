"""Libraries while NumPy is replaced: their functions get NumPy's arrays, scalars and functions in place of forerun's.

Most libraries convert their arguments. Those below check the types of masks, keys, numbers and images in C, which
accepts NumPy's alone.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy

from ..ops._base import core as _core
from ..ops._base.primitive import direct
from . import compiled
from .conversion import DICTS, aliased, each_inside, same_dict, values

__all__ = ["ADAPTED", "Libraries"]

# Modules with the functions and classes that are adapted; None: all public ones.
ADAPTED: dict[str, tuple[str, ...] | None] = {
    "pandas": None,
    "pandas.core.indexing": ("_LocIndexer", "_iLocIndexer", "_AtIndexer", "_iAtIndexer"),
    "pandas.core.groupby": None,
    "pandas.core.window": None,
    "scipy.sparse": None,
    "scipy.sparse._base": ("_spbase",),
    "scipy.sparse._sparsetools": None,
    "scipy.sparse.linalg": None,
    "scipy.sparse.linalg._interface": ("_CustomLinearOperator",),
    "scipy.spatial.transform": None,
    "h5py": None,
    "osqp.interface": ("OSQP",),
    "scs": ("SCS", "solve"),
    "cv2": None,
    "torch": (
        "Tensor", "from_numpy", "tensor", "as_tensor", "full", "full_like", "arange", "linspace", "clamp", "eq",
        "where",
    ),
    "array_api_compat": ("array_namespace", "get_namespace", "is_array_api_obj", "is_numpy_array", "device", "size"),
    "array_api_compat.numpy": ("asarray",),
    "torch.utils.data._utils.collate": ("default_collate",),
    "numba.core.dispatcher": ("Dispatcher",),
    "numba.stencils.stencil": ("StencilFunc",),
    "numba.core.interpreter": ("Interpreter",),
    "pytest": ("importorskip",),
    "cloudpickle.cloudpickle": ("Pickler",),
    "joblib.externals.cloudpickle.cloudpickle": ("Pickler",),
    "numba.cloudpickle.cloudpickle": ("Pickler",),
}  # fmt: skip
# Functions with results that take NumPy's arrays alone: an object with a method `solve`, or that method.
_SOLVERS = ("splu", "spilu", "factorized")
_WRITERS = ("cv2",)  # modules with functions that write into arguments
_ON_MEMORY = ("scipy.sparse._sparsetools", "array_api_compat.numpy")  # on the memory of arguments, or that return one
_BINARY = (
    "add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift"
)  # fmt: skip
_MAKING = frozenset(("__init__", "__new__", "__call__"))
# Special methods that get arguments of the program.
_SPECIAL = frozenset(
    [f"__{prefix}{name}__" for prefix in ("", "r", "i") for name in _BINARY]
    + [f"__{name}__" for name in ("eq", "ne", "lt", "le", "gt", "ge")]
    + [f"__{name}__" for name in ("getitem", "setitem", "delitem", "contains")]
).union(_MAKING)
# Classes of which certain methods are adapted, which they may have from a class made in C.
_METHODS: dict[str, frozenset[str]] = {
    "torch.Tensor": _SPECIAL - _MAKING,
    "numba.core.dispatcher.Dispatcher": frozenset(("__call__",)),
    "numba.stencils.stencil.StencilFunc": frozenset(("__call__",)),
    "numba.core.interpreter.Interpreter": frozenset(("get_global_value", "get_closure_value")),
    "scipy.sparse._base._spbase": frozenset(("__setattr__",)),
    "cloudpickle.cloudpickle.Pickler": frozenset(("reducer_override",)),
    "joblib.externals.cloudpickle.cloudpickle.Pickler": frozenset(("reducer_override",)),
    "numba.cloudpickle.cloudpickle.Pickler": frozenset(("reducer_override",)),
}


class Libraries:
    """The adapted functions and methods.

    is_program: whether globals are those of the program's code, whose functions return forerun's values.
    module: returns the module that the program gets by a name in NumPy.
    """

    def __init__(
        self, is_program: Callable[[Mapping[str, Any]], bool], module: Callable[[str], types.ModuleType]
    ) -> None:
        self._is_program, self._module = is_program, module
        self._before: dict[str, list[tuple[Any, str, Any]]] = {}
        self._modules = 0  # how many there were at the last look for modules to adapt, unless one was incomplete

    def adapt(self) -> None:
        """Adapt the modules that have been imported since the last call."""
        if len(sys.modules) == self._modules:
            return
        self._modules = len(sys.modules)
        for name in ADAPTED.keys() - self._before:
            module = sys.modules.get(name)
            if module is None:
                continue
            if getattr(module.__spec__, "_initializing", False):
                self._modules = 0  # it is adapted by the call after its import
                continue
            found = {(id(owner), key): (owner, key) for owner, key in _found(module)}
            self._before[name] = [(owner, key, vars(owner).get(key)) for owner, key in found.values()]
            for owner, key in found.values():
                self._replace(owner, key, name)

    def restore(self) -> None:
        """Give the libraries their own functions back."""
        while self._before:
            _, functions = self._before.popitem()
            for owner, name, function in functions:
                if function is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, function)

    def _replace(self, owner: Any, name: str, module: str) -> None:
        function = inspect.getattr_static(owner, name)
        static = isinstance(function, staticmethod)
        adapted = self._adapted(function.__func__ if static else function, module)
        if isinstance(owner, types.ModuleType):
            adapted.__module__ = owner.__name__  # where pickle finds it, and not the function that it calls
        setattr(owner, name, staticmethod(adapted) if static else adapted)

    def _adapted(self, function: Callable[..., Any], module: str) -> Callable[..., Any]:
        """Return a function that calls another one with NumPy's values in place of forerun's."""
        if module == "numba.core.interpreter":
            return compiled.named(function)
        if module == "pytest":
            return self._importing(function)
        if module == "scipy.sparse._base":
            return _setting(function)
        if module.endswith(".cloudpickle"):
            return _asking_copyreg(function)
        if module.startswith("numba."):
            return compiled.calling(function, self.values, self._is_program)

        if module == "scipy.sparse.linalg" and function.__name__ in _SOLVERS:
            function = self._solving(function, module)

        def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given: list[tuple[Any, numpy.ndarray]] = []
            named = {name: self.values(x, given if name == "out" else None) for name, x in kwargs.items()}
            return compiled.written(function(*self.values(args), **named), given)

        def call_and_write(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            given: list[tuple[Any, numpy.ndarray]] = []
            result = function(*self.values(args, given), **self.values(kwargs, given))
            return compiled.written(result, given)

        if module in _ON_MEMORY:
            on_memory = compiled.passing(function)
            return direct("adapted", lambda args, kwargs: on_memory(*args, **kwargs))(function)
        adapted: Callable[..., Any] = direct("adapted", call_and_write if module in _WRITERS else call)(function)
        return adapted

    def _importing(self, function: Callable[..., types.ModuleType]) -> Callable[..., types.ModuleType]:
        """Return a function that imports a module for its caller."""

        @functools.wraps(function)
        def importing(modname: str, *args: object, **kwargs: object) -> types.ModuleType:
            found = function(modname, *args, **kwargs)
            numpys = modname.partition(".")[0] == "numpy" and self._is_program(sys._getframe(1).f_globals)
            return self._module(modname) if numpys else found

        return importing

    def _solving(self, function: Callable[..., Any], module: str) -> Callable[..., Any]:
        """Return a function that returns a solver for forerun's right sides."""

        @functools.wraps(function)
        def solving(*args: object, **kwargs: object) -> Any:
            found = function(*args, **kwargs)
            if callable(found):
                return self._adapted(found, module)
            return _Factors(found, self._adapted(found.solve, module))

        return solving

    def values(self, x: Any, given: list[tuple[Any, numpy.ndarray]] | None = None) -> Any:
        """Return NumPy's counterpart of an argument, also in tuples, lists, dicts and slices. Waits.

        given: gets the arrays, each with its copy.
        """
        if isinstance(x, _core.Array):
            if given is None or _core.is_scalar(x):
                return values(x, writable=True)
            found = next((copy for array, copy in given if array is x), None)
            if found is None:
                given.append((x, found := values(x, writable=True)))
            return found
        kind = type(x)
        if kind in (list, tuple):
            return each_inside(x, functools.partial(self.values, given=given))
        if kind in DICTS:
            return same_dict(x, {self.values(k): self.values(v, given) for k, v in x.items()})
        if kind is slice:
            return slice(self.values(x.start), self.values(x.stop), self.values(x.step))
        if isinstance(x, _core.Ufunc):
            return x.ufunc
        if isinstance(x, _core.Fallback):
            return getattr(x, "numpy_function", x)
        if isinstance(x, types.FunctionType) and self._is_program(x.__globals__):
            return self._returning(x)
        return x

    def _returning(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the program's with NumPy's values as results."""

        @functools.wraps(function)
        def returning(*args: Any, **kwargs: Any) -> Any:
            return self.values(function(*args, **kwargs))

        return returning


def _setting(function: Callable[[Any, str, Any], None]) -> Callable[[Any, str, Any], None]:
    """Return `__setattr__` for which an array is NumPy's on the same memory: functions in C write to it, as to `data`
    and `indices` of sparse arrays when these are sorted."""

    def set_attribute(args: tuple[Any, str, Any], kwargs: dict[str, Any]) -> None:
        instance, name, value = args
        function(instance, name, aliased(value), **kwargs)

    adapted: Callable[..., None] = direct("adapted", set_attribute)(function)
    return adapted


def _asking_copyreg(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return the method that pickles classes by their contents where no module has them by their name, but for those
    that `copyreg` knows, as `numpy.ndarray` of the program: functions have it in their annotations."""

    @functools.wraps(function)
    def reducer_override(self: Any, obj: Any) -> Any:
        known = isinstance(obj, type) and type(obj) in copyreg.dispatch_table
        return NotImplemented if known else function(self, obj)

    return reducer_override


class _Factors:
    """SciPy's factors of a sparse matrix, whose method `solve` is in C. It is an instance of SciPy's class, too."""

    def __init__(self, factors: Any, solve: Callable[..., Any]) -> None:
        self._factors, self.solve = factors, solve

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._factors)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factors, name)


def _found(module: types.ModuleType) -> Iterator[tuple[Any, str]]:
    """Yield functions of a module, and methods of its classes, as their owners and names."""
    chosen = ADAPTED[module.__name__]
    for name, found in list(vars(module).items()):
        if name[0] == "_" if chosen is None else name not in chosen:
            continue
        if not isinstance(found, type):
            if _is_routine(found):
                yield module, name
        elif methods := _METHODS.get(f"{module.__name__}.{name}"):
            yield from ((found, method) for method in methods if hasattr(found, method))
        else:
            for base in found.__mro__:
                if base.__module__.partition(".")[0] == module.__name__.partition(".")[0]:
                    yield from ((base, method) for method in _methods(base))


def _methods(kind: type) -> Iterator[str]:
    """Yield the names of public methods of a class, but not of those that C gives it."""
    if issubclass(kind, BaseException):
        return
    for name, found in list(vars(kind).items()):
        if (name[0] != "_" or name in _SPECIAL) and _is_routine(found) and not isinstance(found, _NOT_ADAPTED):
            yield name


def _is_routine(found: Any) -> bool:
    """Return whether it is a function that is not adapted yet: several modules share classes. Accessors are not."""
    adapted = hasattr(getattr(found, "__func__", found), "entry")
    return inspect.isroutine(found) and callable(found) and not adapted


_NOT_ADAPTED = (
    classmethod, types.BuiltinFunctionType, types.ClassMethodDescriptorType, types.MethodDescriptorType,
    types.WrapperDescriptorType,
)  # fmt: skip
