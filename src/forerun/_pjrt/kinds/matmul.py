"""Matrix products."""

from __future__ import annotations

from collections.abc import Sequence

from ..builder import Builder
from ..spec import Operand
from ..types import Type
from ..values import Value
from .call import Call
from .elementwise.casts import cast

__all__ = ["matmul", "product_type"]


def product_type(dtype: str) -> str:
    """The dtype in which products of a dtype are summed.

    >>> product_type("bool"), product_type("bfloat16"), product_type("int8")
    ('float32', 'float32', 'int8')
    """
    return "float32" if dtype in ("bool", "float16", "bfloat16") else dtype


def matmul(call: Call) -> Sequence[Value]:
    """(..., m, k) times (..., k, n)."""
    b, (out,) = call.b, call.spec.outputs
    x, y = (cast(b, cast(b, v, out.dtype), product_type(out.dtype)) for v in call.inputs)
    if 0 in (*x.shape, *y.shape):
        return [b.constant(0, Type(out.shape, out.dtype))]
    axes = list(range(len(x.shape) - 2))
    if axes and _repeated(call.spec.inputs[1]):
        y = b.reshape(_first_matrix(b, y), y.shape[-2:])
        value = b.dot(x, y, x.dtype, contract=([len(axes) + 1], [0]))
    else:
        value = b.dot(x, y, x.dtype, contract=([len(axes) + 1], [len(axes)]), batch=(axes, axes))
    return [cast(b, value, out.dtype)]


def _repeated(operand: Operand) -> bool:
    """Whether all matrices of an operand are one."""
    return all(n == 1 or s == 0 for n, s in zip(operand.shape[:-2], operand.strides[:-2]))


def _first_matrix(b: Builder, x: Value) -> Value:
    return b.slice(x, [0] * len(x.shape), [1] * (len(x.shape) - 2) + list(x.shape[-2:]))
