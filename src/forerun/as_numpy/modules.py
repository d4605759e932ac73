"""The modules that a program gets as `numpy` and below: forerun's functions, and NumPy's where forerun has no such
function."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy

from .. import np
from ..ops._base import core as _core
from ..ops._base.convert import is_supported
from ..ops._base.ufunc_text import Signature
from . import arrays
from .conversion import Numpy, aliased, as_forerun, back, named, values
from .streams import streams

__all__ = ["Modules"]

# NumPy returns Python's bool, which has `is True`.
_BOOLS = ("allclose", "array_equal", "array_equiv")
# They return nothing, and the file is written when they return.
_SAVES = ("save", "savez", "savez_compressed", "savetxt")
# They read from an open file, which has to be where it was when NumPy reads in their place.
_READS = ("load", "loadtxt", "genfromtxt", "fromfile")
# A program may catch their errors at the call, so they wait.
_MAY_FAIL = (
    "linalg.cholesky", "linalg.cond", "linalg.eigh", "linalg.eigvalsh", "linalg.inv",
    "linalg.lstsq", "linalg.matrix_power", "linalg.matrix_rank", "linalg.pinv", "linalg.qr", "linalg.solve",
    "linalg.svd", "linalg.svdvals", "linalg.tensorinv", "linalg.tensorsolve", "polyfit",
)  # fmt: skip
# These as well, whose errors depend on values in other ways than those of indices.
_CHECKING = (
    "asarray_chkfinite", "average", "choose", "digitize", "histogram", "histogram2d", "histogram_bin_edges",
    "histogramdd", "nanargmax", "nanargmin", "ravel_multi_index", "unravel_index",
)  # fmt: skip
_FEW = 1024  # elements of a matrix for which the core calls NumPy's functions itself
# NumPy looks at the values to find the dtype.
_REAL_IF_THEY_CAN = ("linalg.eig", "linalg.eigvals")
# They return named tuples.
_NAMED = (
    "linalg.eig", "linalg.eigh", "linalg.qr", "linalg.slogdet", "linalg.svd",
    "unique_all", "unique_counts", "unique_inverse",
)  # fmt: skip
# They call functions of the program, so a second call would be seen: by position and name, the functions.
_CALLING = {
    "apply_along_axis": (0, "func1d"), "apply_over_axes": (0, "func"), "fromfunction": (0, "function"),
    "piecewise": (2, "funclist"),
}  # fmt: skip
# They return a forerun array for any arguments.
_MAKES = (
    "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "astype", "copy",
    "empty_like", "full_like", "ones_like", "require", "zeros_like", "linspace", "arange", "full",
)  # fmt: skip
# They return an array without the class of their argument, or none.
_WITHOUT_CLASS = (
    "array", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "copy",
    "may_share_memory", "shares_memory",
)  # fmt: skip
# They ignore the class of an array without rules for functions.
_IGNORING_CLASS = ("array_equal", "cross", "interp", "linalg.norm", "outer")
# They return views of their arguments, or may.
_VIEWING = (
    "atleast_1d", "atleast_2d", "atleast_3d", "array_split", "broadcast_arrays", "broadcast_to", "diag", "diagonal",
    "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "lib.stride_tricks.as_strided",
    "lib.stride_tricks.sliding_window_view", "linalg.diagonal", "linalg.matrix_transpose", "matrix_transpose",
    "moveaxis", "nan_to_num", "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90", "split", "squeeze",
    "swapaxes", "transpose", "trim_zeros", "unstack", "vsplit",
)  # fmt: skip
# They return an array on the memory of another object, to which either writes.
_ON_MEMORY = ("ctypeslib.as_array", "frombuffer")
_DELEGATED = (
    dict.fromkeys(_WITHOUT_CLASS, "dtypes") | dict.fromkeys(_IGNORING_CLASS, "rules") | dict.fromkeys(_VIEWING, "views")
)
# Modules that are NumPy's own: their names are annotations, and no functions.
_NUMPY_MODULES = ("numpy.typing",)
_LACKS = "not among forerun's functions"
# NumPy's functions are meant, as they call Python once for each element, or are about NumPy itself.
_NUMPY_NAMES = {
    "poly": "looks at the values to find the dtype",
    "fromiter": "reads Python's objects one by one", "frompyfunc": "calls Python for each element",
    "seterr": "", "geterr": "", "errstate": "", "seterrcall": "", "geterrcall": "", "set_printoptions": "",
    "get_printoptions": "", "printoptions": "", "can_cast": "", "promote_types": "",
}  # fmt: skip


class Modules:
    """The modules by their names, made when they are asked for.

    Each has the names of NumPy's module: forerun's functions, which fall back to NumPy's where they refuse their
    arguments, or NumPy's functions for forerun arrays; constants, dtypes and classes are NumPy's.
    """

    def __init__(self, calls: Numpy, is_program: Callable[[Any], bool]) -> None:
        self.calls, self.is_program = calls, is_program
        self._made: dict[str, types.ModuleType] = {}

    def __call__(self, name: str) -> types.ModuleType:
        """The module of a dotted name, beginning with "numpy". ImportError if NumPy has no such module."""
        found = self._made.get(name)
        if found is None:
            numpy_module = importlib.import_module(name)
            found = self._made.setdefault(
                name, numpy_module if name in _NUMPY_MODULES else self._module(name, numpy_module)
            )
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(self(parent), last, found)
        return found

    def _module(self, name: str, numpy_module: types.ModuleType) -> types.ModuleType:
        path = name.removeprefix("numpy").removeprefix(".")
        module = types.ModuleType(name, numpy_module.__doc__)
        module.__spec__, module.__file__ = numpy_module.__spec__, getattr(numpy_module, "__file__", None)
        module.__path__ = getattr(numpy_module, "__path__", [])
        if hasattr(numpy_module, "__all__"):
            module.__all__ = list(numpy_module.__all__)  # type: ignore[attr-defined]
        forerun_module = self._own(path)
        special = self._special(path)

        own: set[str] = set()

        def look_up(attribute: str) -> Any:
            """Return an attribute of a module on its first use."""
            if attribute in own:  # asked for by another way than in the module, as by a module that copies its names
                raise AttributeError(f"module {name!r} has no attribute {attribute!r}")
            found = special.get(attribute)
            if found is None:
                found = self._attribute(path, attribute, numpy_module, forerun_module, module)
            found = named(f"{path}.{attribute}".lstrip("."), found, getattr(numpy_module, attribute, None))
            setattr(module, attribute, found)
            return found

        vars(module).update(__getattr__=look_up, __dir__=lambda: dir(numpy_module))
        for attribute, found in list(vars(numpy_module).items()):  # programs also read `vars(numpy)`
            if not isinstance(found, types.ModuleType) and attribute not in vars(module):
                look_up(attribute)
        own.update(vars(module))
        return module

    def _attribute(self, path: str, name: str, numpy_module: object, forerun_module: object, module: object) -> Any:
        numpy_object = getattr(numpy_module, name)
        first = getattr(numpy_object, "__name__", name)
        if first != name and callable(numpy_object) and vars(numpy_module).get(first) is numpy_object:
            return getattr(module, first)  # two names of one function, as `concat` and `concatenate`
        return self.attribute(f"{path}.{name}".lstrip("."), getattr(forerun_module, name, None), numpy_object)

    def counterpart(self, numpy_function: object) -> object:
        """Return the program's function of the same name as NumPy's; the function itself if there is no other.

        >>> from forerun.as_numpy.modules import Modules
        >>> Modules(None, None).counterpart(len) is len
        True
        """
        name, within = (getattr(numpy_function, key, None) or "" for key in ("__name__", "__module__"))
        known = within.partition(".")[0] == "numpy" and getattr(sys.modules.get(within), name, None) is numpy_function
        return getattr(self(within), name) if known else numpy_function

    def _own(self, path: str) -> Any:
        """The forerun module with the names of NumPy's, or None."""
        found: Any = np
        for part in path.split(".") if path else []:
            found = getattr(found, part, None)
        return found if isinstance(found, types.ModuleType) and not path.startswith("random") else None

    @functools.cached_property
    def _streams(self) -> dict[str, Any]:
        return streams(self.is_program)

    def _special(self, path: str) -> dict[str, Any]:
        """Return replacements of NumPy's classes, and NumPy's own streams of random numbers."""
        if path in ("random", "random.mtrand"):
            return self._streams
        return arrays.classes(self.calls) if not path else {}

    def attribute(self, path: str, forerun_object: object, numpy_object: object) -> Any:
        """Return the attribute that a program gets by a name."""
        if isinstance(numpy_object, types.ModuleType):
            return self(numpy_object.__name__) if numpy_object.__name__.partition(".")[0] == "numpy" else numpy_object
        if not callable(numpy_object) or (isinstance(numpy_object, type) and not callable(forerun_object)):
            return numpy_object if forerun_object is None or isinstance(numpy_object, str) else forerun_object
        if path in _ON_MEMORY:
            return _on_memory(forerun_object, numpy_object)
        if path in _NUMPY_NAMES or isinstance(forerun_object, type):
            return self._numpy_object(path, numpy_object)
        if isinstance(forerun_object, _core.Ufunc):
            return forerun_object  # the core asks for NumPy's where it refuses operands
        if isinstance(numpy_object, type) or not callable(forerun_object):
            return self._numpy_object(path, numpy_object)
        return self._function(path, forerun_object, numpy_object)

    def _numpy_object(self, path: str, numpy_object: Callable[..., Any]) -> Any:
        if isinstance(numpy_object, type) or _NUMPY_NAMES.get(path) == "":
            return numpy_object
        called = self.calls.always(path, numpy_object, _NUMPY_NAMES.get(path) or _LACKS)
        if isinstance(numpy_object, numpy.ufunc):
            vars(called).update(_of_ufunc(numpy_object), numpy_function=numpy_object)
            for method in ("reduce", "accumulate", "outer", "at", "reduceat"):
                setattr(called, method, self.calls.always(f"{path}.{method}", getattr(numpy_object, method), _LACKS))
        if not isinstance(called, types.FunctionType) or isinstance(numpy_object, numpy.ufunc):
            return called
        found = _core.Fallback(called, lambda *_: NotImplemented)
        vars(found).update(__doc__=called.__doc__, __module__=called.__module__, numpy_function=numpy_object)
        vars(found).update(self._undispatched(path, numpy_object))
        return found

    def _function(self, path: str, forerun_function: Any, numpy_function: Callable[..., Any]) -> Any:
        if path in _CALLING:
            numpys = self.calls.always(path, numpy_function, "calls functions of the program")
            called = _calling(forerun_function, numpys, *_CALLING[path])
            vars(called).update(self._undispatched(path, numpy_function))
            return called
        few = None if path in _MAKES else numpy_function
        found = _core.Fallback(
            _changed(path, forerun_function, numpy_function), self.calls.instead(path, numpy_function), few,
            _DELEGATED.get(path, "classes"),
        )  # fmt: skip
        vars(found).update({name: getattr(numpy_function, name) for name in ("__doc__", "__module__")})
        vars(found)["__signature__"] = Signature(numpy_function)
        if isinstance(numpy_function, numpy.ufunc):
            vars(found).update(_of_ufunc(numpy_function))
        vars(found)["numpy_function"] = numpy_function
        vars(found).update(self._undispatched(path, numpy_function))
        return found

    def _undispatched(self, path: str, numpy_function: object) -> dict[str, object]:
        """Return NumPy's function that asks no class of its arguments, which classes with `__array_function__` call."""
        found = getattr(numpy_function, "_implementation", None)
        return {} if found is None else {"_implementation": self.calls.always(path, found, "called in its place")}


