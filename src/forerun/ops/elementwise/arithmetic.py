"""Arithmetic: sums, products, quotients, remainders, signs, rounding.

Each is NumPy's ufunc of the same name.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy

from .._base import core as _core
from .._base.convert import asarray
from .._base.primitive import Elementwise, OpFacts, elementwise, nondifferentiable
from .._base.registry import register

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, Out

__all__ = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod",
    "negative", "positive", "absolute", "fabs", "sign", "conjugate", "square", "sqrt", "cbrt", "reciprocal",
    "maximum", "minimum", "fmax", "fmin", "floor", "ceil", "trunc", "rint", "copysign", "heaviside",
    "nextafter", "spacing", "gcd", "lcm", "less", "less_equal", "equal", "not_equal", "greater",
    "greater_equal", "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf",
    "isfinite", "signbit",
]  # fmt: skip

add = elementwise(
    numpy.add,
    da=lambda g: g,
    db=lambda g: g,
    operator="add",
    exact=True,
    neutral=0,
    accumulate_in=numpy.float32,
    reduction="sum",
    scan="cumsum",
    formula="add",
    doc="Add arguments element by element.",
    example=("np.add([[1, 2], [3, 4]], [10, 20])", "array([[11, 22],\n       [13, 24]])"),
)
subtract = elementwise(
    numpy.subtract,
    da=lambda g: g,
    db=lambda g: -g,
    operator="subtract",
    exact=True,
    bool_ok=False,
    formula="subtract",
    doc="Subtract arguments element by element.",
    example=("np.subtract([[1, 2], [3, 4]], [10, 20])", "array([[ -9, -18],\n       [ -7, -16]])"),
)
multiply = elementwise(
    numpy.multiply,
    da=lambda g, b: g * conj_if_complex(b),
    db=lambda g, a: g * conj_if_complex(a),
    operator="multiply",
    exact="real",
    neutral=1,
    accumulate_in=numpy.float32,
    reduction="prod",
    scan="cumprod",
    formula="multiply",
    doc="Multiply arguments element by element.",
    example=("np.multiply([[1, 2], [3, 4]], [10, 20])", "array([[10, 40],\n       [30, 80]])"),
)
divide = elementwise(
    numpy.divide,
    da=lambda g, b: g / conj_if_complex(b),
    db=lambda g, a, b: -g * conj_if_complex(a) / (conj_if_complex(b) * conj_if_complex(b)),
    operator="divide",
    exact="real",
    widens_integers=True,
    formula="divide",
    doc="Divide arguments, x1 / x2; integers give the default float: divide(1, 2) is 0.5.",
    ulps=2,
    example=("np.divide([1.0, 3.0], 2)", "array([0.5, 1.5])"),
)
floor_divide = elementwise(
    numpy.floor_divide,
    da=nondifferentiable,
    db=nondifferentiable,
    operator="floor_divide",
    exact="real",
    doc="Return the largest integer not above x1 / x2: floor_divide(-7, 2) is -4. Integers by 0 are 0.",
    example=("np.floor_divide([-7, 7], 3)", "array([-3,  2])"),
)
remainder = elementwise(
    numpy.remainder,
    da=lambda g: g,
    db=lambda g, a, b: -g * floor_divide(a, b),
    operator="remainder",
    exact="real",
    doc="Return the remainder x1 - floor(x1 / x2) * x2, with the sign of x2. remainder(-7, 3) is 2.",
    example=("np.remainder([-7, 7], 3)", "array([2, 1])"),
)
fmod = elementwise(
    numpy.fmod,
    da=lambda g: g,
    db=lambda g, a, b: -g * trunc(a / b),
    exact="real",
    doc="Return the remainder of C, with the sign of x1. fmod(-7, 3) is -1.",
    example=("np.fmod([-7, 7], 3)", "array([-1,  1])"),
)
negative = elementwise(
    numpy.negative,
    dx=lambda g: -g,
    operator="negative",
    exact=True,
    bool_ok=False,
    formula="negative",
    packed=True,
    doc="Return the negative of each element, -x.",
    example=("np.negative([-2.0, 0.0, 3.0])", "array([ 2., -0., -3.])"),
)
positive = elementwise(
    numpy.positive,
    dx=lambda g: g,
    operator="positive",
    exact=True,
    bool_ok=False,
    doc="Return a copy, +x.",
    example=("np.positive([-2.0, 0.0, 3.0])", "array([-2.,  0.,  3.])"),
)
absolute = elementwise(
    numpy.absolute,
    dx=lambda g, x: _absolute_grad(g, x),
    operator="absolute",
    exact="real",
    formula="absolute",
    doc="Return the absolute value of each element.",
    example=("np.absolute([-1.5, 2.0])", "array([1.5, 2. ])"),
)
fabs = elementwise(
    numpy.fabs,
    dx=lambda g, x: g * sign(x),
    exact="real",
    doc="Return the absolute value of real numbers, as a float.",
    example=("np.fabs([-1.5, 2.0])", "array([1.5, 2. ])"),
)
sign = elementwise(
    numpy.sign,
    dx=nondifferentiable,
    exact=True,
    bool_ok=False,
    doc="Return the sign, -1, 0 or 1.",
    example=("np.sign([-2.0, 0.0, 3.0])", "array([-1.,  0.,  1.])"),
)
conjugate = elementwise(
    numpy.conjugate,
    dx=lambda g: conjugate(g),
    exact=True,
    doc="Return the complex conjugate.",
    example=("np.conjugate([1 + 2j])", "array([1.-2.j])"),
)
square = elementwise(
    numpy.square,
    dx=lambda g, x: g * conj_if_complex(2 * x),
    operator="square",
    exact="real",
    formula="square",
    doc="Return the square, x * x.",
    example=("np.square([-2.0, 0.0, 3.0])", "array([4., 0., 9.])"),
)
sqrt = elementwise(
    numpy.sqrt,
    dx=lambda g, y: g / (2 * conj_if_complex(y)),
    operator="sqrt",
    exact="real",
    formula="sqrt",
    doc="Return the square root.",
    ulps=1,
    stablehlo="sqrt",
    example=("np.sqrt([4.0, 9.0])", "array([2., 3.])"),
)
cbrt = elementwise(
    numpy.cbrt,
    dx=lambda g, y: g / (3 * y * y),
    doc="Return the cube root.",
    ulps=4,
    stablehlo="cbrt",
    example=("np.cbrt([8.0, 27.0]).round(3)", "array([2., 3.])"),
)
reciprocal = elementwise(
    numpy.reciprocal,
    dx=lambda g, y: -g * conj_if_complex(y * y),
    operator="reciprocal",
    exact="real",
    formula="reciprocal",
    doc="Return 1 / x; an integer for integers: reciprocal(4) is 0.",
    ulps=2,
    example=("np.reciprocal([2.0, 4.0])", "array([0.5 , 0.25])"),
)
maximum = elementwise(
    numpy.maximum,
    da=lambda g, a, b: g * _picked(a, b, greater, g),
    db=lambda g, a, b: g * _picked(b, a, greater, g),
    exact="real",
    neutral="lowest",
    reduction="max",
    formula="maximum",
    doc="Return the larger argument; NaN if either is. Where both are equal, each gets half of the gradient.",
    example=("np.maximum([1.0, np.nan, 3.0], 2.0)", "array([ 2., nan,  3.])"),
)
minimum = elementwise(
    numpy.minimum,
    da=lambda g, a, b: g * _picked(a, b, less, g),
    db=lambda g, a, b: g * _picked(b, a, less, g),
    exact="real",
    neutral="highest",
    reduction="min",
    formula="minimum",
    doc="Return the smaller argument; NaN if either is. Where both are equal, each gets half of the gradient.",
    example=("np.minimum([1.0, np.nan, 3.0], 2.0)", "array([ 1., nan,  2.])"),
)
fmax = elementwise(
    numpy.fmax,
    da=lambda g, a, b: g * _picked(a, b, greater, g),
    db=lambda g, a, b: g * _picked(b, a, greater, g),
    exact="real",
    doc="Return the larger argument, preferring numbers to NaN: fmax(1.0, nan) is 1.0.",
    example=("np.fmax([1.0, np.nan, 3.0], 2.0)", "array([2., 2., 3.])"),
)
fmin = elementwise(
    numpy.fmin,
    da=lambda g, a, b: g * _picked(a, b, less, g),
    db=lambda g, a, b: g * _picked(b, a, less, g),
    exact="real",
    doc="Return the smaller argument, preferring numbers to NaN: fmin(1.0, nan) is 1.0.",
    example=("np.fmin([1.0, np.nan, 3.0], 2.0)", "array([1., 2., 2.])"),
)
floor = elementwise(
    numpy.floor,
    dx=nondifferentiable,
    exact="real",
    formula="floor",
    doc="Round down to an integer: floor(-1.5) is -2.0.",
    example=("np.floor([-1.5, 1.5, 2.5])", "array([-2.,  1.,  2.])"),
)
ceil = elementwise(
    numpy.ceil,
    dx=nondifferentiable,
    exact="real",
    formula="ceil",
    doc="Round up to an integer: ceil(-1.5) is -1.0.",
    example=("np.ceil([-1.5, 1.5, 2.5])", "array([-1.,  2.,  3.])"),
)
trunc = elementwise(
    numpy.trunc,
    dx=nondifferentiable,
    exact="real",
    formula="trunc",
    doc="Round towards zero to an integer: trunc(-1.5) is -1.0.",
    example=("np.trunc([-1.5, 1.5, 2.5])", "array([-1.,  1.,  2.])"),
)
rint = elementwise(
    numpy.rint,
    dx=nondifferentiable,
    exact="real",
    formula="rint",
    doc="Round to the nearest integer; halves go to the even one: rint(2.5) is 2.0.",
    example=("np.rint([-1.5, 1.5, 2.5])", "array([-2.,  2.,  2.])"),
)
copysign = elementwise(
    numpy.copysign,
    da=lambda g, y, a: g * sign(y) * sign(a),
    db=nondifferentiable,
    exact="real",
    formula="copysign",
    doc="Return the magnitude of x1 with the sign of x2, also of a zero: copysign(3.0, -0.0) is -3.0.",
    example=("np.copysign([1.0, 2.0], [-1.0, 1.0])", "array([-1.,  2.])"),
)
heaviside = elementwise(
    numpy.heaviside,
    da=nondifferentiable,
    db=lambda g, a: g * equal(a, 0),
    exact="real",
    doc="Return the step function: 0 below 0, 1 above, x2 at 0: heaviside(0.0, 0.5) is 0.5.",
    example=("np.heaviside([-1.0, 0.0, 2.0], 0.5)", "array([0. , 0.5, 1. ])"),
)
nextafter = elementwise(
    numpy.nextafter,
    da=lambda g: g,
    db=nondifferentiable,
    exact="real",
    doc="Return the next number after x1 towards x2.",
    example=("np.nextafter([1.0], 2.0)", "array([1.0000001])"),
)
spacing = elementwise(
    numpy.spacing,
    constant=True,
    exact="real",
    doc="Return the distance to the next number: spacing(8388608.0) is 1.0.",
    example=("np.spacing([1.0])", "array([1.1920929e-07])"),
)
gcd = elementwise(
    numpy.gcd,
    constant=True,
    bool_ok=False,
    doc="Return the greatest common divisor of integers: gcd(12, 18) is 6.",
    example=("np.gcd([12, 20], 8)", "array([4, 4])"),
)
lcm = elementwise(
    numpy.lcm,
    constant=True,
    bool_ok=False,
    doc="Return the least common multiple of integers: lcm(4, 6) is 12.",
    example=("np.lcm([12, 20], 8)", "array([24, 40])"),
)

# --- comparisons and logic ------------------------------------------------------------------------


class Comparison(Elementwise):
    """A comparison. It knows its result also for a Python integer that the array's dtype does not hold."""

    def __init__(self, ufunc: numpy.ufunc, doc: str, **facts: Unpack[OpFacts]) -> None:
        super().__init__(ufunc, ufunc.__name__, ("a", "b"), None, doc, **facts)

    def beyond(self, a: ArrayLike, b: ArrayLike, out: Out) -> Any:
        """Return the result for such an integer: that of a comparison with the least number, which holds for all
        elements or for none."""
        first = isinstance(a, int)
        n, x = (a, b) if first else (b, a)
        if isinstance(x, int) or not isinstance(n, int) or asarray(x).dtype.kind not in "biu":
            return NotImplemented
        dtype = asarray(x).dtype
        least = int(numpy.iinfo(dtype).min) if dtype.kind == "i" else 0
        side = 1 if n > 0 else -1
        holds = self.ufunc(side, 0) if first else self.ufunc(0, side)
        return (greater_equal if holds else less)(x, least, out=out)


