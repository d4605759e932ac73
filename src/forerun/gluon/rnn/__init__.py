"""Recurrent networks: layers over whole sequences, and cells of one step."""

from ..._display.namespaces import dir_of
from .cell import GRUCell as GRUCell
from .cell import HybridRecurrentCell as HybridRecurrentCell
from .cell import LSTMCell as LSTMCell
from .cell import RecurrentCell as RecurrentCell
from .cell import RNNCell as RNNCell
from .combined import BidirectionalCell as BidirectionalCell
from .combined import DropoutCell as DropoutCell
from .combined import HybridSequentialRNNCell as HybridSequentialRNNCell
from .combined import ResidualCell as ResidualCell
from .combined import SequentialRNNCell as SequentialRNNCell
from .convolved import Conv1DGRUCell as Conv1DGRUCell
from .convolved import Conv1DLSTMCell as Conv1DLSTMCell
from .convolved import Conv1DRNNCell as Conv1DRNNCell
from .convolved import Conv2DGRUCell as Conv2DGRUCell
from .convolved import Conv2DLSTMCell as Conv2DLSTMCell
from .convolved import Conv2DRNNCell as Conv2DRNNCell
from .convolved import Conv3DGRUCell as Conv3DGRUCell
from .convolved import Conv3DLSTMCell as Conv3DLSTMCell
from .convolved import Conv3DRNNCell as Conv3DRNNCell
from .layer import GRU as GRU
from .layer import LSTM as LSTM
from .layer import RNN as RNN
from .modified import ModifierCell as ModifierCell
from .modified import VariationalDropoutCell as VariationalDropoutCell
from .modified import ZoneoutCell as ZoneoutCell
from .projected import LSTMPCell as LSTMPCell

__all__ = [
    "BidirectionalCell", "Conv1DGRUCell", "Conv1DLSTMCell", "Conv1DRNNCell", "Conv2DGRUCell", "Conv2DLSTMCell",
    "Conv2DRNNCell", "Conv3DGRUCell", "Conv3DLSTMCell", "Conv3DRNNCell", "DropoutCell", "GRU", "GRUCell",
    "HybridRecurrentCell", "HybridSequentialRNNCell", "LSTM", "LSTMCell", "LSTMPCell", "ModifierCell",
    "RecurrentCell", "ResidualCell", "RNN", "RNNCell", "SequentialRNNCell", "VariationalDropoutCell",
    "ZoneoutCell",
]  # fmt: skip
__dir__ = dir_of(__name__)
