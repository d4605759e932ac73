"""Powers, exponentials, logarithms, trigonometric and hyperbolic functions. Each is NumPy's ufunc of the same name."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, cast, default_float, is_inexact
from .._base.primitive import Elementwise, elementwise, nondifferentiable, primitive
from .._base.registry import register
from .arithmetic import conj_if_complex, equal, floor_divide, remainder, square

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = [
    "power", "float_power", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp",
    "logaddexp2", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "deg2rad", "rad2deg", "degrees", "radians", "ldexp",
    "frexp", "modf", "divmod",
]  # fmt: skip

power = elementwise(
    numpy.power,
    da=lambda g, a, b: g * conj_if_complex(_slope(power, a, b)),
    db=lambda g, y, a: g * conj_if_complex(y * _safe_log(a)),
    operator="power",
    checks_exponents=True,
    doc="Return x1 to the power x2. Integers to negative integer powers are a ValueError.",
    ulps=2,
    example=("np.power([2, 3], 2)", "array([4, 9])"),
)
float_power = elementwise(
    numpy.float_power,
    da=lambda g, a, b: g * conj_if_complex(_slope(float_power, a, b)),
    db=lambda g, y, a: g * conj_if_complex(y * _safe_log(a)),
    doc="Return x1 to the power x2, in double precision: float_power(2, -1) is 0.5.",
    ulps=2,
    example=("np.float_power([2, 3], 2)", "array([4., 9.], dtype=float64)"),
)
exp = elementwise(
    numpy.exp,
    dx=lambda g, y: g * conj_if_complex(y),
    formula="exp",
    doc="Return e to the power x.",
    ulps=2,
    stablehlo="exponential",
    example=("np.exp([0.0, 1.0]).round(3)", "array([1.   , 2.718])"),
)
exp2 = elementwise(
    numpy.exp2,
    dx=lambda g, y: g * conj_if_complex(y) * math.log(2),
    doc="Return 2 to the power x.",
    ulps=2,
    example=("np.exp2([0.0, 3.0]).round(3)", "array([1., 8.])"),
)
expm1 = elementwise(
    numpy.expm1,
    dx=lambda g, y: g * conj_if_complex(y + 1),
    doc="Return exp(x) - 1, exact near 0.",
    ulps=6,
    stablehlo="exponential_minus_one",
    example=("np.expm1([0.0, 1.0]).round(3)", "array([0.   , 1.718])"),
)
log = elementwise(
    numpy.log,
    dx=lambda g, x: g / conj_if_complex(x),
    doc="Return the natural logarithm.",
    ulps=3,
    stablehlo="log",
    example=("np.log([1.0, 10.0]).round(3)", "array([0.   , 2.303])"),
)
log2 = elementwise(
    numpy.log2,
    dx=lambda g, x: g / (conj_if_complex(x) * math.log(2)),
    doc="Return the logarithm to base 2.",
    ulps=3,
    example=("np.log2([1.0, 8.0]).round(3)", "array([0., 3.])"),
)
log10 = elementwise(
    numpy.log10,
    dx=lambda g, x: g / (conj_if_complex(x) * math.log(10)),
    doc="Return the logarithm to base 10.",
    ulps=4,
    example=("np.log10([1.0, 100.0]).round(3)", "array([0., 2.])"),
)
log1p = elementwise(
    numpy.log1p,
    dx=lambda g, x: g / conj_if_complex(1 + x),
    doc="Return log(1 + x), exact near 0.",
    ulps=4,
    example=("np.log1p([0.0, 1.0]).round(3)", "array([0.   , 0.693])"),
)
logaddexp = elementwise(
    numpy.logaddexp,
    da=lambda g, y, a: g * exp(a - y),
    db=lambda g, y, b: g * exp(b - y),
    doc="Return log(exp(x1) + exp(x2)) without overflow: logaddexp(1000.0, -inf) is 1000.0.",
    ulps=6,
    example=("np.logaddexp([0.0, 1.0], [0.0, 1.0]).round(3)", "array([0.693, 1.693])"),
)
logaddexp2 = elementwise(
    numpy.logaddexp2,
    da=lambda g, y, a: g * exp2(a - y),
    db=lambda g, y, b: g * exp2(b - y),
    doc="Return log2(2**x1 + 2**x2) without overflow: logaddexp2(1000.0, 1000.0) is 1001.0.",
    ulps=8,
    example=("np.logaddexp2([0.0, 1.0], [0.0, 1.0]).round(3)", "array([1., 2.])"),
)

sin = elementwise(
    numpy.sin,
    dx=lambda g, x: g * conj_if_complex(cos(x)),
    slow=True,
    doc="Return the sine of x radians.",
    ulps=2,
    stablehlo="sine",
    example=("np.sin([0.0, 1.0]).round(3)", "array([0.   , 0.841])"),
)
cos = elementwise(
    numpy.cos,
    dx=lambda g, x: -g * conj_if_complex(sin(x)),
    slow=True,
    doc="Return the cosine of x radians.",
    ulps=2,
    stablehlo="cosine",
    example=("np.cos([0.0, 1.0]).round(3)", "array([1.  , 0.54])"),
)
tan = elementwise(
    numpy.tan,
    dx=lambda g, y: g * conj_if_complex(1 + y * y),
    slow=True,
    doc="Return the tangent of x radians.",
    ulps=4,
    stablehlo="tan",
    example=("np.tan([0.0, 1.0]).round(3)", "array([0.   , 1.557])"),
)
arcsin = elementwise(
    numpy.arcsin,
    dx=lambda g, x: g * conj_if_complex((1 - x * x) ** -0.5),
    slow=True,
    doc="Return the inverse sine, in radians.",
    ulps=4,
    example=("np.arcsin([0.0, 1.0]).round(3)", "array([0.   , 1.571])"),
)
arccos = elementwise(
    numpy.arccos,
    dx=lambda g, x: -g * conj_if_complex((1 - x * x) ** -0.5),
    slow=True,
    doc="Return the inverse cosine, in radians.",
    ulps=4,
    example=("np.arccos([0.0, 1.0]).round(3)", "array([1.571, 0.   ])"),
)
arctan = elementwise(
    numpy.arctan,
    dx=lambda g, x: g / conj_if_complex(1 + x * x),
    slow=True,
    doc="Return the inverse tangent, in radians.",
    ulps=3,
    example=("np.arctan([0.0, 1.0]).round(3)", "array([0.   , 0.785])"),
)
arctan2 = elementwise(
    numpy.arctan2,
    da=lambda g, a, b: g * b / (a * a + b * b),
    db=lambda g, a, b: -g * a / (a * a + b * b),
    slow=True,
    doc="Return the angle of the point (x2, x1) in radians, from -pi to pi: arctan2(0.0, 1.0) is 0.0.",
    ulps=4,
    example=("np.arctan2([0.0, 1.0], [1.0, 1.0]).round(3)", "array([0.   , 0.785])"),
)
hypot = elementwise(
    numpy.hypot,
    da=lambda g, y, a: g * a / y,
    db=lambda g, y, b: g * b / y,
    doc="Return sqrt(x1*x1 + x2*x2) without overflow: hypot(3, 4) is 5.0.",
    ulps=3,
    example=("np.hypot([3.0], [4.0])", "array([5.])"),
)
sinh = elementwise(
    numpy.sinh,
    dx=lambda g, x: g * conj_if_complex(cosh(x)),
    slow=True,
    doc="Return the hyperbolic sine.",
    ulps=8,
    example=("np.sinh([0.0, 1.0]).round(3)", "array([0.   , 1.175])"),
)
cosh = elementwise(
    numpy.cosh,
    dx=lambda g, x: g * conj_if_complex(sinh(x)),
    slow=True,
    doc="Return the hyperbolic cosine.",
    ulps=6,
    example=("np.cosh([0.0, 1.0]).round(3)", "array([1.   , 1.543])"),
)
tanh = elementwise(
    numpy.tanh,
    dx=lambda g, y: g * conj_if_complex(1 - square(y)),
    doc="Return the hyperbolic tangent.",
    ulps=8,
    stablehlo="tanh",
    example=("np.tanh([0.0, 1.0]).round(3)", "array([0.   , 0.762])"),
)
arcsinh = elementwise(
    numpy.arcsinh,
    dx=lambda g, x: g * conj_if_complex((x * x + 1) ** -0.5),
    slow=True,
    doc="Return the inverse hyperbolic sine.",
    ulps=5,
    example=("np.arcsinh([0.0, 1.0]).round(3)", "array([0.   , 0.881])"),
)
arccosh = elementwise(
    numpy.arccosh,
    dx=lambda g, x: g * conj_if_complex((x * x - 1) ** -0.5),
    slow=True,
    doc="Return the inverse hyperbolic cosine.",
    ulps=5,
    example=("np.arccosh([1.0, 2.0]).round(3)", "array([0.   , 1.317])"),
)
arctanh = elementwise(
    numpy.arctanh,
    dx=lambda g, x: g / conj_if_complex(1 - x * x),
    slow=True,
    doc="Return the inverse hyperbolic tangent.",
    ulps=5,
    example=("np.arctanh([0.0, 0.5]).round(3)", "array([0.   , 0.549])"),
)
deg2rad = elementwise(
    numpy.deg2rad,
    dx=lambda g: g * (math.pi / 180),
    exact="real",
    doc="Convert angles from degrees to radians.",
    ulps=1,
    example=("np.deg2rad([0.0, 180.0]).round(3)", "array([0.   , 3.142])"),
)
rad2deg = elementwise(
    numpy.rad2deg,
    dx=lambda g: g * (180 / math.pi),
    exact="real",
    doc="Convert angles from radians to degrees.",
    ulps=1,
    example=("np.rad2deg([0.0, np.pi]).round(3)", "array([  0., 180.])"),
)
degrees = elementwise(
    numpy.degrees,
    dx=lambda g: g * (180 / math.pi),
    exact="real",
    doc="Convert angles from radians to degrees.",
    ulps=1,
    example=("np.degrees([0.0, np.pi]).round(3)", "array([  0., 180.])"),
)
radians = elementwise(
    numpy.radians,
    dx=lambda g: g * (math.pi / 180),
    exact="real",
    doc="Convert angles from degrees to radians.",
    ulps=1,
    example=("np.radians([0.0, 180.0]).round(3)", "array([0.   , 3.142])"),
)
ldexp = elementwise(
    numpy.ldexp,
    da=lambda g, b: g * exp2(b),
    db=nondifferentiable,
    exact="real",
    doc="Return x1 times 2 to the integer power x2: ldexp(3, 2) is 12.0.",
    example=("np.ldexp([1.0, 3.0], [2, 3])", "array([ 4., 24.])"),
)


# --- two results ----------------------------------------------------------------------------------

_frexp_loops = elementwise(numpy.frexp, name="_frexp", constant=True, doc="Both parts.")
_modf_loops = elementwise(numpy.modf, name="_modf", constant=True, doc="Both parts.")


def _safe_log(a: Array) -> Any:
    """Return log(a), and 0 where a is 0: the power's slope there is 0 for positive exponents."""
    if not isinstance(a, _core.Array):
        return numpy.log(a) if a != 0 else 0.0
    zero = equal(a, 0)
    return log(a + zero) * (1 - zero)


