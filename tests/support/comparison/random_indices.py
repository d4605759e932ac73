"""Random arrays, indices and values, for comparisons of indexing with NumPy's; and the comparison."""

from __future__ import annotations

import os
from typing import Any

import numpy
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import forerun
from forerun import _core
from tests.ops.cases.table import EVERY_DTYPE, mapped
from tests.support.comparison.bits import same_bits

# A few examples, always the same ones; many new ones with EXAMPLES=100000 in the environment.
EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
examples = settings(
    max_examples=EXAMPLES or 120,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    phases=(Phase.generate,) if os.environ.get("NOSHRINK") else tuple(Phase),
    suppress_health_check=list(HealthCheck),
)

INTEGERS = [d for d in EVERY_DTYPE if d.kind in "iu"]


@st.composite
def shapes(draw: Any, most: int = 4, extent: int = 4) -> tuple[int, ...]:
    """Shapes with few axes and small extents, also none."""
    return tuple(draw(st.lists(st.integers(0, extent), max_size=most)))


@st.composite
def arrays(draw: Any, shape: tuple[int, ...], dtypes: Any = tuple(EVERY_DTYPE)) -> numpy.ndarray:
    """Different numbers, if the dtype has as many, in a random layout: transposed, strided, reversed."""
    dtype = numpy.dtype(draw(st.sampled_from(dtypes)))
    order = draw(st.permutations(range(len(shape)))) if draw(st.booleans()) else list(range(len(shape)))
    steps = [draw(st.sampled_from([1, 1, 1, -1, 2])) for _ in shape]
    wide = [shape[i] * abs(steps[i]) for i in order]
    size = int(numpy.prod(wide, dtype=int))
    values = numpy.arange(size) % 120
    whole = (values % 2 == 0 if dtype.kind == "b" else values).astype(dtype).reshape(wide)
    x = whole.transpose([order.index(i) for i in range(len(shape))])
    return x[(..., *[slice(None, None, s) for s in steps])]


@st.composite
def positions(draw: Any, extent: int, shape: tuple[int, ...] | None = None, wrong: float = 0.03) -> numpy.ndarray:
    """Integers of any dtype, of which a few are out of range."""
    if shape is None:
        shape = draw(st.sampled_from([(), (1,), (2,), (3,), (2,), (3,), (1, 3), (2, 1), (0,), (2, 3), (0, 2)]))
    dtype = draw(st.sampled_from([numpy.dtype("int64"), *INTEGERS]))
    size = int(numpy.prod(shape, dtype=int))
    outside = draw(st.floats(0, 1)) < wrong
    low, high = (-extent - 1, extent + 1) if outside or extent == 0 else (-extent, extent - 1)
    values = draw(st.lists(st.integers(low, high), min_size=size, max_size=size))
    found = numpy.array(values, "int64").reshape(shape)
    wraps = dtype == "uint64" and shape  # negative ones come back as they were; a single number does not fit
    return (found if wraps or dtype.kind == "i" else abs(found)).astype(dtype)


@st.composite
def masks(draw: Any, shape: tuple[int, ...]) -> numpy.ndarray:
    size = int(numpy.prod(shape, dtype=int))
    return numpy.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool).reshape(shape)


def slices(extent: int) -> Any:
    ends = st.none() | st.integers(-extent - 2, extent + 2)
    return st.builds(slice, ends, ends, st.sampled_from([None, None, 1, 2, -1, -2, 3, 7, -(2**40), 2**62]))


