"""Classes that programs derive from NumPy's array, while forerun replaces NumPy: the arguments of their methods."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes.as_numpy_program import check_with_both, values_with_both

CLASS = """\
import sys
numpy = sys.modules["numpy"]  # as libraries have it
class Unit(np.ndarray):
    def __new__(cls, values): return np.asarray(values, float).view(cls)
    def __array_finalize__(self, other):
        super().__array_finalize__(other)
        self.of_array = type(other) is np.ndarray
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [x.view(np.ndarray) for x in inputs if isinstance(x, np.ndarray)]
        plain += [x for x in inputs if not isinstance(x, np.ndarray)]
        if out is None:
            return np.asarray(getattr(ufunc, method)(*plain, **options)).view(Unit)
        getattr(ufunc, method)(*plain, out=(out[0].view(np.ndarray),), **options)
        return out[0]
    def __array_function__(self, function, types, args, options):
        if not all(kind is np.ndarray or issubclass(kind, Unit) for kind in types):
            return NotImplemented
        if function is np.median:
            return "median"
        return function._implementation(*args, **options)
class Asking:
    def __array_function__(self, function, types, args, options):
        return function._implementation(np.arange(3.0))
class Plain(np.ndarray):
    pass
u, y = Unit([1.0, 2.0, 4.0]), np.arange(3.0)
p = y.view(Plain)
def written(ufunc, *inputs):
    out = numpy.zeros(3)
    found = ufunc(*inputs, out=out)
    return found is out, out
