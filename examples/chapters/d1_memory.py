"""D1: a training loop with a barrier in each minibatch and without one: time, and memory.

A loop that never waits can issue all its minibatches long before they are computed. If each took its memory at once,
memory would grow with their number. Here, an operation takes memory when it starts, and one that is not yet next in
turn starts only where the program, run in order, would need as much memory anyway. The script trains the same network
four times, with more minibatches the last time, and compares. The peak of memory never falls, so each row says by how
much the loop has raised it.

    python examples/chapters/d1_memory.py [--quick]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator

from common import options, table

import forerun
from forerun import autograd, gluon, np
from forerun.gluon import nn

Loop = Callable[[Iterable[np.ndarray]], Iterable[np.ndarray]]


class Training:
    def __init__(self, batch: int, features: int, hidden: int) -> None:
        self.batch, self.features = batch, features
        self.net = nn.Sequential()
        self.net.add(nn.Dense(4 * hidden, activation="relu"), nn.Dense(hidden, activation="relu"), nn.Dense(1))
        self.net.initialize()
        self.loss = gluon.loss.L2Loss()
        self.trainer = gluon.Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.01})

    def data(self, batches: int) -> Iterator[np.ndarray]:
        for _ in range(batches):
            yield np.random.normal(size=(self.batch, self.features))

    def run(self, batches: int, barrier: bool, loop: Loop) -> tuple[float, float]:
        """Seconds until the last minibatch is issued, and until all are done."""
        begin = time.perf_counter()
        y = np.ones(self.batch)
        for x in loop(self.data(batches)):
            with autograd.record():
                loss = self.loss(self.net(x), y)
            loss.backward()
            self.trainer.step(self.batch)
            if barrier:
                loss.wait_to_read()
        issued = time.perf_counter()
        forerun.waitall()
        return issued - begin, time.perf_counter() - begin


def main() -> None:
    quick, _ = options(__doc__)
    batches, training = (4, Training(32, 16, 64)) if quick else (40, Training(256, 512, 256))
    training.run(2, True, iter)  # the first run makes parameters, threads and memory
    start = forerun.memory()["peak"]

    def same(data: Iterable[np.ndarray]) -> Iterable[np.ndarray]:
        return data

    ways: list[tuple[str, int, bool, Loop]] = [
        ("a wait in each minibatch", batches, True, same),
        ("forerun.pace, one minibatch ahead", batches, False, lambda data: forerun.pace(data, ahead=1)),
        ("no barrier", batches, False, same),
        ("no barrier, three times as many", 3 * batches, False, same),
    ]
    rows, raised, share_issued = [], [], 1.0
    for name, count, barrier, loop in ways:
        before = forerun.memory()["peak"]
        issued, done = training.run(count, barrier, loop)
        raised.append(forerun.memory()["peak"] - before)
        share_issued = issued / done
        times = (f"{issued / count * 1e3:.2f} ms", f"{done / count * 1e3:.2f} ms")
        rows.append((name, f"{count}", *times, f"{raised[-1] / 1e6:+.1f} MB"))
    print(f"Peak of memory with one minibatch at a time: {start / 1e6:.1f} MB\n")
    table(("loop", "minibatches", "issued, each", "done, each", "peak of memory"), rows)

    free, longer = raised[2:]
    per_batch = longer / (2 * batches)
    print(f"Without a barrier the loop has issued everything after {share_issued:.0%} of its time;")
    print(f"the peak of memory rises by {free / start:.0%} of what one minibatch takes.")
    print(f"Per further minibatch of the longer loop it rises by {per_batch / 1e3:.1f} kB: ", end="")
    share = per_batch * batches / start
    print("memory grows with the minibatches." if share > 0.5 else "memory does not grow with their number.")


if __name__ == "__main__":
    main()
