"""Optimizers, learning rates, and whole training steps beside PyTorch's CPU build, where it is installed."""

from typing import Any

import numpy
import pytest

from forerun import autograd, gluon, lr_scheduler, np, optimizer
from forerun.gluon import nn
from tests.support.comparison.tolerances import assert_close

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with", exc_type=ImportError)
RNG = numpy.random.default_rng(13)

# Our name and settings, PyTorch's class and settings.
PAIRS: list[tuple[str, dict[str, Any], str, dict[str, Any]]] = [
    ("sgd", {}, "SGD", {}),
    ("sgd", {"momentum": 0.9}, "SGD", {"momentum": 0.9}),
    ("nag", {"momentum": 0.9}, "SGD", {"momentum": 0.9, "nesterov": True}),
    ("adam", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, "Adam", {"betas": (0.8, 0.95), "eps": 1e-3}),
    ("adamw", {"beta1": 0.8, "beta2": 0.95, "epsilon": 1e-3}, "AdamW", {"betas": (0.8, 0.95), "eps": 1e-3}),
    ("adagrad", {"epsilon": 1e-3}, "Adagrad", {"eps": 1e-3}),
    ("adadelta", {"rho": 0.8, "epsilon": 1e-3}, "Adadelta", {"rho": 0.8, "eps": 1e-3}),
    ("rmsprop", {"rho": 0.8, "epsilon": 1e-3}, "RMSprop", {"alpha": 0.8, "eps": 1e-3}),
]


@pytest.mark.parametrize("decay", [0.0, 0.3])
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0]} {pair[1]}")
def test_twenty_steps(pair: tuple[str, dict[str, Any], str, dict[str, Any]], decay: float) -> None:
    """With a learning rate that changes in between."""
    name, settings, peer, torch_settings = pair
    start, gradients = RNG.normal(size=(3, 4)), RNG.normal(size=(20, 3, 4))
    torch_weight = torch.tensor(start, requires_grad=True)
    torch_optimizer = getattr(torch.optim, peer)([torch_weight], lr=0.1, weight_decay=decay, **torch_settings)
    forerun_optimizer = optimizer.create(name, learning_rate=0.1, wd=decay, **settings)
    weight = np.array(start, dtype="float64")
    state = forerun_optimizer.create_state(0, weight)
    for t, g in enumerate(gradients):
        # Where momentum is kept times the rate, as in MXNet, another rate means something else.
        rate = 0.1 if "momentum" in settings or t < 10 else 0.03
        forerun_optimizer.set_learning_rate(rate)
        torch_optimizer.param_groups[0]["lr"] = rate
        torch_weight.grad = torch.tensor(g)
        torch_optimizer.step()
        forerun_optimizer.update(0, weight, np.array(g, dtype="float64"), state)
        assert_close(weight, torch_weight.detach().numpy(), 1e-12)


def test_every_optimizer_is_compared() -> None:
    """But for those that PyTorch has not: tests/optimizer/test_optimizers.py has them beside NumPy."""
    known = {kind.__name__ for kind in vars(optimizer).values() if isinstance(kind, type)} - {"Optimizer", "Updater"}
    compared = {type(optimizer.create(name)).__name__ for name, *_ in PAIRS}
    others = "LAMB Ftrl Signum LARS LANS SGLD FTML Nadam Adamax DCASGD AdaBelief"
    assert known - compared == set(others.split())


def rates(make: Any, n: int = 25) -> list[float]:
    """Return the rates of a PyTorch scheduler in n steps, from a rate of 0.5."""
    made = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    scheduler, found = make(made), []
    for _ in range(n):
        found.append(scheduler.get_last_lr()[0])
        made.step()
        scheduler.step()
    return found


def test_learning_rates() -> None:
    """Factors count from the first step on, which is number 1; the others from 0."""
    torch_schedulers, schedulers = torch.optim.lr_scheduler, lr_scheduler
    n = range(25)
    factor = schedulers.FactorScheduler(4, 0.7, base_lr=0.5)
    assert_close([factor(t + 1) for t in n], rates(lambda o: torch_schedulers.StepLR(o, 4, 0.7)), 1e-12)
    several = schedulers.MultiFactorScheduler([3, 9, 10], 0.7, base_lr=0.5)
    assert_close([several(t + 1) for t in n], rates(lambda o: torch_schedulers.MultiStepLR(o, [3, 9, 10], 0.7)), 1e-12)
    cosine = schedulers.CosineScheduler(24, base_lr=0.5, final_lr=0.1)
    assert_close([cosine(t) for t in n], rates(lambda o: torch_schedulers.CosineAnnealingLR(o, 24, 0.1)), 1e-12)
    poly = schedulers.PolyScheduler(20, base_lr=0.5, pwr=3)
    assert_close([poly(t) for t in n], rates(lambda o: torch_schedulers.PolynomialLR(o, 20, 3)), 1e-12)
    warm = schedulers.CosineScheduler(24, base_lr=0.5, warmup_steps=6, warmup_begin_lr=0.05)
    both = lambda o: torch_schedulers.SequentialLR(
        o, [torch_schedulers.LinearLR(o, 0.1, 1, 6), torch_schedulers.CosineAnnealingLR(o, 18)], [6]
    )
    assert_close([warm(t) for t in n], rates(both), 1e-12)


def lenet() -> tuple[Any, Any]:
    """The same network twice, with the same parameters, in float64."""
    net, t = nn.HybridSequential(), torch.nn
    net.add(
        nn.Conv2D(3, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(),
        nn.Conv2D(4, 3), nn.Activation("sigmoid"), nn.AvgPool2D(), nn.Flatten(), nn.Dense(5, "tanh"), nn.Dense(3),
    )  # fmt: skip
    torch_net = t.Sequential(
        t.Conv2d(1, 3, 3, padding=1), t.BatchNorm2d(3), t.ReLU(), t.MaxPool2d(2),
        t.Conv2d(3, 4, 3), t.Sigmoid(), t.AvgPool2d(2), t.Flatten(), t.Linear(16, 5), t.Tanh(), t.Linear(5, 3),
    ).double()  # fmt: skip
    net.initialize()
    net(np.zeros((1, 1, 12, 12)))
    net.cast("float64")
    return net, torch_net


@pytest.mark.parametrize("hybrid", [False, True])
def test_training_of_a_network(hybrid: bool) -> None:
    net, torch_net = lenet()
    trained = [p for p in net.collect_params().values() if p.grad_req != "null"]
    for p, q in zip(trained, torch_net.parameters(), strict=True):
        p.set_data(np.array(q.detach().numpy().copy(), dtype="float64"))
    if hybrid:
        net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.02, "wd": 0.01, "epsilon": 1e-4})
    torch_optimizer = torch.optim.Adam(torch_net.parameters(), 0.02, weight_decay=0.01, eps=1e-4)
    cross_entropy = gluon.loss.SoftmaxCrossEntropyLoss()
    for _ in range(8):
        x, y = RNG.normal(size=(6, 1, 12, 12)), RNG.integers(0, 3, 6)
        with autograd.record():
            loss = cross_entropy(net(np.array(x, dtype="float64")), np.array(y))
        loss.backward()
        trainer.step(6)
        torch_optimizer.zero_grad()
        t_loss = torch.nn.functional.cross_entropy(torch_net(torch.tensor(x)), torch.tensor(y))
        t_loss.backward()
        torch_optimizer.step()
        assert_close(loss.mean(), t_loss.item(), 1e-9)
    for p, q in zip(trained, torch_net.parameters(), strict=True):
        assert_close(p.data(), q.detach().numpy(), 1e-7)
