"""The bar of a loop: issued and computed iterations are counted separately, and the bar does not wait."""

from __future__ import annotations

import io
import sys
import threading
import types
import weakref

import pytest

import forerun
from forerun import np
from forerun._display import progress as bars
from forerun.testing import closed_gate


class Screen(io.StringIO):
    """Stands for a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def lines(self) -> list[str]:
        """Return the contents of the line, one after the other."""
        return [line for line in self.getvalue().split("\r\033[K") if line]


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    made = Screen()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(bars, "EVERY", 0.0)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(bars, "_picture", lambda: bars._Line(made))
    return made


class TestLine:
    def test_issued_is_not_computed(self, screen):
        """With the engine held, all iterations are issued, none is computed, and the loop ends all the same."""
        forerun.waitall()
        kept = []
        with closed_gate():
            for i in forerun.progress(range(4), "training"):
                kept.append(np.ones(3) * i)
        forerun.waitall()
        assert screen.lines()[0].startswith("training " + "·" * 30 + " 0/4 issued")
        assert "▒" * 30 + " 4/4 issued, 4 being computed" in screen.lines()[-1]
        assert "█" not in screen.getvalue()

    def test_computed_iterations_are_full(self, screen):
        for i in forerun.progress(range(3)):
            (np.ones(3) * i).wait()
        assert screen.lines()[-1].startswith("█" * 30 + " 3/3 issued, 0:0")

    def test_the_line_is_removed(self, screen):
        list(forerun.progress(range(3)))
        assert screen.getvalue().endswith("\r\033[K")

    def test_also_when_the_loop_is_left(self, screen):
        for _ in forerun.progress(range(3)):
            break
        assert screen.getvalue().endswith("\r\033[K")

    def test_going_on_where_another_stopped(self, screen):
        list(forerun.progress(range(2), done=2))
        assert screen.lines()[0].startswith("█" * 15 + "·" * 15 + " 2/4 issued")

    def test_without_a_length(self, screen):
        list(forerun.progress(iter(range(3)), "reading"))
        assert "3 issued" in screen.lines()[-1]

    def test_a_narrow_terminal(self, screen, monkeypatch):
        monkeypatch.setenv("COLUMNS", "40")
        list(forerun.progress(range(3), "a title that is longer than the line"))
        assert max(map(len, screen.lines())) < 40

    def test_ascii(self, screen, monkeypatch):
        monkeypatch.setattr(Screen, "encoding", "ascii")
        list(forerun.progress(range(3)))
        assert screen.getvalue().isascii()


class TestLoop:
    def test_gives_the_items(self, screen):
        assert list(forerun.progress("abc")) == list("abc")

    def test_items_are_released_by_the_loop(self, screen):
        class Item: ...

        alive: list[weakref.ref[Item]] = []

        def items():
            for _ in range(3):
                assert [one() for one in alive if one() is not None] == []
                yield Item()

        for item in forerun.progress(items()):
            alive.append(weakref.ref(item))
            del item
        assert len(alive) == 3

    def test_errors_pass(self, screen):
        def failing() -> None:
            for _ in forerun.progress(range(3)):
                raise KeyError

        with pytest.raises(KeyError):
            failing()
        assert screen.getvalue().endswith("\r\033[K")

    @pytest.mark.parametrize("wrong", [{"total": -1}, {"done": -1}])
    def test_negative_numbers_at_the_call(self, wrong):
        with pytest.raises(ValueError, match="progress: total and done must not be negative"):
            forerun.progress([], **wrong)

    def test_no_output_without_a_terminal(self, capsys):
        assert list(forerun.progress(range(3), "x")) == [0, 1, 2]
        assert capsys.readouterr() == ("", "")

    def test_pictures_are_few(self, screen, monkeypatch):
        monkeypatch.setattr(bars, "EVERY", 3600.0)
        list(forerun.progress(range(1000)))
        assert len(screen.lines()) == 1


class TestNotebook:
    @pytest.fixture
    def shown(self, monkeypatch):
        pages: list[str] = []

        def display(page: str, display_id: bool) -> types.SimpleNamespace:
            pages.append(page)
            return types.SimpleNamespace(update=pages.append)

        fake = types.ModuleType("IPython")
        fake.get_ipython = lambda: types.SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
        screen = types.ModuleType("IPython.display")
        screen.HTML, screen.display = str, display  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", fake)
        monkeypatch.setitem(sys.modules, "IPython.display", screen)
        monkeypatch.setattr(bars, "EVERY", 0.0)
        return pages

    def test_a_bar_that_is_updated_and_stays(self, shown):
        for i in forerun.progress(range(2), "<training>"):
            (np.ones(3) * i).wait()
        assert len(shown) == 4
        assert "&lt;training&gt;" in shown[0]
        assert "width:50.0%" in shown[1]
        assert "2/2 issued, 0:0" in shown[-1]

    def test_bar_is_updated_until_all_is_computed(self, shown):
        forerun.waitall()
        kept = []
        with closed_gate():
            for i in forerun.progress(range(4)):
                kept.append(np.ones(3) * i)
            assert "4/4 issued, 4 being computed" in shown[-1]
        forerun.waitall()
        for thread in threading.enumerate():
            if thread.name == "forerun progress":
                thread.join(60)
        assert "4/4 issued, 0:0" in shown[-1]
        assert "width:100.0%" in shown[-1]
