"""Each op has the results of its reference: the same bits where nothing is reordered, close values elsewhere."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import np
from forerun.np import ndarray
from forerun.ops._base.primitive import Elementwise
from tests.ops.cases import CASES, FURTHER, NOT_OPS
from tests.ops.cases.compare import by_name
from tests.ops.cases.reduction import COMPARED
from tests.ops.cases.table import EVERY_DTYPE, Case, mapped, named, to_forerun
from tests.support.comparison.bits import same_bits
from tests.support.engine.settings import ENGINES, running
from tests.support.many_cases import for_each

UFUNCS = [c for c in CASES if isinstance(c.op, Elementwise)]
SCALAR_TYPES = {n for n, v in vars(np).items() if isinstance(v, type) and issubclass(v, numpy.generic)}
PLAIN = [c for c in CASES if not c.random]


# --- the table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", NOT_OPS)
def test_every_op_has_a_row(namespace: str) -> None:
    covered = {id(case.op) for case in CASES}
    module = named(forerun, namespace)
    offered = [n for n in dir(module) if not n.startswith("_") and callable(getattr(module, n))]
    own = [n for n in offered if getattr(getattr(module, n), "__module__", None) != "typing"]
    own = [n for n in own if not str(getattr(getattr(module, n), "__module__", "")).startswith("collections")]
    own = [n for n in own if n not in SCALAR_TYPES]
    missing = [n for n in own if id(getattr(module, n)) not in covered and n not in NOT_OPS[namespace]]
    assert not missing


def test_no_op_has_two_rows() -> None:
    names = [case.name for case in CASES if case not in FURTHER]
    assert len(set(names)) == len(names)


# --- comparing ------------------------------------------------------------------------------------


def check_result(case: Case, got: Any, want: Any, what: str) -> None:
    """Compares one result: exactly, or within the row's number of roundings."""
    if not isinstance(got, ndarray):
        assert type(got) is type(want), what
        assert got == want, what
        return
    got, want = got.numpy(), numpy.asarray(want)
    assert got.shape == want.shape, what
    if not case.tolerance or got.dtype.kind in "biu":
        assert same_bits(got, want.astype(got.dtype)), f"{what}: got {got!r}, want {want!r}"
        return
    near = case.tolerance * float(numpy.finfo(got.dtype).eps)
    size = float(numpy.abs(want).max(initial=0))
    numpy.testing.assert_allclose(got, want, near, near * max(size, 1.0), err_msg=what)


def expected_dtype(case: Case, result: numpy.dtype, inputs: list[numpy.dtype]) -> numpy.dtype:
    """NumPy's dtype, but integers give float32 where they give some float in NumPy."""
    whole = all(dtype.kind in "biu" for dtype in inputs) and case.name != "np.float_power"
    return numpy.dtype("float32") if whole and result.kind == "f" else result


def reference(case: Case, args: tuple[Any, ...]) -> list[Any]:
    """Return the reference's results: in the arguments' dtype for exact rows, in double precision for others."""
    dtypes: list[numpy.dtype] = []
    mapped(lambda a: dtypes.append(a.dtype), args)
    args = mapped(numpy.copy, args) if case.in_place else args
    with numpy.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", numpy.exceptions.ComplexWarning)
        found = case(case.reference, args)
        if not case.tolerance:
            kinds = {numpy.asarray(r).dtype for r in found}
            narrow = any(expected_dtype(case, kind, dtypes) != kind for kind in kinds) and case in UFUNCS
            if narrow:
                found = case(case.reference, mapped(lambda a: a.astype("float32"), args))
            return found
        wide = {"f": "float64", "c": "complex128"}
        return case(case.reference, mapped(lambda a: a.astype(wide.get(a.dtype.kind, a.dtype)), args))


# --- values ---------------------------------------------------------------------------------------


