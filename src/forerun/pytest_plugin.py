"""A plugin of pytest: a test fails if an operation that it has issued fails, and nothing reads the error.

Asynchronous errors are raised where a result is read. A test that reads none of the results passes, although the
program is wrong; at exit the error is reported, but pytest has its own exit status by then. With the plugin

    pytest_plugins = ["forerun.pytest_plugin"]          # in conftest.py, or: pytest -p forerun.pytest_plugin

each test waits for its operations, and fails with the errors and the lines that issued them. A test for which unread
errors are intended is marked with `@pytest.mark.unread_errors`. The fixture `forerun_engine` runs a test with the
asynchronous and with the synchronous engine.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from ._display.namespaces import dir_of
from ._runtime.settings import config, configure
from .testing import unread_errors

__all__ = ["forerun_engine"]
__dir__ = dir_of(__name__, "pytest_configure", "pytest_runtest_call")  # pytest finds its hooks by dir()


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "unread_errors: operations may fail without a read of their errors")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test, and fail if errors of its operations are left."""
    unread_errors()  # errors of fixtures and of earlier tests do not count
    try:
        result = yield
    finally:
        left = unread_errors()
    if left and item.get_closest_marker("unread_errors") is None:
        pytest.fail(_message(left), pytrace=False)
    return result


def _message(errors: list[str]) -> str:
    count = "1 operation has" if len(errors) == 1 else f"{len(errors)} operations have"
    return "\n".join([f"{count} failed, and the test reads no result of it:", *(f"  {each}" for each in errors)])


@pytest.fixture(params=["async", "sync"])
def forerun_engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each engine: "async", and "sync", in which every call computes its result, so that errors come at their line."""
    before = config()["engine"]
    configure(engine=request.param)
    yield request.param
    configure(engine=before)
