"""A part of the tape without its values, which can be recorded again with others.

On the tape a captured program is one node. The nodes of its operations, as they were when it was captured, define its
gradients: a `TapeTemplate` keeps them, and records them again when gradients of gradients are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from ..autograd.leaf import Variable

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["NotRepeatable", "TapeTemplate"]


class NotRepeatable(Exception):
    """Why a computation cannot be issued again as it was."""


class _TapeRef(NamedTuple):
    """The position of an array: an output of a node of the template (from 0), or an input of the template (-1)."""

    node: int
    number: int


class _Array(NamedTuple):
    """An input or output of a node: an empty handle of it, its number among the saved values (-1: none), its place."""

    empty_handle: Any
    saved: int
    place: _TapeRef | None


class _Node(NamedTuple):
    op: Any
    inputs: tuple[Any, ...]
    outputs: tuple[_Array, ...]
    attrs: Any
    save: int


class TapeTemplate:
    """The nodes between results and inputs, with their values taken out and collected in `saved`.

    inputs: positions on the tape, (id of node or leaf, index), and which of the template's `count` inputs each is.
    since: the number of the newest node before. Leaves that are not among the inputs become further ones, in `leaves`.
    Raises NotRepeatable if the nodes refer to objects that cannot be replaced.

    >>> from forerun import autograd, np
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x
    >>> template = TapeTemplate([y], {(id(x.node), 0): 0}, count=1, since=0)
    >>> [node.op.name for node in template.nodes], len(template.saved)
    (['multiply'], 1)
    """

    def __init__(self, results: Sequence[Any], inputs: dict[tuple[int, int], int], count: int, since: int) -> None:
        self.saved: list[Any] = []
        self.leaves: list[Any] = []
        self.nodes: list[_Node] = []
        self._inputs = dict(inputs)
        self._count = count
        self._since = since
        self._known: dict[Any, int] = {}
        found = self._reached(results)
        self._numbers = {id(node): i for i, node in enumerate(found)}
        for node in found:
            self.nodes.append(self._emptied(node))
        self.results = [self._place(y) for y in results]
        self._inputs, self._numbers, self._known = {}, {}, {}

    def _reached(self, results: Sequence[Any]) -> list[Any]:
        """Return the template's nodes, oldest first."""
        found: dict[int, Any] = {}
        todo = list(results)
        while todo:
            array = todo.pop()
            node = array.node
            if node is None or id(node) in found or (id(node), array.index) in self._inputs:
                continue
            if isinstance(node, Variable):
                self._inputs[id(node), 0] = self._count + len(self.leaves)
                self.leaves.append(array)
                continue
            if node.seq <= self._since or node.inputs is None:
                raise NotRepeatable("it uses an array that was computed under record() before")
            _core.check_versions(node)
            found[id(node)] = node
            todo += [x for x in node.inputs if isinstance(x, _core.Array)]
        return sorted(found.values(), key=lambda node: node.seq)

    def _emptied(self, node: Any) -> _Node:
        op = node.op
        rules = getattr(op, "grads", None) or ()
        if not getattr(op, "stateless", False) or any(rule and _encloses(rule[0]) for rule in rules):
            raise NotRepeatable(f"the gradient of {op.name} may depend on values that are not on the tape")
        inputs = tuple(self._array(x) if isinstance(x, _core.Array) else x for x in node.inputs)
        return _Node(op, inputs, tuple(map(self._array, node.outputs)), _mapped(node.attrs, self._array), node.save)

    def _array(self, x: Any) -> _Array:
        saved = self._save(x) if _core.has_value(x) else -1
        return _Array(_core.empty_handle(x), saved, self._place(x))

    def _save(self, x: Array) -> int:
        number = self._known.setdefault(_core.place(x), len(self.saved))
        if number == len(self.saved):
            self.saved.append(_core.detach(x))
        return number

    def _place(self, x: Array) -> _TapeRef | None:
        if x.node is None:
            return None
        if (given := self._inputs.get((id(x.node), x.index))) is not None:
            return _TapeRef(-1, given)
        return _TapeRef(self._numbers[id(x.node)], x.index)

    def replay(self, saved: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """Record the nodes anew, with other values and inputs, and return the results for the backward pass.

        Recording must be on.
        """
        made: list[Any] = []

        def array(like: _Array) -> Any:
            x: Any = _core.detach(saved[like.saved]) if like.saved >= 0 else _core.empty_handle(like.empty_handle)
            if like.place is not None:
                at = inputs if like.place.node < 0 else made[like.place.node]
                x.node, x.index = at[like.place.number].node, at[like.place.number].index
            return x

        for node in self.nodes:
            outputs = tuple(map(array, node.outputs))
            filled = tuple(array(x) if isinstance(x, _Array) else x for x in node.inputs)
            _core.record(node.op, filled, outputs, _mapped(node.attrs, array, _Array), node.save)
            made.append(outputs)
        return [(inputs if p.node < 0 else made[p.node])[p.number] for p in self.results if p is not None]


def _mapped(value: Any, function: Callable[[Any], Any], kind: Any = None) -> Any:
    """Return the value with all arrays (or objects of that kind) in it replaced."""
    if isinstance(value, kind or _core.Array):
        return function(value)
    if type(value) in (tuple, list):
        return type(value)(_mapped(v, function, kind) for v in value)
    if type(value) is dict:
        return {k: _mapped(v, function, kind) for k, v in value.items()}
    return value


def _encloses(gradient: Callable[..., Any]) -> bool:
    """Return whether a gradient function was made around an array."""
    cells = getattr(gradient, "__closure__", None) or ()
    return any(isinstance(cell.cell_contents, _core.Array) for cell in cells)