less = Comparison(
    numpy.less,
    "Test whether x1 is less than x2, x1 < x2.",
    operator="less",
    exact=True,
    formula="less",
    example=("np.less([1, 2, 3], 2)", "array([ True, False, False])"),
)
less_equal = Comparison(
    numpy.less_equal,
    "Test whether x1 is less than or equal to x2, x1 <= x2.",
    operator="less_equal",
    exact=True,
    formula="less_equal",
    example=("np.less_equal([1, 2, 3], 2)", "array([ True,  True, False])"),
)
equal = Comparison(
    numpy.equal,
    "Test whether elements are equal, x1 == x2.",
    operator="equal",
    exact=True,
    formula="equal",
    example=("np.equal([1, 2, 3], 2)", "array([False,  True, False])"),
)
not_equal = Comparison(
    numpy.not_equal,
    "Test whether elements differ, x1 != x2.",
    operator="not_equal",
    exact=True,
    formula="not_equal",
    example=("np.not_equal([1, 2, 3], 2)", "array([ True, False,  True])"),
)
greater = Comparison(
    numpy.greater,
    "Test whether x1 is greater than x2, x1 > x2.",
    operator="greater",
    exact=True,
    formula="greater",
    example=("np.greater([1, 2, 3], 2)", "array([False, False,  True])"),
)
greater_equal = Comparison(
    numpy.greater_equal,
    "Test whether x1 is greater than or equal to x2, x1 >= x2.",
    operator="greater_equal",
    exact=True,
    formula="greater_equal",
    example=("np.greater_equal([1, 2, 3], 2)", "array([False,  True,  True])"),
)


