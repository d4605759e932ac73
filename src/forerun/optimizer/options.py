"""The message for an option that an optimizer does not have."""

from __future__ import annotations

import inspect

__all__ = ["unknown_option"]

_OTHER_NAMES = {"lr": "learning_rate", "weight_decay": "wd", "betas": "beta1 and beta2", "eps": "epsilon"}  # PyTorch's


def unknown_option(kind: type, name: str) -> str:
    """Return the message for an option that an optimizer does not have."""
    if name in _OTHER_NAMES:
        return f"{kind.__name__}: got an unknown option {name!r}; it is called {_OTHER_NAMES[name]} here"
    import difflib

    options = {key for base in kind.__mro__[:-1] for key in inspect.signature(base).parameters}
    near = difflib.get_close_matches(name, options - {"unknown", "args", "kwargs"}, 1, 0.75)
    return f"{kind.__name__}: got an unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
