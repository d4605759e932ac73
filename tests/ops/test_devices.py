"""Every operation of the table with one of its arrays on the second device and the others plain: they come to it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, mapped
from tests.support.engine.settings import configured
from tests.support.many_cases import for_each

MADE_ANEW = {"np.full"}  # on the requested device: the fill value may come from any device
UNSET = {"np.empty", "np.empty_like"}
TABLE = [case for case in CASES if case.name not in MADE_ANEW | UNSET]


@pytest.fixture(scope="module", autouse=True)
def two_devices() -> Iterator[None]:
    with configured(cpu_devices=2):
        yield
        forerun.waitall()


def placed(args: Any, chosen: int, device: int) -> Any:
    """Return the arguments with the chosen one of their arrays as forerun's."""
    numbers = iter(range(1_000))
    where = forerun.cpu(device)
    return mapped(lambda x: np.array(x, x.dtype, device=where) if next(numbers) == chosen else x, args)


def found(case: Case, args: Any) -> list[Any]:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return case(case.op, args)


@for_each("case", TABLE, ids=lambda case: case.name)
def test_plain_values_come_to_an_array(case):
    """Results are there too, and the same as on the first device."""
    dtype = case.dtype_list()[0]
    for sample in case.arguments(dtype):
        arrays: list[numpy.ndarray] = []
        mapped(arrays.append, sample)
        for i in range(len(arrays)):
            wants = found(case, placed(sample, i, 0))
            for got, want in zip(found(case, placed(sample, i, 1)), wants, strict=True):
                if isinstance(want, _core.Array):
                    assert got.device == forerun.cpu(1)
                    if not case.random:
                        numpy.testing.assert_array_equal(got.numpy(), want.numpy(), strict=True)
