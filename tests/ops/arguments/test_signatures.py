"""Parameters are NumPy's: their names, their order and their defaults; differences are listed with their reasons."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import pytest

from forerun import np
from forerun.ops._base.primitive import Elementwise
from tests.ops.cases import CASES
from tests.ops.cases.table import Options, call_with_sample, named, results, to_forerun
from tests.support.many_cases import for_each

LOOPS = "axes, casting and the like belong to NumPy's loops; protocols have forerun's parameters"
TEXT = "unnamed arguments are passed to NumPy unchanged"

# Functions whose parameters differ from NumPy's, and why.
DIFFERENT = {
    "arange": "`start` by its older name, which libraries use by keyword",
    "clip": "the standard's names for the bounds; a_min and a_max by keyword",
    "divmod": LOOPS, "frexp": LOOPS, "modf": LOOPS,
    "einsum": "dtype and similar arguments are not supported",
    "einsum_path": "einsum_call is NumPy's own affair",
    "fromfile": "argument `like` is not supported",
    "frombuffer": "NumPy's has no signature",
    "fromstring": "NumPy's has no signature",
    "genfromtxt": TEXT, "loadtxt": TEXT, "savetxt": TEXT,
    "gradient": "`*varargs` is called spacing",
    "linalg.matmul": LOOPS, "linalg.tensordot": "that of np.tensordot", "linalg.vecdot": LOOPS,
}  # fmt: skip
# Keywords that NumPy's functions may lack.
ADDED_KEYWORDS = {
    "device",
    "ctx",
    "descending",
    "dtype",
    "out",
    "interpolation",
    "upper",
    "axis",
    "wait",
    "check_bounds",
}
LOOSER = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}


def common_functions() -> list[str]:
    """Functions that both have, by dotted name; ufuncs are objects of another kind."""
    found = []
    for prefix in ("", "linalg.", "fft.", "lib.stride_tricks."):
        numpy_namespace, namespace = (named(m, prefix[:-1]) if prefix else m for m in (numpy, np))
        for name in dir(numpy_namespace):
            f, g = getattr(numpy_namespace, name), getattr(namespace, name, None)
            known = not name.startswith("_") and g is not None and callable(f) and not isinstance(f, type)
            if known and not isinstance(g, Elementwise):
                found.append(prefix + name)
    return found


def differing_parameters(path: str) -> list[str]:
    """Return the differences between the parameters of NumPy's function and forerun's."""
    try:
        want = inspect.signature(named(numpy, path)).parameters
    except ValueError:
        return ["no signature"]
    got = inspect.signature(named(np, path)).parameters
    extra = [n for n, p in got.items() if n not in want and p.kind is p.KEYWORD_ONLY and n in ADDED_KEYWORDS]
    if list(want) != [n for n in got if n not in extra]:
        return [f"{[n for n in got if n not in extra]}, NumPy's are {list(want)}"]
    found = []
    for name, p in want.items():
        q = got[name]
        if p.kind != q.kind and not {p.kind, q.kind} <= LOOSER:
            found.append(f"{name} is {q.kind.description}, NumPy's {p.kind.description}")
        if p.default != q.default and "no value" not in repr(p.default) and p.default is not float:
            found.append(f"{name} is {q.default!r}, NumPy's {p.default!r}")
    return found


@for_each("path", common_functions())
def test_parameters_are_numpys(path):
    found = differing_parameters(path)
    assert bool(found) == (path in DIFFERENT), found


def test_listed_differences_name_existing_functions():
    assert set(DIFFERENT) <= set(common_functions())


# --- ufuncs ---------------------------------------------------------------------------------------

UFUNCS = sorted(name for name, op in vars(np).items() if isinstance(op, Elementwise) and not name.startswith("_"))
OPTIONS = "where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None"
OF_NUMPY_2_4 = f"(x1, x2, /, out=None, *, {OPTIONS})"


def bare(signature: inspect.Signature) -> inspect.Signature:
    """A signature without its types."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return inspect.Signature(parameters)


@for_each("name", UFUNCS)
def test_ufuncs_have_the_parameters_of_numpys(name):
    found = bare(inspect.signature(getattr(np, name)))
    expected = OF_NUMPY_2_4 if getattr(np, name).nin == 2 else OF_NUMPY_2_4.replace("x1, x2", "x")
    assert str(found) == expected
    numpy_ufunc = getattr(numpy, name, None)  # of NumPy before 2.4 they have no signature
    if isinstance(numpy_ufunc, numpy.ufunc) and tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 4):
        assert str(inspect.signature(numpy_ufunc)) == expected


