"""PyTorch's methods for the arrays of `forerun.np`: there is one array class, and importing `forerun.torch` adds to it.

Nothing that NumPy defines is changed: its methods are the same objects, with the same signatures, before and after the
import. Where both define a name, NumPy's meaning stays, which matters for these:

- `x.size` is a number and `x.shape` the shape, so there is no `x.size()`: use `x.shape` or `x.numel()`.
- `x.transpose(0, 1)` is NumPy's: use `x.swapaxes(0, 1)`, `x.mT`, `x.t()` or `torch.transpose(x, 0, 1)`.
- `x.repeat`, `x.split` and `x.sort` are NumPy's: use `torch.tile`, `torch.split`, `torch.sort`.
- `x.std()` and `x.var()` divide by the number of elements: `torch.std(x)` and `torch.var(x)` by one less.
- `x.numpy()` is read-only, and `x.grad` is zero, not None, until `backward`.

Two forms of calls that NumPy refuses have PyTorch's meaning after the import. Reductions take `dim=` and `keepdim=` in
place of `axis=` and `keepdims=`; `x.max(dim=...)` and `x.min(dim=...)` then give values with positions. `x.view(2, -1)`
gives another shape. One attribute that NumPy's arrays have and those of `forerun.np` lack gets PyTorch's meaning:
`x.data` is the array without gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import np
from .._array import call_forms
from .._runtime.device import Device
from ..autograd.leaf import Variable
from ..ops._base.convert import is_array
from . import dtypes, functions, orders, reductions, shapes
from .creation import extents
from .grad import begin
from .places import where

if TYPE_CHECKING:
    from ..typing import Array, ArrayLike, DTypeLike, Shape
    from .places import Where

__all__ = ["install"]


# --- devices and dtypes ---------------------------------------------------------------------------


def to(
    x: Array, *args: Any, device: Where = None, dtype: DTypeLike = None, non_blocking: bool = False, copy: bool = False
) -> Array:
    """Return x on a device or with a dtype, or as another tensor has them; x itself if nothing changes, unless `copy`.

    A copy to another device is made on the copy queue while other work goes on. It is waited for, as PyTorch waits
    for copies from a GPU, unless `non_blocking`. ValueError if there is no such device.

    >>> from forerun import torch
    >>> torch.ones(2).to(torch.float64).dtype
    dtype('float64')
    """
    for given in args:
        if isinstance(given, (Device, str, int)) and not isinstance(given, bool) and not _names_dtype(given):
            device = given
        elif is_array(given):
            device, dtype = given.device, given.dtype
        elif isinstance(given, bool):
            non_blocking = given
        elif given is not None:
            dtype = given
    place = x.device if device is None else where(device)
    y = x if dtype is None else x.astype(dtypes.as_dtype(dtype), copy=False)
    if place == y.device:
        return y.copy() if copy and y is x else y
    y = y.to_device(place)
    if not non_blocking:
        y.wait()
    return y


def _names_dtype(given: object) -> bool:
    return isinstance(given, str) and given in (
        "float16",
        "float32",
        "float64",
        "int8",
        "int32",
        "int64",
        "uint8",
    )


def _typed(kind: DTypeLike) -> Callable[..., Array]:
    def method(x: Array) -> Array:
        return x.astype(kind, copy=False)

    method.__doc__ = f"Return x as {kind}."
    return method


def cpu(x: Array) -> Array:
    """Return x on the first CPU device. Waits for the copy, if one must be made."""
    return to(x, "cpu")


def cuda(x: Array, device: Where = 0, non_blocking: bool = False) -> Array:
    """Return x on a GPU; ValueError without one."""
    return to(x, where(device), non_blocking=non_blocking)


# --- shapes ---------------------------------------------------------------------------------------


def view(x: Array, *shape: Shape) -> Array:
    """Return x with another shape; one extent may be -1."""
    return x.reshape(extents(shape))


def expand(x: Array, *sizes: Shape) -> Array:
    """Return a view repeated to a larger shape; -1 leaves an extent as it is."""
    wanted = extents(sizes)
    lead = len(wanted) - x.ndim
    shape = tuple(x.shape[i - lead] if n == -1 else n for i, n in enumerate(wanted))
    return x[...] if shape == x.shape else x.broadcast_to(shape)


def permute(x: Array, *dims: int | Sequence[int]) -> Array:
    """Return a view with the axes in another order."""
    return np.transpose(x, extents(dims))


def same(x: Array) -> Array:
    """Return x itself."""
    return x


# --- writing in place -----------------------------------------------------------------------------


def copy_(x: Array, source: Array, non_blocking: bool = False) -> Array:
    """Write another tensor's values into x, and return x."""
    x[...] = source
    if not non_blocking and is_array(source) and source.device != x.device:
        x.wait()
    return x


def _in_place(operator: str) -> Callable[..., Array]:
    def method(x: Array, other: Array | float, alpha: float = 1) -> Array:
        result: Array = getattr(x, operator)(other if alpha == 1 else alpha * other)
        return result

    method.__doc__ = f"Do `{operator}` in place, and return x."
    return method


def _filled(make: Callable[..., Any], doc: str) -> Callable[..., Array]:
    def method(x: Array, *args: float) -> Array:
        x[...] = make(x, *args)
        return x

    method.__doc__ = doc
    return method


