"""Activations with settings of their own, or with parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import np, npx
from ...init import Constant, Initializer
from ..block.hybrid import HybridBlock
from ..parameter.parameter import Parameter

if TYPE_CHECKING:
    from ...typing import Array

__all__ = ["LeakyReLU", "PReLU", "ELU", "SELU", "GELU", "SiLU", "Swish"]

_QUARTER = Constant(0.25)


class LeakyReLU(HybridBlock):
    """Returns x where it is positive, alpha * x elsewhere.

    Parameters
    ----------
    alpha : float
        The factor.

    Raises
    ------
    ValueError
        If it is negative.

    Examples
    --------
    >>> from forerun import np
    >>> LeakyReLU(0.5)(np.array([-4.0, 2.0])).tolist()
    [-2.0, 2.0]
    """

    def __init__(self, alpha: float) -> None:
        super().__init__()
        if alpha < 0:
            raise ValueError(f"LeakyReLU: alpha must not be negative, got {alpha}")
        self._alpha = alpha

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return npx.leaky_relu(x, self._alpha)

    def __repr__(self) -> str:
        return f"LeakyReLU({self._alpha})"


class PReLU(HybridBlock):
    """Returns x where it is positive, alpha * x elsewhere, where alpha is trained (He et al., 2015).

    Parameters
    ----------
    alpha_initializer : str or Initializer, optional
        The initializer of alpha.
    in_channels : int, optional
        1 for one alpha, or one for each channel on axis 1: data must have that many.

    Examples
    --------
    >>> from forerun import np
    >>> layer = PReLU()
    >>> layer.initialize()
    >>> layer(np.array([-4.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, alpha_initializer: str | Initializer = _QUARTER, in_channels: int = 1) -> None:
        super().__init__()
        if in_channels < 1:
            raise ValueError(f"PReLU: in_channels must be positive, got {in_channels}")
        self.alpha = Parameter("alpha", shape=(in_channels,), init=alpha_initializer)

    def forward(self, x: Array) -> Array:
        """Return the function of each element. ValueError if x lacks the channels."""
        alpha = self.alpha.data(x.device)
        if alpha.size > 1:
            if x.ndim < 2 or x.shape[1] != alpha.size:
                raise ValueError(f"PReLU: data must have {alpha.size} channels on axis 1, got shape {x.shape}")
            alpha = alpha.reshape((-1, *(1,) * (x.ndim - 2)))
        return np.where(x > 0, x, alpha * x)

    def __repr__(self) -> str:
        return f"PReLU({(self.alpha.shape or (-1,))[0]})"


class ELU(HybridBlock):
    """Returns x where it is positive, alpha * (exp(x) - 1) elsewhere (Clevert et al., 2015).

    Parameters
    ----------
    alpha : float, optional
        The factor.

    Examples
    --------
    >>> from forerun import np
    >>> ELU(0.5)(np.array([-1000.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(self, alpha: float = 1.0) -> None:
        super().__init__()
        self._alpha = alpha

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return npx.elu(x, self._alpha)

    def __repr__(self) -> str:
        return f"ELU({self._alpha})"


class SELU(HybridBlock):
    """The self-normalising ELU (Klambauer et al., 2017).

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> SELU()(np.array([0.0, 1.0]))
    array([0.      , 1.050701])
    """

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return npx.selu(x)


class GELU(HybridBlock):
    """Gaussian error linear unit: x * Phi(x) (Hendrycks and Gimpel, 2016).

    Parameters
    ----------
    approximation : {"erf", "tanh"}, optional
        Whether the share is computed itself, or by the approximation of `npx.gelu`.

    Raises
    ------
    ValueError
        For another word.

    Examples
    --------
    >>> from forerun import np
    >>> GELU()(np.array([0.0, 10.0])).tolist()
    [0.0, 10.0]
    """

    def __init__(self, approximation: str = "erf") -> None:
        super().__init__()
        if approximation not in ("erf", "tanh"):
            raise ValueError(f'GELU: approximation must be "erf" or "tanh", got {approximation!r}')
        self._approximation = approximation

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return npx.gelu(x) if self._approximation == "tanh" else 0.5 * x * (1 + npx.erf(x * 0.5**0.5))

    def __repr__(self) -> str:
        return f"GELU({self._approximation})"


class Swish(HybridBlock):
    """Returns x * sigmoid(beta * x) (Ramachandran et al., 2017).

    Parameters
    ----------
    beta : float, optional
        The factor inside of the sigmoid.

    Examples
    --------
    >>> from forerun import np
    >>> Swish(2.0)(np.array([0.0, 100.0])).tolist()
    [0.0, 100.0]
    """

    def __init__(self, beta: float = 1.0) -> None:
        super().__init__()
        self._beta = beta

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return x * npx.sigmoid(self._beta * x)

    def __repr__(self) -> str:
        return f"Swish({self._beta})"


class SiLU(HybridBlock):
    """Returns x * sigmoid(x) (Elfwing et al., 2017).

    Parameters
    ----------
    prefix : str, optional
        The name, as for `Block`.
    params : ParameterDict, optional
        The parameters of another block to share, as for `Block`.

    Examples
    --------
    >>> from forerun import np
    >>> SiLU()(np.array([0.0, 100.0])).tolist()
    [0.0, 100.0]
    """

    def forward(self, x: Array) -> Array:
        """Return the function of each element."""
        return npx.silu(x)
