"""Networks in ONNX files: ONNX Runtime computes the same as the network, and so does the block that is read again."""

from __future__ import annotations

import importlib
import math
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, np, npx
from forerun.gluon import nn, rnn
from forerun.gluon.model_zoo import vision
from forerun.ops._base.registry import operations

onnx: Any = pytest.importorskip("onnx", reason="needs onnx: run `make adapters`")
runtime: Any = pytest.importorskip("onnxruntime", reason="needs onnxruntime: run `make adapters`")

RNG = numpy.random.default_rng(0)


def data(shape: tuple[int, ...], high: int = 0) -> Any:
    """Return numbers; integers below `high` if that is given."""
    return np.array(RNG.integers(0, high, size=shape)) if high else np.array(RNG.normal(size=shape), dtype="float32")


def in_runtime(model: Any, *inputs: Any) -> list[Any]:
    """Return ONNX Runtime's results."""
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    session = runtime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, {i.name: x.numpy() for i, x in zip(session.get_inputs(), inputs)})


def flat(results: Any) -> list[Any]:
    return [x for r in results for x in flat(r)] if isinstance(results, (tuple, list)) else [results.numpy()]


def assert_alike(found: list[Any], expected: list[Any]) -> None:
    assert [x.shape for x in found] == [x.shape for x in expected]
    assert [x.dtype for x in found] == [x.dtype for x in expected]
    for x, y in zip(found, expected):
        numpy.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


def exported_onnx(net: Any, *inputs: Any) -> Any:
    net.initialize()
    return forerun.onnx.export(net, inputs)


