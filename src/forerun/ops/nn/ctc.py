"""Connectionist temporal classification: the likelihood of a sequence of labels, over all alignments in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy

from .._base.convert import as_real_float, asarray, asarrays, cast
from ..create.fill import full
from ..create.ranges import arange
from ..elementwise.exponential import logaddexp
from ..elementwise.select import where
from ..index.getitem import _gather_along, take_along_axis
from ..reduce.reduction import min as smallest
from ..shape.broadcast import broadcast_to
from ..shape.join import concatenate, stack
from ..shape.reshape import reshape
from ..shape.split import unstack
from .softmax import log_softmax

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["ctc_loss"]

_NEVER = -1e30  # the logarithm of no chance: finite, so that differences of two are not NaN


def ctc_loss(
    data: ArrayLike, label: ArrayLike, data_lengths: ArrayLike | None = None, label_lengths: ArrayLike | None = None,
    use_data_lengths: bool = False, use_label_lengths: bool = False, blank_label: str = "first",
) -> Array:  # fmt: skip
    """Return -log of the probability of each sequence of labels, over all alignments with the steps.

    This is connectionist temporal classification (Graves et al. 2006). Labels that need more steps than the data has
    are impossible: their loss is inf, and its gradient is 0.

    Parameters
    ----------
    data : array_like
        The values before the softmax, of shape (steps, batch, classes).
    label : array_like
        The labels, of shape (batch, labels): classes without the blank one.
    data_lengths : array_like, optional
        The number of steps of each sequence, of shape (batch,). It counts with `use_data_lengths`; otherwise all steps
        count.
    label_lengths : array_like, optional
        The number of labels of each sequence, of shape (batch,). It counts with `use_label_lengths`; otherwise the
        labels before the first 0 (blank first) or -1 (blank last) count.
    use_data_lengths : bool, optional
        True uses `data_lengths`.
    use_label_lengths : bool, optional
        True uses `label_lengths`.
    blank_label : str, optional
        The blank class: "first" for class 0, or "last" for the last one.

    Returns
    -------
    array
        The losses, of shape (batch,); float32 of integers and 16-bit floats.

    Raises
    ------
    ValueError
        If shapes do not fit, or `blank_label` is another word.
    IndexError
        Where the result is read, for labels that are not classes or are the blank one, and for lengths that are
        negative or too large.
    TypeError
        If `data` is complex.

    Examples
    --------
    >>> from forerun import np, npx
    >>> npx.ctc_loss(np.zeros((2, 1, 2)), [[1]]).round(3)  # of four equal ways, (1, 1), (0, 1) and (1, 0) say 1
    array([0.288])
    """
    data, labels, data_lengths, label_lengths = asarrays(data, label, data_lengths, label_lengths)
    x = as_real_float("ctc_loss", data)
    _check(x, labels, blank_label)
    first = blank_label == "first"
    n = _lengths(labels, label_lengths if use_label_lengths else None, 0 if first else -1)
    states = _states(cast(labels, numpy.dtype("int64")), n, x.shape[2], first)
    x = cast(x, numpy.promote_types(x.dtype, "float32"))
    wide = broadcast_to(states, (x.shape[0], *states.shape))
    chances = _gather_along(log_softmax(x, -1), wide, 2, "ctc_loss, class of a label")
    ends = None
    if use_data_lengths and data_lengths is not None:
        ends = _checked("data_lengths", data_lengths, x.shape[1], x.shape[0])
    last = _spread(chances, states, ends)
    at_end = take_along_axis(last, 2 * n, 1)
    before = take_along_axis(last, where(n > 0, 2 * n - 1, 0), 1)
    chance = reshape(logaddexp(at_end, where(n > 0, before, _NEVER)), (x.shape[1],))
    return where(chance < 0.1 * _NEVER, float("inf"), -chance)


def _check(x: Array, labels: Array, blank_label: str) -> None:
    if blank_label not in ("first", "last"):
        raise ValueError(f'ctc_loss: blank_label must be "first" or "last", got {blank_label!r}')
    if x.ndim != 3 or labels.ndim != 2 or labels.shape[0] != x.shape[1]:
        wanted = "(steps, batch, classes) and (batch, labels)"
        raise ValueError(f"ctc_loss: data and label must be {wanted}, got {x.shape} and {labels.shape}")


def _checked(name: str, given: Array, batch: int, most: int) -> Array:
    """The lengths, (batch, 1), which must be from 0 to `most`: where the loss is read there is an IndexError if not."""
    n = cast(asarray(given), numpy.dtype("int64"))
    if n.shape != (batch,):
        raise ValueError(f"ctc_loss: {name} must have shape {(batch,)}, got {n.shape}")
    allowed = arange(most + 1, dtype="int64", device=n.device)
    return reshape(_gather_along(allowed, where(n < 0, most + 1, n), 0, f"ctc_loss, {name}"), (batch, 1))


def _lengths(labels: Array, given: Array | None, padding: int) -> Array:
    """Return how many labels there are in each row, (batch, 1)."""
    batch, most = labels.shape
    if given is not None:
        return _checked("label_lengths", given, batch, most)
    if most == 0:
        return full((batch, 1), 0, dtype="int64", device=labels.device)
    positions = arange(most, dtype="int64", device=labels.device)
    return smallest(where(labels == padding, positions, most), axis=1, keepdims=True)


def _states(labels: Array, n: Array, classes: int, first: bool) -> Array:
    """Return a blank, the first label, a blank, and so on, with blanks for padding: (batch, 2 labels + 1).

    Labels that are not a class, or are the blank, become a label that is out of range.
    """
    batch, most = labels.shape
    blank = 0 if first else classes - 1
    is_wrong = (labels < 0) | (labels == blank)
    inside = arange(most, dtype="int64", device=labels.device) < n
    labels = where(inside, where(is_wrong, classes, labels), blank)
    blanks = full((batch, 1), blank, dtype="int64", device=labels.device)
    pairs = stack([broadcast_to(blanks, labels.shape), labels], axis=2)
    return concatenate([reshape(pairs, (batch, 2 * most)), blanks], axis=1)


def _spread(chances: Array, states: Array, ends: Array | None) -> Array:
    """The logarithm of the chance to be in each state after all steps, having begun in the first; (batch, states)."""
    batch, count = states.shape

    def never(k: int) -> Array:
        return full((batch, k), _NEVER, dtype=chances.dtype, device=chances.device)

    # From one label to the next without the blank between, unless they are the same.
    skips = where(states[:, 2:] != states[:, :-2], 0.0, _NEVER).astype(chances.dtype)
    skips = concatenate([never(min(2, count)), skips], axis=1)
    now = concatenate([0 * never(1), never(count - 1)], axis=1)
    for t, chance in enumerate(unstack(chances)):
        wide = concatenate([never(2), now], axis=1)
        came = logaddexp(logaddexp(now, wide[:, 1:-1]), wide[:, :-2] + skips) + chance
        now = came if ends is None else where(ends > t, came, now)
    return now
