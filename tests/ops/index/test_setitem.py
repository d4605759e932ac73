"""Writes of some elements: each way is one operation on these elements alone, and writes the same as NumPy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest
from numpy.testing import assert_array_equal

from forerun import _core, np
from forerun.testing import closed_gate
from tests.ops.cases.table import to_forerun
from tests.support.engine.settings import running
from tests.support.engine.threads import run_in_threads
from tests.support.many_cases import for_each

Write = Callable[..., None]

# Each is called with a namespace, an array, a mask of it, and the positions under the mask; it adds one to the
# elements there, or puts a number there. The result must be right while others are written.
ADDS: dict[str, Write] = {
    "b[mask] += 1": lambda xp, b, m, i: b.__setitem__(m, b[m] + 1),
    "b[positions] += 1": lambda xp, b, m, i: b.__setitem__(i, b[i] + 1),
    "add(where=)": lambda xp, b, m, i: xp.add(b, 1, out=b, where=m),
    "where= and other dtypes": lambda xp, b, m, i: xp.add(b, 1.0, out=b, where=m, casting="unsafe"),
    "add.at(positions)": lambda xp, b, m, i: xp.add.at(b, i, 1),
    "add.at(mask)": lambda xp, b, m, i: xp.add.at(b, m, 1),
    "subtract.at": lambda xp, b, m, i: xp.subtract.at(b, i, -1),
    "add.at in other dtypes": lambda xp, b, m, i: xp.subtract.at(b, i, numpy.int8(-1)),
    "add.at(where in a row)": lambda xp, b, m, i: xp.add.at(b.reshape(1, -1), (0, m), 1),
}
PUTS: dict[str, Write] = {
    "b[mask] = number": lambda xp, b, m, i, n: b.__setitem__(m, n),
    "b[mask] = values": lambda xp, b, m, i, n: b.__setitem__(m, xp.full(i.shape, n)),
    "b[positions] = number": lambda xp, b, m, i, n: b.__setitem__(i, n),
    "copyto(where=)": lambda xp, b, m, i, n: xp.copyto(b, n, where=m),
    "putmask": lambda xp, b, m, i, n: xp.putmask(b, m, n),
    "putmask of values": lambda xp, b, m, i, n: xp.putmask(b, m, xp.full(7, n)),
    "place": lambda xp, b, m, i, n: xp.place(b, m, n),
    "place of values": lambda xp, b, m, i, n: xp.place(b, m, xp.full(3, n)),
    "put": lambda xp, b, m, i, n: xp.put(b, i, n),
    "put_along_axis": lambda xp, b, m, i, n: xp.put_along_axis(b, i, xp.full(i.shape, n), 0),
    "flat[positions]": lambda xp, b, m, i, n: b.flat.__setitem__(i, n),
    "multiply(where=)": lambda xp, b, m, i, n: xp.multiply(n, 1, out=b, where=m),
}
N, ROUNDS = 64, 250


def halves(i: int) -> tuple[Any, Any]:
    """Of two masks that have no element in common, one, and the positions under it."""
    mask = numpy.arange(N) % 2 == i
    return np.array(mask), np.array(numpy.flatnonzero(mask))


@pytest.mark.parametrize("layout", ["dense", "strided"])
@pytest.mark.parametrize("name", ADDS)
def test_threads_add_to_different_elements_without_lost_updates(name: str, layout: str, many_switches: None) -> None:
    b = np.zeros(N, "int64") if layout == "dense" else np.zeros((N, 3), "int64").T[1]
    rounds = 1000 if name == "add(where=)" else ROUNDS

    def work(i: int) -> None:
        m, at = halves(i)
        for _ in range(rounds):
            ADDS[name](np, b, m, at)

    run_in_threads(2, work)
    assert b.tolist() == [rounds] * N


@pytest.mark.parametrize("layout", ["dense", "strided"])
@pytest.mark.parametrize("name", PUTS)
def test_threads_write_different_elements_without_lost_updates(name: str, layout: str, many_switches: None) -> None:
    b = np.zeros(N) if layout == "dense" else np.zeros((N, 3)).T[1]

    def work(i: int) -> list[bool]:
        m, at = halves(i)
        own = slice(i, None, 2)
        kept = []
        for k in range(1, ROUNDS):
            PUTS[name](np, b, m, at, float(k))
            kept.append((b[own] == float(k)).all())
        return [bool(x) for x in kept]

    assert all(map(all, run_in_threads(2, work)))


# --- writes as in NumPy -------------------------------------------------------------------------------------

LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "dense": lambda x: x,
    "turned": lambda x: x.T,
    "every other": lambda x: x[:, ::2],
    "backwards": lambda x: x[::-1, ::-1],
    "a row": lambda x: x[1],
    "a column": lambda x: x[:, 1],
    "empty": lambda x: x[:0],
}
DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]


def mask_of(shape: tuple[int, ...], share: float) -> numpy.ndarray:
    return numpy.random.default_rng(3).random(shape) < share


def values_of(n: int, dtype: str) -> numpy.ndarray:
    return (numpy.arange(n) * 3 % 7 + 1).astype(dtype)


def rows_of_mask(mask: Any) -> Any:
    return mask.any(axis=0) if mask.ndim > 1 else mask


def set_blocks(b: Any, mask: Any, values: Any) -> None:
    n = int(mask.sum()) * b.shape[-1]
    b[mask] = values(n).reshape(-1, *b.shape[1:]) if b.ndim > 1 else values(1).reshape(())


# Called with a namespace, an array, a mask, and a function that makes values for a number of elements.
WAYS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "mask, number": lambda xp, b, m, v: b.__setitem__(m, 2),
    "mask, element": lambda xp, b, m, v: b.__setitem__(m, v(1)),
    "mask, values": lambda xp, b, m, v: b.__setitem__(m, v(int(m.sum()))),
    "leading mask, rows": lambda xp, b, m, v: b.__setitem__(m.any(axis=-1), v(b.shape[-1])),
    "leading mask, blocks": lambda xp, b, m, v: set_blocks(b, m.any(axis=-1), v),
    "mask of the last axis": lambda xp, b, m, v: b.__setitem__((..., rows_of_mask(m)), v(int(rows_of_mask(m).sum()))),
    "copyto": lambda xp, b, m, v: xp.copyto(b, v(1), where=m),
    "copyto, broadcast": lambda xp, b, m, v: xp.copyto(b, v(b.shape[-1]), where=rows_of_mask(m)),
    "putmask": lambda xp, b, m, v: xp.putmask(b, m, v(5)),
    "putmask of all": lambda xp, b, m, v: xp.putmask(b, m, v(b.size)),
    "putmask of one": lambda xp, b, m, v: xp.putmask(b, m, v(1)),
    "putmask of none": lambda xp, b, m, v: xp.putmask(b, m, v(0)),
    "place": lambda xp, b, m, v: xp.place(b, m, v(5)),
    "place of one": lambda xp, b, m, v: xp.place(b, m, v(1)),
    "place of many": lambda xp, b, m, v: xp.place(b, m, v(100)),
    "put": lambda xp, b, m, v: xp.put(b, numpy.arange(-1, b.size, 3)[1:], v(2)),
    "put, once more": lambda xp, b, m, v: xp.put(b, numpy.array([0, 1, 0, -1] if b.size else [], int), v(4)),
    "flat": lambda xp, b, m, v: b.flat.__setitem__(slice(None, None, 2), v(3)),
    "flat, all": lambda xp, b, m, v: b.flat.__setitem__(slice(None), v(b.size)),
    "flat, one": lambda xp, b, m, v: b.size and b.flat.__setitem__(-1, 5),
    "flat, positions": lambda xp, b, m, v: b.flat.__setitem__([0, 1, 0] if b.size else [], v(2)),
    "fill_diagonal": lambda xp, b, m, v: b.ndim > 1 and xp.fill_diagonal(b, v(2)),
    "fill_diagonal, wrapped": lambda xp, b, m, v: b.ndim > 1 and xp.fill_diagonal(b, v(1), wrap=True),
    "add.at, twice": lambda xp, b, m, v: xp.add.at(b, numpy.array([0, 0] if len(b) else [], int), v(1)),
    "add.at, mask": lambda xp, b, m, v: xp.add.at(b, m, v(1)),
    "add.at, mask, values": lambda xp, b, m, v: xp.add.at(b, m, v(int(m.sum()))),
    "add.at, slice": lambda xp, b, m, v: xp.add.at(b, slice(None, None, 2), v(1)),
    "maximum.at": lambda xp, b, m, v: xp.maximum.at(b, numpy.array([0, 0, -1] if len(b) else [], int), v(1)),
    "multiply.at": lambda xp, b, m, v: xp.multiply.at(b, numpy.array([0, 0, -1] if len(b) else [], int), v(1)),
    "negative.at": lambda xp, b, m, v: (
        b.dtype.kind != "b" and xp.negative.at(b, numpy.array([0, 0, -1] if len(b) else [], int))
    ),
    "negative.at, mask": lambda xp, b, m, v: b.dtype.kind != "b" and xp.negative.at(b, m),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@for_each("way", WAYS)
def test_ways_to_write(way: str, layout: str) -> None:
    for dtype in DTYPES:
        for share in (0.5, 1.0, 0.0):
            whole = values_of(6 * 8, dtype).reshape(6, 8)
            array = np.array(whole)
            numpy_view, view = LAYOUTS[layout](whole), LAYOUTS[layout](array)
            mask = mask_of(numpy_view.shape, share)
            with numpy.errstate(all="ignore"):
                WAYS[way](numpy, numpy_view, mask, partial(values_of, dtype=dtype))
            WAYS[way](np, view, np.array(mask), lambda n, d=dtype: np.array(values_of(n, d)))
            assert_array_equal(array.numpy(), whole, err_msg=f"{dtype}, {share}", strict=True)


# Ufuncs under a mask: nothing else may be written, or raise, or leave its mark.
UFUNCS: list[tuple[str, Any]] = [
    ("add", ()),
    ("sqrt", ()),
    ("exp", ()),
    ("floor_divide", ()),
    ("power", ()),
    ("arctan2", ()),
    ("less", ()),
    ("divmod", ()),
    ("modf", ()),
    ("frexp", ()),
    ("ldexp", (2,)),
    ("isnan", ()),
    ("logical_and", ()),
    ("conjugate", ()),
]


@pytest.mark.parametrize(("name", "second"), UFUNCS)
@pytest.mark.parametrize("share", [0.5, 0.02, 0.98, 1.0, 0.0])
def test_ufuncs_under_a_mask(name: str, second: Any, share: float) -> None:
    f = getattr(numpy, name)
    for dtype in ("int32", "float32", "float64"):
        if dtype == "int32" and not any(t.startswith("i") for t in f.types):  # forerun would compute in float32
            continue
        x = numpy.random.default_rng(1).integers(0, 9, (7, 401)).astype(dtype)
        operands = (x, *(second or (x[:, ::-1],)))[: f.nin]
        mask = mask_of(x.shape, share)
        with numpy.errstate(all="ignore"):
            plain = f(*operands)
        plain = plain if isinstance(plain, tuple) else (plain,)
        for wide in (False, True):
            for turned in (False, True):
                dtypes = ["float64" if wide else p.dtype for p in plain]
                want = [numpy.full(x.shape[::-1] if turned else x.shape, 3, d) for d in dtypes]
                want = [w.T for w in want] if turned else want
                results = [np.array(w.T).T if turned else np.array(w) for w in want]
                with numpy.errstate(all="ignore"):
                    f(*operands, out=tuple(want), where=mask)
                f(*map(to_forerun, operands), out=tuple(results), where=np.array(mask))
                for m, w in zip(results, want):
                    assert_array_equal(m.numpy(), w, strict=True)


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_values_of_another_dtype_are_cast(share: float) -> None:
    mask = mask_of((6, 8), share)
    for dtype in DTYPES:
        for other in ("bool", "int8", "int64", "float32", "complex128"):
            if numpy.dtype(other).kind == "c" and numpy.dtype(dtype).kind != "c":
                continue  # which warns
            for values in (values_of(48, other).reshape(6, 8), values_of(8, other), values_of(1, other)):
                whole = values_of(48, dtype).reshape(6, 8)
                array = np.array(whole)
                numpy.copyto(whole, values, where=mask, casting="unsafe")
                np.copyto(array, np.array(values), where=np.array(mask), casting="unsafe")
                assert_array_equal(array.numpy(), whole, err_msg=f"{other} to {dtype}", strict=True)
                one, n = values[..., -1:].ravel()[:1], int(mask.sum())
                whole[mask], array[np.array(mask)] = one, np.array(one)
                assert_array_equal(array.numpy(), whole, err_msg=f"{other} to {dtype}", strict=True)
                whole[mask], array[np.array(mask)] = values_of(n, other), np.array(values_of(n, other))
                numpy.add.at(whole, mask, numpy.ones((), dtype))
                np.add.at(array, np.array(mask), numpy.ones((), dtype))
                assert_array_equal(array.numpy(), whole, err_msg=f"{other} to {dtype}", strict=True)


def test_memory_that_is_read_and_written() -> None:
    x = numpy.arange(12.0)
    for write in (
        lambda b, xp: xp.add(b[1:], 1, out=b[:-1], where=b[1:] % 2 == 0),
        lambda b, xp: b[:-1].__setitem__(b[:-1] > 3, b[1:][b[:-1] > 3]),
        lambda b, xp: xp.putmask(b[2:], b[2:] > 1, b[:5]),
        lambda b, xp: xp.place(b[::-1], b > 4, b[:4]),
        lambda b, xp: xp.copyto(b, b[::-1], where=b > 2),
        lambda b, xp: xp.put(b, [0, 5, 2], b[3:6]),
    ):
        want, b = x.copy(), np.array(x)
        write(want, numpy)  # type: ignore[no-untyped-call]
        write(b, np)  # type: ignore[no-untyped-call]
        assert b.tolist() == want.tolist()
    m = np.array([True, False, True])
    m[m] = False
    assert m.tolist() == [False] * 3
    turn = np.array([[True, False], [True, True]])
    turn[turn.T] = False
    assert turn.tolist() == [[False, False], [True, False]]


# --- errors that only values tell ---------------------------------------------------------------------------

WRONG: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "b[positions] = v": (
        IndexError,
        r"put: index must be in \[-6, 6\), got 9",
        lambda b: b.__setitem__(np.array([0, 9]), 1),
    ),
    "put": (IndexError, r"put: index must be in \[-6, 6\), got 9", lambda b: np.put(b, np.array([0, 9]), 1)),
    "add.at": (
        IndexError,
        r"add.at: index must be in \[-6, 6\), got 9",
        lambda b: np.add.at(b, np.array([0, 9]), 1),
    ),
    "put_along_axis": (
        IndexError,
        "index must be in",
        lambda b: np.put_along_axis(b, np.array([0, 9]), 1, 0),
    ),
    "flat": (
        IndexError,
        r"flat: index must be in \[-6, 6\), got 9",
        lambda b: b.flat.__setitem__(np.array([0, 9]), 1),
    ),
    "b[mask] = values": (
        ValueError,
        "a value for each of 6 elements under the mask, got 2",
        lambda b: b.__setitem__(b == b, np.zeros(2)),
    ),
    "place": (
        ValueError,
        "at least one value, got none for 6 elements",
        lambda b: np.place(b, b == b, np.zeros(0, int)),
    ),
    "power(where=)": (ValueError, "negative integer powers", lambda b: np.power(b, -1, out=b, where=b == b)),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_values_poison_the_target(name: str, ahead: str) -> None:
    error, message, write = WRONG[name]
    b, other = np.arange(6), np.arange(6) + 1
    write(b)
    for _ in range(2):
        with pytest.raises(error, match=message):
            b.tolist()
    assert other.tolist() == [1, 2, 3, 4, 5, 6]
    b[...] = 7  # all of it is written: it is whole again
    assert b.tolist() == [7] * 6


@pytest.mark.parametrize("name", WRONG)
def test_the_same_in_synchronous_mode_at_the_call(name: str) -> None:
    error, message, write = WRONG[name]
    with running("sync"):
        b = np.arange(6)
        with pytest.raises(error, match=message):
            write(b)
    _core.unseen_failures()


def test_a_mask_is_not_waited_for() -> None:
    b, m = np.zeros(4), np.array([True, False, True, False])
    with closed_gate():
        late = m & m
        b[late] = 1
        np.add.at(b, late, 2)
        np.add.at(b, late, np.array([1.0, 5.0]))
        np.multiply(b, 3, out=b, where=late)
        np.place(b, late, [7, 8])
    assert b.tolist() == [7, 0, 8, 0]


def test_writes_on_the_tape_raise() -> None:
    from forerun import autograd

    x, m = np.ones(3), np.array([True, False, True])
    x.attach_grad()
    with autograd.record():
        y = x * 2
        for write in (
            lambda: y.__setitem__(m, 1),
            lambda: np.add(y, 1, out=y, where=m),
            lambda: np.copyto(y, 1, where=m),
            lambda: np.putmask(y, m, [1.0, 2.0]),
            lambda: np.place(y, m, 1.0),
            lambda: np.put(y, [0], 1.0),
            lambda: np.add.at(y, [0], 1),
            lambda: np.fill_diagonal(y.reshape(1, 3), 1),
            lambda: y.flat.__setitem__(0, 1),
            lambda: np.put_along_axis(y, np.array([0]), 1.0, 0),
        ):
            with pytest.raises(RuntimeError, match="must not be written in place while recording"):
                write()
        y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
