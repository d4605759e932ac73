"""Arrays with elements added before and after along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
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

Pairs = tuple[tuple[int, int], ...]  # for each axis, how many elements are added before and after

_PAD_MODES: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",), "edge": (), "empty": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",), "wrap": (),
}  # fmt: skip
_MANY = 1 << 18  # elements, from which on writing some of them twice takes longer than more operations


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
    value = kwargs.get("constant_values", 0)
    constant = mode == "constant" and isinstance(value, (int, float, complex)) and kwargs.keys() <= {"constant_values"}
    pairs = _plain_pairs(pad_width, x.ndim)
    if pairs and constant:
        return _pad(x, pairs, value)
    if pairs is None:
        if isinstance(pad_width, dict):
            given = {axis_of("pad", axis, x.ndim): width for axis, width in pad_width.items()}
            pad_width = [numpy.broadcast_to(given.get(i, 0), (2,)) for i in range(x.ndim)]
        pairs = tuple((int(a), int(b)) for a, b in counts_of("pad", "widths", pad_width, (x.ndim, 2)))
    if callable(mode):
        return _of_numpy(x, pairs, mode, kwargs)
    check_choice("pad", "mode", mode, tuple(_PAD_MODES))
    if other := set(kwargs) - set(_PAD_MODES[mode]):
        raise ValueError(f"pad: options must be those of mode {mode!r}, got {sorted(other)}")
    if x.ndim == 0:
        return copy(x)
    if constant:
        return _pad(x, pairs, value)
    if kwargs:
        return _of_numpy(x, pairs, mode, kwargs)
    copied = _with_copies(x, pairs, mode) if x.size and not (_core.recording() and x.node is not None) else None
    return _computed(x, pairs, mode) if copied is None else copied


def _of_numpy(x: Array, pairs: Pairs, mode: Any, options: Mapping[str, Any]) -> Array:
    results = [(_padded_shape(x, pairs), x.dtype)]
    return host(lambda v: quiet(numpy.pad, v, pairs, mode, **options), [x], results, name="pad")[0]


@numpy_when_small(numpy.pad, "array pad_width mode", "acs", "biufc")
def _computed(array: Array, pad_width: Pairs, mode: str) -> Array:
    return _of_numpy(array, pad_width, mode, {})


def _plain_pairs(widths: object, ndim: int) -> Pairs | None:
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


def _padded_shape(x: Array, widths: Pairs) -> tuple[int, ...]:
    return tuple(n + a + b for n, (a, b) in zip(x.shape, widths))


def _placed(x: Array, widths: Pairs, fill: Any = None) -> tuple[Array, list[slice]]:
    """Return x inside an array that is filled, or has no values yet, and its place along each axis."""
    shape = _padded_shape(x, widths)
    out = _core.empty(shape, x.dtype, x.device) if fill is None else _core.full(shape, fill, x.dtype, x.device)
    inside = [slice(a, a + n) for n, (a, _) in zip(x.shape, widths)]
    _core.assign(_core.getitem(out, tuple(inside)), x)
    return out, inside


def _backwards(first: int, n: int) -> slice:
    """Return the slice of n places from `first` on, backwards."""
    return slice(first, first - n if first >= n else None, -1)


# By mode, the most elements that are added to n, and the places of those before and after, whose numbers are given: in
# an axis whose n elements begin at place k.
_COPIES: dict[str, tuple[Callable[[int], float], Callable[..., tuple[slice, slice]]]] = {
    "edge": (lambda n: math.inf, lambda k, n, a, b: (slice(k, k + 1), slice(k + n - 1, k + n))),
    "wrap": (lambda n: n, lambda k, n, a, b: (slice(k + n - a, k + n), slice(k, k + b))),
    "reflect": (lambda n: n - 1, lambda k, n, a, b: (_backwards(k + a, a), _backwards(k + n - 2, b))),
    "symmetric": (lambda n: n, lambda k, n, a, b: (_backwards(k + a - 1, a), _backwards(k + n - 1, b))),
}


def _with_copies(x: Array, widths: Pairs, mode: str) -> Array | None:
    """Return x between copies of its slices along each axis, those along the last axis first.

    None: the mode computes elements, or repeats the slices.
    """
    most, places = _COPIES.get(mode, (None, None))
    if most is None or places is None or any(max(pair) > most(n) for n, pair in zip(x.shape, widths)):
        return None
    out, inside = _placed(x, widths)
    for i in reversed(range(x.ndim)):
        n, (before, after) = x.shape[i], widths[i]
        last = i == x.ndim - 1  # whose copies need not wait for the first write
        sources = places(0 if last else before, n, before, after)
        for width, start, place in zip((before, after), (0, before + n), sources):
            if not width:
                continue
            source = _core.getitem(x if last else out, (..., place) if last else (*inside[:i], place, *inside[i + 1 :]))
            target = _core.getitem(out, (*inside[:i], slice(start, start + width), *inside[i + 1 :]))
            _core.assign(target, broadcast_to(source, target.shape))
        inside[i] = slice(None)
    return out


def _unpad(g: Array, widths: Pairs) -> Array:
    return g[tuple(slice(a, g.shape[i] - b) for i, (a, b) in enumerate(widths))]


@primitive(lambda g, widths: _unpad(g, widths), op="pad")
def _pad(x: Array, widths: Pairs, value: ArrayLike) -> Array:
    if x.ndim == 1 and x.size:
        ends = [_core.full((n,), value, x.dtype, x.device) for n in widths[0]]
        return _core.concatenate([part for part in (ends[0], x, ends[1]) if part.size], 0)
    if math.prod(_padded_shape(x, widths)) < _MANY:
        return _placed(x, widths, value)[0]
    out, inside = _placed(x, widths)
    filling = _core.full((), value, x.dtype, x.device)
    for i, (n, (before, after)) in enumerate(zip(x.shape, widths)):
        for width, start in ((before, 0), (after, before + n)):
            if width:
                border = _core.getitem(out, (*inside[:i], slice(start, start + width)))
                _core.assign(border, broadcast_to(filling, border.shape))
    return out
