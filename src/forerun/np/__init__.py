"""NumPy's names for arrays that run ahead.

Differences from NumPy: floats made from Python numbers are float32 (`npx.set_np(dtype=True)` for float64);
an integer with a float gives that float's dtype; reductions are cut by shape, so their last bits can differ
from NumPy's.

>>> from forerun import np
>>> x = np.linspace(0, 1, 5)
>>> (x * 2).tolist()
[0.0, 0.5, 1.0, 1.5, 2.0]
"""

from __future__ import annotations

import math as _math
from types import ModuleType as _ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

import numpy as _numpy

from .. import _wiring
from .._array.ndarray import _unpickled as _unpickled
from .._array.ndarray import ndarray as ndarray
from .._array.scalar import _unpickled_scalar as _unpickled_scalar
from .._interop import array_api_compat as _array_api_compat
from .._interop import dask as _dask
from .._interop import einops as _einops
from .._interop.dlpack import *  # noqa: F403
from .._io.numpy_files import *  # noqa: F403
from ..ops._base import core as _core
from ..ops._base.convert import asarrays as _asarrays
from ..ops._base.convert import axes_of as _axes_of
from ..ops._base.convert import cast as _cast
from ..ops._base.convert import default_float as _default_float
from ..ops._base.convert import is_inexact as _is_inexact
from ..ops._base.convert import store as _store
from ..ops._base.convert import together as _together
from ..ops._base.dtypes import *  # noqa: F403
from ..ops._base.host_task import host as host
from ..ops._base.host_task import host_op as _host_op
from ..ops._base.primitive import direct as _direct
from ..ops.create.fill import *  # noqa: F403
from ..ops.create.fill import asarray as asarray
from ..ops.create.ranges import *  # noqa: F403
from ..ops.elementwise import arithmetic as _arithmetic
from ..ops.elementwise import exponential as _exponential
from ..ops.elementwise.arithmetic import *  # noqa: F403
from ..ops.elementwise.arithmetic import round as _round
from ..ops.elementwise.exponential import *  # noqa: F403
from ..ops.elementwise.select import *  # noqa: F403
from ..ops.index.diagonal import *  # noqa: F403
from ..ops.index.flatiter import *  # noqa: F403
from ..ops.index.from_data import *  # noqa: F403
from ..ops.index.getitem import *  # noqa: F403
from ..ops.index.grids import *  # noqa: F403
from ..ops.index.index_builders import *  # noqa: F403
from ..ops.index.insert_delete import *  # noqa: F403
from ..ops.index.select_by import *  # noqa: F403
from ..ops.linalg.cross import *  # noqa: F403
from ..ops.linalg.einsum import *  # noqa: F403
from ..ops.linalg.matmul import *  # noqa: F403
from ..ops.linalg.tensordot import *  # noqa: F403
from ..ops.reduce.mean_variance import *  # noqa: F403
from ..ops.reduce.nan import *  # noqa: F403
from ..ops.reduce.product import *  # noqa: F403
from ..ops.reduce.queries import *  # noqa: F403
from ..ops.reduce.reduction import *  # noqa: F403
from ..ops.reduce.scan import *  # noqa: F403
from ..ops.shape.join import *  # noqa: F403
from ..ops.shape.views import *  # noqa: F403
from ..ops.signal.apply_along import *  # noqa: F403
from ..ops.signal.convolve import *  # noqa: F403
from ..ops.signal.polynomials import *  # noqa: F403
from ..ops.signal.windows import *  # noqa: F403
from ..ops.sort.sort import *  # noqa: F403
from ..ops.sort.unique import *  # noqa: F403
from ..ops.statistics.covariance import *  # noqa: F403
from ..ops.statistics.histogram import *  # noqa: F403
from ..ops.statistics.quantile import *  # noqa: F403
from . import emath as emath
from . import fft as fft
from . import lib as lib
from . import linalg as linalg
from . import random as random
from ._printing import *  # noqa: F403
from .former import *  # noqa: F403
from .inspection import __array_namespace_info__ as __array_namespace_info__

if _TYPE_CHECKING:
    from ..typing import Array as _Array

_wiring.wire_arrays()

__array_api_version__ = "2025.12"
True_, False_, little_endian = _numpy.True_, _numpy.False_, _numpy.little_endian

