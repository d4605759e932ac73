"""Nothing grows with the time that a process runs: caches have bounds, bursts are forgotten, limits are seen."""

from __future__ import annotations

import ctypes
import gc
import pathlib
import resource
import threading
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, np, npx
from forerun._codegen.compiler import engine_of
from forerun.testing import closed_gate
from tests.support.engine.resources import leaks, resource_counts
from tests.support.engine.settings import running
from tests.support.paths import ROOT
from tests.support.processes.subprocesses import output

MB = 1 << 20


def resident() -> int:
    """Bytes of this process's pages."""
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


class TestGranted:
    """Limits of control groups, below a folder that stands for /."""

    @staticmethod
    def write(root: pathlib.Path, files: dict[str, str]) -> str:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n")
        return str(root)

    ALL = _core.granted_memory("/nowhere")
    CORES = _core.granted_cores("/nowhere")

    @pytest.mark.parametrize(
        ("files", "megabytes"),
        [
            ({}, None),
            ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "max"}, None),
            ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": str(100 * MB)}, 100),
            ({"sys/fs/cgroup/memory.max": str(90 * MB)}, 90),
            (
                {
                    "proc/self/cgroup": "0::/a.slice/b.service",
                    "sys/fs/cgroup/a.slice/b.service/memory.max": str(80 * MB),
                },
                80,
            ),
            (
                {
                    "proc/self/cgroup": "0::/a/b/c",
                    "sys/fs/cgroup/a/b/c/memory.max": "max",
                    "sys/fs/cgroup/a/b/memory.max": str(70 * MB),
                    "sys/fs/cgroup/a/memory.max": str(75 * MB),
                },
                70,
            ),
            (
                {
                    "proc/self/cgroup": "0::/a",
                    "sys/fs/cgroup/a/memory.high": str(60 * MB),
                    "sys/fs/cgroup/a/memory.max": "max",
                },
                60,
            ),
            # A container without a name space of its own: the path is the host's, the folder its own.
            ({"proc/self/cgroup": "0::/docker/0123", "sys/fs/cgroup/memory.max": str(50 * MB)}, 50),
            # A process that was moved out of the groups that it can see.
            ({"proc/self/cgroup": "0::/../other", "sys/fs/cgroup/memory.max": str(40 * MB)}, 40),
            # Version 1.
            (
                {
                    "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/jobs/1",
                    "sys/fs/cgroup/memory/jobs/1/memory.limit_in_bytes": "9223372036854771712",
                    "sys/fs/cgroup/memory/jobs/memory.limit_in_bytes": str(30 * MB),
                },
                30,
            ),
            (
                {
                    "proc/self/cgroup": "4:memory:/docker/1",
                    "sys/fs/cgroup/memory/memory.limit_in_bytes": str(20 * MB),
                },
                20,
            ),
            # Both: version 2 beside version 1.
            (
                {
                    "proc/self/cgroup": "4:memory:/a\n0::/b",
                    "sys/fs/cgroup/memory/a/memory.limit_in_bytes": str(15 * MB),
                    "sys/fs/cgroup/unified/b/memory.max": str(10 * MB),
                },
                10,
            ),
        ],
    )
    def test_memory(self, tmp_path, files, megabytes):
        found = _core.granted_memory(self.write(tmp_path, files))
        assert found == (self.ALL if megabytes is None else megabytes * MB)

    @pytest.mark.parametrize(
        ("files", "cores"),
        [
            ({}, None),
            ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, None),
            ({"proc/self/cgroup": "0::/a/b", "sys/fs/cgroup/a/cpu.max": "50000 100000"}, 1),
            (
                {
                    "proc/self/cgroup": "0::/a/b",
                    "sys/fs/cgroup/a/b/cpu.max": "20000 100000",
                    "sys/fs/cgroup/cpu.max": "max 1",
                },
                1,
            ),
            (
                {
                    "proc/self/cgroup": "3:cpu,cpuacct:/a",
                    "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "100000",
                    "sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000",
                },
                1,
            ),
            (
                {
                    "proc/self/cgroup": "3:cpuset:/a",
                    "sys/fs/cgroup/cpuset/a/cpu.cfs_quota_us": "1",
                    "sys/fs/cgroup/cpuset/a/cpu.cfs_period_us": "1",
                },
                None,
            ),
        ],
    )
    def test_cores(self, tmp_path, files, cores):
        found = _core.granted_cores(self.write(tmp_path, files))
        assert found == (self.CORES if cores is None else min(cores, self.CORES))

    @pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
    def test_limits_of_the_process(self, kind):
        limit = 6 << 30
        program = f"""
import resource
before = _core.granted_memory()
resource.setrlimit(resource.{kind}, ({limit}, resource.RLIM_INFINITY))
print(_core.granted_memory() == min(before, {limit}))
"""
        assert output(program) == ["True"]

    def test_cached_memory_is_a_fraction_of_the_limit(self):
        program = """
xs = [np.ones(250_000) for _ in range(60)]      # a megabyte each
forerun.waitall()
del xs
_core.quiesce()
print(forerun.memory()["cached"] <= 16 << 20, forerun.memory()["limit"] == 64 << 20)
"""
        assert output(program, FORERUN_MEMORY_LIMIT="64M") == ["True", "True"]


