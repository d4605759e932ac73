"""Programs that get forerun as NumPy: operators and indices with operands of other kinds, and classes of scalars."""

from __future__ import annotations

import copy
from typing import Any

import numpy
import pytest

from forerun import _core, as_numpy, np
from tests.support.processes.as_numpy_program import Run, value_of, values_with_both

SAME = """\
np.r_[['a'], f, 2], np.c_[x, [['a'], ['b']]], np.r_[np.array(['2020-01-01'], 'M8[D]')], np.r_[f, None]
np.c_[frame['a'], frame['b']], np.c_[frame, np.ones(2)], np.r_[frame['a'], f], np.r_['r', f[:2]]
np.c_[f, f[:2]]
len(np.r_), np.r_[f, np.ma.array([1])]
np.c_[f, 1], 2
np.c_[()]
np.r_[1:2, 'a']
np.c_[f, f], np.c_[x, x[:, 0]], np.c_[f[:2], x], np.c_[f], np.c_[f[0], 2.0], np.c_[x, f[:2]], np.c_[f, f > 0]
type(np.c_[x, x]) is np.ndarray, np.c_[f[:0], f[:0]].shape, np.c_[x[None], x[None]].shape, np.r_.concatenate is not None
np.mgrid['a']
np.mgrid[f[0]:2, 0:1:3j], np.ogrid[:2, :x[0, 2]]
x == None, x != None, None == x, f[0] == None, x[0, 0] != None
np.where(f == None)[0], np.array(None) == None, f == [None, 0.25, 2, 3, 4], [None] == x
f == 'a', x != 'a', f[0] == 'a', f == {}, f == object, x == ()
x < None
f < 'a'
x + None
f + 'a'
'a' + f
f[0] + 'a'
f[0] < None
f + Fraction(1, 2), Fraction(1, 2) * f, x * Fraction(1, 3), f[1] + Fraction(1, 2), Fraction(1, 2) - x[0, 1]
x * Money(2), Money(2) * x, f[1] * Money(2), Money(2) * f[1]
x * First(2), First(2) * x, x - First(3), f[1] * First(2), x @ First(1)
(y := f.copy(), y.__iadd__(None))
(y := f.copy(), y.__iadd__(Fraction(1, 2)))
(y := x.copy(), y.__iadd__(0.5))
f @ [1, 2, 3, 4, 5], [1, 2] @ x, x @ [[1], [2], [3]], f @ (1, 2, 3, 4, 5)
f @ x
x @ 2
x * np.matrix([[1], [2], [3]]), x @ np.matrix([[1], [2], [3]]), np.matrix([[1, 2]]) * x, x + np.matrix([1, 2, 3])
f[0] * np.matrix([1, 2]), np.ma.array([1, 2], mask=[0, 1]) + f[:2], f[:2] * np.ma.array([1, 2], mask=[0, 1])
f @ [1, 2]
x ** -1
(y := x.copy(), y.__ipow__(-1))
x ** np.int64(2), (f + 1) ** -1, (x + 1) ** -1.0, 2 ** x, x[0, 1] ** 3
x[0, 1] ** -1
x[5], 1
x[0, 3]
x[0, 0, 0]
x[1.0]
x['a']
x[[5]]
x[np.array([True, False, True])]
x[[0, 1], [0, 1, 2]]
np.array(1)[0]
f[None, 0, 0]
f[2:4, 1]
f[0][0]
(y := f.copy(), y.__setitem__(0, 'hello'))
(y := x.copy(), y.__setitem__((0, 0), 'hello'))
(y := x.copy(), y.__setitem__((0, 0), '7'), y)[2]
(y := f.copy(), y.__setitem__(slice(3), ['1', '2', '3.5']), y)[2]
(y := f.copy(), y.__setitem__(0, None), y)[2]
(y := f.copy(), y.__setitem__(1, [1, 2]))
(y := f.copy(), y.__setitem__(slice(2), [1, 2, 3]))
(y := f.copy(), y.__setitem__(9, 1))
(y := f.copy(), y.__setitem__(1.0, 1))
(y := f.copy(), y.__setitem__('a', 1))
(y := f.copy(), y.setflags(write=False), y.__setitem__(0, 1))
(y := f.copy(), y.setflags(write=False), y.__setitem__(0, 'a'))
bool(f)
bool(f[:0])
1 if x == 1 else 0
f in [1, 2]
f.item()
int(f)
float(x)
complex(f)
range(f)
[1, 2][x]
len(np.array(3))
hash(f)
iter(f[0])
f[0]()
f()
f.nothing
f[0].nothing
f.__setattr__('nothing', 1)
# classes of arrays and scalars
type(x) is np.ndarray, type(x) in (list, np.ndarray), {np.ndarray: 1}[type(x)], isinstance(f[0], np.ndarray), np.ndarray
type(f[0]), type(x[0, 0]), type(f[0] > 0), type(f.sum()), type(f.mean() * 1j), type(f.astype('f4')[0] * 2)
[type(v).__name__ for v in (f.any(), x.max(), f[0] / 3, x[0, 0] + 1, np.float32(1) * f[0])], type(f[0]).__module__
[type(v) for v in x[0]], list(map(type, f[:2])), [type(v) for v in x.flat][:1], [type(v) for v in f.tolist()][:1]
type(f[0]) == np.float64, np.float64 == type(f[0]), type(f[0]) != np.float64, type(f[0]) in (np.int64, float)
type(f[0]) in (int, float, np.float64), type(x[0, 0]) in [np.float64, np.int64], type(f[0]) in {np.float64: 1}
{np.float64: 1, np.int64: 2}[type(x[0, 0])], type(f[0]) is type(f[1]), type(f[0]) == type(x[0, 0])
type(f[0])(3), type(x[0, 0])('7'), type(f[0])()
isinstance(f[1], type(f[0])), isinstance(np.float64(2), type(f[0])), [isinstance(v, type(f[0])) for v in (2.0, x)]
issubclass(np.float64, type(f[0])), issubclass(type(x[0, 0]), type(f[0]))
np.zeros(2, dtype=type(x[0, 0])), np.dtype(type(f[0])), x.astype(type(f[0])), np.array([1, 2], type(f[0]))
np.issubdtype(type(f[0]), np.floating), np.iinfo(type(x[0, 0])).max, np.finfo(type(f[0])).eps
type((f[0] + f[1]).real), type(np.conj(f[0])), type(np.float64(2) + x[0, 0]), type(2 ** x[0, 1]), type(-f[0])
# data decide on the dtype
np.poly([]), np.poly([1 + 1j, 1 - 1j]), np.poly([2j]), np.poly([1, 2]), np.trim_zeros([0, 1, 0]), np.trim_zeros(f)
np.argsort(np.arange(40) % 3), (np.arange(60.0) % 4).argsort(), np.argsort(-(np.arange(90) % 2), kind='stable')
np.argsort(np.arange(99).reshape(3, 33) % 5, axis=0), np.argsort(np.arange(99) % 7, kind='heapsort')
[v.shape for v in np.ix_([0, 1], [0, 2])], x[np.ix_([0, 1], [0, 2])]
"""
GIVEN = """\
from fractions import Fraction
class Money:
    def __init__(self, n): self.n = n
    def __mul__(self, x): return Money(self.n * x) if isinstance(x, (int, float)) else NotImplemented
    __rmul__ = __mul__
    def __repr__(self): return f'Money({self.n})'
class First(Money):
    __array_priority__ = 2000
    def __mul__(self, x): return 'first', x * self.n
    def __rsub__(self, x): return 'after', x - self.n
    def __rmatmul__(self, x): return 'product', x.sum()
    __rmul__ = __mul__
"""


