"""The page of MXNet's names agrees with a lookup of each name."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools" / "name_tables"))

import mxnet_absent
import mxnet_names


@pytest.fixture(scope="module")
def everything() -> dict[str, list[Any]]:
    return mxnet_names.everything()


def test_the_page_is_up_to_date(everything: dict[str, list[Any]]) -> None:
    assert mxnet_names.PAGE.read_text() == mxnet_names.page(everything), "run python tools/name_tables/mxnet_names.py"


def test_absent_and_different_names_have_a_reason(everything: dict[str, list[Any]]) -> None:
    rest = [n for found in everything.values() for n in found if n.kind != "have"]
    assert not [n.full for n in rest if n.reason in ("", mxnet_names.TODAY)]
    assert len(rest) > 100


def test_each_name_is_listed_once_and_has_a_version() -> None:
    rows = list(mxnet_names.listed())
    assert [full for full, _, _ in rows] == sorted({full for full, _, _ in rows})
    assert {versions for _, versions, _ in rows} == {"1", "2", "1 2"}
    assert len(rows) > 1200


def test_reasons_are_for_names_that_are_listed() -> None:
    names = {full for full, _, _ in mxnet_names.listed()}
    places = {full.rpartition(".")[0] for full in names}
    assert not set(mxnet_absent.DIFFERS) - names
    assert not {key for key in mxnet_absent.ABSENT if not key.endswith(".*")} - names
    assert not {key[:-2] for key in mxnet_absent.ABSENT if key.endswith(".*")} - places


def test_mxnet_is_not_left_installed(everything: dict[str, list[Any]]) -> None:
    assert "mxnet" not in sys.modules


class Base:
    def __init__(self, rate: float = 1, **settings: Any) -> None:
        pass


class ClosedLayer(Base):
    def __init__(self, axis: int = 1) -> None:
        super().__init__()


class OpenLayer(Base):
    def __init__(self, axis: int = 1, **settings: Any) -> None:
        super().__init__(**settings)


class Root(Base):
    def __init__(self, rate: float = 1) -> None:
        pass


class Passing(Root):
    def __init__(self, axis: int = 1, **settings: Any) -> None:
        super().__init__(**settings)


THERE = SimpleNamespace(
    plain=lambda x, axis: None,
    any=lambda x, **settings: None,
    closed=ClosedLayer,
    open=OpenLayer,
    passing=Passing,
    pi=3.14,
)


@pytest.mark.parametrize(
    ("name", "parameters", "kind", "reason"),
    [
        ("here.plain", ["axis"], "have", ""),
        ("here.plain", ["axis", "dtype", "order"], "differs", "without `dtype`, `order`"),
        ("here.plain", ["axis", "cudnn_off"], "have", ""),
        ("here.any", ["axis", "dtype"], "have", ""),
        ("here.closed", ["axis", "rate"], "differs", "without `rate`"),
        ("here.open", ["axis", "rate", "more"], "have", ""),
        ("here.passing", ["axis", "rate", "more"], "differs", "without `more`"),
        ("here.pi", [], "have", ""),
        ("here.nothing", [], "absent", "not yet"),
        ("here.there.nothing", [], "absent", "not yet"),
    ],
)
def test_examined_kind_and_reason(name: str, parameters: list[str], kind: str, reason: str) -> None:
    root = ModuleType("root")
    root.here = THERE  # type: ignore[attr-defined]
    found = mxnet_names.examined(root, name, "1 2", parameters)
    assert (found.kind, found.reason) == (kind, reason)


def test_reasons_are_of_the_name_or_of_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxnet_names, "ABSENT", {"a.b": "one", "a.*": "all", "gluon.Block.c": "base"})
    assert [mxnet_names.absent(name) for name in ("a.b", "a.c", "b.c", "gluon.HybridBlock.c")] == [
        "one", "all", "not yet", "base",
    ]  # fmt: skip


def test_a_name_that_differs_lists_differences_and_missing_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mxnet_names, "DIFFERS", {"here.plain": "slower"})
    root = ModuleType("root")
    root.here = THERE  # type: ignore[attr-defined]
    found = mxnet_names.examined(root, "here.plain", "2", ["dtype"])
    assert (found.kind, found.reason, found.short) == ("differs", "slower; without `dtype`", "`plain` (2.x)")
