"""Blocks in MXNet's style that may be written over a namespace `F`."""

from __future__ import annotations

from typing import Any

from .. import np, npx
from .block import Block

__all__ = ["HybridBlock"]


class HybridBlock(Block):
    """A block; MXNet could compile these. `hybrid_forward(F, x, **params)` may be defined instead of `forward`.

    >>> from forerun import np
    >>> class Twice(HybridBlock):
    ...     def hybrid_forward(self, F, x):
    ...         return F.np.add(x, x)
    >>> Twice()(np.ones(2)).tolist()
    [2.0, 2.0]
    """

    class F:
        """The namespaces that `hybrid_forward` gets as its first argument."""

        np = np
        npx = npx

    def forward(self, *args: Any) -> Any:
        """Calls `hybrid_forward` with the block's parameters by name."""
        function = getattr(self, "hybrid_forward", None)
        if function is None:
            return super().forward(*args)
        device = getattr(args[0], "device", None) if args else None
        params = {name: parameter.data(device) for name, parameter in self._params.items()}
        return function(self.F, *args, **params)
