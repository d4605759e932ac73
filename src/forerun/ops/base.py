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

from .. import _core

__all__ = ["Elementwise", "Primitive", "elementwise", "primitive", "nondifferentiable"]

Gradient = Callable[..., Any]
SAVE_OUTPUTS = 1 << 7


def nondifferentiable(g: Any) -> None:
    """The gradient of what is piecewise constant, or of no use: nothing flows back.

    >>> nondifferentiable(1.0) is None
    True
    """
    return None


# Where a gradient's argument comes from, as the core numbers it: inputs from 0, attributes from 64.
_ATTRIBUTE = 64
_SOURCES = {name: 128 + i for i, name in enumerate(("g", "y", "i", "inputs", "shape", "dtype"))}

Rules = tuple[tuple[Gradient, bytes] | None, ...]


def _rules(
    gradients: Sequence[Gradient | None], inputs: Sequence[str], attributes: Sequence[str] = ()
) -> tuple[Rules, int]:
    """Gradients as the core calls them, with the sources of their arguments; and what the tape keeps for
    them."""
    sources = {name: i for i, name in enumerate(inputs)}
    sources |= {name: _ATTRIBUTE + i for i, name in enumerate(attributes)}
    sources |= _SOURCES
    rules: list[tuple[Gradient, bytes] | None] = []
    save = 0
    for gradient in gradients:
        if gradient is None:
            rules.append(None)
            continue
        names = tuple(inspect.signature(gradient).parameters)
        rules.append((gradient, bytes(sources[name] for name in names)))
        save |= SAVE_OUTPUTS * ("y" in names)
        for name in names:
            save |= 1 << inputs.index(name) if name in inputs else 0
    return tuple(rules), save


class Elementwise(_core.Ufunc):
    """An element-wise op: issues the compiled loops of a NumPy ufunc, tile by tile, without the interpreter
    lock."""

    stateless = True  # gradients depend on what stands on the tape, and on nothing else

    def __init__(
        self,
        ufunc: Any,
        name: str,
        parameters: tuple[str, ...],
        grads: tuple[Gradient | None, ...] | None,
        doc: str,
    ) -> None:
        rules, save = _rules(grads, parameters) if grads is not None else (None, 0)
        super().__init__(ufunc, name, rules, save)
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_UFUNCS:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self.ufunc, name)

    def with_options(self, *operands: Any, **options: Any) -> Any:
        """A call with keywords of NumPy's other than `dtype`."""
        return self._method("__call__", operands, options)

    def reduce(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, **options: Any) -> Any:
        """NumPy's method: combines the elements along axes; keepdims, initial and where as there."""
        return self._method("reduce", (array,), {"axis": axis, "dtype": dtype, "out": out, **options})

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """NumPy's method: what `reduce` has combined by each element."""
        return self._method("accumulate", (array,), {"axis": axis, "dtype": dtype, "out": out})

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """NumPy's method: reductions of slices, each from an index to the next one."""
        return self._method("reduceat", (array, indices), {"axis": axis, "dtype": dtype, "out": out})

    def outer(self, a: Any, b: Any, **options: Any) -> Any:
        """NumPy's method: the op for each pair of an element of a and one of b."""
        return self._method("outer", (a, b), options)

    def at(self, a: Any, indices: Any, *b: Any) -> None:
        """NumPy's method: writes into a at indices, once for each time that an element is named."""
        self._method("at", (a, indices, *b), {})

    def _method(self, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        from .convert import asarray, is_array
        from .ufuncs import call

        if method != "at" and not any(map(is_array, inputs)):
            inputs = (asarray(inputs[0]), *inputs[1:])
        return call(self.ufunc, method, inputs, **options)


_OF_UFUNCS = ("nargs", "ntypes", "types", "identity", "signature", "resolve_dtypes")


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

    >>> import numpy
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


class Primitive(_core.Primitive):
    """An op whose call is a Python function over the core's functions."""

    stateless = True

    def __init__(
        self,
        forward: Callable[..., Any],
        grads: tuple[Gradient | None, ...],
        arrays: int,
        kept: tuple[str, ...],
    ) -> None:
        functools.update_wrapper(self, forward)
        parameters = inspect.signature(forward).parameters
        names = tuple(parameters)
        rules, save = _rules(grads, names[:arrays], names[arrays:] + kept)
        defaults = tuple(p.default for p in parameters.values())
        super().__init__(forward, forward.__name__, names, defaults, arrays, rules, save, len(kept))

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"


def primitive(
    *gradients: Gradient | None, arrays: int | None = None, kept: tuple[str, ...] = ()
) -> Callable[[Callable[..., Any]], Primitive]:
    """Makes an op of a function whose first parameters are arrays.

    As many of them as there are gradients, or `arrays`. kept: names by which gradients use what the function
    returns, in a tuple, after its result. Nothing flows back through that: a gradient that is itself recorded
    must do without.

    >>> from forerun import autograd, np
    >>> cube = primitive(lambda g, x: g * 3 * x * x)(lambda x: x * x * x)
    >>> x = np.array([2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = cube(x)
    >>> y.backward(); x.grad.tolist()
    [12.0]
    """

    def make(forward: Callable[..., Any]) -> Primitive:
        return Primitive(forward, gradients, arrays if arrays is not None else len(gradients), kept)

    return make
