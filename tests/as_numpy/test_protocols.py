"""Protocols by which NumPy calls classes of programs, and by which programs and libraries ask about arrays and
functions, while forerun replaces NumPy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy
import pytest

from tests.support.processes.as_numpy_program import Run, values_with_both

# Classes as NumPy's documentation has them: functions are registered under the names that the program has for them.
CLASSES = """\
import inspect
handled = {}
def implements(function):
    return lambda implementation: handled.setdefault(function, implementation)
class Diagonal:
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        kinds = [type(v).__name__ for v in inputs]
        return ufunc.__name__, ufunc is np.multiply, ufunc is np.ldexp, method, kinds, "out" in kwargs
    def __array_function__(self, func, types, args, kwargs):
        if func not in handled or not all(issubclass(kind, (np.ndarray, Diagonal)) for kind in types):
            return NotImplemented
        return handled[func](*args, **kwargs)
for name in ("sum", "concat", "where", "einsum", "trim_zeros", "trapezoid", "linalg.inv", "fft.rfft"):
    function = np
    for part in name.split("."):
        function = getattr(function, part)
    implements(function)(lambda *args, name=name, **kwargs: name)
class Loud(np.ndarray):
    def __array_function__(self, func, types, args, kwargs):
        said.append((func.__name__, func is np.sum, func is np.concatenate))
        return super().__array_function__(func, types, args, kwargs)
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        said.append((ufunc.__name__, ufunc is np.add, method))
        plain = [v.view(np.ndarray) if isinstance(v, Loud) else v for v in inputs]
        return super().__array_ufunc__(ufunc, method, *plain, **kwargs), getattr(ufunc, method)(*plain, **kwargs)
class Mixed(np.lib.mixins.NDArrayOperatorsMixin):
    def __init__(self, value):
        self.value = np.asarray(value)
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        plain = [v.value if isinstance(v, Mixed) else v for v in inputs]
        return ufunc is np.add, getattr(ufunc, method)(*plain)
said = []
d, v, m = Diagonal(), np.arange(4.0).view(Loud), Mixed([1, 2])
"""
CALLS = """\
np.sum(d)
np.concatenate([d, d]), np.concat([d, x])
np.where(x > 1, d, x)
np.linalg.inv(d), np.fft.rfft(d), np.einsum('ii', d), np.trim_zeros(d), np.trapezoid(d)
np.mean(d)
np.multiply(d, 2), x * d, np.ldexp(d, 2), np.abs(d), np.add.reduce(d)
x.copy().__iadd__(d), np.add(x, d, out=x.copy()), np.divmod(x, d, out=(x.copy(), x.copy()))
[(a := x.copy(), exec('a += d', space := {'a': a, 'd': d}), space['a'])[-1] for _ in '1']
[(a := x.copy(), exec('a @= d', space := {'a': a, 'd': d}), space['a'])[-1] for _ in '1']
np.sum(v), np.concatenate([v, v]), said
v + 1, np.arange(4.0) + v, np.add.reduce(v), said
np.mean(v), np.linalg.norm(v), said
m + 1, -m, np.arange(2) + m, divmod(m, 2)
"""


@pytest.mark.parametrize("expression", CALLS.splitlines())
def test_classes_get_the_functions_that_the_program_knows(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces, CLASSES)
    assert found == expected


# Arrays that a class gets from NumPy's functions are of the class that the program knows.
GIVEN_ARRAYS = """\
class Asking:
    def __array_function__(self, function, types, args, kwargs):
        if function.__name__ == "copyto":
            args[0][...] = 7
        if "out" in kwargs:
            kwargs["out"][...] = 9
            return kwargs["out"]
        return function.__name__, look(args), look(kwargs)
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, look(inputs), kwargs.get("axis", 0), kwargs.get("keepdims")
def look(x):
    if isinstance(x, (list, tuple)):
        return type(x)(look(v) for v in x)
    return (x.view(type=np.ndarray) + 1) if isinstance(x, np.ndarray) else "asking" if isinstance(x, Asking) else x
