"""Help for tests of programs: of gradients, of bits, of code that must not wait, and of errors that nothing reads.

`forerun.pytest_plugin` is a plugin of pytest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy

from . import autograd, np
from ._display.namespaces import dir_of
from ._runtime import core as _core
from ._runtime.settings import config
from .profiler import guard
from .typing import Array, ArrayLike

__all__ = ["assert_same_bits", "check_grads", "closed_gate", "unread_errors"]
__dir__ = dir_of(__name__)


def assert_same_bits(found: ArrayLike, expected: ArrayLike) -> None:
    """Assert that two arrays have the same dtype, shape, and bits in each element.

    It waits for both. Unlike `==` it tells 0.0 from -0.0, and NaNs are the same if their bits are.

    Parameters
    ----------
    found : array_like
        The array to test, of forerun or NumPy.
    expected : array_like
        The array that it must equal, of forerun or NumPy.

    Raises
    ------
    AssertionError
        If they differ. The error names the first element that differs.

    Examples
    --------
    >>> from forerun import np
    >>> assert_same_bits(np.array([1.0, 2.0]) + 1, np.array([2.0, 3.0]))
    >>> assert_same_bits(np.array([0.0]), np.array([-0.0]))
    Traceback (most recent call last):
    AssertionError: element (0,) must be -0.0, got 0.0; 1 of 1 differ
    """
    x, y = (a.numpy() if isinstance(a, _core.Array) else numpy.asarray(a) for a in (found, expected))
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        raise AssertionError(f"array must be {y.dtype} of {y.shape}, got {x.dtype} of {x.shape}")
    bits = [numpy.ascontiguousarray(a).reshape(-1).view(numpy.uint8).reshape(a.size, a.itemsize) for a in (x, y)]
    differ = numpy.flatnonzero((bits[0] != bits[1]).any(axis=1))
    if len(differ):
        at = tuple(map(int, numpy.unravel_index(differ[0], x.shape)))
        raise AssertionError(f"element {at} must be {y[at]}, got {x[at]}; {len(differ)} of {x.size} differ")


@contextmanager
def closed_gate() -> Iterator[None]:
    """Return a context manager inside which the engine starts no operation, and no line of this thread may wait.

    So a test knows that code waits for nothing, however fast the machine is. Operations are issued as ever, and run
    after the block. A line of this thread that would wait raises `profiler.Blocked`. Other threads that wait do so
    until the block ends.

    Returns
    -------
    context manager
        For a `with` statement.

    Raises
    ------
    RuntimeError
        For the engine "sync", which runs all operations in the call.

    Examples
    --------
    >>> from forerun import np, testing
    >>> with testing.closed_gate():
    ...     y = np.ones(3) + 1          # issued
    ...     y.sum().item()
    Traceback (most recent call last):
    forerun.profiler.guarding.Blocked: item: must not wait here, got ...
    >>> y.tolist()
    [2.0, 2.0, 2.0]
    """
    if config()["engine"] == "sync":
        raise RuntimeError('closed_gate: engine must be "async", got "sync"')
    with guard("raise"):
        _close(1)
        try:
            yield
        finally:
            _close(-1)


_closing = threading.Lock()
_closed = 0  # blocks that threads are in


def _close(blocks: int) -> None:
    """Close the gate for one block more, or one less."""
    global _closed
    with _closing:
        _closed += blocks
        _core.gate(_closed > 0)


def unread_errors() -> list[str]:
    """Return the errors of operations that no read has raised, with the lines that issued them.

    It waits for all work. The errors count as read from then on: they are neither reported at exit, nor raised by
    `waitall`.

    Returns
    -------
    list of str
        A text for each error.

    Examples
    --------
    >>> from forerun import np
    >>> x = np.linalg.inv(np.zeros((2, 2)))
    >>> unread_errors()
    ['LinAlgError: Singular matrix, issued at ...']
    >>> unread_errors()
    []
    """
    _core.quiesce()
    found = []
    for message, site in _core.unseen_failures():
        if message is None:
            found.append(f"and {site} more")
        else:
            found.append(message if site is None else f"{message}, issued at {site[0]}:{site[1]}")
    return found


# --- gradients -------------------------------------------------------------------------------------------------------


def check_grads(
    function: Callable[..., Any], *args: Any, order: int = 1, step: float = 1e-5, rtol: float = 1e-5, atol: float = 1e-6
) -> None:  # fmt: skip
    """Assert that the gradients of a function equal those of central differences.

    Parameters
    ----------
    function : callable
        A function of `args` that returns an array or several.
    *args : any
        The arguments. Arrays of real floats are taken in double precision, and differentiated; others are passed as
        they are.
    order : int, optional
        The order of gradients: 2 checks the gradients of gradients, too.
    step : float, optional
        The step of the differences.
    rtol : float, optional
        How far gradients may be from the differences, relative to these.
    atol : float, optional
        How far gradients may be from the differences in absolute terms, which is added to the relative distance.

    Raises
    ------
    AssertionError
        If gradients differ from the differences.
    ValueError
        If there is nothing to differentiate, or `order` is not positive.

    Examples
    --------
    >>> from forerun import np
    >>> check_grads(lambda x, y: np.sin(x) * y, np.ones(3), np.ones(3), order=2)
    >>> check_grads(np.abs, np.zeros(1) + 1e-6)                        # it has a kink in between
    Traceback (most recent call last):
    AssertionError: gradient of args[0] must be [0.1] as differences are, got [1.]
    """
    if order < 1:
        raise ValueError(f"check_grads: order must be positive, got {order}")
    given = [_in_double(x) for x in args]
    places = [i for i, x in enumerate(given) if _is_float(x)]
    if not places:
        raise ValueError("check_grads: args must have an array of real floats, got none")

    def of_floats(*floats: Array) -> Any:
        values = dict(zip(places, floats, strict=True))
        return function(*(values.get(i, x) for i, x in enumerate(given)))

    where = [f"gradient of args[{i}]" for i in places]
    floats = [given[i] for i in places]
    for _ in range(order):
        _check(of_floats, floats, where, step, rtol, atol)
        of_floats, where = _gradients_of(of_floats), [f"gradient of gradients by args[{i}]" for i in places]


def _is_float(x: object) -> bool:
    return isinstance(x, _core.Array) and x.dtype.kind == "f"


def _in_double(x: Array) -> Array:
    if isinstance(x, numpy.ndarray) and x.dtype.kind == "f":
        x = np.array(x)
    return np.array(x, dtype="float64") if _is_float(x) else x


def _weighted(results: Array | Sequence[Array]) -> Array:
    """Return one number of all results: a sum with weights that tell elements apart."""
    arrays = [y for y in (results if isinstance(results, (tuple, list)) else (results,)) if _is_float(y)]
    weights = (numpy.cos(numpy.arange(y.size) + i).reshape(y.shape) for i, y in enumerate(arrays))
    return sum(((y * np.array(w)).sum() for y, w in zip(arrays, weights)), start=np.zeros((), dtype="float64"))


def _gradients_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that gives the gradients of a sum of the function's results, recorded."""

    def gradients(*leaves: Array) -> list[Any]:
        total = _weighted(function(*leaves))
        if total.node is None:  # it does not depend on them
            return [np.zeros_like(x) for x in leaves]
        found: list[Any] = autograd.grad(total, list(leaves), create_graph=True)
        return found

    return gradients


