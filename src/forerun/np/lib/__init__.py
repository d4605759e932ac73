"""Names that NumPy has in `lib` alone: `forerun.np.lib`."""

from . import stride_tricks as stride_tricks
