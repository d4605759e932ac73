"""Libraries of programs that get forerun as NumPy: their functions take forerun's arrays, scalars and functions."""

from __future__ import annotations

import importlib.machinery
import inspect
import pickle
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest
import scipy.sparse.linalg

from forerun import _core, np
from forerun.as_numpy import uninstall_as_numpy
from tests.support.processes.as_numpy_program import Run, numpy_replaced

GIVEN = """\
import numpy as np, pandas as pd
from collections import OrderedDict, defaultdict
df = pd.DataFrame({'a': [3.0, 1.0, 2.0], 'b': [1, 2, 3]}, index=[10, 20, 30])
s = df['a'].copy()
x, k, j = np.array([0.1, 0.9, 0.8]), np.array([10, 20, 30]), np.array([0, 2])
i, m = np.argmax(x), x > 0.5
"""
VALUES = """\
df[m]
pd.Series(["a", "b"]).str.upper()
pd.Series(pd.to_datetime(["2020-01-02"])).dt.day
type(df.plot).__name__
df.groupby("b").agg("sum")
df.groupby("b")["a"].agg(["mean", "max"])
df[~m]
df.loc[m]
df.loc[m,'a']
df.iloc[i]
df.iloc[j]
df.iloc[i,1]
df.iloc[:i]
df.loc[k[1]]
df.loc[k[1],'a']
df.at[k[1],'a']
df.iat[i,0]
df.loc[k[:2],'b']
s[m]
s[k[1]]
s.loc[k[2]]
s.iloc[i]
s.isin(k)
df['b'].isin([k[0],2])
df.drop(k[:2])
df.take(j)
df.head(i)
df.assign(c=x)
df.pipe(lambda d, o: pd.DataFrame(o, index=[1, 2]).dtypes, OrderedDict(a=x[0], b=[x[1], x[2]]))
pd.DataFrame(OrderedDict(a=x[0], b=x[0] * 2), index=[1, 2]).dtypes
df.pipe(lambda d, o: (pd.Series(o), o["new"], type(o).__name__), defaultdict(int, {k[0]: x[0]}))
df.query('a>@x[0]')
df.set_index(k)
df.reindex(k[::-1])
s.map({3.0:x[0]})
s.where(m,x)
s.clip(x[0],x[1])
x+s
x[0]*s
x[0]<s
s==x
s@x
np.dot(df,np.array([1.,2.]))
pd.Series(x,index=k)
pd.Series([x[0],x[1]])
pd.DataFrame([{'a':x[0],'b':k[0]}])
pd.DataFrame({'g':k,'v':x}).groupby(k).sum()
pd.cut(s,np.array([0,2,4]))
pd.concat([s,pd.Series(x)])
pd.get_dummies(k)
pd.unique(k)
pd.isnull(x[0])
pd.Index(k).get_loc(k[1])
pd.Categorical(k)
pd.date_range('2020-01-01',periods=k[0])
pd.Timedelta(k[0],'D')
pd.crosstab(k,m)
pd.factorize(k)
s.rolling(i+1).mean()
s.shift(i)
s.nlargest(i)
s.quantile(x)
s.values[m]
df.apply(np.sum)
df.apply(lambda r: r['a']*x[0],axis=1)
df.agg([np.min,np.max])
df.agg({'a':np.sum})
s.apply(np.sqrt)
s.apply(lambda v: v+x[0])
np.where(s>1,s,x)
np.concatenate([s,x])
np.histogram(s)
df.pivot_table(index='b',values='a',aggfunc=np.sum)
df.merge(pd.DataFrame({'b':k}),on='b')
df.eq(x[0])
df.replace(3.0,x[0])
df.index.get_indexer(k)
df.index==k[1]
df.iloc[i:i+1]
df.iloc[-i]
df.loc[df.index[i]]
df.columns[i]
df.loc[:,np.array([True,False])]
df[(df['a']>x[0])&m]
s.at[k[0]]
s.get(k[0])
k[0] in s
k[0] in df.index
s.repeat(i)
s.between(x[0],2)
df.mean()@np.array([1.,2.])
df[m|m]
"""
STATEMENTS = """\
df['c']=x
df['c']=x[0]
df.loc[m,'a']=0
df.loc[m,'a']=x[m]
df.loc[k[0],'a']=x[0]
df.loc[k[0]]=x[:2]
df.iloc[i,0]=x[0]
df.iloc[:,0]=x
df.iloc[i]=x[:2]
df.iat[i,0]=x[0]
df.at[k[0],'a']=x[0]
df['a']=np.where(m,1,0)
df['a']=df['a'].where(m,0)
s[m]=0
s[k[0]]=x[0]
s.iloc[i]=x[0]
s.loc[k]=x
s+=x
s*=x[0]
df['a']+=x
df['q']=np.select([m,~m],[x,-x])
df.index=k
df.columns=np.array(['u','v'])
df[['a','b']]=np.ones((3,2))
df.values[0]=x[:2]
df.loc[99]=x[:2]
df.loc[99,'a']=x[0]
"""