def _check(
    function: Callable[..., Any], floats: Sequence[Array], where: Sequence[str], step: float, rtol: float, atol: float
) -> None:  # fmt: skip
    leaves = [x.copy() for x in floats]
    for x in leaves:
        x.attach_grad()
    with autograd.record(train_mode=autograd.is_training()):
        found = [g.numpy() for g in _gradients_of(function)(*leaves)]
    for x, g, name in zip(leaves, found, where, strict=True):
        wanted = _differences(function, leaves, x, step)
        if not numpy.allclose(g, wanted, rtol, atol, equal_nan=True):
            raise AssertionError(f"{name} must be {wanted} as differences are, got {g}")


def _differences(function: Callable[..., Any], leaves: Sequence[Array], x: Array, step: float) -> numpy.ndarray:
    """Return the gradient by x of a sum of the function's results, element by element; x is put back."""
    before = x.numpy().copy()
    slopes = numpy.zeros_like(before)

    def value_at(i: tuple[int, ...], moved: float) -> float:
        changed = before.copy()
        changed[i] += moved
        x[...] = changed
        with autograd.record(train_mode=autograd.is_training()):
            return float(_weighted(function(*leaves)))

    for i in numpy.ndindex(before.shape):
        slopes[i] = (value_at(i, step) - value_at(i, -step)) / (2 * step)
    x[...] = before
    return slopes