a, y = Asking(), np.zeros(3)
"""
OF_ASKING = """\
np.dot(x, a), np.dot(a, x), np.where(a, x, f)
np.concatenate([x, a]), np.stack((a, x[0])), np.einsum('ij,jk', x, a)
np.tensordot(x, a, axes=([0], [1]))
np.copyto(y, a), y
np.mean(a, out=y) is y, y
np.add.reduce(a, axis=None), np.maximum.reduce(a, 1, keepdims=True), np.add.reduce(a)
np.add.at(a, [0], 3), np.add.at(x.copy(), [0], 3)
"""


@pytest.mark.parametrize("expression", OF_ASKING.splitlines())
def test_classes_get_arrays_of_the_class_that_the_program_knows(
    expression: str, namespaces: list[dict[str, Any]]
) -> None:
    expected, found = values_with_both(expression, namespaces, GIVEN_ARRAYS)
    assert found == expected
    assert "Error" not in found


ATTRIBUTES_OF_CLASSES = """\
class Maker:
    __getitem__ = np.array
    zeros, sine, made = np.zeros, np.sin, np.asarray
    total, norm = staticmethod(np.sum), np.linalg.norm
    def __len__(self):
        return 3
    def __array__(self, dtype=None, copy=None):
        return np.arange(3.0)
