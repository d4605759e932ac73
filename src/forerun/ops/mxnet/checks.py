"""Conditions on the values of arrays: constraints, and whether all are finite."""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import asarray, asarrays, cast
from .._base.host_task import host_op
from ..elementwise.arithmetic import isfinite
from ..reduce.reduction import all as all_
from ..shape.reshape import reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["all_finite", "constraint_check", "multi_all_finite"]


def constraint_check(condition: ArrayLike, msg: str = "Constraint violated.") -> Array:
    """Check that a condition holds everywhere, and return an array of one True.

    Parameters
    ----------
    condition : array_like
        The values of the condition. Each must be true.
    msg : str, optional
        The message of the error.

    Returns
    -------
    array
        True, of shape () and dtype bool.

    Raises
    ------
    ValueError
        Where the result is read, with the message, if the condition does not hold everywhere.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.constraint_check(np.array([True, True]), "must be positive").item()
    True
    """

    def check(values: numpy.ndarray) -> Any:
        if not values.all():
            raise ValueError(f"constraint_check: {msg}")
        return numpy.True_

    return host_op("constraint_check", check, [asarray(condition)], (), "bool")


def all_finite(data: ArrayLike, init_output: bool = True) -> Array:
    """Test whether all elements of an array are finite.

    Parameters
    ----------
    data : array_like
        The values.
    init_output : bool, optional
        This must be True: results of earlier calls are not combined with this one.

    Returns
    -------
    array
        1 if all elements are finite and 0 if any is infinite or NaN, as float32, of shape (1,).

    Raises
    ------
    NotImplementedError
        If `init_output` is False.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.all_finite(np.array([1.0, np.nan])).tolist()
    [0.0]
    """
    return multi_all_finite(data, init_output=init_output)


def multi_all_finite(*arrays: ArrayLike, num_arrays: int | None = None, init_output: bool = True) -> Array:
    """Test whether all elements of all arrays are finite.

    Parameters
    ----------
    *arrays : array_like
        The arrays to test, at least one.
    num_arrays : int, optional
        The number of arrays, which is checked if it is given.
    init_output : bool, optional
        Must be True: earlier results are not combined with this one.

    Returns
    -------
    array
        1 if all elements are finite, 0 if not: float32, of shape (1,).

    Raises
    ------
    ValueError
        If no array is given, or `num_arrays` is not their number.
    NotImplementedError
        If `init_output` is False.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.multi_all_finite(np.ones(2), np.zeros((1, 2))).tolist()
    [1.0]
    """
    given = asarrays(*arrays)
    if not init_output:
        raise NotImplementedError("all_finite: init_output must be True, got False")
    if not given or num_arrays not in (None, len(given)):
        raise ValueError(f"multi_all_finite: there must be {num_arrays or 'some'} arrays, got {len(given)}")
    finite = functools.reduce(operator.and_, (all_(isfinite(x)) for x in given))
    return reshape(cast(finite, numpy.dtype("float32")), (1,))