@pytest.mark.parametrize("expression", [line for line in SAME.splitlines() if line[0] != "#"])
def test_expressions_have_their_values_with_numpy(namespaces: list[dict[str, Any]], expression: str) -> None:
    for names in namespaces:
        exec(GIVEN, names)
    numpy_names, forerun_names = namespaces
    assert forerun_names["np"] is not numpy_names["np"]
    assert value_of(expression, forerun_names) == value_of(expression, numpy_names)


def test_scalars_are_of_one_class_without_the_replacement(run: Run) -> None:
    f = run("import numpy as np\nf = np.arange(3.0)")["f"]
    scalar = type(f[0]).__mro__[1]
    assert _core.is_scalar(f[0])
    assert scalar.__name__ == "scalar"
    assert type(copy.copy(f[1])) is type(f[0])


def test_classes_and_messages_are_forerun_s_own_again() -> None:
    f = np.arange(3.0)
    assert type(f[0]) is type((f > 1)[0])
    assert (f == None) is False  # noqa: E711
    with pytest.raises(TypeError, match="'ndarray' and 'NoneType'"):
        f + None
    with pytest.raises(IndexError, match=r"^getitem: index must be in"):
        f[3]
    with pytest.raises(ValueError, match=r"^bool: array must have exactly one element"):
        bool(f)
    assert len(np.zeros((2, 1))) == 2
    assert not isinstance(numpy.zeros(2), np.ndarray)


