"""Functions of NumPy's that call functions of the program, which gets forerun as NumPy."""

from __future__ import annotations

from typing import Any

import forerun
from forerun import np
from tests.support.many_cases import for_each
from tests.support.processes.as_numpy_program import Run, values_with_both

SAME = """\
np.apply_along_axis(lambda v: 1.5 if v[0] else 1, 1, x)
np.apply_along_axis(lambda v: ''.join(v), 1, [['a', 'b'], ['c', 'd']])
np.apply_along_axis(lambda v: v['a'].sum(), 0, np.ones((2, 3), [('a', int)]))
np.apply_along_axis(lambda v: str(v), 1, x), np.apply_along_axis(lambda v: {1: v[0]}, 1, x)
np.apply_along_axis(lambda v: np.datetime64('2001-01-01') + int(v[0]), 1, x)
np.apply_along_axis(lambda v, k, n: v * k + n, 0, x, f[:2], n=x[1, 1]), np.apply_along_axis(np.sort, 1, -x)
np.apply_along_axis(func1d=lambda v: (v.sum(), isinstance(v, np.ndarray)), axis=0, arr=x)
np.apply_along_axis(lambda v: v, 1, np.zeros((0, 3)))
np.apply_over_axes(np.sum, np.ones((2, 3), object), [0, 1]), np.apply_over_axes(lambda v, i: v.max(i), x, (-1, 0))
np.apply_over_axes(lambda v, i: v, np.array([['a', 'b']]), [0])
np.piecewise(f, [f < 0.5, f >= 0.5], [lambda v: v - v.mean(), lambda v: np.full(v.shape, len(v))])
np.piecewise(f, [f < 9], [lambda v: v, lambda v: 1 / 0]), np.piecewise(2.5, [True], [lambda v: v + 1])
np.piecewise(x, [x < 3], [lambda v, k, n: v * k + n, 7], f[1:2], n=2), np.piecewise(f, [f < 0.5], funclist=(np.sin, 3))
np.piecewise(np.array(['a', 'b']), [[True, False]], ['z']), np.piecewise(f.astype(object), [f < 0.5], [lambda v: 2 * v])
np.fromfunction(lambda i, j: i + j, (2, 3), dtype=object), np.fromfunction(lambda i, j, k: (i, k), (2, 3), k=2)
"""


@for_each("expression", SAME.splitlines())
def test_functions_get_and_return_what_they_do_with_numpy(namespaces: list[dict[str, Any]], expression: str) -> None:
    expected, found = values_with_both(expression, namespaces)
    assert found == expected


def test_operations_of_a_called_function_are_recorded(run: Run) -> None:
    text = "import numpy as np\ndef squares(x):\n    return np.apply_along_axis(lambda v: v * v, 0, x)\n"
    squares = run(text)["squares"]
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    with forerun.autograd.record():
        y = squares(x)
    y.backward()
    assert x.grad.tolist() == [[2.0, 4.0], [6.0, 8.0]]