def text_after_program(program: str, expression: str, names: dict[str, Any]) -> str:
    """Return the text of a value after a program, or the error."""
    try:
        exec(program, names)
        return repr(eval(expression, names))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", VALUES.splitlines())
def test_values_are_those_with_numpy(run: Run, expression: str) -> None:
    want = text_after_program(GIVEN, expression, {"__file__": "/elsewhere/program.py"})
    assert text_after_program(GIVEN, expression, run("")) == want


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("statement", STATEMENTS.splitlines())
def test_statements_have_their_effects_with_numpy(run: Run, statement: str) -> None:
    program = f"{GIVEN}\n{statement}\n"
    want = text_after_program(program, "(df, s)", {"__file__": "/elsewhere/program.py"})
    assert text_after_program(program, "(df, s)", run("")) == want


def test_pandas_gets_its_own_functions_back(tmp_path: Path) -> None:
    def now() -> list[Any]:
        return [pandas.cut, *(vars(pandas.DataFrame)[name] for name in ("__init__", "merge", "__getitem__"))]

    before, signature = now(), inspect.signature(pandas.DataFrame.merge)
    with numpy_replaced(tmp_path):
        assert not any(a is b for a, b in zip(now(), before, strict=True))
        assert inspect.signature(pandas.DataFrame.merge) == signature
        assert pandas.DataFrame.merge.__doc__ == before[2].__doc__
    assert all(a is b for a, b in zip(now(), before, strict=True))


AGGREGATED = """\
df.agg("idxmin"), df["a"].agg("nunique"), df.agg(["min", "idxmax"])
df.groupby("b").agg("idxmax"), df.groupby("b")["a"].agg("nunique"), df.groupby("b").agg({"a": "idxmin"})
df.rolling(2).agg("mean"), df["a"].rolling(2).agg("sum"), df.expanding().agg("var"), df.ewm(2).agg("mean")
df.set_index(pd.date_range("2020-01-01", periods=len(df))).resample("2D").agg("first")
__import__("inspect").getfullargspec(df.rolling(2).mean)
"""


@pytest.mark.parametrize("expression", AGGREGATED.splitlines())
def test_pandas_finds_the_parameters_of_methods_that_it_calls_by_name(run: Run, expression: str) -> None:
    given = "import numpy as np, pandas as pd\ndf = pd.DataFrame({'a': np.array([3.0, 1, 2, 1]), 'b': [0, 1, 0, 1]})\n"
    want = text_after_program(given, expression, {"__file__": "/elsewhere/program.py"})
    assert text_after_program(given, expression, run("")) == want
    assert "Error" not in want


def test_functions_of_libraries_are_pickled_by_name(run: Run) -> None:
    names = run(
        "import pickle, pandas as pd, scipy.sparse as sp, scipy.sparse.linalg as sl\n"
        "functions = [sl.spsolve, sp.eye, sp.kron, pd.concat, pd.Series.rolling]\n"
        "read = [pickle.loads(pickle.dumps(f)) for f in functions]\n"
        "text = pickle.dumps(sl.spsolve)\n"
    )
    assert all(a is b for a, b in zip(names["read"], names["functions"], strict=True))
    uninstall_as_numpy()
    assert pickle.loads(names["text"]) is scipy.sparse.linalg.spsolve


def test_a_method_that_several_modules_share_is_adapted_once(run: Run) -> None:
    for kind in pandas.core.groupby.DataFrameGroupBy.__mro__ + pandas.Series.__mro__:
        for name, found in vars(kind).items():
            function = getattr(getattr(found, "__func__", found), "__wrapped__", None)
            assert not hasattr(function, "entry"), name