def test_a_library_takes_a_scalar_s_class_for_numpy_s(run: Run) -> None:
    s = run("import numpy as np\ns = np.arange(3.0)[1]")["s"]
    assert numpy.array([s, s]).tolist() == [1.0, 1.0]
    assert numpy.array([[s], [2]]).dtype == numpy.float64
    assert numpy.result_type(s) == numpy.dtype(type(s)) == numpy.float64
    assert (numpy.array([s], object)[0] == 1, numpy.float64(s) + s) == (True, 2)


def test_an_index_error_does_not_wait(run: Run) -> None:
    """Loops to the end of an array by IndexError would wait for it at the end."""
    found = run(
        "import numpy as np\n"
        "x = np.ones(100000)\n"
        "for _ in range(20):\n"
        "    x = np.sqrt(x) + x\n"
        "try:\n"
        "    x[100000]\n"
        "except IndexError as error:\n"
        "    text = str(error)\n"
    )
    assert found["text"] == "index 100000 is out of bounds for axis 0 with size 100000"


WRITTEN = """\
x[0] = np.matrix([1.0, 2, 3])
x[0] = np.asmatrix([[1.0], [2]])
x[:, 1] = np.array([5, 6]).view(np.recarray)
x[1] = np.ma.array([7, 8, 9], mask=[0, 1, 0])[:, None].T
x[1, 2] = np.ma.array([7])
x[0] = np.ma.array([7])
x[:, 0] = np.ma.array(['7', '8'])
f[:2] = np.ma.array([1j, 2])
x[5] = np.ma.array([7])
x[...] = np.matrix([[1.5, 2, 3]])
x[0, 0] = np.ma.masked
x[x < 3] = np.ma.array([1, 2, 3], mask=[0, 1, 0])
x[1, 2] = np.array([4]).view(np.recarray)
x[1, 2] = np.array([4, 5]).view(np.recarray)
x[1, 2] = np.ma.masked
x[7] = np.matrix([1.0, 2, 3])
x[...] = np.array(['1', '2', '3']).view(np.recarray)
"""