maker = Maker()
"""


@pytest.mark.parametrize(
    "expression",
    ["maker[1, 2, 3]", "maker['a', 'b']", "maker.zeros(2), maker.sine(0.5), maker.made([1]), maker.total([1, 2])",
     "maker.norm()", "Maker.zeros(1), Maker.norm([3, 4])"],
)  # fmt: skip
def test_functions_as_attributes_of_classes(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces, ATTRIBUTES_OF_CLASSES)
    assert found == expected
    assert "Error" not in found


# Programs that read NumPy's module as a dict, as libraries do that wrap each of its functions.
NAMES = """\
sorted(k for k, v in vars(np).items() if callable(v)) == sorted(k for k in dir(np) if callable(vars(np).get(k)))
[name for name in ('astype', 'sum', 'add', 'pi', 'float64', '__version__', 'ndarray') if name not in vars(np)]
[name for name in ('inv', 'norm', 'LinAlgError') if name not in vars(np.linalg)], 'fft' in vars(np.fft)
(lambda there: [(n, k) for n, k in there if getattr(np, n) is not getattr(np, k)])(\
[('concat', 'concatenate'), ('abs', 'absolute'), ('permute_dims', 'transpose'), ('pow', 'power')])
vars(np)['__getattr__']('__all__')
hasattr(np, 'alltrue')
"""


@pytest.mark.parametrize("expression", NAMES.splitlines())
def test_the_module_has_its_names_in_its_dict(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces)
    assert found == expected


def _positional(function: Any) -> int:
    return sum(p.kind <= p.POSITIONAL_OR_KEYWORD for p in inspect.signature(function).parameters.values())


@pytest.mark.parametrize("name", ["clip", "mean", "array", "zeros", "linalg.norm", "fft.fft", "where", "isscalar"])
def test_functions_have_numpys_signatures(name: str, run: Run) -> None:
    program: Any = run("import numpy as np")["np"]
    plain: Any = numpy
    for part in name.split("."):
        program, plain = getattr(program, part), getattr(plain, part)
    assert inspect.signature(program) == inspect.signature(plain)
    assert str(inspect.signature(program)) == str(inspect.signature(plain))
    assert (program.__module__, program.__qualname__) == (plain.__module__, plain.__qualname__)
    assert inspect.getfullargspec(program).args == list(inspect.signature(plain).parameters)[: _positional(plain)]
    assert inspect.getfullargspec(program.__wrapped__).args[0] == inspect.getfullargspec(program).args[0]
    bound = inspect.signature(plain).bind(1)
    assert inspect.signature(program).bind(1).arguments == bound.arguments


def test_the_namespace_of_an_array_is_what_the_caller_has_as_numpy(run: Run) -> None:
    names = run(
        "import numpy as np\n"
        "x = np.arange(3.0)\n"
        "def spaces():\n"
        "    return [v.__array_namespace__() for v in (x, x[0], x.sum())]\n"
        "found = spaces() + [x.__array_namespace__(api_version='2024.12')]\n"
        "try:\n"
        "    x.__array_namespace__(api_version='1999.12')\n"
        "except ValueError as error:\n"
        "    refused = str(error)\n"
    )
    assert all(space is names["np"] for space in names["found"])
    assert "1999.12" in names["refused"]
    assert names["x"].__array_namespace__() is numpy, "this file is not the program's"


ATTRIBUTES = """\
hasattr(f, '_repr_html_'), hasattr(f.sum(), '_repr_html_')
[(type(r).__module__, r) for r in (np.linalg.svd(np.eye(2)), np.linalg.eigh(np.eye(2)), np.linalg.qr(np.eye(2)))]
[(type(r).__module__, r) for r in (np.linalg.slogdet(np.eye(2)), np.unique_all(f), np.unique_counts(f))]
np.linalg.svd(np.eye(2), compute_uv=False), np.linalg.qr(np.eye(2), 'r'), np.linalg.qr(np.eye(2), 'raw')
(lambda a, b: (np.modf(f, a, b)[0] is a, np.frexp(f, a)[0] is a, a, b))(f.copy(), f.copy())
f.view(np.ndarray), f.view(type=np.ndarray), f.view('i8', np.ndarray), f.view(type(f))
[f.sum().view(*given) for given in ((), (np.ndarray,), ('i8',), ('f8', np.ndarray))], f.sum().view(type=np.ndarray)
(lambda v: (v.view(np.ndarray).fill(3), v))(f.copy()), f.view(np.float64, type=np.ndarray).dtype
[(isinstance(u, np.ufunc), u.nin, u.nout, u.signature) for u in (np.modf, np.frexp, np.divmod, np.matmul, np.ldexp)]
[isinstance(u, np.ufunc) for u in (np.add, np.sum, np.clip, len, 3)], np.ufunc.outer.__name__, hasattr(np.ufunc, 'no')
(lambda p: [p.loads(p.dumps(f))([1, 2], 2) for f in (np.ma.masked_equal, np.polyval)])(__import__('pickle'))
np.where.__doc__[:20], np.linalg.norm.__doc__[:20], f.sum.__doc__[:20]
(lambda d: d.execute('select ?, ?, typeof(?)', (f[1], x[1, 1], f.sum())).fetchall())(__import__('sqlite3').connect(''))
(lambda d: d.execute('select ?, ?', (x[0, 0] > 1, f.astype('f')[3])).fetchall())(__import__('sqlite3').connect(''))
f.sum().astype('timedelta64'), f.sum().astype('U4'), f.sum().view('M8[s]'), f.sum().byteswap()
"""


@pytest.mark.parametrize("expression", ATTRIBUTES.splitlines())
def test_attributes_and_methods(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces)
    assert found == expected


# The function that scikit-learn has, and many programs copy.
STREAMS = """\
import numbers
def check_random_state(seed):
    if seed is None or seed is np.random:
        return np.random.mtrand._rand
    if isinstance(seed, numbers.Integral):
        return np.random.RandomState(seed)
    if isinstance(seed, np.random.RandomState):
        return seed
    raise ValueError(f"{seed!r} cannot be used to seed")
