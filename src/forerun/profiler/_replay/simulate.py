"""When the tasks of a program would run: lanes take the oldest ready task, threads issue and wait in their order.

Everything is decided by durations and dependencies, so a program with known durations has one exact answer.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from .cores import Cores
from .program import Issue, Program

__all__ = ["Acted", "Ran", "Run", "run"]

Cause = tuple[str, int]  # ("piece", number) or ("act", number), and ("", 0) for nothing


@dataclass(slots=True)
class Ran:
    """A piece of a task that a lane ran."""

    task: int
    server: int
    started: float
    ended: float
    cause: Cause


@dataclass(slots=True)
class Acted:
    """An issue or a wait of a thread: when it began and ended, and the causes."""

    thread: int
    issue: Issue
    began: float
    ended: float
    before: Cause  # the thread's previous action
    cause: Cause  # of a wait: the operation that ended it


@dataclass(slots=True)
class Run:
    """A simulated run."""

    pieces: list[Ran] = field(default_factory=list)
    acts: list[Acted] = field(default_factory=list)
    ended: dict[int, float] = field(default_factory=dict)  # by task
    last: dict[int, int] = field(default_factory=dict)  # by task: the number of the piece that ended it

    @property
    def seconds(self) -> float:
        """From the start to the last end."""
        return max([*self.ended.values(), *(a.ended for a in self.acts)], default=0.0)

    def step_ends(self, program: Program) -> list[float]:
        """Return when each step had ended, in order."""
        ends: dict[int, float] = {}
        for t, at in self.ended.items():
            step = program.tasks[t].step
            ends[step] = max(ends.get(step, 0.0), at)
        found: list[float] = []
        for k in sorted(ends):
            found.append(max(ends[k], found[-1] if found else 0.0))
        return found


def run(program: Program) -> Run:
    """Return when all parts of a program run. RuntimeError for a wait that never ends."""
    return _Simulation(program).run()


class _Simulation:
    def __init__(self, program: Program) -> None:
        self.program, self.found = program, Run()
        self.events: list[tuple[float, bool, int, str, int]] = []
        self.cores = Cores(program.cores) if program.cores else None
        self.count = 0
        tasks = program.tasks
        self.left = [len(set(t.deps)) + 1 for t in tasks]  # the number of unmet dependencies of each, with its issue
        self.pieces = [len(t.pieces) for t in tasks]
        self.readers: list[list[int]] = [[] for _ in tasks]
        for n, t in enumerate(tasks):
            for d in set(t.deps):
                self.readers[d].append(n)
        self.free = {lane: list(range(count)) for lane, count in program.servers.items()}
        self.ready: dict[tuple[int, str], list[tuple[bool, float, int, int]]] = {lane: [] for lane in program.servers}
        self.freed: dict[tuple[tuple[int, str], int], int] = {}  # the piece that a server ran last
        self.cause: list[Cause] = [("", 0)] * len(tasks)
        self.readied = [0.0] * len(tasks)
        self.at = [0] * len(program.threads)
        self.before: list[tuple[float, Cause]] = [(0.0, ("", 0))] * len(program.threads)
        self.waiting: dict[int, tuple[int, int]] = {}  # by thread: how many tasks, and the act
        self.waiters: dict[int, list[int]] = {}

    def run(self) -> Run:
        for thread in range(len(self.program.threads)):
            self._next(thread, 0.0)
        while self.events or (self.cores and self.cores.next_end() < float("inf")):
            if self.cores and (not self.events or self.cores.next_end() <= self.events[0][0]):
                now, kind, n = self.cores.end()
            else:
                now, _, _, kind, n = heapq.heappop(self.events)
            getattr(self, f"_{kind}")(n, now)
        if len(self.found.ended) < self._issued():
            raise RuntimeError("whatif: operations must not wait for one another around")
        return self.found

    def _issued(self) -> int:
        return sum(i.task >= 0 for thread in self.program.threads for i in thread)

    def _at(self, time: float, kind: str, n: int) -> None:
        self.count += 1
        # A lane takes its next pieces after all other events of the same time.
        heapq.heappush(self.events, (time, kind == "serve", self.count, kind, n))

    def _work(self, now: float, seconds: float, kind: str, n: int, yields: bool = False) -> None:
        """Let an event follow behind seconds of a core."""
        if self.cores is None:
            self._at(now + seconds, kind, n)
            return
        self.count += 1
        self.cores.begin(now, seconds, self.count, kind, n, yields)

    def _next(self, thread: int, now: float) -> None:
        issues = self.program.threads[thread]
        if self.at[thread] < len(issues):
            self._work(now, issues[self.at[thread]].gap, "act", thread)

    def _act(self, thread: int, now: float) -> None:
        issue = self.program.threads[thread][self.at[thread]]
        self.at[thread] += 1
        acted = Acted(thread, issue, now, now, self.before[thread][1], ("", 0))
        self.found.acts.append(acted)
        number = len(self.found.acts) - 1
        self.before[thread] = now, ("act", number)
        if issue.task >= 0:
            self._issue(issue.task, number, now)
            self._next(thread, now)
            return
        missing = [t for t in issue.needs if t not in self.found.ended]
        if not missing:
            self._next(thread, now)
            return
        self.waiting[thread] = len(missing), number
        for t in missing:
            self.waiters.setdefault(t, []).append(thread)

    def _issue(self, t: int, act: int, now: float) -> None:
        task = self.program.tasks[t]
        self.left[t] -= 1
        self.cause[t] = "act", act
        if self.left[t] > 0:
            return
        if not task.inline:
            self._at(now + task.latency, "readied", t)
            return
        end = now + sum(task.pieces)  # the thread's next act has this time in its gap
        self.found.pieces.append(Ran(t, -1, now, end, ("act", act)))
        self.found.last[t] = len(self.found.pieces) - 1
        self._at(end, "finished", t)

    def _readied(self, t: int, now: float) -> None:
        """The task may run: all its pieces are ready."""
        task = self.program.tasks[t]
        self.readied[t] = now
        for piece in range(len(task.pieces)):
            heapq.heappush(self.ready[task.lane], (not task.urgent, task.order, t, piece))
        self._at(now, "serve", t)

    def _serve(self, t: int, now: float) -> None:
        """The lane of a task takes the oldest ready pieces, as far as it has servers."""
        lane = self.program.tasks[t].lane
        free, ready = self.free[lane], self.ready[lane]
        while free and ready:
            _, _, t, piece = heapq.heappop(ready)
            server = heapq.heappop(free)
            cause = self.cause[t]
            if self.readied[t] < now and (lane, server) in self.freed:
                cause = "piece", self.freed[lane, server]
            seconds = self.program.tasks[t].pieces[piece]
            self.found.pieces.append(Ran(t, server, now, now + seconds, cause))
            number = len(self.found.pieces) - 1
            if lane[1] == "compute":
                self._work(now, seconds, "ended", number)
            elif core := self.program.tasks[t].core:
                self._work(now, core, "sent", number, yields=True)
            else:
                self._sent(number, now)

    def _sent(self, number: int, now: float) -> None:
        """The core has done its part of a message: the link takes it."""
        piece = self.found.pieces[number]
        self._at(now + piece.ended - piece.started, "ended", number)

    def _ended(self, number: int, now: float) -> None:
        """A piece has ended: its server takes the next one."""
        piece = self.found.pieces[number]
        piece.ended = now
        lane = self.program.tasks[piece.task].lane
        heapq.heappush(self.free[lane], piece.server)
        self.freed[lane, piece.server] = number
        self.pieces[piece.task] -= 1
        if self.pieces[piece.task] == 0:
            self.found.last[piece.task] = number
            self._finished(piece.task, now)
        self._at(now, "serve", piece.task)

    def _finished(self, t: int, now: float) -> None:
        self.found.ended[t] = now
        last = "piece", self.found.last[t]
        for n in self.readers[t]:
            self.left[n] -= 1
            if self.left[n] == 0:
                self.cause[n] = last
                self._at(now + self.program.tasks[n].latency, "readied", n)
        for thread in self.waiters.pop(t, ()):
            count, act = self.waiting[thread]
            self.waiting[thread] = count - 1, act
            if count == 1:
                acted = self.found.acts[act]
                acted.ended = now + acted.issue.wake
                acted.cause = last
                self._at(acted.ended, "next", thread)
