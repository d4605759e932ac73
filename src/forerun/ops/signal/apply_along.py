"""Python functions applied along axes, and to each element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._base.convert import as_dtype, asarray, axis_of, broadcast_shapes
from .._base.host_task import host
from ..create.arguments import _known
from ..shape.axis_order import moveaxis
from ..shape.join import stack
from ..shape.reshape import expand_dims, reshape

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike, DTypeLike

__all__ = ["apply_along_axis", "apply_over_axes", "vectorize"]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Array:
    """Return the results of a function of vectors for each vector along `axis`, which their axes replace.

    The function is called once for each vector, a forerun array; one that consists of operations does not wait.

    Parameters
    ----------
    func1d : callable
        A function of a vector.
    axis : int
        The axis along which the vectors lie.
    arr : array_like
        The values.
    *args : any
        Further arguments of the function.
    **kwargs : any
        Keyword arguments of the function.

    Returns
    -------
    array
        The results of a function of vectors for each vector along `axis`.

    Raises
    ------
    ValueError
        If there is no vector, or results differ in shape.

    Examples
    --------
    >>> from forerun import np
    >>> np.apply_along_axis(np.sort, 1, np.array([[3, 1], [2, 5]])).tolist()
    [[1, 3], [2, 5]]
    """
    x = asarray(arr)
    at = axis_of("apply_along_axis", axis, x.ndim)
    rows = moveaxis(x, at, -1)
    outer = rows.shape[:-1]
    if 0 in outer:
        raise ValueError(f"apply_along_axis: there must be at least one vector along axis {at}, got shape {x.shape}")
    found = [asarray(func1d(rows[i], *args, **kwargs)) for i in numpy.ndindex(*outer)]
    inner = found[0].shape
    result = reshape(stack(found), (*outer, *inner))
    n = len(outer)
    return moveaxis(result, list(range(n, n + len(inner))), list(range(at, at + len(inner))))


def apply_over_axes(func: Callable[..., Any], a: ArrayLike, axes: int | Sequence[int]) -> Array:
    """Return func(a, axis) for one axis after the other, each with the result of the one before; reduced axes stay.

    Parameters
    ----------
    func : callable
        A function of an array and an axis.
    a : array_like
        The values.
    axes : tuple of ints
        The axes, in the order in which they are used.

    Returns
    -------
    array
        Func(a, axis) for one axis after the other.

    Raises
    ------
    ValueError
        If a result has other than as many axes or one less.

    Examples
    --------
    >>> from forerun import np
    >>> np.apply_over_axes(np.sum, np.ones((2, 3, 4)), [0, 2]).tolist()
    [[[8.0], [8.0], [8.0]]]
    """
    x = asarray(a)
    ndim = x.ndim
    for axis in (axes,) if numpy.ndim(axes) == 0 else tuple(axes):  # type: ignore[arg-type]
        at = axis_of("apply_over_axes", axis, ndim)
        result = asarray(func(x, at))
        if result.ndim == ndim - 1:
            result = expand_dims(result, at)
        if result.ndim != ndim:
            raise ValueError(f"apply_over_axes: results must have {ndim} or {ndim - 1} axes, got {result.shape}")
        x = result
    return x


class vectorize:
    """A Python function of numbers as a function of arrays: it is called for each element, by NumPy.

    No gradient flows through it.

    Parameters
    ----------
    pyfunc : callable
        The function of numbers.
    otypes : sequence of dtypes, optional
        The dtypes of its results. With them the call is a host task: it returns at once, and the function is called
        once the values are computed. Without, the call waits, as only results say their dtypes.
    doc : str, optional
        The docstring; None for that of the function.
    excluded : set, optional
        The places or names of arguments that are passed on as they are.
    cache : bool, optional
        Without `otypes`, whether the first result is kept, so that the function is called once for it.
    signature : str, optional
        The core dimensions, such as "(n)->()", for a function of arrays. The call waits.

    Examples
    --------
    >>> from forerun import np
    >>> steps = np.vectorize(lambda a, b: a if a > b else -b, otypes=["float32"])
    >>> steps(np.array([1.0, 3.0]), 2.0).tolist()
    [-2.0, 3.0]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: str | Sequence[DTypeLike] | None = None,
        doc: str | None = None,
        excluded: Iterable[int | str] | None = None,
        cache: bool = False,
        signature: str | None = None,
    ) -> None:
        self.pyfunc = pyfunc
        self.signature = signature
        names = list(otypes) if otypes is not None else None
        self.otypes = None if names is None else [as_dtype("vectorize", t) for t in names]
        typecodes = None if self.otypes is None else [t.char for t in self.otypes]
        self._function = numpy.vectorize(pyfunc, typecodes, doc, excluded, cache, signature)
        self.excluded = self._function.excluded
        self.__doc__ = self._function.__doc__
        self.__name__ = getattr(pyfunc, "__name__", "vectorize")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.otypes is None or self.signature is not None or kwargs or self.excluded:
            found = self._function(*map(_known, args), **{k: _known(v) for k, v in kwargs.items()})
            return tuple(map(asarray, found)) if isinstance(found, tuple) else asarray(found)
        arrays = [asarray(a) for a in args]
        shape = broadcast_shapes("vectorize", *(a.shape for a in arrays))
        results = host(self._function, arrays, [(shape, t) for t in self.otypes], name="vectorize")
        return results[0] if len(results) == 1 else tuple(results)
