"""The array that users hold: NumPy's methods, and MXNet's where NumPy has no such method."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .._runtime.device import Device, resolve, used_devices
from ..autograd import backward_pass, leaf
from ..ops._base import convert
from ..ops._base import core as _core
from ..ops._base.primitive import direct
from ..ops.elementwise import arithmetic, rounding, select
from ..ops.index import diagonal as diagonals
from ..ops.index import getitem as indexing
from ..ops.index import select_by as choosing
from ..ops.linalg import matmul as products
from ..ops.linalg import tensordot as linear
from ..ops.random import permutations
from ..ops.reduce import mean_variance as moments
from ..ops.reduce import product, reduction
from ..ops.reduce import scan as scans
from ..ops.shape import axis_order, broadcast, complex_parts, memory_order
from ..ops.shape import repeat as repeating
from ..ops.shape import reshape as reshaping
from ..ops.shape import split as splitting
from ..ops.sort import argmax as extremes
from ..ops.sort import search_count as searching
from ..ops.sort import sort as sorting  # fmt: skip
from . import arrow_protocol as arrow
from . import numpy_protocols as protocols
from . import text
from .array_class import ArrayClass
from .call_forms import delegate
from .mxnet_methods import MxnetMethods
from .numpy_methods import NumpyMethods

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = ["ndarray"]


def _extents(args: tuple[Any, ...]) -> Any:
    """Return the extents that a call has: `f(2, 3)` and `f((2, 3))` mean the same."""
    return args[0] if len(args) == 1 and not isinstance(args[0], (int, numpy.integer)) else args


class ndarray(NumpyMethods, MxnetMethods, _core.Array, metaclass=ArrayClass):
    """An array of numbers that may not be computed yet. Made by the functions of `forerun.np`.

    `ndarray(shape, dtype)` is `np.empty(shape, dtype)`.

    Every method returns at once but those that hand out values: `wait`, `asnumpy`, `item`, `tolist`,
    `print`, `float(x)`, `bool(x)` and the like wait for the values, and raise the error of their computation.

    >>> from forerun import np
    >>> x = np.arange(6).reshape(2, 3)
    >>> x.sum(axis=0)
    array([3, 5, 7])
    """

    __slots__ = ()
    __array_priority__ = 1000.0
    __array_ufunc__ = protocols.array_ufunc
    __array_function__ = protocols.array_function
    __array_namespace__ = protocols.array_namespace
    __arrow_c_array__ = property(arrow.arrow_c_array)
    __arrow_c_stream__ = property(arrow.arrow_c_stream)

    # --- shape: views where memory allows ---

    @property
    def mT(self) -> ndarray:
        """A view with the last two axes exchanged."""
        return axis_order.matrix_transpose(self)

    @direct("reshape_method")
    def reshape(self, *args: Any, order: str = "C", copy: bool | None = None) -> ndarray:
        """Return the same elements with another shape.

        Parameters
        ----------
        *args : int, or one sequence of ints
            The extents. One may be -1: it follows from the others.
        order : str, optional
            "C", "F" with the first axis running fastest, or "A" for "F" if memory is in that order.
        copy : bool, optional
            Whether a copy is made; None: if it must be.

        Returns
        -------
        array
            A view where memory allows one, otherwise a copy.

        Raises
        ------
        ValueError
            If the number of elements differs, or a copy is refused that must be made.
        """
        return reshaping.reshape(self, _extents(args), order, copy=copy)

    @direct("transpose")
    def transpose(self, *axes: Axis) -> ndarray:
        """Return a view with the axes in another order, by default reversed."""
        return axis_order.transpose(self, _extents(axes) if axes and axes[0] is not None else None)

    @delegate(axis_order.swapaxes)
    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        """Return a view with two axes exchanged."""

    @delegate(reshaping.ravel)
    def ravel(self, order: str = "C") -> ndarray:
        """Return the elements as one axis: a view if they are contiguous, otherwise a copy."""

    @delegate(reshaping.flatten)
    def flatten(self, order: str = "C") -> ndarray:
        """Return a copy of the elements as one axis."""

    @delegate(reshaping.squeeze)
    def squeeze(self, axis: Axis = None) -> ndarray:
        """Return a view without axes of extent 1."""

    @delegate(reshaping.expand_dims)
    def expand_dims(self, axis: int | Sequence[int]) -> ndarray:
        """Return a view with new axes of extent 1."""

    def broadcast_to(self, shape_: Sequence[int]) -> ndarray:
        """Return a view repeated to a larger shape."""
        return broadcast.broadcast_to(self, shape_)

    @delegate(repeating.repeat)
    def repeat(self, repeats: ArrayLike, axis: int | None = None) -> ndarray:
        """Repeat each element several times along an axis."""

    @delegate(splitting.split)
    def split(self, indices_or_sections: int | Sequence[int] | Array, axis: int = 0) -> list[Array]:
        """Return views of equal parts along an axis."""

    # --- values: copies, dtypes, devices ---

    @direct("copy")
    def copy(self, order: str = "C") -> ndarray:
        """Return a copy in C order; order: "F" for one whose first axis runs fastest, "A" if that of the array does."""
        convert.check_choice("copy", "order", order, ("C", "F", "A", "K"))
        return memory_order.copied_in(self, order)

    @direct("astype")
    def astype(
        self, dtype: DTypeLike, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> ndarray:
        """Return the elements converted to a dtype; without `copy`, the array itself if it has that dtype and order.

        Floats lose their fraction in integers; of a value that the integer dtype cannot hold, the lowest bits are kept.

        Parameters
        ----------
        dtype : dtype
            The dtype of the result.
        order : str, optional
            The order of the result in memory: "F" if the first axis is to run fastest, "A" if it does in the array,
            "C" if the last axis is, "K" for the order of the array's axes.
        casting : str, optional
            The rule by which the conversion must be possible (`np.can_cast`).
        subok : bool, optional
            Has no effect: there is one class of arrays.
        copy : bool, optional
            Whether the result is a copy in any case.

        Returns
        -------
        array
            The elements in the dtype.

        Raises
        ------
        TypeError
            If the rule does not allow the conversion.
        """
        convert.check_choice("astype", "order", order, ("C", "F", "A", "K"))
        want = convert.as_dtype("astype", dtype)
        if want == self.dtype:
            return memory_order.copied_in(self, order) if copy or not memory_order.in_order(self, order) else self
        if casting != "unsafe" and not convert.castable(self.dtype, want, casting):
            raise TypeError(f"astype: casting must be possible by rule {casting!r}, got {self.dtype} to {want}")
        return memory_order.copied_in(self, order, want)

    @direct("fill")
    def fill(self, value: ArrayLike) -> None:
        """Fill the array with one value, in place."""
        self[...] = value

    def asnumpy(self) -> numpy.ndarray:
        """Return a NumPy array with a copy of the values. Waits."""
        return super().asnumpy()

    @property
    def ctx(self) -> Device:
        """The device, by MXNet's older name."""
        return self.device

    context = ctx

    # --- gradients ---

    def attach_grad(self, grad_req: str = "write") -> None:
        """Make the array a leaf of the tape: `backward` puts a gradient into `grad`.

        TypeError if not of floats.
        """
        leaf.attach_grad(self, grad_req)

    def backward(self, out_grad: Array | None = None, retain_graph: bool = False, train_mode: bool = True) -> None:
        """Compute the gradients of this array with respect to the leaves from which it was computed.

        Parameters
        ----------
        out_grad : array, optional
            The gradient of this array, of its shape; ones by default.
        retain_graph : bool, optional
            Whether the tape is kept for another backward pass.
        train_mode : bool, optional
            Whether the pass differentiates what layers do in training.
        """
        backward_pass.backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)

    def detach(self) -> ndarray:
        """Return an array with the same values that is not on the tape."""
        return _core.detach(self)

    def zero_grad(self) -> None:
        """Set the gradient of a leaf to zero."""
        if self.grad is not None:
            _core.assign(self.grad, 0)

    # --- reductions: (axis=None, dtype=None, out=None, keepdims=False) as in NumPy ---

    @delegate(reduction.sum, takes_dim=True)
    def sum(
        self, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike = True,
    ) -> ndarray:  # fmt: skip
        """Return the sum over axes."""

    @delegate(product.prod, takes_dim=True)
    def prod(
        self, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False,
        initial: ArrayLike | None = None, where: ArrayLike = True,
    ) -> ndarray:  # fmt: skip
        """Return the product over axes."""

    @delegate(moments.mean, takes_dim=True)
    def mean(
        self, axis: Axis = None, dtype: DTypeLike = None, out: Out = None, keepdims: bool = False, *,
        where: ArrayLike = True,
    ) -> ndarray:  # fmt: skip
        """Return the mean over axes."""

    @delegate(moments.var)
    def var(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: ArrayLike | None = None,
        correction: float | None = None,
    ) -> ndarray:
        """Return the variance over axes."""

    @delegate(moments.std)
    def std(
        self,
        axis: Axis = None,
        dtype: DTypeLike = None,
        out: Out = None,
        ddof: float = 0,
        keepdims: bool = False,
        *,
        where: ArrayLike = True,
        mean: ArrayLike | None = None,
        correction: float | None = None,
    ) -> ndarray:
        """Return the standard deviation over axes."""

    @delegate(reduction.max, takes_dim=True)
    def max(
        self, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> ndarray:  # fmt: skip
        """Return the largest element over axes."""

    @delegate(reduction.min, takes_dim=True)
    def min(
        self, axis: Axis = None, out: Out = None, keepdims: bool = False, initial: ArrayLike | None = None,
        where: ArrayLike = True,
    ) -> ndarray:  # fmt: skip
        """Return the smallest element over axes."""

    @delegate(reduction.all, takes_dim=True)
    def all(self, axis: Axis = None, out: Out = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray:
        """Return whether all elements over axes are true."""

    @delegate(reduction.any, takes_dim=True)
    def any(self, axis: Axis = None, out: Out = None, keepdims: bool = False, *, where: ArrayLike = True) -> ndarray:
        """Return whether any element over axes is true."""

    @delegate(reduction.ptp)
    def ptp(self, axis: Axis = None, out: Out = None, keepdims: bool = False) -> ndarray:
        """Return largest minus smallest element over axes."""

    @delegate(scans.cumsum, takes_dim=True)
    def cumsum(self, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> ndarray:
        """Return running sums along an axis."""

    @delegate(scans.cumprod, takes_dim=True)
    def cumprod(self, axis: int | None = None, dtype: DTypeLike = None, out: Out = None) -> ndarray:
        """Return running products along an axis."""

    @delegate(extremes.argmax, takes_dim=True)
    def argmax(self, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> ndarray:
        """Return the position of the largest element."""

    @delegate(extremes.argmin, takes_dim=True)
    def argmin(self, axis: int | None = None, out: Out = None, *, keepdims: bool = False) -> ndarray:
        """Return the position of the smallest element."""

    @delegate(sorting.argsort, takes_dim=True)
    def argsort(
        self, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None,
        descending: bool = False,
    ) -> ndarray:  # fmt: skip
        """Return positions that sort the array along an axis."""

    @delegate(sorting.argpartition)
    def argpartition(self, kth: Axis, axis: int | None = -1, kind: str = "introselect", order: None = None) -> ndarray:
        """Return positions that partition the array along an axis."""

    @delegate(searching.searchsorted)
    def searchsorted(self, v: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> ndarray:
        """Return positions at which values would keep the sorted vector sorted."""

    # --- elements, products, parts ---

    @delegate(linear.dot)
    def dot(self, b: ArrayLike, out: Out = None) -> ndarray:
        """Return the dot product."""

    @delegate(select.clip)
    def clip(
        self, min: ArrayLike | None = None, max: ArrayLike | None = None, out: Out = None, **kwargs: Any
    ) -> ndarray:
        """Return elements limited to [min, max]."""

    @delegate(rounding.round)
    def round(self, decimals: int = 0, out: Out = None) -> ndarray:
        """Return elements rounded to decimals; halves go to the even digit."""

    @delegate(indexing.take)
    def take(self, indices: ArrayLike, axis: int | None = None, out: Out = None, mode: str = "raise") -> ndarray:
        """Return elements at positions along an axis."""

    @delegate(select.nonzero)
    def nonzero(self) -> tuple[Any, ...]:
        """Return positions of elements that are not zero. Waits."""

    @delegate(choosing.choose)
    def choose(self, choices: Sequence[ArrayLike] | Array, out: Out = None, mode: str = "raise") -> ndarray:
        """Build an array by choosing, for each number in the array, the element of that choice."""

    @delegate(diagonals.diagonal)
    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        """Return a diagonal of two axes."""

    @delegate(diagonals.trace)
    def trace(
        self, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: Out = None
    ) -> ndarray:
        """Return the sum of a diagonal."""

    def conj(self) -> ndarray:
        """Return the complex conjugate; the array itself if its dtype is not complex."""
        return arithmetic.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    @direct("real")
    def real(self) -> ndarray:
        """The real part, as a view."""
        return complex_parts.real(self)

    @real.setter
    def real(self, values: ArrayLike) -> None:
        complex_parts.real(self)[...] = values

    @property
    @direct("imag")
    def imag(self) -> ndarray:
        """The imaginary part, as a view; zeros, which are new, if the dtype is not complex."""
        return complex_parts.imag(self)

    @imag.setter
    def imag(self, values: ArrayLike) -> None:
        if self.dtype.kind != "c":
            raise TypeError(f"imag: dtype must be complex, got {self.dtype}")
        complex_parts.imag(self)[...] = values

    def tostype(self, stype: str) -> Array:
        """Return the array itself: arrays are dense. ValueError for another storage type."""
        if stype != "default":
            raise ValueError(f'tostype: stype must be "default", got {stype!r}')
        return self

    # --- Python ---

    def __repr__(self) -> str:
        return text.represented(self)

    def __str__(self) -> str:
        return text.shown(self)

    def _repr_html_(self) -> str:
        """The values, for a notebook, as `repr` has them, below a line that describes the array; or the error of its
        computation.

        Waits for this array, and no other; of a large one only the corners are read.
        """
        return text.in_html(self)

    def __format__(self, spec: str) -> str:
        return text.formatted(self, spec)

    def __contains__(self, value: object) -> bool:
        return bool(reduction.any(self == value))

    def __imatmul__(self, other: Any) -> ndarray:
        return convert.write_out("matmul", products.matmul(self, other), self)

    def __divmod__(self, other: object) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, decimals: int = 0) -> Array:
        return self.round(decimals)

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait for the values in asyncio, while other tasks go on: `await x` gives the array.

        Raises the error of the computation.
        """
        if not _core.arrived(self):
            from .._runtime import asyncio as aio  # asyncio's 20 ms are for those who use it

            yield from aio.arrival(self)
        return self

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> ndarray:
        copied = _core.copy(_core.detach(self))
        memo[id(self)] = copied
        return copied

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """Return the data from which Dask makes a name: the values, which are waited for if there are any."""
        values = self.numpy() if self.size else None  # Dask keeps an array without elements of each kind
        return type(self).__name__, self.shape, str(self.dtype), str(self.device), values

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return _unpickled, (numpy.asarray(self.numpy(), order="C"), str(self.device).replace("(", ":").rstrip(")"))

    def shuffle(self) -> None:
        """Shuffle the rows in place."""
        permutations.shuffle(self)


def _unpickled(values: numpy.ndarray, device: str) -> Array:
    kind, _, number = device.partition(":")
    there = Device(kind, int(number))
    return _core.from_numpy(values, there if there in used_devices() else resolve())


_unpickled.__module__ = "forerun.np"  # files of pickles say so: they outlive the files of the package
