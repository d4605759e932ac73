"""The package is imported, and works, without the calls of Linux and macOS that Windows does not have."""

from tests.support.processes.subprocesses import output

# Modules of Python are imported first: they have ways of their own to do without.
WITHOUT = """
import asyncio, ctypes, multiprocessing.connection, os, pathlib, select, signal, sys, tempfile
import numpy
for name in (
    "register_at_fork fork sched_getaffinity memfd_create sysconf preadv pread getuid fchmod "
    "O_DIRECT O_TMPFILE O_DIRECTORY O_CLOEXEC O_NONBLOCK"
).split():
    delattr(os, name)
sys.modules["fcntl"] = sys.modules["resource"] = None
del select.epoll
for name in "SIGUSR1 SIGUSR2 SIGHUP SIGCHLD SIGKILL SIGPIPE".split():
    delattr(signal, name)

class NoLibrary(ctypes.CDLL):
    def __init__(self, name, *arguments, **named):
        assert name is not None, "Windows has no library of the whole process"
        super().__init__(name, *arguments, **named)

ctypes.CDLL = ctypes.PyDLL = NoLibrary
import forerun
from forerun import autograd, distributed, gluon, kvstore, np, npx, optimizer, profiler
folder = pathlib.Path(tempfile.mkdtemp())
"""


def test_the_package_is_imported() -> None:
    assert output(WITHOUT + "print((np.ones(3) + 1).sum())") == ["6.0"]


def test_files_are_written_and_read() -> None:
    code = """
x = np.arange(1 << 19)
np.save(folder / "x.npy", x)
np.save(folder / "x.npy", x + 1)
print(np.load(folder / "x.npy")[-1], sorted(os.listdir(folder)))
block = gluon.nn.Dense(2)
block.initialize()
block(np.ones((1, 3)))
distributed.checkpoint(folder / "points", 1, block)
print(distributed.resume(folder / "points", block).step)
"""
    assert output(WITHOUT + code) == ["524288", "['x.npy']", "1"]


def test_a_failed_write_leaves_nothing() -> None:
    code = """
from forerun._io.atomic_write import replacing
try:
    with replacing(str(folder / "x")) as file:
        raise KeyError
except KeyError:
    print(os.listdir(folder))
"""
    assert output(WITHOUT + code) == ["[]"]


def test_records_are_read() -> None:
    code = """
import struct
(folder / "x.rec").write_bytes(struct.pack("<II4s", 0xCED7230A, 3, b"abc"))
print(gluon.data.RecordFileDataset(folder / "x.rec")[0])
"""
    assert output(WITHOUT + code) == ["b'abc'"]


def test_threads_make_batches() -> None:
    code = """
print(*[batch.tolist() for batch in gluon.data.DataLoader(np.arange(4), batch_size=2, num_workers=2)])
"""
    assert output(WITHOUT + code) == ["[0,", "1]", "[2,", "3]"]


def test_an_event_loop_without_readers_raises() -> None:
    code = """
from forerun.testing import closed_gate

class NoReaders(asyncio.SelectorEventLoop):
    def add_reader(self, descriptor, callback, *arguments):
        raise NotImplementedError

async def main():
    for i in range(3):
        with closed_gate():
            tasks = [asyncio.ensure_future((np.ones(2) + j) * i) for j in range(20)]
            await asyncio.sleep(0.01)
        done = await asyncio.gather(*tasks)
    print(sum(float(x.sum()) for x in done))

with asyncio.Runner(loop_factory=NoReaders) as runner:
    runner.run(main())
"""
    assert output(WITHOUT + code) == ["840.0"]


def test_a_file_without_a_name_needs_no_memfd() -> None:
    code = """
import os
del os.memfd_create
from forerun import np
from forerun.gluon import data
print(*[batch.tolist() for batch in data.DataLoader(np.arange(4), batch_size=2, num_workers=2)])
"""
    assert output(code) == ["[0,", "1]", "[2,", "3]"]
