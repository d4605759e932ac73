"""Programs that keep many scalars: in little memory, and each with its own value."""

from __future__ import annotations

import gc
import itertools
import os
from pathlib import Path

import numpy
import pytest
from numpy.testing import assert_array_equal

from forerun import _core, autograd, np
from forerun.testing import closed_gate
from tests.support.engine.resources import leaks, resource_counts

MANY = 1000
DTYPES = ["bool", "int8", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def scalars_of(x: np.ndarray) -> list[np.ndarray]:
    """Return the elements, each read by a call of its own."""
    return [x[i] for i in range(len(x))]


def resident_bytes() -> int:
    """Return how much memory the process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_scalars_share_storages() -> None:
    """A storage alone has 448 bytes."""
    before, x = resource_counts(), np.arange(200_000.0)
    _core.empty_cache()
    least = resident_bytes()
    kept = scalars_of(x)
    assert resident_bytes() - least < 400 * len(kept)
    assert resource_counts()["storages"] >= before["storages"] + len(kept), "each counts as one"
    del kept, x
    assert not leaks(before)


@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars_of_several_dtypes_keep_their_values(dtype: str, engine: str) -> None:
    values = numpy.random.default_rng(3).integers(0, 2 if dtype == "bool" else 100, MANY).astype(dtype)
    others = numpy.arange(MANY, dtype="int16")
    pairs = zip(scalars_of(np.array(values)), scalars_of(np.array(others)))
    kept = [(a, b, -b) for a, b in pairs]
    for i, (a, b, c) in enumerate(kept):
        assert (a.dtype, b.dtype, c.dtype) == (dtype, "int16", "int16")
        assert (a.item(), b.item(), c.item()) == (values[i].item(), i, -i)


def test_operations_read_scalars_while_others_are_made() -> None:
    x = numpy.random.default_rng(4).normal(size=(MANY, 8))
    y = np.array(x)
    scales = scalars_of(np.arange(float(MANY)))
    with closed_gate():
        late = [y[i] * s for i, s in enumerate(scales)]
        del scales
        scalars_of(np.ones(MANY))  # take the place of the scalars, if nothing keeps it
    assert_array_equal(np.stack(late).asnumpy(), x * numpy.arange(MANY)[:, None])


def test_scalars_become_arrays_with_memory_of_their_own() -> None:
    kept = scalars_of(np.arange(float(MANY)))
    for i in range(0, MANY, 7):
        a = np.expand_dims(kept[i], 0)
        b = np.array(kept[i])
        b[...] = -1
        a[...] = -2
    assert [s.item() for s in kept] == list(range(MANY))


def test_gradients_reach_scalars_that_were_kept() -> None:
    x = np.arange(1.0, MANY)
    x.attach_grad()
    with autograd.record():
        kept = scalars_of(x)
        total = sum((s * s for s in kept[1:]), kept[0] * kept[0])
    total.backward()
    assert_array_equal(x.grad.asnumpy(), 2 * numpy.arange(1.0, MANY))


def test_python_does_not_track_tuples_of_scalars() -> None:
    x = np.arange(4.0)
    table = {"first": x[0]}
    of_scalars, of_arrays = (x[0], x[1] + 1), (x[:2], x[0])
    gc.collect()
    assert not gc.is_tracked(of_scalars)
    assert not gc.is_tracked(table)
    assert gc.is_tracked(of_arrays)


def test_python_frees_a_cycle_through_a_scalar_that_was_recorded() -> None:
    x = np.arange(4.0)
    x.attach_grad()
    before = resource_counts()
    for _ in itertools.repeat(None, 100):
        with autograd.record():
            holder: list[object] = []
            y = (x * 2).sum()
            holder.append((y, holder))
        gc.collect(0)
        del holder, y
    assert not leaks(before)
    assert _core.in_use()["storages"] <= before["storages"]
