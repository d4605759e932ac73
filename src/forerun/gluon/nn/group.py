"""Layers that normalise each example by itself, channels apart or in groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import npx
from .norm import Rule, _Norm

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["GroupNorm", "InstanceNorm"]


class GroupNorm(_Norm):
    """Gives each group of an example's channels mean 0 and variance 1, then times gamma, plus beta, per channel.

    After Wu and He, 2018. Data is (batch, channels, ...).

    Parameters
    ----------
    num_groups : int, optional
        The number of groups.
    epsilon : float, optional
        A small number added to the variance.
    center : bool, optional
        Whether beta is trained.
    scale : bool, optional
        Whether gamma is trained.
    beta_initializer : str or Initializer, optional
        The initializer of beta.
    gamma_initializer : str or Initializer, optional
        The initializer of gamma.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Raises
    ------
    ValueError
        If channels are not a multiple of `num_groups`.

    Examples
    --------
    >>> from forerun import np
    >>> layer = GroupNorm(num_groups=2, epsilon=0)
    >>> layer.initialize()
    >>> layer(np.array([[1.0, 3.0, 0.0, 8.0]])).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """

    def __init__(
        self,
        num_groups: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Rule = "zeros",
        gamma_initializer: Rule = "ones",
        in_channels: int = 0,
    ) -> None:
        if num_groups < 1 or in_channels % num_groups:
            found = f"{in_channels} for {num_groups}"
            raise ValueError(f"GroupNorm: in_channels must be a multiple of num_groups, got {found}")
        super().__init__(1, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._num_groups = num_groups

    def infer_shape(self, x: Array) -> None:
        """Take in_channels from the data."""
        self._check(x)
        super().infer_shape(x)

    def _check(self, x: Array) -> None:
        channels = (self.gamma.shape or (-1,))[0]
        if x.ndim < 2 or x.shape[1] % self._num_groups or channels not in (-1, x.shape[1]):
            wanted = channels if channels != -1 else f"a multiple of {self._num_groups}"
            raise ValueError(f"GroupNorm: data must have {wanted} channels on axis 1, got shape {x.shape}")

    def forward(self, x: Array) -> Array:
        """Return x, normalised. Raises ValueError if its channels do not fit."""
        self._check(x)
        gamma, beta = self.gamma.data(x.device), self.beta.data(x.device)
        y: Array = npx.group_norm(x, gamma, beta, self._num_groups, self._epsilon)
        return y

    def __repr__(self) -> str:
        n = (self.gamma.shape or (-1,))[0]
        return f"GroupNorm(num_groups={self._num_groups}, eps={self._epsilon}, in_channels={n})"


class InstanceNorm(_Norm):
    """Gives each channel of each example mean 0 and variance 1, then times gamma, plus beta (Ulyanov et al., 2016).

    Data is (batch, ..., extents), with channels on `axis`.

    Parameters
    ----------
    axis : int, optional
        The axis of channels.
    epsilon : float, optional
        A small number added to the variance.
    center : bool, optional
        Whether beta is trained.
    scale : bool, optional
        Whether gamma is trained.
    beta_initializer : str or Initializer, optional
        The initializer of beta.
    gamma_initializer : str or Initializer, optional
        The initializer of gamma.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> layer = InstanceNorm(epsilon=0)
    >>> layer.initialize()
    >>> layer(np.array([[[1.0, 3.0], [0.0, 8.0]]])).tolist()
    [[[-1.0, 1.0], [-1.0, 1.0]]]
    """

    def __init__(
        self,
        axis: int = 1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = False,
        beta_initializer: Rule = "zeros",
        gamma_initializer: Rule = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels)

    def infer_shape(self, x: Array) -> None:
        """Take in_channels from the data."""
        self._check(x)
        super().infer_shape(x)

    def _check(self, x: Array) -> int:
        """Return the axis of channels, from 1 on."""
        if x.ndim < 3 or not -x.ndim < self._axis < x.ndim or self._axis == 0:
            wanted = f"3 axes or more, and channels on axis {self._axis}"
            raise ValueError(f"InstanceNorm: data must have {wanted}, got shape {x.shape}")
        channels, known = self._axis % x.ndim, (self.gamma.shape or (-1,))[0]
        if known not in (-1, x.shape[channels]):
            raise ValueError(f"InstanceNorm: data must have {known} channels, got shape {x.shape}")
        return channels

    def forward(self, x: Array) -> Array:
        """Return x, normalised along all axes but the first and the one of channels. ValueError if these do not fit."""
        channels = self._check(x)
        gamma, beta = self.gamma.data(x.device), self.beta.data(x.device)
        return npx.instance_norm(x, gamma, beta, self._epsilon, channels)
