"""Arrays with elements added before and after along each axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, axis_of, check_choice, copy, counts_of
from .._base.host_task import host, quiet
from .._base.primitive import numpy_when_small, primitive
from .broadcast import broadcast_to

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["pad"]

_PAD_MODES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",), "edge": (), "empty": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": (),
}  # fmt: skip


@numpy_when_small(numpy.pad, "array pad_width mode", "acs", "biufc")
def pad(
    array: ArrayLike, pad_width: ArrayLike | Mapping[int, int | tuple[int, int]], mode: str = "constant", **kwargs: Any
) -> Array:
    """Return an array with elements added before and after along each axis, in its dtype.

    A function as mode is called as by NumPy, with NumPy's vectors, in a worker.

    Parameters
    ----------
    array : array_like
        The values.
    pad_width : int, tuple or dict
        How many, for all axes and sides, as (before, after), as a pair for each axis, or a dict of axes.
    mode : str or callable, optional
        "constant" (with constant_values=0), "edge", "reflect" or another of NumPy's, with its options; only constant
        mode with one number has a gradient.
    **kwargs : any
        The options of the mode.

    Returns
    -------
    array
        An array with elements added before and after along each axis.

    Raises
    ------
    ValueError
        For another mode or option, or a negative width.

    Examples
    --------
    >>> from forerun import np
    >>> np.pad([1, 2], 1).tolist(), np.pad([1, 2], (0, 2), "edge").tolist()
    ([0, 1, 2, 0], [1, 2, 2, 2])
    """
    x = asarray(array)
    pairs = _plain_pairs(pad_width, x.ndim) if mode == "constant" and kwargs.keys() <= {"constant_values"} else None
    value = kwargs.get("constant_values", 0)
    if pairs and isinstance(value, (int, float, complex)):
        return _pad(x, pairs, value)
    if isinstance(pad_width, dict):
        given = {axis_of("pad", axis, x.ndim): width for axis, width in pad_width.items()}
        pad_width = [numpy.broadcast_to(given.get(i, 0), (2,)) for i in range(x.ndim)]
    widths = counts_of("pad", "widths", pad_width, (x.ndim, 2))
    shape = tuple(int(n + a + b) for n, (a, b) in zip(x.shape, widths))
    if callable(mode):
        return host(lambda v: quiet(numpy.pad, v, widths, mode, **kwargs), [x], [(shape, x.dtype)], name="pad")[0]
    check_choice("pad", "mode", mode, tuple(_PAD_MODES))
    if other := set(kwargs) - set(_PAD_MODES[mode]):
        raise ValueError(f"pad: options must be those of mode {mode!r}, got {sorted(other)}")
    if x.ndim == 0:
        return copy(x)
    if mode == "constant" and isinstance(value, (int, float, complex)):
        return _pad(x, tuple((int(a), int(b)) for a, b in widths), value)
    if mode == "edge" and x.size and not (_core.recording() and x.node is not None):
        return _with_edges(x, widths, shape)
    return host(lambda v: quiet(numpy.pad, v, widths, mode, **kwargs), [x], [(shape, x.dtype)], name="pad")[0]


def _plain_pairs(widths: object, ndim: int) -> tuple[tuple[int, int], ...] | None:
    """Return how many come before and after along each axis, where Python's numbers tell, and for other widths None.

    >>> _plain_pairs(2, 2), _plain_pairs((1, 0), 2), _plain_pairs(((1, 0), (0, 2)), 2), _plain_pairs(-1, 1)
    (((2, 2), (2, 2)), ((1, 0), (1, 0)), ((1, 0), (0, 2)), None)
    """
    if type(widths) is int:
        widths = (widths, widths)
    if not isinstance(widths, (tuple, list)):
        return None
    pairs = widths if widths and isinstance(widths[0], (tuple, list)) else [widths] * ndim

    def plain(pair: object) -> bool:
        return isinstance(pair, (tuple, list)) and len(pair) == 2 and all(type(n) is int and n >= 0 for n in pair)

    return tuple((a, b) for a, b in pairs) if len(pairs) == ndim and all(map(plain, pairs)) else None


def _with_edges(x: Array, widths: numpy.ndarray, shape: tuple[int, ...]) -> Array:
    """Return x between copies of its outermost slices along each axis, those along the last axis first."""
    out = _core.empty(shape, x.dtype, x.device)
    inside = [slice(a, a + n) for n, (a, _) in zip(x.shape, widths.tolist())]
    _core.assign(_core.getitem(out, tuple(inside)), x)
    for i in reversed(range(x.ndim)):
        n, (before, after) = x.shape[i], widths[i].tolist()
        for width, start, edge in ((before, 0, 0), (after, before + n, n - 1)):
            if not width:
                continue
            if i == x.ndim - 1:
                source = _core.getitem(x, (..., slice(edge, edge + 1)))
            else:
                at = slice(before + edge, before + edge + 1)
                source = _core.getitem(out, (*inside[:i], at, *inside[i + 1 :]))
            target = _core.getitem(out, (*inside[:i], slice(start, start + width), *inside[i + 1 :]))
            _core.assign(target, broadcast_to(source, target.shape))
        inside[i] = slice(None)
    return out


def _unpad(g: Array, widths: tuple[tuple[int, int], ...]) -> Array:
    return g[tuple(slice(a, g.shape[i] - b) for i, (a, b) in enumerate(widths))]


@primitive(lambda g, widths: _unpad(g, widths), op="pad")
def _pad(x: Array, widths: tuple[tuple[int, int], ...], value: ArrayLike) -> Array:
    shape = tuple(n + a + b for n, (a, b) in zip(x.shape, widths))
    if x.ndim == 1 and x.size:
        ends = [_core.full((n,), value, x.dtype, x.device) for n in widths[0]]
        return _core.concatenate([part for part in (ends[0], x, ends[1]) if part.size], 0)
    out = _core.full(shape, value, x.dtype, x.device)
    _core.assign(_core.getitem(out, tuple(slice(a, a + n) for n, (a, _) in zip(x.shape, widths))), x)
    return out
