"""NumPy's OpenBLAS is loaded so that its threads sleep soon: they read how long they spin when NumPy is imported."""

from __future__ import annotations

import pytest

from tests.support.processes.subprocesses import execute

WATCH = """
import os, sys
class Watch:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
sys.meta_path.insert(0, Watch())
"""
AFTER = 'import os; print(os.environ.get("OPENBLAS_THREAD_TIMEOUT"))\n'


@pytest.mark.parametrize(
    ("early", "more", "words"),
    [
        ("", {}, ["16", "None"]),
        ("", {"OPENBLAS_THREAD_TIMEOUT": "20"}, ["20", "20"]),
        ("import numpy\n", {}, ["None", "None"]),
    ],
    ids=["forerun first", "set by the user", "NumPy first"],
)
def test_numpy_is_imported_with_short_spinning_and_the_environment_is_restored(early, more, words):
    done = execute(AFTER, early=WATCH + early, **more)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == words
