"""Fourier transforms, in NumPy's names: `forerun.np.fft`."""

from ..ops.fourier import *  # noqa: F403
from ..ops.fourier import __all__ as __all__
