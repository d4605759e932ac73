"""Layers without parameters: functions as blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import np, npx
from ..block.block import Block
from ..block.hybrid import HybridBlock

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["Activation", "Dropout", "Flatten", "Identity", "Lambda", "HybridLambda"]


class Activation(HybridBlock):
    """An element-wise function by its name, such as "relu", "sigmoid" or "tanh".

    Parameters
    ----------
    activation : str
        The name.

    Examples
    --------
    >>> from forerun import np
    >>> Activation("relu")(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation: str) -> None:
        super().__init__()
        self._act_type = activation

    def forward(self, x: Array) -> Array:
        """Return the function of each element. Raises ValueError for an unknown name."""
        return npx.activation(x, self._act_type)

    def __repr__(self) -> str:
        return f"Activation({self._act_type})"


class Dropout(HybridBlock):
    """Sets elements to zero with a probability while training, and scales the others by 1 / (1 - rate).

    Parameters
    ----------
    rate : float
        The probability.
    axes : tuple of ints, optional
        Along these, all elements share one fate.

    Raises
    ------
    ValueError
        Unless 0 <= rate < 1.

    Examples
    --------
    >>> from forerun import np
    >>> Dropout(0.5)(np.ones(2)).tolist()  # not training
    [1.0, 1.0]
    """

    def __init__(self, rate: float, axes: tuple[int, ...] = ()) -> None:
        super().__init__()
        if not 0 <= rate < 1:
            raise ValueError(f"Dropout: rate must be in [0, 1), got {rate}")
        self._rate = rate
        self._axes = axes

    def forward(self, x: Array) -> Array:
        """Return x with elements dropped in training mode, x itself otherwise."""
        return npx.dropout(x, p=self._rate, axes=self._axes) if self._rate else x

    def __repr__(self) -> str:
        return f"Dropout(p={self._rate})"


class Flatten(HybridBlock):
    """(batch, ...) to (batch, elements).

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> Flatten()(np.ones((2, 3, 4))).shape
    (2, 12)
    """

    def forward(self, x: Array) -> Array:
        """Return x with the axes after the first as one."""
        return x.reshape((x.shape[0], -1))


class Identity(HybridBlock):
    """Returns its argument.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> Identity()(np.ones(2)).tolist()
    [1.0, 1.0]
    """

    def forward(self, x: Array) -> Array:
        """Return x."""
        return x


class Lambda(Block):
    """A function as a block.

    Parameters
    ----------
    function : callable or str
        A function, or the name of one in `np` or `npx`.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> from forerun import np
    >>> Lambda(lambda x: x * 2)(np.ones(2)).tolist()
    [2.0, 2.0]
    >>> Lambda("tanh")
    Lambda(tanh)
    """

    def __init__(self, function: str | Callable[..., Any]) -> None:
        super().__init__()
        self._function = _named(function) if isinstance(function, str) else function
        self._label = function if isinstance(function, str) else getattr(function, "__name__", repr(function))

    def forward(self, *args: Array) -> Array:
        """Return the result of the function."""
        result: Array = self._function(*args)
        return result

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._label})"


class HybridLambda(Lambda, HybridBlock):
    """A function as a block, as `Lambda`; `hybridize()` captures its calls.

    Parameters
    ----------
    function : callable or str
        A function, or the name of one in `np` or `npx`.

    Raises
    ------
    ValueError
        For an unknown name.

    Examples
    --------
    >>> from forerun import np
    >>> HybridLambda(lambda x: x * 2)(np.ones(2)).tolist()
    [2.0, 2.0]
    """


def _named(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] | None = getattr(np, name, None) or getattr(npx, name, None)
    if function is None:
        raise ValueError(f"Lambda: name must be a function of np or npx, got {name!r}")
    return function
