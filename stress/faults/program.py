"""Run with `refuse.cpp` preloaded: every op of the table, while each request for memory is refused once.

Prints how many requests were refused, and how many calls raised MemoryError for it. Ends with an error if it has any
other effect: another exception, a wrong value, or a poisoned array that does not depend on it.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy

import forerun
from forerun import _core, autograd, gluon, np
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, mapped, results, to_forerun

preloaded = ctypes.CDLL(None)
refuse_from, refuse_nothing = preloaded.refuse_from, preloaded.refuse_nothing
MOST = 5000  # upper bound of the requests for memory in one call
EACH = int(os.environ.get("FAULTS_EACH", "1"))  # only one request in so many is refused, to take less time

Values = list[tuple[str, bytes]]


def values_of_arrays(found: Any) -> Values:
    """Return the values of the arrays in a result."""
    arrays = [numpy.asarray(r) for r in results(found)]
    return [(a.dtype.str + str(a.shape), a.tobytes()) for a in arrays]


def forget_errors() -> None:
    _core.quiesce()
    for message, _ in _core.unseen_failures():
        assert message.startswith(("memory", "out of memory", "MemoryError")) or "memory must be" in message, message


@contextmanager
def refusing(n: int, period: int = -1) -> Iterator[list[int]]:
    """Refuse the n-th request inside the block; the list contains the number of refusals afterwards."""
    forget_errors()
    forerun.empty_cache()
    hits = [0]
    refuse_from(n, period)
    try:
        yield hits
    finally:
        hits[0] = refuse_nothing()


class Figures:
    refused = raised = 0


def each_refused(what: str, f: Callable[[], Values], figures: Figures, same: bool = True, step: int = 1) -> None:
    """Call `f` repeatedly, each time with another request refused (each step-th), until all have been."""
    expected = f()
    bystander = np.arange(5000) + 1
    total = bystander.sum().item()
    for n in range(0, MOST, step * EACH):
        raised, got = False, []
        with refusing(n) as hits:
            try:
                later = bystander * 2  # pending during the call
                got = f()
                del later
            except MemoryError:
                raised = True
        assert raised or not same or got == expected, f"{what}: a wrong value when request {n} is refused"
        forget_errors()
        assert bystander.sum().item() == total, what
        if not hits[0]:
            assert not raised, what
            return
        figures.refused += 1
        figures.raised += raised
        again = f()
        assert not same or again == expected, f"{what}: a wrong value after request {n} was refused"
    raise AssertionError(f"{what}: more than {MOST} requests")


def draws(case: Case) -> bool:
    """Whether it draws random numbers, which differ from call to call."""
    return "random" in case.name or "dropout" in case.name


def forward(case: Case) -> Callable[[], Values]:
    samples = list(case.arguments(case.dtype_list()[-1]))[:2]
    return lambda: values_of_arrays(
        [case(case.op, to_forerun(args)) for args in samples]
    )  # of new arrays: some ops write into them


def gradient(case: Case) -> Callable[[], Values]:
    args = to_forerun(next(iter(case.arguments("float32"))))
    leaves: list[Any] = []
    mapped(leaves.append, args)
    leaves = [x for x in leaves if x.dtype.kind == "f"]
    for x in leaves:
        x.attach_grad()

    def f() -> Values:
        with autograd.record():
            outputs = [r for r in case(case.op, args) if isinstance(r, np.ndarray) and r.node is not None]
        if outputs:
            autograd.backward(outputs)
        return values_of_arrays([x.grad for x in leaves])

    return f


def training_steps(hybrid: bool) -> Callable[[], Values]:
    """Two steps of a network from the same start."""
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(8, activation="relu"), gluon.nn.Dense(2))
    net.initialize()
    x, loss = np.array(numpy.linspace(-1, 1, 24).reshape(6, 4)), gluon.loss.L2Loss()
    net(x)
    start = {name: p.data().asnumpy() for name, p in net.collect_params().items()}
    if hybrid:
        net.hybridize()

    def f() -> Values:
        for name, p in net.collect_params().items():
            p.set_data(np.array(start[name]))
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.1})
        for _ in range(2):
            with autograd.record():
                y = loss(net(x), np.ones((6, 2)))
            y.backward()
            trainer.step(6)
        return values_of_arrays([p.data() for p in net.collect_params().values()])

    return f


def large() -> Values:
    """Blocks of megabytes, tiles, a product."""
    x = np.arange(600_000, dtype="float32").reshape(600, 1000)
    y = np.exp(x / 600_000) * 2 + x
    return values_of_arrays([(y @ x.T).sum(axis=0), y.mean(), np.sort(y[:, 0])])


def forward_of_all(figures: Figures, cases: list[Case]) -> None:
    for case in cases:
        each_refused(case.name, forward(case), figures, same=not (case.waits or draws(case)))


def gradient_of_all(figures: Figures, cases: list[Case]) -> None:
    for case in cases:
        if isinstance(case.grad, tuple):
            each_refused(case.name, gradient(case), figures, same=not draws(case))


def refuse_in_programs(figures: Figures, cases: list[Case]) -> None:
    each_refused("large", large, figures)
    for hybrid in (False, True):
        each_refused("training", training_steps(hybrid), figures, step=7)


PARTS = {"forward": forward_of_all, "gradient": gradient_of_all, "programs": refuse_in_programs}

for part in sys.argv[1:] or PARTS:  # "forward:1/4": each fourth case, from number 1 on
    name, _, share = part.partition(":")
    first, step = map(int, (share or "0/1").split("/"))
    figures = Figures()
    PARTS[name](figures, CASES[first::step])
    print(part, figures.refused, figures.raised, flush=True)
