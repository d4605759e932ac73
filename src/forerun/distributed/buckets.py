"""Sums of many arrays over ranks: some arrays at a time, so that early sums run while later arrays are computed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from .. import np
from ._peers import size
from .collectives import allreduce_into, allreduced
from .groups import Group

if TYPE_CHECKING:
    from ..typing import Array

__all__ = ["buckets_of", "sum_over_ranks"]

# A bucket is summed as soon as it has so many bytes. The first one is small, so that sums begin early; later ones are
# as small as keeps the cost of a call low, because the last sum begins when the backward pass has ended.
FIRST_BYTES = 256 << 10
MOST_BYTES = 1 << 20


def buckets_of(arrays: Sequence[Array]) -> list[list[int]]:
    """Return numbers of arrays that are summed together, in the order in which their last arrays come.

    The arrays of a bucket have one dtype and one device. An array that fills a bucket is summed alone, without a copy.
    The buckets follow from dtypes, devices and sizes alone: they are the same on all ranks.

    >>> from forerun import np
    >>> buckets_of([np.zeros(10), np.zeros(5, "int32"), np.zeros(1 << 16), np.zeros(3)])
    [[2], [1], [0, 3]]
    """
    full: list[list[int]] = []
    open_: dict[Any, tuple[list[int], int]] = {}
    for i, x in enumerate(arrays):
        enough = MOST_BYTES if full else FIRST_BYTES
        if x.nbytes >= enough:
            full.append([i])
            continue
        key = x.dtype, x.device
        members, held = open_.pop(key, ([], 0))
        members.append(i)
        held += x.nbytes
        if held >= enough:
            full.append(members)
        else:
            open_[key] = members, held
    return full + [members for members, _ in open_.values()]


def _numbers(of: Sequence[int]) -> str:
    """Return numbers as text: "0-3,5".

    >>> _numbers([5, 3, 2, 1, 0])
    '0-3,5'
    """
    found: list[list[int]] = []
    for i in sorted(of):
        if found and found[-1][-1] == i - 1:
            found[-1][1:] = [i]
        else:
            found.append([i])
    return ",".join("-".join(map(str, each)) for each in found)


def sum_over_ranks(
    arrays: Sequence[Array], numbers: Sequence[int], buckets: Sequence[Sequence[int]], op: str = "sum",
    group: Group | None = None, into: bool = False,
) -> list[Array]:  # fmt: skip
    """Return the sums over ranks of some arrays, as new arrays; or put them into the arrays.

    numbers: of each array, in `buckets`; ranks that mean others are an error. into: the arrays themselves are changed,
    and returned.
    """
    place = {number: k for k, number in enumerate(numbers)}
    found = list(arrays)
    if (size() if group is None else group.size) == 1:
        return found
    for bucket in buckets:
        some = [i for i in bucket if i in place]
        if not some:
            continue
        parts = [arrays[place[i]] for i in some]
        label = f"gradients {_numbers(some)}"
        if len(some) == 1:
            if into:
                allreduce_into(parts[0], op, group, label)
            else:
                found[place[some[0]]] = allreduced(parts[0], op, group, label)
            continue
        flat = np.concatenate([x.reshape(-1) for x in parts])
        allreduce_into(flat, op, group, label)
        bounds = accumulate((x.size for x in parts), initial=0)
        for i, x, (start, end) in zip(some, parts, pairwise(bounds)):
            if into:
                x[...] = flat[start:end].reshape(x.shape)
            else:
                found[place[i]] = flat[start:end].reshape(x.shape)
    return found
