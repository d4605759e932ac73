"""Several threads of the front end: they issue, wait, come and go."""

from __future__ import annotations

import gc
import threading
from typing import Any

import numpy

import forerun
from forerun import _core, np
from forerun.np import host
from forerun.testing import closed_gate
from tests.support.engine.settings import running
from tests.support.engine.threads import run_in_threads


class TestThreads:
    def test_own_arrays(self, engine):
        def work(i: int) -> float:
            x = np.full(1000, i, dtype="float64")
            for _ in range(200):
                x = x + 1
                x[::2] *= 1
            return x.sum().item()

        assert run_in_threads(6, work) == [1000 * (i + 200) for i in range(6)]

    def test_shared_input(self, engine):
        x = np.arange(10_000, dtype="float64") + 1

        def work(i: int) -> float:
            return sum((x * i).sum().item() for _ in range(50))

        assert run_in_threads(6, work) == [50 * i * numpy.arange(1.0, 10_001).sum() for i in range(6)]

    def test_shared_counter(self, engine):
        x = np.zeros(100, dtype="int64")

        def work(i: int) -> None:
            target = x
            for _ in range(300):
                target += 1

        run_in_threads(4, work)
        assert x.tolist() == [1200] * 100

    def test_waits_in_one_issues_in_another(self, engine):
        arrays = [np.zeros(10) for _ in range(4)]

        def work(i: int) -> Any:
            if i < 4:
                for _ in range(200):
                    arrays[i] += 1
                return arrays[i].tolist()
            for _ in range(100):
                forerun.waitall()
            return None

        assert run_in_threads(6, work)[:4] == [[200] * 10] * 4

    def test_thread_that_exits_after_issuing(self, engine):
        made: list[Any] = []

        def work(i: int) -> None:
            x = np.full(100_000, i)
            made.append((i, x * 2 + 1))

        run_in_threads(5, work)
        for i, x in made:
            assert x[-1].item() == 2 * i + 1

    def test_thread_that_dies_behind_a_closed_gate(self):
        with running("4 workers"):
            made: list[Any] = []
            with closed_gate():
                run_in_threads(3, lambda i: made.append(np.ones(10) + i))
                assert not any(x.ready for x in made)
            assert sorted(x[0].item() for x in made) == [1, 2, 3]

    def test_a_thousand_short_lived_threads(self, engine):
        results: list[Any] = []
        for i in range(1000):
            thread = threading.Thread(target=lambda i=i: results.append(np.ones(3) + i))
            thread.start()
            thread.join()
        assert [x[0].item() for x in results] == [i + 1 for i in range(1000)]

    def test_each_gets_its_own_error(self, engine):
        def work(i: int) -> str:
            try:
                np.take(np.ones(3), np.array([i + 3])).wait()
            except IndexError as error:
                return str(error)[-1]
            return "none"

        assert run_in_threads(6, work) == [str(i + 3) for i in range(6)]

    def test_one_bad_array_read_by_many(self):
        with running("4 workers"):
            bad = np.take(np.ones(3), np.array([7])) + 1

            def work(i: int) -> int:
                raised = 0
                for _ in range(50):
                    try:
                        bad.wait()
                    except IndexError:
                        raised += 1
                return raised

            assert run_in_threads(6, work) == [50] * 6

    def test_tasks_that_use_arrays_themselves(self):
        """A task may issue and wait: it runs on a worker, which is a thread like others."""
        with running("4 workers"):
            inner = np.arange(5) + 1

            def task() -> numpy.ndarray:
                return (inner * 2).numpy()

            assert host(task, [], [((5,), "int64")])[0].tolist() == [2, 4, 6, 8, 10]

    def test_drops_in_other_threads(self, engine):
        gc.collect()
        forerun.waitall()
        _core.quiesce()
        before = forerun.memory()["live"]
        arrays = [np.ones(10_000) + i for i in range(60)]

        def work(i: int) -> None:
            for j in range(i, 60, 6):
                arrays[j] = None

        run_in_threads(6, work)
        _core.quiesce()
        assert forerun.memory()["live"] == before
