"""Operations that are dropped, fused and left without memory, as counts and profiles show it."""

from __future__ import annotations

import threading
import time

import numpy
import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.passes import gelu, pass_counts, random_floats, results_and_pass_counts
from tests.support.engine.settings import configured

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestDropAndFusion:
    N = 100_000

    def test_gelu_is_one_group_without_intermediates(self, improving):
        _, did = results_and_pass_counts(gelu, random_floats(self.N))
        assert did == {"dropped": 0, "groups": 1, "grouped": 9, "elided": 8 * 4 * self.N}

    def test_softmax_is_one_group(self, improving):
        x = random_floats(300, 400)
        _, did = results_and_pass_counts(npx.softmax, x)
        assert did == {"dropped": 0, "groups": 1, "grouped": 5, "elided": 2 * x.nbytes}
        assert results_and_pass_counts(npx.log_softmax, x)[1]["groups"] == 1

    def test_layer_norm_is_one_group(self, improving):
        x, w = random_floats(300, 400), random_floats(400)
        assert results_and_pass_counts(npx.layer_norm, x, w, w)[1] | {"grouped": 0} == {
            "dropped": 0, "groups": 1, "grouped": 0, "elided": 4 * x.nbytes
        }  # fmt: skip

    def test_mean_and_variance_are_one_group(self, improving):
        x = random_floats(300, 400)
        (mean, var), did = results_and_pass_counts(lambda x: (x.mean(1), x.var(1)), x)
        assert (did["groups"], did["elided"]) == (1, 2 * x.nbytes)
        numpy.testing.assert_allclose(mean.asnumpy(), x.mean(1), atol=1e-6)
        numpy.testing.assert_allclose(var.asnumpy(), x.var(1), rtol=1e-5)

    @pytest.mark.parametrize("axis", [0, 1, None])
    def test_a_reduction_closes_a_group(self, improving, axis):
        x = random_floats(300, 400)
        _, did = results_and_pass_counts(lambda a, b: ((a - b) ** 2).sum(axis), x, x + 1)
        assert did == {"dropped": 0, "groups": 1, "grouped": 3, "elided": 2 * x.nbytes}

    def test_full_reduction_ends_a_group(self, improving):
        x = random_floats(300, 400)  # 65,536 elements are one tile
        _, did = results_and_pass_counts(lambda x: x * 2 / (x * 2).sum() + 1, x)
        assert did["groups"] == 2
        assert did["elided"] == 2 * x.nbytes  # x * 2 under the sum, and the quotient

    def test_referenced_values_have_memory(self, improving):
        def program(x):
            y = x + 1
            z = y * 2
            return [y, z, z - x]

        results, did = results_and_pass_counts(program, random_floats(self.N))
        assert (did["groups"], did["elided"]) == (1, 0)
        assert all(r.asnumpy().size == self.N for r in results)

    def test_small_values_are_stored_in_the_object(self, improving):
        _, did = results_and_pass_counts(lambda x: (x + 1) * 2 - x, random_floats(10))
        assert (did["groups"], did["elided"]) == (1, 0)

    def test_tiny_ops_are_not_worth_a_group(self, improving):
        _core.set_fuse_from(500)
        assert results_and_pass_counts(gelu, random_floats(10))[1]["groups"] == 0
        assert results_and_pass_counts(gelu, random_floats(10_000))[1]["groups"] == 1

    @pytest.mark.parametrize("k", [1, 2, 7, 200])
    def test_a_dropped_chain_counts_its_ops(self, improving, k):
        def program(x):
            y = x
            for _ in range(k):
                y = y * 2
            return x + 1

        _, did = results_and_pass_counts(program, random_floats(1000))
        assert (did["dropped"], did["grouped"]) == (k, 0)

    def test_inputs_of_a_dropped_op_are_dropped(self, improving):
        def program(x):
            y = np.exp(x) + np.concatenate([x, x])[: x.size]
            ((y - y.sum()) @ np.random.normal(size=(x.size, 3))).cumsum()
            np.zeros(x.size).copy()
            return x + 1

        z, did = results_and_pass_counts(program, random_floats(1000))
        assert did["dropped"] >= 9
        assert z.asnumpy().tobytes() == (random_floats(1000) + 1).tobytes()

    def test_results_without_handles_are_dropped_after_planning(self, improving):
        go = threading.Event()
        late = host(lambda: (go.wait(60), 0.5)[1], [], [((), "float32")])[0]
        x = late + np.zeros(3000)
        before = forerun.stats()["dropped"]
        y = np.exp(x * 2) + 1
        while (stats := forerun.stats())["planned"] < stats["issued"]:
            time.sleep(0.001)
        del y
        z = x + 1
        go.set()
        assert z[0].item() == 1.5
        assert forerun.stats()["dropped"] == before + 3

    def test_results_read_later_are_not_dropped(self, improving):
        x = np.array(random_floats(1000))
        with closed_gate():
            kept = [x * i for i in range(50)]
            total = x * 0
            for y in [x + i for i in range(20)]:
                total = total + y
            view = (x - 1)[10:20]
        for i, y in enumerate(kept):
            assert y.asnumpy().tobytes() == (random_floats(1000) * numpy.float32(i)).tobytes()
        assert view.tolist() == (random_floats(1000) - 1)[10:20].tolist()
        assert total[0].item() == pytest.approx(20 * random_floats(1000)[0] + 190, rel=1e-5)

    def test_each_pass_alone(self):
        def program(x):
            x * 3
            return (x + 1) * 2

        for passes, dropped, groups in (("", 0, 0), ("drop", 1, 0), ("fuse", 0, 1), ("drop,fuse", 1, 1)):
            with configured(engine="async", workers=1, passes=passes):
                did = results_and_pass_counts(program, random_floats(3000))[1]
                assert (did["dropped"], did["groups"]) == (dropped, groups), passes

    @pytest.mark.parametrize("program", [gelu, npx.softmax, lambda x: x - x.mean(1, keepdims=True)])
    def test_peak_is_inputs_and_outputs(self, improving, program):
        x = np.array(random_floats(1000, 1000))
        forerun.waitall()
        pass_counts()
        before = forerun.memory()["live"]
        _core.reset_peak()
        with closed_gate():
            y = program(x)
        y.wait()
        assert forerun.memory()["peak"] - before <= y.nbytes + 50_000

    def test_program_of_many_groups_needs_little_memory(self, improving):
        x = np.array(random_floats(250_000))
        forerun.waitall()
        pass_counts()
        before = forerun.memory()["live"]
        _core.reset_peak()
        with closed_gate():
            for _ in range(20):
                x = gelu(x) + x
        x.wait()
        assert forerun.memory()["peak"] - before <= 4 * x.nbytes + (2 << 20)


