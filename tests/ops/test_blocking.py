"""With the engine held, every op returns; only calls that return values, or need them for a shape, wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

from forerun import _core, autograd, np, npx
from forerun.np import ndarray
from tests.ops.cases import CASES
from tests.ops.cases.table import Case, arrays_of, results, to_forerun
from tests.support.engine.waiting import READERS, assert_waits, result_without_waiting


@pytest.mark.parametrize("case", [c for c in CASES if not c.waits], ids=lambda c: c.name)
def test_every_op_returns(case: Case) -> None:
    samples = [args for dtype in case.dtype_list()[-1:] for args in case.arguments(dtype)]
    arguments = [to_forerun(args) for args in samples]
    found = result_without_waiting(lambda: [case(case.op, args) for args in arguments])
    assert len(found) == len(samples)
    for r in results(found):
        assert not isinstance(r, ndarray) or r.ready


@pytest.mark.parametrize("case", [c for c in CASES if isinstance(c.grad, tuple)], ids=lambda c: c.name)
def test_every_gradient_returns(case: Case) -> None:
    samples = [to_forerun(args) for args in case.arguments("float32")]

    def gradients() -> None:
        for args in samples:
            leaves: list[Any] = [a for a in arrays_of(args) if a.dtype.kind == "f"]
            for x in leaves:
                x.attach_grad()
            with autograd.record():
                outputs = [r for r in case(case.op, args) if isinstance(r, ndarray) and r.node is not None]
            if outputs:
                autograd.backward(outputs)

    result_without_waiting(gradients)


@pytest.mark.parametrize("case", [c for c in CASES if c.waits], ids=lambda c: c.name)
def test_ops_whose_shape_depends_on_values_wait(case: Case) -> None:
    args = to_forerun(case.arguments("float32")[0])

    def compute() -> None:
        case(case.op, tuple(a.copy() if isinstance(a, ndarray) else a for a in args))

    assert_waits(compute)


@pytest.mark.parametrize("name", READERS)
def test_reading_values_waits(name: str) -> None:
    x = np.array([0.0, 1.0, 2.0])
    assert_waits(lambda: READERS[name](x * 1))


def refused(function: Callable[[], Any]) -> None:
    """Calls a function that must raise at once."""
    with pytest.raises(ValueError, match="shapes must broadcast"):
        function()


NOT_READERS: dict[str, Callable[[Any], Any]] = {
    "shape": lambda x: (x.shape, x.dtype, x.ndim, x.size, len(x), x.device, x.ready),
    "in place": lambda x: x.__iadd__(1),
    "indexing": lambda x: (x[0], x[::2], x[None], x[[0, 1]], x[np.array([1, 0])]),
    "assignment": lambda x: x.__setitem__(slice(None), 2),
    "assignment under a mask": lambda x: (
        x.__setitem__(x > 0, 1.0),
        x.__setitem__(x > 0, np.array([1.0, 2.0])),
        x.__setitem__((x > 0, None), [3.0]),
    ),
    "an array without axes as an index": lambda x: (x[x.astype(int)[0]], x.__setitem__(x.astype(int)[0], 1)),
    "flat": lambda x: (x.flat[1], x.flat[x.astype(int)], x.flat.__setitem__([0, 1], x), setattr(x, "flat", 1)),
    "vectorize with dtypes": lambda x: np.vectorize(float, ["float64"])(x),
    "assignment at integer arrays": lambda x: x.__setitem__([0, 2], x[:2]),
    "iterating": lambda x: list(x),
    "copies": lambda x: (x.copy(), x.astype("int8"), x.as_in_ctx(npx.cpu()), x.copyto(np.zeros(3))),
    "a NumPy ufunc": numpy.exp,
    "a NumPy function": numpy.concatenate,
    "a NumPy array beside it": lambda x: numpy.ones(3) * x,
    "allclose": lambda x: np.allclose(x, x),
    "random numbers": lambda x: np.random.normal(x, x + 1),
    "sorting in place": lambda x: x.sort(),
    "clipping": lambda x: x.clip(0, 1, out=x),
    "an error at the call": lambda x: refused(lambda: x + np.ones(4)),
}


@pytest.mark.parametrize("name", NOT_READERS)
def test_the_rest_does_not_wait(name: str) -> None:
    x = np.array([0.0, 1.0, 2.0])

    def compute() -> None:
        y = x * 1
        NOT_READERS[name]([y, y] if name == "a NumPy function" else y)

    result_without_waiting(compute)


def test_a_long_program_returns_before_any_of_it_runs() -> None:
    x = np.ones(100)

    def program() -> tuple[Any, int]:
        done = _core.stats()["done"]
        y = x
        for _ in range(200):
            y = y * 1.01 + 1
        return y, _core.stats()["done"] - done

    y, ran = result_without_waiting(program)
    assert ran == 0
    want = numpy.ones(100, "float32")
    for _ in range(200):
        want = want * numpy.float32(1.01) + 1
    assert y.numpy().tobytes() == want.tobytes()
