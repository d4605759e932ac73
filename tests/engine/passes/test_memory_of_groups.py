"""The memory of groups: in program order, and op by op where it does not fit."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import np
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.passes import ALL, pass_counts, random_floats
from tests.support.engine.settings import configured

pytestmark = pytest.mark.usefixtures("any_op_is_worth_a_group")


class TestMemoryOfGroups:
    """A group takes the memory of its ops in program order, and before it no more than other ops may."""

    N = 1 << 18  # a megabyte

    @pytest.fixture
    def oldest(self) -> Iterator[tuple[Any, threading.Event]]:
        """The result of an op that runs until the event is set, beside one worker for the others."""
        go = threading.Event()
        with configured(engine="async", workers=2, passes=ALL):
            pass_counts()
            (x,) = host(lambda: (go.wait(60), random_floats(self.N))[1], [], [((self.N,), "float32")])
            yield x, go
            go.set()
            forerun.waitall()

    def test_a_group_next_in_program_order_takes_the_remaining_memory(self, oldest):
        x, go = oldest
        before = forerun.stats()["groups"]
        with closed_gate():
            y = np.exp(x * 2 + 1)
            z = y * y
            later = np.full((80, self.N), 1.0, dtype="float32")  # some of this peak may be taken ahead
            ahead = [np.full(self.N, i, dtype="float32") for i in range(5)]
        for array in ahead:
            array.wait()
        go.set()
        z.wait()
        later.wait()
        assert forerun.stats()["groups"] - before == 1
        expected = numpy.exp(random_floats(self.N) * 2 + 1)
        assert y.asnumpy().tobytes() == expected.tobytes()
        assert z.asnumpy().tobytes() == (expected * expected).tobytes()

    def test_a_group_ahead_of_program_order_leaves_memory_for_older_ops(self, oldest):
        x, go = oldest
        base, big = np.array(random_floats(self.N)), np.full((8, self.N), 2.0, dtype="float32")
        big.wait()
        live = forerun.memory()["live"]
        with closed_gate():
            total = (big * x).sum()
            del big
            base += 1  # may run at once: it takes no memory
            parts = [base * i for i in range(8)]
        base.wait()
        time.sleep(0.05)
        assert forerun.memory()["live"] - live <= 4 * 4 * self.N
        go.set()
        for i, part in enumerate(parts):
            assert part[7].item() == (random_floats(self.N)[7] + 1) * numpy.float32(i)
        assert abs(total.item() - 16 * random_floats(self.N).sum()) < 1
