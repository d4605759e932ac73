"""Every operation on a GPU: the values that the CPU gives, and where it ran.

The table of cases has arguments for each function. docs/reference/gpu.md lists functions that run on the host.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import pytest

from forerun import _core, np, npx
from forerun._pjrt import accuracy
from forerun.ops._base.primitive import Elementwise
from tests.ops.cases import CASES
from tests.ops.cases.compare import by_name
from tests.ops.cases.reduction import COMPARED
from tests.ops.cases.table import Case, mapped, results
from tests.support.comparison.bits import same_bits
from tests.support.device_plugins.devices import WHOLE, gpus
from tests.support.paths import ROOT

# Roundings by which results of several steps may differ, at least: sums are made in other orders.
STEPS = 16
EPS = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
# Of random numbers the CPU's bits are given, but for float ones, which functions of a device make.
WIDE = {"float16": "float32", "bfloat16": "float32", "float32": "float64", "float64": "longdouble"}


@pytest.fixture(autouse=True)
def gpu() -> Any:
    """The device on which everything is computed, and on which new arrays are made."""
    device = gpus(1)[0]
    with device:
        yield device


def documented_functions(heading: str) -> dict[str, set[str]]:
    """Return the functions that a table in the documentation names, by the text in front of them."""
    text = (ROOT / "docs/reference/gpu.md").read_text()
    section = text.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = re.findall(r"^\| ([^|`]+) \| (.*`.*) \|$", section, re.MULTILINE)
    return {kind.strip(): set(re.findall(r"`([^`]+)`", names)) for kind, names in rows}


ON_HOST = documented_functions("Operations on a GPU")
COMPLEX_ON_HOST = ON_HOST.pop("of complex numbers")
SOMETIMES_ON_HOST = ON_HOST.pop("for some arguments")
ALL_ON_HOST = set().union(*ON_HOST.values())


def fallbacks() -> set[str]:
    """The operations that have run on the host since this was asked last."""
    names = {name for name, *_ in _core.fallback_counts()}
    _core.forget_fallbacks()
    return names


def arguments_on(device: Any, value: Any) -> Any:
    """The arguments with arrays of a device in place of NumPy's."""
    place = lambda a: a if isinstance(a, _core.Array) else _core.from_numpy(a.copy(), device.index)
    return mapped(place, value)


def numpy_values(value: Any) -> numpy.ndarray:
    """The values as NumPy's array."""
    return value.numpy() if isinstance(value, _core.Array) else numpy.asarray(value)


def size_of(dtype: numpy.dtype) -> str:
    """The dtype of the parts of a number."""
    return {"complex64": "float32", "complex128": "float64"}.get(dtype.name, dtype.name)


def assert_near(got: Any, want: Any, roundings: float, what: str) -> None:
    """The same dtype and shape, and values within so many roundings of the largest one."""
    got, want = numpy_values(got), numpy_values(want)
    assert got.dtype == want.dtype, what
    assert got.shape == want.shape, what
    if got.dtype.name not in EPS and got.dtype.kind != "c":
        assert same_bits(got, want), f"{what}: got {got!r}, want {want!r}"
        return
    near = roundings * EPS[size_of(got.dtype)]
    got, want = (v.astype("complex128" if v.dtype.kind == "c" else "float64") for v in (got, want))
    largest = float(numpy.abs(want[numpy.isfinite(want)]).max(initial=0))
    numpy.testing.assert_allclose(got, want, near, near * max(largest, 1.0), err_msg=what)


# --- the table of cases


def dtypes_of(case: Case) -> list[numpy.dtype]:
    """One or two dtypes for a case: a float, and another one in turn, so that all of them come to all kinds."""
    every = case.dtype_list()
    first = numpy.dtype("float32")
    number = CASES.index(case)
    chosen = [first] if first in every else []
    others = [d for d in every if d != first]
    return chosen + ([others[number % len(others)]] if others else [])


