"""Lists of scalars of several dtypes and Python's numbers, in programs that get forerun as NumPy."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.processes.as_numpy_program import values_with_both

PROGRAM = """\
import random, warnings
DTYPES = ['bool', 'int8', 'uint8', 'int16', 'int64', 'uint64', 'float16', 'float32', 'float64']
DTYPES += ['complex64', 'complex128']
VALUES = [0, 1, 3, 100, 2**53 + 1, 2**62 + 3, 1.5, -0.0, 1e300, float('inf'), 0.1, True, 2j]
def leaf(r, dtypes):
    if r.random() < 0.4:
        return r.choice(VALUES)
    number = r.choice([0, 1, 2, 100, 0.1, 2**53 + 1]) if r.random() < 0.8 else 1e30
    with np.errstate(all='ignore'):
        return np.array([number, 0]).astype(r.choice(dtypes))[0]
def listed(seed):
    r = random.Random(seed)
    dtypes = r.sample(DTYPES, r.choice([1, 2, 3]))
    shape = r.choice([(2,), (5,), (2, 2), (1, 3), (2, 1, 2)])
    def nested(shape):
        return [nested(shape[1:]) for _ in range(shape[0])] if shape else leaf(r, dtypes)
    return nested(shape), r.choice([None, None, None, *DTYPES, float, int])
def made(seed):
    values, dtype = listed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        try:
            x = np.array(values, dtype)
        except Exception as error:
            return type(error).__name__
    return x.dtype, x.shape, repr(x.tolist())
def products(seed):
    r = random.Random(seed)
    v = np.array([r.random() for _ in range(3)]).astype(r.choice(['float32', 'float64', 'int64']))
    w = [leaf(r, ['int64', 'float64']) for _ in range(3)]
    return [repr(x.tolist()) + str(x.dtype) for x in (v @ [1, 2.5, v[0]], [v[1], 2, 0.5] @ v, [[1, 0, v[0]]] @ v)]
"""


@pytest.mark.parametrize("first", range(0, 2000, 250))
def test_arrays_of_mixed_lists_are_numpys(namespaces: list[dict[str, Any]], first: int) -> None:
    expected, found = values_with_both(f"[made(s) for s in range({first}, {first + 250})]", namespaces, PROGRAM)
    if found != expected:
        for seed in range(first, first + 250):
            wanted, got = values_with_both(f"made({seed})", namespaces)
            assert got == wanted, (seed, namespaces[0]["listed"](seed))


def test_products_with_lists_are_numpys(namespaces: list[dict[str, Any]]) -> None:
    expected, found = values_with_both("[products(s) for s in range(50)]", namespaces, PROGRAM)
    assert found == expected


def test_lengths_of_an_array_may_be_scalars(namespaces: list[dict[str, Any]]) -> None:
    program = "k = np.arange(4)\nm = np.array([3, 2], 'uint8')\n"
    for expression in ("np.zeros([k[2], 2])", "np.ones((m[0], m[1]), int)", "np.full(k[3], 2.5)", "np.zeros(k[0])"):
        expected, found = values_with_both(expression, namespaces, program)
        assert found == expected
