"""The timeline's page in a browser: the drawing, and the effects of mouse, fingers and keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forerun import profiler
from forerun.profiler import Trace
from tests.support.browser import CHROMIUM, Browser
from tests.support.traces import MARKUP, large_trace, small_trace

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="a browser is needed: the package chromium, or Chrome")

WHEEL = {"deltaX": 0, "deltaY": -300}
# The colour of a pixel; from a copy, as a canvas that is read from is drawn another way.
SEEN = """seen = (x, y) => {
  const copy = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  copy.drawImage(canvas, -x * devicePixelRatio, -y * devicePixelRatio);
  return [...copy.getImageData(0, 0, 1, 1).data];
}"""
COUNTED = """count = 0, pen.fillRect = (...box) => {
  ++count;
  CanvasRenderingContext2D.prototype.fillRect.apply(pen, box);
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    browser = Browser()
    yield browser
    browser.close()


class Shown:
    """A page of a trace in the browser."""

    def __init__(self, browser: Browser, trace: Trace, folder: Path) -> None:
        self.browser = browser
        profiler.timeline(trace, folder / "run.html", title=MARKUP)
        browser.dark(False)
        browser.open(folder / "run.html")
        browser.ask(SEEN)
        self.left, self.top = browser.ask("(({left, top}) => [left, top])(canvas.getBoundingClientRect())")

    def ask(self, expression: str) -> Any:
        return self.browser.ask(expression)

    @property
    def view(self) -> tuple[float, float]:
        """The time at the left and the right end, in milliseconds."""
        return tuple(t / 1e6 for t in self.ask("[view.from, view.to]"))  # type: ignore[return-value]

    def place(self, ms: float, height: str) -> tuple[float, float]:
        """Where a time is, at a height of the canvas, in the window."""
        x, y = self.ask(f"[xOf({ms} * 1e6), {height}]")
        return self.left + x, self.top + y

    def colour(self, ms: float, height: str) -> str:
        x, y = self.ask(f"[xOf({ms} * 1e6), {height}]")
        r, g, b, _ = self.ask(f"seen({x}, {y})")
        return f"#{r:02x}{g:02x}{b:02x}"

    def hover(self, ms: float, height: str) -> str:
        """Return the text of the tip at a place."""
        self.browser.mouse("mouseMoved", *self.place(ms, height))
        return self.ask("tip.hidden ? '' : tip.innerText")


@pytest.fixture
def shown(browser: Browser, tmp_path: Path) -> Iterator[Shown]:
    page = Shown(browser, small_trace(), tmp_path)
    yield page
    assert browser.complaints == []


WORKER, COPIES, FRONT = "lanes[1].spanTop + 3", "lanes[3].spanTop + 3", "lanes[0].waitTop + 9"
PRODUCT, GROUP = "trace.colours[trace.names.indexOf('matmul')]", "trace.colours[trace.names.indexOf('multiply + tanh')]"


class TestDrawn:
    def test_ops_are_in_their_lanes(self, shown):
        assert shown.colour(2, WORKER) == shown.ask(PRODUCT)
        assert shown.colour(5, WORKER) == shown.ask(GROUP)
        assert shown.colour(3.5, WORKER) not in (shown.ask(PRODUCT), shown.ask(GROUP))

    def test_a_group_has_a_stripe(self, shown):
        stripe = "lanes[1].spanTop + ROW - 3.5"
        assert shown.colour(5, stripe) != shown.ask(GROUP)
        assert shown.colour(2, stripe) == shown.ask(PRODUCT)

    def test_waits_are_hatched(self, shown):
        colours = {shown.colour(4 + n / 100, "lanes[0].waitTop + 15") for n in range(8)}
        assert len(colours) > 1

    def test_memory(self, shown):
        high, low = "curves[0].top + CURVE - 40", "curves[0].top + CURVE - 4"
        assert shown.colour(5.5, low) != shown.colour(0.5, low)
        assert shown.colour(5.5, high) == shown.colour(0.5, high)

    def test_text_is_text(self, shown):
        assert shown.ask("document.querySelector('h1').textContent") == MARKUP
        assert shown.ask("document.querySelectorAll('img').length") == 0
        shown.ask("select(3), applyFilter('img')")
        assert MARKUP in shown.ask("details.innerText")
        assert MARKUP in shown.hover(2.3, "lanes[2].spanTop + 3")
        assert shown.ask("document.querySelectorAll('img').length") == 0

    def test_dark_mode(self, shown):
        light = shown.colour(7, "2")
        shown.browser.dark(True)
        assert shown.colour(7, "2") != light


class TestZoomAndPan:
    def test_the_wheel_zooms_at_the_pointer(self, shown):
        before = shown.view
        shown.browser.mouse("mouseWheel", *shown.place(4, WORKER), **WHEEL)
        after = shown.view
        assert after[1] - after[0] == pytest.approx((before[1] - before[0]) * 2.71828**-0.6, rel=1e-3)
        where = [(4 - start) / (end - start) for start, end in (before, after)]
        assert where[0] == pytest.approx(where[1], abs=1e-3)

    def test_no_further_out_than_the_whole(self, shown):
        before = shown.view
        shown.browser.mouse("mouseWheel", *shown.place(4, WORKER), deltaX=0, deltaY=900)
        assert shown.view == before

    def test_dragging_moves(self, shown):
        shown.browser.mouse("mouseWheel", *shown.place(4, WORKER), **WHEEL)
        x, y = shown.place(4, WORKER)
        shown.browser.drag(x, y, 60)
        assert shown.place(4, WORKER)[0] == pytest.approx(x + 60)
        assert shown.ask("selected") == -1

    def test_the_wheel_moves_with_shift(self, shown):
        shown.ask("show(3e6, 5e6)")
        shown.browser.mouse("mouseWheel", *shown.place(4, WORKER), deltaX=0, deltaY=100, modifiers=8)
        assert shown.view[0] > 3
        assert shown.view[1] - shown.view[0] == pytest.approx(2)

    def test_two_fingers_zoom(self, shown):
        def touch(kind: str, *xs: float) -> None:
            points = [{"x": x, "y": y, "id": n} for n, x in enumerate(xs)]
            shown.browser.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)

        x, y = shown.place(4, WORKER)
        before = shown.view
        touch("touchStart", x - 20, x + 20)
        touch("touchMove", x - 80, x + 80)
        touch("touchEnd")
        assert (shown.view[1] - shown.view[0]) * 3 < before[1] - before[0]
        assert shown.place(4, WORKER)[0] == pytest.approx(x, abs=25)

    def test_keys(self, shown):
        press, whole = shown.browser.press, shown.view
        shown.ask("canvas.focus()")
        press("+")
        near = shown.view
        assert near[1] - near[0] == pytest.approx(0.7 * (whole[1] - whole[0]))
        press("ArrowRight")
        assert shown.view[0] > near[0]
        press("ArrowLeft")
        assert shown.view == pytest.approx(near)
        press("-")
        assert shown.view == pytest.approx(whole)
        for key in ("Home", "0"):
            press("+")
            press(key)
            assert shown.view == pytest.approx(whole)

    def test_buttons(self, shown):
        whole = shown.view
        shown.ask("document.getElementById('in').click()")
        assert shown.view[0] > whole[0]
        shown.ask("document.getElementById('fit').click()")
        assert shown.view == whole