@pytest.mark.parametrize(
    "imports",
    ["import pandas as pd", "import importlib\npd = importlib.import_module('pandas')", "import pandas.core as c"],
)
def test_pandas_is_adapted_when_it_is_imported(tmp_path: Path, imports: str) -> None:
    program = f"import numpy as np\n{imports}\nimport sys\npd = sys.modules['pandas']\n"
    program += "x = np.arange(3)\nprint(pd.Series([3, 1, 2])[x > x[0]].tolist(), x[1] in pd.Index([1]))\n"
    (tmp_path / "script.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "forerun", "run", "--as-numpy", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.returncode) == ("[1, 2] True\n", 0), done.stderr


def test_a_namespace_that_a_library_imports_by_a_relative_name_returns_the_programs_array(tmp_path: Path) -> None:
    program = "import numpy as np, array_api_compat as c\nx = np.ones(2)\ny = c.array_namespace(x).asarray(x)\n"
    (tmp_path / "script.py").write_text(program + "y[0] = 3\nprint(x.tolist(), y is x)\n", encoding="utf-8")
    command = [sys.executable, "-m", "forerun", "run", "--as-numpy", "script.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
    assert (done.stdout, done.returncode) == ("[3.0, 1.0] True\n", 0), done.stderr


SPARSE = """\
import numpy as np, scipy.sparse as sp
a, x, k = np.arange(6.0).reshape(2, 3), np.arange(3.0), np.array([0, 1])
m = sp.csr_matrix(a)
"""


@pytest.mark.parametrize(
    "expression",
    ["(m + a).tolist()", "(m @ x).tolist()", "m[k].toarray()", "m[k[0], k[1]]", "(a.T @ m).tolist()", "m * x[2]",
     "(z := a * 0, m.toarray(out=z) is z, z.tolist())", "(z := a + 1, m.tocsc().todense(out=z), z.tolist())[2]"],
)  # fmt: skip
def test_sparse_arrays_compute_with_arrays_of_forerun(run: Run, expression: str) -> None:
    want = text_after_program(SPARSE, expression, {"__file__": "/elsewhere/program.py"})
    assert text_after_program(SPARSE, expression, run("")) == want


UNSORTED = """\
import numpy as np, scipy.sparse as sp
from scipy.sparse._sparsetools import csr_scale_rows
m = sp.csr_matrix((np.array([3.0, 0.0, 1.0]), np.array([2, 1, 0]), np.array([0, 2, 3, 3])), shape=(3, 3))
data, ids = np.array([4.0, 0.0, 5.0]), np.array([2, 0, 1], np.int32)
m.data, m.indices = data, ids
"""


@pytest.mark.parametrize(
    "statement",
    ["m.sort_indices()", "m.T.sort_indices()", "m.eliminate_zeros()", "m.sum_duplicates()", "m *= 2", "data[0] = 7.0",
     "csr_scale_rows(3, 3, m.indptr, m.indices, m.data, data)", "m.data = np.asarray(m.data, complex); m.sum()",
     "csr_scale_rows(3, 3, m.indptr, m.indices, np.ravel(m.data), data)",
     "csr_scale_rows(3, 3, m.indptr, ids, data, np.arange(3.0))",
     "d = sp.coo_matrix(m); d.row = np.array([1, 1, 1], np.int32); d.sum_duplicates(); m = d",
     "m = sp.dia_matrix(np.eye(3)); m.data = np.ones((1, 3)); m.setdiag(3)"],
)  # fmt: skip
def test_arrays_of_a_sparse_array_are_those_that_the_program_sets(run: Run, statement: str) -> None:
    """Functions in C write to them. The program's own writes are seen as well."""
    program, expression = (
        f"{UNSORTED}{statement}\n",
        "m.data.tolist(), data.tolist(), ids.tolist(), m.toarray().tolist()",
    )
    want = text_after_program(program, expression, {"__file__": "/elsewhere/program.py"})
    assert text_after_program(program, expression, run("")) == want
    assert "Error" not in want


SCIPY = """\
import numpy as np
from scipy.sparse import csc_matrix, linalg
from scipy.spatial.transform import Rotation
a, x = np.eye(3) * 2 + 0.1, np.arange(3.0)
turn = Rotation.from_euler("z", np.array([[0.0], [1.0]]))
operator = linalg.LinearOperator((3, 3), matvec=lambda v: a @ v, dtype=float)
"""


@pytest.mark.parametrize(
    "expression",
    ["linalg.gmres(operator, x)[0].round(9)", "(operator @ x).tolist()", "linalg.cg(a, x, x0=x * 0)[0].round(9)",
     "linalg.splu(csc_matrix(a)).solve(x).round(9).tolist()", "linalg.factorized(csc_matrix(a))(x).round(9).tolist()",
     "linalg.spilu(csc_matrix(a)).solve(rhs=x, trans='T').round(9).tolist()", "linalg.spsolve(csc_matrix(a), x)",
     "isinstance(linalg.splu(csc_matrix(a)), linalg.SuperLU)", "linalg.splu(csc_matrix(a)).L.toarray().tolist()",
     "turn.apply(x)", "turn[np.array([1])].as_quat()", "turn.mean(x[1:]).as_rotvec().round(9)",
     "Rotation(x + 1).as_quat()"],
)  # fmt: skip
def test_functions_of_scipy_that_write_take_arrays_of_forerun(run: Run, expression: str) -> None:
    """They write into the results of the program's functions, or ask in C for arrays that they may write into."""
    want = text_after_program(SCIPY, expression, {"__file__": "/elsewhere/program.py"})
    assert text_after_program(SCIPY, expression, run("")) == want


def draw(image: numpy.ndarray, value: float) -> numpy.ndarray:
    """A function as those of OpenCV: it takes NumPy's arrays alone, and writes into one."""
    assert type(image) is numpy.ndarray
    assert not isinstance(value, np.ndarray)
    image[1:] = value
    return image


def test_functions_write_into_arrays_of_forerun(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("cv2")
    library.__spec__ = importlib.machinery.ModuleSpec("cv2", None)
    vars(library).update(draw=draw, halves=lambda image: (image[:1], image), version="5")
    monkeypatch.setitem(sys.modules, "cv2", library)
    names = run(
        "import numpy as np, cv2\n"
        "x, k = np.zeros(3), np.array([7.0])\n"
        "y = x[:]\n"
        "same = cv2.draw(x, k[0]) is x\n"
        "half, whole = cv2.halves(x)\n"
    )
    assert names["x"].tolist() == names["y"].tolist() == [0, 7, 7]
    assert names["same"]
    assert names["whole"] is names["x"]
    assert names["half"].tolist() == [0]
    uninstall_as_numpy()
    assert vars(library)["draw"] is draw


def test_operators_of_a_class_made_in_c_take_scalars_of_forerun(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's tensors, for example, have the operators of their base, which is made in C."""

    class Tensor(float):
        pass

    def kind(x: Any) -> type:
        return type(x)

    own = set(vars(Tensor))
    library = types.ModuleType("torch")
    library.__spec__ = importlib.machinery.ModuleSpec("torch", None)
    vars(library).update(Tensor=Tensor, from_numpy=kind, manual_seed=kind)
    monkeypatch.setitem(sys.modules, "torch", library)
    names = run(
        "import numpy as np, torch\n"
        "x, t = np.array([0.5, 2.0]), torch.Tensor(2)\n"
        "found = t * x[0], t == x[1], t != x[1], x[0] * t, torch.Tensor(x[1])\n"
        "kinds = torch.from_numpy(x), torch.manual_seed(x)\n"
    )
    assert names["found"] == (1.0, True, False, 1.0, 2.0)
    assert names["kinds"] == (numpy.ndarray, np.ndarray)
    uninstall_as_numpy()
    assert set(vars(Tensor)) == own
    assert vars(library)["from_numpy"] is kind


@pytest.mark.parametrize(("name", "solver"), [("osqp.interface", "OSQP"), ("scs", "SCS")])
def test_solvers_get_numpys_arrays(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, solver: str) -> None:
    class Solver:
        def __init__(self, data: dict[str, Any]) -> None:
            self.own = [isinstance(x, _core.Array) for x in data.values()]

        def setup(self, q: Any) -> None:
            self.own = [isinstance(q, _core.Array)]

    library = types.ModuleType(name)
    library.__spec__ = importlib.machinery.ModuleSpec(name, None)
    Solver.__module__, vars(library)[solver] = name, Solver
    for part in (name, name.partition(".")[0]):
        monkeypatch.setitem(sys.modules, part, library)
    names = run(
        f"import numpy as np, {name.partition('.')[0]} as library\n"
        f"problem = library.{solver}({{'q': np.ones(2)}})\n"
        "own = problem.own\n"
        "problem.setup(q=np.zeros(2))\n"
    )
    assert names["own"] == names["problem"].own == [False]


def test_a_library_is_adapted_when_all_of_it_is_imported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    library = types.ModuleType("cv2")
    library.__spec__ = importlib.machinery.ModuleSpec("cv2", None)
    library.__spec__._initializing = True  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cv2", library)
    run("import cv2")
    vars(library)["draw"] = draw
    library.__spec__._initializing = False  # type: ignore[attr-defined]
    assert run("import cv2, numpy as np\nx = cv2.draw(np.zeros(2), 1)")["x"].tolist() == [0, 1]


def test_functions_of_other_modules_are_passed_unchanged(run: Run) -> None:
    seen: list[Any] = []

    def library(frame: Any, function: Any) -> Any:
        seen.append(function)
        return frame

    pandas.DataFrame({"a": [1]}).pipe((library, "frame"), function=text_after_program)
    assert seen == [text_after_program]


NUMBA = """\
import numpy as np
from numpy import nan, sort, sqrt, vander
from numba.core.dispatcher import Dispatcher
from numba.core.interpreter import Interpreter
x, k = np.arange(3.0), np.array([7.0])
@Dispatcher
def doubled(v, w=0.0):
    return allocated(v * 2 + w)
@Dispatcher
def filled(v, w=0.0):
    v[:1] = w
    return v
found = doubled(x), doubled(2.0), doubled(v=k, w=k[0]), doubled(x, w=x)
y, part = np.arange(3.0), np.arange(3.0)[1:]
same = filled(y, k[0]) is y, filled(part, k[0]) is part
pair = Dispatcher(lambda v, w: (filled.function(v, 5), allocated(w)))(y[1:], y)
look = Interpreter().get_global_value
names = {"y": y, "scalar": y[0], "linalg": np.linalg, "two": (y, 2)} | globals()
seen = {name: look(names, name) for name in ("np", "linalg", "sort", "sqrt", "vander", "nan", "y", "scalar", "two")}
"""


class InC:
    """A class made in C: its calls take NumPy's arrays and numbers."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert not any(isinstance(x, _core.Array) for x in (*args, *kwargs.values()))
        return self.function(*args, **kwargs)


class Memory:
    """The memory that a function compiled by Numba has allocated: it counts the arrays in it."""

    def __init__(self, values: Any) -> None:
        self._values, self.refcount = numpy.array(values), 1
        self.__array_interface__ = self._values.__array_interface__


def allocated(values: Any) -> numpy.ndarray:
    """Return an array as functions compiled by Numba do."""
    return numpy.asarray(Memory(values))


def test_functions_that_numba_compiles(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their arguments are converted, and so are the globals in which Numba looks up their names."""
    dispatcher: Any = type("Dispatcher", (InC,), {})
    interpreter: Any = type("Interpreter", (), {"get_global_value": lambda self, names, name: names[name]})
    modules: dict[str, dict[str, Any]] = {
        "numba": {}, "numba.core": {}, "numba.core.dispatcher": {"Dispatcher": dispatcher},
        "numba.core.interpreter": {"Interpreter": interpreter},
    }  # fmt: skip
    for name, found in modules.items():
        library = types.ModuleType(name)
        library.__spec__ = importlib.machinery.ModuleSpec(name, None)
        vars(library).update(found, __path__=[])
        monkeypatch.setitem(sys.modules, name, library)
    monkeypatch.setattr("builtins.allocated", allocated, raising=False)
    names = run(NUMBA)
    assert [type(v) for v in names["found"]] == [np.ndarray, numpy.ndarray, np.ndarray, np.ndarray]
    assert [v.tolist() for v in names["found"]] == [[0, 2, 4], 4.0, [21], [0, 3, 6]]
    assert names["same"] == (True, True)
    assert (names["y"].tolist(), names["part"].tolist()) == ([7, 5, 2], [7, 2])
    assert [v.tolist() for v in names["pair"]] == [[5, 2], [7, 1, 2]]
    seen = names["seen"]
    assert seen["np"] is numpy
    assert seen["linalg"] is numpy.linalg
    assert (seen["sort"], seen["sqrt"], seen["vander"]) == (numpy.sort, numpy.sqrt, numpy.vander)
    assert type(seen["y"]) is type(seen["two"][0]) is numpy.ndarray
    assert (type(seen["scalar"]), seen["nan"] is numpy.nan) == (numpy.float64, True)
    uninstall_as_numpy()
    assert "__call__" not in vars(dispatcher)
