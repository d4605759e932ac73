"""A plugin of pytest that keeps the StableHLO modules which the tests write, for compilers of other devices.

FORERUN_MODULES=folder pytest -p tests.support.pytest_plugins.module_collector tests/devices tests/pjrt
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from forerun._pjrt.builder import Builder

_module = Builder.module


def _kept(self: Builder, *arguments: Any, **options: Any) -> str:
    text = _module(self, *arguments, **options)
    folder = Path(os.environ["FORERUN_MODULES"])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.mlir").write_text(text)
    return text


def pytest_configure() -> None:
    """Keep the modules from now on: pytest has been given this plugin."""
    Builder.module = _kept  # type: ignore[method-assign]
