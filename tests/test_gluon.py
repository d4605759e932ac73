"""Gluon: losses and layers against NumPy, gradients against differences; parameters, blocks, training on devices."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, init, np
from forerun.gluon import nn

RNG = numpy.random.default_rng(1)
PRED = RNG.normal(size=(4, 3))
LABEL = RNG.normal(size=(4, 3))
CLASSES = numpy.array([0, 2, 1, 1])
SHARES = numpy.abs(LABEL) / numpy.abs(LABEL).sum(1, keepdims=True)
WEIGHTS = numpy.array([[0.5], [2.0], [0.0], [1.0]])


@pytest.fixture
def two_devices() -> Iterator[list[forerun.Device]]:
    before = forerun.config()["cpu_devices"]
    forerun.configure(cpu_devices=2)
    yield [forerun.cpu(0), forerun.cpu(1)]
    forerun.configure(cpu_devices=before)


@pytest.fixture
def gate() -> Iterator[None]:
    """Nothing runs until the test opens the gate; a test that waits before is let through after a while, and fails."""
    opened: list[str] = []
    rescue = threading.Timer(20, lambda: (opened.append("waited"), _core.gate(False)))
    _core.waitall()
    _core.gate(True)
    rescue.start()
    yield
    rescue.cancel()
    _core.gate(False)
    _core.waitall()
    assert not opened


def array(values: Any, dtype: str | None = "float64") -> Any:
    return np.array(values, dtype=dtype)


def close(x: Any, expected: Any, tolerance: float = 1e-6) -> None:
    numpy.testing.assert_allclose(numpy.asarray(x), expected, rtol=tolerance, atol=tolerance)


def differences(f: Callable[[], float], x: Any, h: float = 1e-5) -> numpy.ndarray:
    """The gradient of f with regard to x, element by element, by central differences; x is put back."""
    before = x.asnumpy().copy()
    slopes = numpy.zeros(before.shape)
    for i in numpy.ndindex(*before.shape):
        for sign in (1, -1):
            moved = before.copy()
            moved[i] += sign * h
            x[...] = moved
            slopes[i] += sign * f() / (2 * h)
    x[...] = before
    return slopes


def check_gradients(f: Callable[..., Any], *leaves: Any) -> None:
    """Compares gradients of a weighted sum of f() with differences."""
    rates = array(numpy.random.default_rng(2).normal(size=f().shape))
    with autograd.record():
        y = (f() * rates).sum()
    y.backward()
    found = [leaf.grad.asnumpy().copy() for leaf in leaves]
    for leaf, g in zip(leaves, found):
        with autograd.train_mode():
            close(g, differences(lambda: (f() * rates).sum().item(), leaf), 1e-5)


# --- losses ----------------------------------------------------------------------------------------------------------


def log_softmax(x: numpy.ndarray) -> numpy.ndarray:
    return x - numpy.log(numpy.exp(x).sum(-1, keepdims=True))


def sigmoid(x: numpy.ndarray) -> numpy.ndarray:
    return 1 / (1 + numpy.exp(-x))


def cross_entropy(p: numpy.ndarray, q: numpy.ndarray) -> numpy.ndarray:
    return -q * numpy.log(p) - (1 - q) * numpy.log(1 - p)


def huber(e: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(abs(e) > 0.5, abs(e) - 0.25, e**2)


LOSSES: list[tuple[gluon.loss.Loss, numpy.ndarray, numpy.ndarray, numpy.ndarray]] = [
    (gluon.loss.L2Loss(), PRED, LABEL, (PRED - LABEL) ** 2 / 2),
    (gluon.loss.L2Loss(weight=4), PRED, LABEL, (PRED - LABEL) ** 2 * 2),
    (gluon.loss.L1Loss(), PRED, LABEL, abs(PRED - LABEL)),
    (gluon.loss.HuberLoss(rho=0.5), PRED, LABEL, huber(PRED - LABEL)),
    (gluon.loss.HingeLoss(), PRED, numpy.sign(LABEL), numpy.maximum(0, 1 - PRED * numpy.sign(LABEL))),
    (gluon.loss.SoftmaxCrossEntropyLoss(), PRED, CLASSES, -log_softmax(PRED)[range(4), CLASSES][:, None]),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(sparse_label=False),
        PRED,
        SHARES,
        -(log_softmax(PRED) * SHARES).sum(1, keepdims=True),
    ),
    (
        gluon.loss.SoftmaxCrossEntropyLoss(from_logits=True),
        log_softmax(PRED),
        CLASSES,
        -log_softmax(PRED)[range(4), CLASSES][:, None],
    ),
    (gluon.loss.SigmoidBinaryCrossEntropyLoss(), PRED, SHARES, cross_entropy(sigmoid(PRED), SHARES)),
    (
        gluon.loss.SigmoidBCELoss(from_sigmoid=True),
        sigmoid(PRED),
        SHARES,
        cross_entropy(sigmoid(PRED), SHARES),
    ),
    (gluon.loss.KLDivLoss(), log_softmax(PRED), SHARES, SHARES * (numpy.log(SHARES) - log_softmax(PRED))),
    (gluon.loss.KLDivLoss(from_logits=False), PRED, SHARES, SHARES * (numpy.log(SHARES) - log_softmax(PRED))),
]
IDS = [f"{type(case[0]).__name__}{i}" for i, case in enumerate(LOSSES)]


@pytest.mark.parametrize(("loss", "pred", "label", "elements"), LOSSES, ids=IDS)
def test_losses_are_means_over_all_but_the_batch(
    loss: gluon.loss.Loss, pred: numpy.ndarray, label: numpy.ndarray, elements: numpy.ndarray
) -> None:
    p, q = array(pred), array(label, None)
    assert loss(p, q).shape == (4,)
    close(loss(p, q), elements.mean(1))
    close(loss(p, q, array(WEIGHTS)), (elements * WEIGHTS).mean(1))
    p.attach_grad()
    check_gradients(lambda: loss(p, q), p)


def test_l2_loss_gives_the_label_the_shape_of_the_prediction() -> None:
    loss = gluon.loss.L2Loss()
    close(loss(array([1.0, 2.0]), array([[3.0], [5.0]])), [2, 4.5])
    with pytest.raises(
        ValueError, match=r"L2Loss: label must have as many elements as pred, got \(2,\) for \(3,\)"
    ):
        loss(np.ones(3), np.ones(2))


def test_losses_of_extreme_predictions_are_finite() -> None:
    close(gluon.loss.SigmoidBCELoss()(array([[1000.0], [-1000.0]]), array([[0.0], [0.0]])), [1000, 0])
    close(gluon.loss.SoftmaxCELoss()(array([[1000.0, 0.0]]), np.array([1])), [1000])


def test_sigmoid_cross_entropy_has_its_gradient_at_zero() -> None:
    x = np.zeros((1, 1))
    x.attach_grad()
    with autograd.record():
        y = gluon.loss.SigmoidBCELoss()(x, np.ones((1, 1)))
    y.backward()
    assert x.grad.item() == -0.5


# --- layers ----------------------------------------------------------------------------------------------------------


def made(layer: gluon.Block, *shape: int) -> tuple[gluon.Block, Any]:
    """The layer in float64 with random parameters, and data of that shape, both with gradients."""
    layer.initialize()
    layer(np.zeros(shape))
    layer.cast("float64")
    for parameter in layer.collect_params().values():
        if parameter.grad_req != "null":
            parameter.set_data(RNG.normal(size=parameter.shape))
    x = array(RNG.normal(size=shape))
    x.attach_grad()
    return layer, x


def values(layer: gluon.Block) -> dict[str, numpy.ndarray]:
    return {name: p.data().asnumpy() for name, p in layer.collect_params().items()}


@pytest.mark.parametrize(
    ("layer", "shape", "inputs"),
    [
        (nn.Dense(3), (2, 4), 4),
        (nn.Dense(3, activation="tanh"), (2, 2, 5), 10),
        (nn.Dense(3, flatten=False), (2, 5, 4), 4),
        (nn.Dense(3, use_bias=False), (6,), 1),
    ],
    ids=["matrix", "flatten", "last axis", "vector"],
)
def test_dense(layer: nn.Dense, shape: tuple[int, ...], inputs: int) -> None:
    layer, x = made(layer, *shape)
    v, rows = values(layer), numpy.asarray(x)
    rows = rows if not layer._flatten else rows.reshape(shape[0], -1)
    expected = rows @ v["weight"].T + v.get("bias", 0)
    assert v["weight"].shape == (3, inputs)
    close(layer(x), numpy.tanh(expected) if layer.act is not None else expected)
    check_gradients(lambda: layer(x), x, *[p.data() for p in layer.collect_params().values()])


@pytest.mark.parametrize("shape", [(5, 3), (4, 3, 2, 2)], ids=str)
def test_batch_norm_while_training(shape: tuple[int, ...]) -> None:
    layer, x = made(nn.BatchNorm(), *shape)
    rows, wide = numpy.asarray(x), (-1, *(1,) * (len(shape) - 2))
    axes = tuple(i for i in range(len(shape)) if i != 1)
    mean, var = rows.mean(axes, keepdims=True), rows.var(axes, keepdims=True)
    v = values(layer)
    expected = (rows - mean) / numpy.sqrt(var + 1e-5) * v["gamma"].reshape(wide) + v["beta"].reshape(wide)
    with autograd.train_mode():
        close(layer(x), expected)
    close(layer.running_mean.data(), 0.1 * mean.ravel())
    close(layer.running_var.data(), 0.9 + 0.1 * var.ravel())
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())


def test_batch_norm_otherwise_uses_the_running_statistics() -> None:
    layer, x = made(nn.BatchNorm(scale=False), 5, 3)
    layer.running_mean.set_data([1.0, 2.0, 3.0])
    layer.running_var.set_data([4.0, 4.0, 4.0])
    expected = (numpy.asarray(x) - [1, 2, 3]) / numpy.sqrt(4 + 1e-5) + values(layer)["beta"]
    close(layer(x), expected)
    close(layer.running_mean.data(), [1, 2, 3])
    assert layer.gamma.grad_req == "null"
    with pytest.raises(ValueError, match=r"BatchNorm: array must have axis 1, got shape \(3,\)"):
        layer(np.ones(3))


def test_layer_norm() -> None:
    layer, x = made(nn.LayerNorm(), 4, 2, 3)
    rows, v = numpy.asarray(x), values(layer)
    scaled = (rows - rows.mean(-1, keepdims=True)) / numpy.sqrt(rows.var(-1, keepdims=True) + 1e-5)
    close(layer(x), scaled * v["gamma"] + v["beta"])
    check_gradients(lambda: layer(x), x, layer.gamma.data(), layer.beta.data())


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_embedding(dtype: str) -> None:
    layer = nn.Embedding(5, 2)
    layer.initialize()
    layer.cast("float64")
    positions = np.array([[1, 4], [4, 0]], dtype=dtype)
    close(layer(positions), values(layer)["weight"][[[1, 4], [4, 0]]])
    check_gradients(lambda: layer(positions), layer.weight.data())


def test_dropout_is_for_training() -> None:
    layer, x = nn.Dropout(0.25), np.ones((100, 100))
    assert layer(x) is x
    with autograd.train_mode():
        y = layer(x).asnumpy()
    close(numpy.unique(y), [0, 4 / 3])
    assert abs((y == 0).mean() - 0.25) < 0.05
    with pytest.raises(ValueError, match=r"Dropout: rate must be in \[0, 1\), got 1"):
        nn.Dropout(1)


def test_functions_as_blocks() -> None:
    x = np.ones((2, 3, 4)) * -1
    assert nn.Flatten()(x).shape == (2, 12)
    assert nn.Identity()(x) is x
    close(nn.Lambda("relu")(x), numpy.zeros((2, 3, 4)))
    close(nn.HybridLambda(lambda a: a + 1)(x), numpy.zeros((2, 3, 4)))
    close(nn.Activation("sigmoid")(np.zeros(1)), [0.5])
    with pytest.raises(ValueError, match="Lambda: name must be a function of np or npx, got 'nothing'"):
        nn.Lambda("nothing")


# --- parameters and blocks -------------------------------------------------------------------------------------------


def mlp(**settings: Any) -> nn.Sequential:
    net = nn.Sequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    net.initialize(**settings)
    return net


def test_shapes_are_inferred_from_the_first_data() -> None:
    net = mlp()
    assert net[0].weight.shape == (4, -1)
    with pytest.raises(
        gluon.DeferredInitializationError, match=r"Parameter weight: .* got deferred shape \(4, -1\)"
    ):
        net[0].weight.data()
    net(np.ones((5, 3)))
    assert [p.shape for p in net.collect_params().values()] == [(4, 3), (4,), (2, 4), (2,)]
    with pytest.raises(ValueError, match=r"Parameter weight: shape must complete \(4, 3\), got \(4, 5\)"):
        net[0].weight.shape = (4, 5)


def test_parameters_must_be_initialised() -> None:
    net = nn.Dense(2, in_units=3)
    with pytest.raises(RuntimeError, match=r"Parameter weight: initialize\(\) must be called first"):
        net(np.ones((1, 3)))
    with pytest.raises(ValueError, match=r"Parameter w: shape must be known to initialise, got \(2, -1\)"):
        gluon.Parameter("w", shape=(2, 0)).initialize()


def test_initialisation_keeps_what_is_there_unless_forced() -> None:
    net = mlp(init="ones")
    net(np.ones((1, 3)))
    net.initialize(init.Constant(5))
    assert net[0].weight.data()[0, 0].item() == 1
    net.initialize(init.Constant(5), force_reinit=True)
    assert net[0].weight.data()[0, 0].item() == 5
    assert net[0].bias.data()[0].item() == 0
    net[0].bias.initialize(init.One(), force_reinit=True)
    assert net[0].bias.data().tolist() == [1, 1, 1, 1]


def test_set_data_completes_a_deferred_parameter() -> None:
    net = nn.Dense(1)
    net.initialize()
    net.weight.set_data([[1.0, 2.0]])
    close(net(np.ones((1, 2))), [[3]])


def test_grad_req() -> None:
    p = gluon.Parameter("p", grad_req="add", shape=2, init="ones")
    p.initialize()
    for _ in range(2):
        with autograd.record():
            y = (p.data() * 3).sum()
        y.backward()
    assert p.grad().tolist() == [6, 6]
    p.zero_grad()
    assert p.grad().tolist() == [0, 0]
    p.grad_req = "null"
    with pytest.raises(RuntimeError, match='Parameter p: grad_req must not be "null" for a gradient'):
        p.grad()
    with pytest.raises(ValueError, match="Parameter p: grad_req must be one of"):
        p.grad_req = "sometimes"


def test_parameters_live_on_several_devices(two_devices: list[forerun.Device]) -> None:
    net = mlp(ctx=two_devices)
    a, b = (net(np.ones((1, 3), ctx=device)) for device in two_devices)
    assert (a.device, b.device) == tuple(two_devices)
    close(a, b.asnumpy())
    assert net[0].weight.list_ctx() == two_devices
    net.reset_ctx(two_devices[1])
    close(net(np.ones((1, 3), ctx=two_devices[1])), b.asnumpy())
    with pytest.raises(
        RuntimeError, match=r"Parameter weight: device must be one of \[cpu\(1\)\], got cpu\(0\)"
    ):
        net(np.ones((1, 3), ctx=two_devices[0]))


class Residual(gluon.Block):
    """x plus a layer of x, scaled by a parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(3, in_units=3)
        self.scale = gluon.Parameter("scale", shape=(), init="ones")
        self.shift = gluon.Constant([1.0, 2.0, 3.0])

    def forward(self, x: Any) -> Any:
        return x + self.inner(x) * self.scale.data() + self.shift.data()


