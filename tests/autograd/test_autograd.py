"""The tape and the backward pass: the leaves that get gradients, the values kept for them, errors."""

from __future__ import annotations

import gc
import inspect
from typing import Any

import pytest

from forerun import _core, autograd, np, profiler
from forerun.ops._base.primitive import primitive


def leaf(values: Any, grad_req: str = "write") -> Any:
    x = np.array(values)
    x.attach_grad(grad_req)
    return x


def walked(x: Any, factor: float) -> None:
    """Puts 2 * factor * x into x's gradient."""
    with autograd.record():
        y = factor * x * x
    y.backward()


class TestWhereGradientsArrive:
    def test_references_to_the_gradient_see_the_new_one(self, engine: str) -> None:
        x = leaf([1.0, 2.0])
        held, part, values = x.grad, x.grad[1:], x.grad.numpy()
        for factor in (1.0, 2.0, 3.0):
            walked(x, factor)
            assert x.grad is held
            assert held.tolist() == [2 * factor, 4 * factor]
            assert part.tolist() == [4 * factor]
        assert values.tolist() == [0, 0]

    def test_a_shared_gradient_is_copied(self) -> None:
        x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        ones = np.ones(2)
        with autograd.record():
            y = x + z  # one array is the gradient of both
        y.backward(ones)
        x.grad[:] = 7
        assert z.grad.tolist() == ones.tolist() == [1, 1]

    def test_gradients_of_a_function_arrive_without_a_copy(self) -> None:
        kept: list[Any] = []

        class Both(autograd.Function):
            def forward(self, x: Any, z: Any) -> Any:
                return x + z

            def backward(self, g: Any) -> tuple[Any, Any]:
                gradient = g * 3
                kept.append(gradient)
                return g * 2, gradient

        x, z = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        with autograd.record():
            y = Both()(x, z)
        profile = profiler.start()
        y.backward()
        names = [op.name for op in profile.stop().ops]
        assert names.count("copy") == 1, "of an array with other references"
        z.grad[:] = 7
        assert (x.grad.tolist(), kept[0].tolist()) == ([2, 2], [3, 3])

    def test_gradient_of_a_view(self) -> None:
        x = np.array([1.0, 2.0])
        gradients = np.zeros((2, 2))
        autograd.mark_variables([x], [gradients[0]])
        walked(x, 1.0)
        assert gradients.tolist() == [[2, 4], [0, 0]]

    def test_gradient_in_another_dtype(self) -> None:
        x, g = np.array([1.0, 2.0]), np.zeros(2, dtype="float64")
        autograd.mark_variables([x], [g])
        walked(x, 1.0)
        assert g.dtype == "float64"
        assert g.tolist() == [2, 4]

    def test_gradients_of_several_uses_are_added(self) -> None:
        x = leaf([2.0], "add")
        walked(x, 1.0)
        walked(x, 1.0)
        assert x.grad.item() == 8
        w = leaf([2.0])
        with autograd.record():
            y = w * w + w
        y.backward()
        assert w.grad.item() == 5

    def test_grad_req_null_has_no_gradient(self) -> None:
        x = leaf([2.0], "null")
        walked(x, 1.0)
        assert x.grad is None

    def test_requests_are_checked(self) -> None:
        x = leaf([1.0])
        with pytest.raises(ValueError, match=r"grad_req must be .*, got .replace"):
            x.node.grad_req = "replace"
        assert x.node.grad_req == "write"

    def test_versions_count_writes(self) -> None:
        x = leaf([1.0])
        seen = _core.gradient_versions([x])
        for change in (lambda: walked(x, 1.0), lambda: x.grad.fill(2), lambda: walked(x, 1.0), x.zero_grad):
            change()
            seen += _core.gradient_versions([x])
        assert len(set(seen)) == 5
        with pytest.raises(TypeError, match="must be leaves"):
            _core.gradient_versions([np.ones(1)])

    def test_leaves_in_reference_cycles_are_collected(self) -> None:
        x = leaf([1.0])
        with autograd.record():
            y = x * 2
        x.node.grad = y  # a cycle: leaf, gradient, node, leaf
        del x, y
        assert gc.collect() > 0