class Attention(gluon.HybridBlock):
    """Two heads of it."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k = nn.Dense(8, flatten=False), nn.Dense(8, flatten=False)

    def forward(self, x: Any) -> Any:
        q, k = (p(x).reshape(*x.shape[:2], 2, 4).transpose(0, 2, 1, 3) for p in (self.q, self.k))
        weights = npx.softmax(q @ k.swapaxes(2, 3) / 2)
        return (weights @ k).transpose(0, 2, 1, 3).reshape(*x.shape[:2], -1)


IMAGE, ROWS = (2, 3, 8, 8), (3, 4)
LAYERS = {
    "conv": (lambda: nn.Conv2D(4, 3, strides=2, padding=1, activation="relu"), IMAGE),
    "conv with groups": (lambda: nn.Conv2D(6, 3, groups=3, dilation=2), IMAGE),
    "conv, channels last": (lambda: nn.Conv2D(4, 3, layout="NHWC"), (2, 8, 8, 3)),
    "conv 1d": (lambda: nn.Conv1D(4, 3), (2, 3, 8)),
    "transposed conv": (lambda: nn.Conv2DTranspose(4, 3, strides=2, padding=1, output_padding=1), IMAGE),
    "max pooling": (lambda: nn.MaxPool2D(3, 2, 1), IMAGE),
    "average pooling": (lambda: nn.AvgPool2D(3, 2, 1, count_include_pad=False), (2, 3, 7, 7)),
    "average pooling, ceil": (lambda: nn.AvgPool2D(2, ceil_mode=True), (2, 3, 7, 7)),
    "global pooling": (lambda: nn.GlobalAvgPool2D(), IMAGE),
    "batch norm": (lambda: nn.BatchNorm(epsilon=1e-3), IMAGE),
    "batch norm of rows": (lambda: nn.BatchNorm(scale=False), ROWS),
    "layer norm": (lambda: nn.LayerNorm(), (2, 3, 8)),
    "layer norm, axis 1": (lambda: nn.LayerNorm(axis=1), (2, 3, 8)),
    "group norm": (lambda: nn.GroupNorm(3), (2, 6, 4, 4)),
    "instance norm": (lambda: nn.InstanceNorm(), IMAGE),
    "dense": (lambda: nn.Dense(4, activation="tanh"), (2, 3, 2)),
    "dense, not flat": (lambda: nn.Dense(4, flatten=False, use_bias=False), (2, 3, 2)),
    "lstm": (lambda: rnn.LSTM(5, 2, bidirectional=True), (4, 2, 3)),
    "gru": (lambda: rnn.GRU(5), (4, 2, 3)),
    "rnn": (lambda: rnn.RNN(5, layout="NTC"), (4, 2, 3)),
    "rnn, tanh": (lambda: rnn.RNN(5, activation="tanh"), (4, 2, 3)),
    "dropout": (lambda: nn.Dropout(0.5), ROWS),
    "flatten": (lambda: nn.Flatten(), (2, 3, 4)),
    "attention": (Attention, (2, 5, 6)),
    **{kind: (lambda kind=kind: nn.Activation(kind), ROWS) for kind in ("sigmoid", "softrelu", "softsign")},
    **{
        make.__name__: (make, ROWS)
        for make in (lambda: nn.LeakyReLU(0.1), nn.PReLU, nn.ELU, nn.SELU, nn.GELU, nn.Swish)
        if make.__name__ != "<lambda>"
    },
    "LeakyReLU": (lambda: nn.LeakyReLU(0.1), ROWS),
}

FUNCTIONS = [
    lambda x: np.concatenate([x, x], 1).sum(0),
    lambda x: np.split(x, 2, 1)[1],
    lambda x: x[:, 1],
    lambda x: x[0],
    lambda x: x[:, None, 1:3],
    lambda x: x[:, -1],
    lambda x: x[:, ::-1],
    lambda x: np.expand_dims(x, 1),
    lambda x: np.clip(x, 0, 1),
    lambda x: x.astype("int32"),
    lambda x: np.pad(x, 1),
    lambda x: np.stack([x, x], 1),
    lambda x: np.take(x, np.array([0, 1]), axis=1),
    lambda x: np.broadcast_to(x, (2, 3, 4)),
    lambda x: np.max(x, 1),
    lambda x: x.var(1),
    lambda x: x.prod(),
    lambda x: npx.masked_softmax(x, x > 0),
    lambda x: np.repeat(x, 2, 1),
    lambda x: np.tile(x, (2, 1)),
    lambda x: np.einsum("ij,kj->ik", x, x),
    lambda x: npx.log_softmax(x) + x**2 - 2**x,
    lambda x: np.log1p(abs(x)) + np.expm1(x) + np.exp2(x) + np.log2(abs(x)) + np.log10(abs(x)),
    lambda x: x // 2 + x % 2,
    lambda x: np.where(np.logical_and(x > 0, x < 1), x, 0),
    lambda x: np.arange(4) + x,
    lambda x: x.cumsum(1),
    lambda x: x != 0,
    lambda x: np.logaddexp(x, x * 2),
    lambda x: np.zeros_like(x) + x,
    lambda x: x.reshape(-1, 2),
    lambda x: (x, [x + 1, x]),
    lambda x: np.square(x).max(),
]


@pytest.mark.parametrize("name", LAYERS)
def test_export_of_layers(name):
    make, shape = LAYERS[name]
    net = make()
    x = data(shape)
    model = exported_onnx(net, x)
    for parameter in net.collect_params().values():  # such as running means: not those of the beginning
        parameter.set_data(np.array(RNG.uniform(0.5, 1.5, size=parameter.shape), dtype=parameter.dtype))
    model = forerun.onnx.export(net, x)
    assert_alike(in_runtime(model, x), flat(net(x)))
    more = data((shape[0] + 3, *shape[1:]))
    assert_alike(in_runtime(model, more), flat(net(more)))
    assert_alike(flat(forerun.onnx.import_model(model)(more)), flat(net(more)))


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_export_of_functions(function):
    net, x = nn.HybridLambda(function), data(ROWS)
    model = exported_onnx(net, x)
    assert_alike(in_runtime(model, x), flat(net(x)))
    assert_alike(flat(forerun.onnx.import_model(model)(x)), flat(net(x)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_export_of_embeddings(dtype):
    net, x = nn.Embedding(10, 4), data((2, 3), high=10).astype(dtype)
    model = exported_onnx(net, x)
    assert_alike(in_runtime(model, x), flat(net(x)))
    assert_alike(flat(forerun.onnx.import_model(model)(x)), flat(net(x)))


class WithStates(gluon.HybridBlock):
    """A layer whose states go in and out."""

    def __init__(self, layer: Any) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any, *states: Any) -> Any:
        return self.layer(x, list(states))


@pytest.mark.parametrize(("layer", "states"), [(rnn.LSTM, 2), (rnn.GRU, 1)])
def test_export_of_recurrent_states(layer, states):
    net, inputs = WithStates(layer(5)), [data((4, 2, 3)), *(data((1, 2, 5)) for _ in range(states))]
    model = exported_onnx(net, *inputs)
    assert_alike(in_runtime(model, *inputs), flat(net(*inputs)))
    assert_alike(flat(forerun.onnx.import_model(model)(*inputs)), flat(net(*inputs)))


def test_export_of_a_residual_network():
    net, x = vision.resnet18_v1(classes=10), data((1, 3, 32, 32))
    model = exported_onnx(net, x)
    assert_alike(in_runtime(model, x), flat(net(x)))
    kinds = {node.op_type for node in model.graph.node}
    assert kinds == {
        "Conv",
        "BatchNormalization",
        "Relu",
        "MaxPool",
        "Pad",
        "Add",
        "Reshape",
        "ReduceSum",
        "Div",
        "Gemm",
    }
    assert "features.0.weight" in {x.name for x in model.graph.initializer}


def test_names_and_shapes():
    net = nn.Dense(2, in_units=3)
    model = exported_onnx(net, data((4, 3)))
    assert [x.name for x in model.graph.input] == ["data"]
    (output,) = model.graph.output
    dims = [d.dim_param or d.dim_value for d in output.type.tensor_type.shape.dim]
    assert (output.name, dims) == ("output", ["examples", 2])
    model = forerun.onnx.export(net, data((4, 3)), input_names=["x"], output_names=["y"])
    assert (model.graph.input[0].name, model.graph.output[0].name) == ("x", "y")
    with pytest.raises(ValueError, match="there must be 1 different names of data, got"):
        forerun.onnx.export(net, data((4, 3)), input_names=["x", "y"])
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 17)]


def test_export_to_a_file(tmp_path):
    net, x = nn.Dense(2), data((4, 3))
    net.initialize()
    forerun.onnx.export(net, x, tmp_path / "net.onnx")
    again = forerun.onnx.import_model(tmp_path / "net.onnx")
    assert repr(again) == "OnnxBlock(data -> output: 1 nodes)"
    assert_alike(flat(again(x)), flat(net(x)))
    again.hybridize()
    assert_alike([*flat(again(x)), *flat(again(x))], flat(net(x)) * 2)
    assert_alike(flat(forerun.onnx.import_model((tmp_path / "net.onnx").read_bytes())(x)), flat(net(x)))


def test_an_imported_network_can_be_trained():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(4, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.Flatten(), nn.Dense(2))
    x, label = data(IMAGE), np.array([0, 1])
    again = forerun.onnx.import_model(exported_onnx(net, x))
    params = again.collect_params()
    assert sorted(params) == sorted(net.collect_params())
    assert {name for name, p in params.items() if p.grad_req == "null"} == {"1.running_mean", "1.running_var"}
    trainer, loss = gluon.Trainer(params, "sgd", {"learning_rate": 0.1}), gluon.loss.SoftmaxCrossEntropyLoss()
    losses = []
    for _ in range(5):
        with autograd.record():
            losses.append(loss(again(x), label).mean())
        losses[-1].backward()
        trainer.step(2)
    assert losses[-1].item() < losses[0].item()
    assert abs(params["1.running_mean"].data()).max().item() > 0


def test_export_of_unsupported_blocks_raises():
    with pytest.raises(ValueError, match="operations must have a counterpart in ONNX, got cumprod"):
        exported_onnx(nn.HybridLambda(lambda x: x.cumprod(1)), data(ROWS))
    with pytest.raises(ValueError, match=r"reading the value of an array \(.*\) is not allowed"):
        exported_onnx(nn.HybridLambda(lambda x: x if x.sum().item() > 0 else -x), data(ROWS))
    with pytest.raises(ValueError, match="net must be a HybridBlock, got Sequential"):
        forerun.onnx.export(nn.Sequential(), data(ROWS))


def test_every_operation_of_the_table_is_one_of_forerun():
    table = importlib.import_module("forerun.onnx.operations").OPERATIONS
    assert [name for name in table if name not in operations] == []


# --- models of others ------------------------------------------------------------------------------------------------


def model_of(kinds: list[Any], inputs: dict[str, Any], known: dict[str, Any] | None = None, opset: int = 17) -> Any:
    """Return a model of nodes whose last one gives "y"."""
    to = onnx.helper
    infos = [
        to.make_tensor_value_info(name, to.np_dtype_to_tensor_dtype(x.dtype), list(x.shape))
        for name, x in inputs.items()
    ]
    arrays = [onnx.numpy_helper.from_array(numpy.asarray(v), name) for name, v in (known or {}).items()]
    graph = to.make_graph(kinds, "made", infos, [to.make_empty_tensor_value_info("y")], arrays)
    model = to.make_model(graph, opset_imports=[to.make_opsetid("", opset)], ir_version=8)
    model = onnx.shape_inference.infer_shapes(model)
    if not model.graph.output[0].type.tensor_type.elem_type:
        model.graph.output[0].CopyFrom(to.make_tensor_value_info("y", 1, next(iter(inputs.values())).shape))
    return model


X = numpy.asarray(RNG.normal(size=(2, 4, 6)), dtype="float32")
IMAGES = numpy.asarray(RNG.normal(size=(2, 4, 7, 7)), dtype="float32")
I64 = numpy.int64
NODES = [
    ("Gelu", {}, [X], [], 20),
    ("HardSigmoid", {}, [X], []),
    ("HardSwish", {}, [X], []),
    ("Clip", {}, [X], [numpy.float32(0)]),
    ("Elu", {"alpha": 0.5}, [X], []),
    ("LeakyRelu", {}, [X], []),
    ("Selu", {}, [X], []),
    ("Softsign", {}, [X], []),
    ("PRelu", {}, [X], [numpy.full((6,), 0.3, "float32")]),
    ("Max", {}, [X, X[:, :1]], []),
    ("Mean", {}, [X, X], []),
    ("Flatten", {"axis": 2}, [X], []),
    ("Squeeze", {}, [X[:1]], []),
    ("Unsqueeze", {}, [X], [numpy.array([0, -1])]),
    ("Reshape", {}, [X], [numpy.array([0, -1, 3])]),
    ("Expand", {}, [X[:, :1]], [numpy.array([3, 1, 4, 1])]),
    ("Tile", {}, [X], [numpy.array([1, 2, 1])]),
    ("Slice", {}, [X], [numpy.array([3]), numpy.array([-9]), numpy.array([1]), numpy.array([-2])]),
    ("Gather", {"axis": 1}, [X], [numpy.array([[0, -1], [1, 2]])]),
    ("GatherElements", {"axis": 2}, [X], [numpy.zeros((2, 4, 1), I64)]),
    ("Pad", {}, [X], [numpy.array([0, 1, 0, 0, 0, 2]), numpy.float32(2)]),
    ("Pad", {"mode": "reflect"}, [X], [numpy.array([0, 1, 0, 0, 1, 2])]),
    ("ReduceMean", {"axes": [1], "keepdims": 0}, [X], []),
    ("ReduceSum", {}, [X], [numpy.array([0, 2])]),
    ("ReduceL2", {"axes": [-1]}, [X], []),
    ("ArgMax", {"axis": -1, "keepdims": 0}, [X], []),
    ("CumSum", {}, [X], [numpy.array(1)]),
    ("Cast", {"to": 7}, [X], []),
    ("Gemm", {"alpha": 0.5, "transA": 1}, [X[0], X[0]], [numpy.ones(6, "float32")]),
    ("Einsum", {"equation": "bij,bkj->bik"}, [X, X], []),
    ("LayerNormalization", {"axis": 1}, [X], [numpy.ones((4, 6), "float32")]),
    ("InstanceNormalization", {}, [X], [numpy.ones(4, "float32"), numpy.ones(4, "float32")]),
    ("GroupNormalization", {"num_groups": 2}, [X], [numpy.ones(4, "float32"), numpy.ones(4, "float32")], 21),
    ("Conv", {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, [IMAGES], [numpy.ones((3, 4, 2, 2), "float32")]),
    ("Conv", {"pads": [0, 1, 1, 2]}, [IMAGES], [numpy.ones((3, 4, 2, 2), "float32"), numpy.ones(3, "float32")]),
    ("ConvTranspose", {"strides": [2, 2]}, [IMAGES], [numpy.ones((4, 3, 2, 2), "float32")]),
    ("MaxPool", {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1]}, [IMAGES], []),
    ("MaxPool", {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}, [IMAGES], []),
    ("AveragePool", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}, [IMAGES], []),
    ("GlobalMaxPool", {}, [IMAGES], []),
    ("GlobalAveragePool", {}, [IMAGES], []),
    (
        "LSTM",
        {"hidden_size": 3, "direction": "bidirectional"},
        [X],
        [numpy.ones((2, 12, 6), "float32") / 9, numpy.ones((2, 12, 3), "float32") / 7],
    ),
    ("Where", {}, [X > 0, X], [numpy.float32(1)]),
    ("Mod", {"fmod": 1}, [X], [numpy.float32(0.5)]),
    ("Not", {}, [X > 0], []),
]


@pytest.mark.parametrize("row", NODES, ids=lambda row: f"{row[0]}{row[1] or ''}")
def test_import_of_nodes_of_other_exporters(row):
    kind, attributes, inputs, known, *opset = row
    named = {f"x{i}": x for i, x in enumerate(inputs)}
    more = {f"k{i}": x for i, x in enumerate(known)}
    node = onnx.helper.make_node(kind, [*named, *more], ["y"], **attributes)
    model = model_of([node], named, more, *opset)
    arrays = [np.array(x, dtype=x.dtype) for x in inputs]
    found = forerun.onnx.import_model(model)(*arrays)
    assert_alike(flat(found), in_runtime(model, *arrays))


def test_computed_shapes_do_not_wait():
    make = onnx.helper.make_node
    nodes = [
        make("Shape", ["x"], ["shape"]),
        make("Gather", ["shape", "zero"], ["n"]),
        make("Unsqueeze", ["n", "axis"], ["m"]),
        make("Concat", ["m", "rest"], ["to"], axis=0),
        make("Reshape", ["x", "to"], ["y"]),
    ]
    known = {"zero": I64(0), "axis": numpy.array([0]), "rest": numpy.array([-1])}
    net = forerun.onnx.import_model(model_of(nodes, {"x": X}, known))
    with forerun.testing.closed_gate():
        y = net(np.ones((3, 4, 6)))
    assert y.shape == (3, 24)


def test_several_outputs():
    node = onnx.helper.make_node("Split", ["x", "sizes"], ["z", "y"], axis=1)
    model = model_of([node], {"x": X}, {"sizes": numpy.array([1, 3])})
    assert forerun.onnx.import_model(model)(np.array(X)).shape == (2, 3, 6)


def test_import_of_unsupported_models_raises():
    make = onnx.helper.make_node
    nodes = [make("NonZero", ["x"], ["a"]), make("Det", ["x"], ["y"])]
    with pytest.raises(NotImplementedError, match="nodes must be of kinds that forerun has, got Det, NonZero"):
        forerun.onnx.import_model(model_of(nodes, {"x": X}))
    gru = make("GRU", ["x", "w", "r"], ["y"], hidden_size=3)
    weights = {"w": numpy.ones((1, 9, 6), "float32"), "r": numpy.ones((1, 9, 3), "float32")}
    with pytest.raises(NotImplementedError, match="linear_before_reset of GRU must be one that forerun has, got 0"):
        forerun.onnx.import_model(model_of([gru], {"x": X}, weights))(np.array(X))
    with pytest.raises(ValueError, match="import_model: model must be valid, got"):
        forerun.onnx.import_model(model_of([make("Neg", ["nothing"], ["y"])], {"x": X}))
    net = forerun.onnx.import_model(model_of([make("Neg", ["x"], ["y"])], {"x": X}))
    with pytest.raises(ValueError, match="OnnxBlock: inputs must be x, got 2 arrays"):
        net(np.ones(2), np.ones(2))
    assert math.isclose(net(np.ones(2)).sum().item(), -2)