@for_each("case", PLAIN, ids=lambda case: case.name)
def test_values(case: Case, engine: str) -> None:
    compared = COMPARED.get(case.name, lambda function: function)
    for dtype in case.dtype_list():
        for i, args in enumerate(case.arguments(dtype)):
            got = case(compared(case.op), to_forerun(args))
            want = reference_of(case, args, compared)
            assert len(got) == len(want)
            for g, w in zip(got, want):
                check_result(case, g, w, f"{case.name}, sample {i}, {dtype}")


def reference_of(case: Case, args: tuple[Any, ...], compared: Callable[..., Any]) -> list[Any]:
    """The reference's results, made comparable as the op's are."""
    changed = Case(**{**vars(case), "reference": compared(case.reference)})
    return reference(changed, args)


# --- element-wise ops: every dtype, every layout --------------------------------------------------

View = tuple[tuple[int, ...], Callable[[Any], Any]]


def unchanged(x: Any) -> Any:
    """The array as it is."""
    return x


DENSE: View = (3, 5), unchanged
SPREAD: View = (3, 1), unchanged
LAYOUTS: dict[str, tuple[View, View]] = {
    "dense": (DENSE, DENSE),
    "transposed": (((5, 3), lambda x: x.T), ((5, 3), lambda x: x.T)),
    "transposed and dense": (((5, 3), lambda x: x.T), DENSE),
    "every second": (((41,), lambda x: x[::2]), ((21,), unchanged)),
    "backwards": (((21,), lambda x: x[::-1]), ((63,), lambda x: x[::-3])),
    "strided rows and columns": (((7, 11), lambda x: x[::2, ::-2]), ((4, 6), unchanged)),
    "broadcast": (((4, 1, 5), unchanged), SPREAD),
    "a view of one element": (((1,), lambda x: x[0]), ((4,), unchanged)),
    "zero dimensions": (((), unchanged), ((), unchanged)),
    "one element": (((1,), unchanged), ((1,), unchanged)),
    "three dimensions, permuted": (
        ((2, 3, 4), lambda x: x.transpose(2, 0, 1)),
        ((4, 2, 3), unchanged),
    ),
    "empty": (((0, 3), unchanged), ((3,), unchanged)),
    "odd length": (((1023,), unchanged), ((1023,), unchanged)),
}
LONG: dict[str, tuple[View, View]] = {
    "below a tile": (((8191,), unchanged), ((8191,), unchanged)),
    "above a tile": (((8193,), unchanged), ((8193,), unchanged)),
    "above a large tile": (((65537,), unchanged), ((1,), unchanged)),
    "long rows": (((3, 8193), unchanged), ((8193,), unchanged)),
    "long and backwards": (((8193,), lambda x: x[::-1]), ((16386,), lambda x: x[::2])),
}

SPECIAL = {
    "f": ["nan", "inf", "-inf", "0.0", "-0.0", "1", "-1", "0.5", "-2.5", "3e38", "1e-45", "-1e-40", "7e-5"],
    "i": [0, 1, -1, 2, 3, -3, "max", "min"],
}


def operand_dtypes(case: Case, dtype: numpy.dtype) -> list[numpy.dtype]:
    """The dtypes of the op's inputs when it is tried with `dtype`."""
    found: list[numpy.dtype] = []
    mapped(lambda a: found.append(a.dtype), case.arguments(dtype)[0])
    return found


def laid_out(case: Case, dtype: numpy.dtype, views: tuple[View, View]) -> tuple[list[Any], list[Any]]:
    """Operands of a layout for the op and for its reference: views are made after the arrays."""
    forerun_operands, numpy_operands = [], []
    for k, kind in enumerate(operand_dtypes(case, dtype)):
        shape, view = views[k % 2]
        values = case.draw(kind, seed=k)(*shape)
        forerun_operands.append(view(to_forerun(values)))
        numpy_operands.append(numpy.asarray(view(values)))
    return forerun_operands, numpy_operands


