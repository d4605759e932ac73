"""Control flow in MXNet's spelling: `foreach`; `cond` and `while_loop`, which wait for conditions; `stop_gradient`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .._base.convert import asarray, asarray_like_device, asarrays
from ..create.fill import zeros
from ..shape.join import concatenate, stack
from ..shape.split import unstack

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike

__all__ = ["foreach", "stop_gradient", "cond", "while_loop"]


def cond(
    pred: ArrayLike, then_func: Callable[..., Any], else_func: Callable[..., Any], inputs: Sequence[Array] = ()
) -> Array:
    """Call one of two functions, depending on the value of an array.

    The call waits for that value.

    Parameters
    ----------
    pred : array_like or callable
        An array of one element, or a function of the inputs that returns one.
    then_func : callable
        The function that is called if `pred` is true.
    else_func : callable
        The function that is called if it is not.
    inputs : sequence of arrays, optional
        The arguments of the functions; one array need not be in a list.

    Returns
    -------
    array
        The result of `then_func(*inputs)` if `pred` is true, else that of `else_func(*inputs)`.

    Raises
    ------
    ValueError
        If `pred` has not exactly one element.

    Examples
    --------
    >>> from forerun import np, npx
    >>> x = np.array([3.0])
    >>> npx.cond(x > 2, lambda: x * 2, lambda: x).tolist()
    [6.0]
    """
    given = tuple(inputs) if isinstance(inputs, (list, tuple)) else (inputs,)
    holds = pred(*given) if callable(pred) else pred
    result: Array = then_func(*given) if bool(holds) else else_func(*given)
    return result


def while_loop(
    cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Sequence[Array], max_iterations: int | None = None
) -> tuple[Any, Any]:
    """Call `func(*loop_vars)`, which returns an output and new loop_vars, as long as `cond(*loop_vars)` holds.

    It waits for the condition before each call.

    Parameters
    ----------
    cond : callable
        The condition: a function of the loop variables that returns a bool or an array of one element.
    func : callable
        The body: a function of the loop variables that returns a pair, an output and the new loop variables, as many as
        before. An output is an array, a list of arrays, or None or [].
    loop_vars : array or sequence of arrays
        The loop variables at the beginning, at least one.
    max_iterations : int, optional
        The largest number of calls of `func`. It must be given.

    Returns
    -------
    tuple
        The outputs and the loop variables at the end. The outputs are stacked along a new first axis of extent
        `max_iterations`, with zeros after the last one: an array, or a list of arrays if an output is a list; [] if
        outputs are None or `func` was not called. The loop variables are a list, or one array if one was given outside
        of a sequence.

    Raises
    ------
    ValueError
        If `max_iterations` is not given or negative, or if `loop_vars` are empty or change in number.

    Examples
    --------
    >>> from forerun import np, npx
    >>> step = lambda i, total: (total, [i + 1, total + i])
    >>> seen, (i, total) = npx.while_loop(lambda i, _: i < 3, step, [np.array(0), np.array(0)], max_iterations=4)
    >>> seen.tolist(), i.item(), total.item()
    ([0, 0, 1, 0], 3, 3)
    """
    if max_iterations is None or max_iterations < 0:
        raise ValueError(f"while_loop: max_iterations must not be negative, got {max_iterations}")
    single = not isinstance(loop_vars, (list, tuple))
    state = asarrays(*([loop_vars] if single else loop_vars))
    if not state:
        raise ValueError("while_loop: loop_vars must not be empty, got none")
    outputs: list[Any] = []
    while len(outputs) < max_iterations and bool(cond(*state)):
        out, new = func(*state)
        new = list(new) if isinstance(new, (list, tuple)) else [new]
        if len(new) != len(state):
            raise ValueError(f"while_loop: func must give {len(state)} loop_vars, got {len(new)}")
        outputs.append(out)
        state = new
    return _stacked(outputs, max_iterations), state[0] if single else state


def _stacked(outputs: Sequence[Any], extent: int) -> Any:
    """Outputs along a new first axis, filled up with zeros."""
    if not outputs or outputs[0] is None:
        return []
    if isinstance(outputs[0], (list, tuple)):
        return [_stacked(parts, extent) for parts in zip(*outputs)]
    rows = [asarray(y) for y in outputs]
    rest = (extent - len(rows), *rows[0].shape)
    filled = stack(rows)
    return concatenate([filled, zeros(rest, dtype=filled.dtype, device=filled.device)]) if rest[0] else filled


def foreach(body: Callable[[Any, Any], tuple[Any, Any]], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Call a function for each slice of data along its first axis, with states that it passes on.

    Parameters
    ----------
    body : callable
        The function. `body(slice, states)` returns an output and the states for the next slice.
    data : array_like or list of array_like
        The data. Of a list, `body` gets a list with a slice of each array.
    init_states : array or list of arrays
        The states for the first slice.

    Returns
    -------
    tuple
        The outputs stacked along a new first axis, as a list of arrays if outputs are lists, and the states after the
        last slice.

    Raises
    ------
    ValueError
        If `data` has no axes, or no slices.

    Examples
    --------
    >>> from forerun import np, npx
    >>> ys, total = npx.foreach(lambda x, s: (x * 2, s + x), np.arange(3), np.array(0))
    >>> ys.tolist(), total.item()
    ([0, 2, 4], 3)
    """
    several, states = isinstance(data, (list, tuple)), init_states
    data = [asarray_like_device(x, data, states) for x in data] if several else asarray_like_device(data, states)
    outputs: list[Any] = []
    parts: Iterable[Any] = zip(*map(unstack, data)) if several else unstack(data)
    for part in parts:
        y, states = body(list(part) if several else part, states)
        outputs.append(y)
    if outputs and isinstance(outputs[0], (list, tuple)):
        return [stack(list(ys)) for ys in zip(*outputs)], states
    return stack(outputs), states


def stop_gradient(x: ArrayLike) -> Array:
    """Return `x` as a constant for gradients: nothing flows back through the result.

    Parameters
    ----------
    x : array_like
        The values.

    Returns
    -------
    array
        The same values, as an array that gradients do not flow through.

    Examples
    --------
    >>> from forerun import autograd, np, npx
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * npx.stop_gradient(x)
    >>> y.backward(); x.grad.tolist()
    [3.0]
    """
    return asarray(x).detach()
