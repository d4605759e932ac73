"""Functions of arrays whose calls are recorded once, and then issued as one program.

>>> import forerun
>>> from forerun import np
>>> @forerun.hybrid
... def gelu(x):
...     return 0.5 * x * (1 + np.tanh(0.79788456 * (x + 0.044715 * x * x * x)))
>>> [gelu(np.array([value])).tolist() for value in (0.0, 10.0)]
[[0.0], [10.0]]

The first call runs as it is written, and the core takes down which operations it issues. Further calls with arrays of
the same shapes, dtypes and devices do not run the function: the core issues the operations again, for the new arrays.
On the tape such a call is one node, and its gradients are programs likewise.
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, overload

from .. import _core
from .._runtime.user_warnings import warn_at_call
from ..autograd.leaf import Variable
from ..ops._base.programs import ProgramCache, ProgramCapture
from .participants import Capture, issue
from .structures import flatten, unflatten
from .tape_template import NotRepeatable, TapeTemplate

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Hybridized", "Recorded", "hybrid"]

Arrays = tuple[Any, ...]


class _Passes:
    """The node between an argument and the array that a function gets for it while it is captured."""

    name = "argument"

    def gradients(self, g: Array, inputs: Arrays, attrs: object) -> Arrays:
        return (g,)


_passes = _Passes()


class _Call:
    """One program of a function: the structure of its results, and its gradients."""

    name: str
    program: Any

    def __init__(self, name: str, result: object, template: TapeTemplate | None, capture: Capture) -> None:
        self.name = name
        self.result = result
        self.template = template
        self.participants = capture.participants
        self.guards = capture.guards

    def issue(self, inputs: Arrays) -> Any:
        """Return the results of the program; None if it does not match."""
        if self.participants or self.guards:
            return None if self.outdated() else issue(self.program, inputs, self.participants)
        return self.program(inputs)

    __call__ = issue  # which takes Python longer to call

    def outdated(self) -> bool:
        """Return whether an object that the first call used has changed since."""
        return any(one.stale for one in self.guards)

    def replay(self, saved: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Return the operations on the tape again, for a backward pass through them: their results."""
        assert self.template is not None
        results: list[Any] = _recording(self.template.replay, saved, inputs)
        return results

    def record_back(self, inputs: Arrays, heads: list[Any], saved: Arrays) -> tuple[list[Any], Any, list[int]]:
        """Run the backward pass node by node; return the gradients, their program, and the inputs that have one.

        heads: gradients of the results, or None. No program: None.
        """
        ends: list[Any] = [_core.empty_handle(x) for x in inputs]
        for x in ends:
            x.node = Variable(None, "null")
        given = [g for g in heads if g is not None]
        inputs = (*given, *saved)
        with ProgramCapture(inputs) as operations:
            results = [y for y, g in zip(self.replay(saved, ends), heads) if g is not None]
            all_ = _core.run_backward("backward", results, given, ends, False, False, _core.training(), zeros=False)
            flows = [i for i, g in enumerate(all_) if g is not None]
            found = [all_[i] for i in flows]
            program = None
            if not operations.refused:
                program = operations.program(inputs, found, f"{self.name} backward", free=len(given))
            return found, program, flows


def _spent(y: Array) -> bool:
    """Return whether a backward pass has released the tape behind an array, such as the loss that a step returns."""
    return not isinstance(y.node, Variable) and y.node.inputs is None


def _recording(function: Callable[..., Any], *args: Sequence[Array]) -> Any:
    before = _core.set_recording(True)
    try:
        return function(*args)
    finally:
        _core.set_recording(before)


_warning = threading.Lock()

_MANY = 64  # captures of a function, which take as long as many calls of it
_FEW = 128  # of the calls that no program suits, one of so many is captured then


def warn_of_read(name: str, look: Any, more: str = "") -> None:
    """Warn, at a line that reads values, that functions that cannot be captured for that reason run as written."""
    file, line = look
    message = f"{name} runs as written, without hybridization, as its code depends on values at {file}:{line}"
    more += "; np.where chooses between arrays without reading values"
    warnings.warn_explicit(f"hybridize: {message}{more}", UserWarning, file, line)


