"""The base of transforms: operations for arrays of forerun, immediate results for NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from .... import image, np
from ...block.block import Block, check_hybrid_settings
from ...block.hybrid import HybridBlock
from ...nn.container import Sequential
from ...nn.function import Lambda

if TYPE_CHECKING:
    from types import ModuleType

    from ....typing import Array, DTypeLike


__all__ = ["Transform", "Compose", "HybridCompose", "RandomApply", "HybridRandomApply", "Cast"]


class _OfNumpy(Block):
    """A block that takes images of NumPy's as they are.

    Subclasses of other packages, and hooks, may expect images of forerun: they get those, unless they set
    `of_numpy`.
    """

    of_numpy = True
    # Instead of the transform, `early` may be applied to each image, and `late` to the batch, an array of forerun.
    late: Callable[[Any], Any] | None = None
    early: Callable[[Any], Any] | None = None

    def __init_subclass__(cls) -> None:
        if not cls.__module__.startswith(__name__.split(".")[0] + ".") and "of_numpy" not in cls.__dict__:
            cls.of_numpy = False

    @property
    def takes_numpy(self) -> bool:
        """Whether it takes images of NumPy's as they are."""
        return self.of_numpy and not (self._before or self._after)

    def steps(self) -> list[Any] | None:
        """Return the transforms that an image of NumPy's goes through as such; None if other code would get it."""
        return [self] if self.takes_numpy else None