def samples_of(case: Case, whole: bool = WHOLE) -> Iterator[tuple[str, Any]]:
    """The first sample with a float and another one, in turn; with the other dtype one of them, in turn.

    whole: every sample of both, as in `make gpu-tests`.
    """
    number = CASES.index(case)
    for turn, dtype in enumerate(dtypes_of(case)):
        samples = list(enumerate(case.arguments(dtype)))
        first, others = (samples[:1], samples[1:]) if turn == 0 else ([], samples)
        some = samples if whole else [*first, *others[number % max(len(others), 1) :][:1]]
        yield from ((f"{case.name}, sample {i}, {dtype}", args) for i, args in some)


@by_name(CASES)
def test_values_and_place(case: Case, gpu: Any) -> None:
    ran = compare_with_cpu(case, gpu, WHOLE or case.name in ALL_ON_HOST)
    if case.name not in COMPLEX_ON_HOST | SOMETIMES_ON_HOST:
        assert bool(ran) == (case.name in ALL_ON_HOST), f"{case.name}: ran on the host: {sorted(ran)}"


def compare_with_cpu(case: Case, gpu: Any, whole: bool = WHOLE) -> set[str]:
    """Compares the values of a case with the CPU's; returns the operations that ran on the host. whole: all samples."""
    compared = COMPARED.get(case.name, lambda function: function)
    ran: set[str] = set()
    for what, args in samples_of(case, whole):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            want = seeded_results(case, compared, arguments_on(npx.cpu(0), args), npx.cpu(0))
            fallbacks()
            got = seeded_results(case, lambda function: function, arguments_on(gpu, args), gpu)
            ran |= fallbacks()
            if case.name in COMPARED:
                got = seeded_results(case, compared, arguments_on(gpu, args), gpu)
        assert len(got) == len(want)
        for g, w in zip(got, want):
            if not isinstance(g, _core.Array):
                assert type(g) is type(w), what
                assert g == w, what
                continue
            assert g.device == gpu, what
            assert_near(g, w, max(case.tolerance, STEPS), what)
    return ran


@pytest.mark.parametrize("name", sorted(SOMETIMES_ON_HOST))
def test_some_arguments_take_a_function_to_the_host(name: str, gpu: Any) -> None:
    assert {bool(compare_with_cpu(case, gpu, whole=True)) for case in CASES if case.name == name} == {True, False}


def seeded_results(case: Case, compared: Any, args: Any, device: Any) -> list[Any]:
    """The results with the random numbers of one seed."""
    np.random.seed(5)
    with device:
        return case(compared(case.op), args)


def test_documented_functions_are_in_the_table() -> None:
    assert {case.name for case in CASES} >= (ALL_ON_HOST | COMPLEX_ON_HOST | SOMETIMES_ON_HOST)


# --- element-wise operations: the ulps that are stated

UFUNCS = [c for c in CASES if isinstance(c.op, Elementwise) and c.op.nin <= 2 and "f" in c.dtypes]


def test_documented_units_in_the_last_place() -> None:
    of_names = {name: int(units) for units, names in documented_functions("Accuracy").items() for name in names}
    assert of_names == accuracy.ULPS


def ulps_off(got: numpy.ndarray, exact: numpy.ndarray, others: Sequence[numpy.ndarray] = ()) -> float:
    """The largest distance from the exact values, in units in the last place of the result's dtype.

    others: of which the unit is, where they are larger than the result.
    """
    eps = EPS[got.dtype.name]
    tiny = (
        2.0**-126 if got.dtype.name in ("float32", "bfloat16") else 2.0**-14 if got.dtype.itemsize == 2 else 2.0**-1022
    )
    got, exact = got.astype("longdouble"), exact.astype("longdouble")
    fine = numpy.isfinite(got) & numpy.isfinite(exact)
    assert (numpy.isnan(got) == numpy.isnan(exact)).all()
    largest = functools.reduce(numpy.maximum, map(numpy.abs, (exact, *others)))[fine]
    unit = numpy.exp2(numpy.floor(numpy.log2(numpy.maximum(largest, tiny)))) * eps
    return float((numpy.abs(got[fine] - exact[fine]) / unit).max(initial=0))


