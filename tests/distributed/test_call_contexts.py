"""Operations between ranks in captured calls, coroutines and forked children, and without an MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.processes.ranks import lines_of, needs_mpi
from tests.support.processes.subprocesses import execute


@needs_mpi
@pytest.mark.parametrize("engine", ["sync", "async"])
def test_ranks_send_to_each_other(tmp_path: Path, engine: str) -> None:
    found = lines_of(
        tmp_path,
        2,
        """
other = 1 - dist.rank()
for first in ("send", "recv"):
    x = np.full(1 << 20, dist.rank() + 1.0, "float64")  # more than MPI takes before the other receives
    if first == "recv": y = dist.recv(x.shape, "float64", other)
    dist.send(x * 1, other)                        # a temporary, which holds memory until it is sent
    dist.send(x, other)
    x += 5                                         # the sent values are those before
    if first == "send": y = dist.recv(x.shape, "float64", other)
    y += dist.recv(x.shape, "float64", other)
    print(y.min().item(), y.max().item(), x[0].item(), dist.allreduce(x)[0].item())
""",
        FORERUN_ENGINE=engine,
    )
    assert found == [["4.0 4.0 6.0 13.0"] * 2, ["2.0 2.0 7.0 13.0"] * 2]


@needs_mpi
def test_sums_behind_each_other_need_no_interpreter_lock(tmp_path: Path) -> None:
    """Rank 0 keeps the lock until rank 1 has the last one, in which both take part."""
    program = """
import ctypes
def sums(x):
    for op in ("sum", "mean") * 4: x = dist.allreduce(x, op)
    return x
sums(np.ones(1 << 16)).wait()
file = os.environ["FILE"].encode()
y = sums(np.ones(1 << 16))
if dist.rank() == 0:
    sys.setswitchinterval(1000)                    # other threads let this one go on
    is_missing = ctypes.PyDLL(None).access         # keeps the lock
    while is_missing(file, 0): pass
else:
    open(file, "w" if y[-1].item() == 16 else "r").close()
print(y.min().item(), y.max().item())
"""
    assert lines_of(tmp_path, 2, program, FILE=str(tmp_path / "file")) == [["16.0 16.0"]] * 2


@needs_mpi
def test_operations_are_captured_and_awaited_and_raise_in_a_forked_child(tmp_path: Path) -> None:
    first, second = lines_of(
        tmp_path,
        2,
        """
import asyncio
import warnings
import forerun
from forerun.gluon import HybridBlock

class Summed(HybridBlock):
    def forward(self, x):
        return dist.allreduce(x * 2) + 1

net = Summed()
net.hybridize()
for value in range(4):                             # the later calls are replayed
    x = np.full(2, value + 1.0 * dist.rank())
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    print(y.tolist(), x.grad.tolist())

@forerun.hybrid
def f(x):
    return dist.allgather(dist.allreduce(x, "max"))

for value in range(3):
    print(f(np.array([value * dist.rank()])).tolist())

async def total(x):
    return (await dist.allreduce(x)).tolist()

async def both():
    return await asyncio.gather(total(np.ones(1)), total(np.zeros(1)))

print(asyncio.run(both()))
warnings.filterwarnings("ignore", "This process", DeprecationWarning)  # Python 3.12 warns where threads are
child = os.fork()
if child == 0:
    try: dist.allreduce([1.0])
    except RuntimeError as error: print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(dist.allreduce([1.0]).tolist())
""",
    )
    assert first == second
    assert first == [
        *(f"{[2.0 * (2 * value + 1) + 1] * 2} {[4.0] * 2}" for value in range(4)),
        *(f"{[[value], [value]]}" for value in range(3)),
        "[[2.0], [0.0]]",
        "allreduce: the process that opened MPI must issue it, got its forked child",
        "[2.0]",
    ]


def test_without_an_mpi_an_error_names_the_package_to_install() -> None:
    program = "from forerun import distributed as dist\ndist.allreduce([1.0])"
    done = execute(program, "import sys; sys.modules['mpi4py'] = None\n", FORERUN_RANK="0", FORERUN_SIZE="2")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: allreduce: ranks need MPI, and mpi4py found none (")
    assert last.endswith("): pip install mpi4py mpich")


@needs_mpi
def test_an_mpi_of_another_size_is_refused() -> None:
    program = "from forerun import distributed as dist\ndist.allreduce([1.0])"
    done = execute(program, FORERUN_RANK="0", FORERUN_SIZE="2")
    assert "allreduce: MPI must have the 2 ranks that its launcher started, got 1" in done.stderr
