"""Fourier transforms, in NumPy's names: `forerun.np.fft`."""

from ..ops.signal.fourier import *  # noqa: F403
from ..ops.signal.fourier import __all__ as __all__
