"""Discrete Fourier transforms of lines, computed by the loops of NumPy's, as operations with gradients.

A transform is linear: its gradient is the conjugate transposed one, which is the transform in the other
direction with the scale at the other end.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ..._base import core as _core
from ..._base.convert import (
    asarray,
    axis_of,
    cast,
    check_choice,
    default_float,
    write_out,
)
from ..._base.host_task import AT_ONCE
from ..._base.primitive import primitive
from ...index.getitem import getitem
from ...shape.complex_parts import real
from ...shape.pad import pad

if TYPE_CHECKING:
    from collections.abc import Callable

    from ....typing import Array

__all__ = ["Extents", "Norm"]


Extents = Sequence[int] | None
Norm = str | None
_PIECE, _MOST_PIECES = 1 << 21, 64  # butterflies that are worth a call of their own; calls of one transform
# Generalized ufuncs. They are NumPy's own affair: where it has no such module its public functions are called.
_LOOPS: Any = vars(numpy.fft).get("_pocketfft_umath") or sys.modules.get("numpy.fft._pocketfft_umath")
_OTHER_END = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _wide(op: str, x: Array) -> Array:
    """Return x with numbers of single or double precision: integers as the default float, float16 as float32."""
    x = asarray(x, op=op)
    if x.dtype.kind in "biu":
        return cast(x, default_float())
    return x if x.dtype.char in "fdFD" else cast(x, numpy.dtype("float32"))


def _complex(op: str, x: Array) -> Array:
    """Return x as complex64 or complex128, whichever holds its precision."""
    x = _wide(op, x)
    return x if x.dtype.kind == "c" else cast(x, numpy.dtype("complex128" if x.dtype.itemsize == 8 else "complex64"))


def _real(op: str, x: Array) -> Array:
    """Return x as float32 or float64. TypeError if it is complex."""
    x = _wide(op, x)
    if x.dtype.kind == "c":
        raise TypeError(f"{op}: array must be real, got {x.dtype}")
    return x


def _fitted(x: Array, shape: tuple[int, ...]) -> Array:
    """Return x cut off or continued with zeros at the end of each axis."""
    if any(n > m for n, m in zip(x.shape, shape)):
        x = getitem(x, tuple(slice(0, m) for m in shape))
    if x.shape == shape:
        return x
    return pad(x, tuple((0, m - n) for n, m in zip(x.shape, shape)))


def _with(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


# --- the three kinds: complex to complex, real to half of complex, and back -----------------------


def _lines_by_numpy(op: str, fn: Callable[..., Any], x: Array, axis: int, n: int, dtype: numpy.dtype) -> Array:
    """Submit a transform of lines along an axis to n elements by a public function of NumPy's, as a task; many are cut
    along another axis, so that idle workers help. (Not recorded.)"""
    shape = _with(x.shape, axis, n)
    others = [a for a in range(x.ndim) if a != axis]
    along = max(others, key=lambda a: shape[a] if a else shape[a] + 0.5, default=0)
    work = max(x.size, math.prod(shape)) * (n.bit_length() + 1)
    pieces = min(shape[along] if others else 1, _MOST_PIECES, work // _PIECE)
    along = along if pieces > 1 else 0
    return _core.host(fn, [x], [(shape, dtype)], None, op, pieces=max(pieces, 1), axis=along, at_once=AT_ONCE)[0]


@functools.cache
def _factor(n: int, norm: str, inverse: bool, single: bool) -> Any:
    """Return the normalization factor of n terms, as in NumPy: 1, or a scalar of the transform's precision."""
    norm = _OTHER_END[norm] if inverse else norm
    if norm == "backward":
        return 1
    exact = numpy.dtype("float32" if single else "float64")
    return numpy.reciprocal(numpy.sqrt(n, dtype=exact) if norm == "ortho" else n, dtype=exact)


@functools.cache
def _loop(name: str, dtype: numpy.dtype, plain: bool) -> tuple[Any, numpy.dtype]:
    """The ufunc of that name, and the dtype that it takes in place of one: where the factor is a plain number, NumPy
    computes in double precision."""
    ufunc = getattr(_LOOPS, name)
    factor: Any = int if plain else numpy.dtype(dtype.char.lower())
    return ufunc, ufunc.resolve_dtypes((dtype, factor, None))[0]


