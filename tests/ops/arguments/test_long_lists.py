"""Long lists in place of arrays: Python looks at their types, not at one element after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from forerun import cpu, np
from forerun.ops._base.convert import asarrays, device_of

N = 5000
LONG = [i % 7 for i in range(N)]
NESTED = [LONG[:2]] * (N // 2)

CALLS: dict[str, Callable[[Any], Any]] = {
    "index": lambda x: x[LONG],
    "nested index": lambda x: x[NESTED],
    "two indices": lambda x: np.reshape(x[:9], (3, 3))[[i % 3 for i in LONG], [0] * N],
    "take": lambda x: np.take(x, LONG),
    "setitem": lambda x: x.__setitem__(LONG, 1.0),
    "values": lambda x: x.__setitem__(slice(0, N), LONG),
    "mean": lambda x: np.mean(LONG),
    "diff": lambda x: np.diff(LONG),
    "where": lambda x: np.where(LONG, 1, 0),
    "interp": lambda x: np.interp(LONG, [0, 7], [0, 1]),
    "isin": lambda x: np.isin(x[:3], LONG),
}


def calls_of_python(function: Callable[[], Any]) -> int:
    """Return how many functions of Python are called, and generators resumed."""
    function()
    events: list[str] = []
    sys.setprofile(lambda frame, event, arg: events.append(event) if event == "call" else None)
    try:
        function()
    finally:
        sys.setprofile(None)
    return len(events)


@pytest.mark.parametrize("name", CALLS)
def test_no_python_for_each_element(name: str) -> None:
    x = np.zeros(N)
    assert calls_of_python(lambda: CALLS[name](x)) < N // 10


def test_arrays_in_lists_of_any_length_are_found() -> None:
    x = np.array([1.5, 2.5]).to_device(cpu(1))
    for given in ([x], [1, 2, x[0]], [*LONG, x[0]], [[LONG[:2]] * N, [x]], [[x, x]] * 30, (LONG, [x])):
        assert device_of(given) == cpu(1)
    for given in ([], LONG, NESTED, [[], [1]], "text", ["text", None], 3):
        assert device_of(given) is None
    assert [v.device for v in asarrays([1, 2], x, [3.0, x[0]])] == [cpu(1)] * 3
    assert np.array([*[x[0]] * 20, x[1]]).tolist() == [1.5] * 20 + [2.5]
    assert x[[*[np.array(1)] * 20, 0]].tolist() == [2.5] * 20 + [1.5]
