"""Losses, attention and activations, with two orders of gradients, beside PyTorch's CPU build where it is installed."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, np, npx
from tests.support.comparison.tolerances import assert_close

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with", exc_type=ImportError)
F = torch.nn.functional
RNG = numpy.random.default_rng(11)
LOSSES = gluon.loss

N, C = 6, 5
X, Y, Z = (RNG.normal(size=(N, C)) for _ in range(3))
SIGNS = numpy.where(RNG.random((N, C)) < 0.5, -1.0, 1.0)
BITS = (SIGNS + 1) / 2
CLASSES = RNG.integers(0, C, N)
SHARES = numpy.exp(Y) / numpy.exp(Y).sum(1, keepdims=True)
COUNTS = RNG.integers(0, 5, (N, C)).astype("float64")
ODDS = RNG.uniform(0.5, 2, C)
SAME = numpy.array([1.0, -1, 1, 1, -1, -1])
IMAGES, MAPS = RNG.normal(size=(2, C, 3, 4)), RNG.integers(0, C, (2, 3, 4))

Function = Callable[..., Any]


def mean(loss: Any) -> Any:
    """Of each example."""
    return loss.reshape(len(loss), -1).mean(1)


def sdml(a: Any, b: Any) -> Any:
    """Bonadiman et al. 2019, section 3: the divergence from a distribution that is 0.7 at the pair."""
    target = torch.full((len(a), len(a)), 0.3 / (len(a) - 1), dtype=a.dtype)
    target.fill_diagonal_(0.7)
    return (target * (target.log() - F.log_softmax(-((a[:, None] - b[None]) ** 2).sum(-1), 1))).sum(1)


# A name, forerun's function, PyTorch's, the differentiated arguments, and the other arguments.
PAIRS: list[tuple[str, Function, Function, list[Any], list[Any]]] = [
    ("l1", LOSSES.L1Loss(), lambda x, y: mean(F.l1_loss(x, y, reduction="none")), [X, Y], []),
    ("l2", LOSSES.L2Loss(), lambda x, y: mean(F.mse_loss(x, y, reduction="none")) / 2, [X, Y], []),
    ("huber", LOSSES.HuberLoss(0.5), lambda x, y: mean(F.huber_loss(x, y, reduction="none", delta=0.5)) / 0.5,
        [X, Y], []),
    ("hinge", LOSSES.HingeLoss(0.8), lambda x, y: mean(F.relu(0.8 - x * y)), [X], [SIGNS]),
    ("squared hinge", LOSSES.SquaredHingeLoss(), lambda x, y: mean(F.relu(1 - x * y) ** 2), [X], [SIGNS]),
    ("logistic", LOSSES.LogisticLoss(), lambda x, y: mean(F.soft_margin_loss(x, y, reduction="none")), [X], [SIGNS]),
    ("classes", LOSSES.SoftmaxCrossEntropyLoss(), lambda x, y: F.cross_entropy(x, y, reduction="none"), [X],
        [CLASSES]),
    ("classes of pixels", LOSSES.SoftmaxCrossEntropyLoss(axis=1),
        lambda x, y: mean(F.cross_entropy(x, y, reduction="none")), [IMAGES], [MAPS]),
    ("distributions", LOSSES.SoftmaxCELoss(sparse_label=False),
        lambda x, y: F.cross_entropy(x, y, reduction="none"), [X], [SHARES]),
    ("bits", LOSSES.SigmoidBCELoss(),
        lambda x, y: mean(F.binary_cross_entropy_with_logits(x, y, reduction="none")), [X], [BITS]),
    ("weighted bits", lambda x, y, w: LOSSES.SigmoidBCELoss()(x, y, None, w),
        lambda x, y, w: mean(F.binary_cross_entropy_with_logits(x, y, reduction="none", pos_weight=w)), [X],
        [BITS, ODDS]),
    ("chances of bits", LOSSES.SigmoidBCELoss(from_sigmoid=True),
        lambda x, y: mean(F.binary_cross_entropy(x, y, reduction="none")), [SHARES], [BITS]),
    ("divergence", LOSSES.KLDivLoss(from_logits=False),
        lambda x, y: mean(F.kl_div(F.log_softmax(x, -1), y, reduction="none")), [X], [SHARES]),
    ("poisson", LOSSES.PoissonNLLLoss(), lambda x, y: F.poisson_nll_loss(x, y, log_input=True), [X], [COUNTS]),
    ("poisson, full", LOSSES.PoissonNLLLoss(from_logits=False, compute_full=True),
        lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True), [SHARES], [COUNTS]),
    ("triplet", LOSSES.TripletLoss(0.7), lambda x, y, z: F.triplet_margin_with_distance_loss(
        x, y, z, distance_function=lambda a, b: ((a - b) ** 2).sum(1), margin=0.7, reduction="none"), [X, Y, Z], []),
    ("cosine", LOSSES.CosineEmbeddingLoss(margin=0.1), lambda x, y, label: F.cosine_embedding_loss(
        x, y, label, margin=0.1, reduction="none"), [X, Y], [SAME]),
    ("pairs", LOSSES.SDMLLoss(), sdml, [X, Y], []),
    ("softmax", npx.softmax, lambda x: F.softmax(x, -1), [X], []),
    ("log softmax", npx.log_softmax, lambda x: F.log_softmax(x, -1), [X], []),
    *[
        (name, lambda x, name=name: npx.activation(x, name), peer, [X], [])
        for name, peer in [
            ("relu", F.relu), ("sigmoid", torch.sigmoid), ("tanh", torch.tanh), ("softrelu", F.softplus),
            ("softsign", F.softsign), ("silu", F.silu), ("log_sigmoid", F.logsigmoid), ("selu", F.selu),
            ("elu", F.elu), ("gelu", lambda x: F.gelu(x, approximate="tanh")),
            ("leaky", lambda x: F.leaky_relu(x, 0.25)),
        ]
    ],
    ("smooth l1", npx.smooth_l1, lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), reduction="none"), [X], []),
    ("gammaln", npx.gammaln, torch.lgamma, [SHARES * 9], []),
    ("digamma", npx.digamma, torch.digamma, [SHARES * 9], []),
    ("erfinv", npx.erfinv, torch.erfinv, [SHARES], []),
    ("erf", npx.erf, torch.erf, [X], []),
]  # fmt: skip


def compare_with_torch(function: Function, torch_function: Function, varied: list[Any], fixed: list[Any]) -> None:
    """Results, gradients, and gradients of the sum of all squared gradients are the same."""
    xs, txs = [np.array(x) for x in varied], [torch.tensor(x, requires_grad=True) for x in varied]
    ty = torch_function(*txs, *map(torch.tensor, fixed))
    rates = RNG.normal(size=tuple(ty.shape))
    tgs = torch.autograd.grad((ty * torch.tensor(rates)).sum(), txs, create_graph=True)
    t_again = sum((g * g).sum() for g in tgs) + ty.sum()
    t_second = torch.autograd.grad(t_again, txs, materialize_grads=True)
    for x in xs:
        x.attach_grad()
    with autograd.record():
        y = function(*xs, *map(np.array, fixed))
        gs = autograd.grad((y * np.array(rates)).sum(), xs, create_graph=True)
        loss = sum((g * g).sum() for g in gs) + y.sum()
    loss.backward()
    assert_close(y, ty.detach().numpy(), 1e-9)
    for g, tg, x, second in zip(gs, tgs, xs, t_second):
        assert_close(g, tg.detach().numpy(), 1e-9)
        assert_close(x.grad, second.numpy(), 1e-8)


@pytest.fixture(autouse=True)
def _double() -> Any:
    npx.set_np(dtype=True)
    yield
    npx.reset_np()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0])
def test_functions(pair: tuple[str, Function, Function, list[Any], list[Any]]) -> None:
    compare_with_torch(*pair[1:])


def test_every_loss_is_compared() -> None:
    """CTC has a test of its own below."""
    kinds = {type(pair[1]) for pair in PAIRS if isinstance(pair[1], LOSSES.Loss)}
    assert {getattr(LOSSES, name) for name in LOSSES.__all__} == kinds | {LOSSES.CTCLoss, LOSSES.Loss}


def test_ctc() -> None:
    """PyTorch has no second gradient of it."""
    x = RNG.normal(size=(12, 3, 4))
    labels, counts, steps = numpy.array([[1, 2, 2], [3, 0, 0], [1, 1, 1]]), [3, 1, 3], [12, 7, 9]
    tx = torch.tensor(x, requires_grad=True)
    of = [torch.tensor(v) for v in (labels, steps, counts)]
    ty = F.ctc_loss(F.log_softmax(tx, -1), *of, reduction="none")
    rates = RNG.normal(size=3)
    (ty * torch.tensor(rates)).sum().backward()
    data = np.array(x)
    data.attach_grad()
    with autograd.record():
        y = npx.ctc_loss(data, labels, np.array(steps), np.array(counts), True, True)
        loss = (y * np.array(rates)).sum()
    loss.backward()
    assert_close(y, ty.detach().numpy(), 1e-10)
    assert_close(data.grad, tx.grad.numpy(), 1e-10)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention(is_causal: bool) -> None:
    steps, batch, heads, width = 5, 2, 3, 4
    mask = numpy.tril(numpy.ones((steps, steps))) if is_causal else numpy.ones((steps, steps))

    def attention(x: Any) -> Any:
        weights = npx.masked_softmax(npx.interleaved_matmul_selfatt_qk(x, heads), np.array(mask))
        return npx.interleaved_matmul_selfatt_valatt(x, weights, heads)

    def torch_attention(x: Any) -> Any:
        q, k, v = x.reshape(steps, batch, heads, 3, width).permute(3, 1, 2, 0, 4)
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            y = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
        return y.permute(2, 0, 1, 3).reshape(steps, batch, heads * width)

    compare_with_torch(attention, torch_attention, [RNG.normal(size=(steps, batch, heads * 3 * width))], [])


def test_embedding_and_pixels() -> None:
    index, weight = RNG.integers(0, 7, (3, 4)), RNG.normal(size=(7, 2))
    compare_with_torch(lambda w, i: npx.embedding(i, w), lambda w, i: F.embedding(i, w), [weight], [index])
    pixels = RNG.normal(size=(2, 8, 3, 4))
    compare_with_torch(gluon.nn.PixelShuffle2D(2), lambda x: F.pixel_shuffle(x, 2), [pixels], [])
