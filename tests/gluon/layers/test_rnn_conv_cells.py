"""Cells of convolutions and projections against loops over NumPy arrays; activations; widths taken from data."""

import itertools
from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np
from forerun.gluon import rnn
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

T, N, C, H, P = 4, 3, 5, 4, 2
RULES = ("RNN", "LSTM", "GRU")
GATES = {"RNN": 1, "LSTM": 4, "GRU": 3}
STATES = {"RNN": 1, "LSTM": 2, "GRU": 1}


def correlated(x: Any, w: Any, b: Any, pad: int, dilate: int) -> Any:
    """A convolution (batch, channels, *extents), place by place of the kernel."""
    n = x.ndim - 2
    x = numpy.pad(x, [(0, 0), (0, 0), *[(pad, pad)] * n])
    extents = [a - dilate * (k - 1) for a, k in zip(x.shape[2:], w.shape[2:])]
    y = numpy.zeros((x.shape[0], w.shape[0], *extents)) + b.reshape(-1, *[1] * n)
    for at in itertools.product(*map(range, w.shape[2:])):
        part = x[(..., *(slice(i * dilate, i * dilate + e) for i, e in zip(at, extents)))]
        y += numpy.einsum("nc...,oc->no...", part, w[(..., *at)])
    return y


def stepped(kind: str, from_x: Any, from_h: Any, states: list[Any], act: Any = numpy.tanh, gate: Any = sigmoid) -> Any:
    """Return the new states (batch, units, ...), by the papers' formulas."""
    xs, hs = (numpy.split(a, GATES[kind], 1) for a in (from_x, from_h))
    if kind == "RNN":
        return [act(xs[0] + hs[0])]
    if kind == "LSTM":
        i, f, o = (gate(xs[k] + hs[k]) for k in (0, 1, 3))
        c = f * states[1] + i * act(xs[2] + hs[2])
        return [o * act(c), c]
    r, z = (gate(xs[k] + hs[k]) for k in (0, 1))
    return [(1 - z) * act(xs[2] + r * hs[2]) + z * states[0]]


def made(cell: Any) -> Any:
    cell.cast("float64")
    cell.initialize()
    return with_random_parameters(cell)


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("last", [False, True])
def test_cells_of_convolutions_are_those_of_numpy(kind: str, n: int, last: bool) -> None:
    extents = (6, 5, 4)[:n]
    turned = (lambda a: numpy.moveaxis(a, 1, -1)) if last else (lambda a: a)
    back = (lambda a: numpy.moveaxis(a, -1, 1)) if last else (lambda a: a)
    shape = (*extents, 2) if last else (2, *extents)
    layout = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[n] if last else None
    cell = made(
        getattr(rnn, f"Conv{n}D{kind}Cell")(shape, 3, i2h_kernel=2, h2h_kernel=3, i2h_pad=1, i2h_dilate=2,
                                            h2h_dilate=2, conv_layout=layout)
    )  # fmt: skip
    v = {name: back(value) if name.endswith("weight") else value for name, value in parameter_values(cell).items()}
    assert v["i2h_weight"].shape == (GATES[kind] * 3, 2, *[2] * n)
    assert v["h2h_weight"].shape == (GATES[kind] * 3, 3, *[3] * n)
    assert {info["shape"] for info in cell.state_info(2)} == {(2, *extents, 3) if last else (2, 3, *extents)}
    states = [numpy.zeros((2, 3, *extents)) for _ in range(STATES[kind])]
    given, now = cell.begin_state(2, dtype="float64"), states
    for _ in range(2):
        x = RNG.normal(size=(2, 2, *extents))
        y, given = cell(array(turned(x)), given)
        from_x = correlated(x, v["i2h_weight"], v["i2h_bias"], 1, 2)
        now = stepped(kind, from_x, correlated(now[0], v["h2h_weight"], v["h2h_bias"], 2, 2), now)
        assert_close(back(y.asnumpy()), now[0], 1e-10)
        for actual, state in zip(given, now, strict=True):
            assert_close(back(actual.asnumpy()), state, 1e-10)


@pytest.mark.parametrize("kind", RULES)
def test_gradients_of_cells_of_convolutions(kind: str) -> None:
    cell = made(getattr(rnn, f"Conv1D{kind}Cell")((2, 4), 2, i2h_kernel=3, h2h_kernel=3, activation="sigmoid"))
    x = random_leaf(1, 2, 2, 4)
    weights = [p.data() for p in cell.collect_params().values()]
    check_gradients(lambda: cell.unroll(2, x)[0], x, *weights)


