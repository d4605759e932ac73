"""Arrays that belong to a block and that training does not change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import init, np
from .parameter import Parameter

if TYPE_CHECKING:
    from ...typing import Array


__all__ = ["Constant"]


class Constant(Parameter):
    """A parameter that training does not change: an array with a name, saved and moved with its block.

    Parameters
    ----------
    value : array_like
        The values.
    name : str, optional
        The name.

    Examples
    --------
    >>> c = Constant([1.0, 2.0])
    >>> c.initialize()
    >>> c.data().tolist()
    [1.0, 2.0]
    """

    def __init__(self, value: Array, name: str = "const") -> None:
        self.value = value if hasattr(value, "dtype") else np.array(value)
        rule = init.Constant(self.value)
        super().__init__(name, "null", self.value.shape, self.value.dtype, init=rule, differentiable=False)
