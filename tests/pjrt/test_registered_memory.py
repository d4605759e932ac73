"""Copies between a device and the host use memory that is registered with the device, which is several times as fast.

The fake device counts registered memory. It also writes a line to the standard error, which is a failure, if memory is
registered twice, or unregistered when it is not registered, when its pages are gone, during a copy, or by a child.
"""

from __future__ import annotations

from tests.support.device_plugins.far_device import lines_with_fake_gpu

START = """
import os, time
fake.fake_gpu_registered.restype = ctypes.c_char_p
fake.fake_gpu_log.restype = ctypes.c_char_p
here, MIB = forerun.cpu(0), 1 << 20
def counts():
    return [int(number) - was for number, was in zip(fake.fake_gpu_registered().split(), since)]
def given_back(blocks):
    end = time.monotonic() + 60
    while _core.in_use()["blocks"] > blocks and time.monotonic() < end:
        time.sleep(0.001)
forerun.waitall()
before, since = _core.in_use()["blocks"], [0] * 4
x = np.arange(MIB, dtype="float32", device=gpu)  # which is copied there
x.wait()
x[:1].tolist()  # through the memory for small copies, which is registered from then on
given_back(before)
forerun.empty_cache()
since = counts()
SUM = MIB * (MIB - 1) / 2
def right(array):
    return array.astype("float64").sum().item() == SUM
"""


def printed(program: str, **of_the_fake: object) -> list[list[int]]:
    """Return the numbers in each line that a program prints: those of `counts()`, and others.

    The counts are calls to register and to unregister, bytes that are registered, and copies of such memory.
    """
    names = {"True": 1, "False": 0}
    return [
        [names[word] if word in names else int(word) for word in line.split()]
        for line in lines_with_fake_gpu(START + program, **of_the_fake)
    ]


def test_a_second_copy_uses_a_registered_block() -> None:
    program = """
for _ in range(3):
    y = x.copyto(here)
    print(right(y), *counts())
    del y
    given_back(before)
y = x.copyto(here)
y.wait()
z = y.copyto(gpu)
z.wait()
print(right(y) and right(z.copyto(here)), *counts())
"""
    four = 4 << 20
    # The last line: two copies to the host that are alive at the same time, and one from there.
    assert printed(program) == [[1, 1, 0, four, n] for n in (1, 2, 3)] + [[1, 2, 0, 2 * four, 6]]


def test_an_upload_registers_memory() -> None:
    program = """
y = np.ones((MIB,), dtype="float32")
for _ in range(2):
    z = y.copyto(gpu)
    print((z + 1).sum().item() == 2 * MIB, *counts())
"""
    four = 4 << 20  # the sum is a copy, too
    assert printed(program) == [[1, 1, 0, four, 2], [1, 1, 0, four, 4]]


def test_small_copies_to_the_host_use_registered_memory() -> None:
    """Sums that the host reads, and the results that tell it whether indices were in range."""
    program = """
i = np.array([3, 5], device=gpu)
i.wait()
for n in (1, 64, 65, 1 << 14, (1 << 14) + 1):
    part = x[:n].copy()
    part.wait()
    was = counts()[3]
    print(part.tolist() == list(range(n)), counts()[3] - was)
was = counts()[3]
taken = np.take(x, i)
taken.wait()
print(counts()[3] - was, taken.tolist() == [3, 5], counts()[3] - was)
"""
    assert printed(program) == [[1, 1], [1, 1], [1, 1], [1, 1], [1, 0], [1, 1, 2]]


def test_more_small_copies_than_slots() -> None:
    """Some use other memory. All have their values, and their errors."""
    program = """
i = np.array([0, MIB - 1], device=gpu)
sums = [np.take(x, i + k).sum() for k in range(3)]
assert [s.copyto(here).item() for s in sums[:1]] == [MIB - 1]
taken = [np.take(x, i - k) for k in range(1500)]
parts = [x[k : k + 9000].copyto(here) for k in range(40)]
print(all(t.tolist() == [(MIB - k) % MIB, MIB - 1 - k] for k, t in enumerate(taken)))
print(all(p.tolist() == list(range(k, k + 9000)) for k, p in enumerate(parts)))
print(outcome(sums[1].item).startswith("IndexError: take: "), outcome(sums[2].item).startswith("IndexError: take: "))
"""
    assert printed(program, execute_us=300) == [[1], [1], [1, 1]]


def test_memory_is_unregistered_before_it_is_freed() -> None:
    program = """
y = x.copyto(here)
y.wait()
forerun.empty_cache()
print(*counts())
del y
given_back(before)
forerun.empty_cache()
print(*counts())
y = x.copyto(here)
print(right(y), *counts())
"""
    four = 4 << 20
    assert printed(program) == [[1, 0, four, 1], [1, 1, 0, 1], [1, 2, 1, four, 2]]


