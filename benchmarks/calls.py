"""Some 200 public calls at 10 to 10^7 elements, with NumPy beside us in the same run.

    python benchmarks/calls.py                          # every row at 10, 10^3, 10^5 and 10^7 elements
    python benchmarks/calls.py --sizes 10 1000          # at some sizes
    python benchmarks/calls.py --names sort repeat      # rows whose names match a regular expression
    python benchmarks/calls.py --quick                  # one short round: whether the rows run, not their cost

A number is our time as a multiple of NumPy's: of each the least over rounds in which both run in turn, which a busy
machine disturbs least. A program makes many calls, keeps the results, and waits for all of them; where results are
large, or work is, it waits for each. Aims: none above 3, and 90 of 100 at or below 1.2.
"""

from __future__ import annotations

import argparse
import gc
import math
import re
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy

from forerun import np, npx

SIZES = (10, 10**3, 10**5, 10**7)
KEPT_UP_TO = 10**4  # elements: results of that many are kept, larger ones are waited for and dropped
LITTLE = 1e-6  # seconds: unless NumPy needs no more than that, for a view or an element
BUDGET = 1e-3  # seconds that NumPy takes in a round, about
MOST_CALLS = 200  # in a round
FEW_ROUNDS = 3
MOST_SECONDS = 2.0, 0.4  # for a row at one size, about: up to so few rounds, and for all

# Names for rows, from NumPy; n is the number of elements and r the root of it. Each row gets a v of its own.
OPERANDS: dict[str, Callable[[numpy.random.Generator, int, int], Any]] = {
    "x": lambda g, n, r: g.standard_normal(n),
    "b": lambda g, n, r: g.random(n) + 1,
    "v": lambda g, n, r: numpy.zeros(n),
    "s": lambda g, n, r: numpy.sort(g.standard_normal(n)),
    "f": lambda g, n, r: g.standard_normal(n).astype("float32"),
    "c": lambda g, n, r: g.standard_normal(n) + 1j * g.standard_normal(n),
    "k": lambda g, n, r: g.integers(0, 100, n),
    "u": lambda g, n, r: g.integers(0, 256, n).astype("uint8"),
    "p": lambda g, n, r: g.permutation(n),
    "m": lambda g, n, r: g.random(n) < 0.5,
    "A": lambda g, n, r: g.standard_normal((r, r)),
    "B": lambda g, n, r: g.standard_normal((r, r)),
    "D": lambda g, n, r: g.standard_normal((r, r)) + r * numpy.eye(r),
    "S": lambda g, n, r: numpy.eye(r) + numpy.full((r, r), 0.5 / r),
    "a": lambda g, n, r: g.standard_normal(r),
    "z": lambda g, n, r: g.standard_normal(r),
    "q": lambda g, n, r: numpy.array(2.5),
    "rows": lambda g, n, r: list(g.standard_normal((r, r))),
    "numbers": lambda g, n, r: g.standard_normal(n).tolist(),
}
CUBIC = 10**5  # most elements of rows whose cost grows as n^1.5 or more
LOOPS = 10**3  # and of rows that look at each element in Python

