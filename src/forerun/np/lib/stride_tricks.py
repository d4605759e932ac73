"""Windows and broadcasting, in NumPy's names: `forerun.np.lib.stride_tricks`."""

from ..._display.namespaces import dir_of
from ...ops.shape.broadcast import broadcast_arrays as broadcast_arrays
from ...ops.shape.broadcast import broadcast_to as broadcast_to
from ...ops.signal.sliding import as_strided as as_strided
from ...ops.signal.sliding import sliding_window_view as sliding_window_view

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]
__dir__ = dir_of(__name__)