class TestLooking:
    def test_an_op_under_the_pointer(self, shown):
        text = shown.hover(2, WORKER)
        for part in ("matmul (op 1)", "/folder/program.py:1", "float32 (3, 4)", "worker 1"):
            assert part in text
        assert "2.00 ms, from 1.00 ms to 3.00 ms" in text

    def test_a_wait_under_the_pointer(self, shown):
        text = shown.hover(3, FRONT)
        for part in ("item", "/folder/program.py:9", "5.00 ms", "multiply + tanh (op 2)"):
            assert part in text

    def test_memory_under_the_pointer(self, shown):
        assert "4.0 KiB" in shown.hover(4.5, "curves[0].top + 40")

    def test_pointer_over_empty_space(self, shown):
        shown.hover(2, WORKER)
        assert shown.hover(7.5, WORKER) == ""

    def test_a_click_draws_the_arrows_of_an_op(self, shown):
        shown.ask("ways = [], drawn = arrow, arrow = (...way) => (ways.push(way), drawn(...way))")
        shown.browser.click(*shown.place(5, WORKER))
        assert "multiply + tanh (op 2)" in shown.ask("details.innerText")
        rounded = "(point) => Math.round(timeOf(point.x) / 1e4) / 100"
        ways = shown.ask(f"ways.map(([from, to]) => [from, to].map({rounded}))")
        # To it from the operation that it read; from its issue; from it to the wait for it.
        assert ways == [[3, 4], [0.1, 4], [6, 6.5]]
        shown.browser.click(*shown.place(8, WORKER))
        assert shown.ask("selected") == -1

    def test_a_click_on_a_wait_selects_the_awaited_op(self, shown):
        shown.browser.click(*shown.place(3, FRONT))
        assert "multiply + tanh (op 2)" in shown.ask("details.innerText")

    def test_from_op_to_op(self, shown):
        shown.browser.click(*shown.place(5, WORKER))
        shown.ask("[...details.querySelectorAll('button')].find((b) => b.textContent == 'matmul (op 1)').click()")
        assert shown.ask("details.querySelector('strong').textContent") == "matmul (op 1)"

    def test_keys_alone(self, shown):
        for _ in range(8):
            shown.browser.press("Tab")
            if shown.ask("document.activeElement === canvas"):
                break
        assert shown.ask("document.activeElement === canvas")
        for expected in ("matmul", "multiply + tanh"):
            shown.browser.press("n")
            assert shown.ask("details.querySelector('strong').textContent").startswith(expected)
        shown.browser.press("p")
        assert shown.ask("selected") == 0
        shown.browser.press("Escape")
        assert shown.ask("selected") == -1
        shown.browser.press("/")
        assert shown.ask("document.activeElement === filter")