def compare_bits(case: Case, forerun_operands: Any, numpy_operands: Any, what: str) -> None:
    """The op must give the bits that NumPy gives for dense copies of the operands. (For others, NumPy's bits can
    differ: where elements lie apart, its loops compute some functions in another way.)"""
    (got,) = (r.numpy() for r in case(case.op, tuple(forerun_operands)))
    dense = tuple(numpy.ascontiguousarray(x).reshape(x.shape) for x in numpy_operands)
    want = numpy.asarray(*reference(case, dense))
    assert got.dtype == expected_dtype(case, want.dtype, [x.dtype for x in numpy_operands]), what
    assert same_bits(got, want.astype(got.dtype)), f"{what}: got {got!r}, want {want!r}"


@by_name(UFUNCS)
def test_layouts(case: Case, engine: str) -> None:
    for dtype in case.dtype_list():
        for label, views in LAYOUTS.items():
            forerun_operands, numpy_operands = laid_out(case, dtype, views)
            compare_bits(case, forerun_operands, numpy_operands, f"{case.name}, {dtype}, {label}")


@for_each("case, label", itertools.product(UFUNCS, LONG), ids=lambda case: f"{case[0].name}, {case[1]}")
def test_lengths_around_tiles(case: Case, label: str) -> None:
    for name in ("float32", "float64", "int32", "bool"):
        dtype = numpy.dtype(name)
        if dtype in case.dtype_list():
            compare_bits(case, *laid_out(case, dtype, LONG[label]), f"{case.name}, {dtype}")


def edge_values(dtype: numpy.dtype) -> numpy.ndarray:
    """Values at the edges of a dtype."""
    if dtype.kind == "c":
        parts = edge_values(numpy.dtype(f"f{dtype.itemsize // 2}"))
        grid = numpy.empty((len(parts), len(parts)), dtype)
        grid.real, grid.imag = parts[:, None], parts
        return grid.ravel()
    if dtype.kind == "b":
        return numpy.array([False, True])
    if dtype.kind == "f":
        with numpy.errstate(over="ignore"):
            return numpy.array([float(v) for v in SPECIAL["f"]]).astype(dtype)
    limits = numpy.iinfo(dtype)
    values = [{"max": limits.max, "min": limits.min}.get(v, v) for v in SPECIAL["i"]]
    return numpy.array([v for v in values if limits.min <= v], dtype)


@for_each("case", UFUNCS, ids=lambda case: case.name)
def test_special_values(case: Case) -> None:
    for dtype in case.dtype_list():
        kinds = operand_dtypes(case, dtype)
        values = [edge_values(kind) for kind in kinds]
        if case.name in ("np.power", "np.float_power") and dtype.kind == "i":
            values[1] = values[1][values[1] >= 0]  # others are an error
        if len(values) == 1:
            numpy_operands = [values[0]]
        else:
            a, b = values[-2][:, None], values[-1][:40]
            numpy_operands = [numpy.ascontiguousarray(x) for x in numpy.broadcast_arrays(a, b)]
            if len(values) == 3:
                numpy_operands.insert(0, case.draw("bool")(*numpy_operands[0].shape))
        compare_bits(case, to_forerun(tuple(numpy_operands)), numpy_operands, f"{case.name}, {dtype}")


@for_each("case", UFUNCS, ids=lambda case: case.name)
def test_ufuncs_reject_the_same_dtypes_as_numpy(case: Case) -> None:
    for dtype in EVERY_DTYPE:
        args = case.arguments(dtype)[0]
        try:
            with numpy.errstate(all="ignore"):
                case(case.reference, args)
        except TypeError:
            assert dtype not in case.dtype_list()
            with pytest.raises(TypeError, match=f"^{case.op.name}: no loop for dtype, got {dtype}"):
                case(case.op, to_forerun(args))


# --- large reductions and products, in every layout -----------------------------------------------

REDUCED: dict[str, View] = {
    "dense": ((33, 257), unchanged),
    "transposed": ((33, 257), lambda x: x.T),
    "strided": ((66, 514), lambda x: x[::2, ::2]),
    "backwards": ((33, 257), lambda x: x[::-1, ::-1]),
    "long": ((1, 40961), unchanged),
    "tall": ((20011, 2), unchanged),
    "broadcast": ((257,), lambda x: np.broadcast_to(x, (33, 257))),
    "broadcast column": ((33, 1), lambda x: np.broadcast_to(x, (33, 257))),
}


