"""Custom gradients: a forward and a backward computation that form one operation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _core
from .scope import pause

if TYPE_CHECKING:
    from ..typing import Array


__all__ = ["Function"]


class Function:
    """A computation with a gradient of its own; each call needs an instance of its own.

    Derive `forward(*inputs)` and `backward(*gradients of outputs)`, which returns one gradient per input
    (None: nothing flows back). `forward` keeps values for it with `save_for_backward`, or in attributes.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> class Clip(autograd.Function):
    ...     def forward(self, x):
    ...         return np.clip(x, -1, 1)
    ...     def backward(self, g):
    ...         return g          # straight through
    >>> x = np.array([3.0]); x.attach_grad()
    >>> with autograd.record():
    ...     y = Clip()(x)
    >>> y.backward()
    >>> y.item(), x.grad.item()
    (1.0, 1.0)
    """

    saved_tensors: tuple[Any, ...] = ()

    @property
    def name(self) -> str:
        """The name of the class, for traces and errors."""
        return type(self).__name__

    def forward(self, *inputs: Any) -> Any:
        """Return the results, an array or a tuple of arrays."""
        raise NotImplementedError(f"{type(self).__name__}: forward must be defined, got none")

    def backward(self, *gradients: Any) -> Any:
        """Return one gradient per input, or None."""
        raise NotImplementedError(f"{type(self).__name__}: backward must be defined, got none")

    def save_for_backward(self, *arrays: Any) -> None:
        """Keep arrays for `backward`, as `self.saved_tensors`.

        Examples
        --------
        >>> from forerun import autograd, np
        >>> class Square(Function):
        ...     def forward(self, x):
        ...         self.save_for_backward(x)
        ...         return x * x
        ...     def backward(self, g):
        ...         (x,) = self.saved_tensors
        ...         return 2 * x * g
        >>> x = np.array([3.0]); x.attach_grad()
        >>> with autograd.record():
        ...     y = Square()(x)
        >>> y.backward(); x.grad.tolist()
        [6.0]
        """
        self.saved_tensors = arrays

    def __call__(self, *inputs: Any) -> Any:
        with pause(train_mode=_core.training()):
            results = self.forward(*inputs)
        several = isinstance(results, (tuple, list))
        outputs = tuple(_core.detach(r) for r in (results if several else (results,)))
        if _core.recording():
            _core.record(self, inputs, outputs, None, 0)
        return outputs if several else outputs[0]

    def gradients(self, g: Array, inputs: tuple[Any, ...], attrs: object) -> tuple[Any, ...]:
        """Return the gradients of all inputs. The backward pass calls it, and it calls `backward`.

        Parameters
        ----------
        g : array or tuple of arrays
            The gradient of each output.
        inputs : tuple
            The inputs of the call.
        attrs : object
            Has no effect.

        Returns
        -------
        tuple
            A gradient for each input, or None.

        Raises
        ------
        ValueError
            If `backward` returns another number of gradients.

        Examples
        --------
        >>> from forerun import np
        >>> class Double(Function):
        ...     def forward(self, x):
        ...         return 2 * x
        ...     def backward(self, g):
        ...         return 2 * g
        >>> x = np.ones(2)
        >>> Double().gradients(np.ones(2), (x,), None)[0].tolist()
        [2.0, 2.0]
        """
        found = self.backward(*(g if isinstance(g, tuple) else (g,)))
        found = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(found) != len(inputs):
            raise ValueError(f"{self.name}: backward must return {len(inputs)} gradients, got {len(found)}")
        return found
