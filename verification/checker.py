"""An explicit-state checker: every interleaving of a few threads, breadth first, each step taken as one atomic
action.

A model names its shared fields and its threads. A thread is a program: a class whose methods are the steps. A
step gets the shared fields `s` and the thread's own `me`, changes them, and returns the name of the next
step, `END`, or None if it cannot be taken now (its changes are then discarded). `s.choose(n)` splits
it into n outcomes. Only steps change the state: a sleeping thread is woken by a thread that takes it out of
the set it sleeps in (`wait`, `notify_one`, `notify_all`), never by itself or by time.

Memory is sequentially consistent. Fields hold hashable values: numbers, strings, tuples, frozensets.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

END = "(ended)"
Key = tuple[int, ...]


class Violation(Exception):
    """Raised by a step or an invariant that finds an invalid state."""


class Fields:
    """Shared or own fields of one state, while a step uses them."""

    def choose(self, n: int) -> int:
        """Return a number from 0 to n - 1: the checker tries each."""
        return self.__dict__["_oracle"].choose(n)


class Oracle:
    """Answers `choose` so that running a step repeatedly takes each combination once."""

    def __init__(self) -> None:
        self.answers: list[list[int]] = []  # answer, of how many
        self.at = 0

    def choose(self, n: int) -> int:
        if self.at == len(self.answers):
            self.answers.append([0, n])
        self.at += 1
        return self.answers[self.at - 1][0]

    def next(self) -> bool:
        """Prepare the next combination; False after the last."""
        self.at = 0
        while self.answers and self.answers[-1][0] + 1 == self.answers[-1][1]:
            self.answers.pop()
        if self.answers:
            self.answers[-1][0] += 1
        return bool(self.answers)


class Program:
    """A thread: its first step, and its own fields. One that `serves` need not have ended when all work is done."""

    serves = False

    def __init__(self, name: str, start: str, **own: Any) -> None:
        self.name, self.start, self.own, self.number = name, start, own, 0


class Model:
    """A model to check: `shared` fields, `threads`, and conditions that hold `always` and `at_end`."""

    broken: str | None = None  # the step that is left out or swapped: a mutant, in which the checker must find a fault
    mutants: ClassVar[dict[str, str]] = {}  # name: its fault

    def __init__(self, shared: dict[str, Any], threads: list[Program]) -> None:
        self.shared, self.threads = shared, threads
        for number, thread in enumerate(threads):
            thread.number = number

    def complete(self, s: Any) -> bool:
        """Whether all work is done; the threads that do not serve must have ended, too."""
        return True

    def gone(self, s: Any, thread: Program) -> bool:
        """Whether a thread no longer exists."""
        return False

    def always(self, s: Any, own: list[Any]) -> None:
        """Raise Violation if a state is wrong."""

    def at_end(self, s: Any, own: list[Any]) -> None:
        """Raise Violation if a final state is wrong."""


# ---- primitives of threads ---------------------------------------------------------------------------------------


def lock(s: Any, me: int, name: str = "mutex") -> bool:
    """Take a mutex; False: another thread has it."""
    if s.__dict__[name] is not None:
        return False
    s.__dict__[name] = me
    return True


def unlock(s: Any, name: str = "mutex") -> None:
    """Give a mutex back."""
    s.__dict__[name] = None


def wait(s: Any, me: int, sleepers: str, name: str = "mutex") -> None:
    """Sleep on a condition variable, giving the mutex back in the same action. Next comes a step that calls `woken`."""
    s.__dict__[sleepers] |= {me}
    unlock(s, name)


def woken(s: Any, me: int, sleepers: str, name: str = "mutex") -> bool:
    """Whether another thread has woken `me`, and it has the mutex again."""
    return me not in s.__dict__[sleepers] and lock(s, me, name)


def timed_out(s: Any, me: int, sleepers: str, name: str = "mutex") -> bool:
    """The same, or time has passed: only where the code may rely on time."""
    if not lock(s, me, name):
        return False
    s.__dict__[sleepers] -= {me}
    return True


def notify_one(s: Any, sleepers: str) -> None:
    """Wake any one of the sleeping threads."""
    asleep = sorted(s.__dict__[sleepers])
    if asleep:
        s.__dict__[sleepers] -= {asleep[s.choose(len(asleep)) if len(asleep) > 1 else 0]}


def notify_all(s: Any, sleepers: str) -> None:
    """Wake all sleeping threads."""
    s.__dict__[sleepers] = frozenset()


# ---- checking ----------------------------------------------------------------------------------------------------


@dataclass
class Result:
    """The number of states, and the fault that was found, with the steps that lead to it."""

    states: int = 0
    steps: int = 0
    fault: str | None = None
    trace: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        if self.fault is None:
            return f"{self.states} states, {self.steps} steps: no fault"
        return "\n".join([self.fault, *(f"{n:4} {line}" for n, line in enumerate(self.trace, 1))])


class Checker:
    """One run over all states of a model.

    The shared fields and each thread's own are kept once for each combination of their values; a state is made of
    their numbers. The result of a step depends on two of them alone, so it is computed once for the two.
    """

    def __init__(self, model: Model, most: int) -> None:
        self.model, self.most = model, most
        self.names = [tuple(model.shared)] + [("at", *thread.own) for thread in model.threads]
        first = (tuple(model.shared.values()), *((t.start, *t.own.values()) for t in model.threads))
        self.values: list[list[tuple[Any, ...]]] = [[] for _ in first]  # of each part, by number
        self.numbers: list[dict[tuple[Any, ...], int]] = [{} for _ in first]
        self.views: list[list[Fields]] = [[] for _ in first]  # the same, for readers
        self.known: list[dict[tuple[int, int], list[tuple[int, int]]]] = [{} for _ in first]
        key = tuple(self.interned(part, values) for part, values in enumerate(first))
        self.states: list[Key] = [key]
        self.number: dict[Key, int] = {key: 0}
        self.came: list[tuple[int, int]] = [(-1, -1)]  # from which state, by which thread
        self.edges: list[tuple[tuple[int, int], ...]] = []  # thread, next state
        self.finished: list[int] = []

    def interned(self, part: int, values: tuple[Any, ...]) -> int:
        """The number of a combination of values."""
        number = self.numbers[part].setdefault(values, len(self.values[part]))
        if number == len(self.values[part]):
            self.values[part].append(values)
            self.views[part].append(self.fields(part, number))
        return number

    def fields(self, part: int, number: int) -> Fields:
        fields = Fields.__new__(Fields)
        fields.__dict__.update(zip(self.names[part], self.values[part][number]))
        return fields

    def nexts(self, part: int, shared: int, own: int) -> list[tuple[int, int]]:
        """Return the shared and own fields that one step of a thread leads to."""
        if (found := self.known[part].get((shared, own))) is None:
            found = self.known[part][shared, own] = list(self.taken(part, shared, own))
        return found

    def taken(self, part: int, shared: int, own: int) -> Iterator[tuple[int, int]]:
        program, name = self.model.threads[part - 1], self.values[part][own][0]
        if name == END:
            return
        step = getattr(program, name)
        oracle = Oracle()
        while True:
            s, me = self.fields(0, shared), self.fields(part, own)
            s.__dict__["_oracle"] = oracle
            at = step(s, me)
            if at is not None:
                me.at = at
                del s.__dict__["_oracle"]
                after = tuple(me.__dict__.values())
                assert len(after) == len(self.names[part]), f"{program.name}: a field was added in {name}"
                yield self.interned(0, tuple(s.__dict__.values())), self.interned(part, after)
            if not oracle.next():
                return

    def done(self, key: Key) -> bool:
        s = self.views[0][key[0]]
        return self.model.complete(s) and all(
            values[own][0] == END or t.serves or self.model.gone(s, t)
            for values, own, t in zip(self.values[1:], key[1:], self.model.threads)
        )

    def run(self) -> Result:
        """Visit every state; return the shortest way to the first fault."""
        at = 0
        try:
            while at < len(self.states):
                self.look(at)
                at += 1
        except Violation as fault:
            return self.report(at, str(fault))
        for at in self.hopeless():
            return self.report(at, "a wake-up is lost: from this state no final one can be reached")
        for at in self.endless():
            return self.report(at, "livelock: all threads that can take steps do so for ever, without progress")
        return Result(len(self.states), sum(map(len, self.edges)))

    def look(self, at: int) -> None:
        key = self.states[at]
        shared = self.views[0][key[0]]
        own = [views[number] for views, number in zip(self.views[1:], key[1:])]
        self.model.always(shared, own)
        edges: list[tuple[int, int]] = []
        for part in range(1, len(key)):
            for new_shared, new_own in self.nexts(part, key[0], key[part]):
                after = (new_shared, *key[1:part], new_own, *key[part + 1 :])
                if (number := self.number.get(after)) is None:
                    number = self.number[after] = len(self.states)
                    self.states.append(after)
                    self.came.append((at, part))
                    if number >= self.most:
                        raise Violation(f"more than {self.most} states")
                edges.append((part, number))
        self.edges.append(tuple(edges))  # a tuple, which the garbage collector stops tracking
        if self.done(key):
            self.finished.append(at)
            self.model.at_end(shared, own)
        elif not edges:
            raise Violation("deadlock: no thread can take a step")

    def hopeless(self) -> Iterator[int]:
        """States from which no finished one can be reached."""
        before: list[list[int]] = [[] for _ in self.states]
        for at, edges in enumerate(self.edges):
            for _, after in edges:
                before[after].append(at)
        reaches = [False] * len(self.states)
        queue = deque(self.finished)
        for at in self.finished:
            reaches[at] = True
        while queue:
            for at in before[queue.popleft()]:
                if not reaches[at]:
                    reaches[at] = True
                    queue.append(at)
        return (at for at, good in enumerate(reaches) if not good)

    def endless(self) -> Iterator[int]:
        """Yield cycles of unfinished states in which a fair run may stay: each thread that can take steps takes one."""
        finished = set(self.finished)
        todo = [[at for at in range(len(self.states)) if at not in finished]]
        while todo:
            for circle in self.circles(todo.pop()):
                inside = set(circle)
                steps = {part for at in circle for part, after in self.edges[at] if after in inside}
                leave = {part for at in circle for part, _ in self.edges[at]} - steps
                if not leave:
                    yield min(circle)
                else:  # a fair run stays only where these cannot take a step
                    todo.append([at for at in circle if all(part not in leave for part, _ in self.edges[at])])

    def circles(self, among: list[int]) -> Iterator[list[int]]:
        """The strongly connected components that have an edge inside (Tarjan's, without recursion)."""
        index = dict.fromkeys(among, -1)
        low: dict[int, int] = {}
        on: set[int] = set()
        stack: list[int] = []
        count = 0
        for root in among:
            if index[root] >= 0:
                continue
            work = [(root, 0)]
            while work:
                at, edge = work.pop()
                if edge == 0:
                    index[at] = low[at] = count
                    count += 1
                    stack.append(at)
                    on.add(at)
                for k in range(edge, len(self.edges[at])):
                    after = self.edges[at][k][1]
                    if index.get(after, 0) < 0:
                        work.append((at, k + 1))
                        work.append((after, 0))
                        break
                    if after in on:
                        low[at] = min(low[at], index[after])
                else:
                    if low[at] == index[at]:
                        circle = []
                        while not circle or circle[-1] != at:
                            circle.append(stack.pop())
                            on.remove(circle[-1])
                        if len(circle) > 1 or any(after == at for _, after in self.edges[at]):
                            yield circle
                    if work:
                        low[work[-1][0]] = min(low[work[-1][0]], low[at])

    def valued(self, at: int) -> list[tuple[Any, ...]]:
        """Return the values that make up a state."""
        return [values[number] for values, number in zip(self.values, self.states[at])]

    def report(self, at: int, fault: str) -> Result:
        """Return the way to a state, a line for each step: the thread, the step, and its changes."""
        lines, last = [], at
        while self.came[at][0] >= 0:
            before, part = self.came[at]
            old, new = self.valued(before), self.valued(at)
            changes = [
                f"{name}: {a!r} -> {b!r}"
                for k in (0, part)
                for name, a, b in zip(self.names[k], old[k], new[k])
                if a != b and name != "at"
            ]
            program = self.model.threads[part - 1]
            lines.append(f"{program.name:10} {old[part][0]:18} {'; '.join(changes)}".rstrip())
            at = before
        where = ", ".join(f"{t.name} before {own[0]}" for t, own in zip(self.model.threads, self.valued(last)[1:]))
        return Result(len(self.states), 0, f"{fault} ({where})", lines[::-1])


def check(model: Model, most: int = 2_000_000) -> Result:
    """Visit every state of a model, at most so many."""
    collects = gc.isenabled()
    gc.disable()  # states are kept until the end, and hold no cycles
    try:
        return Checker(model, most).run()
    finally:
        if collects:
            gc.enable()
