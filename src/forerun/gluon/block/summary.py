"""A table of a network's layers: the output of each, and the number of its own parameters."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import autograd
from ..._display.notebook import Shown, table
from ..._runtime import core as _core
from ..parameter.parameter import Parameter

if TYPE_CHECKING:
    from ...typing import Array, ArrayLike
    from .block import Block

__all__ = ["summary"]

_WIDTHS = (28, 34, 16)


class _Row(NamedTuple):
    name: str
    shape: str
    params: list[Parameter]
    shared: list[Parameter]  # of them, those that a row before has, too


def summary(block: Block, inputs: tuple[Any, ...]) -> Shown:
    """Return the table, as text, which a notebook shows as HTML.

    A row for each call of a block, in the order in which they end.
    `forward` runs once as written, as if predicting; its operations are not waited for. Parameters that wait for their
    shapes get them. RuntimeError for parameters that are not initialised.
    """
    rows = [_Row("Input", _shapes(inputs if len(inputs) != 1 else inputs[0]), [], [])]
    seen: set[int] = set()

    def note(called: Block, args: object, result: Array) -> None:
        own = list({id(p): p for p in called.params.values()}.values())
        shared = [p for p in own if id(p) in seen]
        seen.update(map(id, own))
        rows.append(_Row(f"{type(called).__name__}-{len(rows)}", _shapes(result), own, shared))

    blocks = list({id(b): b for b in block._tree()}.values())
    hooks = [b.register_forward_hook(note) for b in blocks]
    try:
        with autograd.pause():
            block(*inputs)
    finally:
        for hook in hooks:
            hook.detach()
    totals = _totals(rows, block)
    return Shown("\n".join(_lines(rows, totals)), _html(rows, totals))


def _totals(rows: list[_Row], block: Block) -> tuple[int, int, int, int]:
    """Return the numbers of all parameters, of trained ones, and of shared ones, without counting any twice."""
    every = [p for row in rows for p in row.params]
    trained = _count([p for p in every if p.grad_req != "null"])
    shared = _count([p for row in rows for p in row.shared])
    return _count(every), trained, shared, _count(block.collect_params().distinct())


def _html(rows: list[_Row], totals: tuple[int, int, int, int]) -> str:
    every, trained, _, unique = totals
    cells = [(row.name, row.shape, f"{_count(row.params):,}") for row in rows]
    note = f"{every:,} parameters, {trained:,} trainable" + (f", {unique:,} unique" if unique != every else "")
    return table(("layer", "output shape", "parameters"), cells, note)


def _lines(rows: list[_Row], totals: tuple[int, int, int, int]) -> Iterator[str]:
    def line(*cells: object) -> str:
        return "".join(f"{c:>{w}}" for c, w in zip(cells, _WIDTHS))

    thin, thick = "-" * sum(_WIDTHS), "=" * sum(_WIDTHS)
    yield from (thin, line("Layer (type)", "Output Shape", "Param #"), thick)
    for row in rows:
        yield line(row.name, row.shape, str(_count(row.params)))
    every, trained, shared, unique = totals
    yield from (thick, "Parameters in forward computation graph, duplicate included")
    yield f"   Total params: {every}"
    yield f"   Trainable params: {trained}"
    yield f"   Non-trainable params: {every - trained}"
    yield f"Shared params in forward computation graph: {shared}"
    yield f"Unique parameters in model: {unique}"
    yield thin


def _count(params: list[Parameter]) -> int:
    return sum(math.prod(p.shape) for p in params if p.shape is not None and -1 not in p.shape)


def _shapes(value: ArrayLike) -> str:
    if isinstance(value, _core.Array):
        return str(value.shape)
    if isinstance(value, (tuple, list)):
        return "[" + ", ".join(map(_shapes, value)) + "]"
    return type(value).__name__