def test_writes_of_arrays_of_derived_classes_do_not_copy_the_array(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("import numpy as np\nx, m = np.zeros((2, 1)), np.ma.array([7])")
    with monkeypatch.context() as patched:
        patched.setattr(np.ndarray, "asnumpy", None)
        exec("x[1] = m; x[::-1][1] = 2 * m", names)
    assert names["x"].tolist() == [[14], [7]]


def x_after(statement: str, given: str, space: dict[str, Any]) -> str:
    """The text of x after a statement, or the error."""
    exec(given, space)
    try:
        exec(statement, space)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return repr(space["x"])


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("statement", WRITTEN.splitlines())
def test_writes_of_arrays_of_derived_classes(statement: str, namespaces: list[dict[str, Any]]) -> None:
    expected, found = (x_after(statement, "x = np.arange(6.0).reshape(2, 3)", space) for space in namespaces)
    assert found == expected


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_write_of_a_derived_class_does_not_copy_the_array(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    names = run("import numpy as np\nx, row = np.zeros((5000, 3)), np.matrix([1.0, 2, 3])\n")
    monkeypatch.setattr(np.ndarray, "asnumpy", None)
    exec("x[1] = row", names)
    assert names["x"][:3].tolist() == [[0, 0, 0], [1, 2, 3], [0, 0, 0]]


OF_DERIVED = """\
d * x, d - x, d ** x, d > x, divmod(d, x), d @ x
x * d, x - d, x ** d, x > d, x == d, x @ d
d * s, s * d, s - d, s == d, d / np.sqrt(s)
np.add(d, x), np.add(x, d), np.hypot(s, d), np.sin(d), np.modf(d), np.isfinite(d)
np.maximum(big, big.view(Derived))[-1]
np.sum(d), np.mean(d, axis=0), np.clip(d, 0, 1), np.round(d), np.dot(x, d), np.linalg.norm(d)
matrix * x, x * matrix.T, matrix * s, s * matrix, x + matrix, np.add(x, matrix), np.sqrt(matrix)
masked * x, x * masked, s + masked, np.add(x, masked), np.sqrt(masked), x == masked
(y := x.copy(), y.__iadd__(d)), (y := d.copy(), y.__iadd__(x))
x * unmatched
unmatched - x
s * np.array(["a"]).view(Derived)
"""


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("expression", OF_DERIVED.splitlines())
def test_operands_of_derived_classes(expression: str, namespaces: list[dict[str, Any]]) -> None:
    for space in namespaces:
        exec(
            "import numpy as np\n"
            "class Derived(np.ndarray): pass\n"
            "x, big = np.array([1.0, 2.0, 3.0]), np.arange(5000.0)\n"
            "d, s, unmatched = (x / 4).view(Derived), x[1], np.ones(2).view(Derived)\n"
            "matrix, masked = np.matrix([[1.0, 2.0, 3.0]]), np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])\n",
            space,
        )
    expected, found = values_with_both(expression, namespaces)
    assert found == expected


def test_operations_on_derived_classes_are_reported(run: Run) -> None:
    run(
        "import numpy as np\n"
        "class Derived(np.ndarray): pass\n"
        "x = np.arange(3.0)\n"
        "for _ in range(4):\n"
        "    x.view(Derived) * x\n"
    )
    (row,) = (row for row in as_numpy.report().rows() if row["function"] == "multiply")
    assert (row["calls"], row["where"][-2:], "derived from numpy.ndarray" in row["why"]) == (4, ":5", True)


OUT_OF_RANGE = """\
x[np.array([0, 7])]
x[i[1]]
np.take(x, i, axis=0)
x[np.array([[1], [7]]), 0]
x.__setitem__(i, 1)
x.__setitem__((i, 0), 1)
np.add.at(x, i, 1)
np.put(x, [1, 70], 5)
"""


@pytest.mark.parametrize("expression", OUT_OF_RANGE.splitlines())
def test_small_arrays_raise_index_errors_in_the_call(expression: str, namespaces: list[dict[str, Any]]) -> None:
    """The program catches the error, and the array is valid after it."""
    for space in namespaces:
        exec(
            "import numpy as np\n"
            "x, i = np.arange(12.0).reshape(4, 3), np.array([0, 7])\n"
            "try:\n"
            f"    {expression}\n"
            "except IndexError:\n"
            "    found = 'raised', x[1:].tolist()\n",
            space,
        )
    expected, found = (space["found"] for space in namespaces)
    assert found == expected


def test_an_error_after_the_replacement_is_raised_by_reads(run: Run) -> None:
    run("import numpy as np\nx = np.arange(3.0)\n")
    as_numpy.uninstall_as_numpy()
    y = np.arange(3)[np.array([5])]
    with pytest.raises(IndexError):
        y.item()


RESIZED = """\
x.resize(3, 2)
x.resize((2, 4))
x.resize(3)
x.resize([7], refcheck=False)
x.resize((2, 3))
x.resize()
x.resize(None)
x.resize(0)
x.resize(-1)
x.resize(2.5)
"""


@pytest.mark.parametrize("statement", RESIZED.splitlines())
def test_arrays_are_resized_in_place(statement: str, namespaces: list[dict[str, Any]]) -> None:
    given = "import numpy as np\nx = np.array([[0.0, 1, 2], [3, 4, 5]])\nbefore = id(x)\n"
    expected, found = (x_after(statement, given, space) for space in namespaces)
    assert found.partition(":")[0] == expected.partition(":")[0]
    assert all(space["before"] == id(space["x"]) for space in namespaces)


def test_an_array_that_repeats_an_element_can_be_locked(run: Run) -> None:
    x = run("import numpy as np\nx = np.lib.stride_tricks.as_strided(np.array([5.0]), (2,), (0,))\n")["x"]
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