def test_parameters_are_named_by_their_place() -> None:
    net = nn.HybridSequential()
    net.add(Residual(), nn.BatchNorm(in_channels=3))
    names = ["0.scale", "0.shift", "0.inner.weight", "0.inner.bias"]
    assert list(net.collect_params()) == names + [
        f"1.{n}" for n in ("gamma", "beta", "running_mean", "running_var")
    ]
    assert list(net.collect_params(".*(weight|bias)")) == names[2:]
    net.collect_params(".*bias").setattr("wd_mult", 0)
    assert [p.wd_mult for p in net[0].inner.collect_params().values()] == [1, 0]
    assert repr(net[0]) == "Residual(\n  (inner): Dense(3 -> 3, linear)\n)"


def test_an_attribute_replaced_is_no_longer_owned() -> None:
    net = Residual()
    net.scale = nn.Identity()
    net.inner = gluon.Parameter("inner", shape=2)
    assert list(net.collect_params()) == ["shift", "inner"]
    assert repr(net) == "Residual(\n  (scale): Identity()\n)"


def test_containers_are_sequences() -> None:
    net = mlp()
    net.hybridize()
    assert (len(net), list(net)) == (2, [net[0], net[1]])
    assert type(net[:1]) is nn.Sequential
    assert net[-1] is net[:2][1] is net[1]
    with pytest.raises(TypeError, match=r"Sequential.add: must be a Block, got function"):
        net.add(lambda x: x)


