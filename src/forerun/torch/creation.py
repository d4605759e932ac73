"""New tensors. Sizes come as one sequence or as several numbers: `ones(2, 3)`, `ones((2, 3))`, `ones(size=(2, 3))`.

Unlike those of `forerun.np`, these do not depend on `npx.set_np()`: floats are float32, integers int64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy

from .. import np
from ..ops._base.convert import is_array
from .dtypes import as_dtype, float32, int64
from .grad import begin
from .places import Where, where

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike, Shape

__all__ = [
    "tensor", "as_tensor", "from_numpy", "is_tensor", "ones", "zeros", "empty", "full", "rand", "randn",
    "ones_like", "zeros_like", "empty_like", "full_like", "rand_like", "randn_like", "arange", "linspace", "eye",
]  # fmt: skip


def extents(sizes: tuple[Any, ...], size: Shape | None = None) -> tuple[int, ...]:
    """Return a shape from numbers, or from one sequence."""
    given = sizes if size is None else (size,)
    if len(given) == 1 and not isinstance(given[0], (int, numpy.integer)):
        given = tuple(given[0])
    return tuple(int(n) for n in given)


def _leaf(x: Array, requires_grad: bool) -> Array:
    if requires_grad:
        begin()
        x.attach_grad("add")
    return x


def tensor(data: ArrayLike, dtype: DTypeLike = None, device: Where = None, requires_grad: bool = False) -> Array:
    """Return a new tensor with the values of numbers, nested lists, arrays or tensors.

    Floats of Python become float32, integers int64; arrays keep their dtype.

    Parameters
    ----------
    data : array_like
        The values.
    dtype : dtype, optional
        The dtype; by default that of the values.
    device : Device or str, optional
        Where the tensor is; by default the current device.
    requires_grad : bool, default False
        Whether it is a leaf for gradients.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.tensor([1, 2]).dtype, torch.tensor(0.5).dtype
    (dtype('int64'), dtype('float32'))
    """
    want = as_dtype(dtype)
    if want is None and not hasattr(data, "dtype"):
        kind = numpy.asarray(data).dtype if not _holds_arrays(data) else numpy.dtype(object)
        want = float32 if kind.kind == "f" else kind if kind.kind in "iub" else None
    elif want is None:
        want = data.dtype  # type: ignore[union-attr]
    made = np.array(data, dtype=want, device=None if device is None else where(device))
    return _leaf(made.detach(), requires_grad)


def _holds_arrays(data: ArrayLike) -> bool:
    if isinstance(data, (list, tuple)):
        return any(map(_holds_arrays, data))
    return is_array(data)


def as_tensor(data: ArrayLike, dtype: DTypeLike = None, device: Where = None) -> Array:
    """Return the data itself if it is a tensor of that dtype and device, otherwise a new tensor.

    Parameters
    ----------
    data : array_like
        The values.
    dtype : dtype, optional
        The dtype; by default that of the values.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> x = torch.ones(2)
    >>> torch.as_tensor(x) is x
    True
    """
    if is_array(data):
        return np.asarray(data, as_dtype(dtype), device=None if device is None else where(device))
    return tensor(data, dtype, device)


def from_numpy(values: numpy.ndarray) -> Array:
    """Return a new tensor with the values of a NumPy array: a copy, so neither sees changes of the other.

    Parameters
    ----------
    values : numpy.ndarray
        The values.

    Returns
    -------
    Tensor
        Of the same shape and dtype.

    Examples
    --------
    >>> import numpy
    >>> from forerun import torch
    >>> torch.from_numpy(numpy.arange(3)).tolist()
    [0, 1, 2]
    """
    return tensor(values)


def is_tensor(x: Array) -> bool:
    """Return whether an object is a tensor.

    Parameters
    ----------
    x : object
        Any object.

    Returns
    -------
    bool
        True for tensors.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
    (True, False)
    """
    return is_array(x)


def full(
    size: Shape, fill_value: complex, dtype: DTypeLike = None, device: Where = None, requires_grad: bool = False
) -> Array:
    """Return one value everywhere; the dtype is that of the value unless given.

    Parameters
    ----------
    size : int or sequence of int
        The shape.
    fill_value : float
        The value.
    dtype : dtype, optional
        The dtype; by default that of the values.
    device : Device or str, optional
        Where the tensor is; by default the current device.
    requires_grad : bool, default False
        Whether it is a leaf for gradients.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.full((2,), 7).tolist()
    [7, 7]
    """
    kind = numpy.asarray(fill_value).dtype
    want = as_dtype(dtype, float32 if kind.kind == "f" else kind)
    return _leaf(np.full(extents((size,)), fill_value, want, device=where(device)), requires_grad)


_FILLED = """{doc}

Parameters
----------
*sizes : int
    The shape: its extents, or one sequence of them.
size : sequence of int, optional
    The shape, by its name.
dtype : dtype, optional
    The dtype; by default float32.
device : Device or str, optional
    Where the tensor is; by default the current device.
requires_grad : bool, default False
    Whether it is a leaf for gradients.

Returns
-------
Tensor
    The tensor.

Examples
--------
>>> from forerun import torch
>>> torch.{name}(2, 3).shape
(2, 3)
"""
_LIKE = """{doc}

Parameters
----------
x : Tensor
    The other tensor.
dtype : dtype, optional
    The dtype; by default that of x.
device : Device or str, optional
    Where the tensor is; by default where x is.
requires_grad : bool, default False
    Whether it is a leaf for gradients.

Returns
-------
Tensor
    The tensor.

