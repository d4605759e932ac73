"""The plugins that modules are run on: every case on one of them, and some of each operation on the others.

A plugin compiles each module anew, which takes nearly all of the time. Another version of a plugin may refuse the text
of an operation, which the dtypes of one kind have in common: floats, integers, complex numbers, bools.
`make gpu-tests` runs every case on each plugin.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.device_plugins.devices import NAME
from tests.support.device_plugins.pjrt_plugin import Plugin, paths, plugin_of
from tests.support.device_plugins.plugins import FILES, fake_gpu, plugin_file

HERE = f"{Path(__file__).parent}{os.sep}"
OF_DTYPES = {"dtype", "source", "exponent"}  # parameters that are names of dtypes
ALL = "FORERUN_PJRT_TEST_PLUGINS" in os.environ


@pytest.fixture(params=paths() or [None], ids=lambda path: path.stem if path else "none")
def plugin(request: pytest.FixtureRequest) -> Plugin:
    """Each plugin that is installed for tests."""
    path: Path | None = request.param
    if path is None:
        pytest.skip("no PJRT plugin: pip install --no-deps --target build/plugins/xla-cpu-pjrt xla-cpu-pjrt")
    return plugin_of(path)


@pytest.fixture(scope="session", autouse=True)
def opened() -> None:
    """Open plugins of GPUs before the first test, which would leave the files behind that they keep open."""
    for path in paths() if ALL else []:
        plugin_of(path)


@pytest.fixture(params=list(FILES))
def file_of_plugin(request: pytest.FixtureRequest) -> Path:
    """The library of each plugin that `make plugins` knows."""
    return plugin_file(request.param)


@pytest.fixture(scope="session")
def library() -> Path:
    """The device that behaves like one far away, over a plugin for processors."""
    plugin_file("xla-cpu-pjrt")
    return fake_gpu()


def main_plugin() -> Path | None:
    """Return the plugin that gets every case."""
    return next((path for path in paths() if NAME in path.parts), next(iter(paths()), None))


def operation_of(item: pytest.Function) -> tuple[object, ...]:
    """Return the test with its parameters, and with kinds of dtypes in place of these."""
    given = {name: value if isinstance(value, str) else repr(value) for name, value in item.callspec.params.items()}
    kinds = {name: given[name].strip("ub0123456789") for name in OF_DTYPES & given.keys()}
    return item.path, item.originalname, *sorted((given | kinds).items())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave one case of each operation and kind of dtype to the plugins that do not get every case."""
    seen: set[tuple[object, ...]] = set()
    left_out: list[pytest.Item] = []
    main = main_plugin()
    for item in items if not ALL else []:
        if not str(item.path).startswith(HERE):
            continue  # as nearly all do, which Path.parents would take long to tell
        if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
            continue
        path = item.callspec.params.get("plugin")
        if not isinstance(path, Path) or path == main:
            continue
        if (operation := operation_of(item)) in seen:
            left_out.append(item)
        seen.add(operation)
    config.hook.pytest_deselected(items=left_out)
    dropped = set(left_out)
    items[:] = [item for item in items if item not in dropped]