def test_parameters_can_be_shared() -> None:
    shared = nn.Dense(3, in_units=3)
    net = nn.Sequential()
    net.add(shared, shared, nn.Dense(3, in_units=3).share_parameters(shared.collect_params()))
    net.initialize()
    assert net[2].weight is shared.weight
    assert len(gluon.Trainer(net.collect_params(), "sgd")._params) == 2


def test_hooks_see_inputs_and_outputs() -> None:
    seen = []
    net = nn.Identity()
    hooks = [
        net.register_forward_pre_hook(lambda block, args: seen.append(args)),
        net.register_forward_hook(lambda block, args, y: seen.append(y)),
    ]
    net(1)
    for hook in hooks:
        hook.detach()
    net(2)
    assert seen == [(1,), 1]


def test_parameters_survive_a_file(tmp_path: Path) -> None:
    net, x = mlp(), np.array(RNG.normal(size=(5, 3)), dtype="float32")
    y = net(x)
    net.save_parameters(tmp_path / "net.params")
    for again in (mlp(), nn.Sequential()):
        if not len(again):
            again.add(nn.Dense(4, activation="relu"), nn.Dense(2))
        again.load_parameters(tmp_path / "net.params")
        assert (again(x) == y).all()
    with pytest.raises(ValueError, match=r"load: file must have only the block's parameters, got \['1.bias"):
        net[:1].load_parameters(tmp_path / "net.params")
    net.add(nn.Dense(1))
    with pytest.raises(
        ValueError, match=r"load: file must have all parameters, got none for \['2.bias', '2.weight'\]"
    ):
        net.load_parameters(tmp_path / "net.params")
    net.load_parameters(tmp_path / "net.params", allow_missing=True)
    net.cast("float64")
    with pytest.raises(TypeError, match=r"load: \d.\w+ must be float64, got float32"):
        net.load_parameters(tmp_path / "net.params", allow_missing=True)
    net.load_parameters(tmp_path / "net.params", allow_missing=True, cast_dtype=True)


