"""Recorded code that prints arrays gives placeholders; code that depends on values runs as written, with a warning."""

from __future__ import annotations

import inspect
import logging
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, autograd, gluon, np, npx, optimizer
from forerun.gluon import nn
from tests.support.engine.threads import run_in_threads

pytestmark = pytest.mark.usefixtures("engine")


# --- arrays as text --------------------------------------------------------------------------------------


class Talks(gluon.HybridBlock):
    """Shows its inputs in each possible way, and records the texts."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Dense(2, in_units=3)
        self.seen: list[str] = []

    def forward(self, x: Any) -> Any:
        y = self.inner(x)
        total = y.sum()
        texts = [repr(x), str(y), f"{total:.4f}", f"{total}", format(total), np.array_repr(y), np.array2string(y)]
        self.seen.extend([*texts, repr(self.inner.weight.data()), repr(np.array([1.0, 2.0])), y._repr_html_()])
        return y


def test_arrays_are_placeholders_while_they_are_traced() -> None:
    block, x = Talks(), np.ones((4, 3))
    block.initialize()
    block.hybridize()
    y = block(x)
    whole, total = "<traced array add: shape (4, 2), float32>", "<traced array sum: shape (), float32>"
    assert block.seen[:9] == [
        "<traced array argument 0: shape (4, 3), float32>", whole, total, total, total, whole, whole,
        "<traced array inner.weight: shape (2, 3), float32>", "<traced array astype: shape (2,), float32>",
    ]  # fmt: skip
    assert "traced array add" in block.seen[9]
    assert block.hybridized == "1 program: matmul, add"
    assert block(x).tolist() == y.tolist()
    assert len(block.seen) == 10  # the program does not print
    assert "traced" not in repr(y) + repr(x)


def test_logging_and_print_in_a_hybrid_function(capsys: Any, caplog: Any) -> None:
    @forerun.hybrid
    def doubled(x: Any) -> Any:
        print(x, [x])
        logging.getLogger("tests").warning("got %s", x)
        return 2 * x

    assert [doubled(np.array([1.0])).item() for _ in range(2)] == [2.0, 2.0]
    placeholder = "<traced array argument 0: shape (1,), float32>"
    assert capsys.readouterr().out == f"{placeholder} [{placeholder}]\n"
    assert caplog.text.count("got ") == caplog.text.count(f"got {placeholder}") == 1
    caplog.clear()


def test_repr_in_an_uncaptured_forward_has_values() -> None:
    class Remembers(gluon.HybridBlock):
        def forward(self, x: Any) -> Any:
            self.last = x
            self.text = repr(x)
            return x + 1

    block = Remembers()
    block.hybridize()
    for _ in range(2):
        block(np.array([2.0]))
        assert block.text == "array([2.])"
    assert "sets Remembers.last" in block.hybridized


# --- code that depends on values -------------------------------------------------------------------------


def bincount(x: Any) -> Any:
    return np.bincount(np.array([0, 2, 2]) + 0 * x[0].astype("int64"))


LOOKS: dict[str, Callable[[Any], Any]] = {
    "bool": lambda x: x if x.sum() > 0 else -x,
    "float": lambda x: x * float(x[0]),
    "int": lambda x: x * int(x[1]),
    "item": lambda x: x * x.sum().item(),
    "tolist": lambda x: x * len(x.tolist()),
    "asnumpy": lambda x: np.array(x.asnumpy()),
    "numpy": lambda x: np.array(numpy.asarray(x)),
    "unique": lambda x: np.unique(x),
    "nonzero": lambda x: np.nonzero(x)[0],
    "mask": lambda x: x[x > 0],
    "bincount": bincount,
    "lstsq": lambda x: np.linalg.lstsq(np.stack([x, x * x], axis=1), x, rcond=None)[0],
    "iterator": lambda x: sum(float(e) for e in x) * x,
    "percent": lambda x: x * len("%.3f" % x[0]),  # noqa: UP031
    "in": lambda x: x + (1.0 in x),
    "wait": lambda x: ((x * 2).wait_to_read(), x * 2)[1],
    "waitall": lambda x: (npx.waitall(), x)[1],
}


def line_of(look: Callable[..., Any]) -> int:
    return inspect.getsourcelines(look)[1] + (look is bincount)


@pytest.mark.parametrize("name", LOOKS)
def test_code_that_depends_on_values_runs_as_written(name: str) -> None:
    look = LOOKS[name]
    block = nn.HybridLambda(lambda x: look(x))
    block.hybridize()
    values = [np.array([1.0, -2.0, 3.0]), np.array([-4.0, 0.0, 1.0]), np.array([2.0, 2.0, 5.0])]
    expected = [numpy.asarray(look(x)).tolist() for x in values]
    with pytest.warns(UserWarning, match="depends on values") as caught:
        found = [numpy.asarray(block(x)).tolist() for x in values]
    assert found == expected
    (warning,) = caught
    where = f"{__file__}:{line_of(look)}"
    assert str(warning.message) == (
        f"hybridize: {block.name} runs as written, without hybridization, as its code depends on values at "
        f"{where}; hybridize(strict=True) makes this an error; np.where chooses between arrays without reading values"
    )
    assert (warning.filename, warning.lineno) == (__file__, line_of(look))
    assert re.match(
        rf"runs as written: (reading the value of an array|waiting for all operations) \({re.escape(where)}\) is not",
        block.hybridized,
    )


@pytest.mark.parametrize("name", LOOKS)
def test_strict_raises(name: str) -> None:
    block = nn.HybridLambda(lambda x: LOOKS[name](x))
    block.hybridize(strict=True)
    for _ in range(2):
        with pytest.raises(
            RuntimeError,
            match=r"hybridize: .* \(.*test_value_dependence.py:\d+\) is not allowed while the block is captured",
        ):
            block(np.array([1.0, 2.0, 4.0]))
    assert not _core.capturing()
    assert (np.ones(2) + 1).tolist() == [2.0, 2.0]  # the engine goes on
    block.hybridize(False)
    block(np.array([1.0, 2.0, 4.0]))


def test_strict_functions() -> None:
    @forerun.hybrid(strict=True)
    def looks(x: Any) -> Any:
        return x if x.sum() > 0 else -x

    with pytest.raises(RuntimeError, match=r"hybridize: reading the value of an array \(.*\) is not allowed"):
        looks(np.ones(2))


class Norm(gluon.HybridBlock):
    """Reads a value in the middle: the code before and after it changes state, and draws random numbers."""

    def __init__(self, looks: bool = True) -> None:
        super().__init__()
        self.before, self.after = nn.Dense(4, in_units=3), nn.Dense(2, in_units=4)
        self.norm, self.drop = nn.BatchNorm(in_channels=4), nn.Dropout(0.5)
        self.looks = looks
        self.calls: list[float] = []

    def forward(self, x: Any) -> Any:
        y = self.drop(self.norm(self.before(x)))
        noise = np.random.normal(size=y.shape)
        if self.looks:
            self.calls.append(0.0)
            y = y * 2 if float(y.sum()) > 0 else y * 3
        return self.after(y + noise + np.random.permutation(4).astype("float32"))


def trained_block(hybrid: bool, make: Callable[[], Any], steps: int = 3) -> tuple[Any, list[Any]]:
    """A block after some steps of training; and results, gradients, parameters, and the next random number."""
    npx.random.seed(5)
    net = make()
    net.initialize()
    net.hybridize(hybrid)
    x, found = np.array(numpy.linspace(-1, 1, 12, dtype="float32").reshape(4, 3)), []
    x.attach_grad()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    for _ in range(steps):
        with autograd.record():
            y = net(x)
        y.backward()
        trainer.step(4)
        found += [y.tolist(), x.grad.tolist()]
    found += [p.data().tolist() for p in net.collect_params().values()]
    return net, [*found, net(x).tolist(), np.random.uniform(size=2).tolist()]


def test_side_effects_happen_once() -> None:
    plain, expected = trained_block(False, Norm)
    with pytest.warns(UserWarning, match="depends on values") as caught:
        net, found = trained_block(True, Norm)
    assert found == expected
    assert len(caught) == 1
    assert len(net.calls) == len(plain.calls) == 4
    inside = [net.before, net.norm, net.drop, net.after]
    assert all("program" in block.hybridized and "written" not in block.hybridized for block in inside)


def test_a_nested_block_warns_once_and_the_others_stay_hybridized() -> None:
    def make() -> Any:
        net = nn.HybridSequential()
        looks = nn.HybridLambda(lambda x: x * (2 if x.sum() > 0 else 3))
        net.add(nn.Dense(3, in_units=3), looks, nn.Dense(2, in_units=3))
        return net

    _, expected = trained_block(False, make)
    with pytest.warns(UserWarning, match=r"hybridsequential\d+ runs as written") as caught:
        net, found = trained_block(True, make)
    assert found == expected
    assert len(caught) == 1
    assert "runs as written" in net.hybridized
    assert net[0].hybridized == net[2].hybridized == "1 program: matmul, add"
    assert "runs as written" in net[1].hybridized


def test_each_line_that_reads_values_warns() -> None:
    net = nn.HybridSequential()
    net.add(nn.HybridLambda(lambda x: x * x.max().item()))
    net.add(nn.HybridLambda(lambda x: x * x.min().item()))
    net.hybridize()
    with pytest.warns(UserWarning, match="depends on values") as caught:
        found = [net(np.array([1.0, 2.0])).tolist() for _ in range(3)]
    assert found == [[4.0, 8.0]] * 3
    assert len(caught) == 2
    assert caught[0].lineno + 1 == caught[1].lineno


def test_a_strict_block_inside_raises() -> None:
    net = nn.HybridSequential()
    net.add(nn.HybridLambda(lambda x: x * x.max().item()))
    net.hybridize()
    net[0].hybridize(strict=True)
    with pytest.raises(RuntimeError, match="is not allowed while the block is captured"):
        net(np.ones(2))
    net.hybridize()
    with pytest.warns(UserWarning, match="depends on values"):
        assert net(np.ones(2)).tolist() == [1.0, 1.0]


def test_a_hybrid_function_in_a_block() -> None:
    @forerun.hybrid
    def scaled(x: Any) -> Any:
        return x / x.max().item()

    block = nn.HybridLambda(lambda x: scaled(x) + 1)
    block.hybridize()
    with pytest.warns(UserWarning, match="depends on values") as caught:
        assert [block(np.array([1.0, 2.0])).tolist() for _ in range(3)] == [[1.5, 2.0]] * 3
    assert len(caught) == 1


def test_shapes_that_wait_for_data() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(3), nn.HybridLambda(lambda x: x[x.sum(axis=1) > -1e9]), nn.Dense(2))
    net.initialize()
    net.hybridize()
    x = np.ones((4, 5))
    expected = net(x).tolist()  # the parameters are made: nothing is recorded
    with pytest.warns(UserWarning, match="depends on values") as caught:
        assert [net(x).tolist() for _ in range(3)] == [expected] * 3
    assert len(caught) == 1


def test_prediction_is_captured_if_only_training_reads_values() -> None:
    block = nn.HybridLambda(lambda x: x * 2 if not autograd.is_training() or x.sum() > 0 else x)
    block.hybridize()
    x = np.ones(2)
    with pytest.warns(UserWarning, match="depends on values") as caught, autograd.record():
        assert [block(x).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    assert len(caught) == 1
    assert [block(x).tolist() for _ in range(2)] == [[2.0, 2.0]] * 2
    assert len(block._recorded.recorded.programs) == 1


def test_first_calls_from_several_threads() -> None:
    block = nn.HybridLambda(lambda x: x * (2 if x.sum() > 0 else 3))
    block.hybridize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = run_in_threads(4, lambda i: [block(np.array([float(i - 1)])).item() for _ in range(5)])
    assert found == [[-3.0] * 5, [0.0] * 5, [2.0] * 5, [4.0] * 5]
    assert len(caught) == 1


def test_tasks_run_during_a_wait_of_the_block_are_not_captured() -> None:
    """A thread that waits runs tasks: operations that they issue and texts that they print belong to no program."""
    texts: list[str] = []

    def task(x: Any) -> Any:
        texts.append(repr(np.array([1.5]) * 2))
        return x + 1

    def looks(x: Any) -> Any:
        y = npx.host(task, [x], [(x.shape, x.dtype)])[0]
        return y * y.sum().item()

    block = nn.HybridLambda(looks)
    block.hybridize()
    with pytest.warns(UserWarning, match="depends on values") as caught:
        assert [block(np.array([1.0])).item() for _ in range(2)] == [4.0, 4.0]
    assert len(caught) == 1
    assert texts == ["array([3.])"] * 2


def test_a_warning_as_an_error_is_raised_once() -> None:
    block = nn.HybridLambda(lambda x: x * x.sum().item())
    block.hybridize()
    with pytest.raises(UserWarning, match="depends on values"):
        block(np.ones(2))
    assert block(np.ones(2)).tolist() == [2.0, 2.0]


def test_export_names_the_line(tmp_path: Path) -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(2, in_units=2), nn.HybridLambda(lambda x: x * 2 if x.sum() > 0 else x))
    net.initialize()
    net.hybridize()
    with pytest.warns(UserWarning, match="depends on values"):
        net(np.ones((1, 2)))
    with pytest.raises(
        ValueError, match=r"export: reading the value of an array \(.*value_dependence.py:\d+\) is not allowed"
    ):
        net.export(tmp_path / "net")
    assert list(tmp_path.iterdir()) == []


def test_custom_optimizers_that_read_values() -> None:
    class Bounded(optimizer.Optimizer):
        constants = ()

        def step(self, weight: Any, g: Any, state: Any, lr: float) -> None:
            if abs(g).max() < 2:
                weight -= lr * g

    w, bounded = np.zeros(2), Bounded(learning_rate=1.0)
    state = bounded.create_state(0, w)
    steps = [[(0, w, np.array([g, -g]), state)] for g in (1.0, 3.0, 1.0)]
    with pytest.warns(
        UserWarning, match=r"step of Bounded runs as written, .* at .*_dependence.py:\d+; np.where"
    ) as caught:
        list(map(bounded.update_all, steps))
    assert len(caught) == 1
    assert w.tolist() == [-2.0, 2.0]
