"""Recurrent networks: layers over whole sequences, and cells of one step."""

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
from .layer import GRU as GRU
from .layer import LSTM as LSTM
from .layer import RNN as RNN
from .modified import ModifierCell as ModifierCell
from .modified import VariationalDropoutCell as VariationalDropoutCell
from .modified import ZoneoutCell as ZoneoutCell