# Name, code (the value of an expression is kept), set-up code if any, and the most elements if there are fewer.
ROWS: tuple[tuple[Any, ...], ...] = (
    # making
    ("zeros", "np.zeros(n)"), ("ones", "np.ones(n)"), ("empty", "np.empty(n)"), ("full", "np.full(n, 2.5)"),
    ("zeros, matrix of float32", "np.zeros((r, r), 'float32')"), ("zeros_like", "np.zeros_like(x)"),
    ("ones_like", "np.ones_like(x)"), ("full_like", "np.full_like(x, 2.5)"), ("empty_like", "np.empty_like(x)"),
    ("arange", "np.arange(n)"), ("arange, floats", "np.arange(0.0, n)"), ("linspace", "np.linspace(0.0, 1.0, n)"),
    ("eye", "np.eye(r)"), ("identity", "np.identity(r)"), ("tri", "np.tri(r)"),
    ("diag of a vector", "np.diag(a)"), ("array of a list", "np.array(numbers)", CUBIC),
    ("array of an array", "np.array(x)"), ("copy", "x.copy()"), ("array of numbers", "np.array([1.0, 2.0, 3.0])"),
    ("array of elements", "np.array([x[0], x[1], x[2]])"),
    ("array of arrays without axes", "np.array([q, q, q])"), ("array of rows", "np.array(rows)"),
    ("asarray", "np.asarray(x)"), ("ascontiguousarray", "np.ascontiguousarray(A.T)"),
    ("logspace", "np.logspace(0.0, 1.0, n)"), ("indices", "np.indices((r, r))"),
    ("meshgrid", "np.meshgrid(a, z)"), ("vander", "np.vander(a, 4)"), ("tril", "np.tril(A)"),
    ("triu", "np.triu(A)"),
    # elements and slices
    ("x[3]", "x[3]"), ("float(x[3])", "float(x[3])"), ("A[1, 2]", "A[1, 2]"), ("x[1:-1]", "x[1:-1]"),
    ("A[1]", "A[1]"), ("A[:, 1]", "A[:, 1]"), ("x[:, None]", "x[:, None]"), ("x[::2]", "x[::2]"),
    ("x[::-1]", "x[::-1]"), ("x[...]", "x[...]"), ("x[p]", "x[p]"), ("x[m]", "x[m]"), ("x[x > 0]", "x[x > 0]"),
    ("x[[0, 1, 2]]", "x[[0, 1, 2]]"), ("A[[0, 1]]", "A[[0, 1]]"), ("v[3] = 1.0", "v[3] = 1.0"),
    ("v[1:-1] = x[1:-1]", "v[1:-1] = x[1:-1]"), ("v[:] = 0", "v[:] = 0"), ("v[:] = x", "v[:] = x"),
    ("v[p] = x", "v[p] = x"), ("v[m] = 0", "v[m] = 0"), ("v[3] += x[2]", "v[3] += x[2]"),
    ("v.flat[3] = 1", "v.flat[3] = 1"), ("v.fill", "v.fill(2.0)"), ("x.item", "x.item(3)"),
    ("tolist", "x.tolist()", CUBIC), ("for e in x", "[e for e in x]", LOOPS),
    ("for row in A", "[row for row in A]", CUBIC), ("sorted", "sorted(x)", LOOPS),
    ("max of elements", "max(x)", LOOPS), ("sum of elements", "sum(x)", LOOPS), ("len", "len(x)"),
    # element by element
    ("x + b", "x + b"), ("x + 1", "x + 1"), ("x * q", "x * q"), ("x / b", "x / b"), ("x ** 2", "x ** 2"),
    ("-x", "-x"), ("k // 7", "k // 7"), ("k % 7", "k % 7"), ("u + u", "u + u"), ("v += x", "v += x"),
    ("x > b", "x > b"), ("x == b", "x == b"), ("A + a", "A + a"), ("A + a[:, None]", "A + z[:, None]"),
    ("x + b * 2 - x", "x + b * 2 - x"), ("c * c", "c * c"), ("add with out", "np.add(x, b, out=v)"),
    ("add with where", "np.add(x, b, out=v, where=m)"), ("sqrt", "np.sqrt(b)"), ("exp", "np.exp(x)"),
    ("log", "np.log(b)"), ("sin", "np.sin(x)"), ("tanh", "np.tanh(x)"), ("abs", "abs(x)"),
    ("floor", "np.floor(x)"), ("round", "np.round(x, 2)"), ("sign", "np.sign(x)"),
    ("minimum", "np.minimum(x, b)"), ("hypot", "np.hypot(x, b)"), ("arctan2", "np.arctan2(x, b)"),
    ("isnan", "np.isnan(x)"), ("isfinite", "np.isfinite(x)"), ("logical_and", "np.logical_and(m, m)"),
    ("~m", "~m"), ("where", "np.where(m, x, b)"), ("clip", "np.clip(x, -1, 1)"),
    ("nan_to_num", "np.nan_to_num(x)"), ("isclose", "np.isclose(x, b)"), ("allclose", "np.allclose(x, b)"),
    ("array_equal", "np.array_equal(x, x)"), ("astype float32", "x.astype('float32')"),
    ("astype complex128", "x.astype('complex128')"), ("astype int64", "x.astype('int64')"),
    ("k to float64", "k.astype('float64')"), ("real", "c.real"), ("conj", "c.conj()"),
    ("maximum of a number", "np.maximum(x, 0)"), ("select", "np.select([x < 0, x > 1], [x, b])"),
    ("interp", "np.interp(b, s, x)"),
    # reductions
    ("sum", "x.sum()"), ("sum, axis 0", "A.sum(0)"), ("sum, axis 1", "A.sum(axis=1)"), ("prod", "b.prod()"),
    ("mean", "x.mean()"), ("mean, axis 0", "A.mean(axis=0)"), ("var", "x.var()"), ("std", "x.std()"),
    ("std, axis 0", "A.std(axis=0)"), ("max", "x.max()"), ("max, axis 1", "A.max(axis=1)"), ("min", "x.min()"),
    ("ptp", "np.ptp(x)"), ("argmax", "x.argmax()"), ("argmin, axis 1", "A.argmin(axis=1)"), ("any", "m.any()"),
    ("all", "m.all()"), ("count_nonzero", "np.count_nonzero(m)"), ("median", "np.median(x)"),
    ("percentile", "np.percentile(x, 30)"), ("average", "np.average(x, weights=b)"), ("nansum", "np.nansum(x)"),
    ("nanmean", "np.nanmean(x)"), ("cumsum", "np.cumsum(x)"), ("cumsum, axis 0", "np.cumsum(A, axis=0)"),
    ("cumprod", "np.cumprod(b)"), ("diff", "np.diff(x)"), ("gradient", "np.gradient(x)"),
    ("trapezoid", "np.trapezoid(x)"), ("float(sum)", "float(x.sum())"), ("cov", "np.cov(x, b)"),
    ("corrcoef", "np.corrcoef(x, b)"), ("maximum.accumulate", "np.maximum.accumulate(x)"),
    ("add.reduce", "np.add.reduce(x)"),
    # order, sets, counts
    ("sort", "np.sort(x)"), ("sort, axis 0", "np.sort(A, axis=0)"), ("sort of integers", "np.sort(k)"),
    ("argsort", "np.argsort(x)"), ("argsort of integers", "np.argsort(k)"),
    ("partition", "np.partition(x, n // 2)"), ("argpartition", "np.argpartition(x, n // 2)"),
    ("lexsort", "np.lexsort((x, k))"), ("searchsorted", "np.searchsorted(s, x)"),
    ("searchsorted of a number", "np.searchsorted(s, 0.5)"),
    ("digitize", "np.digitize(x, bins)", "bins = np.array([-1.0, 0.0, 1.0])"), ("unique", "np.unique(k)"),
    ("unique of floats", "np.unique(x)"), ("unique with counts", "np.unique(k, return_counts=True)"),
    ("nonzero", "np.nonzero(m)"), ("flatnonzero", "np.flatnonzero(m)"), ("argwhere", "np.argwhere(m)"),
    ("where, one argument", "np.where(m)"), ("isin", "np.isin(k, [1, 2, 3])"), ("union1d", "np.union1d(k, k)"),
    ("intersect1d", "np.intersect1d(k, k)"), ("bincount", "np.bincount(k)"), ("histogram", "np.histogram(x)"),
    ("histogram2d", "np.histogram2d(x, b)"),
    # positions
    ("take", "np.take(x, p)"), ("take_along_axis", "np.take_along_axis(x, p, 0)"),
    ("put", "np.put(v, [1, 2], [3.0, 4.0])"), ("put_along_axis", "np.put_along_axis(v, p, x, 0)"),
    ("place", "np.place(v, m, [1.0])"), ("putmask", "np.putmask(v, m, x)"), ("copyto", "np.copyto(v, x)"),
    ("compress", "np.compress(m, x)"), ("extract", "np.extract(m, x)"), ("choose", "np.choose(p % 2, [x, b])"),
    ("add.at, one", "np.add.at(v, [3], 1.0)"), ("add.at", "np.add.at(v, p, x)"),
    ("fill_diagonal", "np.fill_diagonal(A, 1.0)"), ("diagonal", "A.diagonal()"), ("trace", "A.trace()"),
    ("tril_indices", "np.tril_indices(r)"), ("ix_", "A[np.ix_([0, 1], [1, 2])]"),
    ("unravel_index", "np.unravel_index(p, (n,))"), ("ravel_multi_index", "np.ravel_multi_index((p,), (n,))"),
    # shapes
    ("reshape", "A.reshape(-1)"), ("A.T", "A.T"), ("transpose", "np.transpose(A)"), ("ravel", "A.ravel()"),
    ("flatten", "A.flatten()"), ("squeeze", "np.squeeze(A[:, :1])"), ("expand_dims", "np.expand_dims(x, 0)"),
    ("swapaxes", "np.swapaxes(A, 0, 1)"), ("moveaxis", "np.moveaxis(A, 0, 1)"),
    ("broadcast_to", "np.broadcast_to(a, (r, r))"), ("atleast_2d", "np.atleast_2d(x)"),
    ("concatenate", "np.concatenate([x, b])"), ("stack", "np.stack([x, b])"), ("vstack", "np.vstack([x, b])"),
    ("hstack", "np.hstack([x, b])"), ("column_stack", "np.column_stack([x, b])"), ("append", "np.append(x, 1.0)"),
    ("insert first", "np.insert(x, 0, 1.0)"), ("delete first", "np.delete(x, 0)"), ("split", "np.split(x, 2)"),
    ("array_split", "np.array_split(x, 3)"), ("repeat", "np.repeat(x, 2)"), ("tile", "np.tile(x, 2)"),
    ("roll", "np.roll(x, 1)"), ("flip", "np.flip(x)"), ("fliplr", "np.fliplr(A)"), ("rot90", "np.rot90(A)"),
    ("pad", "np.pad(x, 1)"), ("pad, edge", "np.pad(A, 1, mode='edge')"), ("block", "np.block([[A, A], [A, A]])"),
    ("r_", "np.r_[x, 0.0]"),
    # products and linear algebra
    ("dot", "np.dot(x, b)"), ("x @ b", "x @ b"), ("A @ a", "A @ a"), ("A.T @ a", "A.T @ a"),
    ("A @ B", "A @ B", CUBIC), ("inner", "np.inner(x, b)"), ("vdot", "np.vdot(x, b)"),
    ("outer", "np.outer(a, z)"), ("kron", "np.kron(a, z)"), ("tensordot", "np.tensordot(A, a, 1)"),
    ("einsum, sum", "np.einsum('ij->i', A)"), ("einsum, product", "np.einsum('ij,j->i', A, a)"),
    ("cross", "np.cross(w, w)", "w = np.ones((n // 3, 3))"), ("norm", "np.linalg.norm(x)"),
    ("norm, axis 1", "np.linalg.norm(A, axis=1)"), ("solve", "np.linalg.solve(D, a)", CUBIC),
    ("inv", "np.linalg.inv(D)", CUBIC), ("det", "np.linalg.det(D)", CUBIC),
    ("cholesky", "np.linalg.cholesky(S)", CUBIC), ("eigh", "np.linalg.eigh(S)", CUBIC),
    ("qr", "np.linalg.qr(A)", CUBIC), ("svd", "np.linalg.svd(A)", CUBIC),
    ("matrix_power", "np.linalg.matrix_power(S, 3)", CUBIC), ("fft", "np.fft.fft(x)"), ("rfft", "np.fft.rfft(x)"),
    ("fft2", "np.fft.fft2(A)"), ("convolve", "np.convolve(x, w)", "w = np.array([1.0, 2.0, 1.0])"),
    ("correlate", "np.correlate(x, w)", "w = np.array([1.0, 2.0, 1.0])"),
    ("polyval", "np.polyval(w, x)", "w = np.array([1.0, 2.0, 1.0])"), ("polyfit", "np.polyfit(x, b, 1)"),
    ("sliding windows", "np.lib.stride_tricks.sliding_window_view(x, 3)"),
)  # fmt: skip