class Recorded:
    """A function, and the programs of its calls.

    name: the function's name in traces and errors. refused: the reasons for which calls run as they are written, by
    (recording, training). strict: reading a value raises; otherwise calls run as they are written, and the first of
    them warns. held_names: names of the arrays besides the arguments. watches: calls are captured anew when a block
    that the function uses has changed, or one of its parameters.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, strict: bool = False,
        held_names: Callable[[], Sequence[str]] = lambda: (), watches: bool = True,
    ) -> None:  # fmt: skip
        self.function = function
        self.watches = watches
        self.name = name
        self.strict = strict
        self.held_names = held_names
        self.programs: ProgramCache[_Call] = ProgramCache()
        self.refused: dict[tuple[bool, bool], str] = {}
        self._warned = False
        self._captures = self._missed = 0  # captures in all, and calls since the last one that no program suited

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"refused": {}}  # a copy captures its own

    def clear(self) -> None:
        """Drop all programs, also those that other threads are capturing."""
        self.programs, self.refused = ProgramCache(), {}

    def __call__(self, args: Arrays, held: Arrays = ()) -> Any:
        """The function's results for these arguments. held: other arrays that it reads or writes, as they are now."""
        signature: Any = len(args)
        arrays = args
        for x in args:
            if not isinstance(x, _core.Array):
                arrays, signature = flatten(args)
                break
        if _core.capturing():
            return self.inside(self.function, args)
        inputs = arrays + held if held else arrays
        for call in self.programs.known.get(signature, ()):
            if (found := call.issue(inputs)) is not None:
                return found[0] if call.result is None else unflatten(call.result, iter(found))
        if signature is None or (_core.recording(), _core.training()) in self.refused:
            return self.function(*args)
        return self._record(args, signature, arrays, held)

    def _is_worth_it(self) -> bool:
        """Count a call that no program suits; return whether it is captured: after many captures, few calls are."""
        self._missed += 1
        if self._captures >= _MANY and self._missed < _FEW:
            return False
        self._captures, self._missed = self._captures + 1, 0
        if self._captures == _MANY:
            self.warn_of_many()
        return True

    def state(self) -> str:
        """Return one line for people: the last program's operations, or why calls run as they are written."""
        if self.refused:
            return "runs as written: " + next(reversed(self.refused.values()))
        n = len(self.programs)
        if n == 0:
            return "0 programs"
        return f"{n} program{'s' * (n > 1)}: " + ", ".join(next(iter(self.programs)).program.steps)

    def inside(self, function: Callable[..., Any], args: Arrays) -> Any:
        """Call a function whose operations belong to the program of another one, which is being captured."""
        looked, strict = _core.capture_first_read(), _core.capture_strict(True) if self.strict else False
        try:
            return function(*args)
        finally:
            if self.strict:
                _core.capture_strict(strict)
            if looked is None and _core.capture_first_read() is not None:
                self._warned = True  # the other one's warning names the line

    def _record(self, args: Arrays, signature: Any, arrays: Arrays, held: Arrays) -> Any:
        """Run the function as it is written, and keep the operations that it issues as a program."""
        if not self._is_worth_it():
            return self.function(*args)
        programs, refused = self.programs, self.refused  # as they are now: `clear` makes others
        since = _core.tape_position()
        ends: list[tuple[int, int]] = []  # places of the inputs on the tape
        given = tuple(self._given(x, ends) for x in arrays)
        ends += [(id(x.node), x.index) for x in held if _core.recording() and x.node is not None]
        before = [_core.version(x) for x in given]
        participants = Capture(self.watches)
        with ProgramCapture(given + held, self.strict, lambda: self._names(len(arrays))) as operations:
            with participants:
                result = self.function(*(given if isinstance(signature, int) else unflatten(signature, iter(given))))
            for x, y, version in zip(arrays, given, before):
                if _core.version(y) != version and not _core.shares_storage(x, y):
                    _core.assign(x, y)
                    _core.capture_refuse("it writes into a part of an array")
            try:
                call = self._finish(operations, result, arrays + held, len(arrays), ends, since, participants)
                programs.keep(lambda one: not one.outdated())
                programs.add(signature, call)
            except NotRepeatable as why:
                refused[_core.recording(), _core.training()] = str(why)
            look = operations.first_read
        if look is not None:
            self.warn(look)
        return result

    def _names(self, arguments: int) -> list[str]:
        return [*(f"argument {i}" for i in range(arguments)), *self.held_names()]

    def warn(self, look: object) -> None:
        """Warn, once, that calls run as they are written, and name the line that reads values."""
        with _warning:
            warned, self._warned = self._warned, True
        if not warned:
            warn_of_read(self.name, look, "; hybridize(strict=True) makes this an error")

    def warn_of_many(self) -> None:
        """Warn that calls differ too often to be captured each time."""
        warn_at_call(
            f"hybridize: {self.name} has been captured {_MANY} times, as its arguments or blocks change: most such "
            "calls run as written from now on; pass numbers that change as arrays"
        )

    def _given(self, x: Array, ends: list[tuple[int, int]]) -> Array:
        """Return the array that the function gets for an argument: itself, or one with a node of its own."""
        y = _core.as_base_array(x)
        if _core.recording() and x.node is not None:
            y = _core.detach(y)
            _core.record(_passes, (x,), (y,), None, 0)
            ends.append((id(y.node), y.index))
        return y

    def _finish(
        self, operations: ProgramCapture, result: object, inputs: Arrays, free: int, ends: list[tuple[int, int]],
        since: int, participants: Capture,
    ) -> _Call:  # fmt: skip
        """Return the captured call. Raises NotRepeatable if there can be none."""
        if operations.refused:
            raise NotRepeatable(operations.refused)
        found, form = flatten((result,))
        if form is None:
            raise NotRepeatable(f"it returns more than arrays, got {type(result).__name__}")
        graded = [i for i, y in enumerate(found) if y.node is not None and not _spent(y)] if _core.recording() else []
        template = None
        if graded:
            places = {place: i for i, place in enumerate(ends)}
            try:
                template = TapeTemplate([found[i] for i in graded], places, len(ends), since)
            except RuntimeError as error:
                raise NotRepeatable(str(error)) from error
        alone = isinstance(result, _core.Array)
        call = _Call(self.name, None if alone else form.items[0], template, participants)
        inputs += tuple(participants.inputs)
        saved, leaves = (tuple(template.saved), tuple(template.leaves)) if template else ((), ())
        call.program = operations.program(inputs, found, self.name, free, call, saved, graded, leaves)
        return call


