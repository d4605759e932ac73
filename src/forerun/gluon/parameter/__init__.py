"""Parameters: arrays that training changes, by name.

`changes`, which tells programs and trainers that something is another now; `deferred`, shapes that are not known yet;
`parameter`; `loading`, values from files; `constant`; `dictionary`; `sharing`, between blocks.
"""

from .constant import Constant as Constant
from .deferred import DeferredInitializationError as DeferredInitializationError
from .deferred import UninitializedError as UninitializedError
from .dictionary import ParameterDict as ParameterDict
from .parameter import Parameter as Parameter

__all__ = ["Constant", "DeferredInitializationError", "Parameter", "ParameterDict", "UninitializedError"]
