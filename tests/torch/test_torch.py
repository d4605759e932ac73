"""PyTorch's spelling: each function against NumPy, devices, gradients, modules, optimizers; and that nothing waits."""

import threading
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import forerun
from forerun import np, npx, torch
from forerun.ops._base.host_task import host
from forerun.torch import nn
from forerun.torch.nn import functional as F
from tests.support.comparison.formulas import softmax
from tests.support.engine.settings import configured
from tests.support.engine.waiting import result_without_waiting

A = numpy.random.default_rng(0).normal(size=(3, 4)).astype("float32")
B = numpy.random.default_rng(1).normal(size=(3, 4)).astype("float32")
a, b, LABELS = torch.tensor(A), torch.tensor(B), torch.tensor([3, 0, 1])


def normalised(x: numpy.ndarray) -> numpy.ndarray:
    return (x - x.mean(1, keepdims=True)) / numpy.sqrt(x.var(1, keepdims=True) + 1e-5)


CASES: list[tuple[str, Callable[[], Any], Any]] = [
    ("add", lambda: torch.add(a, b, alpha=2), A + 2 * B),
    ("sub", lambda: torch.sub(a, b), A - B),
    ("mul", lambda: torch.mul(a, b), A * B),
    ("div", lambda: torch.div(a, b), A / B),
    ("div floor", lambda: torch.div(a, b, rounding_mode="floor"), numpy.floor(A / B)),
    ("rsqrt", lambda: torch.rsqrt(a * a + 1), 1 / numpy.sqrt(A * A + 1)),
    ("clamp", lambda: torch.clamp(a, max=0.5), numpy.minimum(A, 0.5)),
    ("relu", lambda: a.relu(), numpy.maximum(A, 0)),
    ("mm", lambda: a.mm(b.t()), A @ B.T),
    ("bmm", lambda: torch.bmm(a[None], b.t()[None]), (A @ B.T)[None]),
    ("mv", lambda: torch.mv(a, b[0]), A @ B[0]),
    ("dot", lambda: torch.dot(a[0], b[0]), A[0] @ B[0]),
    ("cat", lambda: torch.cat((a, b), dim=1), numpy.concatenate((A, B), 1)),
    ("stack", lambda: torch.stack([a, b], dim=1), numpy.stack((A, B), 1)),
    ("split", lambda: torch.split(a, 3, dim=1)[1], A[:, 3:]),
    ("split sizes", lambda: torch.split(a, [1, 3], dim=1)[1], A[:, 1:]),
    ("chunk", lambda: torch.chunk(a, 2)[1], A[2:]),
    ("flatten", lambda: torch.flatten(a[None], 1), A.reshape(1, -1)),
    ("view", lambda: a.view(2, -1), A.reshape(2, -1)),
    ("view as bytes", lambda: a.view(numpy.uint8), A.view(numpy.uint8)),
    ("data", lambda: a.data + 1, A + 1),
    ("unsqueeze", lambda: torch.squeeze(torch.squeeze(a.unsqueeze(1), 1), 0), A),
    ("permute", lambda: a.permute(1, 0), A.T),
    ("transpose", lambda: torch.transpose(a, 0, 1), A.T),
    ("expand", lambda: a[:1].expand(3, -1), numpy.broadcast_to(A[:1], (3, 4))),
    ("gather", lambda: torch.gather(a, 1, torch.tensor([[1], [0], [3]])), A[range(3), [1, 0, 3]][:, None]),
    ("masked_fill", lambda: a.masked_fill(a > 0, 0.0), numpy.minimum(A, 0)),
    ("sum", lambda: torch.sum(a, dim=1, keepdim=True), A.sum(1, keepdims=True)),
    ("method sum", lambda: a.sum(dim=(0, 1)), A.sum()),
    ("method mean", lambda: a.mean(dim=0), A.mean(0)),
    ("std", lambda: torch.std(a, dim=0), A.std(0, ddof=1)),
    ("max", lambda: torch.max(a, 1).values, A.max(1)),
    ("method max", lambda: a.max(dim=1).indices, A.argmax(1)),
    ("max of two", lambda: torch.max(a, b), numpy.maximum(A, B)),
    ("numpy's max stays", lambda: a.max(1), A.max(1)),
    ("argmax", lambda: a.argmax(dim=1), A.argmax(1)),
    ("sort", lambda: torch.sort(a, descending=True).values, -numpy.sort(-A)),
    ("topk", lambda: a.topk(2)[0], -numpy.sort(-A)[:, :2]),
    ("norm", lambda: a.norm(), numpy.linalg.norm(A)),
    ("norm 1", lambda: torch.norm(a, p=1, dim=1), numpy.abs(A).sum(1)),
    ("softmax", lambda: F.softmax(a, dim=1), softmax(A)),
    ("linear", lambda: F.linear(a, b, torch.ones(3)), A @ B.T + 1),
    ("layer_norm", lambda: F.layer_norm(a, (4,)), normalised(A)),
    ("layer_norm over axes", lambda: F.layer_norm(a, (3, 4), b, a), (A - A.mean()) / (A.var() + 1e-5) ** 0.5 * B + A),
    ("mse", lambda: F.mse_loss(a, b), ((A - B) ** 2).mean()),
    ("l1", lambda: F.l1_loss(a, b, reduction="none"), numpy.abs(A - B)),
    ("cross entropy", lambda: F.cross_entropy(a, LABELS), -numpy.log(softmax(A)[range(3), [3, 0, 1]]).mean()),
    ("cross entropy with shares", lambda: F.cross_entropy(a, torch.ones(3, 4) / 4), -numpy.log(softmax(A)).mean()),
    ("one_hot", lambda: F.one_hot(torch.tensor([1, 0]), 3), numpy.eye(3, dtype=int)[[1, 0]]),
    ("in place", lambda: a.clone().add_(b, alpha=2).mul_(0.5).clamp_(-1, 1), numpy.clip((A + 2 * B) / 2, -1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call", "want"), CASES, ids=[c[0] for c in CASES])
def test_values(name, call, want):
    numpy.testing.assert_allclose(call().numpy(), want, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("call", [c[1] for c in CASES], ids=[c[0] for c in CASES])
def test_calls_do_not_wait(call):
    with configured(engine="async"):
        result_without_waiting(call)


def test_creation_does_not_depend_on_set_np():
    npx.set_np()
    try:
        assert torch.tensor([1, 2]).dtype == torch.arange(3).dtype == torch.int64
        assert torch.tensor([True]).dtype == torch.bool
        assert torch.full((2,), 1).dtype == torch.long
    finally:
        npx.reset_np()
    assert torch.arange(0, 1, 0.5).dtype == torch.tensor([[0.5]]).dtype == torch.float32
    assert torch.tensor(numpy.ones(2)).dtype == torch.float64
    assert torch.ones(2, 3).shape == torch.ones((2, 3)).shape == torch.ones(size=(2, 3)).shape == (2, 3)
    assert torch.randint(5, 7, (100,)).numpy().min() == 5
    assert sorted(torch.randperm(5).tolist()) == [0, 1, 2, 3, 4]
    torch.manual_seed(3)
    first = torch.randn(4)
    torch.manual_seed(3)
    assert torch.equal(first, torch.randn(4))


def test_to_gives_itself_where_nothing_changes():
    assert a.to("cpu") is a
    assert a.to(torch.float32) is a
    assert a.to(b) is a
    assert a.to("cpu", copy=True) is not a
    assert a.to("cpu", torch.float64).dtype == torch.float64
    assert a.double().dtype == torch.double
    with pytest.raises(ValueError, match="device: must be one of"):
        a.to("cuda")
    assert torch.device("cuda:1") == forerun.gpu(1)
    assert torch.device("cpu").type == "cpu"


def test_to_another_device_waits_unless_non_blocking(two_devices):
    go = threading.Event()

    def task() -> numpy.ndarray:
        assert go.wait(30)
        return numpy.ones(4, "float32")

    x = host(task, [], [((4,), "float32")], device="cpu:1")[0]
    y = x.to("cpu", non_blocking=True)
    assert not y.ready
    timer = threading.Timer(0.05, go.set)
    timer.start()
    z = x.to("cpu")
    assert go.is_set()
    assert z.ready
    assert (y.device, z.device) == (forerun.cpu(0), forerun.cpu(0))
    assert y.tolist() == z.tolist() == [1.0] * 4
    timer.join()


def test_cuda_without_a_gpu():
    assert not torch.cuda.is_available()
    assert torch.cuda.device_count() == 0
    y = torch.ones(100, 100) @ torch.ones(100, 100)
    torch.cuda.synchronize(torch.device("cpu"))
    assert y.ready
    with pytest.raises(ValueError, match="device"):
        torch.cuda.synchronize("cuda:0")


def test_gradients_are_recorded_without_a_scope_and_add_up():
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    for _ in range(2):
        (w * w).sum().backward()
    assert w.grad.tolist() == [4.0, 8.0]
    assert (w * 2).requires_grad
    with torch.no_grad():
        assert not (w * 2).requires_grad
        w -= 0.5 * w.grad
        w.grad.zero_()
    assert w.is_leaf
    assert w.tolist() == [-1.0, -2.0]
    assert w.grad.tolist() == [0.0, 0.0]
    (g,) = torch.autograd.grad((w**3).sum(), w)
    assert g.tolist() == [3.0, 12.0]
    assert not w.detach().requires_grad


@pytest.mark.parametrize("decorator", [torch.no_grad, torch.no_grad()], ids=["bare", "with brackets"])
def test_recording_is_off_where_documented(decorator):
    @decorator
    def doubled(x):
        return x * 2

    w = torch.ones(2, requires_grad=True)
    assert not doubled(w).requires_grad
    with torch.no_grad():
        v = torch.ones(2, requires_grad=True)  # does not switch recording on here
        assert not (v * 2).requires_grad
        with torch.enable_grad():
            assert (v * 2).requires_grad
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
        nn.Linear(1, 1)
        assert not (w * 2).requires_grad
    assert torch.is_grad_enabled()
    assert (w * 2).requires_grad
    assert not torch.ones(2).requires_grad


def test_other_threads_record_too():
    seen = []

    def work() -> None:
        w = torch.ones(2, requires_grad=True)
        (w * 3).sum().backward()
        seen.append(w.grad.tolist())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[3.0, 3.0]]


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5))
        self.out = nn.Linear(8, 1)

    def forward(self, x):
        return self.out(self.hidden(x))


def test_modules():
    net = Perceptron()
    assert [n for n, _ in net.named_parameters()] == [
        "hidden.0.weight",
        "hidden.0.bias",
        "out.weight",
        "out.bias",
    ]
    assert net(a).shape == (3, 1)
    net.eval()
    assert torch.equal(net(a), net(a))
    other = Perceptron().eval()
    other.load_state_dict(net.state_dict())
    assert torch.allclose(net(a), other(a))
    with pytest.raises(KeyError, match="names must be"):
        other.load_state_dict({})
    assert "(1): ReLU()" in repr(net)
    net.to(torch.float64)
    assert all(p.dtype == torch.float64 and p.requires_grad for p in net.parameters())
    lazy = nn.Sequential(nn.Flatten(), nn.LazyLinear(2))
    assert lazy(torch.ones(5, 2, 3)).shape == (5, 2)
    assert lazy[1].weight.shape == (2, 6)
    nn.init.constant_(lazy[1].weight, 1.0)
    nn.init.zeros_(lazy[1].bias)
    assert lazy(torch.ones(1, 2, 3)).tolist() == [[6.0, 6.0]]


OPTIMIZERS = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True}), ("Adam", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1}), ("RMSprop", {"lr": 0.03}), ("Adagrad", {"lr": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), OPTIMIZERS)
def test_optimizers_find_the_line(name, settings):
    torch.manual_seed(0)
    X = torch.randn(64, 2)
    y = X.mm(torch.tensor([[2.0], [-3.0]])) + 1
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=16, shuffle=True)
    net, loss = nn.Linear(2, 1), nn.MSELoss()
    optimizer = getattr(torch.optim, name)(net.parameters(), **settings)
    for _ in range(60):
        for inputs, targets in data:
            optimizer.zero_grad()
            loss(net(inputs), targets).backward()
            optimizer.step()
    assert loss(net(X), y).item() < 0.01


