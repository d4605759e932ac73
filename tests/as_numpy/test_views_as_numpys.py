"""Views in programs that get forerun as NumPy: of arrays that libraries return, and which of them may be written."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes.as_numpy_program import check_with_both

PROGRAM = """\
import sys
numpy = sys.modules["numpy"]  # as libraries have it
def tried(view):
    try:
        view[0] = -7.0
    except ValueError:
        return "refused"
    return "written"
def of_library(make):
    found = []
    for n in (10, 6000, 200_000):
        given = numpy.arange(float(n))
        view = make(given)
        found.append((tried(view), int((given == -7).sum()), float(numpy.abs(given).sum())))
    return found
def of_program(make):
    given = np.arange(16.0).reshape(4, 4)
    view = make(given)
    return view.flags.writeable, tried(view), int((given == -7).sum())
"""
OF_LIBRARY = """\
np.asarray(d)
np.asarray(d, float)
np.asanyarray(d)
np.ascontiguousarray(d)
np.require(d)
np.array(d, copy=False)
np.array(d)
np.copy(d)
np.reshape(d, (-1, 1))
np.ravel(d)
np.atleast_1d(d)
np.atleast_2d(d)
np.transpose(d)
np.squeeze(d)
np.expand_dims(d, 0)
np.moveaxis(d, 0, 0)
np.swapaxes(d, 0, 0)
np.real(d)
np.imag(d)
np.flip(d)
np.split(d, 2)[0]
np.array_split(d, 3)[1]
np.rot90(d.reshape(2, -1))
np.fliplr(d.reshape(2, -1))
np.vsplit(d.reshape(2, -1), 2)[0]
np.diagonal(d.reshape(2, -1))
np.diag(d.reshape(2, -1))
np.broadcast_to(d, (1, d.size))
np.lib.stride_tricks.sliding_window_view(d, 2)
np.nan_to_num(d, copy=False)
"""
OF_PROGRAM = """\
np.diagonal(x)
np.diagonal(x, 1)
np.linalg.diagonal(x)
x.diagonal()
np.diag(x)
np.diag(x, -1)
np.imag(x)
x.imag
np.real(x)
x.T
np.lib.stride_tricks.sliding_window_view(x[0], 2)
np.broadcast_to(x[0], (3, 4))
np.trim_zeros(x[0])
np.fliplr(x)
"""


@pytest.mark.parametrize("view", OF_LIBRARY.splitlines())
def test_writes_to_a_view_reach_the_array_of_a_library(namespaces: list[dict[str, Any]], view: str) -> None:
    check_with_both(f"of_library(lambda d: {view})", namespaces, PROGRAM)


@pytest.mark.parametrize("view", OF_PROGRAM.splitlines())
def test_the_same_views_may_be_written(namespaces: list[dict[str, Any]], view: str) -> None:
    check_with_both(f"of_program(lambda x: {view})", namespaces, PROGRAM)
