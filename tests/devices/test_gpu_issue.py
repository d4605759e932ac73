"""Operations that are issued again take the code of the one before, with other values (core/device/brief_spec.h)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np, npx
from tests.support.device_plugins.devices import gpus

DATA = numpy.arange(24.0).reshape(4, 6) % 7


def written_copy(x: Any, key: Any, value: Any) -> Any:
    x = x.copy()
    x[key] = value
    return x


CALLS: dict[str, Callable[[Any, Any, Any, float], Any]] = {
    "a product": lambda x, y, i, c: x @ y.T,
    "a product with a vector": lambda x, y, i, c: x @ y[0],
    "a product of stacks": lambda x, y, i, c: np.stack([x, y]) @ np.stack([y.T, x.T]),
    "a copy": lambda x, y, i, c: x.copy() + y.T.copy().T,
    "a cast": lambda x, y, i, c: (x * c).astype("int32"),
    "a number, filled in": lambda x, y, i, c: np.full_like(x, c),
    "a number in a part": lambda x, y, i, c: written_copy(x, slice(1, 3), c),
    "zeros": lambda x, y, i, c: np.zeros_like(x) + c,
    "a concatenation": lambda x, y, i, c: np.concatenate((x, y, x), axis=1),
    "rows": lambda x, y, i, c: x[i],
    "columns": lambda x, y, i, c: np.take(y, i, axis=1),
    "elements": lambda x, y, i, c: x[i, i],
    "along an axis": lambda x, y, i, c: np.take_along_axis(x[1:], i[:, None], axis=1),
    "written rows": lambda x, y, i, c: written_copy(x, i, y[0] * c),
    "added": lambda x, y, i, c: npx.index_add(x, i[None], y[:3]),
    "under a mask": lambda x, y, i, c: written_copy(x, x > c, -1.0),
    "where": lambda x, y, i, c: np.where(x > c, x, y),
    "the largest": lambda x, y, i, c: np.stack([x.argmax(axis=1), y.argmin(axis=1)]),
    "the largest of columns": lambda x, y, i, c: x.argmax(axis=0),
    "sums so far": lambda x, y, i, c: np.cumsum(x * c, axis=1),
    "sums": lambda x, y, i, c: x.sum(axis=0) + y.sum() + x.mean(),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_repeated_operation(name: str) -> None:
    call, one = CALLS[name], gpus()[0]
    for k in range(3):  # the later ones are issued by the short way
        found = []
        for device in (one, npx.cpu()):
            with device:
                x, y = np.array(DATA + k), np.array(DATA[::-1] * (k + 1))
                found.append(call(x, y, np.array([2, k, 1]), 1.5 + k).asnumpy())
        numpy.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_errors_of_a_repeated_operation() -> None:
    """The text of an error is that of its own operation."""
    with gpus()[0]:
        x, wide = np.ones((4, 3)), np.ones((4, 5))
        for _ in range(3):
            for array, axis, n in ((x, 0, 4), (x, 1, 3), (wide, 1, 5)):
                assert np.take(array, np.array([n - 1]), axis=axis).sum() > 0
                with pytest.raises(IndexError, match=rf"take: index must be in \[-?\d+, {n}\), got one that is not"):
                    np.take(array, np.array([n]), axis=axis, mode="raise").wait()
