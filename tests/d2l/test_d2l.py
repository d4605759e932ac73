"""d2l: timers that print as the chapters do, counts that do not wait, training from scratch; and `import mxnet`."""

import importlib
import importlib.util
import re
import sys
import threading
import time
from collections.abc import Iterator

import numpy
import pytest

import forerun
from forerun import _core, autograd, d2l, gluon, np, npx, torch
from forerun.compat import install_as_mxnet, uninstall_as_mxnet
from forerun.testing import closed_gate
from tests.support.engine.settings import running


def test_benchmark_prints_the_label_and_four_digits(capsys):
    with d2l.Benchmark("product"):
        pass
    with d2l.Benchmark():
        pass
    line = r"(product|Done): issued after 0\.\d{4} sec, done after 0\.\d{4} sec\n"
    assert re.fullmatch(line * 2, capsys.readouterr().out)


def test_benchmark_shows_issue_and_completion_and_leaves_nothing_pending(capsys, monkeypatch):
    """Its end waits for all that the block has issued: here for a task that ends only when a thread waits."""
    go = threading.Event()
    times = iter([0.0, 1.0, 3.5])
    monkeypatch.setattr(d2l.timing.time, "perf_counter", lambda: next(times))

    def end_when_awaited() -> None:
        while _core.stats()["waits"] == before:
            time.sleep(0)
        go.set()

    with running("1 worker"):
        before = _core.stats()["waits"]
        helper = threading.Thread(target=end_when_awaited)
        helper.start()
        with d2l.Benchmark("late"):
            (x,) = npx.host(lambda: (go.wait(), numpy.ones(2))[1], [], [((2,), "float64")])
            y = x + 1
        assert y.ready
        helper.join()
    assert capsys.readouterr().out == "late: issued after 1.0000 sec, done after 3.5000 sec\n"


def test_benchmark_reports_dropped_operations(capsys):
    with running("1 worker"):
        _core.gate(True)
        with d2l.Benchmark("thrown away"):
            for _ in range(9):
                y = np.ones((1 << 16,)).sum()
            _core.gate(False)
        assert y.item() == 1 << 16
    assert re.search(r" sec \((8|16|17) operations dropped: result never read\)\n$", capsys.readouterr().out)
    with d2l.Benchmark("kept"):
        y = np.ones(3) + 1
    assert "dropped" not in capsys.readouterr().out


def test_timer_counts_dropped_operations():
    with running("1 worker"):
        timer = d2l.Timer()
        with closed_gate():
            for _ in range(9):
                y = np.ones((1 << 16,)).sum()
        y.wait()
        npx.waitall()
        timer.stop()
        timer.start()
        timer.stop()
    assert timer.dropped[0] >= 8
    assert timer.dropped[1] == 0


def test_timer_adds_up():
    timer = d2l.Timer()
    timer.times = [1.0, 2.0, 6.0]
    assert (timer.avg(), timer.sum(), timer.cumsum()) == (3.0, 9.0, [1.0, 3.0, 9.0])
    timer.start()
    assert timer.stop() == timer.times[-1] >= 0


def test_devices_without_a_gpu():
    assert d2l.try_gpu() == d2l.try_gpu(3) == forerun.cpu(0)
    assert d2l.try_all_gpus() == forerun.devices()


def test_accumulator_does_not_wait():
    sums = d2l.Accumulator(2)
    with running("1 worker"), closed_gate():
        for i in range(3):
            sums.add(np.ones(4).sum(), i)
    assert (sums[0], sums[1]) == (12.0, 3.0)
    sums.reset()
    assert sums[0] == 0.0


def test_accumulator_is_exact_beyond_float32():
    sums = d2l.Accumulator(1)
    for _ in range(3):
        sums.add(np.array(2.0**24))
        sums.add(np.array(1))
    assert sums[0] == 3 * 2**24 + 3


def test_linear_regression_from_scratch():
    npx.set_np()
    np.random.seed(0)
    true_w, true_b = np.array([2, -3.4]), 4.2
    features, labels = d2l.synthetic_data(true_w, true_b, 200)
    assert (features.shape, labels.shape) == ((200, 2), (200, 1))
    w, b = np.zeros((2, 1)), np.zeros(1)
    w.attach_grad()
    b.attach_grad()
    for _ in range(15):
        for X, y in d2l.load_array((features, labels), 10):
            with autograd.record():
                loss = d2l.squared_loss(d2l.linreg(X, w, b), y)
            loss.backward()
            d2l.sgd([w, b], 0.1, 10)
    numpy.testing.assert_allclose(w.asnumpy()[:, 0], [2, -3.4], atol=0.02)
    assert abs(b.item() - true_b) < 0.02


