"""From an ONNX model to a Gluon block."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .. import np
from ..gluon.block.hybrid import HybridBlock
from ..gluon.parameter.parameter import Parameter
from .nodes import FOLLOWED, NODES

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["OnnxBlock", "import_model"]

_FIXED = {"Reshape": (1,), "Pad": (1, 2), "Clip": (1, 2), "Expand": (1,), "Tile": (1,), "Slice": (1, 2, 3, 4)}
"""Inputs of nodes that are settings rather than weights."""


class Step(NamedTuple):
    """A node of the graph: the function that computes it, and the names that it reads and writes."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]


def import_model(model: Any) -> OnnxBlock:
    """Return the network of an ONNX model as a block: it predicts, and can be trained further, hybridized and saved.

    Weights become parameters under their names in the model. The block computes with forerun's operations; results are
    those of ONNX Runtime but for the last bits.

    Parameters
    ----------
    model : path, bytes or onnx.ModelProto
        The model, or the file that it is in.

    Returns
    -------
    OnnxBlock
        A block that takes the model's inputs, in their order, and returns its output, or a list of several.

    Raises
    ------
    NotImplementedError
        If forerun has no counterpart for a node, or for a setting of it. The message names all such kinds of nodes.
    ValueError
        If the model is not valid.
    ImportError
        Without the package `onnx`.

    Examples
    --------
    >>> import onnx.helper as to
    >>> from forerun import np
    >>> from forerun.onnx import import_model
    >>> x, y = (to.make_tensor_value_info(name, 1, ["n", 2]) for name in "xy")
    >>> graph = to.make_graph([to.make_node("Softmax", ["x"], ["y"])], "one", [x], [y])
    >>> net = import_model(to.make_model(graph, opset_imports=[to.make_opsetid("", 17)]))
    >>> net(np.zeros((1, 2))).tolist()
    [[0.5, 0.5]]
    """
    import onnx

    if isinstance(model, (str, os.PathLike)):
        model = onnx.load(os.fspath(model))
    elif isinstance(model, bytes):
        model = onnx.load_model_from_string(model)
    try:
        onnx.checker.check_model(model)
    except onnx.checker.ValidationError as error:
        raise ValueError(f"import_model: model must be valid, got {error}") from None
    return OnnxBlock(*_read(onnx, model))


def _read(onnx: Any, model: Any) -> tuple[list[Step], list[str], list[str], dict[str, numpy.ndarray[Any, Any]]]:
    """Return steps, inputs, outputs and known arrays of a model."""
    graph = model.graph
    known = {x.name: _array(onnx, x) for x in graph.initializer}
    steps = []
    for node in graph.node:
        attributes = {a.name: _attribute(onnx, a) for a in node.attribute}
        kind = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}.{node.op_type}"
        if kind == "Constant":
            known[node.output[0]] = numpy.asarray(next(iter(attributes.values())))
        else:
            steps.append(Step(kind, tuple(node.input), tuple(node.output), attributes))
    if absent := sorted({step.kind for step in steps} - set(NODES)):
        raise NotImplementedError(f"import_model: nodes must be of kinds that forerun has, got {', '.join(absent)}")
    inputs = [x.name for x in graph.input if x.name not in known]
    return steps, inputs, [x.name for x in graph.output], known


def _array(onnx: Any, tensor: Any) -> numpy.ndarray[Any, Any]:
    found: numpy.ndarray[Any, Any] = numpy.array(onnx.numpy_helper.to_array(tensor))
    return found


def _attribute(onnx: Any, attribute: Any) -> Any:
    value = onnx.helper.get_attribute_value(attribute)
    if isinstance(value, onnx.TensorProto):
        return _array(onnx, value)
    if isinstance(value, onnx.GraphProto):
        raise NotImplementedError(f"import_model: nodes must not have graphs inside, got one in {attribute.name!r}")
    if isinstance(value, bytes):
        return value.decode()
    return [v.decode() if isinstance(v, bytes) else v for v in value] if isinstance(value, list) else value


class OnnxBlock(HybridBlock):
    """A block that computes an ONNX graph. Made by `import_model`.

    A call takes the inputs of the graph in their order, and returns its output, or a list of several. ValueError for
    another number of inputs.

    Parameters
    ----------
    steps : list of Step
        The nodes in an order in which they can be computed: kind, names of inputs and outputs, attributes.
    inputs : list of str
        The names of the inputs.
    outputs : list of str
        The names of the outputs.
    known : dict of str to numpy.ndarray
        The arrays that the graph has, by name. Weights among them become parameters.

    Examples
    --------
    >>> OnnxBlock([Step("Neg", ("x",), ("y",), {})], ["x"], ["y"], {})(np.ones(2)).tolist()
    [-1.0, -1.0]
    """

    def __init__(
        self, steps: list[Step], inputs: list[str], outputs: list[str], known: dict[str, numpy.ndarray[Any, Any]]
    ) -> None:  # fmt: skip
        super().__init__()
        self._steps, self._inputs, self._outputs = steps, inputs, outputs
        followed = {step.inputs[i] for step in steps for i in FOLLOWED.get(step.kind, ()) if i < len(step.inputs)}
        weights = _weights(steps, known)
        for name in weights:
            trained = name not in followed
            value = known[name]
            parameter = Parameter(
                name, "write" if trained else "null", value.shape, value.dtype, differentiable=trained
            )
            self._params[name] = parameter
            parameter.initialize()
            parameter.set_data(np.array(value, dtype=value.dtype))
        self._known = {name: value for name, value in known.items() if name not in weights}

    def forward(self, *args: Array) -> Any:
        """Return the model's output, or a list of several. ValueError for another number of inputs."""
        if len(args) != len(self._inputs):
            raise ValueError(f"OnnxBlock: inputs must be {', '.join(self._inputs)}, got {len(args)} arrays")
        device = getattr(args[0], "device", None) if args else None
        values: dict[str, Any] = {"": None, **self._known, **dict(zip(self._inputs, args))}
        values.update((name, parameter.data(device)) for name, parameter in self._params.items())
        for step in self._steps:
            given = [values[name] for name in step.inputs]
            static = all(x is None or isinstance(x, numpy.ndarray) for x in given)
            found = NODES[step.kind](numpy if static else np, step.attributes, *given)
            found = found if isinstance(found, (tuple, list)) else [found]
            found = [numpy.asarray(x) if isinstance(x, numpy.generic) else x for x in found]
            values.update(zip(step.outputs, found))
        results = [values[name] for name in self._outputs]
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        return f"OnnxBlock({', '.join(self._inputs)} -> {', '.join(self._outputs)}: {len(self._steps)} nodes)"


def _weights(steps: list[Step], known: dict[str, numpy.ndarray[Any, Any]]) -> list[str]:
    """Return the names of known arrays that are parameters: floats along some axis that a node computes with."""
    found: dict[str, None] = {}
    for step in steps:
        for i, name in enumerate(step.inputs):
            value = known.get(name)
            if value is not None and value.dtype.kind == "f" and value.ndim and i not in _FIXED.get(step.kind, ()):
                found[name] = None
    return list(found)