def _issue(op: str, loop: str, x: Array, axis: int, extents: tuple[int, int], norm: str) -> Array:
    """A transform of lines along an axis by a loop of NumPy's, without the interpreter lock; extents: of the transform,
    and of its results. (Not recorded.)"""
    n, m = extents
    single = x.dtype in (numpy.float32, numpy.complex64)
    whole = op in ("fft", "ifft")
    dtype = numpy.dtype(
        ("float32" if single else "float64") if op == "irfft" else "complex64" if single else "complex128"
    )
    if _LOOPS is None:
        function = getattr(numpy.fft, op)
        return _lines_by_numpy(op, lambda v: function(v, None if whole else n, axis, norm), x, axis, m, dtype)
    factor = _factor(n, norm, op.startswith("i"), single)
    ufunc, wide = _loop(loop, x.dtype, isinstance(factor, int))
    per_line = 100 + n * n.bit_length() // (2 if whole else 4)
    made: Any = _core.transform(ufunc, op, cast(x, wide), axis, m, factor, per_line)
    return cast(made, dtype)


@primitive(lambda g, axis, inverse, norm: _fft(g, axis, not inverse, _OTHER_END[norm]), op="fft.fft")
def _fft(x: Array, axis: int, inverse: bool, norm: str) -> Array:
    name = "ifft" if inverse else "fft"
    return _issue(name, name, x, axis, (x.shape[axis], x.shape[axis]), norm)


def _rfft_grad(g: Array, shape: tuple[int, ...], axis: int, norm: str) -> Array:
    whole = _fitted(g, _with(g.shape, axis, shape[axis]))
    return real(_fft(whole, axis, True, _OTHER_END[norm]))


@primitive(_rfft_grad, op="fft.rfft")
def _rfft(x: Array, axis: int, norm: str) -> Array:
    n = x.shape[axis]
    return _issue("rfft", "rfft_n_odd" if n % 2 else "rfft_n_even", x, axis, (n, n // 2 + 1), norm)


def _irfft_grad(g: Array, axis: int, n: int, norm: str) -> Array:
    """Each element but the first (and the last, of an even number) stands for two: itself and its conjugate."""
    twice = numpy.full(n // 2 + 1, 2)
    twice[0] = 1
    if n % 2 == 0:
        twice[-1] = 1
    weights = twice.reshape(tuple(-1 if i == axis else 1 for i in range(g.ndim)))
    return _rfft(g, axis, _OTHER_END[norm]) * _core.from_numpy(weights, g.device)


@primitive(_irfft_grad, op="fft.irfft")
def _irfft(x: Array, axis: int, n: int, norm: str) -> Array:
    return _issue("irfft", "irfft", x, axis, (n, n), norm)


# --- arguments ------------------------------------------------------------------------------------


def _norm(op: str, norm: str | None) -> str:
    check_choice(op, "norm", norm or "backward", tuple(_OTHER_END))
    return norm or "backward"


def _axes(op: str, x: Array, s: Extents, axes: Sequence[int] | None) -> tuple[int, ...]:
    """Return the axes to transform: those given, or as many last ones as there are extents, or all.

    One may be there twice.
    """
    if axes is None:
        axes = range(-x.ndim if s is None else -len(s), 0)
    found = tuple(axis_of(op, a, x.ndim) for a in axes)
    if s is not None and len(s) != len(found):
        raise ValueError(f"{op}: s must have an extent for each of {len(found)} axes, got {tuple(s)}")
    return found


def _extents(op: str, x: Array, s: Extents, axes: tuple[int, ...]) -> list[int]:
    extents = [x.shape[a] for a in axes] if s is None else [operator.index(n) for n in s]
    extents = [x.shape[a] if n == -1 else n for a, n in zip(axes, extents)]
    if min(extents, default=1) < 1:
        raise ValueError(f"{op}: number of samples must be positive, got {tuple(extents)}")
    return extents


def _lines(x: Array, axes: Sequence[int], extents: Sequence[int], inverse: bool, norm: str) -> Array:
    """Return the transforms along several axes, the last one first."""
    for a, n in list(zip(axes, extents))[::-1]:
        x = _fft(_fitted(x, _with(x.shape, a, n)), a, inverse, norm)
    return x


def _transform(
    op: str, x: Any, s: Extents, axes: Sequence[int] | None, norm: str | None, inverse: bool, out: Any
) -> Array:
    x, scale = _complex(op, x), _norm(op, norm)
    at = _axes(op, x, s, axes)
    return write_out(op, _lines(x, at, _extents(op, x, s, at), inverse, scale), out)


def _one(n: int | None) -> Extents:
    return None if n is None else (n,)
