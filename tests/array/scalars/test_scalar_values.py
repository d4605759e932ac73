"""Elements and full reductions are values, as NumPy's scalars are: no later write changes one."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import _core, np
from forerun.np import ndarray
from forerun.testing import closed_gate
from tests.ops.cases import CASES, FURTHER
from tests.ops.cases.table import Case, to_forerun
from tests.support.many_cases import for_each

Way = Callable[[Any, Any], Any]

ELEMENTS: dict[str, Way] = {
    "x[1, 2]": lambda n, x: x[1, 2],
    "x[-2, -2]": lambda n, x: x[-2, -2],
    "numpy.int64": lambda n, x: x[numpy.int64(1), numpy.uint8(2)],
    "rows": lambda n, x: x[1][2],
    "x[..., 1, 2][()]": lambda n, x: x[..., 1, 2][()],
    "arrays without axes": lambda n, x: x[n.array(1), n.array(2)],
    "an index of the array's": lambda n, x: x[1][n.argsort(n.array([3, 1, 2]))[0] + 1],
    "iterating": lambda n, x: list(x[1])[2],
    "iterating twice": lambda n, x: [e for row in x for e in row][6],
    "unpacking": lambda n, x: (lambda a, b, c, d: c)(*x[1]),
    "flat": lambda n, x: x.flat[6],
    "flat, from the end": lambda n, x: x.flat[-6],
    "iterating flat": lambda n, x: list(x.flat)[6],
    "next(flat)": lambda n, x: next(x.flat),
    "take": lambda n, x: n.take(x, 6),
    "take of a row": lambda n, x: x[1].take(2),
    "reshape": lambda n, x: x.reshape(-1)[6],
    "a column": lambda n, x: x.T[2][1],
    "steps": lambda n, x: x[::2, ::-1][1, 1],
    "ravel": lambda n, x: n.ravel(x)[6],
    "diagonal": lambda n, x: x.diagonal()[1],
    "broadcast": lambda n, x: next(iter(n.broadcast(x, n.ones(4))))[0],
    "max of": lambda n, x: max(x[1]),
    "sorted": lambda n, x: sorted(x[1], reverse=True)[0],
}
NAMES = ["sum", "prod", "max", "min", "mean", "std", "var", "all", "any", "argmax", "argmin", "ptp"]
MORE = ["nansum", "nanmax", "nanmean", "nanstd", "median", "count_nonzero", "average", "trace", "amax"]
REDUCTIONS: dict[str, Way] = {
    **{name: lambda n, x, name=name: getattr(n, name)(x) for name in NAMES + MORE},
    **{f"x.{name}": lambda n, x, name=name: getattr(x, name)() for name in NAMES if name != "ptp"},
    "sum of a vector": lambda n, x: x[1].sum(axis=0),
    "mean with where": lambda n, x: n.mean(x, where=x > 3),
    "add.reduce": lambda n, x: n.add.reduce(x[1]),
    "maximum.reduce": lambda n, x: n.maximum.reduce(x, axis=None),
    "dot": lambda n, x: n.dot(x[0], x[1]),
    "x.dot": lambda n, x: x[0].dot(x[1]),
    "@": lambda n, x: x[0] @ x[1],
    "vdot": lambda n, x: n.vdot(x, x),
    "inner": lambda n, x: n.inner(x[0], x[1]),
    "einsum": lambda n, x: n.einsum("ij->", x),
    "norm": lambda n, x: n.linalg.norm(x),
    "norm, 1": lambda n, x: n.linalg.norm(x, 1),
    "det": lambda n, x: n.linalg.det(x[:, :3]),
    "multi_dot": lambda n, x: n.linalg.multi_dot([x[0], x.T, x[:, 0]]),
    "x.trace": lambda n, x: x.trace(),
    "quantile": lambda n, x: n.quantile(x, 0.25),
    "cumsum": lambda n, x: x.cumsum()[-1],
}
ARITHMETIC: dict[str, Way] = {
    "+": lambda n, x: x[1, 2] + 1,
    "-": lambda n, x: -x[1, 2],
    "*": lambda n, x: x[1, 2] * x[0, 1],
    ">": lambda n, x: x[1, 2] > 3,
    "%": lambda n, x: divmod(x[1, 2], 4)[1],
    "sqrt": lambda n, x: n.sqrt(x[1, 2]),
    "maximum": lambda n, x: n.maximum(x[1, 2], x[0, 0]),
    "of arrays without axes": lambda n, x: x[..., 1, 2] + 1,
    "astype": lambda n, x: x[1, 2].astype("float32"),
    "copy": lambda n, x: x[1, 2].copy(),
    "round": lambda n, x: round(x[1, 2] / 3, 1),
    "real": lambda n, x: x[1, 2].real,
    "clip": lambda n, x: n.clip(x[1, 2], 0, 3),
}
WAYS = {**ELEMENTS, **REDUCTIONS, **ARITHMETIC}


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "x[1, 2] = 9": lambda n, x: operator.setitem(x, (1, 2), 9),
    "x[:] = 0": lambda n, x: operator.setitem(x, slice(None), 0),
    "x[1] = x[0]": lambda n, x: operator.setitem(x, 1, x[0]),
    "x[mask] = 0": lambda n, x: operator.setitem(x, x > 3, 0),
    "x[positions] = 0": lambda n, x: operator.setitem(x, ([1, 0], [2, 0]), 0),
    "x.T[:] = 3": lambda n, x: operator.setitem(x.T, slice(None), 3),
    "x.flat[:] = 5": lambda n, x: operator.setitem(x.flat, slice(None), 5),
    "x *= 3": lambda n, x: operator.imul(x, 3),
    "out=x": lambda n, x: n.add(x, 1, out=x),
    "out=x, where": lambda n, x: n.negative(x, out=x, where=x > 2),
    "copyto": lambda n, x: n.copyto(x, -1.0),
    "fill": lambda n, x: x.fill(7),
    "put": lambda n, x: n.put(x, [0, 6], 70),
    "sort": lambda n, x: x.sort(axis=0),
}
VALUES = numpy.array([[5.0, 3, 8, 1], [2, 9, 7, 4], [6, 0, 11, 10]])


def results_after_write(way: Way, write: str, x: Any, value: Any = None) -> tuple[Any, Any]:
    """Return the results for x and for NumPy's array, both written to afterwards."""
    numpy_x = VALUES.copy()
    wanted, got = way(numpy, numpy_x), way(np, x)
    WRITES[write](numpy, numpy_x)
    WRITES[write](np, x)
    return got, wanted