def test_sgd_starts_gradients_that_add_up_anew():
    w = torch.ones(2, requires_grad=True)
    (w * 3).sum().backward()
    d2l.sgd([w], lr=0.5, batch_size=1)
    assert w.tolist() == [-0.5, -0.5]
    assert w.grad.tolist() == [0.0, 0.0]


def test_accuracy_of_scores_and_of_classes():
    scores, labels = np.array([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), np.array([1, 1, 1])
    assert d2l.accuracy(scores, labels) == 2.0
    assert d2l.accuracy(np.array([1, 0, 1]), labels) == 2.0
    data = [(scores, labels), (scores[:1], labels[:1])]
    assert d2l.evaluate_accuracy(lambda x: x, data) == 0.75
    assert d2l.evaluate_accuracy_gpu(lambda x: x, data, forerun.cpu()) == 0.75


@pytest.mark.parametrize("spelling", ["gluon", "torch"])
def test_models_are_evaluated_as_they_predict(spelling):
    if spelling == "gluon":
        net = gluon.nn.Sequential()
        net.add(gluon.nn.Dropout(0.9), gluon.nn.Dense(1, weight_initializer="ones"))
        net.initialize()
    else:
        net = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.Linear(2, 1))
        torch.nn.init.ones_(net[1].weight)
        torch.nn.init.zeros_(net[1].bias)
    X, y = np.ones((4, 2)), np.zeros(4)
    loss = d2l.evaluate_loss(net, [(X, y), (X, y)], d2l.squared_loss)
    assert loss == 2.0
    assert getattr(net, "training", True)


def test_gradients_are_clipped_together():
    a, b = np.array([3.0]), np.array([4.0])
    for x in (a, b):
        x.attach_grad()
    with autograd.record():
        y = (a * a + b * b).sum() / 2
    y.backward()
    d2l.grad_clipping([a, b], 1.0)
    numpy.testing.assert_allclose([a.grad.item(), b.grad.item()], [0.6, 0.8], rtol=1e-6)
    d2l.grad_clipping([a, b], 10.0)  # already short enough
    numpy.testing.assert_allclose(a.grad.item(), 0.6, rtol=1e-6)


def test_a_batch_is_split_over_devices():
    before = forerun.config()["cpu_devices"]
    forerun.configure(cpu_devices=2)
    try:
        X, y = d2l.split_batch(np.arange(8).reshape(4, 2), np.arange(4), d2l.try_all_gpus())
        assert [part.device for part in X] == forerun.devices()
        assert [part.tolist() for part in y] == [[0, 1], [2, 3]]
        with pytest.raises(ValueError, match="one length, got 2 and 3"):
            d2l.split_batch(np.ones(2), np.ones(3), d2l.try_all_gpus())
    finally:
        forerun.waitall()
        forerun.configure(cpu_devices=before)


# --- import mxnet ---------------------------------------------------------------------------------


@pytest.fixture
def as_mxnet() -> Iterator[None]:
    if importlib.util.find_spec("mxnet") is not None:
        pytest.skip("the real MXNet is installed")
    install_as_mxnet()
    yield
    uninstall_as_mxnet()
    assert "mxnet" not in sys.modules


def test_programs_that_import_mxnet_run(as_mxnet):
    names: dict = {}
    program = """
import mxnet as mx
import mxnet.gluon.nn
from mxnet import autograd, gluon, init, np, npx
from mxnet.gluon import nn
from mxnet.gluon.data import ArrayDataset
npx.set_np()
x = np.arange(3, ctx=mx.cpu())
x.attach_grad()
with autograd.record():
    y = (x * x).sum()
y.backward()
net = nn.Dense(2)
net.initialize(init.Normal(sigma=0.01))
out = net(x.reshape(1, 3))
mx.waitall()
"""
    exec(program, names)
    assert names["x"].grad.tolist() == [0.0, 2.0, 4.0]
    assert names["out"].shape == (1, 2)
    assert names["np"] is np
    install_as_mxnet()  # again: nothing happens
    assert sys.modules["mxnet"] is names["mx"]


def test_missing_modules_raise_under_both_names(as_mxnet):
    with pytest.raises(ImportError):
        importlib.import_module("mxnet.contrib")
    with pytest.raises(ImportError):
        exec("from mxnet import symbol", {})


def test_an_installed_mxnet_is_not_replaced(monkeypatch):
    monkeypatch.setitem(sys.modules, "mxnet", sys)
    with pytest.raises(RuntimeError, match="must not be imported yet"):
        install_as_mxnet()
    uninstall_as_mxnet()
    assert sys.modules["mxnet"] is sys
