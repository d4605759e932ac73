"""What all transforms share: arrays of ours by operations, NumPy's at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from .... import image, np
from ...block import Block
from ...hybrid import HybridBlock
from ...nn.container import Sequential
from ...nn.function import Lambda

__all__ = ["Transform", "Compose", "HybridCompose", "RandomApply", "HybridRandomApply", "Cast"]


class Transform(HybridBlock):
    """A function of an image; subclasses define `transformed`. More arguments, such as a label, are handed on.

    The image of ours gives one of ours, by operations that are not waited for; NumPy's gives NumPy's. `hybridize`
    changes nothing: what is drawn is drawn anew for each image.
    """

    takes_numpy = True

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith(__name__.split(".")[0] + ".") and "takes_numpy" not in cls.__dict__:
            cls.takes_numpy = False  # it may expect an array of ours

    def transformed(self, x: Any) -> Any:
        """The image that becomes of x."""
        raise NotImplementedError(f"{type(self).__name__}: transformed must be defined, got none")

    def forward(self, x: Any, *args: Any) -> Any:
        """The image that becomes of x, and the other arguments."""
        y = self.transformed(x)
        return (y, *args) if args else y

    def hybridize(self, active: bool = True, **settings: Any) -> None:
        """Changes nothing."""


def space(x: Any) -> Any:
    """Where functions for an image are: NumPy, or `forerun.np`."""
    return numpy if isinstance(x, numpy.ndarray) else np


def constant(values: numpy.ndarray, x: Any) -> Any:
    """Values for computing with x: of its dtype, on its device."""
    if isinstance(x, numpy.ndarray):
        return values if values.dtype == x.dtype else values.astype(x.dtype)
    return np.array(values, dtype=x.dtype, device=x.device)


def takes_numpy(function: Any) -> bool:
    """Whether a function makes NumPy's arrays of NumPy's."""
    return getattr(function, "takes_numpy", False) is True and not (function._before or function._after)


class Compose(Sequential):
    """Transforms one after another: blocks, or functions.

    An image of NumPy's stays so until a function comes that is no transform of this package's: it gets one of ours.
    """

    takes_numpy = True

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__()
        self.add(*[t if isinstance(t, Block) else Lambda(t) for t in transforms])

    def forward(self, x: Any, *args: Any) -> Any:
        """The image through all transforms, and what they make of the other arguments."""
        if not isinstance(x, numpy.ndarray):
            return super().forward(x, *args)
        blocks = list(self._children.values())
        for i, block in enumerate(blocks):
            if not takes_numpy(block):
                return super(Compose, self[i:]).forward(np.array(x), *args)
            x = block.forward(x)
            if not isinstance(x, numpy.ndarray):  # by a function within
                return super(Compose, self[i + 1 :]).forward(x, *args)
        return (x, *args) if args else x

    def __getitem__(self, index: int | slice) -> Any:
        """A transform, or for a slice those in it."""
        blocks = list(self._children.values())[index]
        return Compose(blocks) if isinstance(blocks, list) else blocks


class HybridCompose(Compose):
    """Transforms one after another, which must be hybrid blocks; ValueError otherwise. They run as they are."""

    def __init__(self, transforms: Sequence[Any]) -> None:
        for block in transforms:
            if not isinstance(block, (HybridBlock, HybridCompose)):
                raise ValueError(f"HybridCompose: transforms must be HybridBlocks, got {type(block).__name__}")
        super().__init__(transforms)


class RandomApply(Compose):
    """Transforms one after another, or with probability 1 - p none of them. transforms: a block, or several."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__(transforms if isinstance(transforms, (list, tuple)) else [transforms])
        self.p = p

    def forward(self, x: Any, *args: Any) -> Any:
        """The image, transformed or as it is."""
        if image.draws().random() < self.p:
            return super().forward(x, *args)
        return (x, *args) if args else x


class HybridRandomApply(RandomApply):
    """As RandomApply."""


class Cast(Transform):
    """The image in another dtype."""

    def __init__(self, dtype: Any = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def transformed(self, x: Any) -> Any:
        """x in that dtype."""
        return x.astype(self._dtype)
