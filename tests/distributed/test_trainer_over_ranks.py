"""`Trainer(kvstore="dist_sync")`: ranks with parts of a batch train as one rank with all of it, with equal bits."""

from __future__ import annotations

import functools
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy
import pytest

from forerun import gluon, kvstore, np
from forerun.distributed import buckets
from tests.support.processes.ranks import lines_of, needs_mpi, output_of_ranks

PROGRAM = """
import functools, json
import numpy
import forerun
from forerun import gluon, kvstore, npx
from forerun.gluon import nn
from forerun.gluon.utils import split_and_load

kv = kvstore.create("dist_sync")
rng = numpy.random.default_rng(1)
X, Y = rng.random((24, 8)).astype("f4"), rng.random((24, 2)).astype("f4")

def mlp(width=5):
    net = nn.HybridSequential()
    net.add(nn.Dense(width, "tanh"), nn.Dense(width, "tanh"), nn.Dense(2))
    return net

def apart(trainer):
    trainer.allreduce_grads()
    trainer.update(len(X))

def train(optimizer="sgd", net=mlp, store="dist_sync", hybrid=False, dtype=None, devices=None, steps=4,
          step=lambda trainer: trainer.step(len(X)), known=True, whole=False, **how):
    made = net()
    npx.random.seed(7 + kv.rank)                  # each rank has other first values
    made.initialize("xavier", ctx=devices)
    if hybrid: made.hybridize()
    if dtype: made.cast(dtype)
    if known:
        with autograd.pause(): made(np.zeros((1, 8), dtype=dtype or "float32", device=devices and devices[0]))
    trainer = gluon.Trainer(made.collect_params(), optimizer, {"learning_rate": 0.05}, kvstore=store, **how)
    rows = slice(kv.rank, None, kv.num_workers)

    def take(*parts):
        with autograd.record():
            losses = [((made(x) - y) ** 2).sum() for x, y in zip(*parts)]
        autograd.backward(losses)
        step(trainer)

    if whole: take = forerun.hybrid(take)
    for _ in range(steps):
        shard = [np.array(values[rows], dtype=dtype) for values in (X, Y)]
        parts = [split_and_load(values, devices or [forerun.cpu()], even_split=False) for values in shard]
        take(*parts)
    grads = [p.grad() for p in made.collect_params().values()]
    return [p.data() for p in made.collect_params().values()], grads

CASES = {
    "sgd": {}, "adam": {"optimizer": "adam"}, "unknown shapes": {"known": False, "hybrid": True},
    "captured": {"optimizer": "nag", "hybrid": True}, "captured steps": {"optimizer": "adam", "whole": True},
    "several buckets": {"net": functools.partial(mlp, 400), "steps": 2},
    "each updates": {"update_on_kvstore": False}, "apart": {"step": apart}, "short": {"dtype": "float16", "steps": 2},
    "store": {"store": kv, "optimizer": "adam"},
    "two devices": {"devices": [forerun.cpu(0), forerun.cpu(1)], "store": "dist_sync_device", "optimizer": "adam"},
    "two devices, each": {"devices": [forerun.cpu(0), forerun.cpu(1)], "update_on_kvstore": False},
}
for name, case in CASES.items():
    data, grads = train(**case)
    first = data[0].astype("float32").asnumpy().ravel()[:7].tolist()
    bits = [x.asnumpy().tobytes().hex()[-32:] + str(hash(x.asnumpy().tobytes())) for x in data]
    print(json.dumps([name, first, bits, float(np.abs(grads[0]).sum())]))
noisy = [x.asnumpy().tobytes().hex() for x in train("sgld")[0]]       # draws random numbers, which differ
print(json.dumps(["noise", [], noisy, 0.0]))
"""


@functools.cache
def lines_by_case(size: int) -> dict[str, list[list[Any]]]:
    """The lines that each rank prints, by case."""
    with tempfile.TemporaryDirectory() as folder:
        found = lines_of(Path(folder), size, PROGRAM, FORERUN_CPU_DEVICES="2", PYTHONHASHSEED="0")
    return {json.loads(lines[0])[0]: [json.loads(line)[1:] for line in lines] for lines in zip(*found, strict=True)}


