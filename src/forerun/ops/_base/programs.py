"""Programs: the operations of a function, captured in one call, and issued again in later ones.

A function that issues the same operations in each call keeps them as follows. The signature is everything that decides
which operations these are, besides the shapes, dtypes and devices of arrays, which a program checks itself:

    found = cache.issue(signature, inputs)
    if found is None:
        with ProgramCapture(inputs) as capture:
            found = function(*inputs)
            if not capture.refused:
                cache.add(signature, capture.program(inputs, found, "name"))
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ... import _core
from . import traced

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Program", "ProgramCache", "ProgramCapture"]


Program = Callable[[tuple[Any, ...]], Any]  # it returns the results for these inputs, or None if they do not suit it
P = TypeVar("P", bound=Program)


class ProgramCapture:
    """Records the operations that this thread issues in a `with` block.

    strict: reading a value in the block raises. names: returns the names of the inputs in placeholders.
    """

    def __init__(
        self, inputs: tuple[Any, ...], strict: bool = False, names: Callable[[], Sequence[str]] = lambda: ()
    ) -> None:
        self.inputs, self.strict, self.names = inputs, strict, names

    def __enter__(self) -> ProgramCapture:
        _core.capture(self.inputs)
        _core.capture_strict(self.strict)
        self._names_before, traced.inputs.names = traced.inputs.names, self.names
        return self

    def __exit__(self, *error: object) -> None:
        _core.capture_drop()
        traced.inputs.names = self._names_before

    @property
    def refused(self) -> str:
        """Why the operations cannot be a program; empty if they can."""
        reason: str = _core.capture_refused()
        return reason

    @property
    def first_read(self) -> object:
        """The file and line that first read a value in the block; None if none did."""
        return _core.capture_first_read()

    def program(
        self, inputs: tuple[Any, ...], results: Sequence[Array], name: str, free: int = 0, node: object = None,
        saved: tuple[Any, ...] = (), graded: Sequence[int] = (), leaves: tuple[Any, ...] = (),
        apart: bool = False,
    ) -> Any:  # fmt: skip
        """Return the operations until now as a program, and end the capture.

        inputs: those of the block, and further ones of `_core.capture_input`. free: how many of them, from the first
        on, may be other arrays in each call, also views. node: the function that the tape records for a call, for the
        gradients of the results numbered `graded`; it needs the values `saved`. leaves: of gradients, besides inputs.
        apart: the inputs come at different times, and no operation waits for more of them than it needs.
        """
        return _core.capture_end(inputs, free, results, saved, node, list(graded), leaves, name, apart)


class ProgramCache(Generic[P]):
    """Programs by signature. Of many signatures, and of many programs of one, the oldest are dropped.

    >>> from forerun import np
    >>> cache = ProgramCache()
    >>> cache.issue("double", (np.ones(2),)) is None
    True
    >>> with ProgramCapture((np.ones(2),)) as capture:
    ...     y = capture.inputs[0] * 2
    ...     cache.add("double", capture.program(capture.inputs, [y], "double"))
    >>> [y.tolist() for y in cache.issue("double", (np.array([3.0, 4.0]),))]
    [[6.0, 8.0]]

    known: the programs of each signature, the newest first; () after `refuse`. It is only read from outside.
    """

    def __init__(self, most: int = 32) -> None:
        self.most = most
        self.known: dict[Hashable, tuple[P, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self.most, "known": {}}  # a copy captures its own programs

    def __len__(self) -> int:
        return sum(map(len, self.known.values()))

    def __iter__(self) -> Iterator[P]:
        """Iterate over all programs; the newest is the first."""
        return (program for programs in reversed([*self.known.values()]) for program in programs)

    def issue(self, signature: Hashable, inputs: tuple[Any, ...]) -> Any:
        """Issue the program of a signature that matches the inputs: return its results, or None if no program does."""
        for program in self.known.get(signature, ()):
            if (results := program(inputs)) is not None:
                return results
        return None

    def refuses(self, signature: Hashable) -> bool:
        """Return whether `refuse` was called for a signature."""
        return self.known.get(signature) == ()

    def refuse(self, signature: Hashable) -> None:
        """Note that operations of a signature cannot be a program."""
        self._put(signature, ())

    def add(self, signature: Hashable, program: P) -> None:
        """Keep a program."""
        self._put(signature, (program, *self.known.get(signature, ()))[: self.most])

    def keep(self, suits: Callable[[P], bool]) -> None:
        """Drop the programs that do not match."""
        self.known = {key: kept for key, all_ in self.known.items() if (kept := tuple(filter(suits, all_)))}

    def clear(self) -> None:
        """Drop all programs."""
        self.known = {}

    def _put(self, signature: Hashable, programs: tuple[P, ...]) -> None:
        """Make a signature the newest one, in another dict: threads that read the one before need no lock."""
        items = [item for item in self.known.items() if item[0] != signature]
        items.append((signature, programs))
        self.known = dict(items[-self.most :])
