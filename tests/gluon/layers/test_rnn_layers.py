"""Recurrent layers and cells against loops over NumPy arrays, differences, and PyTorch where it is installed."""

from typing import Any

import numpy
import pytest

from forerun import _core, autograd, gluon, np
from forerun.gluon import nn, rnn
from tests.support.comparison.formulas import sigmoid
from tests.support.comparison.gradients import check_gradients
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import (
    RNG,
    array,
    parameter_values,
    random_leaf,
    with_random_parameters,
)

T, N, C, H = 5, 3, 4, 2
STATES = {"RNN": 1, "LSTM": 2, "GRU": 1}


def step(kind: str, x: Any, states: list[Any], v: dict[str, Any], prefix: str = "") -> list[Any]:
    """One step as the papers write it, a gate at a time."""
    from_x = x @ v[f"{prefix}i2h_weight"].T + v[f"{prefix}i2h_bias"]
    from_h = states[0] @ v[f"{prefix}h2h_weight"].T + v[f"{prefix}h2h_bias"]
    gate = lambda a, k: a[:, k * H : (k + 1) * H]
    if kind == "RNN":
        return [numpy.tanh(from_x + from_h)]
    if kind == "LSTM":
        i, f, o = (sigmoid(gate(from_x + from_h, k)) for k in (0, 1, 3))
        c = f * states[1] + i * numpy.tanh(gate(from_x + from_h, 2))
        return [o * numpy.tanh(c), c]
    r, z = (sigmoid(gate(from_x, k) + gate(from_h, k)) for k in (0, 1))
    new = numpy.tanh(gate(from_x, 2) + r * gate(from_h, 2))
    return [(1 - z) * new + z * states[0]]


def run_rnn(kind: str, x: Any, before: list[Any], v: dict[str, Any], layers: int, directions: int) -> tuple[Any, Any]:
    """All steps of all layers; the states have a row per layer and direction."""
    after = [numpy.zeros_like(state) for state in before]
    for k in range(layers):
        outputs = numpy.zeros((len(x), x.shape[1], directions * H))
        for d in range(directions):
            states = [state[k * directions + d] for state in before]
            for t in range(len(x)) if d == 0 else reversed(range(len(x))):
                states = step(kind, x[t], states, v, f"{'lr'[d]}{k}_")
                outputs[t, :, d * H : (d + 1) * H] = states[0]
            for into, state in zip(after, states):
                into[k * directions + d] = state
        x = outputs
    return x, after


def layer_of(kind: str, **settings: Any) -> Any:
    """The layer in float64 with random parameters."""
    if kind == "RNN":
        settings.setdefault("activation", "tanh")
    layer = getattr(rnn, kind)(H, dtype="float64", **settings)
    layer.initialize()
    layer(np.zeros((T, N, C), dtype="float64"))
    return with_random_parameters(layer)


KINDS = pytest.mark.parametrize("kind", STATES)


