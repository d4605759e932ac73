"""From a network to an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy

from .. import np
from .._capture.structures import flatten
from ..gluon._export.exported import Reader, applied
from ..gluon._export.symbol import described
from ..gluon.block.hybrid import HybridBlock
from ..ops._base.registry import tuples
from .drawing import Batch, Drawing, Operand
from .operations import OPERATIONS, Translator

__all__ = ["OPSET", "export"]

OPSET = 17
_IR = 8  # the version of the file format that belongs to it


def export(
    net: HybridBlock,
    args: object,
    path: str | os.PathLike[str] | None = None,
    *,
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
) -> Any:
    """Return a network's computation when predicting as an ONNX model, and write it to a file.

    The model is checked by `onnx.checker`. It is for any number of examples if the network's operations are the same
    for all numbers; otherwise for that of the arguments. Waits.

    Parameters
    ----------
    net : HybridBlock
        The network. Its parameters are initialized.
    args : array, or tuple of arrays
        Arguments of a call, which give shapes and dtypes; values do not matter.
    path : path, optional
        Where the model is written.
    input_names, output_names : sequence of str, optional
        Names of the model's inputs and outputs; by default "data" and "output", with a number if there are several.

    Returns
    -------
    onnx.ModelProto
        The model, of opset 17.

    Raises
    ------
    ValueError
        If `forward` reads values, or does more than operations on arrays and parameters, or an operation has no
        counterpart in ONNX. The message names it.
    ImportError
        Without the package `onnx`.

    Examples
    --------
    >>> import onnxruntime
    >>> from forerun import np, onnx
    >>> from forerun.gluon import nn
    >>> net = nn.Dense(2, activation="relu", in_units=3)
    >>> net.initialize()
    >>> model = onnx.export(net, np.ones((1, 3)))
    >>> [node.op_type for node in model.graph.node]
    ['Gemm', 'Relu']
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> x = np.random.normal(size=(5, 3))
    >>> (y,) = session.run(None, {"data": x.numpy()})
    >>> bool(abs(net(x) - y).max() < 1e-6)
    True
    """
    import onnx  # first: without it nothing is computed

    if not isinstance(net, HybridBlock):
        raise ValueError(f"export: net must be a HybridBlock, got {type(net).__name__}")
    given = args if isinstance(args, tuple) else (args,)
    net(*given)  # parameters that wait for their shapes get them
    arrays, form = flatten(given)
    saved, values = described(net, (form, [(x.shape, x.dtype, x.device) for x in arrays]))
    translated = _Translation(saved, values, _names("data", len(arrays), input_names))
    model = translated.model(onnx, net.name, output_names)
    onnx.checker.check_model(model, full_check=True)
    if path is not None:
        onnx.save_model(model, os.fspath(path))
    return model


def _names(word: str, count: int, given: Sequence[str] | None) -> list[str]:
    if given is None:
        return [word] if count == 1 else [f"{word}{i}" for i in range(count)]
    if len(given) != count or len(set(given)) != count:
        raise ValueError(f"export: there must be {count} different names of {word}, got {list(given)}")
    return list(given)


class _Translation:
    """The operations of a description, run once on zeros for shapes and dtypes, and written down as nodes."""

    def __init__(self, saved: Mapping[str, Any], values: Mapping[str, Any], names: list[str]) -> None:
        self.saved, self.names, self.values = saved, names, values
        self.any_number = saved["examples"]
        self.inputs = [np.zeros(shape, dtype) for shape, dtype in saved["inputs"]]
        self.reader = Reader(saved, len(names), list(values))
        self.drawing = Drawing(names[0] if names else "")
        self.one_more = [np.zeros((x.shape[0] + 1, *x.shape[1:]), x.dtype) for x in self.inputs if self.any_number]
        self.made: list[Any] = []  # arrays of each operation
        self.later: list[Any] = []  # the same with one example more; without any if the number must be this
        self.results: list[list[Operand]] = []  # and the operands that stand for them
        for number, (name, args, rest) in enumerate(saved["operations"]):
            self.translate(name, number, args, rest)

    def read(self, word: Any, later: bool = False) -> Any:
        """Return the object that a word stands for in this run; or in that with one example more."""
        inputs, made = (self.one_more, self.later) if later and self.any_number else (self.inputs, self.made)
        n = inputs[0].shape[0] if inputs and inputs[0].ndim else 0
        return self.reader.value(word, inputs, self.values, made, n)

    def run(self, number: int, args: object, rest: object, later: bool) -> tuple[Any, ...]:
        """Return the arrays of an operation."""
        found = applied(self.reader.operations[number][0], self.read(args, later), self.read(rest, later))
        return found if isinstance(found, tuple) else (found,)

    def translate(self, name: str, number: int, args: Sequence[object], rest: object) -> None:
        arrays = self.run(number, args, rest, False)
        self.made.append(arrays)
        self.later.append(self.run(number, args, rest, True) if self.any_number else arrays)
        if not self.varies([args, rest]):
            self.results.append([Operand("", x.dtype, x.shape, x.numpy(), number) for x in arrays])
            return
        if name not in OPERATIONS:
            raise ValueError(f"export: operations must have a counterpart in ONNX, got {name}")
        translator = Translator(self.drawing, name, (arrays, self.later[-1]), self.saved["operations"], self.operand)
        outputs = OPERATIONS[name](translator, *map(self.operand, args), *self.attributes(rest))
        outputs = [outputs] if isinstance(outputs, str) else outputs
        self.results.append([Operand(n, x.dtype, x.shape, None, number) for n, x in zip(outputs, arrays)])

    def varies(self, word: object) -> bool:
        """Return whether the value that a word stands for depends on the inputs."""
        if isinstance(word, list):
            return any(map(self.varies, word))
        if not isinstance(word, dict):
            return False
        ((kind, v),) = word.items()
        if kind == "result":
            return self.results[v[0]][v[1]].value is None
        return kind in ("input", "examples") or (kind not in ("parameter", "dtype") and self.varies(v))

    def operand(self, word: object) -> Any:
        """Return the operand of a node for a word: arrays as operands, numbers unchanged."""
        if not isinstance(word, dict):
            return [self.operand(v) for v in word] if isinstance(word, list) else word
        ((kind, v),) = word.items()
        if kind == "input":
            return Operand(self.names[v], self.inputs[v].dtype, self.inputs[v].shape)
        if kind == "result":
            return self.results[v[0]][v[1]]
        if kind == "examples":
            return Batch(*v)
        if kind == "tuple":
            return tuple(map(self.operand, v))
        if kind == "record":
            return tuples[v[0]](*map(self.operand, v[1:]))
        if kind == "full" and self.varies(word):
            shape, number, dtype = v
            value = self.drawing.add(
                "Expand", self.drawing.constant(numpy.array(number, dtype)), self.drawing.integers(self.operand(shape))
            )
            return Operand(value, numpy.dtype(dtype), self.read(word).shape)
        x = self.read(word)
        return Operand(v if kind == "parameter" else "", x.dtype, x.shape, x.numpy()) if hasattr(x, "numpy") else x

    def attributes(self, rest: object) -> tuple[Any, ...]:
        """Return an operation's arguments besides arrays."""
        found = self.operand(rest)
        return found if isinstance(found, tuple) else () if found is None else (found,)

    def model(self, onnx: Any, title: str, output_names: Sequence[str] | None) -> Any:
        """Return the model."""
        words = _arrays_in(self.saved["result"])
        names = _names("output", len(words), output_names)
        found = [self.operand(word) for word in words]
        inner = [x.name if x.value is None else self.drawing.constant(x.value) for x in found]
        nodes, arrays = self.drawing.finish(list(zip(inner, names)), self.names)
        helper = onnx.helper

        def value_info(name: str, x: Any, later: Any) -> Any:
            shape = [n if n == m else "examples" if m == n + 1 else None for n, m in zip(x.shape, later.shape)]
            dtype = helper.np_dtype_to_tensor_dtype(numpy.dtype(x.dtype))
            return helper.make_tensor_value_info(name, dtype, shape)

        graph = helper.make_graph(
            [helper.make_node(n.kind, n.inputs, n.outputs, **n.attributes) for n in nodes],
            title,
            [value_info(name, x, y) for name, x, y in zip(self.names, self.inputs, self.one_more or self.inputs)],
            [value_info(name, self.read(word), self.read(word, later=True)) for name, word in zip(names, words)],
            [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()],
        )
        versions = {"producer_name": "forerun", "producer_version": metadata.version("forerun"), "ir_version": _IR}
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], **versions)


def _arrays_in(word: Any) -> list[Any]:
    """Return the words of arrays in a structure of results."""
    if isinstance(word, list):
        return [x for v in word for x in _arrays_in(v)]
    if not isinstance(word, dict):
        return []
    ((kind, v),) = word.items()
    return _arrays_in(v) if kind == "tuple" else _arrays_in(v[1:]) if kind == "record" else [word]
