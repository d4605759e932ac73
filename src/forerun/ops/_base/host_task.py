"""Host tasks: Python callables that workers run on zero-copy views; breadth from NumPy."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from ... import _core
from ..._runtime.device import resolve
from .convert import as_dtype, asarray, is_inexact
from .primitive import primitive

if TYPE_CHECKING:
    import numpy

    from ...typing import Array, DeviceLike, DTypeLike

__all__ = ["AT_ONCE", "host", "host_op", "host_ops"]

# Bytes of operands and results together, up to which a task whose cost grows with its elements runs within the call.
AT_ONCE = 1 << 15


def host(
    fn: Callable[..., Any],
    inputs: Sequence[Any],
    outs: Sequence[tuple[Sequence[int], Any]],
    *,
    device: DeviceLike = None,
    name: str = "host",
    queue: str = "compute",
) -> list[Array]:
    """Submit `fn` as an operation: a worker calls it with the inputs as read-only NumPy arrays once they are computed.

    `fn` returns the result, or a tuple where there is not exactly one. Every read of the results raises its error.

    Parameters
    ----------
    fn : callable
        The function.
    inputs : sequence of arrays
        The arrays that it is called with.
    outs : sequence of (shape, dtype)
        Shape and dtype of each result.
    device : device, optional
        The device of the result.
    name : str, optional
        The name of the operation in reports.
    queue : str, optional
        "compute", or "io" for callables that read or write files.

    Returns
    -------
    list of arrays
        The results, which are computed later.

    Raises
    ------
    ValueError
        If an extent of a result is negative.

    Examples
    --------
    >>> import numpy
    >>> from forerun import np
    >>> x = np.array([3.0, 1.0, 2.0])
    >>> host(numpy.sort, [x], [(x.shape, x.dtype)])[0].tolist()
    [1.0, 2.0, 3.0]
    """
    arrays = [asarray(a) for a in inputs]
    where = resolve(device) if device is not None or not arrays else None  # None: where the inputs are
    specs = [(tuple(shape), as_dtype(name, dtype)) for shape, dtype in outs]
    for shape, _ in specs:
        if min(shape, default=0) < 0:
            raise ValueError(f"{name}: extents must not be negative, got {shape}")
    results = _core.host(fn, arrays, specs, where, name, queue)
    no_gradient(name, arrays, results)
    return results


def no_gradient(name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Make the backward pass raise NotImplementedError where it would go through an operation."""
    if _core.recording() and (_core.tracing() or any(is_inexact(y.dtype) for y in outputs)):
        _core.record(_NoGradient(name), tuple(inputs), tuple(outputs), None, 0)


class _NoGradient:
    """The node of a callable: its gradient is not known, and zeros would be wrong."""

    stateless = True

    def __init__(self, name: str) -> None:
        self.name = name

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: object) -> NoReturn:
        """Raise NotImplementedError: use autograd.Function to give a callable a gradient."""
        i = next(i for i, x in enumerate(inputs) if x.node is not None)
        raise NotImplementedError(f"{self.name}: gradient of operand {i} must be defined, got a host task")


def host_op(name: str, fn: Callable[..., Any], inputs: Sequence[Any], shape: Sequence[int], dtype: DTypeLike) -> Array:
    """Submit a function of the library as `host` does, with one result of a shape and dtype, which is returned.

    Its cost must grow with its elements, and it must not wait: of few elements it runs in the call.

    >>> from forerun import np
    >>> host_op("twice", lambda v: 2 * v, [np.arange(3)], (3,), "int64").tolist()
    [0, 2, 4]
    """
    return host_ops(name, fn, inputs, [(shape, dtype)])[0]


def host_ops(
    name: str, fn: Callable[..., Any], inputs: Sequence[Any], outs: Sequence[tuple[Sequence[int], Any]]
) -> list[Array]:
    """Return the same with several results, whose shapes and dtypes `outs` gives.

    >>> import numpy
    >>> from forerun import np
    >>> y, z = host_ops("modf", numpy.modf, [np.ones(3) * 1.5], [((3,), "float32")] * 2)
    >>> y.tolist(), z.tolist()
    ([0.5, 0.5, 0.5], [1.0, 1.0, 1.0])
    """
    arrays = [asarray(a) for a in inputs]
    where = resolve() if not arrays else None
    specs = [(tuple(shape), as_dtype(name, dtype)) for shape, dtype in outs]
    # Trusted not to write: NumPy would copy arrays that are marked as read-only.
    results = _core.host(fn, arrays, specs, where, name, trusted=True, at_once=AT_ONCE)
    no_gradient(name, arrays, results)
    return results


@primitive(lambda g: g, op="checked")
def checked(x: Array, name: str, check: Callable[..., None]) -> Array:
    """Return x with its values checked: where `check` raises, reads raise. Gradients flow through."""

    def looked(v: numpy.ndarray) -> numpy.ndarray:
        check(v)
        return v

    return host_op(name, looked, [x], x.shape, x.dtype)


def quiet(fn: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a function of NumPy's without its warnings: infinities and NaNs in the result show the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return fn(*args, **options)
