"""`profiler.whatif`: links, machines, and simulations of programs with durations that are known."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from forerun.profiler._replay.machine import Link, Machine
from forerun.profiler._replay.program import NETWORK, Issue, Program, Task
from forerun.profiler._replay.simulate import run

CPU = (0, "compute")


def task(seconds: float, *deps: int, order: float = 0.0, pieces: int = 1, **more: object) -> Task:
    known = {"lane": CPU, "latency": 0.0, "step": 0, **more}
    return Task("op", ("p.py", 1), pieces=(seconds / pieces,) * pieces, deps=list(deps), order=order, **known)  # type: ignore[arg-type]


def issued(*tasks: Task, servers: int = 1, gap: float = 0.0, more: tuple[Issue, ...] = ()) -> Program:
    """All tasks issued by one thread, one after the other."""
    rows = [Issue(gap, n, (), 0.0, ("p.py", 1), "op", "", 0) for n in range(len(tasks))]
    return Program(list(tasks), [[*rows, *more]], {CPU: servers})


class TestLinks:
    @pytest.mark.parametrize(
        ("text", "rate", "latency"),
        [("25GB/s,2us", 25e9, 2e-6), ("100Gbit/s, 1.5 us", 12.5e9, 1.5e-6), ("800MB/s,1ms", 8e8, 1e-3)],
    )
    def test_a_link_is_a_rate_and_a_latency(self, text, rate, latency):
        assert Link.parse(text) == Link(pytest.approx(rate), pytest.approx(latency))

    @pytest.mark.parametrize("text", ["8GB/s,1us,copy=4GB/s,call=20us", "8GB/s, 1us, call=20us, copy=4GB/s"])
    def test_a_link_may_take_a_core(self, text):
        link = Link.parse(text)
        assert link == Link(pytest.approx(8e9), pytest.approx(1e-6), pytest.approx(4e9), pytest.approx(2e-5))
        assert str(link) == "8 GB/s, 1 us, copy 4 GB/s, call 20 us"
        assert Link.parse("8GB/s,1us") == Link(pytest.approx(8e9), pytest.approx(1e-6), math.inf, 0)

    @pytest.mark.parametrize(
        "text",
        [
            "", "25GB/s", "2us,25GB/s", "25GB,2us", "0GB/s,2us", "25GB/s,2us,3", "8GB/s,1us,", "1..2GB/s,1us",
            "8GB/s,1us,copy=4", "8GB/s,1us,call=4GB/s", "8GB/s,1us,copy=0GB/s", "8GB/s,1us,core=1us",
            "8GB/s,1us,copy=4GB/s,copy=4GB/s",
        ],
    )  # fmt: skip
    def test_other_texts_are_refused(self, text):
        says = f"^whatif: link must be a rate and a latency, .*, got {re.escape(repr(text))}$"
        with pytest.raises(ValueError, match=says):
            Link.parse(text)

    def test_each_message_takes_a_core_for_its_bytes_and_for_a_call(self):
        link = Link(1e9, 1e-6, copy=4e9, call=5e-6)
        kinds = "ring", "tree", "halving"
        took = {c: Machine(ranks=8, link=link, collective=c).core_between_ranks(8e6) for c in kinds}
        assert took["ring"] == pytest.approx(14 * (1e6 / 4e9 + 5e-6))
        assert took["tree"] == pytest.approx(6 * (8e6 / 4e9 + 5e-6))
        assert took["halving"] == pytest.approx(2 * 7e6 / 4e9 + 6 * 5e-6)
        assert Machine(ranks=8, link=Link(1e9, 1e-6)).core_between_ranks(8e6) == 0
        assert Machine(ranks=1, link=link).core_between_ranks(8e6) == 0

    def test_collectives_take_the_time_of_their_steps(self):
        link = Link(1e9, 1e-6)
        took = {c: Machine(ranks=8, link=link, collective=c).between_ranks(8e6) for c in ("ring", "tree", "halving")}
        assert took["ring"] == pytest.approx(14 * (1e6 / 1e9 + 1e-6))
        assert took["tree"] == pytest.approx(6 * (8e6 / 1e9 + 1e-6))
        assert took["halving"] == pytest.approx(2 * 7e6 / 1e9 + 6e-6)
        assert Machine(ranks=8, link=link, collective="best").between_ranks(8e6) == min(took.values())
        assert Machine(ranks=1).between_ranks(1e9) == 0

    @pytest.mark.parametrize(
        ("field", "value"),
        [("devices", 0), ("ranks", 0), ("bucket", 0), ("slowdown", 0.0), ("cores", 0), ("collective", "gossip")],
    )
    def test_invalid_machines_raise(self, field, value):
        with pytest.raises(ValueError, match=f"^whatif: {field} must be .*, got {value!r}$"):
            Machine(**{field: value})


class TestSimulation:
    """Programs with known durations have one exact answer."""

    def test_a_chain_takes_the_sum(self):
        assert run(issued(task(1), task(2, 0), task(3, 1), servers=4)).seconds == 6

    def test_independent_tasks_share_servers(self):
        assert run(issued(task(1), task(2), task(3), servers=3)).seconds == 3
        assert run(issued(task(1), task(2), task(3), servers=1)).seconds == 6

    def test_pieces_of_a_task_share_servers(self):
        assert run(issued(task(4, pieces=4), servers=2)).seconds == 2

    def test_the_oldest_ready_task_goes_first(self):
        found = run(issued(task(1), task(1, 0, order=9), task(1, 0, order=5), task(1, order=7)))
        assert [p.task for p in found.pieces] == [0, 2, 3, 1]

    def test_an_urgent_task_goes_before_older_ones(self):
        found = run(issued(task(1), task(1, order=1), task(1, 0, order=9, urgent=True)))
        assert [p.task for p in found.pieces] == [0, 2, 1]

    def test_latency_keeps_no_server(self):
        found = run(issued(task(1), task(1, 0, latency=5), task(4, order=1)))
        assert found.ended == {0: 1, 2: 5, 1: 7}

    def test_a_wait_keeps_the_thread(self):
        wait = Issue(1.0, -1, (0,), 0.5, None, "item", "item", 0)
        late = Issue(0.25, 1, (), 0.0, None, "op", "", 0)
        found = run(Program([task(3), task(1)], [[Issue(0, 0, (), 0, None, "op", "", 0), wait, late]], {CPU: 1}))
        assert found.ended == {0: 3, 1: 3 + 0.5 + 0.25 + 1}
        ready = replace(wait, gap=10.0)
        found = run(Program([task(3), task(1)], [[Issue(0, 0, (), 0, None, "op", "", 0), ready, late]], {CPU: 1}))
        assert found.ended[1] == 10 + 0.25 + 1

    def test_inline_operations_need_no_server(self):
        found = run(issued(task(5), task(1, inline=True)))
        assert found.ended == {0: 5, 1: 1}

    @pytest.mark.parametrize(("cores", "sums", "op"), [(None, 5, 3), (2, 5, 3), (1, 8, 3), (0.5, 13, 6)])
    def test_a_collective_has_the_cores_that_operations_leave(self, cores, sums, op):
        """It needs a core for 2 s, then a link for 3 s, beside an operation of 3 s."""
        program = issued(task(3, lane=NETWORK, core=2.0), task(3))
        program.servers[NETWORK], program.cores = 1, cores
        assert run(program).ended == {0: pytest.approx(sums), 1: pytest.approx(op)}

    def test_a_circle_is_reported(self):
        with pytest.raises(RuntimeError, match="wait for one another"):
            run(issued(task(1, 1), task(1, 0)))
