"""Python takes scalars for numbers: operators, hashes, rounding, formats, copies."""

from __future__ import annotations

import collections
import copy
import json
import math
import operator
import pickle
import struct

import numpy
import pandas
import pytest
from numpy.testing import assert_array_equal

from forerun import _core, np, npx, profiler, torch
from forerun.ops._base.primitive import plain_calls
from forerun.testing import closed_gate

OPERATORS = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
OPERATORS += ["iand", "ior", "ixor", "ilshift", "irshift"]


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_in_place_make_a_new_one(name: str, engine: str) -> None:
    operate = getattr(operator, name)
    for s, t in (np.array([7, 2])[0], numpy.array([7, 2])[0]), (np.array([3, 4]).sum(), numpy.array([3, 4]).sum()):
        before, wanted = s, operate(t, 2)
        s = operate(s, 2)
        assert s is not before
        assert _core.is_scalar(s)
        assert (s.item(), before.item()) == (wanted.item(), 7)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "int64", "float16", "float32", "float64", "complex64"])
def test_hash_and_equality_go_by_value(dtype: str, engine: str) -> None:
    values = numpy.array([0, 1, 2, 2, 1], dtype)
    x = np.array(values)
    for element, expected in zip(x, values):
        assert hash(element) == hash(expected) == hash(expected.item())
        assert element == expected.item()
    assert {e.item() for e in set(x)} == set(values.tolist())
    assert collections.Counter(x)[values[1].item()] == collections.Counter(values.tolist())[values[1].item()]
    assert {x[1]: "one"}[1] == "one"
    assert {1: "one"}[x[1]] == "one"
    assert 1 in {x[1]: "one"}
    assert x[0] not in {x[1]: "one"}


def test_hash_waits_and_is_counted() -> None:
    x = np.arange(4)
    with profiler.record() as p:
        hash((x + 1).sum())
    assert sum(line.waits + line.reads for line in p.trace.lines) == 1


def test_arrays_have_no_hash() -> None:
    for a in np.zeros(2), np.zeros((2, 2)), np.zeros(()), np.zeros(2)[...]:
        with pytest.raises(TypeError, match="unhashable type: 'ndarray'"):
            hash(a)
    assert not isinstance(np.zeros(()), collections.abc.Hashable)


def test_pandas_isin_finds_scalars() -> None:
    x = np.array([3, 1])
    assert pandas.Series([1, 2, 3]).isin([x[0], x[1]]).tolist() == [True, False, True]


def test_python_functions_accept_scalars_as_numbers(engine: str) -> None:
    n, f = np.array([3, 1, 2]), np.array([2.5, -1.25], dtype="float64")
    assert [0] * n[0] == n[0] * [0] == [0, 0, 0]
    assert (1,) * n[2] == (1, 1)
    assert "ab" * n[0] == "ababab"
    assert list(range(n[0])) == [0, 1, 2]
    assert [10, 20, 30][n[1]] == 20
    assert bytes(n[0]) == b"\0\0\0"
    assert (f[0] * [1, 2]).tolist() == [2.5, 5.0]
    with pytest.raises(TypeError):
        operator.index(f[0])
    for s, t in (f[0], 2.5), (f[1], -1.25), (n[0], 3):
        whole = round(s)
        assert (whole, type(whole)) == (round(t), int)
        assert math.floor(s) == math.floor(t)
        assert math.ceil(s) == math.ceil(t)
        assert math.trunc(s) == math.trunc(t)
        assert math.isclose(math.exp(s), math.exp(t))
        assert f"{s:8.3f}|{s:e}" == f"{t:8.3f}|{t:e}"
        assert (s.is_integer(), s.as_integer_ratio()) == (float(t).is_integer(), t.as_integer_ratio())
    rounded = round(f[1], 1)
    assert _core.is_scalar(rounded)
    assert rounded == -1.2
    assert math.gcd(n[0], 6) == 3
    assert f"{n[0]:05d}" == "00003"
    assert struct.pack("<ifd", n[0], f[0], f[1]) == struct.pack("<ifd", 3, 2.5, -1.25)
    assert json.dumps({"loss": f[0], "all": n}, default=np.ndarray.tolist) == '{"loss": 2.5, "all": [3, 1, 2]}'
    assert np.isscalar(f[0])
    assert not np.isscalar(np.array(2.5))