"""
SAME = """\
u.of_array, u[1:].of_array, (u + 1).of_array, np.arange(9000.0).view(Unit).of_array
type(u + 1).__name__, u + 1, np.sqrt(u), np.add.reduce(u), numpy.ones(3) + u
written(numpy.add, u, 1.0), written(numpy.sqrt, u), written(numpy.multiply, numpy.ones(3), u)
np.add(u, 1.0, out=np.zeros(3)), type(np.add(y, u, out=np.zeros(3).view(Unit))).__name__
np.median(u), np.mean(Asking()), np.sort(Asking())
np.concatenate([u, y]), np.where(y > 1, u, y), np.result_type(u, y), np.append(u, [3.0]), numpy.result_type(u, y)
type(np.apply_along_axis(lambda v: 2 * v, 0, p)).__name__, type(np.piecewise(p, [p > 1], [1, 2])).__name__
type(np.copy(p)).__name__, type(np.copy(p, subok=True)).__name__, np.apply_over_axes(np.sum, p, 0)
type(p.view(np.ndarray)) is np.ndarray, p.view(type=np.ndarray).view(type=np.ndarray)
np.shares_memory(p, y), np.shares_memory(p[:2], y[2:]), np.may_share_memory(y[1:], p), np.shares_memory(p, y.copy())
np.shares_memory(np.ma.array(y, copy=False).data, y), np.shares_memory(y, numpy.zeros(3))
hasattr(y, 'index'), hasattr(y[0], 'index'), hasattr(frame, 'index')
"""


@pytest.mark.parametrize("expression", SAME.splitlines())
def test_expressions_with_derived_classes_have_their_values_with_numpy(
    namespaces: list[dict[str, Any]], expression: str
) -> None:
    check_with_both(expression, namespaces, CLASS)


def test_tuples_of_classes_of_their_own_are_passed(namespaces: list[dict[str, Any]]) -> None:
    program = "from scipy import stats\nresult = stats.ttest_1samp(np.asarray([1.0, 2.0, 4.0]), 1.0)\n"
    expression = "np.round(np.array(result), 6), np.testing.assert_equal(result, result)"
    expected, found = values_with_both(expression, namespaces, program)
    assert found == expected


WRAPPING = """\
class Wrapped(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        if array.ndim == 0:
            return array.dtype.type(array)
        if self.size > 3:
            array *= 2
            return array
        plain = array.view(type=np.ndarray)
        return plain.view(Wrapped) if self.size > 2 else (type(plain) is np.ndarray, plain)
w, two, four = (np.arange(k).view(Wrapped) for k in (3.0, 2.0, 4.0))
long = np.arange(9000.0).view(Wrapped)
"""
WRAPPED = """\
w + 1, type(w + 1).__name__, np.sqrt(w), w.sum(), w[1:] + 0.5
two * 2, np.add(two, two), np.mean(two), -two
four + 1, np.add(four, 1, out=(out := np.zeros(4))), out, type(four + 1).__name__
(long + 1)[-2:], np.sum(long), type(long.view(np.ndarray)) is np.ndarray, np.linalg.inv(np.eye(2).view(Wrapped))
"""


@pytest.mark.parametrize("expression", WRAPPED.splitlines())
def test_array_wrap_gets_arrays_that_may_be_viewed(namespaces: list[dict[str, Any]], expression: str) -> None:
    check_with_both(expression, namespaces, WRAPPING)


HANDED_ON = """\
class Plain(np.ndarray):
    pass
class ByClass(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        seen.append(context)
        return np.ndarray.__array_wrap__(self, array, context, return_scalar)
class BySuper(np.ndarray):
    def __array_wrap__(self, array, context=None, return_scalar=False):
        seen.append(context)
        return super().__array_wrap__(array, context, return_scalar)
class Below(Plain):
    def __array_wrap__(self, array, *context):
        seen.append(*context[:1])
        return super().__array_wrap__(array, *context)
class WithUfuncs(BySuper):
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        plain = [x.view(np.ndarray) if isinstance(x, WithUfuncs) else x for x in inputs]
        return super().__array_ufunc__(ufunc, method, *plain, **options)
seen = []
def kinds(call):
    made = [np.arange(4.0).view(kind) for kind in (ByClass, BySuper, Below, WithUfuncs)]
    return [(type(found).__name__, found.tolist()) for found in map(call, made)]
"""
CALLS = """\
kinds(lambda w: w + 1), {np.add: 'known'}[seen[-1][0]], len(seen[-1])
kinds(np.sqrt), {np.sqrt: 'known'}[seen[-1][0]]
kinds(lambda w: np.multiply(w, 2, dtype=np.float32)), {np.multiply: 'known'}[seen[-1][0]]
kinds(np.median), kinds(np.mean), kinds(lambda w: np.round(w / 3, 1)), kinds(lambda w: w.sum())
kinds(lambda w: np.cumsum(w)), kinds(lambda w: np.add.outer(w, w)), kinds(lambda w: w[1:] * w[:-1])
"""


@pytest.mark.parametrize("expression", CALLS.splitlines())
def test_array_wrap_may_call_that_of_numpys_array(namespaces: list[dict[str, Any]], expression: str) -> None:
    check_with_both(expression, namespaces, HANDED_ON)


NEW = """\
type(np.ndarray.__new__(numpy.ndarray, (2,), 'i4')) is np.ndarray, np.ndarray.__new__(np.ndarray, (2, 3), float).shape
type(np.ndarray.__new__(numpy.recarray, (2,), [('a', int)])).__name__, np.ndarray.__new__(Plain, (2,)).shape
"""


@pytest.mark.parametrize("expression", NEW.splitlines())
def test_new_of_numpys_array_makes_arrays_of_numpys_classes(namespaces: list[dict[str, Any]], expression: str) -> None:
    check_with_both(expression, namespaces, CLASS)


WRITES = """\
q.view(np.ndarray).__setitem__(0, 9.0)
np.asarray(q).__setitem__(0, 9.0)
np.array(q[1:], copy=False).__setitem__(1, 7.0)
np.asarray(q.reshape(1, 3).T).__setitem__((2, 0), 5.0)
np.add(q, 1, out=np.asarray(q))
np.asarray(q).sort()
np.array(q).__setitem__(0, 9.0)
np.asarray(q, "f4").__setitem__(0, 9.0)
np.asarray(q > 1).__setitem__(0, True)
y.__setitem__(0, 4.0)
y.__setitem__(slice(1, None), a[:-1])
np.add(a[:-1], 1, out=y[1:])
np.add(a, np.asarray(q)[::-1], out=a)
"""


@pytest.mark.parametrize("write", WRITES.splitlines())
def test_an_array_without_the_class_shares_its_memory(namespaces: list[dict[str, Any]], write: str) -> None:
    program = CLASS + "y = np.array([3.0, 1.0, 2.0])\nq = y.view(Plain)\na = np.asarray(q)\n"
    expression = f"({write}, q.tolist(), y.tolist(), a.tolist(), np.asarray(q).flags.writeable)[1:]"
    check_with_both(expression, namespaces, program)


FUNCTIONS = """\
np.outer(p, p), type(np.outer(p, y)).__name__, np.outer(y, p), np.outer(a=p, b=[1, 2])
np.cross(p, p[::-1]), np.cross(y, p), np.linalg.norm(p), np.linalg.norm(p, ord=1), np.linalg.norm(m, axis=0)
np.interp(1.5, p, p), np.interp(p, y, y), np.array_equal(p, y), np.array_equal(y, p + 1)
type(p @ y).__name__, type(y @ p).__name__, y @ p, m @ y, type(np.dot(p, y)).__name__, np.dot(y, p)
type(np.sum(p)).__name__, np.sum(m, axis=0), type(np.mean(m, axis=0)).__name__, np.array([p, p]), np.array([p, y])
(z := np.zeros((3, 2)), z.__setitem__((slice(None), 1), p), z.__setitem__((slice(0, 2), 0), p[1:]), z)[-1]
(z := np.zeros((3, 2)), z.__setitem__((0, 0), p[1]), z.__setitem__(1, m[:2, 1]), z)[-1]
np.array(m[:, 1]), np.array(y[::2]), np.asarray(m[:, 1], "f4"), np.copy(m.T).flags.f_contiguous
np.outer(masked, masked), np.linalg.norm(masked), np.cross(masked, p), np.array_equal(masked, masked)
np.outer(matrix, p), np.linalg.norm(matrix), np.array_equal(matrix, matrix)
numpy.atleast_1d(y, masked), numpy.concatenate([masked, y + 1]), numpy.copy(masked), numpy.stack([y, p])
numpy.atleast_2d(matrix, y), numpy.hstack([matrix, y[None]]), numpy.where(y > 1, masked, y), numpy.stack([y, quantity])
np.outer(quantity, y), np.cross(quantity, p)
"""
PLAIN = """\
import sys
numpy = sys.modules["numpy"]  # as libraries have it
class Plain(np.ndarray):
    pass
y = np.arange(3.0)
p, m = (y * 2).view(Plain), np.arange(9.0).reshape(3, 3).view(Plain)
masked, matrix, quantity = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), np.matrix([[1.0, 2.0]]), None
"""
QUANTITY = """\
class Quantity(np.ndarray):
    def __array_function__(self, function, types, args, options):
        return function.__name__, super().__array_function__(function, types, args, options)
quantity = y.view(Quantity)
"""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("program", [PLAIN, PLAIN + QUANTITY], ids=["without rules", "with rules"])
@pytest.mark.parametrize("expression", FUNCTIONS.splitlines())
def test_functions_of_plain_derived_classes_are_numpys(
    namespaces: list[dict[str, Any]], expression: str, program: str
) -> None:
    expected, found = values_with_both(expression, namespaces, program)
    assert found == expected
    assert "quantity" in expression or "Error" not in expected
