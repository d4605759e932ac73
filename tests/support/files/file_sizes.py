"""Sizes of arrays for tests of files."""

SOME = 300_000  # elements: more than are read or written at once