def test_small_arrays_are_not_registered() -> None:
    program = """
small = np.arange(MIB // 8, dtype="float32", device=gpu)
y = small.copyto(here)
print(y[-1].item() == MIB // 8 - 1, (y.copyto(gpu) - small).sum().item() == 0, *counts())
"""
    assert printed(program) == [[1, 1, 0, 0, 0, 1]]  # the sum is copied


def test_memory_of_numpy_is_not_registered() -> None:
    """It holds the numbers of a range, which NumPy makes."""
    program = """
y = np.arange(MIB, dtype="float32")
z = y.copyto(gpu)
print((z + 1).sum().item() > 0, *counts())
y[:] = x.copyto(here)
print(right(z), right(y))
"""
    assert printed(program) == [[1, 0, 0, 0, 1], [1, 1]]  # the sum is copied


def test_no_more_than_a_quarter_of_the_memory_limit_is_registered() -> None:
    program = """
forerun.configure(memory_limit=40 * MIB)
kept = [x.copyto(here) for _ in range(4)]
print(all(right(y) for y in kept), *counts())
del kept[0]
given_back(before + 12 * MIB)
forerun.empty_cache()
kept.append(x.copyto(here))
print(all(right(y) for y in kept), *counts())
"""
    four = 4 << 20
    first, second = printed(program)
    assert first == [1, 2, 0, 2 * four, 2]
    assert second == [1, 3, 1, 2 * four, 3]


def test_a_refusing_plugin_is_called_once() -> None:
    program = """
since = [0] * 4
for _ in range(3):
    y = x.copyto(here)
    print(right(y) and right(y.copyto(gpu)), *counts())
"""
    assert printed(program, refuse_map=1) == [[1, 1, 0, 0, 0]] * 3


def test_a_forked_child_leaves_registered_memory_to_its_parent() -> None:
    program = """
y, z = x.copyto(here), x.copyto(here)
forerun.waitall()
del z
given_back(before + 4 * MIB)
child = os.fork()
if child == 0:
    good = right(y)
    del y
    given_back(before)
    forerun.empty_cache()
    w = np.zeros((MIB,), dtype="float32")
    os._exit(0 if good and w.sum() == 0 and counts() == [2, 0, 8 * MIB, 2] else 1)
print(os.waitpid(child, 0)[1], right(y), *counts())
del y
given_back(before)
y = x.copyto(here)
print(right(y), *counts())
del y
given_back(before)
forerun.empty_cache()
print(*counts())
"""
    eight = 8 << 20
    assert printed(program) == [[0, 1, 2, 0, eight, 2], [1, 2, 0, eight, 3], [2, 2, 0, 3]]


def test_zeros_in_a_registered_block() -> None:
    program = """
y = x.copyto(here)
y.wait()
del y
given_back(before)
y = np.zeros((MIB,), dtype="float32")
z = y.copyto(gpu)
print(z.sum().item() == 0, *counts())
z += x
y[:] = z.copyto(here)
print(right(y), right(z))
"""
    first, second = printed(program)
    assert first == [1, 1, 0, 4 << 20, 3]  # y, z and the sum are copied
    assert second == [1, 1]


def test_copies_of_many_threads() -> None:
    program = """
import threading
def work(device):
    copied = x.copyto(device)
    for i in range(30):
        y = copied.copyto(here)
        z = y.copyto(gpu) + y.copyto(other).copyto(gpu)
        good.append(((z - 2 * x).sum() == 0).item())
        del y, z
        if i % 5 == 0:
            forerun.empty_cache()
good = []
threads = [threading.Thread(target=work, args=(device,)) for device in (gpu, other, gpu)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
forerun.waitall()
given_back(before)
forerun.empty_cache()
registered, unregistered, now, direct = counts()
print(all(good), len(good), registered == unregistered > 0, now, direct >= 90)
"""
    assert printed(program, bandwidth=20_000, pageable_bandwidth=5_000) == [[1, 90, 1, 0, 1]]


def test_the_fake_copies_registered_memory_faster() -> None:
    program = """
for array in (x, x[:MIB // 8] + 0):
    array.copyto(here).wait()
    copies = [line for line in fake.fake_gpu_log().decode().splitlines() if line.startswith("out ")]
    print(copies[-1].split()[-1])  # the sum may be handed over after the first copy
"""
    assert printed(program, bandwidth=1000, pageable_bandwidth=100) == [
        [(4 << 20) * 1000 // 1000],
        [(1 << 19) * 1000 // 100],
    ]
