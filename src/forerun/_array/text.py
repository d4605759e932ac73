"""Arrays as text: for `repr`, `str` and `format`, and for notebooks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy

from .._display.notebook import nbytes, preformatted
from .._runtime.device import resolve
from ..ops._base import convert
from ..ops._base.traced import placeholder

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["formatted", "in_html", "represented", "shown"]


def represented(x: Array) -> str:
    """Return NumPy's text of the values, with a dtype other than the default one, and a device other than the CPU."""
    if (name := placeholder(x)) is not None:
        return name
    text = repr(x.numpy())
    default = convert.default_float()
    if x.dtype == default == numpy.float64:
        pass  # NumPy's default too
    elif x.dtype == default:
        text = re.sub(rf",\s+dtype={default}\)$", ")", text)
    elif x.dtype == numpy.float64:
        text = f"{text[:-1]}, dtype=float64)"
    return text if x.device == resolve("cpu") else f"{text[:-1]}, device={x.device})"


def shown(x: Array) -> str:
    """Return NumPy's text of the values alone."""
    return placeholder(x) or str(x.numpy())


def in_html(x: Array) -> str:
    """Return the values, as `represented` has them, below a line that describes the array; or the error of its
    computation."""
    about = f"{x.dtype} {x.shape}, {nbytes(x.nbytes)}, {x.device}"
    try:
        return preformatted(repr(x), about)
    except Exception as error:
        failure = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", [])])
        return preformatted(failure, about)


def formatted(x: Array, spec: str) -> str:
    """Return an element as Python formats a number, and an array as NumPy does, which has no format of its own."""
    if x.ndim and spec:
        raise TypeError(f"format: an array with axes must have no format of its own, got {spec!r}")
    return placeholder(x) or format(x.item() if spec else x.numpy(), spec)