@cache
def operand(name: str, n: int) -> Any:
    """The values of an operand, the same in every row."""
    return OPERANDS[name](numpy.random.default_rng([n, ord(name[0])]), n, math.isqrt(n))


def to_forerun(values: Any) -> Any:
    """Return a forerun array of NumPy's values; lists of arrays as lists, and other lists unchanged."""
    if isinstance(values, numpy.ndarray):
        return np.array(values)
    return [np.array(v) for v in values] if isinstance(values[0], numpy.ndarray) else values


@cache
def forerun_operand(name: str, n: int) -> Any:
    """Return the operand as a forerun array."""
    return to_forerun(operand(name, n))


def environment(module: Any, code: str, set_up: str, n: int) -> dict[str, Any]:
    """Return the names for the code of a row."""
    space = {"np": module, "n": n, "r": math.isqrt(n)}
    for name in compile(f"{set_up}\n{code}", "row", "exec").co_names:
        if name in OPERANDS:
            shared = forerun_operand(name, n) if module is np else operand(name, n)
            space[name] = shared.copy() if name == "v" else shared
    exec(set_up, space)
    return space


def program(module: Any, code: str, set_up: str, n: int, little: bool) -> Callable[[int], float]:
    """A function that makes some calls and gives the seconds that they took, with the wait for their results."""
    space = environment(module, code, set_up, n)
    space["wait"] = npx.waitall if module is np else lambda: None
    space["clock"] = time.perf_counter
    try:
        compile(code, "row", "eval")
        keeps = f"kept[i] = {code}"
    except SyntaxError:
        keeps = code
    inside, after = ("", "wait()") if little or n <= KEPT_UP_TO else ("wait(); kept[i] = None", "")
    exec(
        f"def run(calls):\n global v\n kept = [None] * calls\n start = clock()\n for i in range(calls):\n"
        f"  {keeps}\n  {inside}\n {after}\n return clock() - start\n",
        space,
    )
    return space["run"]


