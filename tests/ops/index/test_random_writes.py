"""Random writes of some elements: functions, and assignments under masks and of lists, write the same as NumPy's.

Layouts, dtypes, kinds of positions and of values are drawn; so both sides of each choice that the core makes are met.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import np
from tests.support.comparison.outcomes import outcome

DTYPES = ["float64", "float32", "int64", "int8", "bool", "complex128", "float16", "uint64"]
SHAPES = [(1,), (5,), (12,), (3, 4), (2, 2, 3)]
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "turned": lambda x: x.T,
    "every other": lambda x: x[::2],
    "a column": lambda x: x[:, 0] if x.ndim == 2 else x,
    "backwards": lambda x: x[::-1],
}
NUMBERS = [1, 2, 0.5, -7, True, float("nan"), 2**63, 10**60]
Write = Callable[[Any, Any], None]


def whole_numbers(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> numpy.ndarray:
    values = numpy.array([rng.randint(-5, 9) for _ in range(int(numpy.prod(shape)))]).reshape(shape)
    return values % 2 == 0 if dtype == "bool" else values.astype(dtype)


def values_to_write(rng: random.Random, dtype: str) -> Callable[[Any], Any]:
    """Values to write: a number, a list of some, or an array of this dtype or another one."""
    kind = rng.choice(["int", "float", "list", "vector", "matrix"])
    if kind in ("int", "float"):
        return lambda xp: 3 if kind == "int" else 2.5
    if kind == "list":
        listed = [rng.choice([1, 2.5, -3, True]) for _ in range(rng.randint(1, 4))]
        return lambda xp: listed
    array = whole_numbers(
        rng, rng.choice([dtype, rng.choice(DTYPES)]), (rng.randint(1, 7),) if kind == "vector" else (2, 3)
    )
    return lambda xp: xp.array(array)


def random_positions(rng: random.Random, n: int) -> Callable[[Any], Any]:
    drawn = [rng.randint(-n, n - 1) for _ in range(rng.randint(1, 5))]
    if rng.random() < 0.1:
        drawn[0] = n + 2  # out of range
    return rng.choice(
        [
            lambda xp: drawn,
            lambda xp: drawn[0],
            lambda xp: xp.array(drawn),
            lambda xp: numpy.array(drawn),
            lambda xp: xp.array([drawn, drawn]),
        ]
    )


def random_write(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> Write:
    """A random write into an array of a shape."""
    kind = rng.choice(["put", "place", "putmask", "mask", "list"])
    n = int(numpy.prod(shape))
    mask = numpy.array([rng.random() < 0.5 for _ in range(n)]).reshape(shape)
    given = values_to_write(rng, dtype)
    if kind == "put":
        at = random_positions(rng, n)
        return lambda xp, b: xp.put(b, at(xp), given(xp))
    if kind == "mask":
        return lambda xp, b: b.__setitem__(xp.array(mask), given(xp))
    if kind == "list":
        listed = [rng.choice(NUMBERS) for _ in range(rng.randint(1, 4))]
        index = rng.choice([0, slice(0, 2), slice(None), ..., [0]])
        return lambda xp, b: b.__setitem__(index, listed)
    return lambda xp, b: getattr(xp, kind)(b, xp.array(mask), given(xp))


def after(write: Write, xp: Any, array: Any) -> Any:
    """The values after the write as text, or the type of its error."""
    return outcome(write, xp, array, read=lambda _: repr(array.tolist()), error=type)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
def test_random_writes_are_numpys(layout: str, seed: int) -> None:
    rng = random.Random(seed)
    seen = LAYOUTS[layout]
    for step in range(60):
        dtype = rng.choice(DTYPES)
        start = whole_numbers(rng, dtype, rng.choice(SHAPES))
        work = random_write(rng, dtype, seen(start).shape)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want, found = (after(work, xp, seen(xp.array(start))) for xp in (numpy, np))
        assert found == want, f"step {step}: {dtype}{start.shape}"
