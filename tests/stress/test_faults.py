"""Refused memory and threads: no refused request ends the process, changes a value, or hangs."""

from __future__ import annotations

import pathlib

import pytest

from stress.faults import compiled_refusals, run_refusals


@pytest.fixture(scope="module")
def refusing(tmp_path_factory) -> pathlib.Path:
    return compiled_refusals(tmp_path_factory.mktemp("faults"))


SHARES = [f"{part}:{i}/4" for part in ("forward", "gradient") for i in range(4)]  # each ends within a minute or so


@pytest.mark.parametrize(("part", "each", "least"), [*((share, 8, 250) for share in SHARES), ("programs", 2, 100)])
def test_each_request_may_be_refused(refusing, part, each, least):
    ((name, refused, raised),) = run_refusals(refusing, part, each=each)  # `make faults` refuses all of them
    assert name == part
    assert least < int(refused)
    assert 0 < int(raised) < int(refused)  # some are done without
