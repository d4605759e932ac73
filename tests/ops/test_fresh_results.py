"""Where NumPy gives a new array, forerun's is new, too: writing it is allowed, and changes nothing else."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
import pytest

from forerun import _core, np
from forerun.np import ndarray
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, arrays_of, to_forerun
from tests.support.many_cases import for_each

# They give views where memory allows.
VIEWS = {"np.reshape", "np.ravel", "np.require", "np.broadcast_arrays", "np.ascontiguousarray"}
COMPARED = [c for c in CASES if c.reference and not c.in_place and c.name not in VIEWS]


def is_new(result: Any, args: Any) -> bool:
    """Whether a result of NumPy's is an array (or a scalar) with memory of its own."""
    if not isinstance(result, numpy.ndarray):
        return True
    return result.flags.writeable and not any(numpy.shares_memory(result, a) for a in arrays_of(args))


@for_each("case", COMPARED, ids=lambda c: c.name)
def test_new_arrays_are_new(case: Case) -> None:
    for args in case.arguments(case.dtype_list()[-1]):
        with numpy.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = case(case.reference, args)
        given = to_forerun(args)
        for want, got in zip(wanted, case(case.op, given)):
            if isinstance(got, ndarray) and is_new(want, args):
                assert not any(np.shares_memory(got, a) for a in arrays_of(given))
                if not _core.is_scalar(got):
                    got[...] = 0  # raises where elements share memory


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
@pytest.mark.parametrize(("shape", "axis"), [((0, 4), 1), ((4, 0), 0), ((0, 4), 0), ((0,), None), ((0, 4), None)])
def test_choose_from_empty_arrays(name: str, shape: tuple[int, ...], axis: int | None) -> None:
    try:
        want = getattr(numpy, name)(numpy.zeros(shape), axis=axis)
    except ValueError:
        with pytest.raises(ValueError, match=f"{name}: reduced axes must not be empty, got shape"):
            getattr(np, name)(np.zeros(shape), axis=axis)
    else:
        assert getattr(np, name)(np.zeros(shape), axis=axis).shape == want.shape == (0,)
