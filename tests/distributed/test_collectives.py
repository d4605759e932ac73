"""Operations between ranks, with MPI: their results, and the errors of the other ranks when one fails."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forerun import distributed as dist
from forerun import np
from tests.support.processes.ranks import needs_mpi, output_of_ranks


@needs_mpi
@pytest.mark.parametrize("size", [2, 3])
def test_values(size: int, tmp_path: Path) -> None:
    found, errors = output_of_ranks(
        tmp_path,
        size,
        """
r, n = dist.rank(), dist.size()
x = np.arange(4.0)[::2] + r                       # not in one piece
y = dist.allreduce(x)
print(y.tolist(), *(dist.allreduce(v, op).tolist() for v, op in ((y, "mean"), (x, "max"), (x, "min"))))
short = dist.allreduce(np.ones(2, "bfloat16"))
print(short.dtype, dist.allreduce(np.ones(2, "int8")).tolist(), dist.allreduce([1 + 2j]).tolist())
print(dist.broadcast([r + 5.0], root=1).tolist(), dist.allgather([float(r)]).tolist())
print(dist.reduce_scatter(np.arange(2.0 * n)).tolist(), dist.all_to_all(np.arange(n) + 10 * r).tolist())
dist.send([float(r)], (r + 1) % n)
dist.barrier()
print(dist.recv((1,), source=(r - 1) % n).tolist())
""",
    )
    assert not errors
    n = size
    sums = [float(sum(range(n))), float(2 * n + sum(range(n)))]
    want = []
    for r in range(n):
        want += [
            f"[{r}] {sums} {sums} {[n - 1.0, n + 1.0]} {[0.0, 2.0]}",
            f"[{r}] bfloat16 {[n, n]} {[complex(n, 2 * n)]}",
            f"[{r}] [6.0] {[[float(i)] for i in range(n)]}",
            f"[{r}] {[2.0 * r * n, (2.0 * r + 1) * n]} {[r + 10 * i for i in range(n)]}",
            f"[{r}] {[float((r - 1) % n)]}",
        ]
    assert found == want


@needs_mpi
def test_the_gradient_of_a_sum_is_the_sum_of_gradients(tmp_path: Path) -> None:
    found, errors = output_of_ranks(
        tmp_path,
        2,
        """
w = np.ones(2)
w.attach_grad()
with autograd.record():
    cost = (dist.allreduce(w * (dist.rank() + 1)) ** 2).sum() + dist.allreduce(w, "mean").sum()
cost.backward()
print(w.grad.tolist())
""",
    )
    assert (found, errors) == (["[0] [13.0, 13.0]", "[1] [25.0, 25.0]"], "")


# The results of all ranks are in the sum of all costs. The expected gradients are written down by hand.
@needs_mpi
def test_gradients_are_those_of_the_sum_of_all_costs(tmp_path: Path) -> None:
    found, errors = output_of_ranks(
        tmp_path,
        3,
        """
r, n = dist.rank(), dist.size()
functions = [
    lambda x: dist.broadcast(x, root=1),
    lambda x: dist.allgather(x),
    lambda x: dist.reduce_scatter(x),
    lambda x: dist.reduce_scatter(x, "mean") * 3,
    lambda x: dist.all_to_all(x),
]
for dtype, function in [(dtype, f) for dtype in ("float64", "float32", "bfloat16") for f in functions]:
    x = np.arange(6, dtype=dtype) + 10 * r
    x.attach_grad()
    with autograd.record():
        y = function(x)
        weights = np.arange(y.size, dtype=y.dtype).reshape(y.shape) + 100 * (r + 1)
        cost = (y * weights).sum()
    cost.backward()
    print(x.grad.dtype, x.grad.tolist())