@for_each("way", WAYS)
def test_later_writes_change_nothing(engine: str, way: str) -> None:
    for write in WRITES:
        got, wanted = results_after_write(WAYS[way], write, np.array(VALUES))
        assert _core.is_scalar(got)
        numpy.testing.assert_allclose(got.item(), wanted, 1e-12, err_msg=write)


@for_each("way", [w for w in WAYS if w not in ("max of", "sorted")])  # these look at values
def test_later_writes_do_not_change_pending_scalars(ahead: str, way: str) -> None:
    found = []
    _core.waitall()
    with closed_gate():
        for write in WRITES:
            found.append((*results_after_write(WAYS[way], write, np.array(VALUES) * 1.0), write))
            assert not found[-1][0].ready
    for got, wanted, write in found:
        numpy.testing.assert_allclose(got.item(), wanted, 1e-12, err_msg=write)


COMPARED = [c for c in [*CASES, *FURTHER] if c.reference and not c.in_place]


@for_each("case", COMPARED, ids=lambda c: c.name)
def test_scalars_are_given_where_numpy_gives_them(case: Case) -> None:
    if case.name in ("np.logsumexp", "np.array_equiv", "np.array_equal"):
        return  # their references are forerun's, and make arrays
    for args in case.arguments(case.dtype_list()[-1]):
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = case(case.reference, args)
        for want, got in zip(wanted, case(case.op, to_forerun(args))):
            if isinstance(got, ndarray) and got.ndim == 0:
                assert _core.is_scalar(got) != isinstance(want, numpy.ndarray)


