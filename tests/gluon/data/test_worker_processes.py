"""Loaders in programs of their own: how processes are made, and their end when a process ends."""

from __future__ import annotations

import multiprocessing
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from forerun.gluon.data.worker import receive_file, send_file
from tests.support.processes.subprocesses import PATIENCE, environment, output, run_file

SPAWN = """
import multiprocessing
import sys

import numpy
from forerun import np, npx
from forerun.gluon import data
from forerun.gluon.data.vision import transforms


class Examples(data.Dataset):
    def __init__(self):
        self.value = np.ones((4, 4, 3)) * 8

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.value + i, np.random.uniform(size=(2,)), numpy.full((2,), i / 2)


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    npx.set_np()
    found = []
    both = transforms.Compose([transforms.RandomBrightness(0.5), transforms.ToTensor()])
    examples = Examples().transform_first(both)
    for workers in (0, 2):
        np.random.seed(5)
        loader = data.DataLoader(examples, 4, True, num_workers=workers)
        found.append([[(str(x.dtype), x.tolist()) for x in batch] for batch in loader])
    assert found[0] == found[1]
    print(found[1][0][2][0], len(found[1][0][2][1]))
    try:
        data.DataLoader(Examples().transform(lambda *x: x), 4, num_workers=1).__iter__()
    except Exception as error:
        print(error.__notes__[0], flush=True)
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_spawned_processes(method: str, tmp_path: Path) -> None:
    """Data sets with forerun arrays are sent to them, and how arrays are created."""
    script = tmp_path / "loads.py"
    script.write_text(SPAWN)
    done = run_file(script, method)
    assert (done.returncode, done.stderr) == (0, "")
    batch, report = done.stdout.splitlines()
    assert batch == "float32 4"
    assert report == (
        f"DataLoader: data set and functions must be picklable, as processes are made by {method!r}"
        " (multiprocessing.set_start_method)"
    )


EXAMPLES = """
import gc, multiprocessing, os, signal, sys, threading
from forerun.gluon import data
class Examples(data.Dataset):
    def __init__(self, act=lambda i: None):
        self.act = act
    def __len__(self):
        return 40
    def __getitem__(self, i):
        self.act(i)
        return np.arange(1000) + i
"""


@pytest.mark.parametrize("pool", [True, False])
def test_exit_within_an_epoch(pool: bool) -> None:
    assert output(
        EXAMPLES
        + f"""
iterator = iter(data.DataLoader(Examples(), 1, num_workers=2, thread_pool={pool}))
kept = next(iterator), next(iterator) + 1
print("end")
"""
    ) == ["end"]


def test_engine_that_has_work_and_settings() -> None:
    """Processes are made while operations are pending, with two devices, from a thread."""
    assert output(
        EXAMPLES
        + """
forerun.configure(cpu_devices=2)
x = np.ones(100_000)
for i in range(50):
    x = x + 1
def load():
    for batch in data.DataLoader(Examples(lambda i: x[i].item() == 51 or 1 / 0), 8, num_workers=2):
        sums.append(batch.sum())
sums = []
thread = threading.Thread(target=load)
thread.start()
thread.join()
print(len(sums), sums[0].item(), x.sum().item(), sums[0].device)
"""
    ) == ["5", str(8 * 499500 + 28000), "5100000.0", "cpu(0)"]


def test_within_recording() -> None:
    """Computations of workers are not on the tape."""
    assert output(
        EXAMPLES
        + """
from forerun import autograd
w = np.ones(1000); w.attach_grad()
class Weighed(data.Dataset):
    def __len__(self): return 2
    def __getitem__(self, i): return w * 2, autograd.is_recording()
with autograd.record():
    for x, recording in data.DataLoader(Weighed(), 2, num_workers=1):
        y = (x * w).sum()
