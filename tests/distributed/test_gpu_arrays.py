"""Operations between ranks on arrays of GPUs: they are copied to the host and back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.device_plugins import devices
from tests.support.processes.ranks import lines_of, needs_mpi


@needs_mpi
@pytest.mark.parametrize("engine", ["sync", "async"])
def test_arrays_on_gpus(tmp_path: Path, engine: str) -> None:
    found = lines_of(
        tmp_path,
        2,
        """
import forerun
r, gpu = dist.rank(), forerun.gpu(0)
x = np.arange(2.0).to_device(gpu) + r
x.attach_grad()
with autograd.record():
    cost = (dist.allreduce(x) * x).sum()
cost.backward()
y = dist.recv((2,), source=1 - r).to_device(gpu) * x  # computed when the other has sent
dist.send(x * 2, 1 - r)
results = dist.allreduce(x), dist.allgather(x), dist.broadcast(x, root=1), dist.allreduce(x, "max"), y
print(x.grad.tolist(), *((z.device == gpu, z.tolist()) for z in results))
""",
        FORERUN_ENGINE=engine,
        **devices.settings(),
    )
    sums = "(True, [1.0, 3.0]) (True, [[0.0, 1.0], [1.0, 2.0]]) (True, [1.0, 2.0]) (True, [1.0, 2.0])"
    assert found == [[f"[2.0, 6.0] {sums} (True, [0.0, 4.0])"], [f"[2.0, 6.0] {sums} (True, [0.0, 4.0])"]]
