"""The computation of each kind of node of ONNX: functions of a namespace, the node's attributes, and its inputs.

The namespace is forerun's, or NumPy's where all inputs are known before a run: shapes are computed this way, without a
wait. Inputs that are left out are None.
"""

from . import elements as elements
from . import layers as layers
from . import recurrent as recurrent
from . import shapes as shapes
from . import sums as sums
from .registry import FOLLOWED as FOLLOWED
from .registry import NODES as NODES

__all__ = ["FOLLOWED", "NODES"]