# tests/pjrt/emit/test_emit_elementwise.py measures the functions in all dtypes.
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"] if WHOLE else ["bfloat16", "float32"])
@by_name(UFUNCS)
def test_ulps_of_an_elementwise_operation(case: Case, dtype: str, gpu: Any) -> None:
    rng = numpy.random.default_rng(7)
    low, high = max(case.low, -8.0), min(case.high, 8.0)
    args = [np.array(rng.uniform(low, high, (5, 67)), device=npx.cpu(0)).astype(dtype) for _ in range(case.op.nin)]
    if case.name == "np.ldexp":
        args[1] = args[1].astype("int32")
    try:
        want = results(case.op(*args))
    except TypeError:
        pytest.skip(f"{case.name} takes no {dtype}")
    fallbacks()
    got = results(case.op(*(x.copyto(gpu) for x in args)))
    assert not fallbacks()
    name = case.op.name
    for g, w in zip(got, want):
        bound = accuracy.bound(name, dtype)
        if bound <= 0.5 or g.dtype.name not in EPS:
            assert same_bits(g.numpy(), w.numpy()), f"{case.name} of {dtype}"
            continue
        exact = case.op.ufunc if isinstance(case.op.ufunc, numpy.ufunc) else None
        wide = [x.astype("float64").numpy().astype("longdouble") for x in args]
        reference = exact(*wide) if exact else None
        if reference is None:
            assert_near(g, w, 2 * bound, f"{case.name} of {dtype}")
        else:
            others = wide if name in accuracy.OF_THE_LARGEST else ()
            assert ulps_off(g.numpy(), numpy.asarray(reference), others) <= bound + 0.5, f"{case.name} of {dtype}"


# --- views, dtypes, sizes

DTYPES = ["bool", "int8", "uint16", "uint64", "bfloat16", "float32", "complex64"]
DTYPES += ["int32", "float16", "float64", "complex128"] if WHOLE else []
EVERY_VIEW = {"float32", "complex64", "uint16"} if WHOLE else {"float32"}
VIEWS = {
    "plain": lambda x: x,
    "turned": lambda x: x[::-1, ::-2],
    "transposed": lambda x: x.T,
    "part": lambda x: x[1:5, 2:7:3],
    "repeated": lambda x: np.broadcast_to(x[2], (3, 8)),
    "row": lambda x: x[3],
    "element": lambda x: x[3, 1:2].reshape(()),
    "none": lambda x: x[3:3],
}
FUNCTIONS: dict[str, Any] = {
    "add": lambda x: x + x,
    "equal": lambda x: x == x,
    "absolute": lambda x: abs(x),
    "exp": lambda x: np.exp(x.astype("float32") if x.dtype.kind in "biu" else x),
    "where": lambda x: np.where(x != 0, x, 1),
    "copy": lambda x: x.copy(),
    "to int64": lambda x: x.real.astype("int64"),
    "to float16": lambda x: x.real.astype("float16"),
    "to complex": lambda x: x.astype("complex64"),
    "to bool": lambda x: x.astype("bool"),
    "sum": lambda x: x.sum(),
    "sum of an axis": lambda x: x.sum(-1) if x.ndim else x,
    "sum that keeps axes": lambda x: x.sum(0, keepdims=True) if x.ndim else x,
    "prod": lambda x: np.prod(x, 0) if x.ndim else x,
    "max": lambda x: x.max(-1) if x.ndim and x.size else x,
    "any": lambda x: np.any(x, -1) if x.ndim else x,
    "count_nonzero": lambda x: np.count_nonzero(x != 0),
    "cumsum": lambda x: np.cumsum(x, -1) if x.ndim else x,
    "argmax": lambda x: np.argmax(x, -1) if x.ndim and x.size else x,
    "argmin": lambda x: np.argmin(x) if x.size else x,
    "sort": lambda x: np.sort(x, 0) if x.ndim else x,
    "argsort": lambda x: np.argsort(x, -1) if x.ndim else x,
    "matmul": lambda x: np.matmul(x, x.T) if x.ndim == 2 else x,
    "concatenate": lambda x: np.concatenate([x, x[:1]], 0) if x.ndim else x,
    "stack": lambda x: np.stack([x, x], -1),
    "take": lambda x: np.take(x, np.array([0, -1, 0], device=x.device), -1) if x.ndim and x.size else x,
    "index": lambda x: (
        x[np.array([[0], [-1]], device=x.device), np.array([1, 0], device=x.device)] if x.ndim == 2 and x.size else x
    ),
    "take_along_axis": lambda x: np.take_along_axis(x, np.argsort(x, -1), -1) if x.ndim and x.size else x,
    "mask": lambda x: x[x != 0] if x.ndim else x,
}


