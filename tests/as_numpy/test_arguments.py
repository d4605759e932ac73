"""Arguments and results of functions as NumPy's, and arguments that are refused because of their values."""

from __future__ import annotations

from pathlib import Path
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


BIG = "def big(value): return np.zeros(20000) + value\n"
REFUSED = """\
np.asarray_chkfinite(big(np.nan))
np.average(big(1), weights=big(0))
np.choose(big(5).astype(int), [big(1), big(2)])
np.digitize(big(1), big(1) * np.tile([1, 2, 0, 5], 5000))
np.histogram(big(np.nan))
np.histogram2d(big(np.nan), big(1))
np.histogram_bin_edges(big(np.inf))
np.histogramdd([big(np.nan), big(1)])
np.nanargmax(np.stack([big(np.nan)] * 2), axis=0)
np.nanargmin(big(np.nan))
np.ravel_multi_index((big(20000).astype(int),), (20000,))
np.unravel_index(big(20000).astype(int), (20000,))
"""


@for_each("expression", REFUSED.splitlines())
def test_values_are_refused_at_the_call(namespaces: list[dict[str, Any]], expression: str) -> None:
    """It does not read the result: programs catch the error there."""
    expected, found = values_with_both(f"type({expression})", namespaces, BIG)
    assert found.partition(":")[0] == expected.partition(":")[0]
    assert "Error" in expected


def test_tofile_returns_nothing(namespaces: list[dict[str, Any]], tmp_path: Path) -> None:
    file = str(tmp_path / "values")
    expression = f"f.tofile({file!r}), f.tofile({file!r}, sep=','), __import__('pathlib').Path({file!r}).read_text()"
    expected, found = values_with_both(expression, namespaces)
    assert found == expected
    assert found.startswith("(None, None, '0.0,")