@needs_mpi
@pytest.mark.parametrize("size", [2, 3] if "EXAMPLES" in os.environ else [3])  # `make ranks` has both
def test_all_ranks_have_the_same_bits_and_the_results_of_one(size: int) -> None:
    ranks, one = lines_by_case(size), lines_by_case(1)
    assert set(ranks) == set(one)
    for name, results in ranks.items():
        assert len({json.dumps(bits) for _, bits, _ in results}) == 1, name
        accuracy = 2e-2 if name == "short" else 2e-4
        for first, _, gradient in results:
            numpy.testing.assert_allclose(first, one[name][0][0], rtol=accuracy, atol=accuracy, err_msg=name)
            if name in ("each updates", "apart"):  # gradients are the sums
                assert gradient == pytest.approx(one[name][0][2], rel=1e-3)


@needs_mpi
def test_stale_gradients_on_some_ranks_raise_on_all(tmp_path: Path) -> None:
    found, _ = output_of_ranks(
        tmp_path,
        2,
        """
from forerun import gluon
params = [gluon.Parameter(name, shape=(3,), init="ones") for name in "ab"]
for p in params: p.initialize()
trainer = gluon.Trainer(params, "sgd", kvstore="dist_sync")
for used in (params, params[dist.rank():][:1]):       # in the second step each rank uses another parameter
    with autograd.record():
        cost = sum(p.data().sum() for p in used)
    cost.backward()
    trainer.step(1, ignore_stale_grad=True)
for p in params:
    try: p.data().tolist()
    except dist.RankFailed as error: print(error)
""",
    )
    assert len(found) == 2
    for line in found:
        assert "allreduce of (3,) float32 (sum) of gradients 0 at" in line
        assert "allreduce of (3,) float32 (sum) of gradients 1 at" in line


def test_a_store_of_one_rank() -> None:
    for name in ("local", "device", "dist_sync", "dist_sync_device", "dist", "dist_device_sync"):
        kv = kvstore.create(name)
        assert (kv.type, kv.rank, kv.num_workers) == (name, 0, 1)
    parts, out = [np.ones(2), np.ones(2)], np.zeros(2)
    kv.pushpull("w", parts, out)
    assert (out.tolist(), parts[0].tolist()) == ([2.0, 2.0], [1.0, 1.0])
    kv.broadcast("w", np.full(2, 5.0), [out, parts[1]])
    assert out.tolist() == parts[1].tolist() == [5.0, 5.0]


@pytest.mark.parametrize("name", ["dist_async", "dist_async_device", "horovod", "p3"])
def test_other_stores_are_refused(name: str) -> None:
    why = ": ranks would compute gradients of parameters that others have changed" if "async" in name else "$"
    with pytest.raises(ValueError, match=f"kvstore: must be one of local, .*, got '{name}'{why}"):
        kvstore.create(name)
    with pytest.raises(ValueError, match="kvstore: must be one of"):
        gluon.Trainer([], "sgd", kvstore=name)


def test_buckets_are_small_at_first_and_then_large() -> None:
    arrays = [np.zeros(1 << 14)] * 80  # of 64 KiB
    found = buckets.buckets_of(arrays)
    assert [len(bucket) for bucket in found] == [4, 16, 16, 16, 16, 12]
    assert [i for bucket in found for i in bucket] == list(range(80))
    mixed = [np.zeros(3, "float32"), np.zeros(3, "float64"), np.zeros(3, "float32")]
    assert buckets.buckets_of(mixed) == [[1], [0, 2]]  # by their last arrays


def test_an_array_that_fills_a_bucket_is_summed_alone() -> None:
    small, large = np.zeros(1 << 12), np.zeros(1 << 18)  # of 16 KiB and of 1 MiB
    assert buckets.buckets_of([small, large, small, large]) == [[1], [3], [0, 2]]
