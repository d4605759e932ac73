"""On a device far away copies and computations run beside each other, and operations come after those on which they
depend.

The fake device writes down when each lane works. Only orders and counts are compared: nothing depends on how fast this
machine is.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.device_plugins.plugins import plugin_file
from tests.support.processes.subprocesses import execute

# Functions of the fake, and its log as tuples: lane, device, start, end.
START = """
import ctypes
from pathlib import Path
fake = ctypes.CDLL({path!r})
fake.fake_gpu_log.restype = ctypes.c_char_p
fake.fake_gpu_lanes_at_work.restype = ctypes.c_size_t
def log(since=0):
    lines = [line.split() for line in fake.fake_gpu_log().decode().splitlines()[since:]]
    return [(lane, int(device), int(start), int(start) + int(took)) for lane, device, start, took in lines]
def only(lane, device, work):
    return [(start, end) for l, d, start, end in work if (l, d) == (lane, device)]
def in_turn(spans):
    return all(a[1] <= b[0] for a, b in zip(spans, spans[1:]))
gpu, other = forerun.gpu(0), forerun.gpu(1)
"""


def words(library: Path, program: str, **settings: object) -> list[str]:
    """Return the words that a program prints that has the fake for its devices."""
    more = {f"FORERUN_FAKE_GPU_{name.upper()}": str(value) for name, value in settings.items()}
    more |= {"FORERUN_FAKE_GPU_PLUGIN": str(plugin_file("xla-cpu-pjrt")), "FORERUN_MODULE_CACHE": ""}
    done = execute(START.format(path=str(library)) + program, FORERUN_PJRT=str(library), **more)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_an_upload_a_computation_and_a_download_overlap(library: Path) -> None:
    """None of them ends before all three have begun; if one waited for another, fewer would be at work."""
    program = """
a, b = np.ones((1000,), device=gpu), np.ones((1000,), device=gpu)
here = np.ones((1000,))
c = a + a
forerun.waitall()
fake.fake_gpu_hold(3)
up, sum, down = here.copyto(gpu), a + a, b.copyto(forerun.cpu(0))
forerun.waitall()
print(fake.fake_gpu_lanes_at_work(), up.sum(), sum.sum(), down.sum())
"""
    assert words(library, program, execute_us=100, bandwidth=100) == ["3", "1000.0", "2000.0", "1000.0"]


def test_an_upload_begins_when_the_download_that_it_reads_has_ended(library: Path) -> None:
    """It would copy the old contents of the host's memory."""
    program = """
a = np.ones((100_000,), device=gpu)
forerun.waitall()
before = len(log())
b = a.copyto(forerun.cpu(0)).copyto(other)
forerun.waitall()
work = log(before)
print(*(span[0] for span in work), in_turn([span[2:] for span in work]), b.sum())
"""
    assert words(library, program, bandwidth=4) == ["out", "in", "True", "100000.0"]


def test_two_devices_compute_side_by_side(library: Path) -> None:
    program = """
a, b = np.ones((100,), device=gpu), np.ones((100,), device=other)
c, d = a + a, b + b
forerun.waitall()
fake.fake_gpu_hold(2)
c, d = a + a, b + b
forerun.waitall()
print(fake.fake_gpu_lanes_at_work(), c.sum(), d.sum())
"""
    assert words(library, program, execute_us=100) == ["2", "200.0", "200.0"]


def test_a_lane_does_one_thing_after_the_other(library: Path) -> None:
    program = """
x = np.ones((100,), device=gpu)
for i in range(10):
    x = x + x
forerun.waitall()
spans = only("compute", 0, log())
print(len(spans) >= 10, in_turn(spans), {end - start for start, end in spans})
"""
    assert words(library, program, execute_us=50) == ["True", "True", "{50000}"]


def test_a_copy_takes_as_long_as_its_bytes(library: Path) -> None:
    program = """
here = np.ones((1000,), dtype="float32")
here.wait()
for n in (1000, 500, 250):
    before = len(log())
    up = here[:n].copyto(gpu)
    forerun.waitall()
    (start, end), = only("in", 0, log(before))
    print(end - start)
"""
    assert words(library, program, bandwidth=4) == ["1000000", "500000", "250000"]


def test_a_computation_comes_after_its_upload_and_before_its_download(library: Path) -> None:
    program = """
here = np.ones((1000,), dtype="float32")
a = np.ones((1000,), dtype="float32", device=gpu)
(a + a).copyto(forerun.cpu(0))
forerun.waitall()
before = len(log())
down = (here.copyto(gpu) + a).copyto(forerun.cpu(0))
forerun.waitall()
work = log(before)
(_, up), = only("in", 0, work)
(start, end), = only("compute", 0, work)
(out, _), = only("out", 0, work)
print(up <= start, end <= out, down.sum())
"""
    assert words(library, program, execute_us=500, bandwidth=4) == ["True", "True", "2000.0"]
