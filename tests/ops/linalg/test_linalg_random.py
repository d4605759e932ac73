"""Linear algebra, products and Fourier transforms beside NumPy, on random shapes, dtypes, values and arguments."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forerun import np, npx
from tests.ops.cases.table import named, results, to_forerun
from tests.support.comparison.outcomes import outcome, type_and_message

LAPACK = ["float32", "float64", "complex64", "complex128"]
EXACT = ["int64", "int8", "bool"]
NORMS = [None, "fro", "nuc", 1, -1, 2, -2, numpy.inf, -numpy.inf, 0, 3, 0.5]
WAYS = [None, "backward", "ortho", "forward"]


class CallDraw:
    """Draws arrays of one dtype, and arguments."""

    def __init__(self, data: Any, dtypes: list[str], finite: bool = True) -> None:
        self.data = data
        self.finite = finite
        self.dtype = numpy.dtype(self.one(dtypes))
        self.rng = numpy.random.default_rng(self.between(0, 2**32))
        self.lead = tuple(self.between(0, 3) for _ in range(self.one([0, 0, 1, 1, 2])))

    def one(self, values: Any) -> Any:
        return self.data.draw(st.sampled_from(values))

    def between(self, low: int, high: int) -> int:
        return self.data.draw(st.integers(low, high))

    def some(self, **options: Callable[[], Any]) -> dict[str, Any]:
        """Some of the keyword arguments."""
        return {name: make() for name, make in options.items() if self.one([False, True])}

    def array(self, *shape: int) -> numpy.ndarray:
        values = self.rng.standard_normal(shape)
        if self.dtype.kind == "c":
            values = values + 1j * self.rng.standard_normal(shape)
        values = numpy.asarray(values * 4 if self.dtype.kind in "iub" else values).astype(self.dtype)
        if self.one([False] * 9 + [True]):
            values[...] = 0
        if not self.finite and values.size and values.dtype.kind in "fc" and self.one([False] * 4 + [True]):
            values.flat[self.between(0, values.size - 1)] = self.one([numpy.nan, numpy.inf])
        return values

    def extent(self) -> int:
        return self.one([3, 4, 2, 1, 5, 0])

    def matrices(self) -> numpy.ndarray:
        return self.array(*self.lead, self.extent(), self.extent())

    def square(self, n: int | None = None) -> numpy.ndarray:
        """Square matrices; at times something else."""
        if self.one([False] * 7 + [True]):
            return self.array(*[self.extent() for _ in range(self.between(0, 3))])
        n = self.extent() if n is None else n
        return self.array(*self.lead, n, n)

    def positive(self) -> numpy.ndarray:
        x = self.square()
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            return x
        return (x @ numpy.conjugate(x.swapaxes(-1, -2)) + 0 * numpy.eye(x.shape[-1])).astype(x.dtype)

    def any(self) -> numpy.ndarray:
        return self.array(*[self.extent() for _ in range(self.between(0, 3))])

    def right(self, n: int) -> numpy.ndarray:
        """The right side of equations."""
        lead = self.one([(), self.lead, self.lead[-1:]])
        return self.array(*self.one([(n,), (*lead, n, 2), (*lead, n, 0), (*lead, n + 1, 2)]))

    def axis(self) -> int:
        return self.between(-3, 2)


def solve(d: CallDraw) -> Any:
    a = d.square()
    return a, d.right(a.shape[-1] if a.ndim else 1)


def lstsq(d: CallDraw) -> Any:
    m, n = d.extent(), d.extent()
    b = d.one([(m,), (m, 2), (m, 0), (m + 1,), (m, 2, 2), ()])
    return d.array(m, n), d.array(*b)


def tensorsolve(d: CallDraw) -> Any:
    return d.array(*d.one([(2, 3, 6), (6, 2, 3), (6, 3, 2), (2, 3, 3)])), d.array(*d.one([(2, 3), (6,)]))


def chain(d: CallDraw) -> Any:
    sizes = [d.one([2, 3]) if d.one([False] * 9 + [True]) else 2 + i % 2 for i in range(d.between(1, 5) + 1)]
    arrays = [d.array(m, n) for m, n in itertools.pairwise(sizes)]
    if len(arrays) > 1 and d.one([False, True]):
        arrays[0] = d.array(sizes[1])
    if len(arrays) > 1 and d.one([False, True]):
        arrays[-1] = d.array(sizes[-2])
    return (arrays,)


def vector_pair(d: CallDraw) -> Any:
    n = d.extent()
    return d.array(*d.lead, n), d.array(*d.one([(), d.lead, (2,)]), d.one([n, n, n, 3]))


def vectors(d: CallDraw) -> Any:
    return d.array(*d.lead, 3), d.array(*d.one([(), d.lead, (2,)]), d.one([3, 3, 3, 4]))


def tensordot_arguments(d: CallDraw) -> tuple[Any, dict[str, Any]]:
    axes = d.one([0, 1, 2, ((0,), (1,)), ((1, 0), (0, 1)), (1, 0), ((-1,), (-2,)), 4])
    return (d.array(2, 3, 2), d.array(*d.one([(3, 2, 2), (2, 3, 2), (2, 2, 3)]))), {"axes": axes}


SUBSCRIPTS = [
    "ij,jk", "ij,jk->ki", "ij,ij->", "ii", "ii->i", "i...->...", "...ij->...ji", "ij,j,i->", "ij,kj->ik", "i,j->ij",
    "ij->", "ij,jk,kl->il", "...i,...i", "ij,jk,kl,lm->mi", "iij->j", "ij,ji->ij", "i,i->i", "ij->ik", "ij->ii", "",
    ",ij", "i,i,i->i", "i,j", "ij,ij->i", "ij,ij->j", "ijk,jk->i", "bij,bjk->bik", "a...,a...->...",
]  # fmt: skip


def einsum(d: CallDraw) -> tuple[Any, dict[str, Any]]:
    """Operands with extents 2 for each label, at times 1 or another one."""
    subscripts = d.one(SUBSCRIPTS)
    arrays = []
    for term in subscripts.split("->")[0].split(","):
        dots = "x" * d.between(0, 2) if "..." in term else ""
        n = [d.one([2, 2, 2, 2, 2, 1, 3]) if d.one([False] * 5 + [True]) else 2 for _ in term.replace("...", dots)]
        arrays.append(d.array(*n))
    args: list[Any] = [subscripts, *arrays]
    if d.one([False, True]) and subscripts:
        terms, arrow, result = subscripts.partition("->")
        number = lambda text: [Ellipsis if c == "." else "ijklmabk".index(c) for c in text.replace("...", ".")]
        args = [v for a, t in zip(arrays, terms.split(",")) for v in (a, number(t))]
        args += [number(result)] if arrow else []
    return tuple(args), d.some(optimize=lambda: d.one([True, False, "greedy", "optimal", ("greedy", 100)]))


def fft_lines(d: CallDraw) -> tuple[Any, dict[str, Any]]:
    some = d.some(n=lambda: d.one([1, 2, 3, 4, 7, 0, None]), axis=d.axis, norm=lambda: d.one(WAYS))
    return (d.any(),), some


def fft_planes(d: CallDraw) -> tuple[Any, dict[str, Any]]:
    axes = d.one([(-2, -1), (0, 1), (1, 0), (0,), (-1,), (0, 0), (0, 5)])
    s = [d.one([1, 2, 3, 5, -1, 0]) for _ in axes]
    return (d.any(),), {"axes": axes, **d.some(s=lambda: tuple(s), norm=lambda: d.one(WAYS))}


def plain(make: Callable[[CallDraw], Any], *options: Callable[[CallDraw], dict[str, Any]]) -> Any:
    """Arguments, and some of the options."""

    def call(d: CallDraw) -> tuple[Any, dict[str, Any]]:
        args = make(d)
        found = {k: v for some in options for k, v in some(d).items()}
        return args if isinstance(args, tuple) else (args,), found

    return call


def bool_of(*names: str) -> Any:
    return lambda d: d.some(**dict.fromkeys(names, lambda: d.one([False, True])))


def axes(d: CallDraw) -> dict[str, Any]:
    return d.some(axis=lambda: d.one([0, 1, -1, 2, (0, 1), (1, 0), (-1,), (0, 0), None, (0, 1, 2)]))


def ord_(d: CallDraw) -> dict[str, Any]:
    return d.some(ord=lambda: d.one([*NORMS, "q"]))


WIDE = plain(CallDraw.matrices)
SQUARE = plain(CallDraw.square)
CALLS: dict[str, Callable[[CallDraw], tuple[Any, dict[str, Any]]]] = {
    "linalg.inv": SQUARE,
    "linalg.det": SQUARE,
    "linalg.slogdet": SQUARE,
    "linalg.solve": plain(solve),
    "linalg.lstsq": plain(lstsq, lambda d: d.some(rcond=lambda: d.one([None, 1e-3, -1]))),
    "linalg.pinv": plain(CallDraw.matrices, lambda d: d.some(rcond=lambda: 0.1, rtol=lambda: d.one([None, 0.2]))),
    "linalg.matrix_rank": plain(CallDraw.any, lambda d: d.some(tol=lambda: d.one([0.1, [0.1, 2]]), rtol=lambda: 0.2)),
    "linalg.matrix_power": plain(lambda d: (d.square(), d.one([0, 1, 2, 3, 4, 7, -1, -2, 1.5]))),
    "linalg.tensorsolve": plain(tensorsolve, lambda d: d.some(axes=lambda: d.one([(0,), (1,), None]))),
    "linalg.tensorinv": plain(lambda d: d.array(*d.one([(2, 3, 6), (6, 2, 3), (6, 6), (2, 3)])),
                              lambda d: d.some(ind=lambda: d.one([1, 2, 0]))),
    "linalg.cholesky": plain(CallDraw.positive, bool_of("upper")),
    "linalg.qr": plain(CallDraw.matrices,
                       lambda d: d.some(mode=lambda: d.one(["reduced", "complete", "r", "raw", "q"]))),
    "linalg.svd": plain(CallDraw.matrices, bool_of("full_matrices", "compute_uv")),
    "linalg.svdvals": WIDE,
    "linalg.eigh": plain(CallDraw.positive, lambda d: d.some(UPLO=lambda: d.one(["L", "U", "u", "q"]))),
    "linalg.eigvalsh": plain(CallDraw.square, lambda d: d.some(UPLO=lambda: d.one(["L", "U"]))),
    "linalg.eig": SQUARE,
    "linalg.eigvals": SQUARE,
    "linalg.norm": plain(CallDraw.any, axes, ord_, bool_of("keepdims")),
    "linalg.vector_norm": plain(CallDraw.any, axes, ord_, bool_of("keepdims")),
    "linalg.matrix_norm": plain(CallDraw.any, ord_, bool_of("keepdims")),
    "linalg.cond": plain(CallDraw.matrices, lambda d: d.some(p=lambda: d.one([*NORMS, "q"]))),
    "linalg.multi_dot": plain(chain),
    "linalg.outer": plain(lambda d: (d.array(d.extent()), d.array(*d.one([(3,), (2, 2)])))),
    "linalg.cross": plain(vectors, lambda d: d.some(axis=d.axis)),
    "linalg.diagonal": plain(CallDraw.any, lambda d: d.some(offset=d.axis)),
    "linalg.trace": plain(CallDraw.any, lambda d: d.some(offset=d.axis)),
    "linalg.matmul": plain(lambda d: (d.square(3), d.square(3))),
    "linalg.tensordot": tensordot_arguments,
    "linalg.vecdot": plain(vector_pair),
    "linalg.matrix_transpose": plain(CallDraw.any),
    "matmul": plain(lambda d: (d.any(), d.square(3))),
    "dot": plain(lambda d: (d.any(), d.square(3))),
    "inner": plain(lambda d: (d.any(), d.any())),
    "outer": plain(lambda d: (d.any(), d.any())),
    "vdot": plain(lambda d: (d.any(), d.any())),
    "kron": plain(lambda d: (d.any(), d.any())),
    "trace": plain(CallDraw.any, lambda d: d.some(offset=d.axis, axis1=d.axis, axis2=d.axis)),
    "diagonal": plain(CallDraw.any, lambda d: d.some(offset=d.axis, axis1=d.axis, axis2=d.axis)),
    "einsum": einsum,
    **{f"fft.{name}": fft_lines for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{name}": fft_planes for name in ("fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": plain(CallDraw.matrices, lambda d: d.some(axes=lambda: d.one([0, 1, (0, 1), None]))),
    "fft.ifftshift": plain(CallDraw.matrices, lambda d: d.some(axes=lambda: d.one([0, 1, (0, 1), None]))),
    "fft.fftfreq": plain(lambda d: d.one([1, 2, 5, 2.5]), lambda d: d.some(d=lambda: 0.5)),
    "fft.rfftfreq": plain(lambda d: d.one([1, 2, 5, 2.5]), lambda d: d.some(d=lambda: 0.5)),
}  # fmt: skip

# Where LAPACK sees values that are not finite. (With some, its singular values never end, in NumPy as well; and it
# writes to the terminal about those of lstsq.)
INFINITE = {f"linalg.{name}" for name in ("inv", "det", "slogdet", "solve", "cholesky", "qr", "eig", "eigvals")}


def dtypes(name: str) -> list[str]:
    """Those that are tried: no integers where NumPy has accidents with them."""
    return LAPACK if name == "linalg.pinv" else [*LAPACK, *EXACT, "float16"]


def as_numpy(found: Any) -> list[numpy.ndarray]:
    return [numpy.asarray(r) for r in results(found)]


def assert_same_linalg(name: str, got: Any, want: Any, half: bool) -> None:
    """The same error, or the same shapes, dtypes and (within rounding) values."""
    if isinstance(want, tuple) or isinstance(got, tuple):
        assert isinstance(got, tuple), f"{name}: got {got!r}, want {want!r}"
        assert isinstance(want, tuple), f"{name}: got {got!r}, want {want!r}"
        two = any(
            word in got[1] for word in ("float16", "must be real")
        )  # refused for the dtype, perhaps among other things
        assert two or issubclass(got[0], want[0]), f"{name}: got {got!r}, want {want!r}"
        return
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert g.shape == w.shape, f"{name}: got {g.shape}, want {w.shape}"
        same = g.dtype == w.dtype or (g.dtype.kind == w.dtype.kind and w.dtype.kind in "i")
        assert same or name in ("linalg.eig", "linalg.eigvals"), f"{name}: got {g.dtype}, want {w.dtype}"
        near = {2: 2e-2, 4: 1e-4, 8: 1e-10}[2 if half else w.real.dtype.itemsize] if w.dtype.kind in "fc" else 0
        numpy.testing.assert_allclose(
            g, w, near, near * float(numpy.abs(w[numpy.isfinite(w)]).max(initial=1)), err_msg=name
        )


@pytest.fixture(autouse=True)
def numpys_dtypes() -> None:
    npx.set_np(dtype=True)


@pytest.mark.parametrize("name", CALLS)
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_as_numpy(name: str, data: Any) -> None:
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        drawn = CallDraw(data, dtypes(name), name not in INFINITE)
        args, options = CALLS[name](drawn)
        want = outcome(partial(named(numpy, name), **options), *args, read=as_numpy, error=type_and_message)
        got = outcome(partial(named(np, name), **options), *to_forerun(args), read=as_numpy, error=type_and_message)
    assert_same_linalg(name, got, want, drawn.dtype == numpy.float16)