ARRAYS: dict[str, Way] = {
    "array": lambda n, x: n.array(5.0),
    "zeros": lambda n, x: n.zeros(()),
    "full": lambda n, x: n.full((), 2.0),
    "ones_like": lambda n, x: n.ones_like(x[1, 2]),
    "x[..., 1, 2]": lambda n, x: x[..., 1, 2],
    "x[1][2, ...]": lambda n, x: x[1][2, ...],
    "reshape": lambda n, x: x[:1, :1].reshape(()),
    "squeeze": lambda n, x: n.squeeze(x[:1, :1]),
    "transpose": lambda n, x: n.array(5.0).T,
    "astype": lambda n, x: n.array(5.0).astype("float32"),
    "copy": lambda n, x: n.array(5.0).copy(),
    "array of a scalar": lambda n, x: n.array(x[1, 2]),
    "asarray of a scalar": lambda n, x: n.asarray(x[1, 2]),
    "copy of a scalar": lambda n, x: n.copy(x[1, 2]),
    "scalar[...]": lambda n, x: x[1, 2][...],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_created_arrays_without_axes_stay_arrays(name: str) -> None:
    outcomes = []
    for n, x in (numpy, VALUES.copy()), (np, np.array(VALUES)):
        a = ARRAYS[name](n, x)
        with pytest.raises(TypeError, match="unhashable"):
            hash(a)
        b = a
        b += 1
        assert b is a
        a[...] = 40
        outcomes.append((float(a), x.tolist()))  # a view writes through, as NumPy's does
    assert outcomes[0] == outcomes[1]


def test_programs_that_keep_elements(engine: str) -> None:
    y = np.array([0, 1, 2, 3])
    y[0], y[1] = y[1], y[0]
    assert y.tolist() == [1, 0, 2, 3]
    x, best = np.array([1.0, 5.0, 2.0]), None
    for i in range(3):
        best = x[i] if best is None or x[i] > best else best
        x[i] = -1
    assert best == 5
    z = np.arange(4)
    kept = list(z)
    z[:] = 0
    assert kept == [0, 1, 2, 3]
    for i in range(3):  # a sort by hand
        for j in range(2 - i):
            if y[j] > y[j + 1]:
                y[j], y[j + 1] = y[j + 1], y[j]
    assert y.tolist() == [0, 1, 2, 3]


REFUSED: dict[str, Callable[[Any], Any]] = {
    "s[...] = 1": lambda s: operator.setitem(s, ..., 1),
    "s[()] = 1": lambda s: operator.setitem(s, (), 1),
    "s[mask] = 1": lambda s: operator.setitem(s, True, 1),
    "fill": lambda s: s.fill(1),
    "out": lambda s: np.add(1, 2, out=s),
    "sum(out)": lambda s: np.sum(np.ones(3), out=s),
    "copyto": lambda s: np.copyto(s, 1),
    "MXNet's copyto": lambda s: np.array(1.0).copyto(s),
    "put": lambda s: np.put(s, [0], 1),
    "flat": lambda s: operator.setitem(s.flat, 0, 1),
    "add.at": lambda s: np.add.at(s, (), 1),
    "place": lambda s: np.place(s, True, [1]),
    "putmask": lambda s: np.putmask(s, True, [1]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_writing_into_a_scalar_is_refused(name: str) -> None:
    s = np.array([5.0, 6.0])[0]
    with pytest.raises((TypeError, ValueError)):
        REFUSED[name](s)
    with pytest.raises(AttributeError):
        s.real = 1
    assert s.item() == 5
    assert not s.flags.writeable


VIEWS: dict[str, Callable[[Any], Any]] = {
    "reshape": lambda s: s.reshape(1),
    "None": lambda s: s[None],
    "atleast_2d": lambda s: np.atleast_2d(s),
    "expand_dims": lambda s: np.expand_dims(s, 0),
    "ravel": lambda s: s.ravel(),
    "view": lambda s: np.lib.stride_tricks.sliding_window_view(s.reshape(1), 1),
    "[...]": lambda s: s[...],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_a_scalar_are_copies(name: str, engine: str) -> None:
    s = np.array([5.0, 6.0]).sum()
    VIEWS[name](s)[...] = 1
    assert s.item() == 11


def test_without_a_size_random_numbers_are_scalars() -> None:
    drawn = [np.random.normal(), np.random.uniform(), np.random.randint(5), np.random.choice(4), np.random.gamma(2.0)]
    assert all(map(_core.is_scalar, drawn))
    assert not _core.is_scalar(np.random.normal(size=()))


@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 1, 1)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_an_element_takes_an_array_of_one_element(shape: tuple[int, ...], dtype: str, engine: str) -> None:
    for make in np.full, numpy.full:
        v = np.zeros((2, 3), dtype)
        v[1, 2] = make(shape, 1, "float32")
        v[0][1] = make(shape, 1, dtype)
        assert v.real.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_an_element_takes_no_more_than_one() -> None:
    with pytest.raises(ValueError, match=r"setitem: an element must get one number, got shape \(2,\)"):
        np.zeros(3)[1] = np.ones(2)
