"""Random programs, and training, have the same bits with any passes, in any number of workers and in little memory."""

from __future__ import annotations

import os

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forerun import autograd, gluon, np, npx
from stress.fuzz.modes import all_at_once, in_order, running_ahead
from stress.fuzz.program import Shape, Step, seeded
from stress.fuzz.steps import FUSED_EXACT, FUSED_KINDS
from tests.support.engine.passes import ALL, SETTINGS, check_all_passes, pass_counts, random_floats
from tests.support.engine.settings import configured

EDITING = ("make", "make", "drop", "slices", "transpose", "reshape", "assign", "out", "overlap", "update", "copy")
EXACT = (*FUSED_EXACT, *FUSED_EXACT, *EDITING, "binary", "unary", "chain", "choose", "reduce", "scan", "move", "sort")
FREE = (*EXACT, *FUSED_KINDS, "smooth", "average", "random")

ROWS_AND_COLUMNS = (
    (1, 1), (3, 1), (7, 2), (5, 10), (9, 255), (8, 256), (300, 257), (2, 2047), (33, 2048), (33, 2049), (17, 4096),
    (16, 4097), (4097, 16), (5, 16384), (5, 16385), (16385, 3), (1, 65535), (1, 65536), (2, 65537), (65536, 2),
    (1, 67584), (2, 67584), (0, 5), (5, 0),
)  # fmt: skip


SEEDS = int(os.environ.get("EXAMPLES", "2"))  # programs of each shape and all settings; `make fuzz` has thousands

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestPrograms:
    @pytest.mark.parametrize(("rows", "columns"), ROWS_AND_COLUMNS)
    def test_same_bits_with_any_passes(self, rows, columns):
        shapes: tuple[Shape, ...] = ((rows, columns), (columns,), (rows, 1), (1, columns), (), (columns, rows))
        for steps in (seeded(FREE, 25, seed=columns + i * rows) for i in range(SEEDS)):
            with configured(engine="sync", cpu_devices=2, passes=""):
                expected = running_ahead(steps, shapes, exact=False)
            with configured(engine="sync", cpu_devices=2, passes=ALL):
                assert running_ahead(steps, shapes, exact=False) == expected
            for passes in SETTINGS:
                with configured(engine="async", cpu_devices=2, workers=4, passes=passes):
                    assert all_at_once(steps, shapes, exact=False) == expected, passes
            with configured(engine="async", cpu_devices=2, workers=1, passes=ALL):
                assert running_ahead(steps, shapes, exact=False) == expected

    @pytest.mark.parametrize("run", [running_ahead, all_at_once])
    def test_numpys_values(self, run):
        numbers = st.integers(0, 999)
        steps = st.lists(st.builds(Step, st.sampled_from(EXACT), numbers, numbers, numbers), max_size=30)

        @settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
        @given(steps)
        def check(steps):
            assert run(steps) == in_order(steps)

        with configured(engine="async", cpu_devices=2, workers=2, passes=ALL):
            check()

    def test_long_program_in_a_megabyte(self):
        shapes: tuple[Shape, ...] = ((300, 100), (100,), (300, 1), (30_000,), ())
        steps = seeded(EXACT, 1500, seed=11)
        expected = in_order(steps, shapes, room=60)
        for workers in (1, 4):
            with configured(engine="async", cpu_devices=2, workers=workers, passes=ALL, memory_budget=1 << 20):
                assert running_ahead(steps, shapes, room=60) == expected

    def test_passes_apply_to_the_programs(self, improving):
        before = pass_counts()
        with configured(cpu_devices=2):
            all_at_once(seeded(FREE, 300, seed=1), ((40, 50), (50,), (40, 1)), exact=False)
        did = {name: n - before[name] for name, n in pass_counts().items()}
        assert did["dropped"] > 20
        assert did["grouped"] > 2 * did["groups"] > 40
        assert did["elided"] > 10 * 40 * 50 * 4


class TestGradients:
    def test_same_bits(self):
        def program(x, w, b):
            for p in (x, w, b):
                p.attach_grad()
            with autograd.record():
                h = np.tanh(x @ w + b)
                p = npx.softmax(h * 3)
                loss = -(np.log(p + 1e-3) * h).sum() + ((h - h.mean(1, keepdims=True)) ** 2).mean()
            loss.backward()
            return loss, x.grad, w.grad, b.grad

        did = check_all_passes(program, random_floats(40, 50), random_floats(50, 60) / 7, random_floats(60))
        assert did["groups"] >= 3

    def test_training(self):
        def program(x, y):
            np.random.seed(3)
            net = gluon.nn.Sequential()
            net.add(gluon.nn.Dense(20, activation="relu"), gluon.nn.LayerNorm(), gluon.nn.Dense(5))
            net.initialize()
            loss = gluon.loss.SoftmaxCrossEntropyLoss()
            trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})
            for _ in range(5):
                with autograd.record():
                    value = loss(net(x), y)
                value.backward()
                trainer.step(x.shape[0])
            return [value, *(p.data() for p in net.collect_params().values())]

        check_all_passes(program, random_floats(32, 10), numpy.arange(32) % 5)