class Transform(_OfNumpy, HybridBlock):
    """A function of an image; subclasses define `transformed`. Further arguments, such as a label, are passed on.

    An image of forerun gives one of forerun, by operations, without waiting; NumPy's gives NumPy's. `hybridize` has no
    effect: random numbers are drawn for each image.

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        Has no effect: a transform has no parameters.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> class Dark(transforms.Transform):
    ...     def transformed(self, x):
    ...         return x * 0.5
    >>> Dark()(np.ones((1, 1, 2)), 7)  # the label is handed on
    (array([[[0.5, 0.5]]]), 7)
    """

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the transformed image."""
        raise NotImplementedError(f"{type(self).__name__}: transformed must be defined, got none")

    def forward(self, x: Array | numpy.ndarray, *args: Any) -> Any:
        """Return the transformed image, and the other arguments as they are.

        Parameters
        ----------
        x : array
            The image: an array of forerun or of NumPy.
        *args : object
            The other parts of the example.

        Returns
        -------
        array or tuple
            The image, or a tuple of the image and the other arguments.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> transforms.Cast("float16")(np.ones((1, 1, 1)), 7)
        (array([[[1.]]], dtype=float16), 7)
        """
        y = self.transformed(x)
        return (y, *args) if args else y

    def hybridize(self, active: bool = True, **settings: Any) -> None:
        """Do nothing: a transform is not captured.

        Parameters
        ----------
        active : bool, optional
            Has no effect.
        **settings : object
            MXNet's settings, such as `static_alloc`, without effect.

        Raises
        ------
        TypeError
            For settings that MXNet lacks, too.

        Examples
        --------
        >>> from forerun.gluon.data.vision import transforms
        >>> transforms.Cast("float16").hybridize()
        """
        check_hybrid_settings(settings)


def space(x: Array | numpy.ndarray) -> ModuleType:
    """Return where functions for an image are: NumPy, or `forerun.np`."""
    return numpy if isinstance(x, numpy.ndarray) else np


def constant(values: numpy.ndarray, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
    """Return values for computing with x: of its dtype, on its device."""
    if isinstance(x, numpy.ndarray):
        return values if values.dtype == x.dtype else values.astype(x.dtype)
    return np.array(values, dtype=x.dtype, device=x.device)


class Compose(_OfNumpy, Sequential):
    """Transforms one after another: blocks, or functions.

    An image of NumPy's stays one until a function of another package comes, which gets an image of forerun.

    Parameters
    ----------
    transforms : sequence of blocks or functions
        The transforms.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> both = transforms.Compose([transforms.CenterCrop(2), transforms.ToTensor()])
    >>> both(np.ones((4, 6, 3))).shape
    (3, 2, 2)
    """

    _automatic = False  # images differ from call to call

    def __init__(self, transforms: Sequence[Callable[..., Any]]) -> None:
        super().__init__()
        self.add(*[t if isinstance(t, Block) else Lambda(t) for t in transforms])

    def forward(self, x: Any, *args: Any) -> Any:
        """Return the image through all transforms.

        Parameters
        ----------
        x : array
            The image: an array of forerun or of NumPy.
        *args : object
            Further arguments of the first transform.

        Returns
        -------
        array or tuple
            The image; a tuple of all results if the last transform returns several.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> transforms.Compose([transforms.CenterCrop(2), transforms.ToTensor()])(np.ones((4, 6, 3))).shape
        (3, 2, 2)
        """
        for block in self:
            if isinstance(x, numpy.ndarray) and not getattr(block, "takes_numpy", False):
                x = np.array(x)
            x = block(x, *args)
            if isinstance(x, (tuple, list)) and x:
                x, *args = x  # type: ignore[assignment]
            else:
                args = ()
        return (x, *args) if args else x

    def steps(self) -> list[Any] | None:
        """As of a transform; those within, one after another."""
        within = [child.steps() if isinstance(child, _OfNumpy) else None for child in self]
        if not self.takes_numpy:
            return None
        return None if None in within else [step for steps in within for step in steps or ()]

    def __getitem__(self, index: int | slice) -> Block:
        """A transform, or for a slice those in it."""
        blocks = list(self._children.values())[index]
        return Compose(blocks) if isinstance(blocks, list) else blocks


class HybridCompose(Compose):
    """Transforms one after another, which must be hybrid blocks. They run as they are.

    Parameters
    ----------
    transforms : sequence of HybridBlocks
        The transforms.

    Raises
    ------
    ValueError
        For another kind of transform.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> both = transforms.HybridCompose([transforms.CenterCrop(2), transforms.ToTensor()])
    >>> both(np.ones((4, 6, 3))).shape
    (3, 2, 2)
    """

    def __init__(self, transforms: Sequence[Any]) -> None:
        for block in transforms:
            if not isinstance(block, (HybridBlock, HybridCompose)):
                raise ValueError(f"HybridCompose: transforms must be HybridBlocks, got {type(block).__name__}")
        super().__init__(transforms)


class RandomApply(Compose):
    """Transforms one after another, or none of them.

    Parameters
    ----------
    transforms : block, or sequence of blocks
        The transform, or several.
    p : float, optional
        The probability that they are applied.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.RandomApply(transforms.CenterCrop(2), p=1.0)(np.ones((4, 6, 3))).shape
    (2, 2, 3)
    """

    def __init__(self, transforms: Callable[..., Any] | Sequence[Callable[..., Any]], p: float = 0.5) -> None:
        several: Any = transforms if isinstance(transforms, (list, tuple)) else [transforms]
        super().__init__(several)
        self.p = p

    def forward(self, x: Array | numpy.ndarray, *args: Any) -> Any:
        """Return the image, transformed or as it is.

        Parameters
        ----------
        x : array
            The image: an array of forerun or of NumPy.
        *args : object
            The other parts of the example.

        Returns
        -------
        array or tuple
            The image, or a tuple of the image and the other arguments.

        Examples
        --------
        >>> from forerun import np
        >>> from forerun.gluon.data.vision import transforms
        >>> transforms.RandomApply(transforms.CenterCrop(2), p=0.0)(np.ones((4, 6, 3))).shape
        (4, 6, 3)
        """
        if image.chance() < self.p:
            return super().forward(x, *args)
        return (x, *args) if args else x

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return the image, transformed or as it is."""
        found: Array | numpy.ndarray = self.forward(x)
        return found

    def steps(self) -> list[Any] | None:
        """As of a transform: itself."""
        return None if super().steps() is None else [self]


class HybridRandomApply(RandomApply):
    """Transforms one after another, or none of them, as `RandomApply`.

    Parameters
    ----------
    transforms : block, or sequence of blocks
        The transform, or several.
    p : float, optional
        The probability that they are applied.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.HybridRandomApply(transforms.CenterCrop(2), p=1.0)(np.ones((4, 6, 3))).shape
    (2, 2, 3)
    """


class Cast(Transform):
    """The image in another dtype.

    Parameters
    ----------
    dtype : dtype, optional
        The dtype.

    Examples
    --------
    >>> from forerun import np
    >>> from forerun.gluon.data.vision import transforms
    >>> transforms.Cast("float16")(np.ones((1, 1, 3))).dtype
    dtype('float16')
    """

    def __init__(self, dtype: DTypeLike = "float32") -> None:
        super().__init__()
        self._dtype = dtype

    def transformed(self, x: Array | numpy.ndarray) -> Array | numpy.ndarray:
        """Return x in that dtype."""
        return x.astype(self._dtype)

    late = transformed
