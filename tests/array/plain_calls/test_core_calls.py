"""Plain calls that the core handles itself have the results of the Python functions behind them.

Compared are bits, dtype, shape, device, views and errors. Calls come from tables; each is made either way.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, npx, profiler
from forerun.testing import closed_gate
from tests.support.comparison.bits import bits_of
from tests.support.comparison.call_tables import CALLS, OF_NUMBERS, VIEWS, WRITES
from tests.support.comparison.core_calls import DTYPES, LAYOUTS, NUMBERS, format_differences, record_of_call, vector
from tests.support.engine.settings import ENGINES, running

Call = tuple[tuple[Any, ...], dict[str, Any]]


def call(*args: Any, **options: Any) -> Call:
    return args, options


AXES = [0, 1, -1, 2, -3, 5, None, True, 1.0, "0", (0,), (0, 1), (), (0, 0), numpy.int64(0), [0]]
REDUCTIONS = [
    call(),
    *(call(a) for a in AXES),
    *(call(axis=a) for a in AXES),
    call(keepdims=True),
    call(keepdims=1),
    call(0, keepdims=True),
    call(axis=-1, keepdims=False),
    call(None, None, None, True),
    call(axis=0, dtype="float64"),
    call(0, "int8"),
    call(out=None),
    call(nonsense=1),
    call(0, axis=0),
    call(initial=2),
    call(where=True),
]
ORDERS = [
    call(),
    *(call(a) for a in AXES),
    *(call(axis=a) for a in (0, -1, None, 7)),
    call(0, None),
    call(kind="stable"),
    call(keepdims=True),
    call(0, axis=0),
    call(nonsense=1),
    call(axis=0, keepdims=False),
]
EXTENTS: list[Any] = [
    0,
    3,
    -1,
    (),
    (0,),
    (2, 3),
    (3, 2, 2),
    (12,),
    (-1,),
    (-1, 2),
    (3, -1),
    (-1, -1),
    (-2, 3),
    [2, 3],
    2.0,
    True,
    "3",
    None,
    (2, 3.0),
    (2**31, 0),
    2**70,
    (numpy.int64(2), 3),
    numpy.int32(4),
    (1,) * 9,
    (1,) * 65,
    (0, -1),
    (2**40, 2**40),
]
MADE_IN: list[Any] = [
    None,
    "float32",
    "int8",
    "bool",
    "bfloat16",
    "complex64",
    float,
    int,
    bool,
    complex,
    numpy.float32,
    "f4",
    ">f8",
    "nonsense",
    "U3",
    object,
    numpy.dtype("int16"),
    numpy.dtype(">i4"),
    numpy.dtype("U3"),
    5,
]

# Calls without the array: of functions and methods that take one.
OF_ARRAYS: dict[str, list[Call]] = {
    **dict.fromkeys(("sum", "prod", "max", "min", "all", "any", "mean", "amax", "amin"), REDUCTIONS),
    **dict.fromkeys(("argmax", "argmin", "sort", "argsort"), ORDERS),
    "reshape": [
        *(call(e) for e in EXTENTS),
        call(2, 3),
        call(-1, 2),
        call(3, -1, 2),
        call(),
        call(6, 1.0),
        call((6,), order="F"),
        call(shape=(6,)),
    ],
    "transpose": [
        call(),
        call(None),
        call((1, 0)),
        call(1, 0),
        call(0),
        call((0, 0)),
        call(axes=(1, 0)),
        call([-1, 0]),
    ],
    "ravel": [call(), call("C"), call("F"), call(order="K"), call("Q")],
    "copy": [call(), call("C"), call(order="F"), call(order="Q"), call(1)],
    "astype": [
        *(call(t) for t in MADE_IN),
        *(call(t) for t in DTYPES),
        call(dtype="int8"),
        call(),
        call("int8", copy=False),
        call("int8", casting="safe"),
    ],
    "zeros_like": [call(), call("int8"), call(dtype=None), call(shape=(2,)), call(order="F")],
    "ones_like": [call(), call("int8"), call(dtype=None), call(shape=(2,)), call(order="F")],
}
MAKING: dict[str, list[Call]] = {
    **{
        name: [
            *(call(e) for e in EXTENTS),
            *(call(3, t) for t in MADE_IN),
            call(shape=(2, 3)),
            call((2,), dtype="int8"),
            call(),
            call(2, "int8", "F"),
            call(nonsense=1),
            call(3, shape=3),
        ]
        for name in ("zeros", "ones")
    },
    "full": [
        *(call(e, 7) for e in EXTENTS),
        *(call(2, v) for v in NUMBERS),
        *(call(2, v, t) for v in NUMBERS for t in DTYPES),
        *(call((2,), 3, t) for t in MADE_IN),
        call(2),
        call(shape=2, fill_value=5),
        call(2, fill_value=1.5, dtype="float64"),
        call(2, np.ones(2)),
    ],
    "linspace": [
        *(call(a, b, n) for a in (0, 2.5, -1.0, 1e300) for b in (7, 0.1, -1.0, -0.0) for n in (1, 2, 3, 50)),
        call(0.0, 1.0),
        call(0.0, 1.0, num=7),
        call(0, 1, 5, False),
        call(0, 1, 5, endpoint=False),
        call(0, 1, 5, dtype="float64"),
        call(0, 1, 5, retstep=True),
        call(0, 2**70, 5),
        call(float("nan"), 1.0),
        call(float("inf"), 1.0, 3),
        call(0.0, 5e-324, 3),
        call(0, 1, -1),
        call([0, 1], 1, 3),
    ],
    "arange": [
        *(call(*v) for n in (1, 2, 3) for v in itertools.product((0, 5, -3, 1.5, None), repeat=n)),
        call(2**33),
        call(0, 2**70),
        call(3, dtype="float32"),
        call(stop=3),
        call(5, step=2),
        call(start=1, stop=4),
        call(True),
        call("3"),
        call(),
        call(1, 5, 0),
        call(numpy.int64(4)),
        call(0, 3000),
        call(-(2**31) - 1, -(2**31) + 2),
    ],
}
MAKING["empty"] = MAKING["zeros"]


def core_functions(name: str) -> Iterator[tuple[str, Any]]:
    """The public ones with this name that the core calls for."""
    for space, holder in (("np", np), ("ndarray", np.ndarray)):
        f = vars(holder).get(name)
        if isinstance(f, _core.Function):
            yield space, f


def differences(name: str, calls: list[Call], arrays: Callable[[], list[tuple[str, np.ndarray]]]) -> list[str]:
    """The calls of which the two ways give different outcomes."""
    found = []
    for space, f in core_functions(name):
        for args, options in calls:
            for label, x in arrays():
                got = record_of_call(f, (x, *args), options)
                want = record_of_call(f.__wrapped__, (x, *args), options)
                if got != want:
                    found.append(f"{space}.{name}({label}, {args}, {options}): got {got} instead of {want}")
    return found


def arrays_of_layouts(dtype: str) -> Callable[[], list[tuple[str, np.ndarray]]]:
    made = [(f"{label} of {dtype}", make(dtype)) for label, make in LAYOUTS.items()]
    return lambda: made


def test_every_entry_has_a_table() -> None:
    """And every function that the core calls for is in one of them, or in a test of its own below."""
    found = {n: f for holder in (np.ndarray, np) for n, f in vars(holder).items() if isinstance(f, _core.Function)}
    named = set(found)
    own = {"concatenate", "stack", "dot", "matmul"}
    calls = CALLS + OF_NUMBERS + VIEWS + WRITES
    elsewhere = {call.partition("(")[0] for call in calls}
    aliases = {n for n, f in found.items() if f.__name__ != n}
    here = set(OF_ARRAYS) | set(MAKING) | own
    assert here <= named
    methods = {"fill", "flatten"}  # of which there are no functions
    assert named - aliases - here - methods <= elsewhere  # where they are compared with Python functions


@pytest.mark.parametrize("name", OF_ARRAYS)
def test_calls_of_one_array(name: str) -> None:
    found = differences(name, OF_ARRAYS[name], arrays_of_layouts("float32"))
    plain = OF_ARRAYS[name][:3] + [call(dtype="float16"), call(-1)]
    for dtype in DTYPES:
        found += differences(name, plain, arrays_of_layouts(dtype))
    assert not found, format_differences(found)


@pytest.mark.parametrize("name", MAKING)
def test_calls_that_make_arrays(name: str) -> None:
    found = []
    for space, f in core_functions(name):
        for args, options in MAKING[name]:
            got, want = record_of_call(f, args, options), record_of_call(f.__wrapped__, args, options)
            if name == "empty":
                got, want = got[:60], want[:60]
            if got != want:
                found.append(f"{space}.{name}({args}, {options}): got {got} instead of {want}")
    assert not found, format_differences(found)


# --- arrays together -------------------------------------------------------------------------------------


def pairs() -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    made = [
        (label, make(dtype)) for label, make in LAYOUTS.items() for dtype in ("float32", "int64") if label[:4] != "long"
    ]
    for (one, a), (other, b) in itertools.product(made, made):
        yield f"{one} of {a.dtype}, {other} of {b.dtype}", (a, b)


@pytest.mark.parametrize("name", ["concatenate", "stack"])
def test_arrays_put_together(name: str) -> None:
    f = vars(np)[name]
    found = []
    calls = [
        call(),
        *(call(a) for a in (0, 1, -1, -2, 2, 5, True)),
        *(call(axis=a) for a in (0, -1, None, 9)),
        call(dtype="float64"),
        call(0, None),
    ]
    for label, both in pairs():
        for args, options in calls if both[0].dtype == both[1].dtype else calls[:2]:
            got, want = (record_of_call(g, (list(both), *args), options) for g in (f, f.__wrapped__))
            if got != want:
                found.append(f"{label}, {args}, {options}: got {got} instead of {want}")
    x = vector(3, "float32")
    lists: list[Any] = [
        (),
        [],
        (x,),
        (x, x, x),
        x,
        [x, 1.0],
        [x, [1, 2, 3]],
        [x, numpy.ones(3)],
        {0: x},
        [x, x.astype("bfloat16")],
        None,
    ]
    calls = [call(a) for a in lists] + [
        call(arrays=[x, x]),
        call([x], axis=0, out=None),
        call([x, x], 0, axis=0),
    ]
    calls += [call([vector(4, t), vector(2, t)]) for t in DTYPES] + [
        call([vector(4, t), vector(4, u)]) for t, u in itertools.pairwise(DTYPES)
    ]
    for args, options in calls:
        got, want = (record_of_call(g, args, options) for g in (f, f.__wrapped__))
        if got != want:
            found.append(f"{args}, {options}: got {got} instead of {want}")
    assert not found, format_differences(found)


def test_products() -> None:
    found = []
    calls = [(label, both) for label, both in pairs()]
    calls += [
        (t, (LAYOUTS[one](t), LAYOUTS[other](t)))
        for t in DTYPES
        for one, other in (
            ("vector", "every other"),
            ("matrix", "turned"),
            ("vector", "0-d"),
            ("columns", "turned"),
        )
    ]
    calls += [(f"{t} and {u}", (vector(4, t), vector(4, u))) for t, u in itertools.pairwise(DTYPES)]
    x = vector(3, "float32")
    calls += [
        ("a list", (x, [1, 2, 3])),
        ("a number", (x, 2)),
        ("NumPy's", (x, numpy.ones(3))),
        ("none", (x, None)),
    ]
    for label, both in calls:
        for f in (np.dot, np.ndarray.dot, np.matmul):
            got, want = (record_of_call(g, both, {}) for g in (f, f.__wrapped__))
            if got != want:
                found.append(f"{f.__qualname__}, {label}: got {got} instead of {want}")
        if all(isinstance(one, np.ndarray) for one in both):
            got, want = record_of_call(operator.matmul, both, {}), record_of_call(np.matmul.__wrapped__, both, {})
            if got != want:
                found.append(f"@, {label}: got {got} instead of {want}")
    assert not found, format_differences(found)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex128"])
def test_products_with_vectors_have_the_bits_of_operations(dtype: str) -> None:
    """For all strides and lengths; behind a closed gate nothing runs in the call."""
    random = numpy.random.default_rng(3)
    for rows, columns in ((1, 1), (1, 7), (7, 1), (2, 3), (30, 30), (65, 120), (700, 3), (3, 700), (5, 0)):
        a = np.array((random.normal(size=(2 * rows + 1, 2 * columns + 1)) * 9).astype(dtype))
        x, y = (np.array((random.normal(size=2 * n + 1) * 9).astype(dtype)) for n in (rows, columns))
        turned = a.T.copy().T[:rows, :columns]
        matrices = [a[:rows, :columns], a[1::2, 1::2], a[1 : rows + 1, :columns][::-1], turned]
        rights = [y[:columns], y[1::2], y[:columns][::-1], np.broadcast_to(y[:1], (columns,)), a[0, :columns]]
        lefts = [x[:rows], x[1::2], x[:rows][::-1], a[:rows, 0]]
        products = [*itertools.product(matrices, rights), *itertools.product(lefts, matrices)]
        products += [*itertools.product(lefts, lefts), *itertools.product(rights, rights)]
        forerun.waitall()
        now = [bits_of(one @ other) for one, other in products]
        with closed_gate():
            later = [one @ other for one, other in products]
        assert now == [bits_of(found) for found in later], (rows, columns)


# --- further conditions----------------------------------------------------------------------------------------------


def plain_calls() -> list[str]:
    """Differences in the plainest calls of everything, made where this is called."""
    found = [
        line for name in OF_ARRAYS for line in differences(name, OF_ARRAYS[name][:3], arrays_of_layouts("float32"))
    ]
    for name in ("zeros", "ones", "full", "arange"):
        for (space, f), (args, options) in itertools.product(core_functions(name), MAKING[name][:24]):
            got, want = record_of_call(f, args, options), record_of_call(f.__wrapped__, args, options)
            if got != want:
                found.append(f"{space}.{name}({args}, {options}): got {got} instead of {want}")
    return found


@pytest.mark.parametrize("mode", ENGINES)
def test_in_every_mode(mode: str) -> None:
    with running(mode):
        found = plain_calls()
    assert not found, format_differences(found)


def test_with_other_settings(two_devices: list[forerun.Device], queued: None) -> None:
    found = []
    with two_devices[1]:
        found += plain_calls()
    for dtype in (False, True):
        npx.set_np(dtype=dtype)
        try:
            found += plain_calls()
        finally:
            npx.reset_np()
    with profiler.record():
        found += plain_calls()
    assert not found, format_differences(found)


def test_on_the_tape() -> None:
    def made() -> list[tuple[str, np.ndarray]]:
        arrays = [(label, make("float32")) for label, make in LAYOUTS.items() if label not in ("repeated", "long")]
        for _, x in arrays:
            x.attach_grad()
        return arrays

    arrays = made()
    with autograd.record():
        found = [line for name in OF_ARRAYS for line in differences(name, OF_ARRAYS[name][:3], lambda: arrays)]
    assert not found, format_differences(found)