""",
    )
    assert not errors
    rows = range(6)
    for r in range(3):
        gradients = [
            [sum(i + 100.0 * (k + 1) for k in range(3)) if r == 1 else 0.0 for i in rows],
            [sum(6.0 * r + i + 100 * (k + 1) for k in range(3)) for i in rows],
            [i % 2 + 100.0 * (i // 2 + 1) for i in rows],
            [i % 2 + 100.0 * (i // 2 + 1) for i in rows],
            [2.0 * r + i % 2 + 100 * (i // 2 + 1) for i in rows],
        ]
        lines = found[15 * r : 15 * (r + 1)]
        assert lines[:10] == [f"[{r}] {dtype} {g}" for dtype in ("float64", "float32") for g in gradients]
        # Sums of 16-bit weights are rounded.
        assert [line.split()[:2] for line in lines[10:]] == [[f"[{r}]", "bfloat16"]] * 5


@needs_mpi
def test_reads_of_other_ranks_raise_after_a_kill(tmp_path: Path) -> None:
    found, _ = output_of_ranks(
        tmp_path,
        3,
        """
dist.allreduce([1.0]).wait()
if dist.rank() == 1: os.kill(os.getpid(), signal.SIGKILL)
y = dist.allreduce(np.ones(3)) * 2
for _ in range(2):
    try: y.tolist()
    except dist.RankFailed as error: print(error, *error.__notes__)
print((np.ones(1) + 1).tolist())
""",
    )
    assert len(found) == 6
    for line in found[:2] + found[3:5]:
        assert "rank 1 (host " in line
        assert "was killed by signal 9 (SIGKILL); this rank waited in allreduce issued at" in line
    assert (found[2], found[5]) == ("[0] [2.0]", "[2] [2.0]")


@needs_mpi
def test_mismatched_operations_raise_with_both_lines(tmp_path: Path) -> None:
    found, _ = output_of_ranks(
        tmp_path,
        2,
        """
print(dist.allreduce([1.0]).tolist())
y = dist.allreduce(np.ones(2)) if dist.rank() else dist.allgather(np.ones(2))
try: y.tolist()
except dist.RankFailed as error: print(error)
""",
    )
    assert [line for line in found if "[2.0]" in line] == ["[0] [2.0]", "[1] [2.0]"]
    for line in found[1], found[3]:
        assert "all ranks must issue the same collectives in the same order" in line
        assert "allgather of (2,) float32" in line
        assert "allreduce of (2,) float32 (sum)" in line
        assert line.count("program.py:5") == 2


@needs_mpi
@pytest.mark.parametrize("name", ["allreduce", "broadcast", "allgather", "reduce_scatter", "all_to_all"])
def test_as_many_elements_in_another_shape_are_an_error(tmp_path: Path, name: str) -> None:
    """Also of as many parts for each rank."""
    found, _ = output_of_ranks(
        tmp_path,
        2,
        f"""
x = np.ones((4, 6) if dist.rank() else (2, 12))
y = dist.{name}(x)
try: print(y.tolist())
except dist.RankFailed as error: print(error)
""",
    )
    assert len(found) == 2
    for line in found:
        assert f"{name} of (2, 12) float32" in line
        assert f"{name} of (4, 6) float32" in line
        assert "on rank 0" in line
        assert "on rank 1" in line
        assert line.count("program.py:5") == 2


def test_one_rank_needs_no_network() -> None:
    x = np.ones(3)
    assert dist.allreduce(x) is x
    assert dist.broadcast(x) is x
    assert (dist.rank(), dist.size(), "mpi4py" in sys.modules) == (0, 1, False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dist.allreduce([1.0], "median"), "allreduce: op must be one of sum, mean, max, min, got 'median'"),
        (lambda: dist.allreduce([1j], "max"), "allreduce: max must be of real numbers, got complex64"),
        (lambda: dist.allreduce([True]), "allreduce: x must be of numbers, got bool"),
        (lambda: dist.broadcast([1.0], 1), r"broadcast: root must be a rank in \[0, 1\), got 1"),
        (lambda: dist.reduce_scatter(np.ones(())), "reduce_scatter: the first axis must divide by 1 ranks"),
        (lambda: dist.send([1.0], 0), "send: to must be another rank, got 0"),
    ],
)
def test_bad_input(call: Callable[[], object], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()
