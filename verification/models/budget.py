"""Memory: no deadlock, all counts return to zero, and an op fails for lack of memory only where it would in program
order.

Code: MemoryBudget (memory_budget.h, memory_budget.cpp); alone, is_starved (memory_admission.cpp); over_limit
(devices.cpp); start, put_back, admissible, finish (scheduler.cpp); end_one (dependency_graph.cpp); take_memory
(executor.cpp). Fields of the same names: live, reserved, running, retries_alone,
ahead_, unstarted_demand_, front_.

Whether an op may start ahead of program order is left open here wherever MemoryBudget::admits may allow it: each
answer is tried, so the properties hold for any margin. Each lock hold is one step; live and reserved also change
without the lock, where memory is allocated.

Left out: ops that a running host task has issued, which may always start ahead of program order; that tasks do
not count while all of them wait (all_tasks_wait; see core/tests/engine/test_host_tasks.cpp); and that ended ops behind
a long one are merged (merge_next). None of this changes the counts.

Memory orders: live and reserved are relaxed counters. A thread that decides with the lock held may see a reservation
become live memory in two steps: first live, then reserved, so together they are too large for a moment, never too
small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, notify_all, unlock, wait, woken


@dataclass(frozen=True)
class Task:
    """An op: its memory, the ops that it waits for, and the ops whose memory is freed when it ends."""

    takes: int
    after: tuple[int, ...] = ()
    frees: tuple[int, ...] = ()
    device: int = 0


class Runner(Program):
    """A worker of one device: finish_and_fetch, with its choice of an op that may start, its run, and its end."""

    def __init__(self, name: str, model: Budgets, device: int) -> None:
        super().__init__(name, "enter", op=-1, got=True)
        self.model, self.device = model, device

    def enter(self, s: Any, me: Any) -> str | None:
        return self.pick(s, me) if lock(s, self.number) else None

    def pick(self, s: Any, me: Any) -> str:
        """Scheduler::admissible, with the lock held."""
        tasks, d = self.model.tasks, self.device
        ready = [op for op in sorted(s.ready) if tasks[op].device == d]
        for op in ready:
            if self.starts(s, op):
                return self.taken(s, me, op)
        if ready and self.starves(s, ready[0]):
            s.failed |= {ready[0]}
            if self.starts(s, ready[0]):
                return self.taken(s, me, ready[0])
        if len(s.ended) == len(tasks):
            unlock(s)
            return END
        wait(s, self.number, "asleep")
        return "asleep"

    def asleep(self, s: Any, me: Any) -> str | None:
        return self.pick(s, me) if woken(s, self.number, "asleep") else None

    def taken(self, s: Any, me: Any, op: int) -> str:
        s.ready -= {op}
        me.op = op
        unlock(s)
        return "take"

    def wants(self, s: Any, op: int) -> int:
        return 0 if op in s.failed else self.model.tasks[op].takes

    def alone(self, s: Any, op: int, running: int) -> bool:
        first = op == self.model.front(s)
        if self.model.broken == "oldest_of_device":
            first = op == self.model.front(s, self.device)
        return first and s.running[self.device] == running

    def starts(self, s: Any, op: int) -> bool:
        d, want = self.device, self.wants(s, op)
        if op in s.retries_alone and not self.alone(s, op, 0) and self.model.broken != "no_turn":
            return False
        now = s.live[d] + s.reserved[d]
        if want and now + want > self.model.hard and self.model.broken != "no_limit":
            return False
        early = want and op != self.model.front(s, d)
        if early:  # MemoryBudget::admits
            unstarted_demand = want if self.model.broken == "sees_itself_only" else s.unstarted_demand[d]
            if now + unstarted_demand > self.model.hard or not s.choose(2):
                return False
        elif want and self.model.broken == "refuses_oldest" and not s.choose(2):
            return False
        s.running = add(s.running, d, 1)
        s.reserved = add(s.reserved, d, want)
        s.unstarted_demand = add(s.unstarted_demand, d, -self.model.tasks[op].takes)
        s.ahead = add(s.ahead, op, want if early else 0)
        return True

    def starves(self, s: Any, op: int) -> bool:
        now = s.live[self.device] + s.reserved[self.device]
        return self.alone(s, op, 0) and now + self.wants(s, op) > self.model.hard

    def take(self, s: Any, me: Any) -> str:  # take_memory, without the lock
        me.got = True
        if want := self.wants(s, me.op):
            me.got = not (self.model.scarce and s.choose(2))
            if me.got:
                s.live = add(s.live, self.device, want)
        return "taken_memory"

    def taken_memory(self, s: Any, me: Any) -> str:
        if self.model.broken != "keeps_reserved":
            s.reserved = add(s.reserved, self.device, -self.wants(s, me.op))
        return "ends"

    def ends(self, s: Any, me: Any) -> str | None:  # end_work
        if not lock(s, self.number):
            return None
        d, op = self.device, me.op
        if not me.got and self.alone(s, op, 1):
            s.failed |= {op}
            me.got = True
        me.op = -1
        s.running = add(s.running, d, -1)
        if me.got:
            self.end(s, op)
        else:  # put_back
            s.unstarted_demand = add(s.unstarted_demand, d, self.model.tasks[op].takes)
            s.ahead = add(s.ahead, op, -s.ahead[op])
            s.retries_alone |= {op}
            s.ready |= {op}
        me.got = True
        if self.model.broken != "tells_nobody":
            notify_all(s, "asleep")  # wake_others, as something has changed; the chain of one by one is in wake.py
        return self.pick(s, me)

    def end(self, s: Any, op: int) -> None:
        tasks = self.model.tasks
        s.ended |= {op}
        for other in tasks[op].frees:
            if other not in s.failed:
                s.live = add(s.live, tasks[other].device, -tasks[other].takes)
        for other, task in enumerate(tasks):
            if op in task.after and s.ended.issuperset(task.after):
                s.ready |= {other}
        for other in s.ended:  # retire: memory taken early counts until all older ops have ended
            if other < self.model.front(s, tasks[other].device):
                s.ahead = add(s.ahead, other, -s.ahead[other])


def add(values: tuple[int, ...], at: int, by: int) -> tuple[int, ...]:
    return (*values[:at], values[at] + by, *values[at + 1 :])


CHAIN = (
    Task(0),
    Task(4, after=(0,)),
    Task(0, after=(1,), frees=(1,)),
    Task(2),
    Task(1, after=(3,), frees=(3,)),
)
TIGHT = (Task(3), Task(3), Task(2, after=(0,), frees=(0,)), Task(1, after=(1, 2), frees=(1, 2)))
COPY = (Task(4), Task(4, after=(0,), frees=(0,), device=1), Task(4), Task(0, after=(2,), frees=(2,)))
TOO_MUCH = (Task(4), Task(2), Task(1, after=(0,), frees=(0,)), Task(2))
PROGRAMS = {"chain": CHAIN, "tight": TIGHT, "copy": COPY, "too much": TOO_MUCH}


class Budgets(Model):
    """`program`: the ops. `runners` workers for each device. `scarce`: the system may refuse memory."""

    mutants: ClassVar = {
        "oldest_of_device": "an op fails although older ones of another device may release memory (past bug)",
        "sees_itself_only": "an op starts ahead of program order on memory that an older one will need (past bug)",
        "keeps_reserved": "memory stays reserved once it is taken",
        "refuses_oldest": "the oldest op is refused memory that is available",
        "no_limit": "an op starts regardless of the limit",
        "no_turn": "an op that found no memory tries again at any time",
        "tells_nobody": "the thread that ends an op does not wake those that were refused",
    }

    def __init__(
        self,
        broken: str | None = None,
        program: str = "chain",
        runners: int = 2,
        scarce: bool = False,
        hard: int = 5,
    ) -> None:
        self.broken, self.tasks, self.hard, self.scarce = broken, PROGRAMS[program], hard, scarce
        devices = 1 + max(task.device for task in self.tasks)
        none: frozenset[int] = frozenset()
        ready = frozenset(op for op, task in enumerate(self.tasks) if not task.after)
        zero = (0,) * devices
        unstarted_demand = tuple(sum(t.takes for t in self.tasks if t.device == d) for d in range(devices))
        shared = {
            "ready": ready,
            "ended": none,
            "failed": none,
            "retries_alone": none,
            "live": zero,
            "reserved": zero,
            "running": zero,
            "unstarted_demand": unstarted_demand,
            "ahead": (0,) * len(self.tasks),
            "mutex": None,
            "asleep": none,
        }
        threads: list[Program] = [Runner(f"worker {d}.{i}", self, d) for d in range(devices) for i in range(runners)]
        super().__init__(shared, threads)

    def front(self, s: Any, device: int | None = None) -> int:
        """The oldest op that has not ended (front_), or the oldest of a device (MemoryBudget::oldest)."""
        left = (op for op, t in enumerate(self.tasks) if op not in s.ended and device in (None, t.device))
        return next(left, len(self.tasks))

    def in_order(self) -> set[int]:
        """Return the ops that fail if all run one after the other."""
        live: dict[int, int] = {}
        failed: set[int] = set()
        for op, task in enumerate(self.tasks):
            if live.get(task.device, 0) + task.takes > self.hard and task.takes:
                failed.add(op)
            else:
                live[task.device] = live.get(task.device, 0) + task.takes
            for other in set(task.frees) - failed:
                live[self.tasks[other].device] -= self.tasks[other].takes
        return failed

    def always(self, s: Any, own: list[Any]) -> None:
        if max(s.live) > self.hard:
            raise Violation("more memory is live than the limit allows")
        if min(*s.live, *s.reserved, *s.running, *s.unstarted_demand, *s.ahead) < 0:
            raise Violation("a count falls below zero")

    def at_end(self, s: Any, own: list[Any]) -> None:
        if any(me.at != END for me in own):
            return
        if any((*s.reserved, *s.running, *s.unstarted_demand, *s.ahead)):
            raise Violation("a count does not return to zero")
        if s.failed != self.in_order() and not self.scarce:
            raise Violation(f"failed for lack of memory: {set(s.failed) or None}; in order: {self.in_order() or None}")

    def complete(self, s: Any) -> bool:
        return len(s.ended) == len(self.tasks)