bool = bool_  # noqa: F405
pi, e, inf, nan, newaxis, euler_gamma = _math.pi, _math.e, _math.inf, _math.nan, None, _numpy.euler_gamma

true_divide, mod, abs, conj = (
    _arithmetic.divide,
    _arithmetic.remainder,
    _arithmetic.absolute,
    _arithmetic.conjugate,
)
bitwise_not = bitwise_invert = _arithmetic.invert
pow, bitwise_left_shift, bitwise_right_shift = (
    _exponential.power,
    _arithmetic.left_shift,
    _arithmetic.right_shift,
)
acos, asin, atan, atan2 = _exponential.arccos, _exponential.arcsin, _exponential.arctan, _exponential.arctan2
acosh, asinh, atanh = _exponential.arccosh, _exponential.arcsinh, _exponential.arctanh
fix = _arithmetic.trunc
concat, permute_dims = concatenate, transpose  # noqa: F405
asanyarray = asarray


@_direct("contiguous")
def ascontiguousarray(a: _Any, dtype: _Any = None, *, like: None = None) -> _Array:
    """`a` as an array with at least one axis, whose last axis runs fastest in memory: itself if it is one.

    >>> from forerun import np
    >>> np.ascontiguousarray(5).shape
    (1,)
    """
    return atleast_1d(asarray(a, dtype, "C", like=like))  # noqa: F405


def copy(a: _Any, order: str = "K", subok: _Any = False) -> _Array:
    """A copy of an array, with its dtype, on its device.

    order: "F" for one whose first axis runs fastest in memory, otherwise the last one does. subok changes nothing.

    >>> from forerun import np
    >>> x = np.zeros(2)
    >>> y = np.copy(x); y += 1
    >>> x.tolist(), y.tolist()
    ([0.0, 0.0], [1.0, 1.0])
    """
    return array(a, order=order)  # noqa: F405


def round(a: _Any, decimals: int = 0, out: _Any = None) -> _Array:
    """`a` rounded to decimals, in its dtype; halves go to the even digit.

    >>> from forerun import np
    >>> np.round([0.5, 1.5, 2.25]).tolist(), np.round([1.25], 1)
    ([0.0, 2.0, 2.0], array([1.2]))
    """
    x = asarray(a)
    whole = x.dtype.kind == "c" or (x.dtype.kind in "iu" and decimals < 0)  # as NumPy does it, value by value
    if not whole or decimals == 0:
        return _store("round", _round(x, decimals), out)
    wide = lambda v: _numpy.round(v, decimals)
    return _store("round", _host_op("round", wide, [_core.detach(x)], x.shape, x.dtype), out)


around = round_ = round


def astype(x: _Any, dtype: _Any, /, *, copy: _Any = True, device: _Any = None) -> _Array:
    """x with its elements converted to a dtype. Floats lose their fraction in integers.

    TypeError for a dtype that arrays cannot have. copy: False returns x itself if it has that dtype and is on that
    device. device: where the result is to be, by default where x is.

    >>> from forerun import np
    >>> np.astype(np.array([1.5, -1.5]), int).tolist()
    [1, -1]
    """
    x = asarray(x)
    moved = x if device is None else x.to_device(device)
    return moved.astype(dtype, copy=copy and moved is x)


def shape(a: _Any) -> tuple[int, ...]:
    """The extents of `a`'s axes. Does not wait.

    >>> from forerun import np
    >>> np.shape([[1, 2, 3]])
    (1, 3)
    """
    return asarray(a).shape


def ndim(a: _Any) -> int:
    """How many axes `a` has. Does not wait.

    >>> from forerun import np
    >>> np.ndim([[1, 2, 3]])
    2
    """
    return asarray(a).ndim


def size(a: _Any, axis: _Any = None) -> int:
    """How many elements `a` has, or along axes. Does not wait.

    >>> from forerun import np
    >>> np.size([[1, 2, 3]])
    3
    """
    x = asarray(a)
    return _math.prod(x.shape[i] for i in _axes_of("size", axis, x.ndim))


def isscalar(element: _Any) -> _Any:
    """Whether element is a number (or another scalar) of Python or NumPy; an array without axes is none.

    >>> from forerun import np
    >>> np.isscalar(1.5), np.isscalar(np.array(1.5))
    (True, False)
    """
    return _numpy.isscalar(element)