@st.composite
def indices(draw: Any, shape: tuple[int, ...], advanced: float = 0.4) -> Any:
    """An index for an array of a shape: any mixture of entries, of which a few do not fit."""
    if draw(st.floats(0, 1)) < 0.15 and shape:  # a mask of all
        return draw(masks(shape))
    entries: list[Any] = []
    axis, dots = 0, False
    end = len(shape) + (draw(st.floats(0, 1)) < 0.02)
    while axis < end and draw(st.floats(0, 1)) < 0.85:
        extent = shape[axis] if axis < len(shape) else 1
        kind = draw(st.floats(0, 1))
        if draw(st.floats(0, 1)) < advanced:
            if kind < 0.65:
                entries.append(draw(positions(extent)))
                axis += 1
            elif kind < 0.9:
                n = draw(st.integers(1, max(1, len(shape) - axis)))
                part = list(shape[axis : axis + n])
                if part and draw(st.floats(0, 1)) < 0.05:
                    part[draw(st.integers(0, len(part) - 1))] = draw(st.integers(0, 4))
                entries.append(draw(masks(tuple(part))))
                axis += len(part)
            else:
                entries.append(draw(st.sampled_from([True, False, numpy.bool_(True), numpy.array(False)])))
        elif kind < 0.3:
            wrong = extent == 0 or draw(st.floats(0, 1)) < 0.03
            i = draw(st.integers(-extent - 1, extent + 1) if wrong else st.integers(-extent, extent - 1))
            entries.append(draw(st.sampled_from([int, int, numpy.int64, numpy.int16]))(i))
            axis += 1
        elif kind < 0.7:
            entries.append(draw(slices(extent)))
            axis += 1
        elif kind < 0.85:
            entries.append(None)
        elif not dots or draw(st.floats(0, 1)) < 0.05:
            entries.append(...)
            dots = True
            axis = max(axis, len(shape) - draw(st.integers(0, 2)))
    if len(entries) == 1 and draw(st.booleans()):
        return entries[0]
    return tuple(entries)


@st.composite
def equivalent_indices(draw: Any, index: Any) -> Any:
    """Return the index with each array of it as a list, NumPy's, or forerun's."""

    def converted(a: numpy.ndarray) -> Any:
        how = draw(st.sampled_from(["forerun", "forerun", "numpy", "list"]))
        if how == "list" and a.ndim and a.size and a.dtype != "uint64":
            return a.tolist()
        return a if how == "numpy" else _core.from_numpy(a, forerun.current_device().index)

    return mapped(converted, index)


@st.composite
def assigned_values(draw: Any, shape: tuple[int, ...], wrong: float = 0.05) -> Any:
    """Draw values to assign to elements of a shape: numbers, lists, arrays of any dtype, of which a few do not fit."""
    if wrong == 0:
        return 1
    if draw(st.floats(0, 1)) < 0.3:
        return draw(st.sampled_from([True, 3, -1, 2.75, 300, 1 + 2j, numpy.float32(1.5), numpy.int64(-300),
                                     numpy.uint8(7), float("nan"), 2**40, numpy.complex64(1j), "3", None]))  # fmt: skip
    extents = [n if draw(st.floats(0, 1)) < 0.8 else 1 for n in shape]
    if draw(st.floats(0, 1)) < 0.3:
        extents = extents[draw(st.integers(0, len(extents))) :]
    if draw(st.floats(0, 1)) < 0.1 and 0 not in extents:  # of an empty array NumPy drops any leading axes
        extents = [1, *extents]
    if draw(st.floats(0, 1)) < wrong and 0 not in extents:
        extents = [*extents, draw(st.integers(1, 3))]
    found = draw(arrays(tuple(extents)))
    return found.tolist() if draw(st.floats(0, 1)) < 0.15 else found


def assert_same_outcome(result: Any, expected: Any) -> None:
    """Check that two outcomes are the same values, or exceptions of one type, with forerun's form of messages."""
    if isinstance(expected, Exception) or isinstance(result, Exception):
        assert type(result) is type(expected), f"{result!r} {expected!r}"
        assert " must " in str(result), str(result)
        assert ", got " in str(result), str(result)
        return
    assert len(result) == len(expected)
    for a, b in zip(result, expected):
        assert same_bits(a, b), f"{a.dtype} {a.shape} {a!r}\n{b.dtype} {b.shape} {b!r}"