Examples
--------
>>> from forerun import torch
>>> torch.{name}(torch.ones(2)).shape
(2,)
"""


def _filled(name: str, doc: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a creation function that takes sizes, and makes tensors with `make(shape, dtype, device)`."""

    def create(
        *sizes: Shape,
        size: Shape | None = None,
        dtype: DTypeLike = None,
        device: Where = None,
        requires_grad: bool = False,
    ) -> Array:
        made = make(extents(sizes, size), as_dtype(dtype, float32), where(device))
        return _leaf(made, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = _FILLED.format(doc=doc, name=name)
    return create


def _like(name: str, doc: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same, with shape, dtype and device of another tensor unless given."""

    def create(x: Array, dtype: DTypeLike = None, device: Where = None, requires_grad: bool = False) -> Array:
        made = make(x.shape, as_dtype(dtype, x.dtype), x.device if device is None else where(device))
        return _leaf(made, requires_grad)

    create.__name__ = create.__qualname__ = name
    create.__doc__ = _LIKE.format(doc=doc, name=name)
    return create


_MAKERS: dict[str, Callable[..., Any]] = {
    "ones": lambda shape, dtype, at: np.ones(shape, dtype, device=at),
    "zeros": lambda shape, dtype, at: np.zeros(shape, dtype, device=at),
    "empty": lambda shape, dtype, at: np.empty(shape, dtype, device=at),
    "rand": lambda shape, dtype, at: np.random.uniform(size=shape, dtype=dtype, device=at),
    "randn": lambda shape, dtype, at: np.random.normal(size=shape, dtype=dtype, device=at),
}

ones = _filled("ones", "Return ones of a shape, by default float32.", _MAKERS["ones"])
zeros = _filled("zeros", "Return zeros of a shape, by default float32.", _MAKERS["zeros"])
empty = _filled("empty", "Return any values, of a shape, by default float32.", _MAKERS["empty"])
rand = _filled("rand", "Draw random numbers evenly spread over [0, 1), of a shape.", _MAKERS["rand"])
randn = _filled("randn", "Draw random numbers of the standard normal distribution, of a shape.", _MAKERS["randn"])
ones_like = _like("ones_like", "Return ones in the shape of another tensor.", _MAKERS["ones"])
zeros_like = _like("zeros_like", "Return zeros in the shape of another tensor.", _MAKERS["zeros"])
empty_like = _like("empty_like", "Return any values in the shape of another tensor.", _MAKERS["empty"])
rand_like = _like("rand_like", "Draw even random numbers in the shape of another tensor.", _MAKERS["rand"])
randn_like = _like("randn_like", "Draw normal random numbers in the shape of another tensor.", _MAKERS["randn"])


def full_like(x: Array, fill_value: complex, dtype: DTypeLike = None, device: Where = None) -> Array:
    """Return one value everywhere, in the shape, dtype and device of another tensor.

    Parameters
    ----------
    x : Tensor
        The input.
    fill_value : float
        The value.
    dtype : dtype, optional
        The dtype; by default that of x.
    device : Device or str, optional
        Where the tensor is; by default where x is.

    Returns
    -------
    Tensor
        The tensor.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.full_like(torch.ones(2), 7).tolist()
    [7.0, 7.0]
    """
    return full(x.shape, fill_value, as_dtype(dtype, x.dtype), x.device if device is None else device)


def arange(
    start: float,
    end: float | None = None,
    step: float = 1,
    dtype: DTypeLike = None,
    device: Where = None,
    requires_grad: bool = False,
) -> Array:
    """Return numbers from start (by default 0) up to, not including, end: int64 from integers, otherwise float32.

    Parameters
    ----------
    start : float
        The first number; without a second one, the end.
    end : float, optional
        The limit, which is not reached.
    step : float, default 1
        The distance.
    dtype : dtype, optional
        The dtype; by default int64 from integers, else float32.
    device : Device or str, optional
        Where the tensor is; by default the current device.
    requires_grad : bool, default False
        Whether it is a leaf for gradients.

    Returns
    -------
    Tensor
        The numbers.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.arange(2, 8, 3).tolist()
    [2, 5]
    """
    start, end = (0, start) if end is None else (start, end)
    whole = all(isinstance(v, (int, numpy.integer)) for v in (start, end, step))
    want = as_dtype(dtype, int64 if whole else float32)
    return _leaf(np.arange(start, end, step, want, device=where(device)), requires_grad)


def linspace(start: float, end: float, steps: int, dtype: DTypeLike = None, device: Where = None) -> Array:
    """Return `steps` numbers at equal distances from start to end, both included.

    Parameters
    ----------
    start : float
        The first number.
    end : float
        The last number.
    steps : int
        How many.
    dtype : dtype, optional
        The dtype; by default float32.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The numbers.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.linspace(0, 1, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    numbers: Array = np.linspace(start, end, steps, dtype=as_dtype(dtype, float32), device=where(device))
    return numbers


def eye(n: int, m: int | None = None, dtype: DTypeLike = None, device: Where = None) -> Array:
    """Return ones on the diagonal of an n by m matrix, zeros elsewhere.

    Parameters
    ----------
    n : int
        Rows.
    m : int, optional
        Columns; by default as many as rows.
    dtype : dtype, optional
        The dtype; by default float32.
    device : Device or str, optional
        Where the tensor is; by default the current device.

    Returns
    -------
    Tensor
        The matrix.

    Examples
    --------
    >>> from forerun import torch
    >>> torch.eye(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    return np.eye(n, m, dtype=as_dtype(dtype, float32), device=where(device))
