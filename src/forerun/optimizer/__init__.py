"""Optimizers: how gradients change parameters.

Updates are ordinary operations in place: they are issued, run when the gradient is computed, and never wait. Factors
that change from step to step without depending on values (learning rates, bias corrections) are computed in Python.

>>> from forerun import np, optimizer
>>> sgd = optimizer.create("sgd", learning_rate=0.5)
>>> w, g = np.ones(2), np.ones(2)
>>> state = sgd.create_state(0, w)
>>> sgd.update(0, w, g, state)
>>> w.tolist()
[0.5, 0.5]
"""

from .._display.namespaces import dir_of
from .adam import AdaBelief as AdaBelief
from .adam import Adam as Adam
from .adam import Adamax as Adamax
from .adam import AdamW as AdamW
from .adam import Nadam as Nadam
from .adaptive import FTML as FTML
from .adaptive import AdaDelta as AdaDelta
from .adaptive import AdaGrad as AdaGrad
from .adaptive import Ftrl as Ftrl
from .adaptive import RMSProp as RMSProp
from .base import Item as Item
from .base import Optimizer as Optimizer
from .base import State as State
from .base import create as create
from .base import register as register
from .layerwise import LAMB as LAMB
from .layerwise import LANS as LANS
from .layerwise import LARS as LARS
from .sgd import DCASGD as DCASGD
from .sgd import NAG as NAG
from .sgd import SGD as SGD
from .sgd import SGLD as SGLD
from .sgd import Signum as Signum
from .updater import Updater as Updater
from .updater import get_updater as get_updater

__all__ = [
    "Optimizer", "SGD", "NAG", "Adam", "AdamW", "LAMB", "RMSProp", "AdaGrad", "AdaDelta", "Ftrl", "Signum", "LARS",
    "LANS", "SGLD", "FTML", "Nadam", "Adamax", "DCASGD", "AdaBelief", "Updater", "create", "get_updater", "register",
]  # fmt: skip
__dir__ = dir_of(__name__)

for _kind in (
    SGD, NAG, Adam, AdamW, LAMB, RMSProp, AdaGrad, AdaDelta, Ftrl, Signum, LARS, LANS, SGLD, FTML, Nadam, Adamax,
    DCASGD, AdaBelief,
):  # fmt: skip
    register(_kind)
