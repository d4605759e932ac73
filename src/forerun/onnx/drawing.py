"""An ONNX graph that is being built: nodes, constants, and which of them the outputs need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

if TYPE_CHECKING:
    from ..typing import ArrayLike

__all__ = ["Batch", "Drawing", "Node", "Operand"]


class Batch(NamedTuple):
    """An extent that depends on the number of examples: times * examples + more."""

    times: int
    more: int


class Operand(NamedTuple):
    """An array that an operation reads: its name in the graph, or its values if they are known before a run."""

    name: str
    dtype: numpy.dtype[Any]
    shape: tuple[int, ...]
    value: Any = None  # a NumPy array
    made_by: int = -1  # number of the operation; -1 for inputs, parameters and numbers


class Node(NamedTuple):
    """An operation of ONNX."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


class Drawing:
    """Nodes in the order of their computation, and the arrays that they read besides the inputs.

    first_input: the name of the input whose first extent is the number of examples.
    """

    def __init__(self, first_input: str) -> None:
        self.first_input = first_input
        self.nodes: list[Node] = []
        self.arrays: dict[str, numpy.ndarray[Any, Any]] = {}
        self._names: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._examples = ""

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add a node with one output, and return the output's name."""
        return self.several(1, kind, *inputs, **attributes)[0]

    def several(self, count: int, kind: str, *inputs: str, **attributes: Any) -> list[str]:
        """Add a node with so many outputs, and return their names."""
        first = sum(len(node.outputs) for node in self.nodes)
        outputs = tuple(f"{kind.lower()}_{first + i}" for i in range(count))
        self.nodes.append(Node(kind, inputs, outputs, attributes))
        return list(outputs)

    def again(self, output: str, *more: str) -> str:
        """Add the node that made an output once more, with more inputs; return its output. The other may be unused."""
        node = self._maker(output)
        return self.add(node.kind, *node.inputs, *more, **node.attributes)

    def kind_of(self, output: str) -> str:
        """Return the kind of the node that made an output."""
        return self._maker(output).kind

    def _maker(self, output: str) -> Node:
        return next(node for node in self.nodes if output in node.outputs)

    def constant(self, value: ArrayLike, name: str = "") -> str:
        """Return the name of an array of known values, which is the given one if it is free; equal ones are one."""
        array = numpy.asarray(value)
        if name and numpy.array_equal(self.arrays.setdefault(name, array), array):
            return name
        key = array.dtype.str, array.shape, array.tobytes()
        found = self._names.setdefault(key, f"constant_{len(self._names)}")
        self.arrays.setdefault(found, array)
        return found

    def integers(self, values: Sequence[int | Batch]) -> str:
        """Return the name of a vector of integers, such as a shape; it is computed where it depends on the examples."""
        if not any(isinstance(v, Batch) for v in values):
            return self.constant(numpy.array(values, dtype="int64"))
        parts = [self._extent(v) if isinstance(v, Batch) else self.constant(numpy.array([v])) for v in values]
        return parts[0] if len(parts) == 1 else self.add("Concat", *parts, axis=0)

    def shape(self, values: Sequence[int | Batch]) -> str:
        """Return the name of a shape for Reshape, where one extent may be left open."""
        unknown = [v for v in values if isinstance(v, Batch) or v == -1]
        if len(unknown) == 1:
            values = [-1 if isinstance(v, Batch) else v for v in values]
        return self.integers(values)

    def _extent(self, batch: Batch) -> str:
        if not self._examples:
            self._examples = self.add("Shape", self.first_input, start=0, end=1)
        name = self._examples
        if batch.times != 1:
            name = self.add("Mul", name, self.constant(numpy.array([batch.times])))
        return name if batch.more == 0 else self.add("Add", name, self.constant(numpy.array([batch.more])))

    def finish(
        self, outputs: Sequence[tuple[str, str]], inputs: Sequence[str]
    ) -> tuple[list[Node], dict[str, numpy.ndarray[Any, Any]]]:  # fmt: skip
        """Return the nodes and the arrays that outputs need. outputs: name here, and name of the model's output."""
        names: dict[str, str] = {}
        for inner, name in outputs:
            if inner in names or inner in inputs or inner in self.arrays:
                names[self.add("Identity", inner)] = name
            else:
                names[inner] = name
        nodes, arrays = self._needed(names)
        return [
            Node(
                n.kind,
                tuple(names.get(i, i) for i in n.inputs),
                tuple(names.get(o, o) for o in n.outputs),
                n.attributes,
            )
            for n in nodes
        ], arrays

    def _needed(self, outputs: Iterable[str]) -> tuple[list[Node], dict[str, numpy.ndarray[Any, Any]]]:
        wanted, nodes = set(outputs), []
        for node in reversed(self.nodes):
            if wanted & set(node.outputs):
                nodes.append(node)
                wanted |= set(node.inputs)
        return nodes[::-1], {name: array for name, array in self.arrays.items() if name in wanted}