class Truth(Elementwise):
    """Of whether numbers are zero. It knows its result also for a Python integer that the dtype does not hold."""

    def __init__(self, ufunc: numpy.ufunc, doc: str, **facts: Unpack[OpFacts]) -> None:
        super().__init__(ufunc, ufunc.__name__, ("a", "b"), None, doc, **facts)

    def beyond(self, a: ArrayLike, b: ArrayLike, out: Out) -> Any:
        """Return the result for such an integer, which is not zero: that for 1."""
        if isinstance(a, int) and isinstance(b, int):
            return NotImplemented
        return self(*(1 if isinstance(x, int) else x for x in (a, b)), out=out)


logical_and = Truth(
    numpy.logical_and,
    "Test whether both are true (not zero).",
    exact=True,
    formula="bitwise_and",
    neutral="highest",
    example=("np.logical_and([True, True, False], [True, False, False])", "array([ True, False, False])"),
)
logical_or = Truth(
    numpy.logical_or,
    "Test whether at least one is true (not zero).",
    exact=True,
    formula="bitwise_or",
    neutral="lowest",
    example=("np.logical_or([True, True, False], [True, False, False])", "array([ True,  True, False])"),
)
logical_xor = Truth(
    numpy.logical_xor,
    "Test whether exactly one is true: logical_xor(1, 2) is False.",
    exact=True,
    formula="bitwise_xor",
    example=("np.logical_xor([True, True, False], [True, False, False])", "array([False,  True, False])"),
)
logical_not = elementwise(
    numpy.logical_not,
    constant=True,
    exact=True,
    formula="invert",
    doc="Test whether x is false (zero).",
    example=("np.logical_not([1, 0])", "array([False,  True])"),
)
isnan = elementwise(
    numpy.isnan,
    constant=True,
    exact=True,
    formula="isnan",
    packed=True,
    doc="Test whether x is NaN.",
    example=("np.isnan([1.0, np.inf, np.nan])", "array([False, False,  True])"),
)
isinf = elementwise(
    numpy.isinf,
    constant=True,
    exact=True,
    packed=True,
    doc="Test whether x is infinite.",
    example=("np.isinf([1.0, np.inf, np.nan])", "array([False,  True, False])"),
)
isfinite = elementwise(
    numpy.isfinite,
    constant=True,
    exact=True,
    packed=True,
    doc="Test whether x is finite.",
    example=("np.isfinite([1.0, np.inf, np.nan])", "array([ True, False, False])"),
)
signbit = elementwise(
    numpy.signbit,
    constant=True,
    exact="real",
    packed=True,
    doc="Test whether the sign bit is set: signbit(-0.0) is True.",
    example=("np.signbit([-1.0, 0.0])", "array([ True, False])"),
)