def is_little(run: Callable[[int], float]) -> bool:
    """Whether calls take so little that a wait after each would be most of their time."""
    return run(1) < 20 * LITTLE and run(20) < 20 * LITTLE


def ratio(code: str, set_up: str, n: int, rounds: int, quick: bool) -> float:
    """Our time as a multiple of NumPy's for one row at one size."""
    little = n > KEPT_UP_TO and is_little(program(numpy, code, set_up, n, True))
    numpy_call, forerun_call = (program(module, code, set_up, n, little) for module in (numpy, np))
    once = max(numpy_call(1), 1e-7), forerun_call(1)
    calls = (
        1 if quick else max(1, min(MOST_CALLS, int(BUDGET / min(numpy_call(1) if once[0] < BUDGET else 1, once[0]))))
    )
    times = [once] if calls == 1 and once[0] > BUDGET else []
    gc.collect()
    gc.disable()
    try:
        while not times or (len(times) < rounds and sum(map(sum, times)) < MOST_SECONDS[len(times) > FEW_ROUNDS]):
            times.append((numpy_call(calls), forerun_call(calls)))
    finally:
        gc.enable()
    return min(b for _, b in times) / min(a for a, _ in times)


def chosen(patterns: Sequence[str]) -> list[tuple[str, str, str, int]]:
    """The rows asked for: name, code, set-up, most elements."""
    found = []
    for name, code, *more in ROWS:
        set_up = next((m for m in more if isinstance(m, str)), "")
        most = next((m for m in more if isinstance(m, int)), max(SIZES))
        if not patterns or any(re.search(p, name) for p in patterns):
            found.append((name, code, set_up, most))
    return found


