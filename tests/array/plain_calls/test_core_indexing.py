"""Elements that the core reads and writes itself are those that the Python functions behind x[index] read and write."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import _core, np
from forerun.ops.index import getitem as indexing
from forerun.ops.index import setitem as assigning
from tests.support.comparison.core_calls import DTYPES, LAYOUTS, NUMBERS, format_differences, record_of_call, vector

INDICES: list[Any] = [
    0,
    -1,
    2,
    99,
    (),
    ...,
    None,
    slice(1, None),
    slice(None, None, -1),
    slice(0, 0),
    (0, 1),
    (..., 0),
    (slice(None), 1),
    (None, 0),
    True,
    1.0,
    "a",
    numpy.int64(1),
    [0, 1],
    [],
    (0, [1, 0]),
    [True, False],
    numpy.array([0, 2]),
    (slice(0, 2), None),
    (0, 0, 0),
]


def forerun_indices() -> dict[str, Any]:
    """Indices that are forerun arrays."""
    at = lambda values, dtype="int64": _core.from_numpy(numpy.array(values, dtype), forerun.Device("cpu"))
    made = {f"positions of {t}": at([0, 2, 1], t) for t in ("int8", "uint8", "int32", "uint64", "int64")}
    made |= {
        "0-d position": at(1),
        "0-d mask": at(True, "bool"),
        "from the end": at([-1, -2, -3]),
        "out of range": at([0, 70000]),
        "none": at([], "int64"),
    }
    made |= {
        "matrix": at([[0, 1], [1, 0]]),
        "floats": at([0.0], "float32"),
        "every other": _core.getitem(at([0, 9, 1, 9, 2, 9]), slice(None, None, 2)),
    }
    made |= {
        "pair": (at([0, 1]), at([1, 0])),
        "pair that broadcasts": (at([[0], [1]]), at([1, 0])),
        "three": (at([0]), at([1]), at([2])),
        "with a slice": (slice(1, 3), at([0, 1])),
        "between slices": (slice(None), at([1, 0]), slice(None, None, -1)),
        "beside an integer": (at([1, 0]), 1),
        "after an integer": (0, at([[1], [0]])),
        "apart": (at([0, 1]), slice(None), at([1, 0])),
        "beside an integer out of range": (at([0]), 9),
        "a slice, then a list": (slice(0, 2), [1, 0, 1]),
    }
    made |= {f"mask of {n}": at([i % 3 == 1 for i in range(n)], "bool") for n in (3, 6, 70)}
    made |= {
        "scalar": at([2, 1], "int32")[1],
        "scalar of uint64": at([2**63 + 1], "uint64")[0],
        "scalars": (at([2, 1])[1], at([2, 1])[1]),
        "scalar out of range": at([70000])[0],
        "scalar of bool": at([True], "bool")[0],
        "mask of columns": (slice(None), at([True, False, True, False], "bool")),
        "mask, then an integer": (at([True, False, True], "bool"), 1),
        "mask of inner axes": (slice(None), at(numpy.arange(12).reshape(3, 4) % 2 == 1, "bool")),
        "mask of leading axes": at(numpy.arange(6).reshape(2, 3) % 2 == 1, "bool"),
        "mask in a tuple": (at(numpy.arange(12).reshape(3, 4) % 3 == 1, "bool"),),
        "mask and positions": (at([True, True, False], "bool"), at([0, 1])),
        "matrix mask": at(numpy.arange(12).reshape(3, 4) % 3 == 1, "bool"),
        "of no element": at([False] * 6, "bool"),
        "a tuple of one": (at([1, 0]),),
    }
    made |= {
        "list of scalars": [at([2])[0], 1, numpy.int64(0)],
        "list of scalars of uint8": [at([2], "uint8")[0]],
        "list of scalars of float32": [at([1], "float32")[0]],
        "list of scalars out of range": [at([7])[0], numpy.int64(-8)],
        "list of arrays": [at([1])],
        "list of bools": [True, False, True],
        "list of bools and integers": [True, 2, 0],
        "list of bools after a slice": (slice(None), [True, False, True, True]),
        "ellipsis, positions": (..., at([1, 0])),
        "positions, ellipsis": (at([1, 0]), ...),
        "positions, ellipsis, positions": (at([1, 0]), ..., at([0, 1])),
        "integer, ellipsis, positions": (0, ..., at([1, 0])),
        "ellipsis, mask": (..., at([True, False, True, False], "bool")),
        "ellipsis of no axis": (at([0, 1]), at([1, 0]), ...),
        "two ellipses": (..., at([0]), ...),
    }
    return made


def with_python_ints(x: np.ndarray, index: Any, to_write: bool = False) -> Any:
    """The index with Python's integers in place of scalars, where it selects a part of the array and no element.

    A write by an index out of range is left to an operation."""
    entries = index if isinstance(index, tuple) else (index,)
    scalars = [isinstance(e, np.ndarray) and _core.is_scalar(e) and e.dtype.kind in "iu" for e in entries]
    if not any(scalars) or len(entries) == x.ndim:
        return index
    found = tuple(int(e) if scalar else e for e, scalar in zip(entries, scalars))
    inside = len(found) <= x.ndim and all(-n <= i < n for i, n in zip(found, x.shape))
    return index if to_write and not inside else found if isinstance(index, tuple) else found[0]


def test_elements_read() -> None:
    found = []
    indices = [(repr(i), i) for i in INDICES] + list(forerun_indices().items())
    for dtype in DTYPES:
        arrays = [(label, make(dtype)) for label, make in LAYOUTS.items()]
        for (label, x), (index_label, index) in itertools.product(
            arrays, indices if dtype in ("float32", "int8", "complex128") else indices[-37:]
        ):
            got, want = (
                record_of_call(lambda a, i: a[i], (x, index), {}),
                record_of_call(lambda a, i: indexing.getitem(a, with_python_ints(a, i)), (x, index), {}),
            )
            if got != want:
                found.append(f"{label} of {dtype} at {index_label}: got {got} instead of {want}")
    assert not found, format_differences(found)


def memory_after_write(write: Callable[..., Any], x: np.ndarray, index: Any, value: Any) -> tuple[str, Any]:
    """Return the error of a write, or all of the memory after it."""
    found = record_of_call(write, (x, index, value), {})
    try:
        left = x.numpy().tobytes()
    except Exception as error:
        left = repr(error)
    return found, left


def set_item(x: np.ndarray, index: Any, value: Any) -> None:
    x[index] = value


def test_elements_written() -> None:
    found = []
    indices = [(repr(i), i) for i in INDICES] + list(forerun_indices().items())
    values = [(repr(v), v) for v in NUMBERS]
    values += [
        (f"{label} of {t}", LAYOUTS[label](t))
        for label in ("vector", "matrix", "0-d", "no elements", "every other")
        for t in ("float32", "int64", "complex64", "bfloat16")
    ]
    values += [
        ("NumPy's", numpy.array([1.0, 2.0])),
        ("one row", _core.reshape(vector(4, "float32"), (1, 1, 4))),
    ]
    few = [
        pair for pair in indices if pair[0] in ("0", "(..., 0)", "slice(1, None)", "positions of int64", "mask of 6")
    ]
    for dtype in DTYPES:
        all_ = itertools.product(LAYOUTS.items(), indices, values[7:9] + values[20:])
        if dtype != "float32":
            all_ = itertools.product(list(LAYOUTS.items())[:4], few, values[:28])
        for (label, make), (index_label, index), (what, value) in all_:
            if label in ("longer", "long"):
                continue
            got = memory_after_write(set_item, make(dtype), index, value)
            want = memory_after_write(
                lambda a, i, v: assigning.setitem(a, with_python_ints(a, i, True), v), make(dtype), index, value
            )
            if got != want:
                found.append(f"{label} of {dtype} at {index_label} = {what}: got {got} instead of {want}")
    assert not found, format_differences(found)