# --- initialisers ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "spread", "largest"),
    [
        (init.Uniform(0.5), 0.5 / 3**0.5, 0.5),
        (init.Normal(0.1), 0.1, 0.6),
        (init.TruncNorm(stdev=0.1), 0.1 * 0.8796, 0.2),
        (init.Xavier(), (2 / 500) ** 0.5, (3 / 250) ** 0.5),
        (init.Xavier("gaussian", "out", 2), (2 / 300) ** 0.5, 1),
        (init.MSRAPrelu("in", 0), 0.1, 1),
        (init.He(), 0.1, 1),
    ],
    ids=repr,
)
def test_initialisers_draw_with_the_right_spread(
    rule: init.Initializer, spread: float, largest: float
) -> None:
    x = np.zeros((300, 200))
    rule(x)
    assert abs(x.mean().item()) < spread / 50
    assert abs(x.std().item() / spread - 1) < 0.02
    assert abs(x).max().item() <= largest * 1.0001


def test_orthogonal_rows_or_columns() -> None:
    for shape in ((3, 5), (5, 3)):
        x = np.zeros(shape)
        init.Orthogonal(scale=2)(x)
        rows = x.asnumpy() if shape[0] < shape[1] else x.asnumpy().T
        close(rows @ rows.T, 4 * numpy.eye(3), 1e-5)


