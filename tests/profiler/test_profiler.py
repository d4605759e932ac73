"""The profiler: the contents of a trace, and its pictures and tables."""

from __future__ import annotations

import inspect
import json
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from itertools import pairwise

import pytest

import forerun
from forerun import np, profiler
from forerun.profiler import Event, Trace
from forerun.profiler._picture.lanes import lanes
from forerun.profiler._picture.layers import layered
from forerun.profiler._picture.places import places

SVG = "{http://www.w3.org/2000/svg}"


def line_below() -> int:
    """The number of the line after the caller's."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno + 1


def op_event(
    seq: int, start: float, end: float, thread: int = 1, name: str = "add", deps: tuple[int, ...] = ()
) -> Event:
    return Event("op", seq, name, ("program.py", seq), thread, 0, "compute", start, start, end, 8, deps)


def wait_event(start: float, end: float, line: int = 7) -> Event:
    return Event("wait", 0, "wait", ("program.py", line), 0, 0, None, start, start, end)


def elements(picture: str, tag: str, kind: str) -> list[ElementTree.Element]:
    return [e for e in ElementTree.fromstring(picture).iter(SVG + tag) if e.get("class") == kind]


@pytest.fixture
def product() -> Trace:
    """The trace of z = x * y + 2, with x and y made before."""
    x, y = np.ones((1, 2)), np.ones((1, 2))
    forerun.waitall()
    with profiler.record() as p:
        z = x * y + 2
        z.wait()
    return p.trace


class TestRecord:
    def test_times_of_an_op_are_in_order(self, product):
        for e in product.ops:
            assert product.start <= e.issued <= e.started <= e.ended <= product.start + product.span

    def test_an_op_has_its_dependencies(self, product):
        multiply, add = sorted(product.ops, key=lambda e: e.seq)
        assert (multiply.name, add.name) == ("multiply", "add")
        assert multiply.seq in add.deps
        assert multiply.ended <= add.started

    def test_a_wait_has_the_line_that_waited(self):
        x = np.ones((2000, 2000))  # a product that is not there yet when the wait comes
        with profiler.record() as p:
            line = line_below()
            (x @ x).wait()
        assert (__file__, line) in [w.site for w in p.trace.waits]

    def test_an_op_has_the_line_that_issued_it(self):
        with profiler.record() as p:
            line = line_below()
            _ = np.ones(3) + 1
        assert {e.site for e in p.trace.ops} == {(__file__, line)}

    def test_leaving_the_block_waits_for_all_work(self):
        x = np.ones((200, 200))
        with profiler.record() as p:
            y = x
            for _ in range(20):
                y = y @ x
        assert sum(e.name == "matmul" for e in p.trace.ops) == 20

    def test_an_exception_ends_the_recording(self):
        with pytest.raises(KeyError), profiler.record():
            raise KeyError
        with profiler.record() as p:
            np.ones(3).wait()
        assert p.trace.ops

    def test_start_and_stop(self):
        profiler.start()
        np.ones(3).wait()
        assert profiler.stop().ops
        with pytest.raises(RuntimeError, match="recording"):
            profiler.stop()


class TestTrace:
    trace = Trace([op_event(1, 0, 4), op_event(2, 1, 3, thread=2), op_event(3, 6, 8, thread=2), wait_event(0, 8)])

    def test_busy_counts_overlapping_ops_once(self):
        assert self.trace.busy() == 6
        assert self.trace.busy(thread=2) == 4
        assert self.trace.busy("copy") == 0

    def test_overlap_needs_two_threads(self):
        assert self.trace.overlap() == 2
        assert Trace([op_event(1, 0, 4), op_event(2, 1, 3)]).overlap() == 0

    def test_ops_that_end_together_ran_one_after_the_other(self):
        events = [op_event(1, 1, 9), op_event(2, 3, 9.1), op_event(3, 4, 9.2)]
        assert [e.ended for e in Trace.from_events(events)] == [3, 4, 9.2]


class TestLanes:
    def test_the_program_comes_first_then_workers_and_copies(self):
        copy = replace(op_event(3, 2, 3, thread=1), queue="copy")
        found = lanes(Trace([op_event(1, 0, 1, thread=5), op_event(2, 1, 2, thread=2), copy, wait_event(0, 3)]))
        assert [(lane.label, lane.thread) for lane in found] == [
            ("front end", 0), ("worker 1", 2), ("worker 2", 5), ("copies", 1)
        ]  # fmt: skip

    def test_a_thread_that_issued_without_waits_is_a_front_end(self):
        ops = [replace(op_event(n, n, n + 1), issuer=8) for n in (1, 2)]
        front, worker = lanes(Trace(ops))
        assert (front.thread, front.front, front.issues) == (8, True, ops)
        assert (worker.thread, worker.front, worker.issues) == (1, False, [])

    def test_operations_issued_by_workers_have_no_lane(self):
        found = lanes(Trace([op_event(1, 1, 2), replace(op_event(2, 2, 3), issuer=1)]))
        assert [(lane.thread, len(lane.issues)) for lane in found] == [(0, 1), (1, 0)]

    def test_an_op_begun_by_other_threads_counts_from_the_previous_end(self):
        _, lane = lanes(Trace([op_event(1, 0, 9), op_event(2, 1, 4)]))
        assert lane.intervals == [(1, 4), (4, 9)]


class TestTimeline:
    def test_one_rectangle_for_each_op_and_wait(self, product):
        picture = profiler.timeline(product)
        assert len(elements(picture, "rect", "op")) == len(product.ops)
        assert len(elements(picture, "rect", "wait")) == len(product.waits)

    def test_rectangles_lie_in_the_picture_and_not_on_each_other(self):
        ops = [op_event(i, i, i + 2.5, thread=1 + i % 2) for i in range(1, 30)]
        boxes: dict[str, list[tuple[float, float]]] = {}
        for e in elements(profiler.timeline(Trace(ops)), "rect", "op"):
            x, width = float(e.get("x", "nan")), float(e.get("width", "nan"))
            boxes.setdefault(e.get("y", ""), []).append((x, x + width))
        assert len(boxes) == 2
        for row in boxes.values():
            assert all(0 < x < end < 1200 for x, end in row)
            assert all(end <= x for (_, end), (x, _) in zip(sorted(row), sorted(row)[1:]))

    def test_many_ops_make_a_small_picture(self):
        ops = [op_event(i, i, i + 0.7, thread=i % 16, name=f"op{i % 5}") for i in range(50_000)]
        waits = [wait_event(i, i + 0.5) for i in range(10_000)]
        picture = profiler.timeline(Trace(ops + waits))
        assert len(picture) < 1_000_000
        shown = elements(picture, "rect", "op")
        assert 16 <= len(shown) < 20_000

    def test_strange_names_stay_text(self, tmp_path):
        picture = profiler.timeline(Trace([op_event(1, 0, 1, name='<a & "b">')]), tmp_path / "run.svg", "x < y & z")
        assert (tmp_path / "run.svg").read_text(encoding="utf-8") == picture
        assert "x < y & z" in [e.text for e in ElementTree.fromstring(picture).iter(SVG + "text")]

    def test_an_empty_trace_is_a_picture(self):
        assert ElementTree.fromstring(profiler.timeline(Trace([]))).tag == SVG + "svg"


class TestGraph:
    def test_a_box_for_each_op_an_arrow_for_each_result_read(self, product):
        picture = profiler.graph(product).svg
        assert len(elements(picture, "g", "op")) == 2
        assert len(elements(picture, "path", "edge")) == 1

    def test_results_flow_downwards(self):
        edges = {1: [], 2: [1], 3: [2], 4: [1, 3], 5: []}
        row = {op: i for i, row in enumerate(layered(edges, key=int).rows) for op in row}
        assert all(row[before] < row[op] for op, found in edges.items() for before in found)

    def test_crossings_are_untangled(self):
        edges = {1: [], 2: [], 3: [], 4: [3], 5: [2], 6: [1]}
        assert layered(edges, key=int).crossings() == 0

    def test_boxes_of_a_row_are_apart(self):
        layers = layered({1: [], 2: [1], 3: [1], 4: [1], 5: [2, 3, 4]}, key=int)
        at = places(layers, lambda node: 10)
        for row in layers.rows:
            assert all(at[b] - at[a] >= 10 - 1e-9 for a, b in pairwise(row))

    def test_a_long_trace_is_cut(self):
        chain = Trace([op_event(i, i, i + 1, deps=(i - 1,)) for i in range(1, 30)])
        assert len(elements(profiler.graph(chain, limit=10).svg, "g", "op")) == 10

    def test_dot_has_the_same_edges(self, product):
        multiply, add = sorted(e.seq for e in product.ops)
        assert f"{multiply} -> {add};" in profiler.graph(product).dot


class TestReport:
    def test_report_names_the_line_that_waited_longest(self):
        text = profiler.report(Trace([wait_event(0, 1, line=3), wait_event(1, 5, line=8), op_event(1, 0, 2)]))
        assert text.index("program.py:8") < text.index("program.py:3")
        assert "4,000.000" in text

    def test_sums_by_name(self):
        text = profiler.report(Trace([op_event(1, 0, 1), op_event(2, 1, 2), op_event(3, 2, 5, name="dot")]))
        rows = [row.split() for row in text.splitlines()]
        assert ["dot", "1", "3,000.000", "3,000,000.0", "8"] in rows
        assert ["add", "2", "2,000.000", "1,000,000.0", "16"] in rows

    def test_long_tables_count_their_omitted_rows(self):
        trace = Trace([op_event(i, i, i + 1, name=f"op{i}") for i in range(10)])
        assert "... and 7 more" in profiler.report(trace, limit=3)


class TestChrome:
    def test_slices_and_arrows(self, product, tmp_path):
        profiler.timeline(product, tmp_path / "run.json")
        events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
        kinds = [e["ph"] for e in events]
        assert kinds.count("X") == len(product) + len(product.ops)  # ops and waits, and the issues of ops
        assert kinds.count("s") == kinds.count("f") == 3  # from each issue to its run, and from one op to the other
        assert min(e["ts"] for e in events if "ts" in e) >= 0