def small_values(dtype: str) -> numpy.ndarray:
    """Some small numbers, a few of them 0."""
    rng = numpy.random.default_rng(3)
    values = rng.integers(0 if dtype[0] in "bu" else -4, 5, (6, 8)) * (1 if dtype[0] in "biu" else 0.75)
    if dtype[:7] == "complex":
        values = values + 0.5j * rng.integers(-2, 3, (6, 8))
    return values


def stored(dtype: str, device: Any) -> Any:
    """The same in an array of a dtype."""
    with npx.cpu(0):
        return np.array(small_values(dtype)).astype(dtype).as_in_ctx(device)


# Sums of bools would be compared as floats.
@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in FUNCTIONS for dtype in DTYPES if (name, dtype) != ("matmul", "bool")]
)
def test_dtypes_and_views(name: str, dtype: str, gpu: Any) -> None:
    function = FUNCTIONS[name]
    here, there = stored(dtype, npx.cpu(0)), stored(dtype, gpu)
    views = VIEWS if dtype in EVERY_VIEW else {"turned": VIEWS["turned"]}
    for form, view in views.items():
        with npx.cpu(0):
            want = function(view(here))
        fallbacks()
        got = function(view(there))
        assert not fallbacks(), form
        assert got.device == gpu
        assert_near(got, want, STEPS, f"{name} of {form}, {dtype}")


WRITES: dict[str, Any] = {
    "number": lambda x: x.__setitem__((slice(1, 5), slice(None, None, 3)), 3),
    "turned": lambda x: x[1:4].__setitem__((slice(None), slice(None, None, -1)), x[2:5]),
    "another dtype": lambda x: x.__setitem__((Ellipsis, 2), np.arange(6, device=x.device)),
    "overlapping": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "own mirror image": lambda x: x.__setitem__(Ellipsis, x[:, ::-1]),
    "mask": lambda x: x.__setitem__(x != 0, 1),
    "values under a mask": lambda x: x.__setitem__(
        np.array(numpy.arange(48).reshape(6, 8) % 5 == 0, device=x.device), np.arange(10, device=x.device)
    ),
    "rows under a mask": lambda x: x.__setitem__(
        np.array([True, False, True, False, False, True], device=x.device), x[:3] + x[:3]
    ),
    "indices": lambda x: x.__setitem__((np.array([0, -1, 0], device=x.device), slice(2, 5)), 2),
    "indices of all axes": lambda x: x.T.__setitem__(
        (np.array([1, -1], device=x.device), np.array([0, 2], device=x.device)), np.array([1, 0], device=x.device)
    ),
    "add at": lambda x: np.add.at(x, (np.array([0, 0, 5], device=x.device),), x[1:4]),
    "put": lambda x: np.put(x, np.array([1, -1, 7, 1], device=x.device), np.array([0, 1, 0], device=x.device)),
    "put_along_axis": lambda x: np.put_along_axis(x, np.argsort(x, 1)[:, :2], 1, 1),
    "where": lambda x: np.add(x, x, out=x, where=x != 0),
    "in place": lambda x: x[1:, ::2].__iadd__(x[:-1, 1::2]),
    "out": lambda x: np.add(x[0], x[1], out=x[1]),
    "fill": lambda x: x[::2].fill(1),
    "nothing": lambda x: x[3:3].__setitem__(Ellipsis, 1),
}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "bfloat16", "float32", "complex128"])
@pytest.mark.parametrize("name", WRITES)
def test_writes(name: str, dtype: str, gpu: Any) -> None:
    here, there = stored(dtype, npx.cpu(0)), stored(dtype, gpu)
    alias = there.T
    with npx.cpu(0):
        WRITES[name](here)
    fallbacks()
    WRITES[name](there)
    assert not fallbacks()
    assert_near(there, here, STEPS, name)
    assert_near(alias.T, here, STEPS, name)