class TestBursts:
    def test_objects_of_a_burst_are_freed(self, engine):
        gc.collect()
        forerun.empty_cache()
        _core.quiesce()
        before = resident()
        arrays = [np.full((), i) for i in range(600_000)]
        forerun.waitall()
        most = resident() - before
        assert most > 200 * MB
        del arrays
        _core.quiesce()
        assert resident() - before < most // 2  # without being asked
        forerun.empty_cache()
        assert resident() - before < 16 * MB

    def test_a_burst_of_ops(self):
        with running("1 worker"):
            forerun.configure(ops_ahead=200_000)
            forerun.empty_cache()
            before = resident()
            x = np.zeros((), dtype="int64")
            with closed_gate():
                for _ in range(150_000):
                    x += 1
                most = resident() - before
            assert x.item() == 150_000
            assert most > 100 * MB
            _core.quiesce()
            forerun.empty_cache()
            assert resident() - before < 32 * MB

    def test_ops_do_not_keep_the_capacity_for_many_operands(self):
        """A hundred ops in flight at once, each with thousands of operands."""
        with running("1 worker"):
            forerun.empty_cache()
            x = np.zeros(())
            before = resident()
            with closed_gate():
                for _ in range(100):
                    np.stack([x] * 5000)
            _core.quiesce()
            ctypes.CDLL(None).malloc_trim(0)  # not empty_cache(), which would take the ops themselves
            assert resident() - before < 24 * MB

    def test_mixed_sizes_through_days_and_nights(self):
        """An accelerated week: sizes spread by their logarithm, other ones at night; threads come and go."""
        with running("4 workers"):
            forerun.configure(memory_limit=forerun.memory()["live"] + 256 * MB)
            forerun.empty_cache()
            before = resident()
            for day in range(7):
                for low, high in ((1, 6.3), (1, 4), (4.5, 6)):  # powers of ten: elements
                    work = threading.Thread(target=self.shift, args=(day, low, high))
                    work.start()
                    work.join()
                    memory = forerun.memory()
                    assert memory["live"] < 40 * MB
                    assert memory["cached"] <= 64 * MB + (forerun.memory()["limit"] - 256 * MB) // 4
                    assert resident() - before < memory["cached"] + memory["live"] + 96 * MB
            forerun.configure(memory_limit=None)

    @staticmethod
    def shift(day: int, low: float, high: float) -> None:
        rng = numpy.random.default_rng(day)
        arrays: list[Any] = []
        for _ in range(250):
            n = int(10 ** rng.uniform(low, high))
            arrays.append(np.full((n,), day, dtype="float32") + 1)
            while sum(a.nbytes for a in arrays) > 16 * MB:
                del arrays[int(rng.integers(len(arrays)))]
        assert all(a[-1].item() == day + 1 for a in arrays)


def growing_resources(step: Any, times: int, warm: int = 200) -> dict[str, int]:
    """Return the resources that grow after the first of `times` steps; bytes of pages only above some megabytes.

    Pages alone are looked at three times: the allocator may keep a large block once, and a leak repeats.
    """
    for _ in range(3):
        left = _grown(step, times, warm)
        if left.keys() != {"pages"}:
            break
    return left


def _grown(step: Any, times: int, warm: int) -> dict[str, int]:
    for i in range(warm):
        step(i)
    leaks(resource_counts())
    _core.quiesce()
    gc.collect()
    before, objects = resource_counts(), len(gc.get_objects())
    pages = resident()  # last: the list of all objects takes megabytes, which the allocator keeps
    for i in range(warm, warm + times):
        step(i)
    _core.quiesce()
    gc.collect()
    left = {name: n - before[name] for name, n in resource_counts().items() if n > before[name]}
    if (more := resident() - pages) > 6 * MB:
        left["pages"] = more
    if (more := len(gc.get_objects()) - objects) > 50:
        left["objects"] = more
    return left