def summary(ratios: Sequence[float]) -> str:
    """Return the summary of a column of ratios."""
    mean = statistics.geometric_mean(ratios)
    few = sum(r <= 1.2 for r in ratios) / len(ratios)
    above = sum(r > 3 for r in ratios)
    return f"geometric mean {mean:.2f}; above 3: {above} of {len(ratios)}; at or below 1.2: {few:.0%}"


def print_row(name: str, cells: Sequence[str]) -> None:
    """A line of the table, at once: the whole of it takes minutes."""
    print(name.ljust(28), *(cell.rjust(10) for cell in cells), flush=True)


def main() -> None:
    """Prints a line for each row as it is measured, and a summary for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, metavar="N", help="numbers of elements")
    parser.add_argument("--names", nargs="+", default=(), metavar="PATTERN", help="regular expressions of rows")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--quick", action="store_true", help="one round of one call")
    given = parser.parse_args()
    sizes = [int(n) for n in given.sizes]
    rows = chosen(given.names)
    if not rows:
        parser.error(f"--names must be in names of rows, got {given.names}")
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of products that overflow
    columns: dict[int, list[float]] = {n: [] for n in sizes}
    print_row("call (x NumPy)", [f"{n:,}" for n in sizes])
    for name, code, set_up, most in rows:
        cells = []
        for n in sizes:
            if n > most:
                cells.append("-")
                continue
            found = ratio(code, set_up, n, 1 if given.quick else given.rounds, given.quick)
            columns[n].append(found)
            cells.append(f"{found:.2f}")
        print_row(name, cells)
    for n, ratios in columns.items():
        if ratios:
            print(f"{n:,} elements: {summary(ratios)}")


if __name__ == "__main__":
    main()
