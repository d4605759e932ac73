"""Programs that get forerun as NumPy: NumPy's rules, its errors, its random numbers, and features that forerun arrays
lack."""

from __future__ import annotations

import json
import numbers
import pickle
import warnings
from collections import abc
from typing import Any

import matplotlib.figure
import numpy
import pytest

from forerun import _core, as_numpy, np
from tests.support.processes.as_numpy_program import Run, value_of

SAME = """\
np.array([1, 2]).dtype
np.ones(3).dtype
np.arange(3) / 2
(np.arange(3) + np.ones(3, np.float32)).dtype
np.sqrt(np.arange(3, dtype=np.uint8)).dtype
np.exp(np.arange(3, dtype=np.int16)).dtype
np.arange(3, dtype=np.int8).mean().dtype
np.arange(4, dtype=np.uint8) / np.uint8(2)
f.dtype.name
np.linspace(0, 1, 5)
repr(f)
str(f)
f'{f}'
np.array2string(f, precision=2)
x.tolist()
isinstance(x, np.ndarray), isinstance(np.float64(1), np.ndarray)
issubclass(type(x), np.ndarray)
type(x) == np.ndarray, np.ndarray == type(x), str(type(x))
isinstance(np.add, np.ufunc), isinstance(np.sum, np.ufunc)
isinstance(f[0], float), isinstance(f[0], np.float64), isinstance(f.sum(), (list, float)), isinstance(x[0, 1], float)
isinstance(x[0, 1], int), isinstance(x[0, 1], np.int64), isinstance(f[0] * 1j, complex), isinstance(f, float)
__import__('numbers').Real in [k for k in (__import__('numbers').Real,) if isinstance(f[0], k)], f[0].__class__.__name__
np.ndarray((2, 3), dtype=int).shape
np.ndarray((2, 3)).dtype
np.ndarray.__name__
np.zeros(2).base is None, [n for n in dir(np.ndarray) if n[0] != '_' and getattr(np.ndarray, n) is None]
np.histogramdd([1.0, 2.0, 2.0], 2)[0], np.histogramdd([[1.0, 2.0], [2.0, 3.0]], 2)[0]
isinstance(frame['a'].to_numpy(), np.ndarray)
np.ndarray((2,), dtype='i4', buffer=b'12345678')
np.add.reduce(x), np.add.reduce(x, axis=1)
np.multiply.accumulate(x, axis=1)
np.subtract.outer(f, f)
np.maximum.reduceat(f, [0, 2])
np.add.nin, np.add.nout, np.add.identity, np.add.nargs
float(np.logaddexp.reduce(f))
np.allclose(f, f) is True
np.array_equal(f, f) is True, np.array_equiv(f, x) is False
# scalars
x[1, 2] * 2, f[0] + x[0, 1], f[1] / 3, f[0] > 0.1, (x[0, 0] == x[0, 0]).dtype, 2**0.5 * f[1]
type(x[0, 1] * 2.5 == 0).__name__ in ('bool', 'bool_', 'scalar') and (x[0, 1] * 2.5).dtype, (f[0] * x[0, 1]).dtype
f * f[0], x - x[1, 1], f[2] - f, (x * np.float32(2)).dtype, (f * np.int8(3)).dtype, f[0] * np.float64(0.1)
x[x[0, 1], x[0, 2]], f[x[0, 1]], f[np.argmax(f)], list(range(9))[x[1, 0]], x[np.argmin(f), -1]
[type(g(v)).__name__ for g in (np.real, np.imag) for v in (1 + 2j, 2.5, np.float64(2), np.complex64(1j), f[1], f, True)]
[type(g(v)).__name__ for g in (np.isreal, np.iscomplex) for v in (1 + 2j, 2.5, np.float64(2), f[1], f)]
[type(g(v)).__name__ for g in (np.squeeze, np.transpose) for v in (2.5, np.float64(2), np.bool_(True), f[1], f)]
[type(g(v)).__name__ for g in (np.nan_to_num, np.clip) for v in (2.5, np.float64(2), f[1], np.array(np.inf))]
[type(v).__name__ for v in (*np.broadcast_arrays(f[1], 2.0), *np.broadcast_arrays(f[1], f))]
np.ones(2, 'f4').round(np.int64(1)).dtype, np.round(np.float32(1.25), x[0, 1]), f.round(decimals=x[0, 2]), f.round(True)
[float(z) for z in (f + 2j)[:2]], int((f + 2j).sum()), float(np.vdot(f + 2j, f + 2j)), complex((f + 2j)[1])
[e * 2 for e in f], [row.sum() for row in x], sum(f), max(f), sorted(f)[0], f.item(1), x.item(1, 2)
np.int64(2**62) * np.int64(4) + x[0, 0], x[1, 2] // 2, x[1, 2] % 2, -f[0], abs(-f[1]), f[1] ** 2, divmod(x[1, 2], 2)
(lambda v: [v.__setitem__(0, v[1]), v.__setitem__(1, 7), v.tolist()])(f.copy())[-1]
(lambda v: (exec('v[0], v[-1] = v[-1], v[0]', {'v': v}), v.tolist())[-1])(f.copy())
(lambda v: (exec('v[[0, 1]] = v[[1, 0]]', {'v': v}), v.tolist())[-1])(f.copy())
(lambda v: (exec('v[0], v[1] = v[1].copy(), v[0].copy()', {'v': v}), v.tolist())[-1])(x.copy())
(lambda v: (np.add.at(v, [0, 0, 2], 1.5), v.tolist())[-1])(f.copy())
np.divide(1, f, out=np.zeros_like(f), where=f > 0.2)
[isinstance(f[1], kind) for kind in (abc.Sized, abc.Iterable, abc.Container, abc.Hashable)], np.iterable(f.sum())
[(hasattr(f[1], name), hasattr(f, name)) for name in ('__len__', '__iter__', '__contains__', '__float__')]
(f[1].hex(), x[0, 1].bit_count(), x[1, 2].numerator, x[1, 2].denominator, hasattr(f[1], 'bit_count'))
__import__('fractions').Fraction(x[1, 2]), __import__('fractions').Fraction(f[1])
json.dumps({'sum': f.sum(), 'all': [f[1]]}), json.dumps([f[1]], indent=1)
json.dumps([x[0, 1]], default=int), json.dumps(f, default=np.ndarray.tolist, indent=1)
# dtypes that forerun arrays cannot have
np.array(['b', 'a'])
np.sort(np.array(['b', 'a']))
np.unique(np.array(['b', 'a', 'b']), return_counts=True)
np.array([1, 'a'], dtype=object)
np.array([{}, []], dtype=object).dtype
np.zeros(2, dtype=[('a', int), ('b', float)])
np.array(['2024-01-01'], dtype='M8[D]') + np.arange(2)
np.arange(3) * np.timedelta64(1, 'D')
np.where(f > 0.5, 'a', 'b')
np.full(2, 'x')
np.empty(2, object)
np.char.upper(np.array(['a']))
np.concatenate([['a'], ['b']])
f.astype(str)
f.astype(object)
np.array(None).dtype
np.array([1, 'a'])
np.add(np.array(['a'], object), 'b')
np.frompyfunc(lambda a, b: a + b, 2, 1)(f, 1)
np.float128(1) + f[:0].size
(np.array([1, 2], object) * x[0, :2])
x[0, :2] * np.array([1, 2], object)
np.add.reduce(x.astype(object), axis=None), np.add.reduce(x.astype(object)), np.maximum.reduce(x.astype('g'), None)
f.__reduce__(), f[0].__reduce__(), np.setdiff1d(x, np.zeros(0)), np.setdiff1d(x, f), np.setdiff1d([1, 2], f)
np.add.reduce(np.matrix(x), axis=None), np.logical_or.reduce(x.astype(object), axis=None, keepdims=True)
np.array(['a', 'b'])[np.argsort(np.array(['b', 'a']))]
np.isin(np.array(['a', 'b']), ['b'])
np.array(['a', 'b', 'a'])[np.array([2, 0])]
np.array(['a', 'b']) == 'a'
int(np.sum(np.array(['a', 'b']) == 'a'))
np.array([[b'a'], [b'c']]), np.concatenate([np.array(['a']), np.array(['b'])]), np.unique(np.array(['b', 'a']))
np.zeros(2, [('a', int)]), np.empty(2, object), np.zeros(2, str), np.full(2, 'a'), np.loadtxt(['1 2', '3 4'])
np.array(['1', '2'], dtype=float), np.array(['1', '2']).astype(float), np.sort(np.array(['b', 'a']), kind='stable')
# arrays of derived classes
[type(g(f.view(np.recarray))).__name__ for g in (np.asarray, np.array, np.ascontiguousarray, np.asfortranarray)]
[type(g(f.view(np.recarray))).__name__ for g in (np.asanyarray, np.zeros_like, np.cumsum, np.copy)]
type(np.array(f.view(np.recarray), subok=True)).__name__, np.array(np.matrix([[1, 2]])).ndim
np.asarray(f.view(np.recarray), dtype='f4'), np.asarray(np.ones((300, 300)).view(np.recarray)).sum()
np.asarray(np.ma.array(f, mask=f > 0.5)), np.dot(f, f.view(np.recarray)), np.mean(np.ma.array([1.0, 3.0], mask=[0, 1]))
# functions that forerun lacks
np.polynomial.polynomial.polyval(f, [1, 2])
np.poly1d([1, 2])(f)
np.ma.masked_array(f, f > 0.5).sum()
np.matrix([[1, 2], [3, 4]]) * 2
np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
x.byteswap()[0]
f.data.format, f.ctypes.data > 0
sorted(np.__all__) == np.__all__ or True
np.nditer(x).shape
[int(v) for v in np.nditer(x)]
np.testing.assert_allclose(f, f)
(lambda v: ([e.__setitem__(..., 2 * e + 1) for e in np.nditer(v, op_flags=['readwrite'])], v)[1])(x.copy())
(lambda v: ([e.__setitem__(..., k) for k, e in enumerate(np.nditer(v, [], [['writeonly']]))], v)[1])(x.T.copy().T)
stepped(f.copy(), ['multi_index']), stepped(x.T.copy().T, ['multi_index', 'c_index']), stepped(np.ones(()), [])
(lambda it: (len(it), it.itersize, it.finished, it.operands[0] is x))(np.nditer(x, ['c_index'], ['readwrite']))
isinstance((b := __import__("io").BytesIO(), np.savez(b, f), b.seek(0), np.load(b))[-1], np.lib.npyio.NpzFile)
[isinstance(it, np.nditer) for it in (np.nditer(x), np.nditer(x.copy(), [], ['readwrite']), x, np.nditer)]
np.nditer(x, ['external_loop'], ['readonly'])[0], [int(a + b) for a, b in np.nditer([x, x])]
x.device == 'cpu', 'cpu' != f[0].device, x.device == 'gpu', {x.device} == {'cpu'}, x.to_device(x.device).device == 'cpu'
np.array([(f[0], 1, 0.5), (2.5, f[1], x[0, 1])], float), np.array((f[1], 2), 'f4'), np.array([f[1], 2], int)
np.vectorize(lambda a: a + 1)(f)
np.vectorize(lambda a: 'x')(f)
np.fromiter((i for i in range(3)), float)
np.fromiter((i for i in 'abc'), 'U1')
np.__version__
np.typing.NDArray.__name__
np.typing.NDArray[np.float64], np.typing.ArrayLike, np.typing.NDArray[np.int64] | None
__import__('numpy.typing').typing is np.typing, np.typing.NBitBase.__name__
isinstance(x, np.ndarray | list), isinstance([], list | np.ndarray), isinstance(3, np.ndarray | None)
np.ndarray | None, list | np.ndarray, np.ndarray.__module__
np.ndarray[tuple[int], np.dtype[np.float64]].__name__
np.geterr()
np.finfo(float).eps
# classes with rules of their own
type(np.exp(frame['a'])).__name__
np.exp(frame['a']).sum()
np.mean(frame['a'])
type(np.asarray(frame)).__name__
np.asarray(frame).sum(axis=0)
np.array(frame['a'])
type(np.add(sub, 1)).__name__
f[:2] * sub
np.sum(sub)
# errors are NumPy's
np.ones((3, 4)) + np.ones((2, 5))
np.concatenate([np.ones(2), np.ones((2, 2))])
np.linalg.inv(np.zeros((2, 2)))
np.linalg.cholesky(-np.eye(2))
np.linalg.eigvals(np.array([[2.0, 1], [1, 2]])).dtype
np.linalg.eigvals(np.array([[0.0, 1], [-1, 0]])).dtype
[v.dtype for v in np.linalg.eig(np.eye(2))]
type(np.linalg.eig(np.eye(2))).__name__
np.linalg.eigvals(np.eye(2) * 1j).dtype
np.linalg.solve(np.zeros((2, 2)), np.ones(2))
np.reshape(x, (4, 4))
x.reshape(4, 4)
np.zeros(3).sum(axis=2)
np.add(1, 2, 3, 4)
np.append(x, 3), np.append(x[0], 2.5), np.append(f, 3), np.append([], 3), np.append([1, 2], x[0]), np.append(f, x[0, 1])
np.append(x, x), np.append(x, [[7, 8, 9]], axis=0), np.append(f, True), np.append(f, 2**70), np.append(f, [x[0, 1], 2])
np.nothing
np.linalg.nothing
np.stack([])
np.array([[1], [1, 2]])
np.arange(3, dtype=int).__iadd__(0.5)
np.uint8(300)
np.split(x, 4)
np.dot(x, x)
np.result_type(f, x), np.result_type(x[0, 1], 'f4'), np.result_type(np.ones(2, 'f4'), 2.5), np.result_type(sub, x)
np.result_type()
np.result_type(f, 'nothing')
np.isscalar(x), np.isscalar(f[0]), np.isscalar(np.array(1.0)), np.isscalar('a')
np.polyval([1, 2], x), np.polyval([1.5, 2], x[0]), np.polyval(f, 2), np.polyval(x[0], f), np.polyfit(x[0], f[:3], 1)
np.take(f, 1), f.take(-5), x.take(4), np.take(x, 1, axis=1), np.take(f, -1, axis=0), np.take(f, 7, mode='wrap')
np.take(f, 5)
f.take(-6)
any(x.flat == 3), (x.T.flat > 2).sum(), isinstance(x.flat, np.flatiter), isinstance(f.astype(str).flat, np.flatiter)
float(f[:1])
int(x[:1, :1])
complex(f[:1])
round(f[:1])
np.float64(f[1:2]), np.float64(x[:1, 1:2]), np.float64(f[1]), float(f[1]), int(x[1, 2]), complex(f[1]), round(f[1], 1)
float(np.array(2.5)), int(np.array(2.5)), complex(np.array(2)), complex(np.array(2j)), float(f[:0])
"""
DRAWS = """\
np.random.default_rng(42).random(5)
np.random.default_rng(42).normal(size=(2, 3))
np.random.default_rng(1).integers(0, 10, 6)
np.random.default_rng(1).choice(5, 3, replace=False)
np.random.default_rng(1).permutation(6)
np.random.default_rng(1).choice(['a', 'b'], 3)
np.random.default_rng(np.random.SeedSequence(5)).random(2)
np.random.default_rng(2).multivariate_normal(np.zeros(2), np.eye(2), 2)
np.random.default_rng(3).standard_normal(3, dtype=np.float32)
np.random.default_rng(3).random()
type(np.random.default_rng(3).random())
np.random.default_rng(3).dirichlet([1, 2], 2)
(np.random.seed(0), np.random.rand(3), np.random.randn(2, 2), np.random.randint(0, 5, 4))
np.random.RandomState(3).permutation(5)
np.random.RandomState(3).uniform(np.zeros(2), np.ones(2))
np.random.Generator(np.random.PCG64(7)).gamma(2.0, size=2)
isinstance(np.random.default_rng(), np.random.Generator)
[g.random() for g in np.random.default_rng(5).spawn(2)]
(r := np.random.default_rng(9), y := np.arange(6), r.shuffle(y), y)[1:]
(np.random.seed(4), y := np.arange(6), np.random.shuffle(y), y)
(r := np.random.default_rng(9), y := np.zeros(3), r.random(out=y), y)[1:]
(r := np.random.default_rng(9), y := np.zeros(3), r.random(3, float, y), y, r.standard_gamma(2.0, None, float, y))[1:]
np.random.default_rng(9).permuted(np.arange(6).reshape(2, 3), axis=1)
(np.random.seed(8), s := np.random.get_state(), np.random.rand(2), np.random.set_state(s), np.random.rand(2))[2:]
(r := np.random.default_rng(9), y := [3, 4, 5, 6], r.shuffle(y), y)[1:]
np.random.default_rng(1).integers(5)
(np.random.seed(3), np.random.permutation(np.arange(9.)), np.random.choice(np.arange(9), 3), np.random.choice([1, 2]))
(np.random.seed(3), np.random.normal(np.arange(3.), 1.0), np.random.multinomial(5, [0.2, 0.8]), np.random.rand())
(r := np.random.default_rng(4), y := np.arange(9.), r.permutation(y), r.normal([1.0, 2.0], [0.1, 0.2]))[1:]
(r := np.random.default_rng(4), r.choice(np.arange(4.), p=np.arange(4) / 6), r.integers(0, np.arange(5) + 1))[1:]
(r := np.random.default_rng(4), y := np.arange(9.), r.permuted(y, out=y), y, r.choice(y, 2, replace=False))[2:]
np.random.randint(5, dtype=np.int32) < 5
[type(np.random.default_rng(1).choice(9)).__module__, type(np.random.RandomState(1).rand()).__name__]
(r := np.random.default_rng(4), r.choice(9, 4, False), r.choice(9, 4, p=[1 / 9] * 9), r.choice(9))[1:]
(r := np.random.RandomState(4), r.choice(9, 4, False), r.choice(9, 4, True, [1 / 9] * 9), r.randn(2), r.tomaxint(2))[1:]
(r := np.random.default_rng(4), r.multivariate_normal([0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 3), r.permutation(3))[1:]
(np.random.seed(2), x := np.random.rand(3), str(x[0]), f'{x[1]}', str(x.sum() / 3e-9), str(np.arange(3)[1]))
"""


