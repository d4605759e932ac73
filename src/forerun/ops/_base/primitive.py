"""The definition of an operation in one paragraph: how it is submitted, its gradients, its docstring.

Two kinds. `elementwise` wraps a NumPy ufunc; the core issues it and records it on the tape. `primitive` is
for everything else: a Python function that calls the core, with functions of its gradients.

A gradient is a function of the values that it needs, by name: `g` is the gradient of the output, `y` the output, the
op's own parameter names stand for its inputs and keyword attributes, and `shape` and `dtype` are those of
the input that is differentiated. Values that no gradient names are not kept. Where an input was broadcast, the tape
sums its gradient; the op need not.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, Unpack, cast

from ... import _core
from . import above
from .gradient_rules import Gradient, rules_of
from .registry import reduced, register
from .ufunc_text import Docstring, Signature, signature

if TYPE_CHECKING:
    import numpy

    from ...typing import Array, ArrayLike, Axis, DTypeLike, Out

__all__ = [
    "Elementwise", "OpFacts", "Primitive", "direct", "elementwise", "nondifferentiable", "numpy_when_small",
    "plain_calls", "primitive", "view_of_numpy",
]  # fmt: skip


def nondifferentiable(g: Array | float) -> None:
    """Return None, the gradient of a function that is piecewise constant or must not be differentiated.

    Nothing flows back through it.

    Parameters
    ----------
    g : array or float
        The gradient of the result, which has no effect.

    Examples
    --------
    >>> nondifferentiable(1.0) is None
    True
    """
    return None


F = TypeVar("F", bound=Callable[..., Any])


def direct(entry: str, *data: Any) -> Callable[[F], F]:
    """Let the core handle the plain calls of a function itself, by one of its entries (core/python/direct).

    A plain call has arrays that are not on the tape, and arguments that need no conversion; the result is the same.
    All others go to the Python function. data: further arguments of the entry, such as an op.

    >>> from forerun import np
    >>> np.zeros.__name__, np.zeros(2).tolist(), np.zeros([2]).tolist()
    ('zeros', [0.0, 0.0], [0.0, 0.0])
    """

    def make(function: F) -> F:
        wrapped: Any = _core.Function(entry, function, data)
        functools.update_wrapper(wrapped, function)
        wrapped.__signature__ = Signature(function)
        wrapped.entry = entry, data
        return cast("F", wrapped)

    return make


def plain_calls(entry: str, *data: object) -> Callable[..., Any]:
    """Return the core's function for plain calls, as for `direct`; it returns None for all others.

    >>> from forerun import np
    >>> plain_calls("argmax")(np.array([1, 3, 2]), 0).item(), plain_calls("argmax")({1, 3}, 0)
    (1, None)
    """
    made: Callable[..., Any] = _core.Function(entry, lambda *_, **__: None, data)
    return made


# The arguments with which the core calls NumPy's functions directly, for the two decorators below
# (core/python/direct/numpy.cpp reads both). A letter gives the values that a parameter may have:
#
#     a  an array                          A  an array or None
#     d  a vector                          l  a list or tuple of these, or of numbers
#     e  an array, or a list of integers beside arrays of 64 bits
#     h  an array of any size, of which little is read
#     m  a small matrix, as the cost grows faster than its size
#     n  an array, or a number that takes the dtype of the arrays without a change, or a list as for e
#     w  an array; NumPy's of any size, where a copy would take longer than the parts that are read
#     r  bools of any number, or some thousand numbers, where the Python function waits for them, too
#     i  an integer or None                k  an integer
#     t  an integer or a tuple of them     c  a small number of things
#     b  a bool                            s  a str
#     S  a str, beside no real floats of less than 64 bits
#     -  nothing: it may not be given
#
# Kinds of dtypes are NumPy's letters b, i, u, f, c; or F, floats of 32 and 64 bits, and D, of 64 bits.


def numpy_when_small(
    function: Callable[..., Any], parameters: str, sorts: str, kinds: str = "biuf", *, waits: bool = False,
    gives: type | None = None,
) -> Callable[[F], F]:  # fmt: skip
    """Let a NumPy function run within the call if its operands are small and computed: plain calls, without recording.

    parameters: the names of those that plain calls may give, in order. sorts: a letter for each of them, from the
    table above. kinds: of the dtypes of arrays, from there too. waits: the Python function waits for its arrays too.
    gives: the named tuple that it returns. It must give the same bits; where NumPy's raises, it is called.

    >>> import numpy
    >>> from forerun import np
    >>> found = numpy_when_small(numpy.flatnonzero, "a", "a")(lambda a: np.flatnonzero(a))
    >>> found(np.array([0, 2, 3])).tolist()
    [1, 2]
    """
    return direct("numpy", _inner(function), tuple(parameters.split()), sorts, kinds, waits, gives)


def _inner(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the implementation of a NumPy function, which runs once no operand overrides the function."""
    return getattr(function, "_implementation", function)


