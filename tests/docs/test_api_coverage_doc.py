"""The page of NumPy's names agrees with the observed behaviour of calls."""

from __future__ import annotations

import sys

import numpy
import pytest

from forerun import np, npx
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools" / "name_tables"))

import names


@pytest.fixture(scope="module")
def everything():
    return names.everything()


def test_the_page_is_up_to_date(everything):
    """With another NumPy than the page's, names that both have must be of the kind that the page says."""
    text, want = names.PAGE.read_text(), names.page(everything)
    if f"NumPy {'.'.join(numpy.__version__.split('.')[:2])}," in text:
        assert text == want, "run python tools/name_tables/names.py"
    else:
        here = {line for line in want.splitlines() if line.startswith("| `")}
        assert len(here - set(text.splitlines())) < 10


def test_absent_names_have_a_reason(everything):
    todo = [f"{path}.{n.name}" for path, found in everything.items() for n in found if n.reason == names.TODAY]
    assert not todo


def test_each_name_is_listed_once(everything):
    for path, found in everything.items():
        listed = [n.name for n in found]
        assert len(set(listed)) == len(listed) > 10, path
        assert {n.kind for n in found} <= set(names.KINDS)


SEEN = {
    "native": lambda x: np.exp(x),
    "composed": lambda x: np.exp(x) + np.sum(x, 1, keepdims=True),
    "host task": lambda x: npx.host(numpy.sort, [x], [(x.shape, x.dtype)]),
    "blocking": lambda x: np.exp(x) * x.sum().item(),
    "plain": lambda x: x.shape,
}


@pytest.mark.parametrize("kind", SEEN)
def test_kinds_are_seen(kind):
    assert names.kind_of(SEEN[kind], (names.array(),)) == kind


def test_a_view_is_native():
    assert names.kind_of(lambda x: x.T, (names.array(),)) == "native"


def test_errors_are_not_taken_for_kinds():
    with pytest.raises(ValueError, match="shapes must broadcast"):
        names.kind_of(lambda x: x + np.ones(5), (names.array(),))