stream = check_random_state(None)
"""
DRAWS = """\
check_random_state(stream) is stream, check_random_state(7).rand(2), isinstance(stream, np.random.RandomState)
np.random.seed(5), stream.randn(3), np.random.randn(2), stream.normal(size=2), np.random.random(2)
stream.seed(5), np.random.randn(3), stream.randn(2), stream.permutation(4), stream.randint(9, size=(2, 2))
(lambda before: (stream.rand(2), stream.set_state(before), np.random.rand(2)))((stream.seed(1), stream.get_state())[1])
(lambda v: (stream.seed(3), stream.shuffle(v), v, stream.choice(v, 2)))(np.arange(6))
isinstance(scipy_stream, np.random.RandomState), isinstance(scipy_rng, np.random.Generator)
isinstance(3, np.random.RandomState), np.random.default_rng(scipy_rng).random(2)
type(stream.normal(size=2)) == np.ndarray, type(np.random.mtrand.RandomState(3).rand(2)) == np.ndarray
np.random.mtrand.RandomState is np.random.RandomState, issubclass(type(stream), np.random.RandomState)
(lambda kind: (isinstance(stream, kind), kind(3).rand(2)))(type('Mine', (np.random.RandomState,), {}))
"""


@pytest.mark.parametrize("expression", DRAWS.splitlines())
def test_streams_that_programs_share_with_libraries(expression: str, namespaces: list[dict[str, Any]]) -> None:
    for space in namespaces:
        exec(STREAMS, space)
        space.update(scipy_stream=numpy.random.RandomState(3), scipy_rng=numpy.random.default_rng(3))
    expected, found = values_with_both(expression, namespaces)
    assert found == expected
    assert "Error" not in found


def test_libraries_draw_numpys_arrays_from_the_global_stream(run: Run) -> None:
    stream = run("import numpy as np\nstream = np.random.mtrand._rand")["stream"]
    assert type(stream.normal(size=2)) is numpy.ndarray, "this file is not the program's"


def test_pytest_imports_what_the_program_has(run: Run) -> None:
    names = run(
        "import pytest\n"
        "import numpy as np\n"
        "found = pytest.importorskip('numpy'), pytest.importorskip('numpy.linalg'), pytest.importorskip('json')\n"
    )
    np_of_program = names["np"]
    assert names["found"][0] is np_of_program
    assert names["found"][1] is np_of_program.linalg
    assert names["found"][2].__name__ == "json"
    assert pytest.importorskip("numpy") is numpy, "this file is not the program's"


def test_arrays_in_arrays_of_objects_are_the_programs(run: Run) -> None:
    names = run(
        "import numpy as np\n"
        "x, y = np.arange(3.0), np.arange(5.0)\n"
        "both = [np.array([x, y], dtype=object), np.asarray((x, y), 'O'), np.array([x, y], object)]\n"
        "same = [a[0] is x for a in both]\n"
        "both[0][0] += 1\n"
        "numbers = np.array([x[1], 'a', [x.sum()]], dtype=object)\n"
        "square = np.array([x, x], dtype=object)\n"
    )
    assert names["same"] == [True] * 3
    assert names["x"].tolist() == [1, 2, 3]
    assert [type(v) for v in names["numbers"]] == [numpy.float64, str, list]
    assert type(names["numbers"][2][0]) is numpy.float64
    assert (names["square"].shape, type(names["square"][0, 0])) == ((2, 3), float)


FILES = """\
np.load(saved(np.savez, a=np.array(['x', 'y']), c=np.arange(3)))['a']
(lambda file: (np.load(file), np.load(file)))(saved(np.save, np.array(['x'])))
np.load(saved(np.savez_compressed, o=np.array([1, 'a'], dtype=object)), allow_pickle=True)['o']
np.genfromtxt(io.StringIO('1 a\\n3 b'), dtype=None, encoding=None)['f1']
np.genfromtxt(io.StringIO('1 2\\n3 4'), dtype=None), np.genfromtxt(iter(['1 2.5', '3 4']), dtype=None)
np.genfromtxt(iter(['1 a', '3 b']), None)
(lambda file: (np.loadtxt(file, dtype=str, max_rows=1), file.read()))(io.StringIO('a b\\nc d'))
(lambda file: (np.loadtxt(file, max_rows=1), file.read()))(io.StringIO('1 2\\n3 4'))
(lambda file: (next(file), np.loadtxt(file, max_rows=1), file.read()))(lines(b'head\\n1 2\\n3 4'))
(lambda file: (next(file), np.genfromtxt(file)))(lines(b'head\\n1 2\\n3 4'))
"""
SAVED = """\
import io
def lines(text):
    return io.TextIOWrapper(io.BytesIO(text))
def saved(save, *args, **kwargs):
    file = io.BytesIO()
    save(file, *args, **kwargs)
    if save is np.save:
        save(file, np.arange(2))
    file.seek(0)
    return file
"""


@pytest.mark.parametrize("expression", FILES.splitlines())
def test_open_files_are_read_from_where_they_were(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces, SAVED)
    assert found == expected
    assert "Error" not in found