y.backward()
print(w.grad[0].item(), recording.any().item())
"""
    ) == ["4.0", "False"]


def test_workers_leave_signals_to_the_consumer() -> None:
    """Ctrl-C reaches all processes: the consumer alone is interrupted. A handler of SIGTERM is not the workers'."""
    assert output(
        EXAMPLES
        + """
signal.signal(signal.SIGTERM, lambda *_: print("handled"))
def act(i):
    if i == 3:
        os.kill(os.getpid(), signal.SIGINT)
print(len(list(data.DataLoader(Examples(act), 2, num_workers=2))))
go = multiprocessing.Event()
def interrupt(i):
    if i == 3:
        os.kill(os.getppid(), signal.SIGINT)
        go.wait()
try:
    for batch in data.DataLoader(Examples(interrupt), 1, num_workers=2):
        pass
except KeyboardInterrupt:
    print("interrupted")           # its traceback may hold the iterator, up to here
print(len(multiprocessing.active_children()))
"""
    ) == ["20", "interrupted", "0"]


def test_a_fork_keeps_its_batches_and_none_of_the_workers() -> None:
    """The child has the batch that it saw; the parent's epoch goes on, and its workers end though the child lives."""
    assert output(
        EXAMPLES
        + """
iterator = iter(data.DataLoader(Examples(), 1, num_workers=1, prefetch=1))
batch, known = next(iterator), next(iterator).tolist()
go, done = os.pipe()
pid = os.fork()
if pid == 0:
    os.close(done)
    os.read(go, 1)                 # until the parent has gone on
    try:
        next(iterator)
    except RuntimeError as error:
        good = "an iterator must be used in the process that made it" in str(error)
    del iterator
    gc.collect()
    good = good and batch[0].tolist() == list(range(1000))
    good = good and [x[0, 0].item() for x in data.DataLoader(Examples(), 20, num_workers=2)] == [0, 20]
    os._exit(0 if good else 1)
del batch
print(sum(1 for x in iterator if x[0, 0].item() >= 2), len(multiprocessing.active_children()))
os.close(done)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    ) == ["38", "0", "0"]


def test_in_a_host_task() -> None:
    """A process that is made there has no engine, and says so."""
    assert output(
        EXAMPLES
        + """
def task():
    try:
        next(iter(data.DataLoader(Examples(), 4, num_workers=1)))
    except RuntimeError as error:
        return "forked before the work had ended" in str(error)
print(host(task, [], [((), "bool")])[0].item())
"""
    ) == ["True"]


KILLED = (
    "import forerun\nfrom forerun import np\n"
    + EXAMPLES
    + """
loader = data.DataLoader(Examples(), 1, num_workers=2)
iterator = iter(loader)
kept = [next(iterator) for _ in range(3)]
print(*(p.pid for p in multiprocessing.active_children()), flush=True)
signal.pause()
"""
)


def in_shared_memory() -> set[str]:
    """The files there, but for those that an MPI leaves of ranks that are killed, in tests beside this one."""
    return {name for name in os.listdir("/dev/shm") if not name.startswith("mpich_")}


def test_workers_end_with_a_killed_consumer() -> None:
    """And nothing remains in /dev/shm."""
    before = in_shared_memory()
    consumer = subprocess.Popen([sys.executable, "-c", KILLED], env=environment(), stdout=subprocess.PIPE, text=True)
    assert consumer.stdout is not None
    with consumer.stdout:
        workers = [os.pidfd_open(int(pid)) for pid in consumer.stdout.readline().split()]
        assert len(workers) == 2
        consumer.send_signal(signal.SIGKILL)
        consumer.wait(PATIENCE)
    for worker in workers:
        assert select.select([worker], [], [], PATIENCE)[0]
        os.close(worker)
    end = time.monotonic() + PATIENCE
    while left := in_shared_memory() - before:  # other processes come and go there, too
        assert time.monotonic() < end, left
        time.sleep(0.01)


BLOCKED = """
import ctypes, multiprocessing, os, signal, sys, threading, time
import numpy
from forerun.gluon import data


def blocked_in_python():
    while True:
        pass


def blocked_in_c():
    ctypes.PyDLL(None).sleep(100_000)  # which keeps the interpreter lock


class Examples(data.Dataset):
    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 40

    def __getitem__(self, i):
        if i >= 2:
            os.write(1, b"at it\\n")  # at once, where print may write the end of the line by itself
            self.act()
        return numpy.zeros(3)


if __name__ == "__main__":
    method, act = sys.argv[1:]
    workers = 2 if method == "fork" else 1
    multiprocessing.set_start_method(method)
    iterator = iter(data.DataLoader(Examples(globals()[act]), 1, num_workers=workers, prefetch=4))
    next(iterator), next(iterator)
    signal.pause()
"""


@pytest.mark.parametrize(
    ("method", "act"), [("fork", "blocked_in_python"), ("fork", "blocked_in_c"), ("forkserver", "blocked_in_c")]
)
def test_busy_workers_end_with_a_killed_consumer(method: str, act: str, tmp_path: Path) -> None:
    """In any state. No process has their output open any more then."""
    script = tmp_path / "loads.py"
    script.write_text(BLOCKED)
    line = [sys.executable, os.fspath(script), method, act]
    with subprocess.Popen(line, env=environment(), stdout=subprocess.PIPE) as consumer:
        assert consumer.stdout is not None
        try:
            assert consumer.stdout.readline() == b"at it\n"  # the other one may be given no work
        finally:
            consumer.send_signal(signal.SIGKILL)
        consumer.wait(PATIENCE)
        assert select.select([consumer.stdout], [], [], PATIENCE)[0], "the workers must have ended"
        assert consumer.stdout.read() in (b"", b"at it\n")


def test_workers_outlive_the_thread_that_has_started_them() -> None:
    """They end with the process, and not with the thread that the system has as their parent."""
    assert output(
        EXAMPLES
        + """
made = []
thread = threading.Thread(target=lambda: made.append(iter(data.DataLoader(Examples(), 4, num_workers=2, prefetch=1))))
thread.start()
thread.join()
print(sum(len(batch) for batch in made[0]))
"""
    ) == ["40"]


def test_a_worker_whose_consumer_has_ended_before_its_first_check() -> None:
    """As when the consumer is killed while the worker is being made."""
    assert output(
        """
import os
ended = os.fork()
if not ended:
    os._exit(0)
os.waitpid(ended, 0)
child = os.fork()
if not child:
    _core.end_with_process(ended, True)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ) == ["1"]


