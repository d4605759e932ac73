"""The computation of a block as a list of operations in JSON: taken from the tape, and validated when read.

Operations, and classes of named tuples, are called by their names in `forerun.ops._base.registry`.
A value in the list is a number, a text, null, a list; or an object with one word: {"input": 0}, {"parameter": name},
{"result": [operation, which]}, {"full": [shape, number, dtype]}, {"tuple": [...]}, {"dtype": name}, {"slice": [...]},
{"record": [class, ...]}, and, where the number of examples counts, {"examples": [a, b]} for a * examples + b.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from ...autograd.leaf import Variable
from ...ops._base import core as _core
from ...ops._base.registry import operations, tuples
from ...ops.create import fill as creation
from .format_1 import of_format_1

if TYPE_CHECKING:
    from ...typing import ArrayLike


__all__ = ["FORMAT", "FORMATS", "Reader", "NotExportable", "applied", "computed", "fitted", "operations_of"]

FORMAT = "forerun operations 2"
# The formats that are read, each with a function from its names of operations to the present ones.
FORMATS: dict[str, Callable[[str], str]] = {"forerun operations 1": of_format_1, FORMAT: str}
_SCALARS = (type(None), bool, int, float, str)


class NotExportable(ValueError):
    """Why a computation cannot be written down."""


# --- telling ---------------------------------------------------------------------------------------------------------


class _Teller:
    """Writes down how results were computed. known: places on the tape of inputs and parameters, and their words."""

    def __init__(self, known: Mapping[tuple[int, int], Any], since: int) -> None:
        self.known, self.since = known, since
        self.constants: list[Any] = []
        self.numbers: dict[int, int] = {}

    def operations(self, results: Sequence[Any]) -> list[Any]:
        found: dict[int, Any] = {}
        todo = list(results)
        while todo:
            x = todo.pop()
            node = x.node
            if node is None or isinstance(node, Variable) or (id(node), x.index) in self.known or id(node) in found:
                continue
            if node.seq <= self.since:
                raise NotExportable("forward must not use arrays that were recorded before")
            found[id(node)] = node
            todo += _arrays_in((node.inputs, node.attrs))
        nodes = sorted(found.values(), key=lambda node: node.seq)
        self.numbers = {id(node): i for i, node in enumerate(nodes)}
        return [self.operation(node) for node in nodes]

    def operation(self, node: Any) -> Any:
        name = operations.name_of(node.op)
        if name is None:
            raise NotExportable(f"operations must be forerun's own, got {getattr(node.op, 'name', node.op)}")
        attrs = node.attrs
        if isinstance(node.op, _core.Primitive):
            attrs = tuple(attrs or ())[: len(node.op.parameters) - node.op.arrays]
        elif not isinstance(node.op, _core.Ufunc):
            attrs = node.op.exported_attributes(attrs)
        return [name, [self.value(x) for x in node.inputs], self.value(attrs)]

    def value(self, v: object) -> Any:
        if isinstance(v, _core.Array):
            return self.array(v)
        if isinstance(v, _SCALARS):
            return v
        if isinstance(v, numpy.dtype):
            return {"dtype": v.name}
        if isinstance(v, numpy.generic):
            return self.array(_core.from_numpy(numpy.asarray(v)))
        if isinstance(v, slice):
            return {"slice": [self.value(x) for x in (v.start, v.stop, v.step)]}
        if isinstance(v, list):
            return [self.value(x) for x in v]
        if type(v) is tuple:
            return {"tuple": [self.value(x) for x in v]}
        if isinstance(v, tuple) and (name := tuples.name_of(type(v))) is not None:
            return {"record": [name, *map(self.value, v)]}
        raise NotExportable(f"arguments of operations must be arrays and plain values, got {type(v).__name__}")

    def array(self, x: Any) -> Any:
        if x.node is not None and (word := self.known.get((id(x.node), x.index))) is not None:
            return word
        if x.node is not None and id(x.node) in self.numbers:
            return {"result": [self.numbers[id(x.node)], x.index]}
        if x.size and x.ndim and (values := x.asnumpy()).dtype.kind in "biuf" and (values == values.flat[0]).all():
            return {"full": [list(x.shape), values.flat[0].item(), x.dtype.name]}
        self.constants.append(_core.detach(x))
        return {"parameter": f"constant{len(self.constants) - 1}"}


def _arrays_in(value: ArrayLike) -> list[Any]:
    if isinstance(value, _core.Array):
        return [value]
    return [x for v in value for x in _arrays_in(v)] if isinstance(value, (tuple, list)) else []


def operations_of(
    function: Callable[..., Any], inputs: Sequence[Any], parameters: Mapping[str, Any]
) -> tuple[list[Any], Any, list[Any]]:
    """Run a function as if predicting, and write down its computation: operations, results, constants.

    inputs: its arguments. parameters: arrays that it uses, by name. Results: arrays in tuples and lists. Raises
    NotExportable.
    """
    given = [_core.detach(x) for x in inputs]
    lent = [x for x in parameters.values() if x.node is None]
    for x in (*given, *lent):
        x.node = Variable(None, "null")
    words: list[tuple[Any, Any]] = [(x, {"input": i}) for i, x in enumerate(given)]
    words += [(x, {"parameter": name}) for name, x in parameters.items()]
    teller = _Teller({(id(x.node), x.index): word for x, word in reversed(words)}, _core.tape_position())
    before = _core.set_recording(True), _core.set_training(False), _core.set_tracing(True)
    try:
        result = function(*given)
        operations = teller.operations(_arrays_in((result,)))
        return operations, teller.value(result), teller.constants
    finally:
        _core.set_recording(before[0]), _core.set_training(before[1]), _core.set_tracing(before[2])
        for x in lent:
            x.node = None


def fitted(few: Any, more: Any, most: Any, n: int) -> Any:
    """Generalize a value for n, n + 1 and n + 2 examples to any number of them.

    Raise NotExportable if it is not linear in the number.
    """
    if type(few) is not type(more) or type(few) is not type(most):
        raise NotExportable("another computation for another number of examples")
    if isinstance(few, dict):
        if not few.keys() == more.keys() == most.keys():
            raise NotExportable("another computation for another number of examples")
        return {k: fitted(few[k], more[k], most[k], n) for k in few}
    if isinstance(few, list):
        if not len(few) == len(more) == len(most):
            raise NotExportable("another computation for another number of examples")
        return [fitted(*three, n) for three in zip(few, more, most)]
    if few == more == most:
        return few
    if type(few) is not int or more - few != most - more:
        raise NotExportable("another computation for another number of examples")
    return {"examples": [more - few, few - n * (more - few)]}


# --- reading back ----------------------------------------------------------------------------------------------------


class Reader:
    """The validated operations of a file: each uses values computed before, and is one of forerun's own."""

    def __init__(self, saved: Mapping[str, Any], inputs: int, parameters: Sequence[str]) -> None:
        self.inputs, self.parameters = inputs, set(parameters)
        self.now = FORMATS[saved["format"]]
        listed = saved.get("operations")
        if not isinstance(listed, list):
            raise ValueError(f"imports: operations must be a list, got {type(listed).__name__}")
        self.operations: list[tuple[Any, Any, Any]] = []
        for one in listed:
            if not isinstance(one, list) or len(one) != 3 or not isinstance(one[1], list):
                raise ValueError(f"imports: operation must be a name, inputs and the rest, got {str(one)[:100]}")
            if not isinstance(one[0], str) or self.now(one[0]) not in operations:
                raise ValueError(f"imports: operation must be one that this version has, got {str(one[0])[:100]}")
            self.check(one[1:])
            self.operations.append((operations[self.now(one[0])], one[1], one[2]))
        self.result = saved.get("result")
        self.check(self.result)

    def check(self, value: Any, depth: int = 0) -> None:
        """Check an argument of an operation, in lists nested up to 20 deep: ValueError if it is not valid."""
        if depth > 20:
            raise ValueError("imports: values must not be nested deeper than 20")
        if isinstance(value, list):
            for v in value:
                self.check(v, depth + 1)
        elif isinstance(value, dict):
            self.check_word(value, depth)

    def check_word(self, value: dict[str, Any], depth: int) -> None:
        """Check a word, such as "input", and its arguments. Raises ValueError for others."""
        word: str
        v: Any
        word, v = next(iter(value.items()), ("", None))
        numbers = isinstance(v, list) and all(type(x) is int for x in v)
        good = (
            (word == "input" and type(v) is int and 0 <= v < self.inputs)
            or (word == "parameter" and isinstance(v, str) and v in self.parameters)
            or (word == "result" and numbers and len(v) == 2 and 0 <= v[0] < len(self.operations) and 0 <= v[1] < 64)
            or (word == "examples" and numbers and len(v) == 2)
            or (word == "full" and isinstance(v, list) and len(v) == 3 and isinstance(v[0], list))
            or (word == "dtype" and isinstance(v, str) and len(v) < 20)
            or (word == "tuple" and isinstance(v, list))
            or (word == "slice" and isinstance(v, list) and len(v) == 3)
            or (word == "record" and isinstance(v, list) and v and isinstance(v[0], str) and self.now(v[0]) in tuples)
        )
        if not good or len(value) != 1:
            raise ValueError(f"imports: values must be of the known kinds, got {str(value)[:100]}")
        if word in ("tuple", "slice", "record", "full"):
            self.check(v, depth + 1)

    def value(self, v: Any, inputs: Sequence[Any], parameters: Mapping[str, Any], made: list[Any], n: int) -> Any:
        """Return the object that a value of the file represents in a run."""

        def deep(all_: Sequence[Any]) -> list[Any]:
            return [self.value(x, inputs, parameters, made, n) for x in all_]

        if isinstance(v, list):
            return deep(v)
        if not isinstance(v, dict):
            return v
        ((word, v),) = v.items()
        if word == "input":
            return inputs[v]
        if word == "parameter":
            return parameters[v]
        if word == "result":
            return made[v[0]][v[1]]
        if word == "examples":
            return v[0] * n + v[1]
        if word == "dtype":
            return numpy.dtype(v)
        if word == "full":
            shape, number, dtype = deep(v)
            return creation.full(shape, number, dtype, device=inputs[0].device if inputs else None)
        if word == "record":
            return tuples[self.now(v[0])](*deep(v[1:]))
        return slice(*deep(v)) if word == "slice" else tuple(deep(v))


def computed(reader: Reader, inputs: Sequence[Any], parameters: Mapping[str, Any]) -> Any:
    """Return the results for inputs; gradients flow as through the operations themselves."""
    made: list[Any] = []
    n = inputs[0].shape[0] if inputs and inputs[0].ndim else 0

    def value(v: object) -> Any:
        return reader.value(v, inputs, parameters, made, n)

    try:
        for op, args, rest in reader.operations:
            found = applied(op, value(args), value(rest))
            made.append(found if isinstance(found, tuple) else (found,))
        return value(reader.result)
    except (TypeError, AttributeError, LookupError, ArithmeticError, RuntimeError) as error:
        name = reader.operations[len(made)][0].name if len(made) < len(reader.operations) else "result"
        raise ValueError(f"SymbolBlock: operation {len(made)}, {name}, must fit its inputs: {error}") from None


def applied(op: Any, args: list[Any], rest: Any) -> Any:
    """Return the result of an operation for inputs and the rest, as `Reader.operations` has them."""
    if isinstance(op, _core.Primitive):
        return op(*args, *(rest or ()))
    return op(*args) if isinstance(op, _core.Ufunc) else op.repeated(args, rest)
