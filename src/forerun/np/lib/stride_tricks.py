"""Windows and broadcasting, in NumPy's names: `forerun.np.lib.stride_tricks`."""

from ...ops.shape.broadcast import broadcast_arrays as broadcast_arrays
from ...ops.shape.broadcast import broadcast_to as broadcast_to
from ...ops.signal.sliding import as_strided as as_strided
from ...ops.signal.sliding import sliding_window_view as sliding_window_view
