"""Plain calls that write into arrays, in the call or as operations, leave the bits that NumPy leaves."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, np
from forerun.testing import closed_gate
from tests.support.comparison.call_tables import WRITES

N = 40
DTYPES = ("float64", "float32", "int64", "int32", "uint8", "complex128")
STATEMENTS = (
    "v[p] = x", "v[p] = 2", "v[q] = x", "v[p] = x[0]", "v[p] = x[:1]", "v[m] = 0", "v[m] = x[m]", "v[m] = x[:1]",
    "A[k] = A[:, :1]", "A[k, k] = 3", "A[k, k] = A[0]", "A[k] = x[:5]", "v[p] = x[:3]", "v[q + 99] = x",
    "v[:2] = x[0], x[1]", "v[:3] = [x[0], 1, x[1]]", "A[:2, 0] = x[0], x[1]", "A[1] = x[0], x[1], x[2], x[3], x[4]",
    "v[:2] = [[x[0], x[1]]]", "v[:2] = x[0], x[1], x[2]", "v[:2] = x[0] + 1, x[1] * 2",
    "v[:2] = x.sum(), 1", "v[:0][m[:0]] = 1", "v[:0][m[:0]] = x[:0]", "v[:0][m[:0]] = x[:1]", "v[:0][m[:0]] = x[:2]",
    "v[[]] = 1", "v[[]] = x[:0]", "v[[]] = x[:1]", "A[[]] = x[:5]", "A[:, [], 0] = 1",
    "v[1:] = v[:-1] + x[1:]", "v[1:] += v[:-1]", "v[:-1] -= v[1:]", "v += v[::-1]", "v[::2] *= v[1::2]",
    "v[::2] -= v[:20]", "A[:, 1:] += A[:, :-1]", "A[1:] *= A[:-1]", "A += A[:, :1]", "A *= A[3]", "A[:, 2] -= x[:7]",
    "A[1:-1, 1:-1] = A[:-2, 1:-1] + A[2:, 1:-1] - A[1:-1, :-2] * A[3, 2:]", "np.add(v, v[::-1], out=v)",
    "np.multiply(A[:5], A[:5].T, out=A[:5])", "np.subtract(A[:5].T, A[1:6], out=A[:5])",
    "np.add(A[:, :1], x[:5], out=A)", "A[:] = np.maximum(A[::-1], A[:, ::-1])", "A[:, 1] = A[:, 0] * 2 + A[:, 4]",
    "A[:, None, 1] += A[:, 2:3]", "v[:0] += v[1:1]", "A[2:3, 1:2] += A[2:3, :1]",
    "np.less(A[:, 0], A[:, 1], out=m[:7])", "v[m] = x[:3]", "A[A > 3] = 1", "v[p[:0]] = 4", "v[m] = v[p][m]",
    "v[p] = v", "v[p] += x", "v[m] *= 2",
)  # fmt: skip


def operand_arrays(dtype: str) -> dict[str, numpy.ndarray]:
    """Operands that calls name."""
    g = numpy.random.default_rng(7)
    of = lambda n: (g.random(n) * 9 + 1).astype(dtype)
    return {
        "x": of(N), "v": of(N), "A": of(N)[:35].reshape(7, 5), "p": g.permutation(N), "m": g.random(N) < 0.5,
        "q": g.integers(-N, N, N), "k": numpy.arange(5),
    }  # fmt: skip


def operands_after(code: str, space: dict[str, Any]) -> Any:
    """The bytes of all operands once the code has run; in their place the type of the error it raises, or reading."""
    try:
        exec(code, space)
        return {n: numpy.asarray(space[n]).tobytes() for n in "xvAm"}
    except Exception as error:
        return next(kind for kind in (IndexError, TypeError, ValueError) if isinstance(error, kind))


def operand_names(dtype: str) -> dict[str, Any]:
    return {"np": np} | {n: np.array(v) for n, v in operand_arrays(dtype).items()}


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_match_numpy(engine, dtype):
    for code in (*(f"np.{call}" for call in WRITES), *STATEMENTS):
        space = operand_names(dtype)
        forerun.waitall()
        result, expected = operands_after(code, space), operands_after(code, {"np": numpy} | operand_arrays(dtype))
        assert result == expected, code


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_behind_a_closed_gate_the_same_is_written(dtype):
    for code in (*(f"np.{call}" for call in WRITES), *STATEMENTS):
        space = operand_names(dtype)
        try:
            with closed_gate():
                space["x"] = space["x"] * 1
                space["v"] = space["v"] * 1
                if "[m]" in code or "[A" in code:  # which wait
                    continue
                exec(code, space)
            result = operands_after("pass", space)
        except Exception as error:
            result = next(kind for kind in (IndexError, TypeError, ValueError) if isinstance(error, kind))
        assert result == operands_after(code, {"np": numpy} | operand_arrays(dtype)), code


def test_a_view_that_numpy_has_of_the_array_keeps_its_values(engine):
    for code in ("np.put(v, [1], [9])", "np.add.at(v, [1], 9)", "v[p] = x", "v.fill(9)", "np.place(v, m, [9])"):
        space = operand_names("float64") | {"v": np.array(numpy.arange(float(N)))}
        kept = space["v"].numpy()
        exec(code, space)
        assert (kept == numpy.arange(N)).all(), code
        assert (space["v"].numpy() != kept).any()


def test_writes_from_overlapping_memory(engine):
    for code in ("np.put(v[:20], k, v[5:10])", "v[p] = v[::-1]", "np.putmask(v[1:], m[1:], v[:-1])"):
        numpy_names = {"np": numpy} | operand_arrays("float64")
        names = operand_names("float64")
        assert operands_after(code, names) == operands_after(code, numpy_names), code


def test_arrays_on_the_tape_are_not_written():
    x = np.array([1.0, 2.0, 3.0])
    x.attach_grad()
    p, m = np.array([0, 1]), np.array([True, False, True])
    with autograd.record():
        y = x * 2
        for code in ("y[p] = 1", "y[m] = 1", "np.put(y, [0], [1])", "np.add.at(y, [0], 1.0)", "y.fill(3)"):
            with pytest.raises(RuntimeError, match="tape"):
                exec(code, {"np": np, "y": y, "p": p, "m": m})


def test_a_broadcast_view_is_not_written():
    view = np.broadcast_to(np.array([1.0]), (3,))
    for code in ("v[p] = 1", "v.fill(2)", "np.put(v, [0], [2])", "np.add.at(v, [0], 2.0)", "np.place(v, v > 0, [1])"):
        with pytest.raises(ValueError, match=r"repeat|read-only"):
            exec(code, {"np": np, "v": view, "p": np.array([0])})


def test_large_zeros_are_zeros_in_used_memory(engine):
    for _ in range(3):
        x = np.zeros(5_000_000)
        assert not x.numpy().any()
        x[3] = 1
        assert x.sum().item() == 1
        x[:] = 7
        forerun.waitall()
        del x
        y = np.full(5_000_000, 2.5)  # in the same memory
        assert (y == 2.5).all().item()
        assert not np.zeros_like(y).any().item()
        del y


def test_any_and_all_of_one_differing_bool(engine):
    for n in (4096, 5000, 100_000):
        for at in (0, 4095, n - 1):
            m = numpy.zeros(n, bool)
            m[at] = True
            x = np.array(m)
            assert (x.any().item(), x.all().item()) == (True, False)
            assert ((~x).any().item(), (~x).all().item()) == (True, False)
        assert (np.zeros(n, bool).any().item(), np.ones(n, bool).all().item()) == (False, True)
        assert np.count_nonzero(np.array(m)).item() == 1


@pytest.mark.parametrize("n", [1, 63, 64, 65, 16_320, 16_321, 100_003])
def test_bools_are_counted_in_lanes_that_do_not_overflow(n):
    m = numpy.random.default_rng(n).random(n) < 0.9
    assert np.count_nonzero(np.array(m)).item() == numpy.count_nonzero(m)
    assert np.count_nonzero(np.ones(n, bool)[n // 3 :]).item() == n - n // 3


@pytest.mark.parametrize("sums", ["ij->i", "ij->j", "ij,j->i", "ij,jk->ik", "ij,kj->ik", "ji,j->i", "i,i->", "i,ij->j"])
def test_plain_einsum_calls_equal_other_einsum_calls(sums):
    a = numpy.random.default_rng(2).standard_normal((6, 6))
    operands = [np.array(a if len(term) == 2 else a[0]) for term in sums.partition("->")[0].split(",")]
    plain, others = np.einsum(sums, *operands), np.einsum(sums, *operands, order="C")
    assert plain.shape == others.shape
    assert numpy.allclose(plain.numpy(), others.numpy(), rtol=1e-14)


def test_powers_in_columns_are_numpys():
    for dtype in ("float64", "int64", "complex128"):
        x = numpy.random.default_rng(1).random(50).astype(dtype) * 3
        for arguments in ((4,), (3, True), (1,), (0,), ()):
            assert np.vander(np.array(x), *arguments).numpy().tobytes() == numpy.vander(x, *arguments).tobytes()


@pytest.mark.parametrize("widths", [2, ((1, 0), (0, 3)), 0])
def test_edges_are_numpys(engine, widths):
    x = numpy.random.default_rng(1).random((70, 90))
    assert (np.pad(np.array(x), widths, mode="edge").numpy() == numpy.pad(x, widths, mode="edge")).all()


def test_take_from_large_vectors_equals_small_ones(engine):
    g = numpy.random.default_rng(4)
    x, m, p = g.random(20_000), g.random(20_000) < 0.5, g.permutation(20_000)
    for name, operands in (("compress", (m, x)), ("extract", (m, x)), ("take", (x, p)), ("take_along_axis", (x, p, 0))):
        result = getattr(np, name)(*(np.array(v) if isinstance(v, numpy.ndarray) else v for v in operands))
        assert (result.numpy() == getattr(numpy, name)(*operands)).all()
    assert (np.correlate(np.array(x), np.array(x[:5])).numpy() == numpy.correlate(x, x[:5])).all()
    assert (np.maximum.accumulate(np.array(x)).numpy() == numpy.maximum.accumulate(x)).all()
    assert np.array(x).astype("complex128").numpy().tobytes() == x.astype("complex128").tobytes()
    assert np.interp(np.array(x), np.sort(np.array(x)), np.array(x)).shape == x.shape
