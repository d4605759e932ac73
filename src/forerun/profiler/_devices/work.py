"""Costs of devices of plugins beside their work: modules that are compiled, and operations that run on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from ..._runtime import core as _core
from ..events import Compiled, OnHost

__all__ = ["Counts", "counts", "encoded", "parsed", "since", "split"]

COMPILED, ON_HOST = "c", "h"
Counts: TypeAlias = Mapping[tuple[str, str, str, int], tuple[int, float]]
"""By kind, operation, file and line: how many, and seconds."""


def counts() -> Counts:
    """Return the counts since the process began."""
    found = {(COMPILED, name, file, line): (n, took) for name, file, line, n, took in _core.compiled_modules()}
    return found | {(ON_HOST, name, file, line): (n, 0.0) for name, file, line, n in _core.fallback_counts()}


def since(before: Counts) -> Counts:
    """Return the additions to the counts since they were `before`."""
    found = {}
    for key, (n, took) in counts().items():
        was, had = before.get(key, (0, 0.0))
        if n != was:
            found[key] = (n - was, took - had) if n > was else (n, took)  # fewer: they were set to 0 meanwhile
    return found


def encoded(found: Counts) -> list[tuple[str, int, str]]:
    """Return counts as rows of a recording: a letter, a number, and a text.

    >>> encoded({("c", "add", "a b.py", 7): (2, 0.25)})
    [('c', 2, '0.250000\\t7\\tadd\\ta b.py')]
    """
    return [(kind, n, f"{took:.6f}\t{line}\t{name}\t{file}") for (kind, name, file, line), (n, took) in found.items()]


def parsed(rows: Iterable[tuple[str, int, str]]) -> Counts:
    """Return the counts of such rows.

    >>> parsed([("c", 2, "0.250000\\t7\\tadd\\ta b.py")])
    {('c', 'add', 'a b.py', 7): (2, 0.25)}
    """
    found = {}
    for kind, n, text in rows:
        took, line, name, file = text.split("\t", 3)
        found[kind, name, file, int(line)] = n, float(took)
    return found


def split(found: Counts) -> tuple[list[Compiled], list[OnHost]]:
    """Return both kinds; first the row that took longest, or happened most often."""
    compiled, on_host = [], []
    for (kind, name, file, line), (n, took) in found.items():
        site = (file, line) if line else None
        if kind == COMPILED:
            compiled.append(Compiled(name, site, n, took))
        else:
            on_host.append(OnHost(name, site, n))
    return sorted(compiled, key=lambda x: -x.seconds), sorted(on_host, key=lambda x: -x.times)