def _slope(op: Any, a: Array, b: Array) -> Any:
    """Return b * a ** (b - 1), and 0 where b is 0, also at a = 0."""
    if not isinstance(b, _core.Array):
        return b * op(a, b - 1) if b != 0 else 0 * a
    zero = equal(b, 0)
    return b * op(a, b - 1 + zero)


def _float(x: ArrayLike) -> Array:
    x = asarray(x)
    return x if is_inexact(x.dtype) else cast(x, default_float())


@primitive(lambda g, y: ldexp(g[0], -y[1]), op="frexp")
def _frexp(x: Array) -> Any:
    return _frexp_loops(x)


@primitive(lambda g: g[0], op="modf")
def _modf(x: Array) -> Any:
    return _modf_loops(x)


def frexp(x: ArrayLike) -> tuple[Array, Array]:
    """Return m and n with x = m * 2**n and |m| in [0.5, 1); n is int32. Of 0: both 0.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    tuple of arrays
        m and n with x = m * 2**n and |m| in [0.5, 1).

    Examples
    --------
    >>> from forerun import np
    >>> m, n = np.frexp([8.0, 3.0])
    >>> m.tolist(), n.tolist()
    ([0.5, 0.75], [4, 2])
    """
    parts: tuple[Array, Array] = _frexp(_float(x))
    return parts


def modf(x: ArrayLike) -> tuple[Array, Array]:
    """Return the fractional and the whole part of x, both with the sign of x; of integers in the default float.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    tuple of arrays
        The fractional and the whole part of x.

    Examples
    --------
    >>> from forerun import np
    >>> [part.item() for part in np.modf(-1.5)]
    [-0.5, -1.0]
    """
    parts: tuple[Array, Array] = _modf(_float(x))
    return parts


def divmod(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    """Return `floor_divide` and `remainder`: the remainder has the sign of b.

    Parameters
    ----------
    a : array_like
        The dividend.
    b : array_like
        The divisor.

    Returns
    -------
    tuple of arrays
        The quotient and the remainder.

    Examples
    --------
    >>> from forerun import np
    >>> [part.item() for part in np.divmod(-7, 3)]
    [-3, 2]
    """
    return floor_divide(a, b), remainder(a, b)


register(__name__, *(op for name in __all__ if isinstance(op := globals()[name], Elementwise)))
