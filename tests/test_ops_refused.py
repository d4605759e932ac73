"""What is refused at the call: the message names the function, what must hold, and what it got."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np

X = numpy.ones((2, 3), "float32")
V = numpy.ones(3, "float32")

# What is called with an array of shape (2, 3) and one of shape (3,); the error; the whole message.
REFUSED: list[tuple[Callable[[Any, Any], Any], type[Exception], str]] = [
    # statistics
    (lambda x, v: np.nanmax(np.ones((0, 3)), 0), ValueError,
     "nanmax: reduced axes must not be empty, got shape (0, 3)"),
    (lambda x, v: np.nanmean(x, 2), IndexError, "nanmean: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.cov(np.ones((2, 2, 2))), ValueError,
     "cov: observations must be a vector or a matrix, got shape (2, 2, 2)"),
    (lambda x, v: np.cov(x, np.ones((1, 2, 2))), ValueError,
     "cov: observations must be a vector or a matrix, got shape (1, 2, 2)"),
    (lambda x, v: np.cov(x, aweights=np.ones(2)), ValueError,
     "cov: weights must be one for each of 3 observations, got 2"),
    (lambda x, v: np.cov(x, fweights=x), ValueError, "cov: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.digitize(v, x), ValueError, "digitize: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.histogram(v, "auto"), ValueError,
     "histogram: bins must be their number or their edges, got 'auto'"),
    (lambda x, v: np.histogram(v, 0), ValueError, "histogram: there must be at least one bin, got 0"),
    (lambda x, v: np.histogram(v, 1.5), TypeError, "histogram: bins must be an integer, got 1.5"),
    (lambda x, v: np.histogram(v, 3, (2, 1)), ValueError, "histogram: range must not fall, got (2, 1)"),
    (lambda x, v: np.histogram(v, weights=x), ValueError, "histogram: weights must have shape (3,), got (2, 3)"),
    # samples of functions
    (lambda x, v: np.convolve(x, v), ValueError, "convolve: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.convolve(v, v[:0]), ValueError,
     "convolve: vectors must not be empty, got shapes (3,) and (0,)"),
    (lambda x, v: np.correlate(v, v, "q"), ValueError, "correlate: mode must be one of full, same, valid, got 'q'"),
    (lambda x, v: np.interp(x, v, v[:2]), ValueError,
     "interp: xp and fp must be of one length, not 0, got 3 and 2"),
    (lambda x, v: np.interp(x, v, v, period=0), ValueError, "interp: period must not be zero, got 0"),
    (lambda x, v: np.trapezoid(x, v[:2]), ValueError, "trapezoid: x must have shape (2, 3) or (3,), got (2,)"),
    (lambda x, v: np.gradient(x, 1, 2, 3), ValueError,
     "gradient: spacing must be given once or for each of 2 axes, got 3"),
    (lambda x, v: np.gradient(v, v[:2]), ValueError,
     "gradient: positions must be one for each of 3 samples, got 2"),
    (lambda x, v: np.gradient(v, edge_order=3), ValueError, "gradient: edge_order must be 1 or 2, got 3"),
    (lambda x, v: np.gradient(x, edge_order=2), ValueError,
     "gradient: axes must have more than 2 samples, got shape (2, 3)"),
    (lambda x, v: np.cross(v[:2], v), ValueError,
     "cross: vectors must have three elements, got shapes (2,) and (3,)"),
    (lambda x, v: np.cross(np.ones((4, 3)), x), ValueError,
     "cross: shapes must broadcast together, got (4, 3) and (2, 3)"),
    (lambda x, v: np.matvec(v, v), ValueError,
     "matvec: operands must be matrices and vectors that fit, got (3,) and (3,)"),
    (lambda x, v: np.vecmat(v, x), ValueError,
     "vecmat: operands must be vectors and matrices that fit, got (3,) and (2, 3)"),
    # editing and positions
    (lambda x, v: np.delete(v, 3), IndexError, "delete: index must be in [-3, 2], got 3"),
    (lambda x, v: np.delete(v, 1.5), IndexError,
     "delete: positions must be integers, a slice or a mask, got 1.5"),
    (lambda x, v: np.delete(v, [True]), ValueError, "delete: mask must have shape (3,), got (1,)"),
    (lambda x, v: np.insert(v, [0, -4], 1), IndexError, "insert: index must be in [-3, 3], got -4"),
    (lambda x, v: np.insert(x, 0, v, 2), IndexError, "insert: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.insert(x, [0, 1], np.ones((3, 3)), 0), ValueError,
     "broadcast_to: shape must broadcast to (2, 3), got (3, 3)"),
    (lambda x, v: np.append(x, v, 0), ValueError,
     "concatenate: arrays must agree in dtype and all axes but one, got (2, 3) and (3,)"),
    (lambda x, v: np.resize(x, -1), ValueError, "resize: extents must not be negative, got -1"),
    (lambda x, v: np.select([], []), ValueError,
     "select: there must be a choice for each condition, got 0 for 0"),
    (lambda x, v: np.select([v > 0], [v, v]), ValueError,
     "select: there must be a choice for each condition, got 2 for 1"),
    (lambda x, v: np.select([v], [v]), TypeError, "select: conditions must be of bools, got float32"),
    (lambda x, v: np.dsplit(x, 2), IndexError, "split: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.block([[v], v]), ValueError,
     "block: lists must not be empty and all of one depth, got [0, 1]"),
    (lambda x, v: np.block([]), ValueError, "block: lists must not be empty and all of one depth, got []"),
    (lambda x, v: np.copyto(np.zeros(3, "int32"), v), TypeError,
     "copyto: casting must be possible by rule 'same_kind', got float32 to int32"),
    (lambda x, v: np.copyto(np.zeros(3, "int32"), 1.5), TypeError,
     "copyto: casting must be possible by rule 'same_kind', got float to int32"),
    (lambda x, v: np.copyto(v, x), ValueError, "assign: shape must broadcast to (3,), got (2, 3)"),
    (lambda x, v: np.put(v, [0], []), ValueError, "put: there must be at least one value, got none"),
    (lambda x, v: np.put(v, [0], 1, "q"), ValueError, "put: mode must be one of raise, clip, wrap, got 'q'"),
    (lambda x, v: np.fill_diagonal(v, 1), ValueError,
     "fill_diagonal: array must be a matrix or have equal axes, got shape (3,)"),
    (lambda x, v: np.tril_indices(-1), ValueError, "tril_indices: n must not be negative, got -1"),
    (lambda x, v: np.triu_indices_from(v), ValueError,
     "triu_indices_from: array must be a matrix, got shape (3,)"),
    (lambda x, v: np.diag_indices_from(x), ValueError,
     "diag_indices_from: array must have two or more equal axes, got shape (2, 3)"),
    (lambda x, v: np.ix_(x), ValueError, "ix_: array must have one axis, got shape (2, 3)"),
    (lambda x, v: np.unravel_index(v, (2, 3)), TypeError,
     "unravel_index: positions must be integers, got float32"),
    (lambda x, v: np.ravel_multi_index([1, 2], (2, 3, 4)), ValueError,
     "ravel_multi_index: there must be 3 arrays of positions, got 2"),
    # Fourier transforms
    (lambda x, v: np.fft.fft(v, 0), ValueError, "fft: number of samples must be positive, got (0,)"),
    (lambda x, v: np.fft.fft(x, axis=2), IndexError, "fft: axis must be in [-2, 2), got 2"),
    (lambda x, v: np.fft.fft(v, norm="q"), ValueError,
     "fft: norm must be one of backward, ortho, forward, got 'q'"),
    (lambda x, v: np.fft.fftn(x, (2,), (0, 1)), ValueError,
     "fftn: s must have an extent for each of 2 axes, got (2,)"),
    (lambda x, v: np.fft.rfft(v * 1j), TypeError, "rfft: array must be real, got complex64"),
    (lambda x, v: np.fft.irfft(v[:1]), ValueError, "irfft: number of samples must be positive, got 0"),
    (lambda x, v: np.fft.rfftn(x, (), ()), ValueError, "rfftn: there must be at least one axis, got shape (2, 3)"),
    (lambda x, v: np.fft.fftfreq(0), ValueError,
     "fftfreq: number of samples must be a positive integer, got 0"),
    # sorting and scans
    (lambda x, v: np.partition(v, 3), ValueError, "partition: kth must be in [-3, 3), got 3"),
    (lambda x, v: np.argpartition(v, 1.5), TypeError, "argpartition: kth must be an integer, got 1.5"),
    (lambda x, v: np.argsort(v, 1), IndexError, "argsort: axis must be in [-1, 1), got 1"),
    (lambda x, v: np.lexsort([v, v[:2]]), ValueError,
     "lexsort: keys must be arrays of one shape, got [(3,), (2,)]"),
    (lambda x, v: np.lexsort(v), ValueError, "lexsort: keys must have at least one axis, got shape ()"),
    (lambda x, v: np.cumulative_sum(x), ValueError,
     "cumulative_sum: axis must be given but for vectors, got shape (2, 3)"),
    (lambda x, v: np.broadcast_shapes((2, 3), 4), ValueError,
     "broadcast_shapes: shapes must broadcast together, got (2, 3) and (4,)"),
    (lambda x, v: np.promote_types("S4", "int8"), TypeError,
     "promote_types: dtype must be bool, integer, float16/32/64, bfloat16 or complex64/128, got |S4"),
]  # fmt: skip


@pytest.mark.parametrize(("broken", "kind", "message"), REFUSED, ids=[m for *_, m in REFUSED])
def test_refused_at_the_call(broken: Callable[[Any, Any], Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as caught:
        broken(np.array(X), np.array(V))
    assert str(caught.value) == message
