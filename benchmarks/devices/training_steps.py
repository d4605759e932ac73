"""Steps of training of the benchmark of GPUs, by library: forward, backward, update."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy

import forerun
from forerun import autograd, gluon, np, npx

Call = Callable[[], Any]  # returns the loss

SIZES = {"small": (8, 16, 4), "perceptron": (784, 256, 10)}  # of dense layers
CONVOLUTIONS, DENSE = ((6, 1, 2), (16, 6, 0)), (400, 120, 84, 10)  # of LeNet: channels out and in, and the padding
CLASSES = {"small": 4, "perceptron": 10, "LeNet": 10}
RATE = 0.1


def forerun_step(device: Any, name: str, x: Any, y: Any, *, whole: bool = False) -> Call:
    """Hybridized network and loss; whole: the step is one program."""
    nn = gluon.nn
    npx.random.seed(3)
    activation = "relu" if name in SIZES else "sigmoid"
    net = nn.HybridSequential()
    if name not in SIZES:
        for outs, ins, pad in CONVOLUTIONS:
            net.add(nn.Conv2D(outs, 5, padding=pad, in_channels=ins, activation=activation), nn.AvgPool2D(2, 2))
    *hidden, last = itertools.pairwise(SIZES.get(name, DENSE))
    net.add(*(nn.Dense(outs, in_units=ins, activation=activation) for ins, outs in hidden))
    net.add(nn.Dense(last[1], in_units=last[0]))
    net.initialize(forerun.init.Xavier(), ctx=device)
    net.hybridize(not whole)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    loss.hybridize(not whole)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": RATE})
    data, labels = (np.array(values, dtype=values.dtype, device=device) for values in (x, y))

    def step() -> Any:
        with autograd.record():
            out = loss(net(data), labels)
        out.backward()
        trainer.step(len(x))
        return out

    return forerun.hybrid(step) if whole else step


def torch_step(torch: Any, name: str, x: Any, y: Any) -> Call:
    nn = torch.nn
    activation = nn.ReLU if name in SIZES else nn.Sigmoid
    layers = []
    if name not in SIZES:
        for outs, ins, pad in CONVOLUTIONS:
            layers += [nn.Conv2d(ins, outs, 5, padding=pad), activation(), nn.AvgPool2d(2, 2)]
        layers.append(nn.Flatten())
    for ins, outs in itertools.pairwise(SIZES.get(name, DENSE)):
        layers += [nn.Linear(ins, outs), activation()]
    net = nn.Sequential(*layers[:-1]).cuda()
    for parameter in net.parameters():
        if parameter.ndim > 1:
            nn.init.xavier_uniform_(parameter)
    optimizer = torch.optim.SGD(net.parameters(), RATE)
    data, labels = torch.from_numpy(x).cuda(), torch.from_numpy(y).cuda()

    def step() -> Any:
        optimizer.zero_grad()
        out = nn.functional.cross_entropy(net(data), labels)
        out.backward()
        optimizer.step()
        return out.detach()

    return step


def jax_step(jax: Any, name: str, x: Any, y: Any) -> Call:
    """The whole step behind jax.jit, with its parameters donated. The batch is an argument."""
    jnp, random = jax.numpy, numpy.random.default_rng(5)
    activation = jax.nn.relu if name in SIZES else jax.nn.sigmoid

    def parameter(*shape: int) -> Any:
        width = (6 / ((shape[0] + shape[1]) * numpy.prod(shape[2:]))) ** 0.5
        return jnp.array(random.uniform(-width, width, shape), "float32")

    convolutions = () if name in SIZES else CONVOLUTIONS
    start = [(parameter(outs, ins, 5, 5), jnp.zeros((outs, 1, 1))) for outs, ins, _ in convolutions]
    start += [(parameter(ins, outs), jnp.zeros(outs)) for ins, outs in itertools.pairwise(SIZES.get(name, DENSE))]
    batch = jnp.array(x), jnp.array(y)

    def cost(parameters: Any, h: Any, labels: Any) -> Any:
        for (w, b), (_, _, pad) in zip(parameters, convolutions):
            h = activation(jax.lax.conv(h, w, (1, 1), [(pad, pad)] * 2) + b)
            h = h.reshape(*h.shape[:2], h.shape[2] // 2, 2, h.shape[3] // 2, 2).mean((3, 5))
        h = h.reshape(len(h), -1)
        for i, (w, b) in enumerate(parameters[len(convolutions) :], len(convolutions)):
            h = h @ w + b
            h = activation(h) if i + 1 < len(parameters) else h
        return -jnp.take_along_axis(jax.nn.log_softmax(h), labels[:, None], 1).mean()

    def update(parameters: Any, data: Any, labels: Any) -> tuple[Any, Any]:
        loss, gradients = jax.value_and_grad(cost)(parameters, data, labels)
        return loss, jax.tree.map(lambda p, g: p - RATE * g, parameters, gradients)

    compiled_update = jax.jit(update, donate_argnums=0)
    state = start

    def step() -> Any:
        nonlocal state
        loss, state = compiled_update(state, *batch)
        return loss

    return step