class TestNoGrowth:
    def test_a_million_ops(self, engine):
        x = np.zeros((10,))
        n = 1000 if engine == "sync" else 3000

        def step(i: int) -> None:
            y = x
            for _ in range(100):
                y = y * 0.5 + i
            y.wait()

        assert growing_resources(step, n) == {}

    def test_buffers_of_scalars(self):
        x = np.arange(3)

        def step(i: int) -> None:
            assert all(memoryview(x[1])[()] == 1 for _ in range(100))

        assert growing_resources(step, 2000) == {}

    def test_training_steps(self):
        w = np.ones((20, 5))
        w.attach_grad()
        x = np.ones((8, 20))

        def step(i: int) -> None:
            with autograd.record():
                loss = ((np.tanh(x @ w) - i) ** 2).mean()
            loss.backward()
            w[...] -= w.grad * 0.01
            if i % 50 == 0:
                loss.item()

        assert growing_resources(step, 2000) == {}

    def test_failing_tasks(self, engine):
        """Errors that were raised are not kept, nor the frames and arrays that their tracebacks hold."""

        def fail(v: numpy.ndarray) -> numpy.ndarray:
            raise ValueError("now and then")

        def step(i: int) -> None:
            x = np.full((100,), i)
            with pytest.raises(ValueError, match="now and then"):
                (npx.host(fail, [x], [((100,), "float32")])[0] + 1).wait()

        assert growing_resources(step, 1500, warm=50) == {}

    def test_errors_of_ops(self, engine):
        def step(i: int) -> None:
            with pytest.raises(IndexError):
                np.take(np.ones(3), np.array([i + 3])).wait()

        assert growing_resources(step, 1500, warm=50) == {}

    def test_threads(self):
        def step(i: int) -> None:
            thread = threading.Thread(target=lambda: (np.ones(1000) + i).sum().item())
            thread.start()
            thread.join()

        with running("4 workers"):
            assert growing_resources(step, 500) == {}

    def test_workers_that_start_and_end(self):
        def step(i: int) -> None:
            (np.ones(1000) + i).wait()
            _core.quiesce()

        with running("4 workers"):
            assert growing_resources(step, 300) == {}

    def test_settings(self):
        before = forerun.config()

        def step(i: int) -> None:
            forerun.configure(workers=1 + i % 4, ops_ahead=100 << i % 8, cpu_devices=1 + i % 2)
            (np.ones(100) + i).wait()

        try:
            assert growing_resources(step, 200) == {}
        finally:
            forerun.configure(**before)

    def test_hybrid_functions_that_come_and_go(self):
        def step(i: int) -> None:
            f = forerun.hybrid(lambda x: np.tanh(x * i) + 1)
            for _ in range(3):
                f(np.ones(10)).wait()

        assert growing_resources(step, 300) == {}

    @pytest.mark.filterwarnings("ignore:hybridize. .* has been captured 64 times")
    def test_one_hybrid_function_of_ever_other_shapes(self):
        f = forerun.hybrid(lambda x: np.tanh(x * 2) + 1)
        assert growing_resources(lambda i: f(np.ones(i + 1)).wait(), 300) == {}

    def test_groups_that_never_repeat(self):
        """Plans of groups are kept, but not for ever. The compiler is loaded before, not when a group is hot."""
        engine_of("define void @nothing() { ret void }")

        def step(i: int) -> None:
            x = np.ones(8192 + i)
            (np.sin(x) * 2 + 1).wait()

        assert growing_resources(step, 2500, warm=1500) == {}

    def test_generated_code(self):
        """Lines of files that exist only once, and names that are used only once."""

        def step(i: int) -> None:
            code = "\n".join(["y = x"] + ["y = y + 1"] * 100)
            space = {"x": x}
            exec(compile(code, f"<made up {i}>", "exec"), space)
            space["y"].wait()

        x = np.ones(3)
        assert growing_resources(step, 2000, warm=1500) == {}

    def test_generated_names(self):
        """In a process of its own: it uses up the possible names. The package's own are known all the same."""
        program = """
import pathlib
def resident(): return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096
def step(first, last):
    for i in range(first, last):
        host(lambda v: v, [x], [((3,), "float32")], name=f"task {i}")
        if i % 100 == 0: forerun.waitall()
x = np.ones(3)
step(0, 70_000)
before = resident()
step(70_000, 170_000)
print(resident() - before < 6 << 20)
try: np.nanmax(np.ones((0, 3)), axis=0)
except ValueError as error: print(str(error).split(":")[0])
"""
        assert output(program) == ["True", "nanmax"]

    def test_errors_name_their_line_with_very_many_lines(self):
        """Also when the table of lines has been begun anew since, and for code that was seen before."""

        def bad() -> Any:
            return np.take(np.ones(3), np.array([7]))

        y = bad()
        for i in range(700):
            exec(compile("\n".join(["x + 1"] * 100), f"<line {i}>", "exec"), {"x": np.ones(1)})
        for failed in (y, bad()):
            with pytest.raises(IndexError) as caught:
                failed.wait()
            assert caught.value.__notes__ == [f"issued at {__file__}:{bad.__code__.co_firstlineno + 1}"]

    def test_profiles(self):
        from forerun import profiler

        def step(i: int) -> None:
            with profiler.record():
                for _ in range(50):
                    (np.ones(3) + i).wait()

        assert growing_resources(step, 100, warm=20) == {}

    def test_forks(self):
        """In a process of its own: a fork takes its time for each page of the tests before."""
        program = f"""
sys.path.insert(0, {str(ROOT)!r})
from tests.process.test_memory_leaks import growing_resources
def step(i):
    (np.ones(100) + i).wait()
    pid = os.fork()
    if pid == 0:
        os._exit(0 if (np.ones(3) + i)[0].item() == i + 1 else 1)
    assert os.waitpid(pid, 0)[1] == 0
print(growing_resources(step, 60, warm=5))
"""
        assert output("import os, sys\n" + program) == ["{}"]
