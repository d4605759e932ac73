"""NumPy's functions over stacks of matrices as ops: their common functions.

A call is one host task. Of many matrices, or large ones, it is cut along the stack into calls that idle workers
share; where, the shapes alone tell, so the bits are the same for any number of workers. NumPy's loops over LAPACK run
without the interpreter lock.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy
from numpy.linalg import LinAlgError

from .._base import core as _core
from .._base.convert import asarray, cast
from .._base.promotion import default_float
from ..elementwise.arithmetic import conj_if_complex, equal
from ..elementwise.select import where
from ..shape.axis_order import matrix_transpose
from ..shape.broadcast import broadcast_to
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["adjoint", "half_hermitian", "inexact", "matrices", "quotient", "stacked", "work"]

_DTYPES = ("float32", "float64", "complex64", "complex128")
_PIECE = 1 << 21  # multiplications that are worth a call of their own
# Multiplications of real numbers. A task of fewer takes less time than handing it to another thread, some 0.1 ms, and
# runs within the call;
_IN_CALL = 400_000
_BRIEF = 50 * _IN_CALL  # one of fewer takes some milliseconds, so that a waiting thread may run it.
# Bytes of operands, of which the first is above and the second below those of any task: multiplications tell.
_ANY_SIZE, _NO_SIZE = 1 << 30, 1
_MOST_PIECES = 64


def inexact(op: str, x: ArrayLike) -> Array:
    """Return x as an array of a dtype that LAPACK has: integers and bools become the default float.

    TypeError for other dtypes: like NumPy's, these functions refuse float16.

    >>> inexact("op", [1, 2]).dtype
    dtype('float32')
    """
    x = asarray(x, op=op)
    if x.dtype.kind in "biu":
        return cast(x, default_float())
    if x.dtype.name not in _DTYPES:
        raise TypeError(f"{op}: dtype must be float32/64, complex64/128 or integer, got {x.dtype}")
    return x


def matrices(op: str, x: ArrayLike, square: bool = False) -> Array:
    """Return x as an array of matrices of such a dtype. LinAlgError (a ValueError) if it has other axes.

    >>> matrices("op", [[1.0, 2.0]]).shape
    (1, 2)
    """
    x = asarray(x, op=op)
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square matrices" if square else "matrices"
        raise LinAlgError(f"{op}: array must be of {what}, got shape {x.shape}")
    return inexact(op, x)


def adjoint(x: Array) -> Array:
    """Return matrices with their axes exchanged, and conjugated.

    >>> adjoint(asarray([[1, 2j]])).tolist()
    [[(1-0j)], [-2j]]
    """
    return matrix_transpose(conj_if_complex(x))


def half_hermitian(x: Array) -> Array:
    """Return the Hermitian part of matrices: half the sum with their adjoints.

    >>> half_hermitian(asarray([[1.0, 2.0], [4.0, 3.0]])).tolist()
    [[1.0, 3.0], [3.0, 3.0]]
    """
    return (x + adjoint(x)) * 0.5


def quotient(a: Array, b: Array) -> Array:
    """Return a / b, but 0 where both are 0; its gradient there is 0 for b.

    >>> quotient(asarray([0.0, 1.0]), asarray([0.0, 2.0])).tolist()
    [0.0, 0.5]
    """
    return a / where(equal(a, 0) & equal(b, 0), numpy.ones((), b.dtype), b)


def pieces_of(lead: tuple[int, ...], work: float) -> int:
    """Return the number of calls for a stack; work: multiplications for one of its matrices.

    >>> pieces_of((100,), 1000), pieces_of((100,), 1e6)
    (1, 47)
    """
    n = math.prod(lead)
    return max(1, min(n, _MOST_PIECES, int(n * work) // _PIECE))


def work(x: Array, factor: float) -> float:
    """Return the approximate number of multiplications of a decomposition of a matrix.

    >>> work(asarray([[1.0, 2.0]]), 3)
    6
    """
    m, n = x.shape[-2:]
    return factor * m * n * min(m, n)


def stacked(
    op: str,
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    outs: Sequence[tuple[tuple[int, ...], Any]],
    lead: tuple[int, ...],
    work: float,
    cores: Sequence[int] = (2, 2),
) -> list[Array]:
    """Submit `fn`, a function of NumPy's over stacks of shape `lead`; not recorded.

    inputs: arrays whose axes but the last ones (`cores`: how many of each) broadcast to `lead`. outs: for each result
    its shape for one matrix, and its dtype. work: see `pieces_of`.

    >>> [y.tolist() for y in stacked("op", numpy.linalg.det, [asarray([[2.0]])], [((), "float32")], (), 1)]
    [2.0]
    """
    pieces = pieces_of(lead, work)
    if pieces == 1:
        specs = [((*lead, *core), numpy.dtype(dtype)) for core, dtype in outs]
        real = 4 if any(x.dtype.kind == "c" for x in inputs) else 1
        cost = math.prod(lead) * work * real
        at_once = _ANY_SIZE if cost < _IN_CALL else _NO_SIZE
        return _core.host(fn, list(inputs), specs, None, op, at_once=at_once if cost < _BRIEF else 0)
    n = math.prod(lead)
    flat = []
    for x, k in zip(inputs, cores):
        core = x.shape[x.ndim - k :]
        flat.append(reshape(broadcast_to(x, (*lead, *core)), (n, *core)))
    specs = [((n, *core), numpy.dtype(dtype)) for core, dtype in outs]
    found = _core.host(fn, flat, specs, None, op, pieces=pieces)
    return [reshape(y, (*lead, *core)) for y, (core, _) in zip(found, outs)]
