"""Training in several ranks: shards, sums of gradients, metrics, and checkpoints from which ranks start again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes.ranks import needs_mpi
from tests.support.processes.subprocesses import environment

PROGRAM = """
import os, signal, sys
import numpy
from forerun import autograd, distributed as dist, gluon, metric, np
from forerun.gluon import nn

folder, die_at = sys.argv[1], int(sys.argv[2])
rng = numpy.random.default_rng(1)
X, Y = rng.random((24, 3)).astype("f4"), rng.random((24, 1)).astype("f4")
net = nn.Dense(1, in_units=3)
net.initialize()
for p in net.collect_params().values():
    p.set_data(np.full(p.shape, 0.1))
trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
shard = dist.Shard(len(X), shuffle=True, seed=3)
found = dist.resume(folder, net, trainer)
step = found.step if found else 0
while step < 8:
    shard.start(step)
    rows = list(shard)
    with autograd.record():
        cost = ((net(np.array(X[rows])) - np.array(Y[rows])) ** 2).sum()
    cost.backward()
    for p in net.collect_params().values():
        p.grad()[:] = dist.allreduce(p.grad())
    trainer.step(len(X))
    step += 1
    dist.checkpoint(folder, step, net, trainer)
    if step == die_at and dist.rank() == 1 and os.environ.get("FORERUN_RESTART", "0") == "0":
        os.kill(os.getpid(), signal.SIGKILL)
error = metric.MSE()
error.update(np.array(Y[rows]), net(np.array(X[rows])))
print(dist.reduce_metric(error).num_inst, *(p.data().numpy().tobytes().hex() for p in net.collect_params().values()))
"""


def parameters(folder: Path, size: int, die_at: int = 0) -> list[list[str]]:
    """The words that each rank prints, without its number."""
    file = folder / "program.py"
    file.write_text(PROGRAM)
    words = [sys.executable, "-m", "forerun", "run", "-n", str(size), "--restarts", "1", str(file)]
    words += [str(folder / f"checkpoints of {size} {die_at}"), str(die_at)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    return [line.removeprefix(f"[{line[1]}] ").split() for line in sorted(done.stdout.splitlines())]


@needs_mpi
def test_ranks_train_as_one_and_start_again_with_the_same_bits(tmp_path: Path) -> None:
    one, *rest = parameters(tmp_path, 1)
    assert rest == []
    whole = parameters(tmp_path, 2)
    assert whole[0] == whole[1]
    assert float(whole[0][0]) == float(one[0]) == 24
    for actual, expected in zip(whole[0][1:], one[1:]):
        a, b = (memoryview(bytes.fromhex(text)).cast("f") for text in (actual, expected))
        assert a.tolist() == pytest.approx(b.tolist(), rel=1e-5)
    assert parameters(tmp_path, 2, die_at=5) == whole
