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
from typing import Any as _Any

import numpy as _numpy

from .. import _core
from ..ops import arithmetic as _arithmetic
from ..ops import exponential as _exponential
from ..ops.applying import *  # noqa: F403
from ..ops.arithmetic import *  # noqa: F403
from ..ops.arithmetic import round as _round
from ..ops.choosing import *  # noqa: F403
from ..ops.convert import as_dtype as _as_dtype
from ..ops.convert import asarray as asarray
from ..ops.convert import cast as _cast
from ..ops.convert import copy as copy
from ..ops.convert import default_float as _default_float
from ..ops.convert import is_array as _is_array
from ..ops.convert import promote as _promote
from ..ops.convert import together as _together
from ..ops.creation import *  # noqa: F403
from ..ops.diagonals import *  # noqa: F403
from ..ops.editing import *  # noqa: F403
from ..ops.exponential import *  # noqa: F403
from ..ops.grids import *  # noqa: F403
from ..ops.host import *  # noqa: F403
from ..ops.indexing import *  # noqa: F403
from ..ops.iterating import *  # noqa: F403
from ..ops.joining import *  # noqa: F403
from ..ops.linear import *  # noqa: F403
from ..ops.positions import *  # noqa: F403
from ..ops.reduction import *  # noqa: F403
from ..ops.sets import *  # noqa: F403
from ..ops.shape import *  # noqa: F403
from ..ops.signal import *  # noqa: F403
from ..ops.statistics import *  # noqa: F403
from . import fft as fft
from . import files as _files
from . import linalg as linalg
from . import random as random
from .arrays import ndarray as ndarray

bool_ = bool = _numpy.dtype("bool")
int8, int16, int32, int64 = map(_numpy.dtype, ("int8", "int16", "int32", "int64"))
uint8, uint16, uint32, uint64 = map(_numpy.dtype, ("uint8", "uint16", "uint32", "uint64"))
float16, float32, float64 = map(_numpy.dtype, ("float16", "float32", "float64"))
complex64, complex128 = map(_numpy.dtype, ("complex64", "complex128"))
dtype, iinfo, finfo, issubdtype = _numpy.dtype, _numpy.iinfo, _numpy.finfo, _numpy.issubdtype

pi, e, inf, nan, newaxis, euler_gamma = _math.pi, _math.e, _math.inf, _math.nan, None, _numpy.euler_gamma

true_divide, mod, abs, conj = (
    _arithmetic.divide,
    _arithmetic.remainder,
    _arithmetic.absolute,
    _arithmetic.conjugate,
)
bitwise_not = bitwise_invert = _arithmetic.invert
pow, bitwise_left_shift, bitwise_right_shift = (
    _arithmetic.power,
    _arithmetic.left_shift,
    _arithmetic.right_shift,
)
acos, asin, atan, atan2 = _exponential.arccos, _exponential.arcsin, _exponential.arctan, _exponential.arctan2
acosh, asinh, atanh = _exponential.arccosh, _exponential.arcsinh, _exponential.arctanh
fix = _arithmetic.trunc
concat, permute_dims = concatenate, transpose  # noqa: F405
asanyarray = ascontiguousarray = asarray


def round(a: _Any, decimals: int = 0) -> _Any:
    """`a` rounded to decimals, in its dtype; halves go to the even digit.

    >>> from forerun import np
    >>> np.round([0.5, 1.5, 2.25]).tolist(), np.round([1.25], 1)
    ([0.0, 2.0, 2.0], array([1.2]))
    """
    x = asarray(a)
    whole = x.dtype.kind == "c" or (x.dtype.kind in "iu" and decimals < 0)  # as NumPy does it, value by value
    if not whole or decimals == 0:
        return _round(x, decimals)
    return host_op("round", lambda v: _numpy.round(v, decimals), [_core.detach(x)], x.shape, x.dtype)  # noqa: F405


around = round


def astype(x: _Any, dtype: _Any, *, copy: _Any = True) -> _Any:
    """x with its elements converted to a dtype. Floats lose their fraction in integers.

    TypeError for a dtype that arrays cannot have. copy: False returns x itself if it has that dtype.

    >>> from forerun import np
    >>> np.astype(np.array([1.5, -1.5]), int).tolist()
    [1, -1]
    """
    return asarray(x).astype(dtype, copy=copy)


def result_type(*arrays_and_dtypes: _Any) -> _numpy.dtype:
    """The dtype that arrays and dtypes have together; Python numbers do not count unless alone.

    >>> from forerun import np
    >>> np.result_type(np.arange(2), np.float32, 1.5)
    dtype('float32')
    """
    known = [getattr(x, "dtype", x) for x in arrays_and_dtypes if not isinstance(x, (int, float, complex))]
    if not known:
        return asarray(arrays_and_dtypes[0]).dtype
    return _promote(*(_as_dtype("result_type", d) for d in known))


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


def size(a: _Any) -> int:
    """How many elements `a` has. Does not wait.

    >>> from forerun import np
    >>> np.size([[1, 2, 3]])
    3
    """
    return asarray(a).size


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


def promote_types(type1: _Any, type2: _Any) -> _numpy.dtype:
    """The dtype that arrays of two dtypes have together: an integer and a float give that float.

    TypeError for a dtype that arrays cannot have.

    >>> from forerun import np
    >>> np.promote_types("int64", "float16"), np.promote_types("int8", "uint8")
    (dtype('float16'), dtype('int16'))
    """
    return _promote(_as_dtype("promote_types", type1), _as_dtype("promote_types", type2))


