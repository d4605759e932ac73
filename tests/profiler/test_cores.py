"""Work that shares cores: when it ends."""

from __future__ import annotations

import pytest

from forerun.profiler._replay.cores import Cores


def ends(cores: float, work: list[tuple[float, float]]) -> list[float]:
    """When pieces of work end, in order, by their beginnings and seconds."""
    shared, found = Cores(cores), []
    for n, (begin, seconds) in enumerate(work):
        while shared.next_end() <= begin:
            found.append(shared.end()[0])
        shared.begin(begin, seconds, n, "work", n)
    while shared.next_end() < float("inf"):
        found.append(shared.end()[0])
    return found


@pytest.mark.parametrize(
    ("cores", "work", "expected"),
    [
        (2, [(0, 1), (0, 2)], [1, 2]),  # there is a core for each
        (1, [(0, 1), (0, 2)], [2, 3]),  # both at half the pace, and then one alone
        (1, [(0, 2), (1, 2)], [3, 4]),  # the second begins in the middle of the first
        (0.5, [(0, 1)], [2]),
        (3, [(0, 4)] * 4, [16 / 3] * 4),
        (1, [(0, 0), (5, 1)], [0, 6]),  # nothing between them
    ],
)
def test_work_ends_as_cores_allow(cores, work, expected):
    assert ends(cores, work) == [pytest.approx(at) for at in expected]
