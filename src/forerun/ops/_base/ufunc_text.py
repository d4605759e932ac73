"""Docstrings and signatures of functions: what element-wise ones share, and signatures found when asked for."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .primitive import Elementwise

__all__ = ["Docstring", "Signature", "docstring", "signature"]

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
_OPTIONS = (
    ("where", "ArrayLike", True), ("casting", "str", "same_kind"), ("order", "str", "K"), ("dtype", "DTypeLike", None),
    ("subok", "bool", True), ("signature", "str | tuple[DTypeLike, ...] | None", None),
)  # fmt: skip
_BROADCAST = {False: "", True: "Their shapes must broadcast together."}


class Docstring:
    """The docstring of the class, or of one of its functions, which is assembled on demand."""

    def __init__(self, of_class: str) -> None:
        self.of_class = of_class

    def __get__(self, op: Elementwise | None, kind: type) -> str:
        return self.of_class if op is None else docstring(op)


def docstring(op: Elementwise) -> str:
    """Return the docstring of an element-wise function: the summary alone if it has no example.

    >>> from forerun import np
    >>> docstring(np.sqrt).splitlines()[:3]
    ['Return the square root.', '', 'Parameters']
    """
    if op.example is None:
        return op.summary
    call, result = op.example
    text = _TEXT.format(
        summary=op.summary,
        inputs=_INPUTS[op.nin],
        broadcast=_BROADCAST[op.nin > 1],
        name=op.name,
        example=f">>> {call}\n{result}\n",
    )
    return text.replace(" \n", "\n")


def signature(nin: int, nout: int) -> inspect.Signature:
    """Return the parameters of NumPy's ufuncs with so many inputs and outputs, with their types.

    >>> from forerun import np
    >>> signature(1, 1).parameters["x"].annotation, signature(1, 2).return_annotation
    ('ArrayLike', 'tuple[Array, Array]')
    """
    inputs = ["x"] if nin == 1 else [f"x{i}" for i in range(1, nin + 1)]
    make = inspect.Parameter
    parameters = [make(name, make.POSITIONAL_ONLY, annotation="ArrayLike") for name in inputs]
    out = ("Out | tuple[Out]", None) if nout == 1 else ("Out | tuple[Out, ...]", (None,) * nout)
    parameters.append(make("out", make.POSITIONAL_OR_KEYWORD, annotation=out[0], default=out[1]))
    parameters += [make(name, make.KEYWORD_ONLY, annotation=of, default=value) for name, of, value in _OPTIONS]
    results = "Array" if nout == 1 else f"tuple[{', '.join(['Array'] * nout)}]"
    return inspect.Signature(parameters, return_annotation=results)


class Signature(inspect.Signature):
    """The signature of a function that another one stands for, which is found when it is asked for.

    >>> Signature(lambda x, *, y=2: x), list(Signature(len).parameters)
    (<Signature (x, *, y=2)>, ['obj'])
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @functools.cached_property
    def _found(self) -> inspect.Signature:
        return inspect.signature(self._function)

    @property
    def parameters(self) -> types.MappingProxyType[str, inspect.Parameter]:
        return self._found.parameters

    @property
    def return_annotation(self) -> Any:
        return self._found.return_annotation

    def replace(self, **changes: Any) -> inspect.Signature:  # type: ignore[override]
        """Return another signature with some parameters or another annotation of the result."""
        return self._found.replace(**changes)