def test_errors_of_cells_of_convolutions() -> None:
    with pytest.raises(ValueError, match=r"Conv2DGRUCell: h2h_kernel must be odd, .*, got \(2, 2\)"):
        rnn.Conv2DGRUCell((1, 4, 4), 2, 3, 2)
    with pytest.raises(ValueError, match=r"Conv1DRNNCell: input_shape must have 2 axes, .* got \(1, 4, 4\)"):
        rnn.Conv1DRNNCell((1, 4, 4), 2, 3, 3)
    with pytest.raises(ValueError, match=r"i2h_kernel must fit into the padded input, got \(5,\) for \[4\]"):
        rnn.Conv1DRNNCell((1, 4), 2, 5, 3)
    cell = made(rnn.Conv1DLSTMCell((1, 4), 2, 3, 3))
    with pytest.raises(ValueError, match=r"inputs must have shape \('batch', 1, 4\), got \(2, 1, 5\)"):
        cell(np.ones((2, 1, 5)), cell.begin_state(2))
    assert repr(cell) == "Conv1DLSTMCell((1, 4) -> 2, NCW)"
    assert gluon.contrib.rnn.Conv1DLSTMCell is rnn.Conv1DLSTMCell


def projected(x: Any, r: Any, c: Any, v: dict[str, Any], prefix: str = "") -> Any:
    """One step of an LSTM with a projection, as its paper writes it."""
    from_x = x @ v[f"{prefix}i2h_weight"].T + v[f"{prefix}i2h_bias"]
    h, c = stepped("LSTM", from_x, r @ v[f"{prefix}h2h_weight"].T + v[f"{prefix}h2h_bias"], [r, c])
    return h @ v[f"{prefix}h2r_weight"].T, c


def test_outputs_may_be_projected() -> None:
    cell = made(rnn.LSTMPCell(H, P, input_size=C))
    assert [info["shape"] for info in cell.state_info(N)] == [(N, P), (N, H)]
    x, r, c = random_leaf(N, C), random_leaf(N, P), random_leaf(N, H)
    y, (after_r, after_c) = cell(x, [r, c])
    expected = projected(x.asnumpy(), r.asnumpy(), c.asnumpy(), parameter_values(cell))
    for actual, want in zip((y, after_r, after_c), (expected[0], *expected)):
        assert_close(actual, want, 1e-12)
    check_gradients(lambda: cell(x, [r, c])[0], x, r, c, *[p.data() for p in cell.collect_params().values()])
    assert repr(cell) == "LSTMPCell(5 -> 4 -> 2)"
    with pytest.raises(ValueError, match="LSTMPCell: sizes must be positive, got 4 units to 0"):
        rnn.LSTMPCell(H, 0)


@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_may_project(hybrid: bool) -> None:
    layer = rnn.LSTM(H, num_layers=2, bidirectional=True, projection_size=P, dtype="float64")
    layer.initialize()
    layer(np.zeros((T, N, C), dtype="float64"))
    v = parameter_values(with_random_parameters(layer))
    assert v["r1_h2r_weight"].shape == (P, H)
    assert v["l1_i2h_weight"].shape == (4 * H, 2 * P)
    assert v["l0_h2h_weight"].shape == (4 * H, P)
    if hybrid:
        layer.hybridize()
    x, before = RNG.normal(size=(T, N, C)), [RNG.normal(size=(4, N, width)) for width in (P, H)]
    y, after = layer(array(x), [array(state) for state in before])
    wanted, ends = x, []
    for k in range(2):
        outputs = numpy.zeros((T, N, 2 * P))
        for d in range(2):
            r, c = (state[2 * k + d] for state in before)
            for t in range(T) if d == 0 else reversed(range(T)):
                r, c = projected(wanted[t], r, c, v, f"{'lr'[d]}{k}_")
                outputs[t, :, d * P : (d + 1) * P] = r
            ends.append((r, c))
        wanted = outputs
    assert_close(y, wanted, 1e-12)
    for actual, state in zip(after, zip(*ends), strict=True):
        assert_close(actual, numpy.stack(state), 1e-12)
    assert_close(layer(array(x)), layer(array(x), layer.begin_state(N, dtype="float64"))[0])


def test_gradients_flow_through_projections() -> None:
    layer = rnn.LSTM(2, projection_size=1, dtype="float64", input_size=2)
    layer.initialize()
    with_random_parameters(layer)
    x = random_leaf(3, 1, 2)
    check_gradients(lambda: layer(x), x, layer.l0_h2r_weight.data(), layer.l0_h2h_weight.data())


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_activations_of_gates_and_states(kind: str) -> None:
    relu = lambda a: numpy.maximum(a, 0)
    soft = lambda a: a / (1 + abs(a))
    cell = made(getattr(rnn, f"{kind}Cell")(H, input_size=C, activation="softsign", recurrent_activation="relu"))
    v, x, states = (
        parameter_values(cell),
        RNG.normal(size=(N, C)),
        [RNG.normal(size=(N, H)) for _ in range(STATES[kind])],
    )
    after = cell(array(x), [array(state) for state in states])[1]
    from_x, from_h = x @ v["i2h_weight"].T + v["i2h_bias"], states[0] @ v["h2h_weight"].T + v["h2h_bias"]
    for actual, want in zip(after, stepped(kind, from_x, from_h, states, soft, relu), strict=True):
        assert_close(actual, want, 1e-12)
    functions = made(getattr(rnn, f"{kind}Cell")(H, input_size=C, activation=np.sin, recurrent_activation=np.cos))
    functions.share_parameters(cell.collect_params())
    after = functions(array(x), [array(state) for state in states])[1]
    for actual, want in zip(after, stepped(kind, from_x, from_h, states, numpy.sin, numpy.cos), strict=True):
        assert_close(actual, want, 1e-12)


