"""Parameters, blocks and initialisers: names, shapes that are inferred, files, devices."""

import threading
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import autograd, gluon, init, np
from forerun.gluon import nn
from tests.support.comparison.tolerances import assert_close
from tests.support.gluon.gluon_samples import RNG


def two_layers(**settings: Any) -> nn.Sequential:
    net = nn.Sequential()
    net.add(nn.Dense(4, activation="relu"), nn.Dense(2))
    net.initialize(**settings)
    return net


def test_shapes_are_inferred_from_the_first_data() -> None:
    net = two_layers()
    assert net[0].weight.shape == (4, -1)
    with pytest.raises(gluon.DeferredInitializationError, match=r"Parameter weight: .* got deferred shape \(4, -1\)"):
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


def test_initialisation_keeps_existing_values_unless_forced() -> None:
    net = two_layers(init="ones")
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
    assert_close(net(np.ones((1, 2))), [[3]])


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
    net = two_layers(ctx=two_devices)
    a, b = (net(np.ones((1, 3), ctx=device)) for device in two_devices)
    assert (a.device, b.device) == tuple(two_devices)
    assert_close(a, b.asnumpy())
    assert net[0].weight.list_ctx() == two_devices
    net.reset_ctx(two_devices[1])
    assert_close(net(np.ones((1, 3), ctx=two_devices[1])), b.asnumpy())
    with pytest.raises(RuntimeError, match=r"Parameter weight: device must be one of \[cpu\(1\)\], got cpu\(0\)"):
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
    assert list(net.collect_params()) == names + [f"1.{n}" for n in ("gamma", "beta", "running_mean", "running_var")]
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
    net = two_layers()
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
    net, x = two_layers(), np.array(RNG.normal(size=(5, 3)), dtype="float32")
    y = net(x)
    net.save_parameters(tmp_path / "net.params")
    for again in (two_layers(), nn.Sequential()):
        if not len(again):
            again.add(nn.Dense(4, activation="relu"), nn.Dense(2))
        again.load_parameters(tmp_path / "net.params")
        assert (again(x) == y).all()
    with pytest.raises(ValueError, match=r"load: file must have only the block's parameters, got \['1.bias"):
        net[:1].load_parameters(tmp_path / "net.params")
    net.add(nn.Dense(1))
    with pytest.raises(ValueError, match=r"load: file must have all parameters, got none for \['2.bias', '2.weight'\]"):
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
def test_initialisers_draw_with_the_right_spread(rule: init.Initializer, spread: float, largest: float) -> None:
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
        assert_close(rows @ rows.T, 4 * numpy.eye(3), 1e-5)


def test_initialisers_by_name() -> None:
    assert isinstance(init.create("xavier"), init.Xavier)
    assert init.create(None).scale == 0.07
    with pytest.raises(ValueError, match=r"init: name must be one of .*zeros, .* got 'huge'"):
        init.create("huge")
    with pytest.raises(ValueError, match=r"Xavier: array must have at least 2 axes, got shape \(3,\)"):
        init.Xavier()(np.zeros(3))


@pytest.mark.parametrize("hybrid", [False, True])
def test_first_calls_from_two_threads(hybrid: bool) -> None:
    """A parameter has its arrays, or awaits them, at any moment: also while one of the threads makes them."""
    entered, go = threading.Semaphore(0), threading.Event()

    class Held(init.Initializer):
        def _init_weight(self, name: str, array: Any) -> None:
            entered.release()
            go.wait(60)
            array[...] = 1

    net = nn.HybridSequential()
    net.add(nn.Dense(2, use_bias=False), nn.Dense(1, use_bias=False))
    net.initialize(Held())
    if hybrid:
        net.hybridize()
    found: list[Any] = []

    def first() -> None:
        try:
            found.append(net(np.ones((1, 3))).tolist())
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=first) for _ in range(2)]
    threads[0].start()
    assert entered.acquire(timeout=60)
    threads[1].start()
    while threads[1].is_alive() and not entered.acquire(timeout=0.001):
        pass
    go.set()
    for thread in threads:
        thread.join()
    assert found == [[[6.0]], [[6.0]]]
    weights = [p.data() for p in net.collect_params().values()]
    assert net(np.ones((1, 3))).tolist() == [[6.0]]
    assert all(p.data() is x for p, x in zip(net.collect_params().values(), weights))
