"""Layers that normalise: by the batch's statistics, or by each example's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import npx
from ...init import Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["BatchNorm", "BatchNormReLU", "SyncBatchNorm", "LayerNorm"]

Rule = str | Initializer | None


class _Norm(HybridBlock):
    """The base of norms: an axis, epsilon, and the parameters gamma and beta along that axis."""

    _automatic = True

    def __init__(self, axis: int, epsilon: float, center: bool, scale: bool, beta: Rule, gamma: Rule, n: int) -> None:
        super().__init__()
        self._axis = axis
        self._epsilon = epsilon
        self.gamma = _along_axis("gamma", n, gamma, scale)
        self.beta = _along_axis("beta", n, beta, center)

    def infer_shape(self, x: Array) -> None:
        """Take the extent along the axis from the data."""
        for parameter in self._params.values():
            parameter.shape = (x.shape[self._axis],)

    def __repr__(self) -> str:
        n = (self.gamma.shape or (-1,))[0]
        return f"{type(self).__name__}(axis={self._axis}, eps={self._epsilon}, in_channels={n})"


def _along_axis(name: str, n: int, rule: Rule, trained: bool) -> Parameter:
    return Parameter(name, shape=(n,), init=rule, allow_deferred_init=True, differentiable=trained)


class BatchNorm(_Norm):
    """Gives each channel mean 0 and variance 1 over the batch, then times gamma, plus beta (Ioffe and Szegedy, 2015).

    While training, the batch's own statistics are used, and running ones follow them: momentum * running +
    (1 - momentum) * batch. Otherwise the running ones are used.

    Parameters
    ----------
    axis : int, optional
        The axis of channels.
    momentum : float, optional
        The part of the running statistics that is kept.
    epsilon : float, optional
        A small number added to the variance.
    center : bool, optional
        Whether beta is trained.
    scale : bool, optional
        Whether gamma is trained; if not, 1 is used in its place, as in MXNet.
    use_global_stats : bool, optional
        Whether the running statistics are used while training as well.
    beta_initializer : str or Initializer, optional
        The initializer of beta.
    gamma_initializer : str or Initializer, optional
        The initializer of gamma.
    running_mean_initializer : str or Initializer, optional
        The initializer of the running mean.
    running_variance_initializer : str or Initializer, optional
        The initializer of the running variance.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import autograd, np
    >>> layer = BatchNorm(epsilon=0)
    >>> layer.initialize()
    >>> with autograd.record():
    ...     y = layer(np.array([[1.0], [3.0]]))
    >>> y.tolist()
    [[-1.0], [1.0]]
    """

    def __init__(
        self,
        axis: int = 1,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        use_global_stats: bool = False,
        beta_initializer: Rule = "zeros",
        gamma_initializer: Rule = "ones",
        running_mean_initializer: Rule = "zeros",
        running_variance_initializer: Rule = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels)
        self._momentum = momentum
        self._use_global_stats = use_global_stats
        self._scale = scale
        self.running_mean = _along_axis("running_mean", in_channels, running_mean_initializer, False)
        self.running_var = _along_axis("running_var", in_channels, running_variance_initializer, False)

    def forward(self, x: Array) -> Array:
        """Return x, normalised along all axes but the one of channels. Raises ValueError if x lacks that axis."""
        gamma, beta, mean, var = (
            p.data(x.device) for p in (self.gamma, self.beta, self.running_mean, self.running_var)
        )
        rules = not self._scale, self._use_global_stats
        y: Array = npx.batch_norm(x, gamma, beta, mean, var, self._epsilon, self._momentum, *rules, axis=self._axis)
        return y


class BatchNormReLU(BatchNorm):
    """`BatchNorm`, then max(x, 0).

    Parameters
    ----------
    axis : int, optional
        The axis of channels.
    momentum : float, optional
        The part of the running statistics that is kept.
    epsilon : float, optional
        A small number added to the variance.
    center : bool, optional
        Whether beta is trained.
    scale : bool, optional
        Whether gamma is trained; if not, 1 is used in its place, as in MXNet.
    use_global_stats : bool, optional
        Whether the running statistics are used while training as well.
    beta_initializer : str or Initializer, optional
        The initializer of beta.
    gamma_initializer : str or Initializer, optional
        The initializer of gamma.
    running_mean_initializer : str or Initializer, optional
        The initializer of the running mean.
    running_variance_initializer : str or Initializer, optional
        The initializer of the running variance.
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> layer = BatchNormReLU(epsilon=0)
    >>> layer.initialize()
    >>> layer(np.array([[1.0], [-3.0]])).tolist()
    [[1.0], [0.0]]
    """

    def forward(self, x: Array) -> Array:
        """Return x, normalised, and 0 where that is negative."""
        return npx.relu(super().forward(x))


class SyncBatchNorm(BatchNorm):
    """`BatchNorm` over channels on axis 1, on one device.

    Statistics over the parts of a batch on several devices would have to be known before the second device's part is
    issued. `BatchNorm` takes each part's own.

    Parameters
    ----------
    in_channels : int, optional
        The number of channels of the data; 0 is inferred from the first data.
    num_devices : int, optional
        1 or None.
    **settings : object
        Arguments of `BatchNorm`.

    Raises
    ------
    NotImplementedError
        For several devices.

    Examples
    --------
    >>> from forerun import np
    >>> norm = SyncBatchNorm(in_channels=3)
    >>> norm.initialize()
    >>> norm(np.ones((2, 3, 4, 4))).shape
    (2, 3, 4, 4)
    """

    def __init__(self, in_channels: int = 0, num_devices: int | None = None, **settings: Any) -> None:
        if num_devices not in (None, 1):
            raise NotImplementedError(f"SyncBatchNorm: num_devices must be 1, got {num_devices}")
        super().__init__(in_channels=in_channels, **settings)


class LayerNorm(_Norm):
    """Gives each example mean 0 and variance 1 along an axis, then times gamma, plus beta (Ba et al., 2016).

    Parameters
    ----------
    axis : int, optional
        The axis.
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
        The extent of the axis; 0 is inferred from the first data.

    Examples
    --------
    >>> from forerun import np
    >>> layer = LayerNorm(epsilon=0)
    >>> layer.initialize()
    >>> layer(np.array([[1.0, 3.0]])).tolist()
    [[-1.0, 1.0]]
    """

    def __init__(
        self,
        axis: int = -1,
        epsilon: float = 1e-5,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Rule = "zeros",
        gamma_initializer: Rule = "ones",
        in_channels: int = 0,
    ) -> None:
        super().__init__(axis, epsilon, center, scale, beta_initializer, gamma_initializer, in_channels)

    def forward(self, x: Array) -> Array:
        """Return x, normalised along the axis. Raises IndexError if x lacks it."""
        gamma, beta = self.gamma.data(x.device), self.beta.data(x.device)
        y: Array = npx.layer_norm(x, gamma, beta, axis=self._axis, eps=self._epsilon)
        return y
