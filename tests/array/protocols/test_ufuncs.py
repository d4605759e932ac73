"""Ufuncs of NumPy and SciPy called with forerun arrays: operands, options, core axes, refused arguments."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal
from scipy import special

import forerun
from forerun import np
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.ops.cases.table import to_forerun
from tests.support.comparison.numpy_calls import F32, GRID, INTS, MATRICES, check_against_numpy

CALLS: dict[str, tuple[Any, ...]] = {
    "forerun": (numpy.hypot, F32, F32),
    "scipy": (special.erf, F32),
    "scipy, complex": (special.gamma, F32.astype("complex64")),
    "scipy, float64": (special.gamma, F32.astype("float64")),
    "scipy, two dtypes": (special.jv, F32, F32.astype("complex64")),
    "scipy, a number": (special.jv, 1.5, F32),
    "scipy, an integer": (special.eval_chebyt, 2, F32),
    "scipy, two outputs": (special.sici, F32),
    "scipy, four outputs": (special.airy, F32),
    "scipy, broadcast": (special.xlogy, GRID, F32),
    "scipy, seven operands": (special.ellipj, F32, F32 / 4),
    "scipy, bools": (special.expit, numpy.array([0.0, 1.0], "float16")),
    "two outputs": (numpy.modf, F32),
    "divmod": (numpy.divmod, INTS, 2),
}


@pytest.mark.parametrize("name", CALLS)
def test_ufuncs_are_issued(name: str) -> None:
    check_against_numpy(*CALLS[name])


def test_every_ufunc_of_scipy_gives_its_results_for_numpy() -> None:
    x = numpy.array([0.3, 0.6, 0.9])
    tried = 0
    for name in special.__all__:
        ufunc = getattr(special, name)
        if not isinstance(ufunc, numpy.ufunc) or ufunc.signature:
            continue
        operands = [x] * ufunc.nin
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about fractions where numbers should be whole
            try:
                want = ufunc(*operands)
            except TypeError:
                with pytest.raises(TypeError):
                    ufunc(*map(np.array, operands))
                continue
            found = ufunc(*map(np.array, operands))
            forerun.waitall()
        for f, w in zip(*(r if isinstance(r, tuple) else (r,) for r in (found, want)), strict=True):
            assert f.dtype == w.dtype, name
            numpy.testing.assert_array_equal(f.numpy(), w, name)
        tried += 1
    assert tried > 150


def test_layouts_give_the_same_bits() -> None:
    for function in (special.erf, special.j0, special.gammaln):
        x = numpy.linspace(0.1, 9, 3000, dtype="float32")
        wide = numpy.zeros((3000, 3), "float32")
        wide[:, 1] = x
        assert_array_equal(function(np.array(wide)[:, 1]).numpy(), function(x))


def test_integers_give_the_default_float() -> None:
    assert special.erf(np.array(INTS)).dtype == "float32"
    assert special.xlogy(np.array(INTS), np.array(F32)).dtype == "float32"
    assert_array_equal(special.erf(np.array(INTS)).numpy(), special.erf(INTS.astype("float32")))


OPERANDS: dict[str, Any] = {
    "array of NumPy": numpy.ones(4, "float32"), "list": [1.0, 2.0, 3.0, 4.0], "scalar of NumPy": numpy.float32(2),
    "Python's": 2.0, "no axes": numpy.array(3.0, "float32"),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERANDS)
def test_mixed_operands(name: str) -> None:
    other, x = OPERANDS[name], np.array(F32)
    want = (F32 + numpy.asarray(other, "float32")).tolist()
    for found in (numpy.add(x, other), numpy.add(other, x), x + other, other + x, special.xlogy(x, other)):
        assert isinstance(found, ndarray)
        assert found.dtype == "float32"
    assert numpy.add(other, x).tolist() == (other + x).tolist() == (x + other).tolist() == want


def test_lists_are_operands() -> None:
    x = np.array([1, 2, 3])
    assert (x == [1, 5, 3]).tolist() == [True, False, True]
    assert ((4, 4, 4) - x).tolist() == [3, 2, 1]
    assert (x < [2, 2, 2]).tolist() == [True, False, False]
    x += [1, 1, 1]
    assert x.tolist() == [2, 3, 4]
    with closed_gate():
        y = x + [x[0], 1, x[1]]
    assert y.tolist() == [4, 4, 7]


@pytest.mark.parametrize("function", [numpy.add, special.xlogy, numpy.arctan2], ids=lambda f: f.__name__)
@pytest.mark.parametrize("options", [
    {"where": numpy.array([True, False, True, False])}, {"dtype": "float64"}, {"casting": "unsafe"},
    {"order": "C"}, {"subok": False}, {"signature": "dd->d"}, {"dtype": "float64", "casting": "safe"},
], ids=str)  # fmt: skip
def test_options(function: Any, options: dict[str, Any]) -> None:
    out = numpy.full(4, -1.0, options.get("dtype", "float64" if "signature" in options else "float32"))
    if "where" in options:  # SciPy's loops are wrong for NumPy's way of leaving elements out
        want = numpy.where(options["where"], function(F32, F32), out)
    else:
        want = function(F32, F32, out=out.copy(), **options)
    into = np.array(out)
    named = {k: to_forerun(v) for k, v in options.items()}
    with closed_gate():
        found = function(np.array(F32), np.array(F32), out=into, **named)
    assert found is into
    assert into.dtype == want.dtype
    assert_array_equal(into.numpy(), want)
    if "where" not in options:
        check_against_numpy(function, F32, F32, **options)


def test_where_without_out_gives_zeros() -> None:
    x = np.array(F32)
    assert numpy.add(x, x, where=x > 1).tolist() == np.add(x, x, where=x > 1).tolist() == [0, 0, 4, 7]


def test_options_of_forerun_ops() -> None:
    x = np.array(F32)
    target = numpy.zeros(4, "float32")
    assert np.add(x, x, out=target) is target
    assert target.tolist() == [1, 2, 4, 7]
    pair = np.zeros(4), np.zeros(4)
    assert numpy.modf(x, out=pair)[0] is pair[0]
    assert pair[1].tolist() == [0, 1, 2, 3]
    wide = np.zeros((2, 4))
    assert numpy.add(x, x, out=wide) is wide
    assert wide.tolist() == [[1, 2, 4, 7]] * 2
    assert np.multiply.outer(x, x).shape == (4, 4)
    assert np.add.reduce(x).item() == 7
    assert np.add.identity == 0


REFUSED: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "object loops": (TypeError, "dtype must be .* got object", lambda x: numpy.frompyfunc(abs, 1, 1)(x)),
    "shapes": (ValueError, "xlogy: shapes must broadcast", lambda x: special.xlogy(x, np.zeros(3))),
    "no loop": (TypeError, "gammaln: there must be a loop", lambda x: special.gammaln(x.astype("complex64"))),
    "casting": (TypeError, "castable", lambda x: special.erf(x, out=np.zeros(4, dtype="int32"))),
    "safe": (TypeError, "safe", lambda x: special.erf(x.astype("float64"), dtype="float32", casting="safe")),
    "rule": (ValueError, "casting must be one of", lambda x: special.erf(x, casting="perhaps")),
    "order": (ValueError, "order must be one of", lambda x: special.erf(x, order="column")),
    "shape of out": (ValueError, "out must have a shape", lambda x: special.erf(x, out=np.zeros(1))),
    "number of outs": (ValueError, "out must have 1 entries", lambda x: np.add(x, x, out=(x, x))),
    "mask": (TypeError, "where must be", lambda x: special.erf(x, where=np.ones(4))),
    "axes of reduce": (ValueError, "reduce", lambda x: np.subtract.reduce(x.reshape(2, 2), axis=None)),
    "axis of reduce": (IndexError, "axis must be", lambda x: np.hypot.reduce(x, axis=3)),
    "reduce of nothing": (ValueError, "subtract.reduce: .*identity", lambda x: np.subtract.reduce(x[:0])),
    "unary reduce": (ValueError, "two inputs", lambda x: np.sin.reduce(x)),
    "index": (IndexError, "add.at: index must be in", lambda x: numpy.add.at(x, [9], 1)),
    "core axes": (ValueError, "operands must fit", lambda x: numpy.linalg._umath_linalg.det(x.reshape(1, 4))),
    "too few axes": (ValueError, "must have the axes", lambda x: numpy.linalg._umath_linalg.det(x)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_at_the_call(name: str, gate: None) -> None:
    error, message, call = REFUSED[name]
    with pytest.raises(error, match=message):
        call(np.array(F32))


_LINALG = numpy.linalg._umath_linalg

GENERALISED: dict[str, tuple[Any, ...]] = {
    "det": (_LINALG.det, MATRICES),
    "inv": (_LINALG.inv, MATRICES),
    "solve": (_LINALG.solve, MATRICES, MATRICES[0]),
    "slogdet": (_LINALG.slogdet, MATRICES),
    "eigh": (_LINALG.eigh_lo, MATRICES[0]),
    "matmul": (numpy.matmul, MATRICES, MATRICES),
}


@pytest.mark.parametrize("name", GENERALISED)
def test_ufuncs_with_core_axes_are_issued(name: str) -> None:
    check_against_numpy(*GENERALISED[name], rtol=1e-5)


def test_core_axes_may_be_in_other_positions() -> None:
    a, b = numpy.arange(24.0).reshape(2, 3, 4), numpy.arange(8.0).reshape(4, 2)
    check_against_numpy(numpy.vecdot, a, numpy.arange(3.0), axes=[1, 0, ()])
    check_against_numpy(numpy.vecdot, a, a, axis=1)
    check_against_numpy(numpy.vecdot, a, a, axis=0, keepdims=True)
    check_against_numpy(numpy.matmul, a, b, axes=[(0, 2), (0, 1), (1, 0)])
    out = np.zeros((2, 4), dtype="float64")
    numpy.vecdot(np.array(a), np.array(a), axis=1, out=out)
    assert_array_equal(out.numpy(), numpy.vecdot(a, a, axis=1))


@pytest.mark.parametrize("dtypes", [
    ("int64", "float32"), ("float32", "float64"), ("uint8", "int64"), ("int8", "int64"), ("float32", "complex64"),
    ("bool", "int64"), ("float16", "float32"), ("uint8", "uint16"), ("complex64", "complex128"), ("int64", "uint64"),
], ids=" ".join)  # fmt: skip
def test_in_place_casts_by_numpys_rule(dtypes: tuple[str, str]) -> None:
    into, value = dtypes
    numpy_x, x = numpy.ones(2, into), np.ones(2, dtype=into)
    allowed = numpy.can_cast(numpy.result_type(into, value), into, "same_kind")
    if numpy.dtype(into).kind != numpy.dtype(value).kind == "f":
        allowed = False
    if allowed:
        numpy_x += numpy.ones(2, value)
        x += np.ones(2, dtype=value)
        assert x.dtype == into
        assert x.tolist() == numpy_x.tolist()
    else:
        with pytest.raises(TypeError):
            numpy_x += numpy.ones(2, value)
        with pytest.raises(TypeError, match="must fit out's kind"):
            x += np.ones(2, dtype=value)