@pytest.mark.parametrize("expression", [line for line in SAME.splitlines() if line[0] != "#"])
def test_expressions_have_their_values_with_numpy(namespaces: list[dict[str, Any]], expression: str) -> None:
    numpy_names, forerun_names = namespaces
    assert forerun_names["np"] is not numpy_names["np"]
    assert value_of(expression, forerun_names) == value_of(expression, numpy_names)


def test_a_complex_scalar_as_a_real_number_warns_as_with_numpy(run: Run) -> None:
    names = run("import numpy as np\nz = np.array([1 + 2j])[0]\ndef read(): return float(z), int(z)\n")
    with pytest.warns(numpy.exceptions.ComplexWarning, match="discards the imaginary part"):
        assert names["read"]() == (1.0, 1)


def test_functions_are_forerun_s_own(run: Run) -> None:
    module = run("import numpy as np")["np"]
    for name in ("add", "exp", "maximum", "sqrt"):
        assert getattr(module, name) is getattr(np, name)
    for name in ("zeros", "sum", "concatenate", "where", "dot"):
        assert getattr(module, name).__wrapped__ is getattr(np, name)
        assert vars(module)[name] is getattr(module, name), "looked up once"
    assert pickle.loads(pickle.dumps(module.sum)) is module.sum


def test_an_error_of_numpys_function_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear algebra of one matrix is NumPy's in the calling thread: a failed call is not tried once more."""
    calls = []
    inv = numpy.linalg.inv

    def counted(a: Any) -> Any:
        calls.append(a)
        return inv(a)

    monkeypatch.setattr(numpy.linalg, "inv", counted)
    with pytest.raises(numpy.linalg.LinAlgError, match=r"^Singular matrix$"):
        run("import numpy as np\nnp.linalg.inv(np.zeros((40, 40)))")
    assert len(calls) == 1
    found = as_numpy.report()
    assert found is not None
    assert found.rows() == []


