"""Which gradients a trainer's steps have used: those that have not been written since are stale."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ...ops._base import core as _core

if TYPE_CHECKING:
    from .collectives import Copies

__all__ = ["UsedGradients"]


class UsedGradients:
    """The versions of gradients when a step last used them; -1 for those that no step has used."""

    def __init__(self) -> None:
        self._params: list[Copies] = []
        self._arrays: list[Any] = []  # all copies of all parameters, and their versions
        self._versions: list[int] = []
        self._now: list[int] = []  # as stale() has found them

    def follow(self, params: list[Copies]) -> None:
        """Watch these parameters from now on; known versions of their gradients are kept."""
        known = dict(zip(((i, k) for i, copies in self._params for k in range(len(copies))), self._versions))
        self._params, self._arrays = params, [x for _, copies in params for x in copies]
        self._versions = [known.get((i, k), -1) for i, copies in params for k in range(len(copies))]

    def stale(self) -> list[int]:
        """Return the numbers of parameters of which a gradient has not been written since a step used it."""
        now = self._now = _core.gradient_versions(self._arrays)
        if not any(map(operator.eq, now, self._versions)):
            return []
        return [i for i, new, old in zip(self._numbers(), now, self._versions) if new == old]

    def used(self, params: list[Copies], *, written: bool = True) -> None:
        """Note that a step uses the gradients of these parameters as they are now.

        written: the step itself may have written gradients since it called stale().
        """
        now = _core.gradient_versions(self._arrays) if written else self._now
        if params is not self._params:
            some = {i for i, _ in params}
            now = [new if i in some else old for i, new, old in zip(self._numbers(), now, self._versions)]
        self._versions = now

    def _numbers(self) -> list[int]:
        return [i for i, copies in self._params for _ in copies]