def test_views_of_another_dtype(gpu: Any) -> None:
    for dtype in ("int32", "uint8", "float16", "complex64"):
        here, there = stored("float32", npx.cpu(0)), stored("float32", gpu)
        assert same_bits(there.view(dtype).numpy(), here.view(dtype).numpy())
        here.view(dtype)[1:3] = 7
        there.view(dtype)[1:3] = 7
        assert same_bits(there.numpy(), here.numpy())
    assert not fallbacks()


def test_integer_random_numbers_are_the_cpus(gpu: Any) -> None:
    for low, high, dtype in ((0, 100, "int64"), (-5, 2**40, "int64"), (0, 2, "bool"), (-128, 128, "int8")):
        found = []
        for device in (npx.cpu(0), gpu):
            np.random.seed(11)
            found.append(np.random.randint(low, high, size=(3, 400), dtype=dtype, device=device).numpy())
        assert same_bits(*found)
    assert not fallbacks()


# --- errors


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: np.take(x, np.array([0, 9]), 0), IndexError, "take: index must be in [-6, 6), got one that is not"),
        (lambda x: x[np.array([1, -7])], IndexError, "index must be in [-6, 6), got one that is not"),
        (lambda x: x[np.array([1]), np.array([8])], IndexError, "must be in [-6, 6) and [-8, 8), got one that is not"),
        (
            lambda x: x.__setitem__(np.array([6]), 1),
            IndexError,
            "index must be in [-6, 6), got one that is not",
        ),
        (
            lambda x: x.__setitem__(x > 100, np.arange(2.0)),
            ValueError,
            "there must be a value for each element under the mask, got 2 for others",
        ),
        (
            lambda x: np.array([2, 3]) ** np.array([1, -1]),
            ValueError,
            "power: integers must not be raised to negative integer powers",
        ),
        (
            lambda x: np.random.normal(0.0, -np.exp(x)),
            ValueError,
            "scale must not be negative, got a value that breaks this rule",
        ),
    ],
)
def test_values_that_an_operation_does_not_take(call: Any, error: Any, text: str, gpu: Any) -> None:
    x = stored("float32", gpu)

    def read() -> None:
        found = call(x)
        (x if found is None else found).numpy()

    with pytest.raises(error, match=re.escape(text)) as caught:
        read()
    assert "test_table.py" in "".join(getattr(caught.value, "__notes__", [])) + str(caught.value)
    assert not fallbacks()


def test_invalid_values_do_not_affect_valid_ones(gpu: Any) -> None:
    x = stored("float32", gpu)
    bad = np.take(x, np.array([9]), 0)
    assert np.take(x, np.array([5]), 0).shape == (1, 8)
    with pytest.raises(IndexError):
        bad.numpy()
    assert same_bits(x.numpy(), stored("float32", npx.cpu(0)).numpy())
