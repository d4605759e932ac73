"""The functions of the Python array API standard 2025.12, with their parameters: one line for all that share them."""

from __future__ import annotations

import inspect

NAMESPACE = """
obj, /, *, dtype=None, device=None, copy=None: asarray
start, /, stop=None, step=1, *, dtype=None, device=None: arange
shape, *, dtype=None, device=None: empty ones zeros
x, /, *, dtype=None, device=None: empty_like ones_like zeros_like
shape, fill_value, *, dtype=None, device=None: full
x, /, fill_value, *, dtype=None, device=None: full_like
n_rows, n_cols=None, /, *, k=0, dtype=None, device=None: eye
start, stop, /, num, *, dtype=None, device=None, endpoint=True: linspace
x, /, *, device=None, copy=None: from_dlpack
*arrays, indexing='xy': meshgrid
x, /, *, k=0: tril triu

x, dtype, /, *, copy=True, device=None: astype
from_, to, /: can_cast
type, /: finfo iinfo
dtype, kind: isdtype
*arrays_and_dtypes: result_type

x, /: abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan
x, /: log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square
x, /: tan tanh trunc
x1, x2, /: add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
x1, x2, /: floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor
x1, x2, /: maximum minimum multiply nextafter not_equal pow remainder subtract
x, /, min=None, max=None: clip

x1, x2, /: matmul
x, /: matrix_transpose
x1, x2, /, *, axes=2: tensordot
x1, x2, /, *, axis=-1: vecdot

*arrays: broadcast_arrays
*shapes: broadcast_shapes
x, /, shape: broadcast_to
arrays, /, *, axis=0: concat stack
x, /, axis: expand_dims squeeze
x, /, *, axis=None: flip
x, source, destination, /: moveaxis
x, /, axes: permute_dims
x, repeats, /, *, axis=None: repeat
x, /, shape, *, copy=None: reshape
x, /, shift, *, axis=None: roll
x, repetitions, /: tile
x, /, *, axis=0: unstack

x, indices, /, *, axis=None: take
x, indices, /, *, axis=-1: take_along_axis
x, /, *, axis=None, keepdims=False: argmax argmin count_nonzero
x, /: nonzero unique_all unique_counts unique_inverse unique_values
x1, x2, /, *, side='left', sorter=None: searchsorted
condition, x1, x2, /: where
x1, x2, /, *, invert=False: isin
x, /, *, axis=-1, descending=False, stable=True: argsort sort

x, /, *, axis=None, dtype=None, include_initial=False: cumulative_prod cumulative_sum
x, /, *, axis=None, keepdims=False: all any max mean min
x, /, *, axis=None, dtype=None, keepdims=False: prod sum
x, /, *, axis=None, correction=0.0, keepdims=False: std var
x, /, *, axis=-1, n=1, prepend=None, append=None: diff

: __array_namespace_info__
"""

LINALG = """
x, /, *, upper=False: cholesky
x1, x2, /, *, axis=-1: cross vecdot
x, /: det eig eigh eigvals eigvalsh inv matrix_transpose slogdet svdvals
x, /, *, offset=0: diagonal
x1, x2, /: matmul outer solve
x, /, *, keepdims=False, ord='fro': matrix_norm
x, n, /: matrix_power
x, /, *, rtol=None: matrix_rank pinv
x, /, *, mode='reduced': qr
x, /, *, full_matrices=True: svd
x1, x2, /, *, axes=2: tensordot
x, /, *, offset=0, dtype=None: trace
x, /, *, axis=None, keepdims=False, ord=2: vector_norm
"""

FFT = """
x, /, *, n=None, axis=-1, norm='backward': fft hfft ifft ihfft irfft rfft
x, /, *, s=None, axes=None, norm='backward': fftn ifftn irfftn rfftn
n, /, *, d=1.0, dtype=None, device=None: fftfreq rfftfreq
x, /, *, axes=None: fftshift ifftshift
"""

INFO = """
: capabilities default_device devices
*, device=None: default_dtypes
*, device=None, kind=None: dtypes
"""

ARRAY = """
: __abs__ __bool__ __complex__ __dlpack_device__ __float__ __index__ __int__ __invert__ __neg__ __pos__
other, /: __add__ __and__ __eq__ __floordiv__ __ge__ __gt__ __le__ __lshift__ __lt__ __matmul__ __mod__ __mul__
other, /: __ne__ __or__ __pow__ __rshift__ __sub__ __truediv__ __xor__
other, /: __radd__ __rand__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rrshift__
other, /: __rsub__ __rtruediv__ __rxor__
other, /: __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __ior__ __ipow__ __irshift__
other, /: __isub__ __itruediv__ __ixor__
*, api_version=None: __array_namespace__
*, stream=None, max_version=None, dl_device=None, copy=None: __dlpack__
key, /: __getitem__
key, value, /: __setitem__
device, /, *, stream=None: to_device
"""

ATTRIBUTES = ("dtype", "device", "mT", "ndim", "shape", "size", "T")
CONSTANTS = ("e", "inf", "nan", "newaxis", "pi")


def signatures(table: str) -> dict[str, inspect.Signature]:
    """The functions of a table by name, with their parameters."""
    found = {}
    for line in filter(None, table.splitlines()):
        parameters, names = line.rsplit(":", 1)
        found.update(dict.fromkeys(names.split(), inspect.signature(eval(f"lambda {parameters}: None"))))
    return found
