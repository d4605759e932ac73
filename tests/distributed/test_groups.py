"""Groups of ranks: operations among some of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from forerun import distributed as dist
from tests.support.processes.ranks import lines_of, needs_mpi, output_of_ranks


@needs_mpi
def test_ranks_of_a_group_work_among_themselves(tmp_path: Path) -> None:
    found = lines_of(
        tmp_path,
        3,
        """
r = dist.rank()
pair = dist.Group([2, 0]) if r != 1 else dist.Group([1])
x = np.arange(2.0) + r
print(pair.rank, pair.size, dist.allreduce(x, group=pair).tolist(), dist.allreduce(x, "mean", pair).tolist())
print(dist.allreduce(x).tolist())                                      # of all, between
print(dist.allgather([r], group=pair).tolist(), dist.broadcast([r], pair.ranks[0], pair).tolist())
print(dist.reduce_scatter(np.arange(4.0)[:2 * pair.size] + r, group=pair).tolist())
print(dist.all_to_all(np.arange(pair.size) + 10 * r, group=pair).tolist())
dist.barrier(pair)
other = dist.Group([0, 1])                                             # rank 2 has no part
try: print(dist.allreduce(x, group=other).tolist())
except ValueError as error: print(error)
w = np.ones(1)
w.attach_grad()
with autograd.record():
    cost = (dist.allreduce(w * (r + 1), group=pair) ** 2).sum()
cost.backward()
print(w.grad.tolist())
""",
    )
    three, none = [3.0, 6.0], "allreduce: this rank must be in the group, got rank 2 and Group([0, 1])"
    assert found == [
        ["1 2 [2.0, 4.0] [1.0, 2.0]", f"{three}", "[[2], [0]] [2]", "[6.0, 8.0]", "[21, 1]", "[1.0, 3.0]", "[16.0]"],
        ["0 1 [1.0, 2.0] [1.0, 2.0]", f"{three}", "[[1]] [1]", "[1.0, 2.0]", "[10]", "[1.0, 3.0]", "[8.0]"],
        ["0 2 [2.0, 4.0] [1.0, 2.0]", f"{three}", "[[2], [0]] [2]", "[2.0, 4.0]", "[20, 0]", none, "[48.0]"],
    ]


@needs_mpi
def test_a_difference_inside_a_group_is_reported_to_the_others(tmp_path: Path) -> None:
    found, _ = output_of_ranks(
        tmp_path,
        3,
        """
if dist.rank() < 2:
    pair = dist.Group([0, 1])
    y = dist.allreduce(np.ones(2 + dist.rank()), group=pair)
else:
    y = dist.allreduce([1.0])                                          # for which the others never come
try: y.tolist()
except dist.RankFailed as error: print(error)
""",
    )
    assert len(found) == 3
    for line in found:
        assert "allreduce of (2,) float32 (sum) at" in line
        assert "on rank 0; allreduce of (3,) float32 (sum) at" in line


def test_bad_groups() -> None:
    for ranks in ([], [0, 0], [1], [-1]):
        with pytest.raises(ValueError, match=r"Group: ranks must be different ones in \[0, 1\), got \["):
            dist.Group(ranks)
    with pytest.raises(ValueError, match=r"broadcast: root must be a rank in \[0, 1\), got 3"):
        dist.broadcast([1.0], 3, dist.Group([0]))
