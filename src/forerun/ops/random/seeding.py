"""The stream of random numbers: its seed and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._base import core as _core
from .._base.random_stream import seed_word

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["seed", "get_state", "set_state"]


def seed(seed: ArrayLike | None = None) -> None:
    """Seed the stream of random numbers: after the same seed the same calls give the same numbers.

    Of an integer the lowest 64 bits count. Integers of a sequence all count, mixed by NumPy's `SeedSequence`, so
    `seed([1])` differs from `seed(1)`.

    Parameters
    ----------
    seed : int or array_like, optional
        An integer, or integers along one axis, of which none is negative. None takes a seed from the system's
        randomness.

    Raises
    ------
    TypeError
        If the seed is something else than integers.
    ValueError
        If a sequence is empty, has more than one axis, or holds a negative number.

    Examples
    --------
    >>> from forerun import np
    >>> np.random.seed(1); a = np.random.normal(size=3)
    >>> np.random.seed(1); b = np.random.normal(size=3)
    >>> (a == b).all().item()
    True
    >>> np.random.seed([2026, 11])
    """
    _core.seed(seed_word(seed))


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
        raise ValueError(f"set_state: state must be the state of a generator, got {type(state).__name__}")
    _core.seed(state["seed"], state["drawn"])