def test_initialisers_by_name() -> None:
    assert isinstance(init.create("xavier"), init.Xavier)
    assert init.create(None).scale == 0.07
    with pytest.raises(ValueError, match=r"init: name must be one of zeros, .* got 'huge'"):
        init.create("huge")
    with pytest.raises(ValueError, match=r"Xavier: array must have at least 2 axes, got shape \(3,\)"):
        init.Xavier()(np.zeros(3))


# --- training --------------------------------------------------------------------------------------------------------

INPUTS = RNG.normal(size=(8, 3)).astype("float32")
TARGETS = (INPUTS @ [[1.0], [-2.0], [0.5]] + 3).astype("float32")


def train(devices: list[forerun.Device], steps: int, optimizer: str, **settings: Any) -> tuple[Any, Any]:
    net, loss = nn.Dense(1, weight_initializer="ones"), gluon.loss.L2Loss()
    net.initialize(ctx=devices)
    trainer = gluon.Trainer(net.collect_params(), optimizer, settings)
    for _ in range(steps):
        parts = [gluon.utils.split_and_load(values, devices) for values in (INPUTS, TARGETS)]
        with autograd.record():
            losses = [loss(net(x), y) for x, y in zip(*parts)]
        autograd.backward(losses)
        trainer.step(len(INPUTS))
    return net, trainer


