"""Programs that get forerun as NumPy: the classes that libraries see, and pickles for other processes."""

from __future__ import annotations

import builtins
import importlib.util
import pickle
import subprocess
import sys
from typing import Any

import array_api_compat
import numpy
import pytest

from forerun import _core, as_numpy, np
from tests.support.processes.as_numpy_program import Run, values_with_both

GIVEN = "import numpy as np\nx, s = np.arange(4.0), np.arange(4.0)[3]\n"
LIBRARY = """\
import functools, numpy
@functools.singledispatch
def kind(x):
    return "other"
@kind.register
def _(x: numpy.ndarray):
    return "array"
found = [(kind(v), isinstance(v, numpy.ndarray), isinstance(v, numpy.floating), isinstance(v, list)) for v in values]
"""


def test_libraries_see_numpys_classes(run: Run) -> None:
    names = run(GIVEN)
    library: dict[str, Any] = {"__name__": "library", "values": [names["x"], names["s"]]}
    exec(LIBRARY, library)
    assert library["found"] == [("array", True, False, False), ("other", False, True, False)]


def test_modules_of_forerun_see_the_type(run: Run) -> None:
    names = run(GIVEN)
    module: dict[str, Any] = {**names, "__name__": "forerun.module"}
    exec("found = x.__class__", module)
    assert module["found"] is np.ndarray


def test_classes_of_the_program(run: Run) -> None:
    names = run(
        f"{GIVEN}"
        "import functools\n"
        "@functools.singledispatch\n"
        "def kind(x): return 'other'\n"
        "@kind.register(np.ndarray)\n"
        "def _(x): return 'array'\n"
        "kinds = kind(x), kind(s), kind([1])\n"
        "same = x.__class__ == np.ndarray == type(x), {np.ndarray: 1}[x.__class__], isinstance(x, np.ndarray)\n"
    )
    assert names["kinds"] == ("array", "other", "other")
    assert names["same"] == (True, 1, True)


def test_arrays_have_their_type_without_the_replacement() -> None:
    x = np.ones(2)
    library: dict[str, Any] = {"__name__": "library", "values": [x]}
    exec(LIBRARY, library)
    assert library["found"] == [("other", False, False, False)]
    assert x.__class__ is type(x)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_have_numpys_arrays(run: Run, protocol: int) -> None:
    text = run(f"{GIVEN}import pickle\ntext = pickle.dumps((x, x[::2], s, s > 1, x[:0], x.T), {protocol})\n")["text"]
    values = pickle.loads(text)
    assert [type(v) for v in values] == [numpy.ndarray] * 2 + [numpy.float64, numpy.bool_] + [numpy.ndarray] * 2
    assert [v.tolist() for v in values] == [[0, 1, 2, 3], [0, 2], 3, True, [], [0, 1, 2, 3]]
    code = "import pickle, sys; pickle.load(sys.stdin.buffer); print('forerun' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, check=False)
    assert (done.stdout.strip(), done.returncode) == (b"False", 0), done.stderr