def _of_ufunc(ufunc: numpy.ufunc) -> dict[str, object]:
    """Return the attributes of a ufunc that describe it, for a function of forerun's in its place."""
    return {name: getattr(ufunc, name) for name in ("nin", "nout", "nargs", "ntypes", "types", "identity", "signature")}


def _changed(path: str, forerun_function: Any, numpy_function: Any) -> Any:
    """Return forerun's function with NumPy's kind of result, or with errors at the call."""
    if path in _NAMED:
        return _with_names(_waiting(path, forerun_function, numpy_function), numpy_function)
    if path in _BOOLS:
        return functools.wraps(forerun_function)(lambda *args, **kwargs: bool(forerun_function(*args, **kwargs)))
    if path in _SAVES:
        return functools.wraps(forerun_function)(
            lambda *args, **kwargs: _waited(forerun_function(*args, **kwargs), None)
        )
    if path in _READS:
        return _rewinding(forerun_function)
    return _waiting(path, forerun_function, numpy_function)


def _calling(
    function: Callable[..., object], numpy_function: Callable[..., object], place: int, name: str
) -> Callable[..., object]:
    """Return NumPy's function, which calls the program's for parts of the values; forerun's while it is recorded.

    place, name: of the parameter for functions of the program.
    """

    @functools.wraps(function)
    def call(*args: object, **kwargs: object) -> object:
        if _core.recording() or _core.tracing():
            return function(*args, **kwargs)
        if len(args) > place:
            args = (*args[:place], _on_numpys(args[place]), *args[place + 1 :])
        elif name in kwargs:
            kwargs[name] = _on_numpys(kwargs[name])
        return numpy_function(*args, **kwargs)

    return call