class TestFilter:
    def test_a_name_dims_all_others(self, shown):
        shown.ask("filter.focus()")
        shown.browser.type("MATM")
        assert shown.ask("matched.textContent") == "1 of 5 ops"
        assert shown.colour(2, WORKER) == shown.ask(PRODUCT)
        assert shown.colour(5, WORKER) != shown.ask(GROUP)
        shown.browser.press("Escape")
        assert shown.colour(5, WORKER) == shown.ask(GROUP)

    def test_a_line(self, shown):
        shown.ask("filter.focus()")
        shown.browser.type("program.py:4")
        assert shown.ask("matched.textContent") == "1 of 5 ops"

    def test_a_name_of_the_legend_or_a_table(self, shown):
        for place in ("legend", "tables"):
            shown.ask(f"[...document.querySelectorAll('#{place} button')].find((b) => b.textContent == 'copy').click()")
            assert shown.ask("filter.value") == "copy"
            shown.ask("applyFilter('')")


class TestMany:
    def test_a_hundred_thousand(self, browser, tmp_path):
        shown = Shown(browser, large_trace(100_000), tmp_path)
        shown.ask(COUNTED)
        shown.ask("draw()")
        columns = shown.ask("width * (lanes.length + 1)")
        assert 500 < shown.ask("count") < 2 * columns  # a pixel is painted once or twice, however many ops are on it
        for _ in range(8):
            shown.browser.mouse("mouseWheel", *shown.place(4, WORKER), deltaX=0, deltaY=-500)
        op = shown.ask("lanes[1].spans.op[firstAfter(lanes[1].spans.end, timeOf(width / 2))]")
        x, y = shown.place(shown.ask(f"(first[{op}].start + last[{op}].end) / 2e6"), WORKER)
        browser.click(x, y)
        assert shown.ask("selected") == op
        shown.ask("count = 0, draw()")
        assert shown.ask("count") < 500  # only the visible ops
        browser.press("0")
        shown.ask("applyFilter('tanh')")
        assert shown.ask("matched.textContent").endswith("of 100,000 ops")
        assert browser.complaints == []

    def test_an_empty_trace(self, browser, tmp_path):
        shown = Shown(browser, Trace([]), tmp_path)
        shown.browser.press("+")
        assert browser.complaints == []
