"""Assignments to one element, in programs that get forerun as NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes.as_numpy_program import values_with_both

PROGRAM = """\
def stored(write, dtype):
    x = np.zeros((2, 2), dtype)
    try:
        write(x)
    except (TypeError, ValueError) as error:
        return type(error).__name__
    return x.tolist()
def by_index(x, index, value):
    x[index] = value
def in_place(x, value):
    x[0, 0] += value
"""
VALUES = [
    "np.ones(1)", "np.ones((1, 1))", "np.ones(1, int)", "np.ones(1, bool)", "np.ones(())", "np.ones(2)", "np.ones(0)"
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("value", VALUES)
def test_an_element_takes_what_numpys_takes(namespaces: list[dict[str, Any]], value: str, dtype: str) -> None:
    for write in (
        f"by_index(x, (0, 1), {value})",
        f"by_index(x, (np.int64(0), 1), {value})",
        f"by_index(x, (0, 1, ...), {value})",
        f"by_index(x[0], 1, {value})",
        f"by_index(x.flat, 1, {value if dtype != 'complex128' else 1})",  # an error of another class
    ):
        expected, found = values_with_both(f"stored(lambda x: {write}, '{dtype}')", namespaces, PROGRAM)
        assert found == expected, write


@pytest.mark.parametrize("value", VALUES)
def test_an_element_is_changed_by_what_numpys_is(namespaces: list[dict[str, Any]], value: str) -> None:
    expected, found = values_with_both(f"stored(lambda x: in_place(x, {value}), float)", namespaces, PROGRAM)
    assert found == expected
