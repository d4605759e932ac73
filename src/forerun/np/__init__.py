"""NumPy's names for arrays that run ahead.

Differences from NumPy: floats made from Python numbers are float32 (`forerun.configure(float="float64")`);
an integer with a float gives that float's dtype; reductions are cut by shape, so their last bits can differ
from NumPy's.

>>> from forerun import np
>>> x = np.linspace(0, 1, 5)
>>> (x * 2).tolist()
[0.0, 0.5, 1.0, 1.5, 2.0]
"""

from __future__ import annotations

import sys as _sys
from typing import Any as _Any

import numpy as _numpy

from .._display.namespaces import dir_of
from .._wiring import arrays as _wiring
from .._array.ndarray import _unpickled as _unpickled  # files of pickles name these two here
from .._array.ndarray import ndarray
from .._array.scalar import _unpickled_scalar as _unpickled_scalar
from .._interop import array_api_compat as _array_api_compat
from .._interop import dask as _dask
from .._interop import einops as _einops
from ..ops._base import core as _core
from .._interop.dlpack import from_dlpack
from .._io.numpy_files import fromfile, genfromtxt, load, loadtxt, save, savetxt, savez, savez_compressed
from ..ops._base.dtypes import (
    bool_, byte, can_cast, cdouble, common_type, complex128, complex64, complexfloating, csingle, double, dtype,
    finfo, float16, float32, float64, floating, generic, half, iinfo, inexact, int16, int32, int64, int8, int_, intc,
    integer, intp, isdtype, issubdtype, long, longlong, min_scalar_type, number, promote_types, result_type, short,
    signedinteger, single, ubyte, uint, uint16, uint32, uint64, uint8, uintc, uintp, ulong, ulonglong,
    unsignedinteger, ushort,
)  # fmt: skip
from ..ops._base.host_task import host as host  # NumPy has no such name; the public one is npx.host
from ..ops.create.array import array, asarray
from ..ops.create.copies import ascontiguousarray, astype, copy
from ..ops.create.eye import eye, identity, tri
from ..ops.create.fill import empty, full, ones, zeros
from ..ops.create.like import empty_like, full_like, ones_like, zeros_like
from ..ops.create.ranges import arange, geomspace, linspace, logspace
from ..ops.elementwise.arithmetic import (
    absolute, add, cbrt, ceil, conjugate, copysign, divide, equal, fabs, floor, floor_divide, fmax, fmin, fmod, gcd,
    greater, greater_equal, heaviside, isfinite, isinf, isnan, lcm, less, less_equal, logical_and, logical_not,
    logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter, not_equal, positive, reciprocal,
    remainder, rint, sign, signbit, spacing, sqrt, square, subtract, trunc,
)  # fmt: skip
from ..ops.elementwise.bitwise import (
    bitwise_and, bitwise_count, bitwise_or, bitwise_xor, invert, left_shift, right_shift,
)  # fmt: skip
from ..ops.elementwise.exponential import (
    arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, cos, cosh, deg2rad, degrees, divmod, exp, exp2, expm1,
    float_power, frexp, hypot, ldexp, log, log10, log1p, log2, logaddexp, logaddexp2, modf, power, rad2deg, radians,
    sin, sinh, tan, tanh,
)  # fmt: skip
from ..ops.elementwise.rounding import round
from ..ops.elementwise.select import clip, nonzero, where
from ..ops.index.diagonal import diag, diagonal, trace, tril, triu
from ..ops.index.flatiter import broadcast, flatiter, ndenumerate, ndindex, nditer
from ..ops.index.from_data import (
    asfortranarray, diagflat, frombuffer, fromiter, fromstring, require, row_stack, trim_zeros,
)  # fmt: skip
from ..ops.index.getitem import argwhere, compress, flatnonzero, take, take_along_axis
from ..ops.index.getitem import one_hot as one_hot  # as host: npx.one_hot
from ..ops.index.grids import c_, fromfunction, index_exp, indices, meshgrid, mgrid, ogrid, r_, s_, vander
from ..ops.index.in_place import copyto, fill_diagonal, put, put_along_axis
from ..ops.index.index_builders import (
    diag_indices, diag_indices_from, ix_, ravel_multi_index, tril_indices, tril_indices_from, triu_indices,
    triu_indices_from, unravel_index,
)  # fmt: skip
from ..ops.index.insert_delete import append, delete, insert, resize
from ..ops.index.select_by import choose, extract, mask_indices, piecewise, place, putmask, select
from ..ops.linalg.cross import cross
from ..ops.linalg.einsum import einsum, einsum_path
from ..ops.linalg.matmul import matmul, matvec, vecdot, vecmat
from ..ops.linalg.tensordot import dot, inner, kron, multi_dot, outer, tensordot, vdot
from ..ops.reduce.closeness import allclose, array_equal, isclose
from ..ops.reduce.mean_variance import average, mean, std, var
from ..ops.reduce.nan import nan_to_num, nancumprod, nancumsum, nanmax, nanmean, nanmin, nanprod, nanstd, nansum, nanvar
from ..ops.reduce.product import prod
from ..ops.reduce.queries import (
    array_equiv, asarray_chkfinite, iscomplex, isfortran, isneginf, isposinf, isreal, iterable, real_if_close,
)  # fmt: skip
from ..ops.reduce.reduction import all, amax, amin, any, count_nonzero, logsumexp, max, min, ptp, sum
from ..ops.reduce.scan import cumprod, cumsum, cumulative_prod, cumulative_sum, diff
from ..ops.shape.attributes import (
    broadcast_shapes, iscomplexobj, isrealobj, isscalar, may_share_memory, ndim, shape, shares_memory, size,
)  # fmt: skip
from ..ops.shape.axis_order import matrix_transpose, moveaxis, rollaxis, swapaxes, transpose
from ..ops.shape.broadcast import broadcast_arrays, broadcast_to
from ..ops.shape.complex_parts import imag, real
from ..ops.shape.flip_roll import flip, fliplr, flipud, roll, rot90
from ..ops.shape.join import block, column_stack, concatenate, dstack, hstack, stack, vstack
from ..ops.shape.pad import pad
from ..ops.shape.repeat import repeat, tile
from ..ops.shape.reshape import atleast_1d, atleast_2d, atleast_3d, expand_dims, ravel, reshape, squeeze
from ..ops.shape.split import array_split, dsplit, hsplit, split, unstack, vsplit
from ..ops.signal.apply_along import apply_along_axis, apply_over_axes, vectorize
from ..ops.signal.convolve import convolve, correlate, ediff1d, gradient, interp, sinc, trapezoid
from ..ops.signal.polynomials import poly, polyadd, polyder, polydiv, polyfit, polyint, polymul, polysub, polyval, roots
from ..ops.signal.windows import angle, bartlett, blackman, hamming, hanning, i0, kaiser, sort_complex, unwrap
from ..ops.sort.argmax import argmax, argmin, nanargmax, nanargmin
from ..ops.sort.search_count import bincount, searchsorted
from ..ops.sort.sets import intersect1d, isin, setdiff1d, setxor1d, union1d
from ..ops.sort.sort import argpartition, argsort, lexsort, partition, sort
from ..ops.sort.unique import unique, unique_all, unique_counts, unique_inverse, unique_values
from ..ops.statistics.covariance import corrcoef, cov
from ..ops.statistics.histogram import (
    digitize, histogram, histogram2d, histogram_bin_edges, histogramdd, packbits, unpackbits,
)  # fmt: skip
from ..ops.statistics.quantile import median, nanmedian, nanpercentile, nanquantile, percentile, quantile
from ._float_errors import errstate, geterr, seterr
from ._printing import (
    array2string, array_repr, array_str, base_repr, binary_repr, format_float_positional, format_float_scientific,
    get_printoptions, printoptions, set_printoptions, typename,
)  # fmt: skip
from . import emath, fft, lib, linalg, random
from .former import alltrue, in1d, msort, NAN, NaN, NINF, NZERO, PINF, product, PZERO, sometrue, trapz
from .inspection import __array_namespace_info__ as __array_namespace_info__