def descent(steps: int, lr: float) -> tuple[numpy.ndarray, numpy.ndarray]:
    w, b = numpy.ones((1, 3)), numpy.zeros(1)
    for _ in range(steps):
        error = INPUTS @ w.T + b - TARGETS
        w, b = w - lr * (error.T @ INPUTS) / 8, b - lr * error.mean(0)
    return w, b


def test_training_is_gradient_descent() -> None:
    net, _ = train([forerun.cpu(0)], 5, "sgd", learning_rate=0.2)
    w, b = descent(5, 0.2)
    close(net.weight.data(), w, 1e-5)
    close(net.bias.data(), b, 1e-5)


def test_training_on_two_devices_is_training_on_one(two_devices: list[forerun.Device]) -> None:
    net, _ = train(two_devices, 5, "sgd", learning_rate=0.2)
    w, b = descent(5, 0.2)
    for weight, bias in zip(net.weight.list_data(), net.bias.list_data()):
        close(weight, w, 1e-5)
        close(bias, b, 1e-5)
    assert (net.weight.list_data()[0].asnumpy() == net.weight.list_data()[1].asnumpy()).all()


def test_training_on_two_devices_does_not_wait(two_devices: list[forerun.Device], gate: None) -> None:
    net, _ = train(two_devices, 3, "adam", learning_rate=0.1, wd=0.1)
    norm = gluon.utils.clip_global_norm(net.weight.list_grad(), 1.0)
    assert not any(x.ready for x in (*net.weight.list_data(), norm))
    _core.gate(False)
    assert numpy.isfinite(net.weight.data().asnumpy()).all()


def test_nothing_waits(gate: None) -> None:
    net = nn.HybridSequential()
    for rule in ("xavier", "orthogonal", "truncnorm"):
        net.add(nn.Dense(8, "relu", weight_initializer=rule), nn.BatchNorm(), nn.LayerNorm(), nn.Dropout(0.5))
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"wd": 0.1, "clip_gradient": 1.0})
    data = gluon.data.ArrayDataset(np.ones((8, 3)), np.zeros(8, dtype="int32"))
    for x, y in gluon.data.DataLoader(data, 4, shuffle=True):
        with autograd.record():
            loss = gluon.loss.SoftmaxCrossEntropyLoss()(net(x), y)
        loss.backward()
        trainer.step(4)
    assert not loss.ready
    _core.gate(False)
    assert numpy.isfinite(loss.asnumpy()).all()


def test_old_gradients_are_noticed() -> None:
    net, trainer = train([forerun.cpu(0)], 1, "sgd", learning_rate=0.2)
    with pytest.raises(
        RuntimeError, match=r"Trainer.step: gradients must be computed anew .* \['bias', 'weight'\]"
    ):
        trainer.step(8)
    before = net.weight.data().asnumpy().copy()
    trainer.step(8, ignore_stale_grad=True)
    close(net.weight.data(), before)


def test_sums_can_be_changed_before_the_update(two_devices: list[forerun.Device]) -> None:
    p = gluon.Parameter("p", shape=2, init="zeros")
    p.initialize(ctx=two_devices)
    trainer = gluon.Trainer([p], "sgd", {"learning_rate": 1.0})
    for g, value in zip(p.list_grad(), (1.0, 2.0)):
        g[...] = value
    trainer.allreduce_grads()
    for g in p.list_grad():
        g *= 10
    trainer.update(2)
    for x in p.list_data():
        assert x.tolist() == [-15, -15]


