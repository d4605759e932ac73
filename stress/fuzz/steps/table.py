"""Every operation of the table of cases, with its samples, in some dtype, on arrays of some layout."""

from __future__ import annotations

import warnings
from bisect import bisect
from collections.abc import Callable
from functools import cache
from typing import Any
from zlib import crc32

import numpy

from forerun import _core, autograd
from stress.fuzz.pool import Pool
from tests.ops.cases import CASES
from tests.ops.cases.reduction import COMPARED
from tests.ops.cases.table import Case, call_with_sample, mapped, results

UNWANTED = {"np.empty", "np.empty_like", "npx.host", "np.fromfunction"}  # no values, or a function of its own
BOUNDS = {"np.quantile", "np.percentile"}  # they wait for an argument that is an array
ROWS = [c for c in CASES if c.name not in UNWANTED]


class Table(Pool):
    """Rows of the table as steps. Their results are kept, and read at the end."""

    def row(self, a: int, b: int, c: int) -> None:
        """An operation that draws no random numbers."""
        if self.exact:
            self.exact_row(a, c)
        else:
            self.any_row(PLAIN[a], b, c)

    def drawn(self, a: int, b: int, c: int) -> None:
        """An operation that may draw random numbers."""
        self.any_row(ANY[a], b, c)

    def any_row(self, case: Case, b: int, c: int) -> None:
        """The operation; now and then its gradient too."""
        args = self.arguments(case, b, c)
        learns = isinstance(case.grad, tuple) and c % 4 == 0
        if not learns:
            self.keep(case, self.done(case, args))
            return
        leaves: list[Any] = []
        mapped(lambda x: leaves.append(x) if x.dtype.kind == "f" else None, args)
        for leaf in leaves:
            leaf.attach_grad()
        with autograd.record():
            found = self.done(case, args)
        heads = [y for y in found if isinstance(y, _core.Array) and y.dtype.kind == "f" and y.node is not None]
        if heads:
            autograd.backward(heads)
            self.kept.extend(leaf.grad for leaf in leaves)
        self.keep(case, [y.detach() if isinstance(y, _core.Array) else y for y in found])

    def arguments(self, case: Case, b: int, c: int) -> tuple[Any, ...]:
        """Return a sample's arguments as arrays with the layout selected by c."""
        dtypes = case.dtype_list()
        samples = case.samples
        args = samples[b % len(samples)](case.draw(dtypes[(b // 7) % len(dtypes)], c))
        device = c % 2 if not case.random else 0
        ways = iter(range(c // 3, c // 3 + 99))
        return mapped(lambda x: self.arranged(numpy.asarray(x), next(ways), device), args)

    def arranged(self, x: numpy.ndarray, way: int, device: int) -> Any:
        """Return an array with x's values: x, a view of a larger array, transposed, reversed, or not computed yet."""
        make = lambda values: self.back.array(numpy.ascontiguousarray(values).reshape(values.shape), device)
        way %= 7
        if way == 1 and x.ndim:
            return make(numpy.concatenate([x, x, x]))[x.shape[0] : 2 * x.shape[0]]
        if way == 2:
            return make(x.T).T
        if way == 3 and x.ndim:
            return make(x[::-1])[::-1]
        if way == 4:
            return self.back.host(lambda v: v, [make(x)], [(x.shape, x.dtype)])[0]
        if way == 5:
            return make(x).copy()
        if way == 6 and x.ndim:
            return make(numpy.repeat(x, 2, axis=-1))[..., ::2]
        return make(x)

    def done(self, case: Case, args: tuple[Any, ...]) -> list[Any]:
        """The operation's results."""
        if not case.waits and case.name not in BOUNDS:
            return case(case.op, args)
        with self.back.reading():
            return case(case.op, args)

    def keep(self, case: Case, found: list[Any]) -> None:
        """Keep arrays, to be read at the end; log other results."""
        for result in found:
            if isinstance(result, numpy.ndarray | numpy.generic | _core.Array):
                self.kept.append(result)
            else:
                self.log.append(("value", case.name, str(result)))

    def exact_row(self, a: int, c: int) -> None:
        """A row whose reference gives the same bits, computed by both."""
        row, sample, dtype = exact_rows()[a]
        args = row.samples[sample](row.draw(dtype, c))
        device, ways = c % 2, iter(range(c // 3, c // 3 + 99))
        given = mapped(lambda x: self.arranged(numpy.asarray(x), next(ways), device), args)
        found = self.done(row, given) if self.back.runs_ahead else row(row.reference, given)
        self.kept.extend(self.back.dense(result) for result in found)


class Ring:
    """Select items by number through their names: if items are added or removed, most numbers keep their meaning."""

    def __init__(self, things: list[Any], name: Callable[[Any], str]) -> None:
        self.things = sorted(things, key=lambda thing: crc32(name(thing).encode()))
        self.places = [crc32(name(thing).encode()) for thing in self.things]

    def __getitem__(self, n: int) -> Any:
        return self.things[bisect(self.places, crc32(str(n).encode())) % len(self.things)]


PLAIN = Ring([c for c in ROWS if not c.random and c.name != "npx.dropout"], lambda case: case.name)
ANY = Ring(ROWS, lambda case: case.name)


@cache
def exact_rows() -> Ring:
    """Row, sample and dtype for which NumPy's dtypes are forerun's, and no result depends on the order of a sum."""
    found = []
    for case in PLAIN.things:
        if case.tolerance or case.reference is None or case.in_place or case.name in COMPARED:
            continue
        for dtype in case.dtype_list():
            found += [(case, i, dtype) for i in range(len(case.samples)) if _same_dtypes(case, i, dtype)]
    return Ring(found, lambda row: f"{row[0].name} {row[1]} {row[2]}")


def _same_dtypes(case: Case, sample: int, dtype: numpy.dtype) -> bool:
    args = case.samples[sample](case.draw(dtype, 0))
    given: list[numpy.dtype] = []
    mapped(lambda x: given.append(x.dtype), args)
    if not given or not all(isinstance(x, numpy.ndarray) for x in args[:1]):
        return False
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = results(call_with_sample(case.reference, args))
    floats = any(numpy.asarray(r).dtype.kind in "fc" for r in found)
    arrays = all(isinstance(r, numpy.ndarray | numpy.generic) for r in found)
    width = lambda d: d.itemsize >> (d.kind == "c") if d.kind in "fc" else 0
    wider = any(width(numpy.asarray(r).dtype) > max(map(width, given)) for r in found)  # by integers: not in forerun
    return arrays and not (floats and (wider or all(d.kind in "biu" for d in given)))
