"""Docstrings of element-wise functions: what all of them have in common, and an example for each."""

from __future__ import annotations

__all__ = ["docstring"]

_INPUTS = {1: "x", 2: "x1, x2", 3: "x1, x2, x3"}
_TEXT = """{summary}

Parameters
----------
{inputs} : array_like
    Arrays, numbers or nested lists. {broadcast}
out : array, optional
    An array of the result's shape, which is written and returned.
where : array_like of bool, optional
    The elements to compute; the others keep the values of `out`.
dtype : dtype, optional
    The dtype of the computation and of the result.

Returns
-------
array
    A new array, or `out`. The call does not wait for values. The dtype is NumPy's, but integers give float32 where
    NumPy gives float64.

Raises
------
ValueError
    If shapes do not broadcast together, or `out` has another shape.
TypeError
    If the function is not defined for the dtype.

Examples
--------
>>> from forerun import np
{example}
See `numpy.{name}` for the remaining parameters.
"""
_BROADCAST = {False: "", True: "Their shapes must broadcast together."}


def docstring(name: str, inputs: int, summary: str) -> str:
    """Return the docstring of an element-wise function: the summary alone if it is not one of NumPy's.

    >>> docstring("sqrt", 1, "Return the square root.").splitlines()[:3]
    ['Return the square root.', '', 'Parameters']
    """
    example = _examples().get(name)
    if example is None:
        return summary
    text = _TEXT.format(
        summary=summary, inputs=_INPUTS[inputs], broadcast=_BROADCAST[inputs > 1], name=name, example=example
    )
    return text.replace(" \n", "\n")


def _examples() -> dict[str, str]:
    """Return the example of each function: a call, and its result."""
    parts = _EXAMPLES.split(">>> np.")[1:]
    return {part.partition("(")[0]: f">>> np.{part}" for part in parts}


