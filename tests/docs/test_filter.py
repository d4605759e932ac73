"""The field above long tables of the pages, in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import CHROMIUM, Browser
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="a browser is needed: the package chromium, or Chrome")

SHOWN = "[...document.querySelectorAll('td')].filter((cell) => cell.offsetHeight).map((cell) => cell.textContent)"


def write(path: Path, rows: int) -> None:
    script = (ROOT / "docs" / "_static" / "filter.js").as_uri()
    body = "".join(f"<tr><td>Name{i}</td></tr>" for i in range(rows))
    table = f"<table><thead><tr><th>name</th></tr></thead><tbody>{body}</tbody></table>"
    path.write_text(f'<!doctype html><script src="{script}"></script><article>{table}</article>', encoding="utf-8")


def test_long_tables_have_a_field_that_selects_rows(tmp_path):
    write(tmp_path / "long.html", 50)
    write(tmp_path / "short.html", 10)
    browser = Browser()
    try:
        browser.open(tmp_path / "short.html")
        assert browser.ask("document.querySelector('input')") is None
        browser.open(tmp_path / "long.html")
        assert len(browser.ask(SHOWN)) == 50
        browser.ask("document.querySelector('input').focus()")
        browser.type("name4")
        assert browser.ask(SHOWN) == ["Name4", *(f"Name4{i}" for i in range(10))]
        assert browser.ask("document.querySelector('th').offsetHeight") > 0
        assert browser.complaints == []
    finally:
        browser.close()