def test_copies_are_scalars() -> None:
    for again in copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s)):
        made, array = again(np.array([1.5, 2.5])[1]), again(np.array(2.5))
        assert (made.item(), made.dtype, hash(made)) == (2.5, np.float32, hash(2.5))
        assert not _core.is_scalar(array)


def test_the_other_spellings() -> None:
    x = torch.tensor([1.0, 2.0])
    loss, kept = x.sum(), x[0]
    x[0] = 9.0
    assert (loss.item(), kept.item(), isinstance(kept, torch.Tensor)) == (3, 1, True)
    npx.set_np()
    try:
        y = np.array([1, 2])
        kept = y[0]
        y[:] = 0
        assert kept.asscalar() == 1.0
    finally:
        npx.reset_np()


SHOWN = [
    (numpy.float64, 1e16),
    (numpy.float64, -0.0),
    (numpy.float64, float("nan")),
    (numpy.int64, -7),
    (numpy.bool_, True),
    (numpy.float32, 0.1),
    (numpy.int8, 3),
    (numpy.complex64, 1j),
]


@pytest.mark.parametrize(("kind", "value"), SHOWN)
def test_text_and_hash_are_numpys(kind: type, value: complex, engine: str) -> None:
    scalar, expected = np.array([value], kind)[0], kind(value)
    assert (str(scalar), f"{scalar}", f"{scalar!s:>8}", hash(np.array([3], kind)[0])) == (
        str(expected),
        f"{expected}",
        f"{expected!s:>8}",
        3 if kind is not numpy.bool_ else 1,
    )
    if kind in (numpy.float64, numpy.int64):
        assert f"{scalar:8.3f} {scalar:+}" == f"{expected:8.3f} {expected:+}"
        assert plain_calls("text")(scalar) == str(expected)
        assert plain_calls("hash")(scalar) == hash(value) or value != value
    with pytest.raises(ValueError, match="Unknown format code"):
        f"{np.array([2.0], 'float64')[0]:s}"


@pytest.mark.parametrize("kind", [numpy.float64, numpy.float32, numpy.int64, numpy.int32, numpy.bool_, numpy.int8])
def test_a_buffer_is_the_value(kind: type) -> None:
    m = memoryview(np.array([3], kind)[0])
    expected = memoryview(kind(3))
    assert (m.format, m.shape, m.strides, m.itemsize, m.nbytes) == (
        expected.format,
        (),
        (),
        expected.itemsize,
        m.itemsize,
    )
    assert (m.readonly, m[()], numpy.asarray(m)[()]) == (True, kind(3), kind(3))
    with pytest.raises(TypeError, match="read-only"):
        m[()] = 1
    scalars = [np.arange(5).astype(kind)[i] for i in range(5)]
    assert_array_equal(numpy.asarray(scalars), numpy.arange(5).astype(kind), strict=True)


def test_a_buffer_keeps_its_value_when_the_scalar_becomes_a_parameter() -> None:
    s = np.array([2.0], "float64")[0]
    m = memoryview(s)
    s.attach_grad()
    s[...] = 5
    assert (s.item(), m[()]) == (5, 2)
    del s
    assert m[()] == 2


def test_a_buffer_waits_and_raises_the_error_of_the_computation() -> None:
    with closed_gate():
        s = (np.ones(3) * 3).sum()
    assert memoryview(s)[()] == 9
    broken = np.linalg.cholesky(-np.eye(2))[0, 0]
    with pytest.raises(numpy.linalg.LinAlgError):
        numpy.array([broken])
    with pytest.raises(numpy.linalg.LinAlgError):
        memoryview(broken)
