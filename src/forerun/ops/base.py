"""What an op is made of: how it is issued, its gradients, its docstring, in one paragraph.

Two kinds. `elementwise` wraps a NumPy ufunc; the core issues it and records it on the tape. `primitive` is
for everything else: a Python function that calls the core, and says what its gradients are.

A gradient is a function of what it needs, by name: `g` is the gradient of the output, `y` the output, the
op's own parameter names stand for its inputs and keyword attributes, and `shape` and `dtype` are those of
the input that is differentiated. What no gradient names is not kept. Where an input was broadcast, the tape
sums its gradient; the op need not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .. import _core

__all__ = ["Elementwise", "Primitive", "elementwise", "primitive", "nondifferentiable"]

Gradient = Callable[..., Any]
_OUTPUT = 1 << 7


def nondifferentiable(g: Any) -> None:
    """The gradient of what is piecewise constant, or of no use: nothing flows back.

    >>> nondifferentiable(1.0) is None
    True
    """
    return None


def _names(gradient: Gradient) -> tuple[str, ...]:
    return tuple(inspect.signature(gradient).parameters)


def _save_mask(gradients: Sequence[Gradient | None], inputs: Sequence[str]) -> int:
    mask = 0
    for gradient in gradients:
        for name in _names(gradient) if gradient is not None else ():
            if name == "y":
                mask |= _OUTPUT
            elif name in inputs:
                mask |= 1 << inputs.index(name)
    return mask


class _Differentiable:
    """Calls the gradient of one input with what it names."""

    name: str
    parameters: tuple[str, ...]
    grads: tuple[Gradient | None, ...] | None
    stateless = True  # gradients depend on what stands on the tape, and on nothing else

    def gradient(
        self, i: int, g: Any, inputs: tuple[Any, ...], outputs: Any, attrs: dict[str, Any] | None
    ) -> Any:
        """Gradient of input `i` from the gradient `g` of the output(s); None if nothing flows back.

        Raises NotImplementedError if the op has none.
        """
        assert self.grads is not None
        function = self.grads[i] if len(self.grads) > i else None
        if function is None:
            raise NotImplementedError(f"{self.name}: gradient of operand {i} must be defined, got none")
        values: dict[str, Any] = dict(zip(self.parameters, inputs))
        values.update(attrs or {})
        values.update(
            g=g, y=outputs, i=i, inputs=inputs, shape=numpy.shape(inputs[i]) if i < len(inputs) else None
        )
        values["dtype"] = getattr(inputs[i], "dtype", None) if i < len(inputs) else None
        return function(*[values[name] for name in _names(function)])


class Elementwise(_core.Ufunc, _Differentiable):
    """An element-wise op: issues the compiled loops of a NumPy ufunc, tile by tile, without the interpreter
    lock."""

    def __init__(
        self,
        ufunc: Any,
        name: str,
        parameters: tuple[str, ...],
        grads: tuple[Gradient | None, ...] | None,
        doc: str,
    ) -> None:
        save = _save_mask(grads, parameters) if grads is not None else 0
        super().__init__(ufunc, name, grads, save)
        self.parameters = parameters
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"


def elementwise(
    ufunc: Any,
    *,
    dx: Gradient | None = None,
    da: Gradient | None = None,
    db: Gradient | None = None,
    constant: bool = False,
    name: str | None = None,
    doc: str,
) -> Elementwise:
    """An op that applies `ufunc` to each element.

    One input is called `x` (gradient `dx`), two are `a` and `b`. `constant`: the result does not change
    with the inputs as far as gradients go.

    >>> from forerun import np
    >>> turned = elementwise(numpy.negative, dx=lambda g: -g, name="turned", doc="-x.")
    >>> turned(np.arange(3)).tolist()
    [0, -1, -2]
    """
    unary = ufunc.nin == 1
    parameters = ("x",) if unary else ("a", "b")
    grads: tuple[Gradient | None, ...] | None
    if constant:
        grads = None
    else:
        grads = (dx,) if unary else (da, db)
    return Elementwise(ufunc, name or ufunc.__name__, parameters, grads, doc)


class Primitive(_Differentiable):
    """An op whose call is a Python function over the core's functions."""

    def __init__(self, forward: Callable[..., Any], grads: tuple[Gradient | None, ...], arrays: int) -> None:
        functools.update_wrapper(self, forward)
        self.forward = forward
        self.name = forward.__name__
        self.arrays = arrays
        signature = inspect.signature(forward)
        self.parameters = tuple(signature.parameters)[:arrays]
        self.attributes = tuple(signature.parameters)[arrays:]
        self.defaults = {n: signature.parameters[n].default for n in self.attributes}
        self.grads = grads
        self.save = _save_mask(grads, self.parameters)

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        if not _core.recording():
            return self.forward(*args, **attrs)
        _core.set_recording(False)  # what the op is made of is not recorded: the op is
        try:
            result = self.forward(*args, **attrs)
        finally:
            _core.set_recording(True)
        named = {**self.defaults, **dict(zip(self.attributes, args[self.arrays :])), **attrs}
        outputs = result if isinstance(result, tuple) else (result,)
        _core.record(self, args[: self.arrays], outputs, named, self.save)
        return result

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"


def primitive(
    *gradients: Gradient | None, arrays: int | None = None
) -> Callable[[Callable[..., Any]], Primitive]:
    """Makes an op of a function whose first parameters are arrays.

    As many of them as there are gradients, or `arrays`.

    >>> from forerun import autograd, np
    >>> cube = primitive(lambda g, x: g * 3 * x * x)(lambda x: x * x * x)
    >>> x = np.array([2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = cube(x)
    >>> y.backward(); x.grad.tolist()
    [12.0]
    """

    def make(forward: Callable[..., Any]) -> Primitive:
        return Primitive(forward, gradients, arrays if arrays is not None else len(gradients))

    return make