def test_ufuncs_say_the_types_of_their_parameters():
    found = inspect.signature(np.add)
    assert [p.annotation for p in found.parameters.values()] == [
        "ArrayLike", "ArrayLike", "Out | tuple[Out]", "ArrayLike", "str", "str", "DTypeLike", "bool",
        "str | tuple[DTypeLike, ...] | None",
    ]  # fmt: skip
    assert found.return_annotation == "Array"
    assert inspect.signature(np.modf).return_annotation == "tuple[Array, Array]"


def test_ufuncs_accept_the_parameters_of_their_signature():
    assert len(UFUNCS) > 90
    x, out = np.array([1.0, 4.0]), np.zeros(2)
    shown = inspect.signature(np.add).bind(x, x, out)
    assert np.add(*shown.args, **shown.kwargs) is out
    for kwargs in ({}, {"x1": x, "x2": x}, {"where": True}):
        with pytest.raises(TypeError, match="add: takes 2 operands, got 0"):
            np.add(**kwargs)
    shown.apply_defaults()
    assert np.add(*shown.args, **shown.kwargs).tolist() == [2, 8]


# --- out ------------------------------------------------------------------------------------------


def has_out(op: Any) -> bool:
    try:
        return "out" in inspect.signature(op).parameters
    except (TypeError, ValueError):
        return False


WITH_OUT = [c for c in CASES if c.name.startswith("np.") and not c.random and not c.waits and has_out(c.op)]


@for_each("case", WITH_OUT, ids=lambda case: case.name)
def test_results_are_written_into_out(case):
    dtype = "float64" if numpy.dtype("float64") in case.dtype_list() else case.dtype_list()[0]
    for args in map(to_forerun, case.arguments(dtype)):
        *first, last = args if args and isinstance(args[-1], Options) else (*args, Options())
        found = results(call_with_sample(case.op, args))
        if len(found) != 1 or "dtype" in last:
            continue  # several results; a dtype of its own
        (want,) = found
        out = np.zeros(want.shape, want.dtype)
        by_name = Options(last, out=out)
        taken = inspect.signature(case.op).parameters
        if len(first) > list(taken).index("out") and taken["out"].kind is not inspect.Parameter.KEYWORD_ONLY:
            continue  # the sample has something in its place
        assert call_with_sample(case.op, (*first, by_name)) is out
        assert out.numpy().tobytes() == want.numpy().tobytes()
        if isinstance(getattr(numpy, case.name.removeprefix("np."), None), numpy.ufunc):
            continue  # repeated where there are more axes: tests/ops/linalg/test_matmul.py
        with pytest.raises(ValueError):
            call_with_sample(case.op, (*first, Options(by_name, out=np.zeros((*want.shape, 2), want.dtype))))
        numpy_out = numpy.zeros(want.shape, want.dtype)
        assert call_with_sample(case.op, (*first, Options(by_name, out=numpy_out))) is numpy_out
        assert numpy_out.tobytes() == want.numpy().tobytes()


def test_out_must_be_an_array_of_a_fitting_kind():
    x = np.array([1.5, 2.5])
    for out, kind in ((np.zeros((), "int64"), TypeError), ([0.0], TypeError)):
        with pytest.raises(kind, match="sum: out must be"):
            np.sum(x, out=out)


# --- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda order: np.zeros((2, 3), order=order),
        lambda order: np.ones((2, 3), order=order),
        lambda order: np.full((2, 3), 7, order=order),
        lambda order: np.full((2, 3), np.arange(3), order=order),
        lambda order: np.eye(2, 3, 1, order=order),
        lambda order: np.array([[1, 2, 3], [4, 5, 6]], order=order),
        lambda order: np.asarray(np.arange(6).reshape(2, 3), order=order),
        lambda order: np.zeros_like(np.ones((2, 3)), order=order),
        lambda order: np.copy(np.arange(6).reshape(2, 3), order=order),
        lambda order: np.empty((2, 3), order=order) * 0,
    ],
)  # fmt: skip
def test_order_selects_the_fastest_axis(make):
    c, f = make("C"), make("F")
    assert c.shape == f.shape == (2, 3)
    assert c.tolist() == f.tolist()
    assert c.strides[1] == c.itemsize
    with pytest.raises(ValueError, match="order must be one of"):
        make("Q")
    f += 1  # a view that can be written
    assert f.tolist() == (c + 1).tolist()