def test_no_public_name_of_numpy_is_missing(run: Run) -> None:
    module = run("import numpy as np")["np"]
    for path in ("", "linalg", "fft", "random", "testing", "ma", "polynomial", "char", "lib.stride_tricks"):
        namespace, numpy_namespace = module, numpy
        for part in path.split(".") if path else ():
            namespace, numpy_namespace = getattr(namespace, part), getattr(numpy_namespace, part)
        public = getattr(numpy_namespace, "__all__", [name for name in dir(numpy_namespace) if name[0] != "_"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a name that NumPy is about to remove
            missing = [name for name in public if not hasattr(namespace, name)]
        assert missing == [], path
        assert set(dir(numpy_namespace)) <= set(dir(namespace))
    attributes = [name for name in dir(numpy.ndarray) if not name.startswith("_")]
    assert [name for name in attributes if not hasattr(np.ndarray, name)] == []


def test_scalars_are_numbers_for_libraries(run: Run) -> None:
    """Scikit-learn, for example, asks of each of its parameters whether it is a real number."""
    f = run("import numpy as np\nf = np.arange(3.0)")["f"]
    library = {"__name__": "sklearn.utils", "x": f[1], "numbers": numbers, "numpy": numpy}
    asked = "[isinstance(x, kind) for kind in (numbers.Real, float, numpy.floating, int, numbers.Integral)]"
    assert eval(asked, library) == [True, True, True, False, False]
    assert eval("isinstance(x, float)", {"__name__": "forerun.ops", "x": f[1]}) is False


def test_numpys_functions_give_libraries_numpys_arrays(run: Run) -> None:
    """SciPy's optimizers pass the result of `numpy.atleast_1d` for a gradient to functions in C."""
    names = run("import numpy as np\nx = np.array([3.0, 1.0])\nout = np.zeros(2)\n")
    x, out = names["x"], names["out"]
    for made in (numpy.atleast_1d(x), numpy.concatenate([x, x]), numpy.sort(x), numpy.zeros_like(x)):
        assert type(made) is numpy.ndarray
    assert numpy.cumsum(x, out=out) is out
    numpy.copyto(x, out)
    assert (x.tolist(), out.tolist()) == ([3, 4], [3, 4])
    found = run(
        "import numpy as np\n"
        "from scipy.optimize import minimize\n"
        "a, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0])\n"
        "ways = ('L-BFGS-B', 'SLSQP', 'TNC')\n"
        "found = [minimize(lambda x: 0.5 * x @ a @ x - b @ x, b, jac=lambda x: a @ x - b, method=m).x for m in ways]\n"
    )["found"]
    assert numpy.allclose(numpy.array(found), [0, 1], atol=1e-3)


def test_polyfit_warns_at_the_call(run: Run) -> None:
    names = run(
        "import numpy as np, warnings\n"
        "def fit(x):\n"
        "    with warnings.catch_warnings():\n"
        "        warnings.simplefilter('error')\n"
        "        np.polyfit(x, x, 3)\n"
        "x, few = np.ones(5000), np.ones(5)\n"
    )
    for x in (names["x"], names["few"]):
        with pytest.raises(numpy.exceptions.RankWarning, match="poorly conditioned"):
            names["fit"](x)


def test_scalars_are_no_containers_while_numpy_is_replaced(run: Run) -> None:
    s = run("import numpy as np\ns = np.arange(3.0)[1]")["s"]
    for wrong in (len, iter, list, lambda s: 1 in s, lambda s: s.__len__):
        with pytest.raises((TypeError, AttributeError), match=r"'numpy\.float64'"):
            wrong(s)
    assert not isinstance(s, (abc.Sized, abc.Iterable, abc.Container, abc.Collection))
    as_numpy.uninstall_as_numpy()
    assert isinstance(s, abc.Sized)
    assert isinstance(s, abc.Collection)
    assert hasattr(s, "__iter__")
    with pytest.raises(TypeError, match="len: array must have"):
        len(s)
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(s)


class TestArrays:
    def test_shape_and_dtype_are_set_in_place(self, run):
        names = run(
            "import numpy as np\n"
            "x = np.arange(6)\n"
            "view = x[:]\n"
            "late = x * 2\n"
            "x.shape = 2, -1\n"
            "x[1, 0] = 70\n"
            "b = np.arange(2.0)\n"
            "b.dtype = np.int64\n"
        )
        assert (names["x"].shape, names["view"].tolist()) == ((2, 3), [0, 1, 2, 70, 4, 5])
        assert names["late"].tolist() == [0, 2, 4, 6, 8, 10]
        assert (names["b"].dtype, names["b"].tolist()) == (numpy.int64, [0, 4607182418800017408])
        with pytest.raises(AttributeError, match="without a copy"):
            names["x"].T.shape = (6,)
        with pytest.raises(ValueError, match="reshape"):
            names["x"].shape = (4,)
        with pytest.raises(AttributeError):
            names["x"].size = 3

    def test_arrays_are_locked_and_unlocked(self, run):
        names = run(
            "import numpy as np\n"
            "x, y, z = np.arange(3.0), np.arange(3.0), np.arange(3.0)\n"
            "late = x + 1\n"
            "x.flags.writeable = False\n"
            "y.setflags(write=False)\n"
            "z.flags['WRITEABLE'] = False\n"
            "part = y[1:]\n"
        )
        for name in ("x", "y", "z", "part"):
            locked = names[name]
            assert (locked.flags.writeable, (locked + 1).flags.writeable) == (False, True)
            for write in ("v[0] = 7", "v += 1", "v.sort()", "v.fill(2)", "np.copyto(v, 1)", "np.add(v, 1, out=v)"):
                with pytest.raises(ValueError, match="read-only"):
                    exec(write, {"v": locked, "np": names["np"]})
        assert names["late"].tolist() == [1, 2, 3]
        ways = {"x": "v.flags.writeable = True", "y": "v.setflags(write=True)", "z": "v.flags['W'] = 1"}
        for name, unlock in ways.items():
            exec(f"{unlock}; v[0] = 7", {"v": names[name]})
            assert names[name].tolist() == [7, 1, 2]
            assert names[name].flags.writeable is True
        repeated = names["np"].broadcast_to(names["x"], (2, 3))
        with pytest.raises(ValueError, match=r"^cannot set WRITEABLE flag to True of this array$"):
            repeated.flags.writeable = True
        with pytest.raises(AttributeError, match=r"^attribute 'owndata' of .* is not writable$"):
            names["x"].flags.owndata = True
        with pytest.raises(KeyError, match="Unknown flag"):
            names["x"].flags["C"] = True
        with pytest.raises(ValueError, match="WRITEBACKIFCOPY"):
            names["x"].setflags(uic=True)
        with pytest.raises(NotImplementedError, match="setflags: align must be True"):
            names["x"].setflags(align=False)

    def test_matplotlib_takes_the_values_as_a_whole(self, run, monkeypatch):
        x = run("import numpy as np\nx = np.linspace(0, 1, 50)")["x"]
        monkeypatch.setattr(np.ndarray, "__iter__", None)
        axes = matplotlib.figure.Figure().subplots()
        counts, _, _ = axes.hist(x, 5)
        assert counts.tolist() == [10] * 5

    def test_writes_to_arguments_are_visible(self, run):
        names = run(
            "import numpy as np\n"
            "a = np.zeros(3); m = np.zeros((2, 2)); o = np.ones(3)\n"
            "np.copyto(a, np.array(['1', '2', '3']), casting='unsafe')\n"
            "np.fill_diagonal(m, 5)\n"
            "np.add.at(a, [0, 0], 1)\n"
            "r = np.add(o, 1, out=o, where=np.array([True, False, True]))\n"
            "text = np.array(['a', 'b'], dtype=object); out = np.empty(2, object)\n"
            "s = np.add(text, 'c', out=out)\n"
        )
        assert names["a"].tolist() == [3, 2, 3]
        assert names["m"].tolist() == [[5, 0], [0, 5]]
        assert names["r"] is names["o"]
        assert names["o"].tolist() == [2, 1, 2]
        assert names["s"] is names["out"]
        assert names["out"].tolist() == ["ac", "bc"]

    def test_numpys_arrays_of_libraries_are_written_to_as_well(self, run):
        names = run("import numpy as np")
        array = numpy.arange(3.0)
        names["np"].add(array, names["np"].ones(3), out=array)
        array += names["np"].ones(3)
        array[0] = names["np"].float64(9)
        names["np"].copyto(array[1:], names["np"].zeros(2))
        assert array.tolist() == [9, 0, 0]

    def test_a_class_derived_from_ndarray_is_numpys(self, run):
        names = run(
            "import numpy as np\n"
            "class Named(np.ndarray):\n"
            "    def __new__(cls, values, name):\n"
            "        self = np.asarray(values).__array__().view(cls)\n"
            "        self.name = name\n"
            "        return self\n"
            "    def __array_finalize__(self, other):\n"
            "        super().__array_finalize__(other)\n"
            "        self.name = getattr(other, 'name', None)\n"
            "x = Named([1.0, 2.0], 'price')\n"
            "y = np.sqrt(x) + np.ones(2)\n"
        )
        assert issubclass(names["Named"], numpy.ndarray)
        assert (names["y"].name, type(names["y"])) == ("price", names["Named"])


class TestRandom:
    @pytest.mark.parametrize("draw", DRAWS.splitlines())
    def test_the_numbers_are_numpys(self, namespaces, draw):
        numpy_names, forerun_names = namespaces
        assert value_of(draw, forerun_names) == value_of(draw, numpy_names)

    def test_the_program_gets_forerun_arrays_and_libraries_get_numpys(self, run):
        library = {"__file__": "/usr/lib/site-packages/library.py", "__name__": "library"}
        exec("def drawn(rng): return rng.standard_normal(3)", library)
        names = run(
            "import numpy as np\nrng = np.random.default_rng(1)\nfew, many = rng.random(3), np.random.rand(10_000)\n"
        )
        names["drawn"] = library["drawn"](names["np"].random.default_rng(1))
        assert isinstance(names["few"], _core.Array)
        assert isinstance(names["many"], _core.Array)
        assert type(names["drawn"]) is numpy.ndarray
        assert names["drawn"].tolist() == numpy.random.default_rng(1).standard_normal(3).tolist()

    def test_a_generator_is_copied_and_pickled_with_its_state(self, run):
        names = run(
            "import numpy as np, pickle, copy\n"
            "rng = np.random.default_rng(1)\n"
            "again = pickle.loads(pickle.dumps(rng)); other = copy.deepcopy(rng)\n"
            "a, b, c = rng.random(2), again.random(2), other.random(2)\n"
        )
        assert names["a"].tolist() == numpy.asarray(names["b"]).tolist() == numpy.asarray(names["c"]).tolist()
