"""Results or errors of calls, to compare them with NumPy's, or with another way to make the call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy


def outcome(
    function: Callable[..., Any], *operands: Any, read: Callable[[Any], Any] | None = None,
    error: Callable[[Exception], Any] | None = None,
) -> Any:  # fmt: skip
    """Return `read` of a function's result, or the exception that the call or the reading raises.

    read: `numpy_arrays` by default. error: a function of the exception, whose result takes its place. Warnings are
    ignored.
    """
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return (read or numpy_arrays)(function(*operands))
        except Exception as raised:
            return error(raised) if error else raised


def numpy_arrays(found: Any) -> list[numpy.ndarray]:
    """One result or several as a list of NumPy's arrays."""
    return [numpy.array(x) for x in (found if isinstance(found, (list, tuple)) else [found])]


def comparable(found: Any) -> Any:
    """A result in a form that can be compared: containers, dtypes, shapes and bytes."""
    if isinstance(found, (tuple, list)):
        return type(found), [comparable(x) for x in found]
    return (found.dtype, found.shape, found.numpy().tobytes()) if hasattr(found, "numpy") else found


def type_and_message(error: Exception) -> tuple[type[Exception], str]:
    return type(error), str(error)


def values_or_error(call: Callable[[], Any]) -> Any:
    """Return the values, the shape and the dtype of a call's result, or the type of the exception that it raises."""
    try:
        found = call()
    except Exception as error:
        return TypeError if isinstance(error, TypeError) else type(error)
    return found.tolist(), found.shape, found.dtype