def iscomplexobj(x: _Any) -> _Any:
    """Whether the dtype of x is complex.

    >>> from forerun import np
    >>> np.iscomplexobj([1 + 2j]), np.iscomplexobj([1.0])
    (True, False)
    """
    return asarray(x).dtype.kind == "c"


def isrealobj(x: _Any) -> _Any:
    """Whether the dtype of x is not complex.

    >>> from forerun import np
    >>> np.isrealobj([1 + 2j]), np.isrealobj([1.0])
    (False, True)
    """
    return not iscomplexobj(x)


def broadcast_shapes(*args: _Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. ValueError if they have none.

    >>> from forerun import np
    >>> np.broadcast_shapes((2, 1), 3)
    (2, 3)
    """
    return _together("broadcast_shapes", *((s,) if isinstance(s, int) else tuple(s) for s in args))


def array_equal(a1: _Any, a2: _Any, equal_nan: _Any = False) -> _Array:
    """Whether shapes and all elements are the same, as an array of one bool. equal_nan: NaN is the same as NaN.

    >>> from forerun import np
    >>> np.array_equal([1, 2], [1, 2]).item(), np.array_equal([1, 2], [1, 2, 3]).item()
    (True, False)
    """
    a, b = _asarrays(a1, a2)
    if a.shape != b.shape:
        return _core.as_scalar(asarray(False, device=a.device))
    same = _arithmetic.equal(a, b)
    return all(same | ((a != a) & (b != b)) if equal_nan else same)


def isclose(a: _Any, b: _Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: _Any = False) -> _Array:
    """Whether |a - b| <= atol + rtol * |b|, element by element; infinities are close to themselves.

    equal_nan: whether NaN is close to NaN. ValueError if shapes do not broadcast.

    >>> from forerun import np
    >>> np.isclose([1.0, 2.0], [1.000001, 2.1]).tolist()
    [True, False]
    """
    a, b = (x if _is_inexact(x.dtype) else _cast(x, _default_float()) for x in _asarrays(a, b))
    near = _arithmetic.absolute(a - b) <= atol + rtol * _arithmetic.absolute(b)
    result = _arithmetic.equal(a, b) | (near & _arithmetic.isfinite(b))
    return result | (_arithmetic.isnan(a) & _arithmetic.isnan(b)) if equal_nan else result


def allclose(a: _Any, b: _Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: _Any = False) -> _Array:
    """Whether `isclose` holds everywhere, as an array of one bool.

    >>> from forerun import np
    >>> np.allclose([1.0, 2.0], [1.000001, 2.0]).item()
    True
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


def may_share_memory(a: _Any, b: _Any, /, max_work: _Any = 0) -> _Any:
    """Whether two arrays are views of one storage: no array of ours is one of NumPy's. TypeError of what is no array.

    max_work changes nothing.

    >>> from forerun import np
    >>> x = np.zeros(4)
    >>> np.may_share_memory(x, x[1:]), np.may_share_memory(x, x.copy()), np.may_share_memory(x, x.numpy())
    (True, False, False)
    """
    if isinstance(a, _numpy.ndarray) or isinstance(b, _numpy.ndarray):
        both = isinstance(a, _numpy.ndarray) and isinstance(b, _numpy.ndarray)
        return both and _numpy.may_share_memory(a, b)
    return _core.shares_storage(a, b)


def shares_memory(a: _Any, b: _Any, /, max_work: _Any = -1) -> _Any:
    """Whether two arrays are views of one storage, as `may_share_memory` says.

    >>> from forerun import np
    >>> x = np.zeros(4)
    >>> np.shares_memory(x, x[1:])
    True
    """
    return may_share_memory(a, b, max_work)


def __dir__() -> list[str]:
    """What NumPy's namespace has too: not the modules that it is made of."""
    theirs = {"emath", "fft", "lib", "linalg", "random"}
    inner = {name for name, value in globals().items() if isinstance(value, _ModuleType)} - theirs
    return sorted(globals().keys() - inner - {"annotations"})


def __getattr__(name: str) -> _Any:
    """bfloat16 when it is first asked for: its dtype comes from the package ml_dtypes."""
    if name != "bfloat16":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return _numpy.dtype(_core.bfloat16()).type
    except ImportError as error:
        raise AttributeError(str(error)) from None


_array_api_compat.register()
_dask.register()
_einops.register()