class TestProfiler:
    @pytest.mark.parametrize("shape", [(30, 100), (700, 500)])  # one tile, several
    def test_each_op_that_ran_has_an_event(self, improving, shape, tmp_path):
        x = np.array(random_floats(*shape))
        forerun.waitall()
        before = forerun.stats()
        with profiler.record() as p:
            with closed_gate():
                y = npx.softmax(gelu(x))
                (x * 5).sum()
                total = (y - x).sum()
            total.wait()
        after = forerun.stats()
        ran = after["issued"] - before["issued"] - (after["dropped"] - before["dropped"])
        ops = {e.seq: e for e in p.trace.ops}
        assert after["dropped"] - before["dropped"] == 2
        assert after["groups"] > before["groups"]
        assert len(p.trace.ops) == len(ops)
        assert sum(len(e.members) or 1 for e in ops.values()) == ran  # a group's event stands for all of it
        for e in ops.values():
            assert set(e.deps) <= set(ops)
            assert e.issued <= e.started <= e.ended
            assert e.name != "group"
        assert {"tanh", "exp", "sum"} <= {part.name for e in ops.values() for part in e.parts or (e,)}
        graph = profiler.graph(p.trace)
        for text in (profiler.timeline(p.trace), graph.svg, graph.dot, profiler.report(p.trace)):
            assert "tanh" in text
        profiler.timeline(p.trace, tmp_path / "run.json")

    def test_ops_of_a_group_start_after_the_operands_of_the_group(self, improving):
        x = np.array(random_floats(300, 300))
        forerun.waitall()
        with profiler.record() as p, closed_gate():
            y = (x @ x) * 2 + 1
        ops = {e.seq: e for e in p.trace.ops}
        product, *rest = sorted(ops.values(), key=lambda e: e.seq)
        assert product.name == "matmul"
        assert all(e.started >= product.ended - 1e-9 for e in rest)
        assert p.trace.busy() <= p.trace.span + 1e-9
        assert y.shape == (300, 300)
