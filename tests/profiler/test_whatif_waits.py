"""`profiler.whatif`: recordings of steps with calls that wait, among them those that issue the op for which they
wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

import forerun
from forerun import autograd, cli, gluon, metric, np, npx, profiler
from forerun import distributed as dist
from forerun.profiler import Event, Trace
from forerun.profiler._replay.recorded import Recorded
from tests.support.engine.settings import configured

MS = 1e-3


def saving(steps: int = 6) -> Trace:
    """Steps of 20 ms: a product of 10 ms, and a call that issues the write of a file after 2 ms, and waits for it."""
    events: list[Event] = []
    for k in range(steps):
        at, seq = 20.0 * k, 1 + 2 * k
        product = (at * MS, at * MS, (at + 10) * MS)
        write = ((at + 2) * MS, (at + 10) * MS, (at + 15) * MS)
        events += [
            Event("op", seq, "matmul", ("p.py", 1), 1, 0, "compute", *product, shape=(9, 9), dtype="float32"),
            Event("op", seq + 1, "save", ("p.py", 2), 2, 0, "io", *write, deps=(seq,), shape=(), dtype="int64"),
            Event("wait", 0, "save", ("p.py", 2), 0, 0, None, (at + 1) * MS, (at + 1) * MS, (at + 16) * MS,
                  cause="keep", waited=seq + 1),
        ]  # fmt: skip
    trace = Trace.from_events(events, {0: "cpu(0)"})
    trace.issued = trace.recorded = 2 * steps
    return trace


def test_a_wait_comes_after_the_ops_that_its_call_issues():
    (acts,) = Recorded.of(saving()).acts.values()
    assert [a.name for a in acts[:4]] == ["matmul", "save", "save", "matmul"]
    assert [(a.op, a.needs) for a in acts[:3]] == [(1, ()), (2, ()), (0, (2,))]
    assert [a.gap for a in acts[:4]] == pytest.approx([0, 2 * MS, 0, 4 * MS])
    assert acts[2].wake == pytest.approx(1 * MS)


def test_a_call_that_issues_and_awaits_an_op_takes_the_time_of_the_op():
    found = profiler.whatif(saving())
    assert (found.steps, found.replayed) == (6, pytest.approx(20 * MS))
    wait = next(change for change in found.changes() if change.kind == "wait")
    assert (wait.where, wait.seconds) == ("p.py:2", pytest.approx(10 * MS))  # then products run one after another


Step = Callable[[], object]


def of_blocks(folder: Path) -> dict[str, tuple[Step, str]]:
    """A step by the call that waits in it, and the name of that wait."""
    net = gluon.nn.Dense(1, in_units=8)
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    x, y = np.ones((4, 8)), np.ones((4, 1))
    error = metric.MSE()

    def train() -> np.ndarray:
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(x), y)
        loss.backward()
        trainer.step(4)
        (slow,) = npx.host(lambda v: (time.sleep(0.001), v)[1], [loss], [((4,), "float32")])
        return slow

    def after(call: Callable[[np.ndarray], object]) -> Step:
        return lambda: call(train())

    def measured(loss: np.ndarray) -> object:
        error.update(np.zeros(4), loss)
        return error.get()

    def issuing(loss: np.ndarray) -> object:
        (out,) = npx.host(lambda v: np.array(v).sum().asnumpy() + v, [loss], [((4,), "float32")])
        return out.asnumpy()

    file = str(folder / "file")
    return {
        "save": (after(lambda loss: np.save(file, loss)), "save"),
        "savez": (after(lambda loss: np.savez(file, loss=loss)), "savez"),
        "savetxt": (after(lambda loss: np.savetxt(file, loss)), "savetxt"),
        "save_parameters": (after(lambda _: net.save_parameters(file)), "save_parameters"),
        "save_states": (after(lambda _: trainer.save_states(file)), "save_states"),
        "checkpoint": (after(lambda _: dist.checkpoint(folder / "checkpoints", 1, net, trainer)), "save_states"),
        "item": (after(lambda loss: loss.mean().item()), "item"),
        "asnumpy": (after(lambda loss: loss.asnumpy()), "asnumpy"),
        "wait": (after(lambda loss: loss.wait()), "wait"),
        "waitall": (after(lambda _: forerun.waitall()), "waitall"),
        "nonzero": (after(lambda loss: np.nonzero(loss)), "nonzero"),
        "metric": (after(measured), "get"),
        "host that issues": (after(issuing), "asnumpy"),
    }


KINDS = (
    "save", "savez", "savetxt", "save_parameters", "save_states", "checkpoint", "item", "asnumpy", "wait", "waitall",
    "nonzero", "metric", "host that issues",
)  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
def test_steps_with_calls_that_wait_are_replayed(kind: str, workers: int, tmp_path: Path) -> None:
    with configured(workers=workers):
        step, name = of_blocks(tmp_path)[kind]
        step()
        forerun.waitall()
        with profiler.record() as p:
            for _ in range(6):
                step()
    assert name in {w.name for w in p.trace.waits}
    for machine in ({}, {"devices": 2, "ranks": 4}):
        found = profiler.whatif(p.trace, **machine)
        assert found.steps == 6
        assert found.seconds > 0


def test_the_command_takes_a_recording_with_saves(tmp_path: Path) -> None:
    step, _ = of_blocks(tmp_path)["save"]
    with profiler.record(tmp_path / "profile.frec"):
        for _ in range(6):
            step()
    assert cli.main(["whatif", str(tmp_path / "profile.frec"), "--ranks", "4", "--out", str(tmp_path / "out")]) == 0