LARGE = [
    (case, dtype)
    for case in CASES
    for dtype in ("float32", "float64", "int32", "complex64")
    if case.name.removeprefix("np.") in {"sum", "mean", "var", "max", "min", "cumsum", "any", "argmax", "logsumexp"}
    and numpy.dtype(dtype) in case.dtype_list()
]


@pytest.mark.parametrize("layout", REDUCED)
@for_each("case, dtype", LARGE, ids=lambda case: f"{case[0].name}, {case[1]}")
def test_large_reductions(case: Case, dtype: str, layout: str) -> None:
    shape, view = REDUCED[layout]
    values = case.draw(dtype)(*shape)
    array, numpy_array = view(to_forerun(values)), numpy.asarray(view(to_forerun(values)).numpy())
    wide = numpy_array.astype({"f": "float64", "c": "complex128"}.get(numpy_array.dtype.kind, "int64"))
    for axis in (0, 1, None):
        got, want = case.op(array, axis).numpy(), numpy.asarray(case.reference(wide, axis))
        assert got.shape == want.shape
        if got.dtype.kind in "biu" or case.name in ("np.max", "np.min"):
            assert same_bits(got, want.astype(got.dtype))
        else:
            near = 1e-4 if numpy.finfo(got.dtype).eps > 1e-10 else 1e-12
            numpy.testing.assert_allclose(got, want, near, near * float(numpy.abs(want).max(initial=1)))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64", "float16", "bool"])
@pytest.mark.parametrize("m", [1, 7, 130])
def test_large_products(dtype: str, m: int, engine: str) -> None:
    case = next(c for c in CASES if c.name == "np.matmul")
    x = case.draw(dtype)
    a, b = x(m, 67), x(67, 97)
    wide = {"f": "float64", "c": "complex128"}.get(a.dtype.kind, a.dtype)
    want = a.astype(wide) @ b.astype(wide)
    layouts = [
        (to_forerun(a), to_forerun(b)),
        (to_forerun(a.T.copy()).T, to_forerun(b.T.copy()).T),
        (to_forerun(numpy.repeat(a, 2, 1))[:, ::2], to_forerun(b[::-1].copy())[::-1]),
    ]
    for left, right in layouts:
        got = np.matmul(left, right).numpy()
        assert got.dtype == a.dtype
        if got.dtype.kind in "biu":
            assert same_bits(got, want)
        else:
            near = 67 * float(numpy.finfo(got.dtype).eps)
            numpy.testing.assert_allclose(got, want, near, 4 * near)


# --- the same bits in every mode of the engine ----------------------------------------------------


@by_name(CASES)
def test_every_mode_gives_the_same_bits(case: Case) -> None:
    found = {}
    some = ("bool", "int64", "float32", "complex128")
    dtypes = [dtype for dtype in case.dtype_list() if dtype.name in some]
    for mode in ENGINES:
        with running(mode):
            np.random.seed(7)
            arrays = [
                r
                for dtype in dtypes
                for args in case.arguments(dtype)
                for r in case(case.op, to_forerun(args))
                if isinstance(r, ndarray)
            ]
            found[mode] = [(r.dtype, r.shape, r.numpy().tobytes()) for r in arrays]
    assert found["sync"] == found["1 worker"] == found["4 workers"]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "cumsum", "max", "var", "exp", "power", "matmul"])
def test_every_mode_gives_the_same_bits_of_much(name: str) -> None:
    case = next(c for c in CASES if c.name == f"np.{name}")
    values = to_forerun(case.draw("float32")(301, 301)), to_forerun(case.draw("float32", 1)(301, 301))
    found = {}
    for mode in ENGINES:
        with running(mode):
            args = values if name in ("power", "matmul") else values[:1]
            found[mode] = [case.op(*args).numpy().tobytes(), case.op(*(x.T for x in args)).numpy().tobytes()]
    assert found["sync"] == found["1 worker"] == found["4 workers"]
