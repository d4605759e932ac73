"""The pages' code runs with the engine and the tape as they are when a program starts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import forerun
from forerun import autograd, npx


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Settings, recording and default dtypes, as they are at first; and put back, whatever a page did."""
    before = forerun.config()
    recording, training = autograd.set_recording(False), autograd.set_training(False)
    npx.reset_np()
    yield
    npx.reset_np()
    autograd.set_recording(recording)
    autograd.set_training(training)
    forerun.configure(**before)