CELLS = {
    "RNNCell": (lambda: rnn.RNNCell(H), (H, -1)),
    "LSTMCell": (lambda: rnn.LSTMCell(H), (4 * H, -1)),
    "GRUCell": (lambda: rnn.GRUCell(H), (3 * H, -1)),
    "LSTMPCell": (lambda: rnn.LSTMPCell(H, P), (4 * H, -1)),
}


@pytest.mark.parametrize("name", CELLS)
def test_widths_are_taken_from_data(name: str) -> None:
    make, shape = CELLS[name]
    for x in (np.ones((N, C)), np.ones((N, T, C)), [np.ones((N, C))] * T):
        cell = make()
        assert cell.i2h_weight.shape == shape
        cell.infer_shape(0, x, False)
        assert cell.i2h_weight.shape == (shape[0], C)
    cell = make()
    cell.infer_shape(np.ones((N, C)), [])
    assert cell.i2h_weight.shape == (shape[0], C)
    for both, width in ((False, 1), (True, 2)):
        cell = make()
        cell.infer_shape(1, np.ones((N, C)), both)
        assert cell.i2h_weight.shape == (shape[0], width * (P if name == "LSTMPCell" else H))


def test_widths_in_cells_of_cells() -> None:
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMPCell(H, P), rnn.DropoutCell(0.1), rnn.ResidualCell(rnn.GRUCell(P)))
    stack.add(rnn.ZoneoutCell(rnn.RNNCell(7), 0.1), rnn.BidirectionalCell(rnn.RNNCell(2), rnn.GRUCell(3)))
    stack.add(rnn.VariationalDropoutCell(rnn.LSTMCell(2), 0.1))
    stack.infer_shape(0, np.ones((N, C)), False)
    cells = [stack[0], stack[2].base_cell, stack[3].base_cell, stack[4].l_cell, stack[4].r_cell, stack[5].base_cell]
    assert [cell.i2h_weight.shape[1] for cell in cells] == [C, P, P, 7, 7, 5]
    both = rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))
    both.infer_shape(1, np.ones((N, C)), True)
    assert both.l_cell.i2h_weight.shape == (2, 4)
    rnn.DropoutCell(0.5).infer_shape(0, np.ones((N, C)), False)
    rnn.Conv1DRNNCell((1, 4), 2, 3, 3).infer_shape(0, np.ones((N, 1, 4)), False)


def test_a_cell_for_each_direction_of_shorter_sequences() -> None:
    """Each sequence has the results that it has alone; the states are those after its own first and last step."""
    cells = [made(rnn.LSTMCell(H, input_size=C)) for _ in range(2)]
    both, x = rnn.BidirectionalCell(*cells), array(RNG.normal(size=(N, T, C)))
    y, states = both.unroll(T, x, valid_length=np.array([2, T, 1]))
    for i, n in enumerate((2, T, 1)):
        alone, ends = both.unroll(n, x[i : i + 1, :n])
        assert_close(y[i, :n], alone[0], 1e-12)
        assert_close(y[i, n:], numpy.zeros((T - n, 2 * H)))
        for actual, want in zip(states, ends, strict=True):
            assert_close(actual[i], want[0], 1e-12)


def test_a_network_of_convolutions_learns_to_predict() -> None:
    """A bright spot that moves on: which way is in the state alone."""
    rng = numpy.random.default_rng(0)
    starts, ways = rng.integers(2, 6, 16), rng.choice([-1, 1], 16)
    x = numpy.zeros((16, 3, 1, 8), "float32")
    for i, (s, w) in enumerate(zip(starts, ways)):
        for t in range(3):
            x[i, t, 0, (s + t * w) % 8] = 1
    cell = rnn.Conv1DLSTMCell((1, 8), 6, i2h_kernel=3, h2h_kernel=3, i2h_pad=1)
    head = gluon.nn.Conv1D(1, 1)
    for block in (cell, head):
        block.initialize("xavier")
    data, wanted = np.array(x[:, :2]), np.array(x[:, 2])
    head(np.ones((1, 6, 8)))
    params = [*cell.collect_params().values(), *head.collect_params().values()]
    trainer, losses = gluon.Trainer(params, "adam", {"learning_rate": 0.05}), []
    for _ in range(60):
        with autograd.record():
            loss = gluon.loss.L2Loss()(head(cell.unroll(2, data)[0][:, -1]), wanted).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss)
    assert losses[-1].item() < 0.2 * losses[0].item()
