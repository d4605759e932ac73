"""The engine's settings: from the environment, and from `configure`."""

from __future__ import annotations

import pytest

import forerun
from forerun import np, npx
from tests.support.engine.settings import running
from tests.support.processes.subprocesses import execute, output


class TestEnvironment:
    def test_defaults(self):
        assert output("c = forerun.config()\nprint(c['engine'], c['workers'], c['cpu_devices'])\n") == [
            "async",
            "None",
            "1",
        ]

    def test_sync(self):
        program = """
_core.gate(False)
y = np.ones(3) + 1
print(y.ready, forerun.config()["engine"])
try:
    np.take(y, np.array([7]))
except IndexError:
    print("raised")
"""
        assert output(program, FORERUN_ENGINE="sync") == ["True", "sync", "raised"]

    def test_workers(self):
        program = """
import threading
meet = threading.Barrier(3)
def task():
    meet.wait(30)                 # three tasks run at once
    return 1
ones = [host(task, [], [((), "int64")])[0] for _ in range(3)]
print(sum(x.item() for x in ones), forerun.config()["workers"])
"""
        assert output(program, FORERUN_WORKERS="3") == ["3", "3"]

    def test_cpu_devices(self):
        program = "print(*forerun.devices(), np.ones(2, device=forerun.cpu(1)).device)\n"
        assert output(program, FORERUN_CPU_DEVICES="2") == ["cpu(0)", "cpu(1)", "cpu(1)"]

    @pytest.mark.parametrize(("text", "size"), [("1000000", 1_000_000), ("64M", 64 << 20), ("1.5g", 3 << 29)])
    def test_memory(self, text, size):
        program = "print(forerun.memory()['limit'], forerun.memory()['budget'])\n"
        found = output(program, FORERUN_MEMORY_LIMIT=text, FORERUN_MEMORY_BUDGET="16K")
        assert found == [str(size), str(16 << 10)]

    def test_ops_ahead(self):
        assert output("print(_core.ops_ahead())\n", FORERUN_OPS_AHEAD="77") == ["77"]

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("FORERUN_ENGINE", "fast"),
            ("FORERUN_WORKERS", "many"),
            ("FORERUN_WORKERS", "0"),
            ("FORERUN_WORKERS", "-2"),
            ("FORERUN_CPU_DEVICES", "two"),
            ("FORERUN_CPU_DEVICES", "0"),
            ("FORERUN_OPS_AHEAD", "1.5"),
            ("FORERUN_MEMORY_BUDGET", "0"),
            ("FORERUN_MEMORY_LIMIT", "lots"),
            ("FORERUN_MEMORY_LIMIT", "-5M"),
        ],
    )
    def test_bad_values(self, name, text):
        done = execute("", **{name: text})
        assert done.returncode == 1
        last = done.stderr.splitlines()[-1]
        assert last.startswith("ValueError: ")
        assert text in last or text.removesuffix("M") in last
        assert done.stderr.count('  File "') == 2  # the import, and a line of the package


class TestConfigure:
    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"engine": "fast"}, 'engine must be "async" or "sync", got \'fast\''),
            ({"workers": 0}, "workers .* got 0"),
            ({"workers": -1}, "workers .* got -1"),
            ({"cpu_devices": 0}, "cpu_devices .* got 0"),
            ({"ops_ahead": 0}, "ops_ahead .* got 0"),
            ({"memory_budget": -5}, "memory_budget .* got -5"),
            ({"memory_limit": 0}, "memory_limit .* got 0"),
            ({"memory_limit": 1 << 70}, "memory_limit .* got 11"),
            ({"ops_ahead": 1 << 40}, "ops_ahead .* got 10"),
            ({"cpu_devices": 1000}, "cpu_devices .* got 1000"),
            ({"workers": 10**6}, "workers .* got 1000000"),
        ],
    )
    def test_bad_values(self, settings, message):
        before = forerun.config()
        with pytest.raises(ValueError, match=message):
            forerun.configure(**settings)
        assert forerun.config() == before

    @pytest.mark.parametrize("workers", ["4", 2.5, True])
    def test_bad_types(self, workers):
        with pytest.raises(TypeError, match="configure: workers must be an integer, got "):
            forerun.configure(workers=workers)

    def test_default_workers_can_be_had_again(self):
        with running("4 workers"):
            forerun.configure(workers=None)
            assert forerun.config()["workers"] is None
            assert (np.ones(3) + 1).tolist() == [2, 2, 2]

    def test_default_float(self):
        forerun.configure(float="float64")
        assert (np.zeros(2).dtype, np.array([0.5]).dtype, forerun.config()["float"]) == (
            "float64",
            "float64",
            "float64",
        )
        assert np.arange(3).dtype == "int64"
        forerun.configure(ops_ahead=1 << 14)  # which says nothing of floats
        assert np.ones(2).dtype == "float64"
        forerun.configure(float="float32")
        assert np.ones(2).dtype == "float32"

    def test_mxnets_switch_is_the_same_setting(self):
        npx.set_np(dtype=True)
        assert forerun.config()["float"] == "float64"
        npx.set_np()
        forerun.configure(exit_status=True)
        assert (forerun.config()["float"], np.arange(3).dtype) == ("float32", "float32")

    def test_default_float_from_the_environment(self):
        program = "print(np.ones(2).dtype, forerun.config()['float'])"
        assert output(program, FORERUN_FLOAT="float64") == ["float64", "float64"]

    def test_float_of_another_kind(self):
        with pytest.raises(ValueError, match="configure: float must be"):
            forerun.configure(float="float16")

    def test_unknown_setting(self):
        with pytest.raises(TypeError, match="threads"):
            forerun.configure(threads=3)

    def test_pending_work_is_finished_first(self):
        with running("4 workers"):
            x = np.ones(100_000)
            for _ in range(100):
                x = x + 1
            forerun.configure(workers=1)
            assert x.ready
            assert x[3].item() == 101

    def test_settings_that_are_not_given_stay(self):
        with running("4 workers"):
            forerun.configure(ops_ahead=100)
            assert forerun.config()["workers"] == 4
            forerun.configure(engine="sync")
            assert forerun.config()["ops_ahead"] == 100

    def test_from_one_mode_to_the_other_and_back(self):
        with running("4 workers"):
            x = np.zeros(10)
            for i in range(20):
                forerun.configure(engine="sync" if i % 2 else "async", workers=1 + i % 4)
                x = x + 1
            assert x.tolist() == [20] * 10