class TestKeptValues:
    def test_an_overwritten_saved_gradient_raises(self) -> None:
        x, w = leaf([1.0, 2.0]), leaf([3.0, 4.0])
        walked(x, 1.0)
        with autograd.record():
            y = w * x.grad
        walked(x, 2.0)
        with pytest.raises(RuntimeError, match="values that multiply saved must not be overwritten"):
            y.backward()

    def test_a_second_backward_raises(self) -> None:
        x = leaf([1.0])
        with autograd.record():
            y = x * x
        y.backward(retain_graph=True)
        y.backward()
        with pytest.raises(RuntimeError, match=r"graph of multiply must not .* pass retain_graph=True"):
            y.backward()

    def test_long_tapes_need_no_recursion(self) -> None:
        x = leaf([1.0])
        with autograd.record():
            y = x
            for _ in range(20_000):
                y = y + 1
        y.backward()
        assert x.grad.item() == 1

    def test_sums_of_broadcast_gradients_are_recorded_too(self) -> None:
        x, w = leaf([[1.0, 2.0]]), leaf([[1.0], [3.0]])
        with autograd.record():
            slope = autograd.grad(x * w * w, w, create_graph=True)  # 2 * w * (sum of x)
            y = slope * slope
        y.backward()
        assert slope.tolist() == [[6], [18]]
        assert x.grad.tolist() == [[240, 240]]
        assert w.grad.tolist() == [[72], [216]]


class TestOps:
    def test_arrays_and_attributes_may_be_named(self) -> None:
        @primitive(lambda g, factor: g * factor, lambda g, shift: g * shift)
        def scaled(x: Any, z: Any, factor: float = 2.0, shift: float = 1.0) -> Any:
            return x * factor + z * shift

        x, z = leaf([1.0]), leaf([1.0])
        for call in (lambda: scaled(z=z, factor=3.0, x=x), lambda: scaled(x, z, 3.0)):
            with autograd.record():
                y = call()
            y.backward()
            assert (x.grad.item(), z.grad.item()) == (3, 1)

    def test_kept_values_are_passed_to_the_gradient(self) -> None:
        @primitive(lambda g, root: g * 0.5 / root, kept=("root",))
        def root(x: Any) -> Any:
            y = np.sqrt(x)
            return y + 0, y

        x = leaf([4.0])
        assert root(x).item() == 2
        with autograd.record():
            y = root(x)
        y.backward()
        assert (y.item(), x.grad.item()) == (2, 0.25)

    def test_missing_gradient_raises(self) -> None:
        @primitive(None)
        def opaque(x: Any) -> Any:
            return x + 1

        with autograd.record():
            y = opaque(leaf([1.0]))
        with pytest.raises(NotImplementedError, match="opaque: gradient of operand 0 must be defined, got none"):
            y.backward()

    def test_gradients_must_be_arrays(self) -> None:
        @primitive(lambda g: 1.0)
        def odd(x: Any) -> Any:
            return x + 1

        with autograd.record():
            y = odd(leaf([1.0]))
        with pytest.raises(TypeError, match="backward: gradients must be arrays, got float"):
            y.backward()

    def test_errors_of_an_op_leave_recording_on(self) -> None:
        with autograd.record():
            with pytest.raises(ValueError, match="reshape"):
                np.reshape(leaf([1.0]), (2, 2))
            assert autograd.is_recording()

    def test_gradient_ops_have_the_line_of_backward_or_their_own(self) -> None:
        class Own(autograd.Function):
            def forward(self, x: Any) -> Any:
                return x + 1

            def backward(self, g: Any) -> Any:
                return g - 2

        x, own = leaf([1.0]), Own.backward.__code__.co_firstlineno + 1
        with autograd.record():
            y = Own()(x * x)
        with profiler.record() as p:
            walks = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
            y.backward()
        lines = {e.name: e.site[1] for e in p.trace.ops if e.site}
        assert lines == {"full": walks, "subtract": own, "multiply": walks, "add": walks}

    def test_outputs_without_gradient_count_as_zeros(self) -> None:
        class Both(autograd.Function):
            def forward(self, x: Any) -> Any:
                return x * 2, x * 3

            def backward(self, g: Any, h: Any) -> Any:
                return 2 * g + 3 * h

        x = leaf([1.0, 2.0])
        with autograd.record():
            _, y = Both()(x)
        y.backward()
        assert x.grad.tolist() == [3, 3]


def test_gradients_of_intermediate_arrays() -> None:
    x = leaf([3.0])
    unused = leaf([[1.0, 2.0]])
    with autograd.record():
        y = x * x
        z = y * y
        gy, gx, again, none = autograd.grad(z, [y, x, y, unused])
    assert (gy.item(), gx.item(), again.item(), none.tolist()) == (18, 108, 18, [[0, 0]])
    assert x.grad.item() == 0