def test_learning_rates_of_groups_can_be_changed():
    w, v = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    optimizer = torch.optim.SGD([{"params": [w]}, {"params": [v], "lr": 0.25}], lr=0.5)
    (w + v).sum().backward()
    optimizer.step()
    assert (w.item(), v.item()) == (0.5, 0.75)
    optimizer.param_groups[0]["lr"] = 0.0
    optimizer.step()
    assert (w.item(), v.item()) == (0.5, 0.5)


def test_errors_name_the_requirement():
    with pytest.raises(ValueError, match="mm: operands must have 2 and 2 axes"):
        a.mm(b[0])
    with pytest.raises(ValueError, match=r"layer_norm: last axes, weight and bias must have shape \(3,\), got \(4,\)"):
        F.layer_norm(a, (3,))
    with pytest.raises(ValueError, match="mse_loss: shapes must be the same"):
        F.mse_loss(a, b[:1])
    with pytest.raises(ValueError, match="split: sizes must add up to 3"):
        torch.split(a, [1, 1])


def test_numpys_names_keep_their_meaning():
    assert a.size == 12
    assert a.numel() == 12
    assert a.dim() == 2
    numpy.testing.assert_array_equal(a.transpose(0, 1).numpy(), A)
    numpy.testing.assert_allclose(a.std().numpy(), A.std(), rtol=1e-5)
    assert isinstance(np.ones(2), torch.Tensor)