def test_functions_and_classes_are_numpys_in_processes_without_the_replacement(run: Run) -> None:
    given = run(f"{GIVEN}import pickle\ngiven = [np.subtract, np.sum, np.linalg.norm, np.ndarray]\n")["given"]
    code = (
        "import numpy, pickle, sys\n"
        "found = pickle.load(sys.stdin.buffer)\n"
        "print(found == [numpy.subtract, numpy.sum, numpy.linalg.norm, numpy.ndarray])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=pickle.dumps(given), capture_output=True, check=True)
    assert done.stdout.split() == [b"True"]
    here = pickle.loads(pickle.dumps(given))
    assert (here[:3] == given[:3], here[3] is numpy.ndarray) == (True, True)


def test_operations_and_classes_are_pickled_by_name_without_the_replacement(run: Run) -> None:
    given = [np.subtract, np.sum, np.ndarray]
    run(GIVEN)
    as_numpy.uninstall_as_numpy()
    assert all(a is b for a, b in zip(pickle.loads(pickle.dumps(given)), given, strict=True))


NAMED = """\
np.sum, np.linalg.norm, np.strings.str_len, np.char.add, np.isnat, np.result_type
np.apply_along_axis, np.piecewise, np.fromfunction, np.isscalar
np.ufunc, np.flatiter, np.vectorize, np.nditer, np.random.Generator, np.random.RandomState
np.random.default_rng, np.random.Generator.normal, np.random.RandomState.shuffle
"""
SAVED = (
    "import io, pickle\n"
    "def read(x, pickler):\n"
    "    file = io.BytesIO()\n"
    "    pickler(file).dump(x)\n"
    "    return pickle.loads(file.getvalue())\n"
)


@pytest.mark.parametrize("pickler", ["pickle.Pickler", "pickle._Pickler"])
@pytest.mark.parametrize("functions", NAMED.splitlines())
def test_functions_are_pickled_by_their_names(namespaces: list[dict[str, Any]], functions: str, pickler: str) -> None:
    expression = f"[read(v, {pickler}) is v for v in ({functions})]"
    numpys, foreruns = values_with_both(expression, namespaces, SAVED)
    assert foreruns == numpys == str([True] * len(functions.split(", ")))


PICKLES = """\
read(np.vectorize(abs), pickle.Pickler)([-1.0, 2.0]), isinstance(read(np.vectorize(abs), pickle.Pickler), np.vectorize)
read(np.random.normal, pickle.Pickler)(size=2).shape, read([np.char.add], pickle._Pickler)[0](['a'], ['b'])
read(np.c_, pickle.Pickler)[f, f], read(np.mgrid, pickle._Pickler)[:2, :2]
read(np.random.default_rng, pickle._Pickler)(3).normal(size=3), read(np.random.default_rng(3).normal, pickle.Pickler)()
"""


@pytest.mark.parametrize("expression", PICKLES.splitlines())
def test_functions_from_pickles_return_the_same(namespaces: list[dict[str, Any]], expression: str) -> None:
    numpys, foreruns = values_with_both(expression, namespaces, SAVED)
    assert foreruns == numpys


ANNOTATED = """\
import numpy as np
from numpy.random import default_rng
def drawn(x, kinds=(np.ndarray, np.random.Generator, np.ufunc, np.vectorize)):
    return x + default_rng(3).normal(size=3)
drawn.__annotations__ = {"x": np.ndarray}
given = {"x": np.ones(3)}
"""


def test_functions_with_annotations_are_pickled_by_their_contents(run: Run) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    names = run(ANNOTATED)
    saved = cloudpickle.dumps((names["drawn"], names["given"]))
    code = (
        "import numpy, pickle, sys\n"
        "drawn, given = pickle.load(sys.stdin.buffer)\n"
        "kinds = drawn.__annotations__['x'], *drawn.__defaults__[0][1:]\n"
        "numpys = numpy.ndarray, numpy.random.Generator, numpy.ufunc, numpy.vectorize\n"
        "print(kinds == numpys, drawn(**given).tolist())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], input=saved, capture_output=True, check=False)
    assert done.stdout.decode().split(maxsplit=1) == ["True", f"{names['drawn'](**names['given']).tolist()}\n"], done


def test_a_librarys_copy_of_cloudpickle_pickles_the_classes_by_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    name, original = "numba.cloudpickle.cloudpickle", pytest.importorskip("cloudpickle.cloudpickle")
    spec: Any = importlib.util.spec_from_file_location(name, original.__file__)
    library = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(library)
    monkeypatch.setitem(sys.modules, name, library)
    names = run(f"import scipy.sparse\n{ANNOTATED}")
    assert pickle.loads(library.dumps(names["drawn"].__annotations__)) == {"x": numpy.ndarray}


COPIED = "import copy\nstreams = np.random.default_rng(3), np.random.RandomState(3)\nstreams[1].normal()\n"


def test_copies_of_generators_go_on_with_the_same_numbers(namespaces: list[dict[str, Any]]) -> None:
    draws = "type(c.normal(size=2)) is type(f), c.normal(), s.normal(size=2), s.normal()"
    expression = f"[(type(c) is type(s), {draws}) for s in streams for c in [copy.deepcopy(s), copy.copy(s)]]"
    numpys, foreruns = values_with_both(expression, namespaces, COPIED)
    assert foreruns == numpys


def test_copies_stay_arrays_of_forerun(run: Run) -> None:
    names = run(f"{GIVEN}import copy\ncopies = copy.copy(x), copy.deepcopy([x])[0], copy.deepcopy(s)\n")
    assert [_core.is_scalar(v) for v in names["copies"]] == [False, False, True]
    assert all(isinstance(v, _core.Array) for v in names["copies"])


def test_pickles_without_the_replacement_have_arrays_of_forerun() -> None:
    assert type(pickle.loads(pickle.dumps(np.ones(2)))) is np.ndarray


def test_namespaces_of_the_array_api(run: Run) -> None:
    names = run(
        f"{GIVEN}import array_api_compat as compat\n"
        "space = compat.array_namespace(x, s, np.ones(2))\n"
        "kinds = compat.is_numpy_array(x), compat.is_array_api_obj(x), compat.size(x)\n"
    )
    assert names["space"] is array_api_compat.array_namespace(numpy.ones(1))
    assert names["kinds"] == (True, True, 4)


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("value", ["None", "3", "[1]", "'a'", "np.float64(1)", "np", "np.ndarray", "x[0]", "x > 1"])
def test_instances_of_ndarray(run: Run, value: str) -> None:
    names = run(f"{GIVEN}v = {value}\nfound = isinstance(v, np.ndarray), isinstance(v, (np.ndarray, list))\n")
    expected = value == "x > 1"
    assert names["found"] == (expected, expected or value == "[1]")


def test_scalars_as_arguments_of_generators(run: Run) -> None:
    names = run(
        f"{GIVEN}"
        "n = np.prod((2, 3))\n"
        "drawn = np.random.RandomState(0).permutation(n), np.random.default_rng(0).permutation(n)\n"
    )
    assert [v.tolist() for v in names["drawn"]] == [
        numpy.random.RandomState(0).permutation(6).tolist(),
        numpy.random.default_rng(0).permutation(6).tolist(),
    ]


def test_arrays_as_shapes(run: Run) -> None:
    names = run(
        f"{GIVEN}shape = np.array([2, 2])\n"
        "x.shape = shape\n"
        "shapes = x.shape, x.reshape(shape).shape, np.zeros(shape).shape, np.reshape(x, shape[:1] * 2).shape\n"
    )
    assert names["shapes"] == ((2, 2), (2, 2), (2, 2), (4,))


def test_classes_with_array_methods(run: Run) -> None:
    names = run(
        f"{GIVEN}"
        "class Parameter:\n"
        "    def __init__(self, value): self.value = value\n"
        "    def __array__(self, dtype=None, copy=None): return np.array(float(self.value), dtype)\n"
        "    def __float__(self): return float(self.value)\n"
        "class Derived(Parameter):\n"
        "    pass\n"
        "class Others:\n"
        "    __array__ = staticmethod(np.ones)\n"
        "p, d = Parameter(2), Derived(3)\n"
        "found = np.array(p), np.array([[p]]), np.sin(d), x * p, p.__array__('float32').dtype, np.asarray(d) + x\n"
    )
    assert [v.tolist() for v in names["found"][:2]] == [2, [[2]]]
    assert float(names["found"][2]) == numpy.sin(3.0)
    assert [names["found"][i].tolist() for i in (3, 5)] == [[0, 2, 4, 6], [3, 4, 5, 6]]
    assert names["found"][4] == numpy.float32
    numpy.testing.assert_array_equal(numpy.array([names["p"], names["d"]]), [2, 3])
    assert names["Parameter"].__array__.__name__ == "__array__"


def test_objects_with_an_array_see_writes_to_it(namespaces: list[dict[str, Any]]) -> None:
    program = (
        "class Cell:\n"
        "    def __init__(self): self.inner = np.zeros(3)\n"
        "    def __array__(self, dtype=None, copy=None): return np.array(self.inner, dtype, copy=copy)\n"
        "def written(view, *args, **options):\n"
        "    cell = Cell()\n"
        "    view(cell, *args, **options)[:] = 5\n"
        "    return cell.inner\n"
        "class Uncopied(Cell):\n"
        "    def __array__(self, *args): return self.inner\n"
    )
    written = (
        "[written(np.asarray), written(np.asanyarray, dtype=float), written(np.asarray, 'f4'), written(np.array),"
        " written(np.array, copy=None), written(np.ascontiguousarray), written(Cell.__array__), written(np.require),"
        " np.asarray(Uncopied()) + 1, np.asarray(Uncopied(), int).dtype, np.dot(Cell(), f[:3]), f[:3] + Cell()]"
    )
    expected, found = values_with_both(written, namespaces, program)
    assert found == expected


def test_classes_of_numpy_have_their_methods_without_the_replacement() -> None:
    assert "view" not in vars(numpy.matrix)
    assert numpy.ma.MaskedArray.view.__module__ == "numpy.ma.core"


def test_classes_are_built_as_before_without_the_replacement() -> None:
    assert builtins.__build_class__.__module__ == "builtins"


def test_constants_are_numpys_objects(run: Run) -> None:
    names = run("import numpy as np\n")
    for name in ("nan", "inf", "pi", "e", "euler_gamma", "newaxis", "True_", "False_"):
        assert getattr(names["np"], name) is getattr(numpy, name), name


DERIVED = """\
import numpy as np
class Tagged(np.ndarray):
    def __new__(cls, values, tag="t"):
        made = np.asarray(values, dtype=float).view(cls)
        made.tag = tag
        return made
    def __array_finalize__(self, source):
        np.ndarray.__array_finalize__(self, source) if np.ndarray.__array_finalize__ else None
        self.tag = getattr(source, "tag", None)
class Buffered(np.ndarray):
    def __new__(cls, values):
        values = np.array(values, dtype=float) / 2
        return super().__new__(cls, values.shape, float, values)
class Overriding(np.ndarray):
    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        plain = [v.view(np.ndarray) if isinstance(v, Overriding) else v for v in inputs]
        if out:
            kwargs["out"] = tuple(v.view(np.ndarray) if isinstance(v, Overriding) else v for v in out)
        found = super().__array_ufunc__(ufunc, method, *plain, **kwargs)
        return found.view(Overriding) if isinstance(found, np.ndarray) else found
x = np.arange(3.0) + 1
t, b, o = Tagged(x), Buffered([2, 4, 6]), x.view(Overriding)
"""
OF_DERIVED = """\
b
b * 2
Buffered(np.ones(5000))[-1]
b.flags.writeable
b.__imul__(x)
np.ndarray.__new__(Tagged, (2,), float, x[:2] * 3)
np.ndarray.__new__(Tagged, shape=(2,)).shape
np.ndarray.__new__(np.ndarray, (2,), float, x[:2] * 3)
np.ndarray((2,), buffer=x * 3, dtype=float, offset=8)
np.ndarray((2,), 'int16', (x * 3).tobytes()).shape
t.view(np.ndarray)
t.view(type=np.ndarray)
t.view('int64')
t.view(np.ndarray).__class__ == np.ndarray
(t + x).tag, (x + t).tag, t[1:].tag
np.ndarray.__getitem__(t, 0)
np.ndarray.__getitem__(t, x > 1)
np.ndarray.__getitem__(x, x > 1)
np.ndarray.__setitem__(t, 0, x[1])
np.ndarray.__add__(t, x)
np.ndarray.__add__(x, x)
np.ndarray.__eq__(t, 1)
np.ndarray.__repr__(t)
np.ndarray.__len__(t)
np.ndarray.__array_wrap__(t, t)
np.ndarray.__array_ufunc__(t, np.add, "__call__", t, x)
np.ndarray.__reduce__(t)[1]
np.ndarray.view(t, np.ndarray)
np.ndarray.sum(t)
np.ndarray.sum(x)
np.ndarray.mean(x, axis=0)
np.ndarray.tolist(t)
np.ndarray.sum()
np.ndarray.nothing
np.asmatrix(x).view(np.ndarray), np.asmatrix(x).view('int64').dtype
np.ma.array(x, mask=[0, 1, 0]).view(np.ndarray), np.ma.array(x).view(type=np.ndarray), np.ma.array(x).view()
np.zeros(2, [('a', int)]).view(np.recarray).view(np.ndarray).dtype.type
o + 1
o + x
x + o
np.sin(o)
np.add.reduce(o)
o.__iadd__(x)
x @ np.eye(3).view(Overriding)
np.maximum(o, x, out=np.empty(3).view(Overriding))
"""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("expression", OF_DERIVED.splitlines())
def test_classes_derived_from_arrays(expression: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both(expression, namespaces, DERIVED)
    assert found == expected
