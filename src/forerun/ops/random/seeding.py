"""The stream of random numbers: its seed and its state."""

from __future__ import annotations

import os
from typing import Any

from .._base import core as _core

__all__ = ["seed", "get_state", "set_state"]


def seed(seed: int | None = None) -> None:
    """Seed the stream of random numbers: after the same seed the same calls give the same numbers.

    None: anywhere, from the system's randomness.

    Parameters
    ----------
    seed : int or sequence of ints, optional
        The seed; None for one of the system's randomness.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.seed(1); a = np.random.normal(size=3)
    >>> np.random.seed(1); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    """
    _core.seed((int.from_bytes(os.urandom(8)) if seed is None else int(seed)) & (2**64 - 1))


def get_state(legacy: bool = True) -> dict[str, Any]:
    """Return the state of the stream: its seed, and the number of operations that have drawn from it.

    Parameters
    ----------
    legacy : bool, optional
        Has no effect.

    Returns
    -------
    dict
        The state of the stream.

    Examples
    --------
    >>> from forerun import np
    >>> state = np.random.get_state(); a = np.random.normal(size=3)
    >>> np.random.set_state(state); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    """
    return {"bit_generator": "ChaCha8", "seed": _core.random_seed(), "drawn": _core.random_drawn()}


def set_state(state: dict[str, Any]) -> None:
    """Restore a state of the stream from `get_state`.

    Parameters
    ----------
    state : dict
        A state that `get_state` returned.

    Raises
    ------
    ValueError
        For the state of another kind of generator.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.set_state(np.random.get_state())
    """
    if not isinstance(state, dict) or set(state) != {"bit_generator", "seed", "drawn"}:
        raise ValueError(f"set_state: state must be what get_state gave, got {type(state).__name__}")
    _core.seed(state["seed"], state["drawn"])
