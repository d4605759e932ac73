"""Importing `forerun.torch` changes nothing that NumPy defines."""

from __future__ import annotations

from tests.support.processes.subprocesses import output

# The members of the array class that NumPy names, with their parameters: before and after the import.
PROGRAM = """
import inspect

import numpy
import forerun
from forerun import np


def members():
    found = {}
    for name in dir(numpy.ndarray):
        member = inspect.getattr_static(np.ndarray, name, None)
        try:
            parameters = str(inspect.signature(getattr(np.ndarray, name)))
        except (AttributeError, TypeError, ValueError):
            parameters = ""
        found[name] = member, parameters
    return found


def refused(call):
    try:
        call()
    except TypeError:
        return True
    return False


x = np.ones((2, 3))
foreign = [lambda: x.sum(dim=1), lambda: x.max(dim=1, keepdim=True), lambda: x.view(3, 2), lambda: x.view((3, 2))]
assert all(map(refused, foreign))
before, functions = members(), dict(vars(np))
from forerun import torch

after = members()
changed = {name for name in before if before[name][0] is not after[name][0] or before[name][1] != after[name][1]}
assert changed == {"data"}, changed
assert before["data"][0] is None  # NumPy's is a buffer: without the import arrays lack it
assert not [name for name, value in functions.items() if vars(np)[name] is not value]
assert not any(map(refused, foreign))
assert x.sum(dim=1).tolist() == [3, 3]
assert x.max(dim=1, keepdim=True).indices.shape == (2, 1)
assert x.view(3, 2).shape == x.view((3, 2)).shape == (3, 2)
assert x.view("int32").dtype == "int32"
assert refused(lambda: x.sum(axes=1))
"""


def test_methods_are_the_same_objects_with_the_same_parameters() -> None:
    assert output(PROGRAM) == []