@overload
def conj_if_complex(x: Array) -> Array: ...
@overload
def conj_if_complex(x: complex) -> complex: ...
def conj_if_complex(x: Any) -> Any:
    """Return x, conjugated if it is complex: the factor of a gradient."""
    if isinstance(x, complex):
        return x.conjugate()
    return conjugate(x) if getattr(x, "dtype", None) is not None and x.dtype.kind == "c" else x


def _absolute_grad(g: Array, x: Array) -> Array:
    if x.dtype.kind == "c":
        size = absolute(x)
        return g * x / (size + equal(size, 0))
    return g * sign(x)


def _picked(a: Array, b: Array, better: Any, g: Array) -> Array:
    """Return 1 where a is the result, 1/2 where both are, 0 elsewhere; in g's dtype."""
    one, tie = better(a, b), equal(a, b)
    return _core.cast(one, g.dtype) + 0.5 * _core.cast(tie, g.dtype)


def round(x: Array, decimals: int = 0) -> Array:
    """Return x rounded to decimals, as NumPy does it: scaled, rounded to the nearest integer, halves to even,
    scaled back."""
    if decimals == 0 or x.dtype.kind in "iub":
        return positive(x) if x.dtype.kind in "iub" else rint(x)
    scale = 10.0 ** builtins.abs(decimals)
    return rint(x * scale) / scale if decimals > 0 else rint(x / scale) * scale


register(__name__, *(op for name in __all__ if isinstance(op := globals()[name], Elementwise)))