def can_cast(from_: _Any, to: _Any, casting: _Any = "safe") -> _Any:
    """Whether a dtype, or that of an array, can be cast to another one by a rule of NumPy's.

    >>> from forerun import np
    >>> np.can_cast("int32", "int64"), np.can_cast("int64", "int32", casting="same_kind")
    (True, True)
    """
    return _numpy.can_cast(from_.dtype if _is_array(from_) else from_, to, casting)


def broadcast_shapes(*shapes: _Any) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together. ValueError if they have none.

    >>> from forerun import np
    >>> np.broadcast_shapes((2, 1), 3)
    (2, 3)
    """
    return _together("broadcast_shapes", *((s,) if isinstance(s, int) else tuple(s) for s in shapes))


def array_equal(a1: _Any, a2: _Any) -> _Any:
    """Whether shapes and all elements are the same, as an array of one bool.

    >>> from forerun import np
    >>> np.array_equal([1, 2], [1, 2]).item(), np.array_equal([1, 2], [1, 2, 3]).item()
    (True, False)
    """
    a, b = asarray(a1), asarray(a2)
    return asarray(False) if a.shape != b.shape else all(_arithmetic.equal(a, b))


def isclose(a: _Any, b: _Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: _Any = False) -> _Any:
    """Whether |a - b| <= atol + rtol * |b|, element by element; infinities are close to themselves.

    equal_nan: whether NaN is close to NaN. ValueError if shapes do not broadcast.

    >>> from forerun import np
    >>> np.isclose([1.0, 2.0], [1.000001, 2.1]).tolist()
    [True, False]
    """
    a, b = (x if x.dtype.kind in "fc" else _cast(x, _default_float()) for x in (asarray(a), asarray(b)))
    near = _arithmetic.absolute(a - b) <= atol + rtol * _arithmetic.absolute(b)
    result = _arithmetic.equal(a, b) | (near & _arithmetic.isfinite(b))
    return result | (_arithmetic.isnan(a) & _arithmetic.isnan(b)) if equal_nan else result


def allclose(a: _Any, b: _Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: _Any = False) -> _Any:
    """Whether `isclose` holds everywhere, as an array of one bool.

    >>> from forerun import np
    >>> np.allclose([1.0, 2.0], [1.000001, 2.0]).item()
    True
    """
    return all(isclose(a, b, rtol, atol, equal_nan))


def may_share_memory(a: _Any, b: _Any) -> _Any:
    """Whether two arrays are views of one storage. TypeError of what is no array.

    >>> from forerun import np
    >>> x = np.zeros(4)
    >>> np.may_share_memory(x, x[1:]), np.may_share_memory(x, x.copy())
    (True, False)
    """
    return _core.shares_storage(a, b)


shares_memory = may_share_memory


def set_printoptions(**options: _Any) -> None:
    """NumPy's print options, by name: arrays are shown by NumPy.

    >>> from forerun import np
    >>> np.set_printoptions(precision=3); np.array([1 / 3])
    array([0.333])
    >>> np.set_printoptions(precision=8)
    """
    _numpy.set_printoptions(**options)


def save(file: _Any, arr: _Any) -> None:
    """Writes an array in NumPy's format to a file, named or open. Waits.

    A name gets ".npy" behind it if it lacks it. A file of that name is replaced when all is written, not before.

    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> np.save(file, np.arange(3)); _ = file.seek(0)
    >>> np.load(file).tolist()
    [0, 1, 2]
    """
    values = asarray(arr).numpy()
    with _files.replacing(file, ".npy") as out:
        _files.write_array(out, values)


def load(file: _Any) -> _Any:
    """Reads an array, or a dict of arrays, in NumPy's format: what `save` or `savez` wrote.

    OSError if there is no such file, ValueError if its format is another. Nothing in a file is executed (pickles are
    refused), and memory is taken only for what the file can hold.

    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> np.savez(file, a=[1, 2], b=[3.0]); _ = file.seek(0)
    >>> {name: x.tolist() for name, x in np.load(file).items()}
    {'a': [1, 2], 'b': [3.0]}
    """
    with _files.opened(file) as found:
        if _files.is_archive(found):
            return {name: asarray(values) for name, values in _files.read_arrays(found).items()}
        return asarray(_files.read_array(found))


def savez(file: _Any, *args: _Any, **named: _Any) -> None:
    """Writes several arrays in NumPy's format to a file, named or open. Waits.

    `load` reads them, as a dict with the names they are given here, or arr_0, arr_1 and so on (ValueError if a name is
    given twice). A file of that name (with ".npz" behind it) is replaced when all is written, not before.

    >>> import io
    >>> from forerun import np
    >>> file = io.BytesIO()
    >>> np.savez(file, np.zeros(2), np.ones(2)); _ = file.seek(0)
    >>> sorted(np.load(file))
    ['arr_0', 'arr_1']
    """
    unnamed = {f"arr_{i}": x for i, x in enumerate(args)}
    if twice := unnamed.keys() & named.keys():
        raise ValueError(f"savez: names must differ from those of unnamed arrays, got {sorted(twice)}")
    values = {name: asarray(x).numpy() for name, x in {**unnamed, **named}.items()}
    with _files.replacing(file, ".npz") as out:
        _files.write_arrays(out, values)
