"""`torch.distributed` and `DistributedDataParallel`: PyTorch's spelling, and the gradients of one rank."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import numpy
import pytest

from forerun import torch
from forerun.torch import distributed as dist
from tests.support.processes.ranks import lines_of, needs_mpi

CALLS = """
from forerun import torch
import forerun.torch.distributed as dist
dist.init_process_group("gloo")
r, n = dist.get_rank(), dist.get_world_size()
x = torch.arange(2.0) + r
work = dist.all_reduce(x, async_op=True)
print(work.wait(), work.is_completed(), x.tolist())
dist.all_reduce(x, op=dist.ReduceOp.AVG)
dist.broadcast(y := torch.ones(2) * r, src=1)
parts = [torch.zeros(1) for _ in range(n)]
dist.all_gather(parts, torch.ones(1) * r)
dist.all_gather_into_tensor(both := torch.zeros(n), torch.ones(1) * r)
dist.reduce_scatter_tensor(scattered := torch.zeros(1), torch.arange(2.0))
dist.all_to_all_single(turned := torch.zeros(n), torch.arange(2.0) + 10 * r)
dist.reduce(z := torch.ones(1), dst=0)
print(x.tolist(), y.tolist(), [p.item() for p in parts], both.tolist(), scattered.tolist(), turned.tolist(), z.tolist())
dist.send(torch.ones(1) * r, 1 - r)
dist.recv(got := torch.zeros(1), 1 - r)
group = dist.new_group([0])
dist.all_reduce(alone := torch.ones(1), group=group)
dist.barrier()
print(got.tolist(), dist.get_rank(group), dist.get_world_size(group), alone.tolist())
dist.destroy_process_group()
"""

TRAINING = """
import json
import numpy
from forerun import torch
from forerun.torch import nn, optim
from forerun.torch.nn.parallel import DistributedDataParallel as DDP
r, n = dist.rank(), dist.size()
rng = numpy.random.default_rng(1)
X, Y = rng.random((24, 3), "f4"), rng.random((24, 1), "f4")
torch.manual_seed(3)
first = nn.Sequential(nn.Linear(3, 300), nn.Tanh(), nn.Linear(300, 1)).state_dict()
torch.manual_seed(3 + r)
net = nn.Sequential(nn.Linear(3, 300), nn.Tanh(), nn.Linear(300, 1))
if r == 0: net.load_state_dict(first)
net = DDP(net)
optimizer = optim.Adam(net.parameters(), lr=0.01)
rows = slice(r, None, n)
for step in range(4):
    optimizer.zero_grad()
    x, y = torch.from_numpy(X[rows].copy()), torch.from_numpy(Y[rows].copy())
    if step == 2:                                    # in two parts, the first of which stays on its rank
        with net.no_sync():
            (nn.functional.mse_loss(net(x), y) / 2).backward()
        (nn.functional.mse_loss(net(x), y) / 2).backward()
    else:
        nn.functional.mse_loss(net(x), y).backward()
    optimizer.step()
print(json.dumps([p.detach().numpy().ravel()[:5].tolist() for p in net.parameters()]))
print(list(net.state_dict())[0], net.module[0].weight.numpy().tobytes().hex()[:200])
class Half(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(3, 1), nn.Linear(3, 1)
    def forward(self, x):
        return self.used(x)
if n > 1:
    for allowed in (False, True):
        half = DDP(Half(), find_unused_parameters=allowed)
        try: half(torch.ones(1, 3)).sum().backward(); print(half.module.used.weight.grad.tolist())
        except RuntimeError as error: print(error)
"""


@needs_mpi
def test_calls(tmp_path: Path) -> None:
    found = lines_of(tmp_path, 2, CALLS)
    for r in range(2):
        assert found[r] == [
            "True True [1.0, 3.0]",
            f"[1.0, 3.0] [1.0, 1.0] [0.0, 1.0] [0.0, 1.0] {[2.0 * r]} {[float(r), 10.0 + r]} {[2.0 - r]}",
            f"{[1.0 - r]} {[0, -1][r]} {[1, -1][r]} [1.0]",
        ]


@needs_mpi
def test_ranks_train_as_one(tmp_path: Path) -> None:
    one, (first, second) = lines_of(tmp_path, 1, TRAINING)[0], lines_of(tmp_path, 2, TRAINING)
    assert first == second
    for actual, expected in zip(json.loads(first[0]), json.loads(one[0]), strict=True):
        numpy.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)
    assert first[1].startswith("module.0.weight ")
    assert first[2:] == [
        "DistributedDataParallel: backward must reach all parameters, or find_unused_parameters be True, got no "
        "gradient of unused.bias, unused.weight",
        "[[1.0, 1.0, 1.0]]",
    ]


def test_wrong_use() -> None:
    with pytest.raises(RuntimeError, match="get_rank: init_process_group must be called first"):
        dist.get_rank()
    with pytest.raises(ValueError, match="init_process_group: backend must be one of mpi, gloo, nccl, got 'ucc'"):
        dist.init_process_group("ucc")
    with pytest.raises(
        ValueError, match="init_process_group: world_size must be the launcher's, 1, got 4; start ranks"
    ):
        dist.init_process_group("mpi", world_size=4)
    with pytest.raises(TypeError, match=r"init_process_group.* unexpected keyword argument 'world'"):
        dist.init_process_group(world=4)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="init_process_group: init_method or store must be given, or none of them"):
        dist.init_process_group(init_method="env://", store=object())
    assert not dist.is_initialized()
    dist.init_process_group("cpu:gloo,cuda:nccl", init_method="env://", rank=0, world_size=1)
    try:
        with pytest.raises(TypeError, match=r"new_group.* unexpected keyword argument 'rank'"):
            dist.new_group(rank=0)  # type: ignore[call-arg]
        with pytest.raises(ValueError, match="new_group: backend must be one of mpi, gloo, nccl, got 'ucc'"):
            dist.new_group([0], backend="ucc")
        with pytest.raises(RuntimeError, match="init_process_group: must be called once"):
            dist.init_process_group()
        with pytest.raises(NotImplementedError, match="all_to_all_single: parts must be equal"):
            dist.all_to_all_single(torch.ones(1), torch.ones(1), [1], [1])
    finally:
        dist.destroy_process_group()
    assert not dist.is_initialized()


def test_arguments_of_pytorch_are_accepted() -> None:
    dist.init_process_group("gloo", None, timedelta(minutes=30), 1, 0, None, "", None, torch.device("cpu"))
    try:
        alone = dist.new_group([0], timedelta(minutes=30), "gloo", None, True, "alone", torch.device("cpu"))
        assert dist.get_world_size(alone) == 1
    finally:
        dist.destroy_process_group()


def test_a_wrong_module() -> None:
    with pytest.raises(ValueError, match="DistributedDataParallel: a parameter must have a gradient, got none"):
        torch.nn.parallel.DistributedDataParallel(torch.nn.ReLU())
