"""Prints how many requests were refused, and how many calls raised MemoryError for it."""

import pathlib
import tempfile

from stress.faults import compiled_refusals, run_refusals

with tempfile.TemporaryDirectory() as folder:
    for name, refused, raised in run_refusals(compiled_refusals(pathlib.Path(folder))):
        print(f"{name}: {refused} requests refused, {raised} calls raised MemoryError, no other effect", flush=True)
