"""Cells of `gluon.rnn` that MXNet 1.x keeps in `gluon.contrib.rnn`."""

from ..rnn import Conv1DGRUCell as Conv1DGRUCell
from ..rnn import Conv1DLSTMCell as Conv1DLSTMCell
from ..rnn import Conv1DRNNCell as Conv1DRNNCell
from ..rnn import Conv2DGRUCell as Conv2DGRUCell
from ..rnn import Conv2DLSTMCell as Conv2DLSTMCell
from ..rnn import Conv2DRNNCell as Conv2DRNNCell
from ..rnn import Conv3DGRUCell as Conv3DGRUCell
from ..rnn import Conv3DLSTMCell as Conv3DLSTMCell
from ..rnn import Conv3DRNNCell as Conv3DRNNCell
from ..rnn import LSTMPCell as LSTMPCell
from ..rnn import VariationalDropoutCell as VariationalDropoutCell

__all__ = [
    "Conv1DGRUCell", "Conv1DLSTMCell", "Conv1DRNNCell", "Conv2DGRUCell", "Conv2DLSTMCell", "Conv2DRNNCell",
    "Conv3DGRUCell", "Conv3DLSTMCell", "Conv3DRNNCell", "LSTMPCell", "VariationalDropoutCell",
]  # fmt: skip