_IN_PLACE: dict[str, Callable[..., Any]] = {
    "add_": _in_place("__iadd__"), "sub_": _in_place("__isub__"), "mul_": _in_place("__imul__"),
    "div_": _in_place("__itruediv__"), "copy_": copy_,
    "zero_": _filled(lambda x: 0, "Write zeros everywhere, and return x."),
    "fill_": _filled(lambda x, value: value, "Write one value everywhere, and return x."),
    "clamp_": _filled(np.clip, "Limit the elements in place, and return x."),
    "normal_": _filled(
        lambda x, mean=0.0, std=1.0: np.random.normal(mean, std, x.shape, x.dtype, device=x.device),
        "Write normal random numbers, and return x.",
    ),
    "uniform_": _filled(
        lambda x, low=0.0, high=1.0: np.random.uniform(low, high, x.shape, x.dtype, device=x.device),
        "Write uniform random numbers, and return x.",
    ),
}  # fmt: skip


# --- gradients ------------------------------------------------------------------------------------


def requires_grad_(x: Array, requires_grad: bool = True) -> Array:
    """Make x a leaf for gradients, which `backward` adds to `x.grad`, or no leaf; x is returned.

    >>> from forerun import torch
    >>> x = torch.arange(3.0).requires_grad_()
    >>> (x * x).sum().backward()
    >>> x.grad.tolist()
    [0.0, 2.0, 4.0]
    """
    begin()
    if requires_grad == _has_gradient(x):
        return x
    if isinstance(x.node, Variable) and type(x.node) is not Variable:  # a parameter: it stays one
        make_leaf(x, type(x.node), requires_grad)
    elif requires_grad:
        x.attach_grad("add")
    else:
        x.node = None
    return x


def make_leaf(x: Array, kind: type[Variable], requires_grad: bool) -> Array:
    """Make x a leaf of a kind, which gradients reach or not; x is returned."""
    grad = np.zeros(x.shape, dtype=x.dtype, device=x.device) if requires_grad else None
    x.node = kind(grad, "add" if requires_grad else "null")
    return x


def _has_gradient(x: Array) -> bool:
    return x.node is not None and not (isinstance(x.node, Variable) and x.node.grad_req == "null")


def _set_requires_grad(x: Array, requires_grad: bool) -> None:
    requires_grad_(x, requires_grad)


def dim(x: Array) -> int:
    """Return the number of axes."""
    return x.ndim


def element_size(x: Array) -> int:
    """Return the bytes of an element."""
    return x.itemsize


def as_type(x: Array, kind: DTypeLike) -> Array:
    """Return x in a dtype."""
    return to(x, dtype=kind)


def view_as(x: Array, other: Array) -> Array:
    """Return x in the shape of another tensor."""
    return x.reshape(other.shape)


_requires_grad = property(_has_gradient, _set_requires_grad, doc="Whether gradients flow through x; may be set.")
_is_leaf = property(lambda x: x.node is None or isinstance(x.node, Variable), doc="Whether x was not computed.")
_data = property(lambda x: x.detach(), doc="The same values, out of sight of gradients.")
_is_cuda = property(lambda x: x.device.device_type == "gpu", doc="Whether x is on a GPU.")


# --- installation ---------------------------------------------------------------------------------


_OWN = {
    "to": to, "cpu": cpu, "cuda": cuda, "expand": expand, "permute": permute, "contiguous": same,
    "requires_grad_": requires_grad_, "requires_grad": _requires_grad, "is_leaf": _is_leaf, "data": _data,
    "dim": dim, "element_size": element_size, "type": as_type, "view_as": view_as, "is_cuda": _is_cuda,
    "float": _typed(dtypes.float32), "double": _typed(dtypes.float64), "half": _typed(dtypes.float16),
    "int": _typed(dtypes.int32), "long": _typed(dtypes.int64), "bool": _typed(dtypes.bool), **_IN_PLACE,
}  # fmt: skip
_WITH_DIM = (
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "all",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "cumsum",
    "cumprod",
)
_NOT_METHODS = (
    "where",
    "meshgrid",
    "einsum",
    "cat",
    "concat",
    "stack",
    "tensordot",
    "split",
    "repeat_interleave",
)


def install() -> None:
    """Give the array class PyTorch's methods, where it has no method of that name.

    Methods that NumPy defines stay the same objects. Its reductions leave calls with `dim=` and `keepdim=` to PyTorch's
    functions from then on, and `view` calls with a shape: NumPy refuses these.
    """
    both = {name: getattr(module, name) for module in (functions, shapes) for name in module.__all__}
    free = {name: function for name, function in both.items() if name not in _NOT_METHODS}
    along = {name: getattr(module, name) for module in (reductions, orders) for name in module.__all__}
    free.update(along, **_OWN)
    for name, member in free.items():
        if not hasattr(np.ndarray, name):
            setattr(np.ndarray, name, _bound(member))
    call_forms.register({name: along[name] for name in _WITH_DIM} | {"view": view})
    if not hasattr(Device, "type"):
        Device.type = property(lambda d: "cuda" if d.device_type == "gpu" else d.device_type)  # type: ignore[attr-defined]


def _bound(member: Any) -> Any:
    """Ops are objects, which do not become methods by themselves."""
    if isinstance(member, property) or hasattr(member, "__get__"):
        return member

    def method(x: Array, *args: ArrayLike, **kwargs: Any) -> Array:
        result: Array = member(x, *args, **kwargs)
        return result

    method.__doc__ = member.__doc__
    return method
