"""Load: the largest requests of programs. `make load` runs the full sizes and prints a table.

Each case makes something large, and checks its result. The tests run the same cases with the small sizes
(tests/stress/test_load.py). Each full case runs in a process of its own, so that its peak of memory can be measured.
"""

from __future__ import annotations

import argparse
import gc
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy

import forerun
from forerun import _core, autograd, np, npx

BIG = 1 << 32  # bytes of a large array of one-byte elements; positions beyond it do not fit into 32 bits


@dataclass(frozen=True)
class LoadCase:
    """A case, its size in the tests and its full one. gigabytes: the memory of the full size, approximately."""

    run: Callable[[int], None]
    small: int
    full: int
    gigabytes: float = 1.0


CASES: dict[str, LoadCase] = {}


def case(small: int, full: int, gigabytes: float = 1.0) -> Callable[[Callable[[int], None]], Callable[[int], None]]:
    def add(run: Callable[[int], None]) -> Callable[[int], None]:
        CASES[run.__name__] = LoadCase(run, small, full, gigabytes)
        return run

    return add


# --- ops that wait ---


@case(small=100_000, full=10_000_000, gigabytes=12.5)
def queued(n: int) -> None:
    """n ops issued to a stopped engine with space for all of them; then it is released."""
    before = forerun.config()["ops_ahead"]
    forerun.configure(ops_ahead=n + 16)
    try:
        x = np.zeros((), dtype="int64")
        _core.gate(True)
        try:
            for i in range(n // 2):
                y = x + 1
                x = y + i
            stats = forerun.stats()
            assert stats["issued"] - stats["done"] >= n // 2 * 2
        finally:
            _core.gate(False)
        half = n // 2
        assert x.item() == half + half * (half - 1) // 2
    finally:
        forerun.configure(ops_ahead=before)


@case(small=100_000, full=10_000_000)
def held_back(n: int) -> None:
    """n ops issued by a thread to a stopped engine with space for few: the thread waits, and no op is lost."""
    before = forerun.config()["ops_ahead"]
    forerun.configure(ops_ahead=1000)
    x = np.zeros((), dtype="int64")
    x.wait()
    forerun.waitall()
    issued = forerun.stats()["issued"]

    def issue() -> None:
        y = x
        for _ in range(n):
            y += 1

    thread = threading.Thread(target=issue)
    try:
        _core.gate(True)
        try:
            waits = forerun.stats()["waits"]
            thread.start()
            while forerun.stats()["waits"] == waits:
                time.sleep(0)
            assert forerun.stats()["issued"] - issued == 1000
        finally:
            _core.gate(False)
        thread.join()
        assert x.item() == n
    finally:
        forerun.configure(ops_ahead=before)


@case(small=30_000, full=1_000_000)
def chain_of_additions(n: int) -> None:
    """Each op reads the result of the one before it, in separate arrays."""
    x = np.zeros(4, dtype="int64")
    for _ in range(n):
        x = x + 1
    assert x.tolist() == [n] * 4


@case(small=30_000, full=1_000_000)
def chain_of_held_arrays(n: int) -> None:
    """The same, with every array of the chain alive; then all are dropped from the oldest, and from the newest."""
    for end in (0, -1):
        x = np.zeros((), dtype="int64")
        held = [x := x + 1 for _ in range(n)]
        assert held[n // 2].item() == n // 2 + 1
        held[:: 1 if end else -1] = [None] * n
        assert x.item() == n


@case(small=20_000, full=100_000)
def fan_out(n: int) -> None:
    """n ops read one array, which is then overwritten; and n arrays are read once each by one op."""
    x = np.arange(8)
    read = [x + i for i in range(n)]
    x[...] = -1
    assert [read[i][7].item() for i in (0, n // 2, n - 1)] == [7, 7 + n // 2, 7 + n - 1]
    assert x.tolist() == [-1] * 8


@case(small=20_000, full=100_000)
def fan_out_behind_a_gate(n: int) -> None:
    """The same while nothing may start, so that one write waits for n reads."""
    before = forerun.config()["ops_ahead"]
    forerun.configure(ops_ahead=n + 16)
    try:
        x = np.arange(8)
        _core.gate(True)
        try:
            read = [x + i for i in range(n)]
            x[...] = -1
        finally:
            _core.gate(False)
        assert np.stack(read)[:, 7].tolist() == list(range(7, n + 7))
        assert x.tolist() == [-1] * 8
    finally:
        forerun.configure(ops_ahead=before)


@case(small=20_000, full=100_000)
def fan_in(n: int) -> None:
    """One op reads n arrays: different ones, then the same one n times, then views of one."""
    arrays = [np.full((2,), i, dtype="int64") for i in range(n)]
    assert np.stack(arrays).sum(0).tolist() == [n * (n - 1) // 2] * 2
    assert np.concatenate(arrays)[-2:].tolist() == [n - 1] * 2
    assert np.concatenate([arrays[3]] * n).sum().item() == 6 * n
    x = np.arange(n)
    assert np.concatenate([x[i : i + 1] for i in range(n)]).tolist() == list(range(n))


@case(small=20_000, full=100_000)
def fan_in_of_more_than_may_run_ahead(n: int) -> None:
    """The op that reads n arrays follows one that takes long and needs much memory: the budget examines it."""
    arrays = [np.full((32,), i, dtype="float32") for i in range(n)]
    go = threading.Event()
    (slow,) = npx.host(lambda: (go.wait(60), numpy.ones(()))[1], [], [((), "float32")])
    before = np.zeros(1 << 20) + slow
    joined = np.concatenate(arrays)
    after = [np.concatenate(arrays[: n // 2])[i] for i in range(3)]
    assert (np.zeros(3) + 1).tolist() == [1] * 3  # a waiting thread looks for work, and asks the budget
    go.set()
    assert (before[7].item(), joined[-1].item(), after[1].item()) == (1, n - 1, 0)


@case(small=20_000, full=100_000)
def tree(n: int) -> None:
    """n arrays summed pairwise."""
    level = [np.full((2,), i, dtype="int64") for i in range(n)]
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2])] + level[len(level) // 2 * 2 :]
    assert level[0].tolist() == [n * (n - 1) // 2] * 2


@case(small=5_000, full=100_000)
def host_task_of_many_arrays(n: int) -> None:
    """One task reads n arrays and writes n."""
    arrays = [np.full((), i, dtype="int64") for i in range(n)]
    out = npx.host(lambda *values: tuple(v + 1 for v in values), arrays, [((), "int64")] * n)
    assert np.stack(list(out)).sum().item() == n * (n + 1) // 2


@case(small=4_000, full=100_000)
def wide(n: int) -> None:
    """n chains side by side, and their sum, on 1, 2 and 32 workers: the same bits."""
    before, seen = forerun.config(), set()
    rng = numpy.random.default_rng(1)
    starts = [np.array(rng.normal(size=16)) for _ in range(n // 10)]
    for workers in (1, 2, 32):
        forerun.configure(workers=workers)
        ends = [np.sin(x) * 0.5 + np.cos(x) for x in starts for _ in range(10)]
        seen.add(np.stack(ends).sum().item())
    forerun.configure(workers=before["workers"])
    assert len(seen) == 1


# --- objects ---


@case(small=50_000, full=1_000_000)
def live_arrays(n: int) -> None:
    """n arrays alive at once, then dropped at once: no memory remains in use."""
    _core.quiesce()
    before = _core.in_use()["storages"]
    arrays = [np.full((2,), i) for i in range(n)]
    assert arrays[n // 3].tolist() == [n // 3] * 2
    assert _core.in_use()["storages"] >= before + n
    del arrays
    _core.quiesce()
    assert _core.in_use()["storages"] == before


@case(small=10_000, full=1_000_000, gigabytes=5)
def tape(n: int) -> None:
    """n recorded ops: the backward pass, the end of the tape after it, and the end of one without a backward pass."""
    x = np.array([1.0])
    x.attach_grad()
    for walked in (True, False):
        with autograd.record():
            y = x
            for _ in range(n):
                y = y + x
        if walked:
            y.backward()
            assert x.grad.item() == n + 1
        del y


@case(small=10_000, full=300_000, gigabytes=2)
def tape_that_is_kept(n: int) -> None:
    """A tape whose nodes hold values, dropped by reference counts, and in a cycle that only the collector finds."""
    _core.quiesce()
    before = _core.in_use()["storages"]
    x = np.array([0.5])
    x.attach_grad()
    for cycle in (False, True):
        with autograd.record():
            y = x
            for _ in range(n):
                y = np.sin(y)
        if cycle:
            holder: list[object] = [y]
            holder.append(holder)
            del holder
        del y
        gc.collect()
    del x
    _core.quiesce()
    assert _core.in_use()["storages"] == before


# --- extents beyond 32 bits ---


def pattern(n: int) -> np.ndarray:
    """n bytes of zeros, with marks at the ends and where positions stop fitting into 31 and 32 bits."""
    x = np.zeros(n, dtype="uint8")
    for i in marks(n):
        x[i] = 1 + i % 251
    return x


def marks(n: int) -> list[int]:
    return sorted({i for i in (0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, n - 1) if 0 <= i < n})


def mark_values(n: int) -> list[int]:
    return [1 + i % 251 for i in marks(n)]


@case(small=0, full=BIG + 100, gigabytes=8.7)
def large_elementwise(n: int) -> None:
    """Arithmetic, comparisons and broadcasts."""
    x = pattern(n)
    y = x + 1
    assert [y[i].item() for i in marks(n)] == [v + 1 for v in mark_values(n)]
    assert y.sum(dtype="int64").item() == n + sum(mark_values(n))
    del y
    assert (x > 0).sum().item() == len(marks(n))
    x += x[n - 1 : n]
    assert (
        [x[i].item() for i in marks(n)][:-1] == [(v + mark_values(n)[-1]) % 256 for v in mark_values(n)][:-1]
        if n
        else True
    )


@case(small=0, full=BIG + 100, gigabytes=8.7)
def large_reductions(n: int) -> None:
    """Sums, extrema, positions, by rows and by columns; a scan."""
    x = pattern(n)
    if not n:
        assert x.sum().item() == 0
        return
    assert x.sum(dtype="int64").item() == sum(mark_values(n))
    assert x.max().item() == max(mark_values(n))
    assert x.argmax().item() == marks(n)[mark_values(n).index(max(mark_values(n)))]
    assert np.count_nonzero(x).item() == len(marks(n)) if hasattr(np, "count_nonzero") else True
    rows = x[: n // 2 * 2].reshape(2, n // 2)
    assert rows.sum(1, dtype="int64").sum().item() == sum(mark_values(n // 2 * 2)) if n % 2 == 0 else True
    assert rows.max(0).sum(dtype="int64").item() > 0
    forerun.empty_cache()
    scan = np.cumsum(x, dtype="uint8")
    assert scan[-1].item() == sum(mark_values(n)) % 256


@case(small=0, full=BIG + 100, gigabytes=8.7)
def large_moves(n: int) -> None:
    """Views, copies, casts, joins, positions given by arrays."""
    x = pattern(n)
    if not n:
        assert x.copy().shape == np.concatenate([x, x]).shape == (0,)
        return
    assert x[::-1][n - 1 - marks(n)[-2]].item() == mark_values(n)[-2]
    assert x[marks(n)[-3] :: 7][0].item() == mark_values(n)[-3]
    copied = x.copy()
    assert [copied[i].item() for i in marks(n)] == mark_values(n)
    del copied
    where = np.array(marks(n))
    assert np.take(x, where).tolist() == mark_values(n)
    assert x[where].tolist() == mark_values(n)
    x[where] = np.arange(len(marks(n)), dtype="uint8") + 100
    assert np.take(x, where).tolist() == [100 + i for i in range(len(marks(n)))]
    half = x[: n // 2]
    joined = np.concatenate([half, half])
    assert (joined[n // 2].item(), joined[-1].item()) == (100, half[-1].item())
    del joined
    turned = x[: n // 4 * 4].reshape(4, n // 4).T.copy()
    assert turned.shape == (n // 4, 4)
    assert turned[0, 0].item() == 100
    del turned
    assert x.astype("bool").sum().item() == len(marks(n))


@case(small=0, full=(1 << 30) + 7, gigabytes=4.5)
def large_dot(n: int) -> None:
    """A sum over more terms than one call of BLAS takes."""
    x = np.zeros(n)
    if n:
        x[0], x[n - 1], x[n - 8] = 1, 2, 3
    assert (x @ x).item() == (14 if n else 0)
    assert (x.reshape(1, n) @ x.reshape(n, 1)).tolist() == [[14 if n else 0]]


@case(small=0, full=BIG + 100, gigabytes=8.7)
def large_product(n: int) -> None:
    """Integer products with more rows, or terms, than fit into 32 bits."""
    x = pattern(n)
    one = np.ones((1, 1), dtype="uint8")
    if not n:
        assert (x.reshape(n, 1) @ one).shape == (0, 1)
        return
    tall = x.reshape(n, 1) @ one
    assert [tall[i, 0].item() for i in marks(n)] == mark_values(n)
    del tall
    assert (x.reshape(1, n) @ x.reshape(n, 1)).item() == sum(v * v for v in mark_values(n)) % 256


@case(small=0, full=BIG + 100, gigabytes=4.5)
def large_random(n: int) -> None:
    """Random integers: no stretch of them repeats where positions stop fitting into 32 bits."""
    x = np.random.randint(0, 256, size=n, dtype="uint8")
    if not n:
        assert x.shape == (0,)
        return
    first, later = x[: 1 << 20].asnumpy(), x[BIG - (1 << 20) : BIG].asnumpy()
    assert abs(float(first.mean()) - 127.5) < 1
    assert (first != later).mean() > 0.9
    assert (x[:100].asnumpy() != x[BIG : BIG + 100].asnumpy()).mean() > 0.9


# --- the command ---


def peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def run_one(name: str, n: int) -> None:
    """Runs a case in this process and prints its line."""
    started = time.perf_counter()
    CASES[name].run(n)
    forerun.waitall()
    seconds = time.perf_counter() - started
    print(f"{name:34s} {n:>13,d} {'right':>7s} {peak_mib():>9,d} MiB {seconds:>9.2f} s", flush=True)


def free_gigabytes() -> float:
    """Return the memory that the machine has free now, below the limit of this process."""
    with open("/proc/meminfo") as lines:
        available = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    return min(available * 1024, _core.granted_memory()) / 1e9


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs the load cases and prints a table.")
    parser.add_argument("cases", nargs="*", help="names of cases, also name=size; all of them if none is given")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        run_one(given.cases[0], given.one)
        return 0
    failed = []
    print(f"{'case':34s} {'size':>13s} {'result':>7s} {'peak':>13s} {'time':>11s}", flush=True)
    for asked in given.cases or CASES:
        name, _, size = asked.partition("=")
        one = CASES[name]
        n = int(size) if size else one.small if given.small else one.full
        needed = one.gigabytes * min(1, n / one.full) + 0.5
        if free_gigabytes() < needed:
            print(f"{name:34s} {n:>13,d} not run: it takes {needed:.1f} GB", flush=True)
            failed.append(name)
        elif subprocess.run([sys.executable, "-m", "stress.load", name, "--one", str(n)], check=False).returncode:
            print(f"{name:34s} {n:>13,d}   WRONG", flush=True)
            failed.append(name)
    print("all results are correct" if not failed else f"wrong or failed: {', '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