def test_like_functions_keep_the_layout():
    x = np.zeros((2, 3), order="F")
    assert np.isfortran(x)
    assert np.isfortran(np.zeros_like(x))
    assert not np.isfortran(np.zeros_like(x, order="C"))
    assert np.zeros_like(x, shape=(4, 5)).shape == (4, 5)
    assert np.require(x, requirements="C").strides == (12, 4)
    assert np.asfortranarray(x) is x


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2], lambda x: x.swapaxes(0, 1)])
def test_elements_are_read_in_the_given_order(order, layout):
    values = numpy.arange(24).reshape(2, 3, 4)
    array, numpy_array = layout(np.array(values)), layout(values)
    assert np.ravel(array, order).tolist() == numpy.ravel(numpy_array, order).tolist()
    if order != "K":
        shape = numpy_array.shape[::-1]
        assert np.reshape(array, shape, order).tolist() == numpy.reshape(numpy_array, shape, order).tolist()
        assert array.reshape(shape, order=order).tolist() == numpy_array.reshape(shape, order=order).tolist()


def test_numbers_of_a_buffer_are_copied():
    memory = bytearray(b"1234" * 1000)
    x = np.frombuffer(memory, "uint8", 2000, 2)
    memory[:] = bytes(4000)
    assert x.numpy().tobytes() == b"3412" * 500


def test_reshape_copies_or_does_not():
    x = np.arange(6).reshape(2, 3)
    assert np.shares_memory(np.reshape(x, 6, copy=False), x)
    assert not np.shares_memory(np.reshape(x, 6, copy=True), x)
    with pytest.raises(ValueError, match="reshape: copy must not be False"):
        np.reshape(x.T, 6, copy=False)


# --- refused arguments --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "kind", "message"),
    [
        (lambda x: np.zeros(2, like=x), NotImplementedError, "(empty|zeros): argument `like` is not supported"),
        (lambda x: np.array([1], ndmax=1), NotImplementedError, "array: argument `ndmax` is not supported"),
        (lambda x: np.frombuffer(b"12345", "int16"), ValueError, "frombuffer: count must be of whole int16"),
        (lambda x: np.frombuffer(b"12345", "int8", -1, 6), ValueError, "frombuffer: count must .* -1 after 6 of 5"),
        (lambda x: np.sort(x, kind="bubble"), ValueError, "sort: kind must be one of quicksort"),
        (lambda x: np.sort(x, kind="stable", stable=True), ValueError, "sort: kind and stable must not both be given"),
        (lambda x: np.sort(x, order="f"), ValueError, "sort: order must not be given for arrays without fields"),
        (lambda x: np.max(x, where=x > 1), ValueError, "max: initial must be given with where"),
        (lambda x: np.sum(x, where=x), TypeError, "where: mask must be of bools"),
        (lambda x: np.var(x, ddof=1, correction=1), ValueError, "var: ddof and correction must not both be given"),
        (lambda x: np.mean(x, where=np.ones((4, 2), bool)), ValueError, "where: mask must broadcast"),
        (lambda x: np.concatenate([x], out=x, dtype="int8"), TypeError, "concatenate: out and dtype must not both"),
        (lambda x: np.concatenate([x], dtype="int8"), TypeError, "concatenate: casting must be possible by rule"),
        (lambda x: np.pad(x, 1, "edge", end_values=1), ValueError, "pad: options must be those of mode 'edge'"),
        (lambda x: np.quantile(x, 0.5, weights=x), ValueError, "quantile: method must be inverted_cdf with weights"),
        (lambda x: np.errstate(all="raise"), NotImplementedError, "errstate: all must be 'ignore' or 'warn'"),
        (lambda x: np.isin(x, x, kind="table"), ValueError, "isin: kind must be sort but for integers"),
        (lambda x: np.packbits(x), TypeError, "packbits: array must be of integers or bools"),
        (lambda x: np.unpackbits(np.zeros(1, "uint8"), count=-9), ValueError, "unpackbits: count must be at least -8"),
        (lambda x: np.polyfit(x, x, 1, cov=True), ValueError, "polyfit: there must be more than 2 points"),
        (lambda x: np.trim_zeros(x, "q"), ValueError, "trim_zeros: trim must be of"),
        (lambda x: np.searchsorted(x, x, sorter=[0]), ValueError, "searchsorted: sorter must have shape"),
        (lambda x: np.unwrap(np.array(1.0)), ValueError, "unwrap: array must have at least one axis"),
    ],
)
def test_refused(broken, kind, message):
    with pytest.raises(kind, match=message):
        broken(np.array([1.0, 2.0]))