def test_states_survive_a_file(tmp_path: Path) -> None:
    whole, _ = train([forerun.cpu(0)], 6, "adam", learning_rate=0.1)
    net, trainer = train([forerun.cpu(0)], 3, "adam", learning_rate=0.1)
    trainer.save_states(tmp_path / "states")
    again = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
    again.load_states(tmp_path / "states")
    assert again.optimizer.num_update == 3
    for _ in range(3):
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(np.array(INPUTS)), np.array(TARGETS))
        loss.backward()
        again.step(8)
    close(net.weight.data(), whole.weight.data().asnumpy())
    with pytest.raises(
        ValueError, match=r"load_states: file must have \['t'\], got \['mean', 't', 'variance'\]"
    ):
        gluon.Trainer(net.collect_params(), "sgd").load_states(tmp_path / "states")


def test_trainer_says_what_it_needs() -> None:
    with pytest.raises(TypeError, match="Trainer: params must be Parameters, got int"):
        gluon.Trainer([1], "sgd")
    with pytest.raises(ValueError, match=r"Trainer: kvstore must be .* got 'dist_sync'"):
        gluon.Trainer([], "sgd", kvstore="dist_sync")
    trainer = gluon.Trainer([], "sgd")
    trainer.set_learning_rate(0.5)
    assert trainer.learning_rate == 0.5


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "first", "second"),
    [("keep", [2, 2, 1], [2, 2, 1]), ("discard", [2, 2], [2, 2]), ("rollover", [2, 2], [2, 2, 2])],
)
def test_loader_keeps_discards_or_rolls_over(last: str, first: list[int], second: list[int]) -> None:
    data = gluon.data.ArrayDataset(numpy.arange(5), np.arange(5) * 10, list(range(5)))
    loader = gluon.data.DataLoader(data, 2, last_batch=last)
    for lengths in (first, second):
        assert len(loader) == len(lengths)
        batches = list(loader)
        assert [len(x) for x, _, _ in batches] == lengths
        for x, y, z in batches:
            assert (x * 10 == y).all()
            assert (x == z).all()


def test_loader_shuffles_as_the_seed_says() -> None:
    loader = gluon.data.DataLoader(gluon.data.ArrayDataset(np.arange(100)), 100, shuffle=True)
    orders = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        orders += [x.tolist() for _ in range(2) for x in loader]
    assert orders[:2] == orders[2:4] != orders[4:]
    assert orders[0] != orders[1]
    assert all(sorted(order) == list(range(100)) for order in orders)


def test_data_sets_can_be_transformed() -> None:
    data = gluon.data.ArrayDataset(numpy.ones((4, 2)), numpy.arange(4)).transform_first(lambda x: x * 3)
    (x, y), *_ = gluon.data.DataLoader(data, 4)
    close(x, 3 * numpy.ones((4, 2)))
    assert y.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"ArrayDataset: arrays must have one length, got \[2, 3\]"):
        gluon.data.ArrayDataset([1, 2], [1, 2, 3])


def test_batches_are_split() -> None:
    x = np.arange(10).reshape(5, 2)
    assert [part.tolist() for part in gluon.utils.split_data(x, 2, batch_axis=1)] == [
        [[0], [2], [4], [6], [8]],
        [[1], [3], [5], [7], [9]],
    ]
    with pytest.raises(ValueError, match="split_data: examples must divide evenly by 2, got 5"):
        gluon.utils.split_data(x, 2)
    with pytest.raises(ValueError, match="split_data: parts must be between 1 and the 5 examples, got 6"):
        gluon.utils.split_data(x, 6)


def test_gradients_are_clipped_together(two_devices: list[forerun.Device]) -> None:
    a, b = np.array([3.0, 0.0]), np.array([4.0], ctx=two_devices[1])
    assert gluon.utils.clip_global_norm([a, b], 10.0).item() == 5
    assert (a.tolist(), b.tolist()) == ([3, 0], [4])
    gluon.utils.clip_global_norm([a, b], 0.5)
    close(a, [0.3, 0])
    close(b, [0.4])
    with pytest.raises(ValueError, match="clip_global_norm: norm must be finite, got nan"):
        gluon.utils.clip_global_norm([np.array([numpy.nan])], 1.0, check_isfinite=True)