_EXAMPLES = """
>>> np.absolute([-1.5, 2.0])
array([1.5, 2. ])
>>> np.add([[1, 2], [3, 4]], [10, 20])
array([[11, 22],
       [13, 24]])
>>> np.arccos([0.0, 1.0]).round(3)
array([1.571, 0.   ])
>>> np.arccosh([1.0, 2.0]).round(3)
array([0.   , 1.317])
>>> np.arcsin([0.0, 1.0]).round(3)
array([0.   , 1.571])
>>> np.arcsinh([0.0, 1.0]).round(3)
array([0.   , 0.881])
>>> np.arctan([0.0, 1.0]).round(3)
array([0.   , 0.785])
>>> np.arctan2([0.0, 1.0], [1.0, 1.0]).round(3)
array([0.   , 0.785])
>>> np.arctanh([0.0, 0.5]).round(3)
array([0.   , 0.549])
>>> np.bitwise_and([12, 10], 6)
array([4, 2])
>>> np.bitwise_count([5, 255])
array([2, 8], dtype=uint8)
>>> np.bitwise_or([12, 10], 6)
array([14, 14])
>>> np.bitwise_xor([12, 10], 6)
array([10, 12])
>>> np.cbrt([8.0, 27.0]).round(3)
array([2., 3.])
>>> np.ceil([-1.5, 1.5, 2.5])
array([-1.,  2.,  3.])
>>> np.conjugate([1 + 2j])
array([1.-2.j])
>>> np.copysign([1.0, 2.0], [-1.0, 1.0])
array([-1.,  2.])
>>> np.cos([0.0, 1.0]).round(3)
array([1.  , 0.54])
>>> np.cosh([0.0, 1.0]).round(3)
array([1.   , 1.543])
>>> np.deg2rad([0.0, 180.0]).round(3)
array([0.   , 3.142])
>>> np.degrees([0.0, np.pi]).round(3)
array([  0., 180.])
>>> np.divide([1.0, 3.0], 2)
array([0.5, 1.5])
>>> np.equal([1, 2, 3], 2)
array([False,  True, False])
>>> np.exp([0.0, 1.0]).round(3)
array([1.   , 2.718])
>>> np.exp2([0.0, 3.0]).round(3)
array([1., 8.])
>>> np.expm1([0.0, 1.0]).round(3)
array([0.   , 1.718])
>>> np.fabs([-1.5, 2.0])
array([1.5, 2. ])
>>> np.float_power([2, 3], 2)
array([4., 9.], dtype=float64)
>>> np.floor([-1.5, 1.5, 2.5])
array([-2.,  1.,  2.])
>>> np.floor_divide([-7, 7], 3)
array([-3,  2])
>>> np.fmax([1.0, np.nan, 3.0], 2.0)
array([2., 2., 3.])
>>> np.fmin([1.0, np.nan, 3.0], 2.0)
array([1., 2., 2.])
>>> np.fmod([-7, 7], 3)
array([-1,  1])
>>> np.gcd([12, 20], 8)
array([4, 4])
>>> np.greater([1, 2, 3], 2)
array([False, False,  True])
>>> np.greater_equal([1, 2, 3], 2)
array([False,  True,  True])
>>> np.heaviside([-1.0, 0.0, 2.0], 0.5)
array([0. , 0.5, 1. ])
>>> np.hypot([3.0], [4.0])
array([5.])
>>> np.invert([0, 5])
array([-1, -6])
>>> np.isfinite([1.0, np.inf, np.nan])
array([ True, False, False])
>>> np.isinf([1.0, np.inf, np.nan])
array([False,  True, False])
>>> np.isnan([1.0, np.inf, np.nan])
array([False, False,  True])
>>> np.lcm([12, 20], 8)
array([24, 40])
>>> np.ldexp([1.0, 3.0], [2, 3])
array([ 4., 24.])
>>> np.left_shift([1, 2], 3)
array([ 8, 16])
>>> np.less([1, 2, 3], 2)
array([ True, False, False])
>>> np.less_equal([1, 2, 3], 2)
array([ True,  True, False])
>>> np.log([1.0, 10.0]).round(3)
array([0.   , 2.303])
>>> np.log10([1.0, 100.0]).round(3)
array([0., 2.])
>>> np.log1p([0.0, 1.0]).round(3)
array([0.   , 0.693])
>>> np.log2([1.0, 8.0]).round(3)
array([0., 3.])
>>> np.logaddexp([0.0, 1.0], [0.0, 1.0]).round(3)
array([0.693, 1.693])
>>> np.logaddexp2([0.0, 1.0], [0.0, 1.0]).round(3)
array([1., 2.])
>>> np.logical_and([True, True, False], [True, False, False])
array([ True, False, False])
>>> np.logical_not([1, 0])
array([False,  True])
>>> np.logical_or([True, True, False], [True, False, False])
array([ True,  True, False])
>>> np.logical_xor([True, True, False], [True, False, False])
array([False,  True, False])
>>> np.maximum([1.0, np.nan, 3.0], 2.0)
array([ 2., nan,  3.])
>>> np.minimum([1.0, np.nan, 3.0], 2.0)
array([ 1., nan,  2.])
>>> np.multiply([[1, 2], [3, 4]], [10, 20])
array([[10, 40],
       [30, 80]])
>>> np.negative([-2.0, 0.0, 3.0])
array([ 2., -0., -3.])
>>> np.nextafter([1.0], 2.0)
array([1.0000001])
>>> np.not_equal([1, 2, 3], 2)
array([ True, False,  True])
>>> np.positive([-2.0, 0.0, 3.0])
array([-2.,  0.,  3.])
>>> np.power([2, 3], 2)
array([4, 9])
>>> np.rad2deg([0.0, np.pi]).round(3)
array([  0., 180.])
>>> np.radians([0.0, 180.0]).round(3)
array([0.   , 3.142])
>>> np.reciprocal([2.0, 4.0])
array([0.5 , 0.25])
>>> np.remainder([-7, 7], 3)
array([2, 1])
>>> np.right_shift([8, 16], 2)
array([2, 4])
>>> np.rint([-1.5, 1.5, 2.5])
array([-2.,  2.,  2.])
>>> np.sign([-2.0, 0.0, 3.0])
array([-1.,  0.,  1.])
>>> np.signbit([-1.0, 0.0])
array([ True, False])
>>> np.sin([0.0, 1.0]).round(3)
array([0.   , 0.841])
>>> np.sinh([0.0, 1.0]).round(3)
array([0.   , 1.175])
>>> np.spacing([1.0])
array([1.1920929e-07])
>>> np.sqrt([4.0, 9.0])
array([2., 3.])
>>> np.square([-2.0, 0.0, 3.0])
array([4., 0., 9.])
>>> np.subtract([[1, 2], [3, 4]], [10, 20])
array([[ -9, -18],
       [ -7, -16]])
>>> np.tan([0.0, 1.0]).round(3)
array([0.   , 1.557])
>>> np.tanh([0.0, 1.0]).round(3)
array([0.   , 0.762])
>>> np.trunc([-1.5, 1.5, 2.5])
array([-1.,  1.,  2.])
"""
