"""`forerun.graph`: of pending operations, of the tape, of a trace; and its picture."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ElementTree

import pytest

import forerun
from forerun import _core, autograd, np, npx, profiler
from forerun.profiler import Graph
from forerun.profiler._picture.boxes import Box, Op
from forerun.profiler._picture.dot import dot
from forerun.profiler._picture.graph_svg import picture
from forerun.profiler._picture.layers import layered
from forerun.testing import closed_gate
from tests.support.engine.settings import configured
from tests.support.processes.subprocesses import PATIENCE

SVG = "{http://www.w3.org/2000/svg}"


def rows_of_boxes(graph: Graph) -> list[tuple[str, str, str, list[str]]]:
    """Of each box with one op: its name, line and form, and the names that it reads."""
    name = {n: box.ops[0].name for n, box in graph.boxes.items()}
    return [(op.name, op.line, op.form, [name[n] for n in box.reads]) for box in graph.boxes.values() for op in box.ops]


def rectangles(svg: str) -> list[tuple[float, float, float, float]]:
    found = [e for e in ElementTree.fromstring(svg).iter(SVG + "rect") if e.get("x")]
    return [tuple(float(e.get(side, "nan")) for side in ("x", "y", "width", "height")) for e in found]  # type: ignore[misc]


def group_while_it_runs(x: np.ndarray) -> Box | None:
    """The box with several ops, of a computation that is looked at until it ends; None if it was too fast."""
    with closed_gate():
        y = ((x * 2 + 1) * 3).sum()
    while not _core.arrived(y):
        for box in forerun.graph(y).boxes.values():
            if len(box.ops) > 1:
                return box
    return None


class TestPending:
    def test_graph_has_pending_dependencies(self, gate):
        x, y = np.ones((1, 2)), np.ones((1, 2), dtype="int64")
        _other = x + 7
        z = x * y + 2
        graph = forerun.graph(z)
        line = {name: line for name, line, _, _ in rows_of_boxes(graph)}
        here = int(line["add"].split()[1].rstrip(","))
        assert rows_of_boxes(graph) == [
            ("full", f"line {here - 2}, issued", "float32 (1, 2)", []),
            ("full", f"line {here - 2}, issued", "int64 (1, 2)", []),
            ("multiply", f"line {here}, issued", "float32 (1, 2)", ["full", "full"]),
            ("add", f"line {here}, issued", "float32 (1, 2)", ["multiply"]),
        ]
        assert [box.kind for box in graph.boxes.values()] == ["op", "op", "op", "result"]

    def test_graph_does_not_wait(self, gate):
        z = np.ones(3) * 2
        before = forerun.pending()
        assert len(forerun.graph([z, {"a": (z,)}]).svg) > 100
        assert forerun.pending() == before

    def test_writes_in_place_come_in_order(self, gate):
        x = np.zeros(5)
        x += 1
        x[2:] = 7
        assert [(name, reads) for name, _, _, reads in rows_of_boxes(forerun.graph(x))] == [
            ("full", []), ("add", ["full"]), ("full", ["add"])
        ]  # fmt: skip

    def test_a_write_of_the_whole_needs_nothing_before(self, gate):
        x = np.ones(5) * 3
        x[:] = 7
        assert len(forerun.graph(x)) == 1

    def test_results_of_several_ops_far_apart(self, gate):
        x = np.ones(5)
        chain = x
        for _ in range(1000):
            chain = chain + 1
        assert len(forerun.graph(chain, limit=2000)) == 1001
        assert len(forerun.graph(chain, limit=10)) == 10
        assert len(forerun.graph(x)) == 1

    def test_operations_that_run_as_one_are_in_a_frame(self):
        with configured(engine="async", workers=1, passes="drop,fuse,reuse"):
            x = np.ones(3_000_000)
            x.wait()
            # On a busy machine this thread is often not scheduled while the group runs.
            end, group = time.monotonic() + PATIENCE, None
            while group is None and time.monotonic() < end:
                group = group_while_it_runs(x)
        assert group is not None
        assert [op.name for op in group.ops] == ["multiply", "add", "multiply", "sum"]
        assert {op.state for op in group.ops} == {"running"}
        assert group.kind == "result"

    def test_graph_of_a_ready_array_is_empty(self):
        x = np.ones(3)
        x.wait()
        assert len(forerun.graph(x)) == 0
        assert ElementTree.fromstring(forerun.graph(x).svg).tag == SVG + "svg"


class TestRecorded:
    @pytest.fixture
    def loss(self):
        w, x = np.ones((3, 4)), np.ones((2, 3))
        w.attach_grad()
        with autograd.record():
            return npx.relu(x @ w).sum()

    def test_back_to_the_leaves(self, loss):
        found = rows_of_boxes(forerun.graph(loss))
        assert [(name, form, reads) for name, _, form, reads in found] == [
            ("leaf", "float32 (3, 4)", []),
            ("matmul", "float32 (2, 4)", ["leaf"]),
            ("relu", "float32 (2, 4)", ["matmul"]),
            ("sum", "float32 ()", ["relu"]),
        ]
        assert len({line for name, line, _, _ in found if name != "leaf"}) == 1

    def test_recorded_graph_stays_after_the_computation(self, loss):
        loss.wait()
        assert len(forerun.graph(loss)) == 4
        assert len(forerun.graph(loss, recorded=False)) == 0

    def test_pending_though_recorded(self, gate):
        w = np.ones(3)
        w.attach_grad()
        with autograd.record():
            y = w * 2
        names = [name for name, *_ in rows_of_boxes(forerun.graph(y, recorded=False))]
        assert names[-1] == "multiply"
        assert "leaf" not in names

    def test_graph_does_not_change_gradients(self, loss):
        forerun.graph(loss)
        loss.backward()
        assert len(forerun.graph(loss)) == 1  # the tape has been released

    def test_a_long_tape(self):
        w = np.ones(2)
        w.attach_grad()
        with autograd.record():
            y = w
            for _ in range(20_000):
                y = y + 1
        assert len(forerun.graph(y, limit=50)) == 50

    def test_a_custom_function(self):
        class Custom(autograd.Function):
            def forward(self, x):
                return x * 2

            def backward(self, g):
                return g

        w = np.ones(2)
        w.attach_grad()
        with autograd.record():
            y = Custom()(w)
        assert [name for name, *_ in rows_of_boxes(forerun.graph(y))] == ["leaf", "Custom"]


class TestTrace:
    def test_a_group_that_reads_an_op_issued_after_its_first(self):
        depth = {n: i for i, row in enumerate(layered({1: [2], 2: [], 3: [1]}, key=int).rows) for n in row}
        assert depth[2] < depth[1] < depth[3]

    def test_operations_that_ran_as_one_are_in_a_frame(self):
        with configured(engine="async", workers=1, passes="drop,fuse,reuse"):
            x = np.ones(300_000)
            x.wait()
            with profiler.record() as p:
                with closed_gate():
                    y = ((x * 2 + 1) * 3).sum()
                y.wait()
        (box,) = forerun.graph(p.trace).boxes.values()
        assert [op.name for op in box.ops] == ["multiply", "add", "multiply", "sum"]
        assert [op.form for op in box.ops] == [*3 * ["float32 (300000,)"], "float32 ()"]
        assert len({op.line for op in box.ops}) == 1

    def test_a_trace_of_a_run(self):
        with profiler.record() as p:
            x = np.ones((1, 2))
            _z = x * x + 2
        names = [name for name, *_ in rows_of_boxes(forerun.graph(p.trace))]
        assert set(" + ".join(names).split(" + ")) == {"full", "multiply", "add"}


BOXES = {
    1: Box((Op("a", ("f.py", 3), "float32 (2,)"),), ()),
    2: Box((Op("b", ("f.py", 4)), Op("c")), (1,), device=1),
    3: Box((Op("d"),), (1, 2), kind="result"),
    4: Box((Op("e"),), (1, 3)),
}


class TestForms:
    def test_boxes_do_not_overlap(self):
        svg = picture(BOXES, "title", {0: "cpu(0)", 1: "cpu(1)"})
        frames = [e for e in ElementTree.fromstring(svg).iter(SVG + "g") if "op" in e.get("class", "").split()]
        found = [rectangles(ElementTree.tostring(e, encoding="unicode"))[0] for e in frames]
        assert len(found) == 4
        for n, (x, y, w, h) in enumerate(found):
            for x2, y2, w2, h2 in found[n + 1 :]:
                assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y

    def test_ops_of_a_group_lie_in_their_frame(self):
        svg = picture({2: BOXES[2]} | {1: BOXES[1]}, "title", {})
        (group,) = [e for e in ElementTree.fromstring(svg).iter(SVG + "g") if e.get("class") == "op group"]
        frame, *inside = rectangles(ElementTree.tostring(group, encoding="unicode"))
        assert len(inside) == 2
        for x, y, w, h in inside:
            assert frame[0] < x
            assert x + w < frame[0] + frame[2]
            assert frame[1] < y
            assert y + h < frame[1] + frame[3]

    def test_text_for_graphviz(self):
        text = dot(BOXES)
        assert '1 [label="a\\nline 3\\nfloat32 (2,)"];' in text
        assert "subgraph cluster_2 {" in text
        assert '1 -> "2.0" [lhead=cluster_2];' in text
        assert '"2.1" -> 3 [ltail=cluster_2];' in text
        assert re.search(r"compound=true", text)

    def test_in_a_notebook_and_as_text(self):
        graph = Graph(BOXES, "title", {})
        assert graph._repr_svg_() == graph.svg
        assert str(graph) == graph.dot
        assert repr(graph) == "<graph 'title', 4 boxes>"

    def test_saved(self, tmp_path):
        graph = Graph(BOXES, "title", {})
        for ending, text in ((".svg", graph.svg), (".dot", graph.dot)):
            graph.save(tmp_path / f"g{ending}")
            assert (tmp_path / f"g{ending}").read_text() == text
        with pytest.raises(ValueError, match=r"graph: path must end in .svg or .dot, got '.*g.png'"):
            graph.save(tmp_path / "g.png")

    def test_values_must_be_arrays(self):
        with pytest.raises(TypeError, match="graph: values must be arrays or a trace, got int"):
            forerun.graph([np.ones(2), 3])
        with pytest.raises(TypeError, match="got str"):
            forerun.graph("x")
