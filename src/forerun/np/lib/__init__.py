"""Names that NumPy has in `lib` alone: `forerun.np.lib`."""

from ..._display.namespaces import dir_of
from . import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
__dir__ = dir_of(__name__)