def view_of_numpy(function: Callable[..., Any], parameters: str, sorts: str) -> Callable[[F], F]:
    """Let a NumPy function that returns a view of its first argument determine the view's layout, without values.

    >>> import numpy
    >>> from forerun import np
    >>> view_of_numpy(numpy.flip, "m axis", "ai")(np.flip)(np.arange(3)).tolist()
    [2, 1, 0]
    """
    return direct("numpy_views", _inner(function), tuple(parameters.split()), sorts, "biufc", False, None)


class OpFacts(TypedDict, total=False):
    """Further facts about an element-wise operation; see `elementwise`."""

    exact: bool | Literal["real"]
    neutral: int | Literal["lowest", "highest"] | None
    accumulate_in: Any  # a dtype
    bool_ok: bool
    widens_integers: bool
    slow: bool
    formula: str | None
    packed: bool
    checks_exponents: bool
    reduction: str | None
    scan: str | None
    operator: str | None
    ulps: int | None
    stablehlo: str | None
    example: tuple[str, str] | None


class Elementwise(_core.Ufunc):
    __doc__ = Docstring(
        """An element-wise op: issues the compiled loops of a NumPy ufunc, tile by tile, without the interpreter lock.

    It is called like a ufunc, and has the methods and errors of one. Made by `elementwise`.

    Parameters
    ----------
    ufunc : ufunc
        NumPy's, or another library's, with compiled loops.
    name, doc : str
        The name of the operation, and the first line of its docstring.
    parameters : tuple of str
        The names of the inputs, by which gradients use them.
    grads : tuple of callable or None, or None
        A gradient for each input; None for an operation that is constant as far as gradients go.
    **facts : optional
        Further facts about the operation, as for `elementwise`.

    Examples
    --------
    >>> import numpy
    >>> from forerun import np
    >>> negated = Elementwise(numpy.negative, "negated", ("x",), (lambda g: -g,), "-x.")
    >>> negated, negated(np.arange(3)).tolist()
    (<forerun op 'negated'>, [0, -1, -2])
    """
    )

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.__doc__ = Docstring(cls.__doc__ or "")  # type: ignore[assignment]

    stateless = True  # gradients depend on the tape alone
    operator: str | None  # these are described at `elementwise`
    ulps: int | None
    stablehlo: str | None
    example: tuple[str, str] | None

    def __init__(
        self,
        ufunc: numpy.ufunc | str | tuple[Any, ...],
        name: str,
        parameters: tuple[str, ...],
        grads: tuple[Gradient | None, ...] | None,
        doc: str,
        **facts: Unpack[OpFacts],
    ) -> None:
        rules, save = rules_of(grads, parameters) if grads is not None else (None, 0)
        given: dict[str, Any] = {**facts}
        for fact in _OF_PYTHON:
            setattr(self, fact, given.pop(fact, None))
        if not isinstance(ufunc, (str, tuple)):
            given = _facts_of_loops.setdefault(ufunc, {k: given[k] for k in _OF_LOOPS if k in given}) | given
        super().__init__(ufunc, name, rules, save, **given)
        self.__name__ = self.__qualname__ = name
        self.summary = doc

    __reduce__ = reduced

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":  # inspect.signature asks for it
            return signature(self.nin, self.nout)
        if name not in _OF_UFUNCS:
            raise AttributeError(f"{self!r} has no attribute {name!r}")
        return getattr(self.ufunc, name)

    if TYPE_CHECKING:

        def __call__(
            self, *inputs: ArrayLike | None, out: Out | tuple[Out, ...] = None, dtype: DTypeLike = None, **options: Any
        ) -> Array: ...

    def with_options(self, *operands: Array | float, **options: Any) -> Any:
        """Return a call with keywords of NumPy's other than `dtype`."""
        if len(operands) < self.nin:
            raise TypeError(f"{self.name}: takes {self.nin} operands, got {len(operands)}")
        if len(operands) > self.nin and options.get("out") is None:  # those after the inputs
            options["out"] = operands[self.nin :]
            operands = operands[: self.nin]
        return self._method("__call__", operands, options)

    @direct("ufunc_reduce")
    def reduce(
        self, array: ArrayLike, axis: Axis = 0, dtype: DTypeLike = None, out: Out = None, **options: Any
    ) -> Array:
        """Combine the elements along axes, as NumPy's method does.

        Parameters
        ----------
        array : array_like
            The array.
        axis : int, tuple of ints or None, optional
            The axes; None for all.
        dtype : dtype, optional
            The dtype of the computation and the result.
        out : array, optional
            An array for the result.
        **options : object
            `keepdims`, `initial` and `where`, as NumPy has them.

        Returns
        -------
        array
            The result, without the axes unless `keepdims`.
        """
        result: Array = self._method("reduce", (array,), {"axis": axis, "dtype": dtype, "out": out, **options})
        return result

    @direct("ufunc_accumulate")
    def accumulate(self, array: ArrayLike, axis: int = 0, dtype: DTypeLike = None, out: Out = None) -> Array:
        """Return the results of `reduce` up to each element, as NumPy's method does."""
        result: Array = self._method("accumulate", (array,), {"axis": axis, "dtype": dtype, "out": out})
        return result

    @direct("ufunc_reduceat")
    def reduceat(
        self, array: ArrayLike, indices: ArrayLike, axis: int = 0, dtype: DTypeLike = None, out: Out = None
    ) -> Array:
        """Reduce slices, each from an index to the next one, as NumPy's method does."""
        result: Array = self._method("reduceat", (array, indices), {"axis": axis, "dtype": dtype, "out": out})
        return result

    def outer(self, a: ArrayLike, b: ArrayLike, **options: Any) -> Array:
        """Apply the operation to each pair of an element of a and one of b, as NumPy's method does."""
        result: Array
        if not options and self.ufunc.nin == 2 and isinstance(a, _core.Array) and isinstance(b, _core.Array):
            result = self(a[(..., *[None] * b.ndim)], b)
        else:
            result = self._method("outer", (a, b), options)
        return result

    @direct("ufunc_at")
    def at(self, a: Array | numpy.ndarray, indices: ArrayLike, *b: ArrayLike) -> Any:
        """Write into a at indices, once for each time that an element is named, as NumPy's method does.

        Returns None, unless a class of an operand implements `__array_ufunc__`.
        """
        return self._method("at", (a, indices, *b), {})

    def _method(self, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:
        return above.call_ufunc(self.ufunc, method, inputs, **options)


_OF_LOOPS = ("formula", "packed", "checks_exponents")  # facts about NumPy's loops, whatever operation they are in
_facts_of_loops: dict[numpy.ufunc, dict[str, Any]] = {}  # those of the first operation of a ufunc
_OF_PYTHON = ("operator", "ulps", "stablehlo", "example")  # facts that the core need not know
_OF_UFUNCS = ("nargs", "ntypes", "types", "identity", "signature", "resolve_dtypes")


def elementwise(
    ufunc: numpy.ufunc,
    *,
    dx: Gradient | None = None,
    da: Gradient | None = None,
    db: Gradient | None = None,
    constant: bool = False,
    name: str | None = None,
    doc: str,
    **facts: Unpack[OpFacts],
) -> Elementwise:
    """Make an op that applies `ufunc` to each element.

    One input is called `x` (gradient `dx`), two are `a` and `b`.

    Parameters
    ----------
    ufunc : ufunc
        NumPy's, or another library's, with compiled loops.
    dx, da, db : callable, optional
        The gradients of its inputs.
    constant : bool, optional
        Whether the result does not change with the inputs as far as gradients go.
    name : str, optional
        That of the ufunc, unless it is given.
    doc : str
        The first line of its docstring.
    exact : bool or "real", optional
        True: each result is rounded once, so that its bits do not depend on the layout of the inputs; they need not be
        packed for the loop then. "real": that is so for real numbers.
    neutral : int or str, optional
        A value that, combined with any other, leaves the other unchanged: 0, 1, or the "lowest" or "highest" value of
        the dtype. Reductions are cut into pieces then, which run side by side.
    accumulate_in : dtype, optional
        A floating dtype, in which reductions of narrower floats are computed; they are rounded once, at the end.
    bool_ok : bool, optional
        False: bools are refused, where there is no loop for them, instead of being small integers.
    widens_integers : bool, optional
        Whether small integers give the default float in place of NumPy's function, too.
    slow : bool, optional
        Whether the loop takes some nanoseconds for each element in double precision.
    formula : str, optional
        The exact function that NumPy's loops compute, such as "add", for the dtypes that have it: fused and compiled
        loops then compute it in their own way. Of a logical operation the one of bools: "bitwise_and". This and the
        next two are facts about the loops, and hold for any other operation of the same ufunc.
    packed : bool, optional
        Whether the loops need operands without gaps. On some CPUs those of NumPy 2.4 for signs and NaNs do: with a
        result that has gaps, they read their input at its distances.
    checks_exponents : bool, optional
        Whether integers to negative powers are errors.
    reduction, scan : str, optional
        The names of `reduce` and `accumulate` in traces and errors, if vectors may be passed on unchecked.
    operator, stablehlo : str, optional
        The operator of Python's that it is behind; the operation of StableHLO that is the same for real numbers. They
        have no effect on an op that is made after `forerun.np` was imported.
    ulps : int, optional
        How far results of a GPU may be from the exact ones, in units in the last place. None: they are rounded once.
    example : tuple of str, optional
        A call and its result, for the docstring, which then lists the parameters of NumPy's functions too.

    Returns
    -------
    Elementwise
        The operation, which is called like a ufunc.

    Raises
    ------
    TypeError
        If the ufunc has no loops for dtypes of arrays.
    ValueError
        If one of the facts is not as above.

    Examples
    --------
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
    return Elementwise(ufunc, name or ufunc.__name__, parameters, grads, doc, **facts)


class Primitive(_core.Primitive):
    """An operation whose call is a Python function over other operations. Made by `primitive`.

    Parameters
    ----------
    forward : callable
        The function.
    grads : tuple of callable or None
        A gradient for each array, as for `primitive`.
    arrays : int
        The number of its first parameters that are arrays.
    kept : tuple of str
        The names of further results, which gradients use.
    name : str
        The name of the operation.

    Examples
    --------
    >>> from forerun import np
    >>> square = Primitive(lambda x: x * x, (lambda g, x: 2 * g * x,), 1, (), "square")
    >>> square, square(np.array([3.0])).tolist()
    (<forerun op 'square'>, [9.0])
    """

    stateless = True

    def __init__(
        self,
        forward: Callable[..., Any],
        grads: tuple[Gradient | None, ...],
        arrays: int,
        kept: tuple[str, ...],
        name: str,
    ) -> None:
        functools.update_wrapper(self, forward)
        parameters = inspect.signature(forward).parameters
        names = tuple(parameters)
        rules, save = rules_of(grads, names[:arrays], names[arrays:] + kept)
        defaults = tuple(p.default for p in parameters.values())
        super().__init__(forward, name, names, defaults, arrays, rules, save, len(kept))

    __reduce__ = reduced

    def __repr__(self) -> str:
        return f"<forerun op {self.name!r}>"


def primitive(
    *gradients: Gradient | None, arrays: int | None = None, kept: tuple[str, ...] = (), op: str | None = None
) -> Callable[[F], F]:
    """Return a decorator that makes an operation from a function whose first parameters are arrays.

    Parameters
    ----------
    *gradients : callable or None
        A gradient for each array. Its parameters are found by their names: `g` is the gradient of the result, `y` the
        result, and others are the parameters of the function.
    arrays : int, optional
        The number of parameters that are arrays; by default that of the gradients.
    kept : tuple of str, optional
        The names by which gradients use the values that the function returns, in a tuple, after its result. Nothing
        flows back through these: a gradient that is itself recorded must do without.
    op : str, optional
        The name by which the operation is registered (`forerun.ops._base.registry`), so that files of exported blocks
        know it. Without one it has the function's name, and cannot be exported.

    Returns
    -------
    callable
        The decorator, which takes the function and returns the operation.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> cube = primitive(lambda g, x: g * 3 * x * x)(lambda x: x * x * x)
    >>> x = np.array([2.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = cube(x)
    >>> y.backward(); x.grad.tolist()
    [12.0]
    """

    def make(forward: F) -> F:
        count = arrays if arrays is not None else len(gradients)
        made: Any = Primitive(forward, gradients, count, kept, op or forward.__name__)
        if op is not None:
            register(forward.__module__, made)
        return cast("F", made)

    return make
