"""Writes into a view from other views of the same array: as if these had been copied first."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy
import pytest

from forerun import np
from forerun.testing import closed_gate

N = 12
VIEWS: dict[str, Callable[[Any], Any]] = {
    "row": lambda x: x[4, 2:],
    "column": lambda x: x[2:, 4],
    "column backwards": lambda x: x[:1:-1, 4],
    "next in row": lambda x: x[4, 1:-1],
    "every second": lambda x: x.reshape(-1)[1 : 2 * N - 4 : 2][: N - 2],
    "diagonal": lambda x: x.reshape(-1)[:: N + 1][2:],
    "one, repeated": lambda x: x[4, 4:5],
    "box": lambda x: x[2:, 1:4],
    "box, transposed": lambda x: x[1:4, 2:].T,
    "box, turned": lambda x: x[:1:-1, 4:1:-1],
}
MASK = numpy.arange(N - 2) % 3 > 0
WRITES: dict[str, Callable[[Any, Any, Any], Any]] = {
    "assign": lambda xp, to, x: to.__setitem__(..., x),
    "in place": lambda xp, to, x: to.__isub__(x),
    "out": lambda xp, to, x: xp.multiply(x, 2.5, out=to),
    "two inputs": lambda xp, to, x: xp.add(x, x[::-1], out=to),
    "where": lambda xp, to, x: xp.add(x, to, out=to, where=xp.asarray(MASK.reshape(-1, *[1] * (to.ndim - 1)))),
    "positions": lambda xp, to, x: to.__setitem__(xp.asarray(numpy.arange(N - 3, -1, -1)), x),
    "mask": lambda xp, to, x: to.__setitem__(x > 40, 3),
    "place": lambda xp, to, x: xp.place(to, xp.asarray(numpy.arange(to.size).reshape(to.shape) % 3 > 0), x),
    "copyto": lambda xp, to, x: xp.copyto(to, x, where=xp.asarray(MASK.reshape(-1, *[1] * (to.ndim - 1)))),
}


REPEATS = ("assign", "in place", "copyto", "where")  # the source may have fewer elements


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("to", [name for name in VIEWS if name != "one, repeated"])
def test_the_values_are_those_before_the_write(to: str, write: str) -> None:
    for source, view in VIEWS.items():
        start = numpy.arange(N * N, dtype="float64").reshape(N, N)
        expected = start.copy()
        shape, needed = view(expected).shape, VIEWS[to](expected).shape
        if shape != needed and not (write in REPEATS and shape == (1,)):
            continue
        WRITES[write](numpy, VIEWS[to](expected), view(start))
        for later in (False, True):
            x = np.array(start)
            if later:
                with closed_gate():
                    x += 0
                    WRITES[write](np, VIEWS[to](x), view(x))
            else:
                WRITES[write](np, VIEWS[to](x), view(x))
            numpy.testing.assert_array_equal(x.asnumpy(), expected, err_msg=source)


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("to", VIEWS)
def test_a_mask_is_that_before_the_write(to: str, later: bool) -> None:
    start = numpy.random.default_rng(0).random((N, N)) < 0.5
    for source, view in VIEWS.items():
        expected, x = start.copy(), np.array(start)
        if view(expected).shape != VIEWS[to](expected).shape:
            continue
        mask = view(start)
        values = numpy.arange(int(mask.sum())) % 2 == 0
        VIEWS[to](expected)[mask] = values
        with closed_gate() if later else nullcontext():
            np.place(VIEWS[to](x), view(x), np.array(values)) if values.size else None
        numpy.testing.assert_array_equal(x.asnumpy(), expected, err_msg=source)
