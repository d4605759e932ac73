"""Arguments that NumPy's functions get in place of forerun's, and those that they refuse because of values."""

from __future__ import annotations

from typing import Any

from tests.support.many_cases import for_each
from tests.support.processes.as_numpy_program import values_with_both

POSITIONAL = """\
(o := np.zeros(5, int), (f * 5).cumprod(None, None, o), o)
(o := np.zeros(5, int), np.cumprod(f * 5, None, None, o) is o, o)
(o := np.zeros(3, int), x.mean(0, None, o), np.median(x, 0, o), o)
(o := np.zeros(2, int), np.take(f * 4, [1, 2], 0, o, 'wrap'), o)
(o := np.zeros(1, int), f.sum(None, None, o, True), o)
(o := np.zeros(3, int), np.add.reduce(x * 1.5, 0, int, o), np.add.reduceat(f * 4, [0, 2, 3], 0, int, o), o)
(o := np.zeros(5, int), f.round(0, o))
(o := np.zeros(2, 'O'), np.take(f, [1, 2], 0, o) is o, o)
(o := np.zeros(3, '?'), np.isneginf(np.array([-np.inf, 1, 2]), o), o)
(o := np.zeros(5), np.divmod(f, 0.5, o)[0] is o, o)
"""


@for_each("expression", POSITIONAL.splitlines())
def test_out_may_be_given_by_its_position(namespaces: list[dict[str, Any]], expression: str) -> None:
    expected, found = values_with_both(expression, namespaces)
    assert found == expected
