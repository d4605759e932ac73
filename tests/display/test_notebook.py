"""Output in notebooks: arrays, reports, summaries."""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun._display.notebook import Shown, show, table
from forerun.gluon import nn
from forerun.profiler import Event, Trace
from tests.support.processes.subprocesses import PATIENCE


class TestArrays:
    def test_values_below_dtype_and_shape(self):
        text = np.array([[1.0, 2.0]])._repr_html_()
        assert text == "<small>float32 (1, 2), 8 bytes, cpu(0)</small><pre>array([[1., 2.]])</pre>"

    def test_html_repr_waits_for_this_array_only(self):
        go = threading.Event()

        def held(x: numpy.ndarray) -> numpy.ndarray:
            assert go.wait(PATIENCE)
            return x

        x = np.arange(3)
        (other,) = npx.host(held, [x], [((3,), "int64")])
        shown = (x + 1)._repr_html_()
        still = _core.arrived(other)
        go.set()
        assert "array([1, 2, 3])" in shown
        assert not still
        other.wait()

    def test_html_repr_of_a_large_array_reads_its_corners_only(self):
        x = np.ones((2000, 2000))
        x.wait()
        before, memory = forerun.stats()["issued"], forerun.memory()["live"]
        text = x._repr_html_()
        assert text.count("1.") == 36
        assert "15.3 MiB" in text
        assert forerun.stats()["issued"] == before
        assert forerun.memory()["live"] == memory

    def test_html_repr_of_a_failed_array(self):
        x = np.linalg.inv(np.zeros((2, 2)))
        text = x._repr_html_()
        assert "LinAlgError: " in text
        assert "test_notebook.py" in text  # the line that issued it
        assert _core.unseen_failures() == []

    def test_signs_of_markup(self):
        def failing() -> None:
            raise ValueError("<b>")

        (x,) = npx.host(failing, [], [((), "int64")])
        assert "ValueError: &lt;b&gt;" in x._repr_html_()


class TestTraces:
    trace = Trace([Event("op", 1, "<b>", None, 1, 0, "compute", 0, 0.001, 0.002)])

    def test_a_trace_is_short_and_a_picture(self):
        assert repr(self.trace) == "<trace of 2 ms, 1 op, 0 waits>"
        assert self.trace._repr_html_().startswith("<svg")

    def test_a_timeline_is_shown(self, tmp_path):
        picture = profiler.timeline(self.trace)
        assert picture._repr_html_() == picture
        page = profiler.timeline(self.trace, tmp_path / "<i>.html")
        assert page._repr_html_() == f"<code>{tmp_path}/&lt;i&gt;.html</code>"

    def test_a_report_is_text_and_tables(self):
        wait = Event("wait", 0, "item", ("<i>.py", 7), 0, 0, None, 0.001, 0.001, 0.002, cause="item")
        report = profiler.report(Trace([*self.trace.events, wait]))
        assert "<i>.py:7  item" in report
        shown = report._repr_html_()
        assert shown.count("<table>") == 2
        for part in ("&lt;b&gt;", "&lt;i&gt;.py:7  item", "keep the number as an array"):
            assert part in shown
        assert "<b>" not in shown
        assert "<i>" not in shown


class TestTables:
    def test_text_is_text(self):
        assert "<a>" not in table(("<a>",), [("<a>",)], "<a>")

    def test_columns_of_numbers_are_flush_right(self):
        assert table(("a", "b"), [("x", "1,000"), ("2", "3 ms")]).count("right") == 3

    def test_without_rows(self):
        assert "<th" in table(("a", "b"), [])


class TestShown:
    def test_shown_is_text(self, capsys):
        shown = Shown("a\nb", "<b>")
        show(shown)
        assert capsys.readouterr().out == "a\nb\n"
        assert shown == "a\nb"

    def test_in_a_notebook(self, monkeypatch, capsys):
        seen: list[object] = []
        display = types.SimpleNamespace(display=seen.append)
        ipython = types.SimpleNamespace(get_ipython=lambda: object(), display=display)
        monkeypatch.setitem(sys.modules, "IPython", ipython)  # type: ignore[arg-type]
        net = nn.Dense(3)
        net.initialize()
        net.summary(np.ones((2, 4)))
        assert capsys.readouterr().out == ""
        (shown,) = seen
        assert isinstance(shown, Shown)
        assert "Total params: 15" in shown
        assert "15 parameters, 15 trainable" in shown._repr_html_()
        assert '<td style="text-align:left">(2, 3)</td>' in shown._repr_html_()

    @pytest.mark.parametrize("ipython", [None, types.SimpleNamespace(get_ipython=lambda: None)])
    def test_outside_of_a_notebook(self, ipython, monkeypatch, capsys):
        if ipython:
            monkeypatch.setitem(sys.modules, "IPython", ipython)
        show(Shown("text", "html"))
        assert capsys.readouterr().out == "text\n"


class TestCells:
    """Lines of a notebook's cells have the cell's name in place of the file that it is compiled as."""

    FILES = ("/tmp/ipykernel_7/123.py", "<ipython-input-1-abc>")

    @pytest.fixture
    def names(self, monkeypatch):
        known = dict.fromkeys(self.FILES, "In[6]")
        compiler = types.SimpleNamespace(format_code_name=lambda file: ("Cell", known[file]) if file in known else None)
        shell = types.SimpleNamespace(get_ipython=lambda: types.SimpleNamespace(compile=compiler))
        monkeypatch.setitem(sys.modules, "IPython", shell)  # type: ignore[arg-type]
        return known

    def site(self, file: str) -> str:
        seen: dict[str, Any] = {"np": np}
        exec(compile("\nx = np.linalg.inv(np.zeros((2, 2)))", file, "exec"), seen)
        with pytest.raises(np.linalg.LinAlgError) as caught:
            seen["x"].wait()
        (note,) = caught.value.__notes__
        return note

    @pytest.mark.parametrize("file", FILES)
    def test_an_error_names_the_cell(self, names, file):
        assert self.site(file) == "issued at In[6]:2"
        names[file] = "In[9]"  # executed again
        assert self.site(file) == "issued at In[9]:2"

    def test_names_of_other_files_are_kept(self, names):
        assert self.site("/tmp/ipykernel_7/other.py") == "issued at /tmp/ipykernel_7/other.py:2"

    def test_a_cell_without_a_name_is_named_by_its_file(self, names, monkeypatch):
        monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace())  # type: ignore[arg-type]
        assert self.site("/tmp/ipykernel_7/123.py") == "issued at /tmp/ipykernel_7/123.py:2"