def test_a_worker_without_descriptors_of_processes() -> None:
    """Before Linux 5.3, or where a sandbox refuses them."""
    assert output(
        """
import ctypes, os, signal, struct
SECCOMP, FILTER, NO_NEW_PRIVS, PIDFD_OPEN = 22, 2, 38, 434
libc = ctypes.CDLL(None, use_errno=True)
steps = [(0x20, 0, 0, 0), (0x15, 0, 1, PIDFD_OPEN), (0x06, 0, 0, 0x00050001), (0x06, 0, 0, 0x7FFF0000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code))
assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
assert libc.prctl(SECCOMP, FILTER, program, 0, 0) == 0
try:
    os.pidfd_open(os.getpid())
except PermissionError:
    pass
else:
    raise SystemExit("the filter must refuse it")
reads, writes = os.pipe()
consumer = os.fork()
if not consumer:
    consumer = os.getpid()
    if not os.fork():
        _core.end_with_process(consumer, True)
        os.write(writes, b"at it")
        ctypes.PyDLL(None).sleep(100_000)
    signal.pause()
os.close(writes)
print(len(os.read(reads, 5)))
os.kill(consumer, signal.SIGKILL)
os.waitpid(consumer, 0)
print(len(os.read(reads, 5)))
"""
    ) == ["5", "0"]


def test_a_file_is_sent_while_the_next_request_is_pending():
    """Python 3.14's own function takes the question for an answer."""
    parent, worker = multiprocessing.Pipe()
    parent.send("question")
    kept = os.memfd_create("forerun test")
    try:
        os.write(kept, b"batch")
        send_file(worker, kept)
        assert worker.recv() == "question"
        received = receive_file(parent)
        assert os.pread(received, 5, 0) == b"batch"
        os.close(received)
        worker.close()
        with pytest.raises(EOFError):
            receive_file(parent)
    finally:
        os.close(kept)
        parent.close()
