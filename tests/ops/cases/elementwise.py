"""Element-wise ops: NumPy's ufuncs, whose bits they give."""

import numpy

from tests.ops.cases.table import ALL, ZERO, Case, Draw, Options, row

REAL = "biuhf"
INTEGERS = "biu"
FLOATS = "hfc"
A = (0,)
AB = (0, 1)


def one(x: Draw) -> tuple[object, ...]:
    """One operand."""
    return (x(3, 4),)


def two(x: Draw) -> tuple[object, ...]:
    """Two operands of one shape."""
    return x(3, 4), x(3, 4)


def spread(x: Draw) -> tuple[object, ...]:
    """Two operands that broadcast together."""
    return x(2, 1, 4), x(3, 1)


def nonzero(x: Draw) -> tuple[object, ...]:
    """A second operand that is not zero."""
    return x(3, 4), x(4, low=0.5, high=2)


def shifts(x: Draw) -> tuple[object, ...]:
    """Numbers and by how many bits to shift them."""
    return x(3, 4), x(4, low=0, high=1)


ROWS: list[Case] = [
    row("np.add", two, spread, dtypes=ALL, grad=AB),
    row("np.subtract", two, spread, dtypes="iu" + FLOATS, grad=AB),
    row("np.multiply", two, spread, dtypes=ALL, grad=AB),
    row("np.divide", nonzero, spread, dtypes=ALL, grad=AB),
    row("np.floor_divide", nonzero, dtypes=REAL, grad=ZERO),
    row("np.remainder", nonzero, dtypes=REAL, grad=AB),
    row("np.fmod", nonzero, dtypes=REAL, grad=AB),
    row("np.power", two, spread, dtypes=ALL, grad=AB, low=0.25),
    row("np.float_power", two, dtypes=ALL, grad=AB, low=0.25),
    row("np.negative", one, dtypes="iu" + FLOATS, grad=A),
    row("np.positive", one, dtypes="iu" + FLOATS, grad=A),
    row("np.absolute", one, dtypes=ALL, grad=A),
    row("np.fabs", one, dtypes=REAL, grad=A),
    row("np.sign", one, dtypes="iu" + FLOATS, grad=ZERO),
    row("np.conjugate", one, dtypes=ALL, grad=A),
    row("np.square", one, dtypes=ALL, grad=A),
    row("np.sqrt", one, dtypes=ALL, grad=A, low=0.2),
    row("np.cbrt", one, dtypes=REAL, grad=A, low=0.2),
    row("np.reciprocal", one, dtypes=ALL, grad=A, low=0.2),
    row("np.maximum", two, spread, dtypes=ALL, grad=AB),
    row("np.minimum", two, spread, dtypes=ALL, grad=AB),
    row("np.fmax", two, dtypes=ALL, grad=AB),
    row("np.fmin", two, dtypes=ALL, grad=AB),
    row("np.floor", one, dtypes=REAL, grad=ZERO),
    row("np.ceil", one, dtypes=REAL, grad=ZERO),
    row("np.trunc", one, dtypes=REAL, grad=ZERO),
    row("np.rint", one, dtypes=ALL, grad=ZERO),
    row("np.round", one, lambda x: (x(3, 4), 1), lambda x: (x(3, 4), -1), dtypes=FLOATS, grad=ZERO),
    row("np.copysign", two, dtypes=REAL, grad=A),
    row("np.heaviside", two, dtypes=REAL, grad=ZERO),
    row("np.nextafter", two, dtypes=REAL, grad=A),
    row("np.spacing", one, dtypes=REAL, grad=ZERO),
    row("np.gcd", two, dtypes="iu"),
    row("np.lcm", two, dtypes="iu"),
    row("np.less", two, spread, dtypes=ALL, grad=ZERO),
    row("np.less_equal", two, dtypes=ALL, grad=ZERO),
    row("np.equal", two, dtypes=ALL, grad=ZERO),
    row("np.not_equal", two, dtypes=ALL, grad=ZERO),
    row("np.greater", two, dtypes=ALL, grad=ZERO),
    row("np.greater_equal", two, dtypes=ALL, grad=ZERO),
    row("np.logical_and", two, dtypes=ALL, grad=ZERO),
    row("np.logical_or", two, dtypes=ALL, grad=ZERO),
    row("np.logical_xor", two, dtypes=ALL, grad=ZERO),
    row("np.logical_not", one, dtypes=ALL, grad=ZERO),
    row("np.isnan", one, dtypes=ALL, grad=ZERO),
    row("np.isinf", one, dtypes=ALL, grad=ZERO),
    row("np.isfinite", one, dtypes=ALL, grad=ZERO),
    row("np.signbit", one, dtypes=REAL, grad=ZERO),
    row("np.isclose", two, lambda x: (x(4), x(4), 0.5, 0.1), dtypes=REAL, grad=ZERO),
    row("np.allclose", two, lambda x: (x(4), x(4), 0.5, 9.0), dtypes=REAL),
    row("np.array_equal", two, lambda x: (x(2), x(3)), lambda x: (x(2) * 0, x(2) * 0), dtypes=ALL),
    row("np.bitwise_and", two, dtypes=INTEGERS),
    row("np.bitwise_or", two, dtypes=INTEGERS),
    row("np.bitwise_xor", two, spread, dtypes=INTEGERS),
    row("np.invert", one, dtypes=INTEGERS),
    row("np.left_shift", shifts, dtypes=INTEGERS),
    row("np.right_shift", shifts, dtypes=INTEGERS),
    row("np.bitwise_count", one, dtypes=INTEGERS),
    row("np.exp", one, dtypes=ALL, grad=A),
    row("np.exp2", one, dtypes=ALL, grad=A),
    row("np.expm1", one, dtypes=ALL, grad=A),
    row("np.log", one, dtypes=ALL, grad=A, low=0.2),
    row("np.log2", one, dtypes=ALL, grad=A, low=0.2),
    row("np.log10", one, dtypes=ALL, grad=A, low=0.2),
    row("np.log1p", one, dtypes=ALL, grad=A, low=-0.5),
    row("np.logaddexp", two, spread, dtypes=REAL, grad=AB),
    row("np.logaddexp2", two, dtypes=REAL, grad=AB),
    row("np.sin", one, dtypes=ALL, grad=A),
    row("np.cos", one, dtypes=ALL, grad=A),
    row("np.tan", one, dtypes=ALL, grad=A, low=-1, high=1),
    row("np.arcsin", one, dtypes=ALL, grad=A, low=-0.8, high=0.8),
    row("np.arccos", one, dtypes=ALL, grad=A, low=-0.8, high=0.8),
    row("np.arctan", one, dtypes=ALL, grad=A, low=-0.8, high=0.8),
    row("np.arctan2", two, spread, dtypes=REAL, grad=AB),
    row("np.hypot", two, dtypes=REAL, grad=AB),
    row("np.sinh", one, dtypes=ALL, grad=A),
    row("np.cosh", one, dtypes=ALL, grad=A),
    row("np.tanh", one, dtypes=ALL, grad=A),
    row("np.arcsinh", one, dtypes=ALL, grad=A),
    row("np.arccosh", one, dtypes=ALL, grad=A, low=1.2, high=3),
    row("np.arctanh", one, dtypes=ALL, grad=A, low=-0.8, high=0.8),
    row("np.deg2rad", one, dtypes=REAL, grad=A),
    row("np.rad2deg", one, dtypes=REAL, grad=A),
    row("np.degrees", one, dtypes=REAL, grad=A),
    row("np.radians", one, dtypes=REAL, grad=A),
    row("np.ldexp", lambda x: (x(3, 4), x.index(4, 3, 4, dtype="int32")), dtypes="hf", grad=A),
    row("np.frexp", one, dtypes="hf", grad=A),
    row("np.modf", one, lambda x: (numpy.array([-0.0, 2, -3, 0.5]).astype(x.dtype),), dtypes="hf"),
    row("np.divmod", nonzero, spread, dtypes="iuhf", grad=AB),
    row("np.where", lambda x: (x.ones(3, 4), x(3, 4), x(4)), dtypes=ALL, grad=(1, 2)),
    row(
        "np.clip",
        lambda x: (x(3, 4), x(4, low=-1, high=0), x(4, low=1, high=1.5)),
        lambda x: (x(3, 4), None, 1),
        lambda x: (x(3, 4), Options(min=0, max=1)),
        dtypes="iuhf",
        grad=A,
    ),
]  # fmt: skip
