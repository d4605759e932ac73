"""Each test, doctest and page begins with switches and random numbers as they are when a program starts.

A plugin rather than part of a conftest, since tests, docstrings and pages lie in three folders and run in one process.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import forerun
from forerun import _core, autograd, npx
from forerun.torch import grad
from tests.support.engine.settings import put_back


def _reset() -> None:
    _core.wait_mark(_core.mark())
    _core.unseen_failures()  # else a barrier of the next test would raise this one's unread errors
    npx.reset_np()
    _core.seed(0)  # else the numbers that a test draws would depend on which ones ran before it
    autograd.set_recording(False)
    autograd.set_training(False)
    grad._thread.__init__()  # type: ignore[misc]  # PyTorch's spelling: gradients were not used yet


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Switches, default dtypes and random numbers as at first, and settings put back, after any test."""
    before = forerun.config()
    _reset()
    yield
    _reset()
    if forerun.config() != before:
        put_back(before)