@overload
def hybrid(function: Callable[..., Any], *, strict: bool = False) -> Hybridized: ...


@overload
def hybrid(function: None = None, *, strict: bool = False) -> Callable[[Callable[..., Any]], Hybridized]: ...


def hybrid(function: Callable[..., Any] | None = None, *, strict: bool = False) -> Any:
    """Return a function that is captured on its first call, and issued as one program afterwards.

    It may contain a whole training step, with `record`, `backward` and a trainer's `step`. Side effects other than
    operations happen only while it is captured; other arrays that it uses are those of that call, with the values that
    they have later. An array that is printed meanwhile gives a placeholder. Where the function reads values (`bool`,
    `item`, `asnumpy`), its calls run as they are written, with one warning.

    Parameters
    ----------
    function : callable
        It takes and returns arrays, also in tuples, lists and dicts, beside plain values.
    strict : bool
        True: reading a value raises RuntimeError instead of the warning. `@forerun.hybrid(strict=True)` is a decorator.

    Returns
    -------
    Hybridized
        A function of the same arguments. Its `hybridized` is the list of operations of the last program, or the reason
        why calls run as they are written.

    Raises
    ------
    RuntimeError
        From the returned function, if it is strict and the code reads a value.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> square = hybrid(lambda x: x * x)
    >>> x = np.array([3.0]); x.attach_grad()
    >>> for _ in range(2):
    ...     with autograd.record():
    ...         y = square(x)
    ...     y.backward()
    >>> y.item(), x.grad.item()
    (9.0, 6.0)
    """
    if function is None:
        return functools.partial(hybrid, strict=strict)
    return Hybridized(function, strict)


class Hybridized:
    """A function whose calls are captured: `hybrid` makes it.

    Parameters
    ----------
    function : callable
        The function.
    strict : bool
        Whether reading a value raises.

    Examples
    --------
    >>> from forerun import np
    >>> double = hybrid(lambda x: x + x)
    >>> double(np.ones(2)).tolist(), double.hybridized
    ([2.0, 2.0], '1 program: add')
    """

    def __init__(self, function: Callable[..., Any], strict: bool) -> None:
        self._recorded = Recorded(function, getattr(function, "__name__", "function"), strict)
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        return self._recorded(args)

    def __get__(self, instance: object, owner: object = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    @property
    def hybridized(self) -> str:
        """The last program's operations, or why calls run as they are written."""
        return self._recorded.state()
