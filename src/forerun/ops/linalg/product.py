"""The product of two matrices, or of stacks of them, that all other products are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._base import core as _core
from .._base.convert import asarrays, cast, is_array, promote
from .._base.primitive import primitive
from ..elementwise.arithmetic import conj_if_complex
from ..shape.axis_order import swapaxes

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike


def _left_gradient(g: Array, b: Array, inputs: Sequence[Array], ta: bool, tb: bool) -> Array:
    b = conj_if_complex(b)
    if b.ndim == 1:
        return g[..., None] * b
    if inputs[0].ndim == 1:
        return matrix_product(b, g[..., None])[..., 0]
    return matrix_product(b, g, tb, True) if ta else matrix_product(g, b, False, not tb)


def _right_gradient(g: Array, a: Array, inputs: Sequence[Array], ta: bool, tb: bool) -> Array:
    a = conj_if_complex(a)
    if inputs[1].ndim == 1:
        if a.ndim == 1:
            return g * a
        return matrix_product(swapaxes(a, -1, -2), g[..., None])[..., 0]
    if a.ndim == 1:
        return a[:, None] * g[..., None, :]
    return matrix_product(g, a, True, ta) if tb else matrix_product(a, g, not ta, False)


@primitive(_left_gradient, _right_gradient, op="matmul")
def matrix_product(a: Array, b: Array, ta: bool = False, tb: bool = False) -> Array:
    """Return the product of two arrays of one dtype; ta, tb: of a or b (matrices) with its last axes exchanged."""
    return _core.matmul(a, b, ta, tb)


def matmul_pair(a: ArrayLike, b: ArrayLike, op: str) -> tuple[Array, Array]:
    """Return both as arrays of one dtype on one device; an operand that is not an array goes to the other's device."""
    if is_array(a) and is_array(b) and a.dtype is b.dtype:
        return a, b
    a, b = asarrays(a, b, op=op)
    if a.dtype == b.dtype:
        return a, b
    dtype = promote(a.dtype, b.dtype)
    return (a if a.dtype == dtype else cast(a, dtype)), (b if b.dtype == dtype else cast(b, dtype))
