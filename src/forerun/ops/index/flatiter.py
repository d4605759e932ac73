"""Going through elements: flat, broadcast, and NumPy's iterators."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy

from .._base import core as _core
from .._base.convert import asarray, broadcast_shapes, cast, copy, is_array
from ..create.arguments import _known
from ..shape.broadcast import broadcast_to
from ..shape.reshape import ravel, reshape
from .getitem import getitem, take
from .parser import check_range, positions_from
from .setitem import fit, no_scalar, setitem, untaped, values_for

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = ["broadcast", "flatiter", "ndenumerate", "ndindex", "nditer"]

ndindex = numpy.ndindex


class flatiter(_core.Flat):
    """The elements of an array in C order, as `x.flat` gives them: read and written by index, iterated over.

    An index is an integer, a slice, an Ellipsis, an array of integers or a mask. Reading gives copies, and waits for
    masks alone. Values that are written start over if there are fewer.

    >>> from forerun import np
    >>> x = np.array([[1, 2], [3, 4]])
    >>> x.T.flat[1:3].tolist()
    [3, 2]
    >>> x.T.flat[[1, 2]] = 0; x.tolist()
    [[1, 0], [0, 4]]
    """

    __slots__ = ()

    @property
    def coords(self) -> tuple[int, ...]:
        """The position of the next element."""
        places = numpy.unravel_index(self.index, self.base.shape) if self.index < len(self) else ()
        return tuple(int(i) for i in places)

    def copy(self) -> Array:
        """Return all elements as a vector of its own.

        Examples
        --------
        >>> from forerun import np
        >>> np.ones((2, 2)).flat.copy().tolist()
        [1.0, 1.0, 1.0, 1.0]
        """
        return copy(ravel(self.base))

    def __array__(self, dtype: DTypeLike = None, copy: bool | None = None) -> numpy.ndarray:
        if copy is False:
            raise ValueError("flat: copy must not be False, as elements are copied, got False")
        return numpy.array(ravel(self.base).numpy(), dtype)

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        """Return where elements, in C order, equal others: a vector of bools. The other comparisons do likewise."""
        return self._compared(operator.eq, other)

    def __ne__(self, other: object) -> Array:  # type: ignore[override]
        return self._compared(operator.ne, other)

    def __lt__(self, other: ArrayLike) -> Array:
        return self._compared(operator.lt, other)

    def __le__(self, other: ArrayLike) -> Array:
        return self._compared(operator.le, other)

    def __gt__(self, other: ArrayLike) -> Array:
        return self._compared(operator.gt, other)

    def __ge__(self, other: ArrayLike) -> Array:
        return self._compared(operator.ge, other)

    __hash__ = None  # type: ignore[assignment]

    def _compared(self, comparison: Callable[[Any, Any], Any], other: object) -> Array:
        """Return a comparison of each element."""
        return comparison(  # type: ignore[no-any-return]
            ravel(self.base), ravel(other.base) if isinstance(other, flatiter) else other
        )

    def _read(self, index: Array) -> Array:
        """Return the elements at an index that the core leaves to Python."""
        found = self._places(index)
        x = ravel(self.base)
        if isinstance(found, int):
            return getitem(x, found)
        if isinstance(found, slice):
            return copy(getitem(x, found))
        return take(x, found)

    def _write(self, index: Any, value: Any) -> None:
        """Write the elements."""
        no_scalar("flat", self.base)
        found = index if type(index) is int and -len(self) <= index < len(self) else self._places(index)
        if isinstance(found, int):
            return self._write_one(found, value)
        n = len(self)
        places = numpy.arange(n)[found] if isinstance(found, slice) else found
        new = asarray(value if is_array(value) else fit("flat", self.base.dtype, value), device=self.base.device)
        new = ravel(cast(new, self.base.dtype))
        if not new.size or not places.size:
            return None
        if places.size == n and isinstance(found, slice) and (found.step or 1) > 0 and new.size in (1, n):
            return setitem(self.base, ..., reshape(new, self.base.shape if new.size > 1 else ()))
        untaped("flat", self.base, new)
        at = places if is_array(places) else _core.from_numpy(places, self.base.device)
        return _core.put(self.base, ravel(at), new, "flat")

    def _write_one(self, i: int, value: ArrayLike) -> None:
        """Write the element at a place."""
        base, offset = self.base, 0
        i %= len(self)
        for n, step in zip(reversed(base.shape), reversed(base.strides)):
            offset, i = offset + i % n * step, i // n
        untaped("flat", base, value)
        try:
            _core.assign(_core.view(base, (), (), offset), values_for("flat", base, value, True))
        except (TypeError, OverflowError) as error:  # here NumPy raises one kind
            if is_array(value):
                raise
            raise ValueError(str(error)) from None

    def _places(self, index: object) -> Any:
        """Return an index as an int, a slice or an array of integers, which are in range if they are known."""
        n = len(self)
        entries = index if isinstance(index, tuple) else (index,)
        if len(entries) > 1:
            raise IndexError(f"flat: an index must have one entry, got {reprlib.repr(index)}")
        e = entries[0] if entries else ...
        if e is ... or isinstance(e, slice):
            return slice(None) if e is ... else e
        if e is None:
            raise IndexError("flat: index must be an integer, a slice or an array of integers or bools, got None")
        found: Any = positions_from("flat", e, self.base.device)
        if not is_array(found) and found.ndim == 0 and found.dtype.kind != "b":
            check_range("flat", found, n)
            return int(found)
        if found.dtype.kind == "b":
            if found.shape != (n,):
                raise IndexError(f"flat: mask must have shape {(n,)}, got {found.shape}")
            return numpy.flatnonzero(_known(found))
        check_range("flat", found, n)
        return found

    def __repr__(self) -> str:
        return f"<flat elements of an array of shape {self.base.shape}>"


class broadcast:
    """Arrays of several shapes as NumPy's broadcasting sees them: `shape`, `size`, and tuples of elements.

    Iterating gives scalars.

    Parameters
    ----------
    *args : array_like
        The arrays.

    Raises
    ------
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> from forerun import np
    >>> b = np.broadcast(np.array([[1], [2]]), np.array([3, 4, 5]))
    >>> b.shape, b.size
    ((2, 3), 6)
    >>> [(x.item(), y.item()) for x, y in b][:2]
    [(1, 3), (1, 4)]
    """

    def __init__(self, *args: Array) -> None:
        self._arrays = [asarray(a) for a in args]
        self.shape = broadcast_shapes("broadcast", *(a.shape for a in self._arrays))
        self.size = int(numpy.prod(self.shape, dtype=object))
        self.ndim = self.nd = len(self.shape)
        self.numiter = len(args)
        self.reset()

    def reset(self) -> None:
        """Begin again at the first elements.

        Examples
        --------
        >>> from forerun import np
        >>> b = np.broadcast(np.array([1, 2]), np.array([3]))
        >>> first = next(b)
        >>> b.reset()
        >>> [x.item() for x in next(b)]
        [1, 3]
        """
        self.iters = tuple(flatiter(broadcast_to(a, self.shape)) for a in self._arrays)

    @property
    def index(self) -> int:
        """How many tuples have been given."""
        return self.iters[0].index if self.iters else 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return self

    def __next__(self) -> tuple[Any, ...]:
        found = [next(i) for i in self.iters]  # of which the first one ends the iteration
        if not found:
            raise StopIteration
        return tuple(found)


class ndenumerate:
    """Goes through an array in C order: for each element its index and its value. Waits when it begins.

    Parameters
    ----------
    arr : array_like
        The array.

    Examples
    --------
    >>> from forerun import np
    >>> [(i, v.item()) for i, v in np.ndenumerate(np.array([[1, 2]]))]
    [((0, 0), 1), ((0, 1), 2)]
    """

    def __init__(self, arr: ArrayLike) -> None:
        self._pairs = numpy.ndenumerate(asarray(arr).numpy())

    def __iter__(self) -> Iterator[tuple[tuple[int, ...], Any]]:
        return self

    def __next__(self) -> tuple[tuple[int, ...], Any]:
        return next(self._pairs)


def nditer(op: Array, *args: Any, **kwargs: Any) -> numpy.nditer:
    """Return NumPy's iterator over the values of arrays, which are read-only. Waits.

    Parameters
    ----------
    op : array_like
        The array, or a sequence of arrays.
    *args : any
        Arguments of NumPy's class.
    **kwargs : any
        Keyword arguments of NumPy's class.

    Returns
    -------
    numpy.nditer
        NumPy's iterator over the values of arrays.

    Raises
    ------
    ValueError
        If a forerun array is to be written to.

    Examples
    --------
    >>> from forerun import np
    >>> [int(v) for v in np.nditer(np.array([[1, 2], [3, 4]]))]
    [1, 2, 3, 4]
    """
    values = tuple(map(_known, op)) if isinstance(op, (tuple, list)) else _known(op)
    return numpy.nditer(values, *args, **kwargs)