_wiring.wire()

__array_api_version__ = "2025.12"
True_, False_, little_endian = _numpy.True_, _numpy.False_, _numpy.little_endian
# NumPy's objects, as programs ask `x is np.nan`.
pi, e, inf, nan, newaxis, euler_gamma = _numpy.pi, _numpy.e, _numpy.inf, _numpy.nan, None, _numpy.euler_gamma

# Names that mean the same.
bool, asanyarray, around, round_ = bool_, asarray, round, round
true_divide, mod, abs, conj, fix = divide, remainder, absolute, conjugate, trunc
bitwise_not, bitwise_invert = invert, invert
pow, bitwise_left_shift, bitwise_right_shift = power, left_shift, right_shift
acos, asin, atan, atan2, acosh, asinh, atanh = arccos, arcsin, arctan, arctan2, arccosh, arcsinh, arctanh
concat, permute_dims = concatenate, transpose

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "alltrue", "amax", "amin", "angle", "any", "append",
    "apply_along_axis", "apply_over_axes", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argpartition", "argsort", "argwhere", "around", "array", "array2string",
    "array_equal", "array_equiv", "array_repr", "array_split", "array_str", "asanyarray", "asarray",
    "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asin", "asinh", "astype", "atan", "atan2", "atanh",
    "atleast_1d", "atleast_2d", "atleast_3d", "average", "bartlett", "base_repr", "binary_repr", "bincount",
    "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "blackman", "block", "bool", "bool_", "broadcast", "broadcast_arrays",
    "broadcast_shapes", "broadcast_to", "byte", "c_", "can_cast", "cbrt", "cdouble", "ceil", "choose", "clip",
    "column_stack", "common_type", "complex128", "complex64", "complexfloating", "compress", "concat", "concatenate",
    "conj", "conjugate", "convolve", "copy", "copysign", "copyto", "corrcoef", "correlate", "cos", "cosh",
    "count_nonzero", "cov", "cross", "csingle", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "deg2rad",
    "degrees", "delete", "diag", "diag_indices", "diag_indices_from", "diagflat", "diagonal", "diff", "digitize",
    "divide", "divmod", "dot", "double", "dsplit", "dstack", "dtype", "e", "ediff1d", "einsum", "einsum_path",
    "emath", "empty", "empty_like", "equal", "errstate", "euler_gamma", "exp", "exp2", "expand_dims", "expm1",
    "extract", "eye", "fabs", "False_", "fft", "fill_diagonal", "finfo", "fix", "flatiter", "flatnonzero", "flip",
    "fliplr", "flipud", "float16", "float32", "float64", "float_power", "floating", "floor", "floor_divide", "fmax",
    "fmin", "fmod", "format_float_positional", "format_float_scientific", "frexp", "from_dlpack", "frombuffer",
    "fromfile", "fromfunction", "fromiter", "fromstring", "full", "full_like", "gcd", "generic", "genfromtxt",
    "geomspace", "get_printoptions", "geterr", "gradient", "greater", "greater_equal", "half", "hamming", "hanning",
    "heaviside", "histogram", "histogram2d", "histogram_bin_edges", "histogramdd", "hsplit", "hstack",
    "hypot", "i0", "identity", "iinfo", "imag", "in1d", "index_exp", "indices", "inexact", "inf", "inner", "insert",
    "int16", "int32", "int64", "int8", "int_", "intc", "integer", "interp", "intersect1d", "intp", "invert",
    "isclose", "iscomplex", "iscomplexobj", "isdtype", "isfinite", "isfortran", "isin", "isinf", "isnan", "isneginf",
    "isposinf", "isreal", "isrealobj", "isscalar", "issubdtype", "iterable", "ix_", "kaiser", "kron", "lcm", "ldexp",
    "left_shift", "less", "less_equal", "lexsort", "lib", "linalg", "linspace", "little_endian", "load", "loadtxt",
    "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or",
    "logical_xor", "logspace", "logsumexp", "long", "longlong", "mask_indices", "matmul", "matrix_transpose",
    "matvec", "max", "maximum", "may_share_memory", "mean", "median", "meshgrid", "mgrid", "min", "min_scalar_type",
    "minimum", "mod", "modf", "moveaxis", "msort", "multi_dot", "multiply", "NAN", "nan", "NaN", "nan_to_num",
    "nanargmax", "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin", "nanpercentile",
    "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "ndarray", "ndenumerate", "ndim", "ndindex", "nditer",
    "negative", "newaxis", "nextafter", "NINF", "nonzero", "not_equal", "number", "NZERO", "ogrid", "ones",
    "ones_like", "outer", "packbits", "pad", "partition", "percentile", "permute_dims", "pi", "piecewise", "PINF",
    "place", "poly", "polyadd", "polyder", "polydiv", "polyfit", "polyint", "polymul", "polysub", "polyval",
    "positive", "pow", "power", "printoptions", "prod", "product", "promote_types", "ptp", "put", "put_along_axis",
    "putmask", "PZERO", "quantile", "r_", "rad2deg", "radians", "random", "ravel", "ravel_multi_index", "real",
    "real_if_close", "reciprocal", "remainder", "repeat", "require", "reshape", "resize", "result_type",
    "right_shift", "rint", "roll", "rollaxis", "roots", "rot90", "round", "round_", "row_stack", "s_", "save",
    "savetxt", "savez", "savez_compressed", "searchsorted", "select", "set_printoptions", "setdiff1d", "seterr",
    "setxor1d", "shape", "shares_memory", "short", "sign", "signbit", "signedinteger", "sin", "sinc", "single",
    "sinh", "size", "sometrue", "sort", "sort_complex", "spacing", "split", "sqrt", "square", "squeeze", "stack",
    "std", "subtract", "sum", "swapaxes", "take", "take_along_axis", "tan", "tanh", "tensordot", "tile", "trace",
    "transpose", "trapezoid", "trapz", "tri", "tril", "tril_indices", "tril_indices_from", "trim_zeros", "triu",
    "triu_indices", "triu_indices_from", "True_", "true_divide", "trunc", "typename", "ubyte", "uint", "uint16",
    "uint32", "uint64", "uint8", "uintc", "uintp", "ulong", "ulonglong", "union1d", "unique", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unpackbits", "unravel_index", "unsignedinteger", "unstack",
    "unwrap", "ushort", "vander", "var", "vdot", "vecdot", "vecmat", "vectorize", "vsplit", "vstack", "where",
    "zeros", "zeros_like",
]  # fmt: skip
__dir__ = dir_of(__name__)


def __getattr__(name: str) -> _Any:
    """bfloat16 when it is first asked for: its dtype comes from the package ml_dtypes."""
    if name != "bfloat16":
        message = f"module {__name__!r} has no attribute {name!r}"
        if not name.startswith("_") and hasattr(_numpy, name):
            message += f"; numpy.{name} exists, and takes forerun's arrays as numpy.asarray(x), which waits"
        elif not name.startswith("_"):  # Python itself looks for similar names only in modules with fewer
            import difflib  # only now: it takes long to import

            message += "".join(
                f"; did you mean {meant!r}?" for meant in difflib.get_close_matches(name, __all__, 1, 0.7)
            )
        raise AttributeError(message, name=name, obj=_sys.modules[__name__])
    try:
        return _numpy.dtype(_core.bfloat16()).type
    except ImportError as error:
        raise AttributeError(str(error)) from None


_array_api_compat.register()
_dask.register()
_einops.register()
