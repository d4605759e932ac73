"""Sizes of arrays for tests of files."""

LARGE = 300_000  # elements: more than are read or written at once