def _on_numpys(function: object) -> object:
    """Return a function of the program's, or a list of them, for NumPy's arrays, which it gets as forerun's."""
    if isinstance(function, (list, tuple)):
        return [_on_numpys(each) for each in function]
    if not callable(function):
        return function

    def called(*args: object, **kwargs: object) -> object:
        return values(function(*map(back, args), **{name: back(x) for name, x in kwargs.items()}))

    return called


def _on_memory(forerun_function: Any, numpy_function: Callable[..., numpy.ndarray]) -> Callable[..., Any]:
    """Return NumPy's function; its array is forerun's if that has the memory, or copies bytes, which cannot change."""

    @functools.wraps(numpy_function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if args and type(args[0]) is bytes and forerun_function is not None:
            with contextlib.suppress(TypeError, ValueError):
                return _core.read_only(forerun_function(*args, **kwargs), True)
        found = numpy_function(*map(aliased, args), **{name: aliased(x) for name, x in kwargs.items()})
        shared = _core.shared_with_numpy(found) if is_supported(found.dtype) else None
        return found if shared is None else shared

    return call


def _rewinding(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function that leaves an open file where it was if it refuses the contents."""

    def read(file: Any, *args: object, **kwargs: object) -> object:
        try:
            before = file.tell() if getattr(file, "seekable", bool)() else None
        except OSError as error:  # a loop reads the file's lines
            raise TypeError(f"{function.__name__}: file must tell its position, got {error}") from None
        try:
            return function(file, *args, **kwargs)
        except Exception:
            if before is not None:
                file.seek(before)
            raise

    return functools.wraps(function)(read)


def _with_names(function: Callable[..., Any], numpy_function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function whose named tuples are of NumPy's classes."""
    kind = functools.cache(lambda: type(numpy_function(numpy.eye(1))))

    def named(*args: object, **kwargs: object) -> Any:
        found = function(*args, **kwargs)
        return kind()._make(found) if hasattr(found, "_fields") else found

    return functools.wraps(function)(named)


def _waiting(path: str, forerun_function: Callable[..., Any], numpy_function: Callable[..., Any]) -> Any:
    """Return forerun's function with a wait for its success, if programs may catch its errors."""
    if path in _REAL_IF_THEY_CAN:
        return _in_the_call(
            functools.wraps(forerun_function)(lambda a: _real(a, _settled(forerun_function(a)))), numpy_function
        )
    if path in _MAY_FAIL:
        return _in_the_call(forerun_function, numpy_function, 1 if path == "polyfit" else 2)
    if path in _CHECKING:
        return functools.wraps(forerun_function)(lambda *args, **kwargs: _computed_now(forerun_function, args, kwargs))
    return forerun_function


def _in_the_call(forerun_function: Callable[..., Any], numpy_function: Callable[..., Any], ndim: int = 2) -> Any:
    """Return a function that waits anyway: NumPy's, in the calling thread, for matrices that no gradient goes through.

    ndim: another number of axes of its first argument.

    Stacks of matrices are left to forerun's, which shares them among the workers, and so are few elements, for which
    the core calls NumPy's function without a Python frame.
    """
    few = _FEW if hasattr(forerun_function, "entry") else 0

    def call(*args: Any, **kwargs: Any) -> Any:
        a = args[0] if args else None
        if type(a) is np.ndarray and a.ndim == ndim and a.size > few and not (_core.recording() or _core.tracing()):
            others = [values(x) for x in args[1:]]
            try:
                return as_forerun(numpy_function(a.numpy(), *others, **kwargs))
            except Exception as error:
                setattr(error, "of_numpy", True)  # noqa: B010
                raise
        return _computed_now(forerun_function, args, kwargs)

    return functools.wraps(forerun_function)(call)


def _real(a: Any, found: Any) -> Any:
    """Return eigenvalues and vectors as NumPy gives them: real ones of a real matrix have a real dtype. Waits."""
    w = found[0] if isinstance(found, tuple) else found
    if np.iscomplexobj(a) or not np.iscomplexobj(w) or np.any(np.imag(w) != 0):
        return found
    if not isinstance(found, tuple):
        return np.real(w)
    kind: Any = type(found)  # a named tuple
    return kind(*map(np.real, found))


def _waited(found: Any, result: Any) -> Any:
    if isinstance(found, _core.Array):
        found.wait()
    return result


def _computed_now(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the result of a function that the program waits for.

    With its arrays computed first, a small task runs in this thread; a worker would have to wait for the interpreter.
    """
    for x in args:
        if isinstance(x, _core.Array) and not x.ready:
            x.wait()
    return _settled(function(*args, **kwargs))


def _settled(found: Any) -> Any:
    """Return the result of a function after a wait for its success."""
    for x in found if isinstance(found, tuple) else (found,):
        _waited(x, None)
    return found