@KINDS
@pytest.mark.parametrize(("layers", "directions"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_layers_are_loops_over_steps(kind: str, layers: int, directions: int) -> None:
    layer = layer_of(kind, num_layers=layers, bidirectional=directions == 2)
    x = array(RNG.normal(size=(T, N, C)))
    before = [array(RNG.normal(size=(layers * directions, N, H))) for _ in range(STATES[kind])]
    y, after = layer(x, before)
    expected, states = run_rnn(
        kind, x.asnumpy(), [state.asnumpy() for state in before], parameter_values(layer), layers, directions
    )
    assert_close(y, expected, 1e-12)
    assert len(after) == len(states)
    for actual, state in zip(after, states):
        assert_close(actual, state, 1e-12)
    assert_close(layer(x), layer(x, layer.begin_state(N, dtype="float64"))[0])  # zeros, where none are given


@KINDS
def test_gradients_are_those_of_differences(kind: str) -> None:
    layer = layer_of(kind, num_layers=2, bidirectional=True)
    x, h = random_leaf(3, 2, C), [random_leaf(4, 2, H) for _ in range(STATES[kind])]
    both = lambda: np.concatenate([part.ravel() for part in (layer(x, h)[0], *layer(x, h)[1])])
    weights = [layer.l0_i2h_weight, layer.r0_h2h_weight, layer.l1_i2h_bias, layer.r1_h2h_bias]
    check_gradients(both, x, *h, *[p.data() for p in weights])


@KINDS
@pytest.mark.parametrize("n", [1, 2, 7])
def test_gradients_flow_to_every_step(kind: str, n: int) -> None:
    layer, x = layer_of(kind), random_leaf(n, 1, C)
    check_gradients(lambda: layer(x)[-1], x)
    assert (abs(x.grad.asnumpy()).max((1, 2)) > 0).all()


@KINDS
def test_the_batch_may_come_first(kind: str) -> None:
    layer = layer_of(kind, num_layers=2)
    turned = getattr(rnn, kind)(
        H, 2, layout="NTC", dtype="float64", **({"activation": "tanh"} if kind == "RNN" else {})
    )
    turned.initialize()
    turned.share_parameters(layer.collect_params())
    x = array(RNG.normal(size=(T, N, C)))
    y, states = turned(x.swapaxes(0, 1), turned.begin_state(N, dtype="float64"))
    assert_close(y.swapaxes(0, 1), layer(x))
    assert states[0].shape == (2, N, H)


def test_parameters_have_the_names_and_shapes_of_mxnet() -> None:
    layer = rnn.GRU(H, num_layers=2, bidirectional=True)
    layer.initialize()
    assert layer.l0_i2h_weight.shape == (3 * H, -1)
    layer(np.ones((T, N, C)))
    shapes = {name: p.shape for name, p in layer.collect_params().items()}
    assert list(shapes)[:5] == ["l0_i2h_weight", "l0_h2h_weight", "l0_i2h_bias", "l0_h2h_bias", "r0_i2h_weight"]
    assert len(shapes) == 16
    assert shapes["l0_i2h_weight"] == (3 * H, C)
    assert shapes["r1_i2h_weight"] == (3 * H, 2 * H)
    assert shapes["l1_h2h_weight"] == (3 * H, H)
    assert shapes["r1_h2h_bias"] == (3 * H,)


def test_rnn_applies_the_given_activation() -> None:
    layer = rnn.RNN(H, input_size=C)
    layer.initialize("ones")
    assert layer(np.ones((1, 1, C))).tolist() == [[[C, C]]]  # relu, as in MXNet
    assert rnn.RNNCell(H)._step(np.ones((1, 1)), np.ones((1, 1)), [])[0].item() == pytest.approx(numpy.tanh(2))


def test_dropout_is_between_layers_while_training() -> None:
    one, two = (rnn.GRU(64, num_layers=n, dropout=0.5) for n in (1, 2))
    x = np.ones((2, 3, C))
    for layer in (one, two):
        layer.initialize()
        plain = layer(x).asnumpy()
        with autograd.train_mode():
            trained = layer(x).asnumpy()
        assert numpy.array_equal(plain, trained) == (layer is one)  # there is no dropout after the last layer


def test_calls_do_not_wait(gate: None) -> None:
    layer = rnn.LSTM(H, 2, input_size=C, bidirectional=True)
    layer.initialize()
    x = np.ones((T, N, C))
    with autograd.record():
        y, states = layer(x, layer.begin_state(N))
        loss = y.sum() + states[1].sum()
    loss.backward()
    assert not loss.ready
    _core.gate(False)
    assert numpy.isfinite(layer.l0_i2h_weight.grad().asnumpy()).all()


@KINDS
def test_hybridized_layers_are_the_same(kind: str) -> None:
    layer, x = layer_of(kind, num_layers=2), random_leaf(T, N, C)
    results = []
    for active in (False, True, True):
        if active:
            layer.hybridize()
        with autograd.record():
            y = layer(x)
        y.backward()
        results.append((y.asnumpy(), x.grad.asnumpy().copy()))
    assert layer.hybridized.startswith("1 program")
    for y, g in results[1:]:
        assert numpy.array_equal(y, results[0][0])
        assert_close(g, results[0][1], 1e-12)


def test_bad_input_is_refused() -> None:
    layer = rnn.LSTM(H)
    layer.initialize()
    with pytest.raises(ValueError, match=r"LSTM: input must have 3 axes \(TNC\), got shape \(3, 4\)"):
        layer(np.ones((3, 4)))
    with pytest.raises(ValueError, match=r"LSTM: states must have shapes .*1, 3, 2.*, got \[\(1, 3, 2\)\]"):
        layer(np.ones((T, N, C)), np.zeros((1, N, H)))
    with pytest.raises(ValueError, match="GRU: layout must be"):
        rnn.GRU(H, layout="NCT")
    with pytest.raises(ValueError, match="GRU: sizes must be positive, got 0 units"):
        rnn.GRU(0)
    with pytest.raises(ValueError, match=r"RNN: dropout must be in \[0, 1\), got 1"):
        rnn.RNN(H, dropout=1)
    with pytest.raises(NotImplementedError, match=r"LSTM: .* got {'use_sequence_length': True}"):
        rnn.LSTM(H, use_sequence_length=True)
    with pytest.raises(ValueError, match="GRU: projection_size must be positive, and of an LSTM, got 3"):
        rnn.GRU(H, projection_size=3)
    with pytest.raises(ValueError, match=r"LSTM: activation must be \"tanh\" .*, got 'relu'"):
        rnn.LSTM(H, activation="relu")


# --- cells ----------------------------------------------------------------------------------------


def cell_of(kind: str, width: int = C) -> Any:
    cell = getattr(rnn, f"{kind}Cell")(H, dtype="float64", input_size=width)
    cell.initialize()
    return with_random_parameters(cell)


@KINDS
def test_cells_are_one_step(kind: str) -> None:
    cell, x = cell_of(kind), random_leaf(N, C)
    before = [random_leaf(N, H) for _ in range(STATES[kind])]
    y, after = cell(x, before)
    expected = step(kind, x.asnumpy(), [state.asnumpy() for state in before], parameter_values(cell))
    assert_close(y, expected[0], 1e-12)
    for actual, state in zip(after, expected, strict=True):
        assert_close(actual, state, 1e-12)
    last = lambda: cell(x, before)[1][-1]
    check_gradients(last, x, *before, cell.i2h_weight.data(), cell.h2h_weight.data(), cell.h2h_bias.data())


@KINDS
@pytest.mark.parametrize("layout", ["NTC", "TNC"])
def test_unrolled_cells_are_layers(kind: str, layout: str) -> None:
    cell, layer = cell_of(kind), layer_of(kind)
    for name, parameter in cell.collect_params().items():
        layer.params[f"l0_{name}"].set_data(parameter.data())
    x = array(RNG.normal(size=(T, N, C)))
    y, states = cell.unroll(T, x.swapaxes(0, 1) if layout == "NTC" else x, layout=layout)
    expected, after = layer(x, layer.begin_state(N, dtype="float64"))
    assert_close(y.swapaxes(0, 1) if layout == "NTC" else y, expected)
    for actual, state in zip(states, after, strict=True):
        assert_close(actual, state[0])
    steps, _ = cell.unroll(T, list(x), layout=layout)
    assert_close(np.stack(steps), expected)


def test_shorter_sequences_end_earlier() -> None:
    cell, x = cell_of("LSTM"), array(RNG.normal(size=(2, T, C)))
    y, states = cell.unroll(T, x, valid_length=np.array([2, T]))
    short, short_states = cell.unroll(2, x[:1, :2])
    whole, whole_states = cell.unroll(T, x[1:])
    assert_close(y[0], numpy.vstack([short[0].asnumpy(), numpy.zeros((3, H))]))
    assert_close(y[1], whole[0])
    for actual, a, b in zip(states, short_states, whole_states):
        assert_close(actual, numpy.vstack([a.asnumpy(), b.asnumpy()]))


def test_cells_of_cells() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(cell_of("LSTM"), rnn.DropoutCell(0.5), rnn.ResidualCell(cell_of("GRU", H)))
    x = array(RNG.normal(size=(N, T, C)))
    y, states = stack.unroll(T, x)
    first, _ = stack[0].unroll(T, x)
    second, last = stack[2].base_cell.unroll(T, first)
    assert_close(y, second.asnumpy() + first.asnumpy())
    assert [state.shape for state in states] == [(N, H)] * 3
    assert_close(states[2], last[0])
    with pytest.raises(TypeError, match=r"SequentialRNNCell.add: must be a RecurrentCell, got Dense"):
        stack.add(nn.Dense(2))


def test_a_cell_for_each_direction() -> None:
    both = rnn.BidirectionalCell(cell_of("GRU"), cell_of("GRU"))
    layer = layer_of("GRU", bidirectional=True)
    for side, cell in (("l", both.l_cell), ("r", both.r_cell)):
        for name, parameter in cell.collect_params().items():
            layer.params[f"{side}0_{name}"].set_data(parameter.data())
    x = array(RNG.normal(size=(T, N, C)))
    y, states = both.unroll(T, x, layout="TNC")
    expected, (h,) = layer(x, layer.begin_state(N, dtype="float64"))
    assert_close(y, expected)
    assert_close(np.stack(states), h)
    with pytest.raises(NotImplementedError, match="must be called by unroll"):
        both(x[0], states)


def test_errors_of_unroll() -> None:
    cell = cell_of("RNN")
    with pytest.raises(ValueError, match="unroll: inputs must have 4 steps, at least 1, got 5"):
        cell.unroll(4, np.ones((N, T, C)))
    with pytest.raises(ValueError, match="unroll: layout must be"):
        cell.unroll(T, np.ones((N, T, C)), layout="CNT")
    with pytest.raises(ValueError, match=r"RNNCell: states must have shapes \[\(3, 2\)\], got \[\(1, 2\)\]"):
        cell(np.ones((N, C), dtype="float64"), [np.zeros((1, H))])


def test_a_trained_layer_learns_to_count() -> None:
    """The sum of a sequence of signs, which only a state can know."""
    numpy_rng = numpy.random.default_rng(4)
    x = array(numpy_rng.choice([-1.0, 1.0], size=(6, 64, 1)), "float32")
    net, dense = rnn.GRU(16), nn.Dense(1)
    for block in (net, dense):
        block.initialize("xavier")
    params = [*net.collect_params().values(), *dense.collect_params().values()]
    trainer = gluon.Trainer(params, "adam", {"learning_rate": 0.02})
    losses = []
    for _ in range(60):
        with autograd.record():
            loss = gluon.loss.L2Loss()(dense(net(x)[-1]), x.sum(axis=0))
        loss.backward()
        trainer.step(64)
        losses.append(loss.mean())
    assert losses[-1].item() < 0.2 * losses[0].item()


@KINDS
def test_layers_are_those_of_pytorch(kind: str) -> None:
    torch: Any = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")
    layer = layer_of(kind, num_layers=2, bidirectional=True)
    torch_layer = getattr(torch.nn, kind)(C, H, 2, bidirectional=True).double()
    for name, value in parameter_values(layer).items():
        place, what, tensor = name[:2], *name[3:].split("_")
        kinds = {"i2h": "ih", "h2h": "hh"}
        full = f"{tensor}_{kinds[what]}_l{place[1]}" + ("_reverse" if place[0] == "r" else "")
        getattr(torch_layer, full).data.copy_(torch.tensor(value))
    x = random_leaf(T, N, C)
    with autograd.record():
        y = layer(x)
        loss = (y * y).sum()
    loss.backward()
    torch_x = torch.tensor(x.asnumpy(), requires_grad=True)
    output, _ = torch_layer(torch_x)
    (output * output).sum().backward()
    assert_close(y, output.detach().numpy(), 1e-10)
    assert_close(x.grad, torch_x.grad.numpy(), 1e-10)
