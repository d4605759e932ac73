"""Several operations as one module."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from forerun._pjrt.program import Slot, Step, arguments_of, emit_program, results_of
from forerun._pjrt.spec import Operand, Output, Spec
from tests.support.device_plugins.pjrt_plugin import Plugin

N = 4


def unary(name: str, source: int, target: int) -> Step:
    x, y = Operand.dense("float32", (N,)), Output.dense("float32", (N,))
    return Step(Spec("elementwise", name, (x,), (y,), {"types": ("float32",) * 2}), (source,), (target,))


def scaled(source: int, factor: int, target: int, mode: str = "write") -> Step:
    """target = source * factor, or the second half of it."""
    n, offset = (N, 0) if mode == "write" else (N // 2, 2 * N)
    x = Operand("float32", (n,), (4,), offset, "float32", N)
    out = Output("float32", (n,), (4,), offset, "float32", N, mode=mode)
    types = {"types": ("float32",) * 3}
    return Step(
        Spec("elementwise", "multiply", (x, Operand.number("float32")), (out,), types), (source, factor), (target,)
    )


def slots(kept: set[int], count: int = 4, scalars: tuple[int, ...] = ()) -> list[Slot]:
    return [Slot("float32", 1 if i in scalars else N, i in kept, i in scalars) for i in range(count)]


def test_values_go_from_step_to_step(plugin: Plugin) -> None:
    """Slots that are not kept are not among the results; a slot that is written twice has the last value."""
    x: Any = numpy.array([1, 2, 3, 4], "float32")
    steps = [unary("square", 0, 1), unary("negative", 1, 2), scaled(2, 3, 1)]
    text = emit_program(steps, slots({1}, scalars=(3,)))
    assert text is not None
    (got,) = plugin.run(text, x, numpy.float32(10))
    assert got.tolist() == [-10, -40, -90, -160]


def test_a_part_that_is_written_reads_the_rest(plugin: Plugin) -> None:
    x, y = numpy.array([1, 2, 3, 4], "float32"), numpy.array([5, 6, 7, 8], "float32")
    steps = [scaled(0, 3, 1, "update"), unary("negative", 1, 2)]
    table = slots({1, 2}, scalars=(3,))
    assert (arguments_of(steps), results_of(steps, table)) == ([0, 1, 3], [1, 2])
    text = emit_program(steps, table, donated={1})
    assert text is not None
    assert text.count("tf.aliasing_output") == 1
    assert "%a1: tensor<4xf32> {tf.aliasing_output = 0 : i32}" in text
    got = plugin.run(text, x, y, numpy.float32(2))
    assert [g.tolist() for g in got] == [[5, 6, 6, 8], [-5, -6, -6, -8]]


def test_an_update_of_a_slot_that_the_program_wrote_is_no_argument(plugin: Plugin) -> None:
    steps = [unary("square", 0, 1), scaled(0, 3, 1, "update")]
    assert arguments_of(steps) == [0, 3]
    text = emit_program(steps, slots({1}, scalars=(3,)))
    assert text is not None
    (got,) = plugin.run(text, numpy.array([1, 2, 3, 4], "float32"), numpy.float32(-1))
    assert got.tolist() == [1, 4, -3, -4]


def test_old_memory_that_is_not_read_is_an_argument(plugin: Plugin) -> None:
    """A slot that is written whole, and has memory: the result takes it."""
    text = emit_program([unary("square", 0, 2), unary("negative", 2, 1)], slots({1, 2}), donated={1})
    assert text is not None
    head = "@main(%a0: tensor<4xf32>, %a1: tensor<4xf32> {tf.aliasing_output = 0 : i32})"
    assert head in text
    got = plugin.run(text, numpy.array([1, 2, 3, 4], "float32"), numpy.zeros(4, "float32"))
    assert [g.tolist() for g in got] == [[-1, -4, -9, -16], [1, 4, 9, 16]]


@pytest.mark.parametrize(("index", "bad"), [(2, False), (9, True)])
def test_checks_come_behind_the_results(plugin: Plugin, index: int, bad: bool) -> None:
    x, i = Operand.dense("float32", (N,)), Operand.dense("int64", (1,))
    taken = Spec("gather", "", (x, i), (Output.dense("float32", (1,)),), {"axis": 0, "n_indices": 1, "check": True})
    table = [Slot("float32", N), Slot("int64", 1), Slot("float32", 1), Slot("float32", N)]
    text = emit_program([Step(taken, (0, 1), (2,)), unary("square", 0, 3)], table)
    assert text is not None
    got = plugin.run(text, numpy.arange(4, dtype="float32"), numpy.array([index]))
    assert got[1].tolist() == [0, 1, 4, 9]
    assert got[2].tolist() == [bad]


def test_all_checks_are_one_result(plugin: Plugin) -> None:
    """The host reads one vector for all of them."""
    x, i = Operand.dense("float32", (N,)), Operand.dense("int64", (1,))
    taken = Spec("gather", "", (x, i), (Output.dense("float32", (1,)),), {"axis": 0, "n_indices": 1, "check": True})
    table = [Slot("float32", N), *(Slot("int64", 1) for _ in range(3)), *(Slot("float32", 1) for _ in range(3))]
    text = emit_program([Step(taken, (0, 1 + k), (4 + k,)) for k in range(3)], table)
    assert text is not None
    got = plugin.run(text, numpy.arange(4, dtype="float32"), *(numpy.array([i]) for i in (1, 4, 3)))
    assert [g.tolist() for g in got[:3:2]] == [[1], [3]]
    assert got[3].tolist() == [False, True, False]


def test_a_step_without_lowering_makes_no_module() -> None:
    assert emit_program([Step(Spec("no such kind", "", (), ()), (), ())], []) is None
