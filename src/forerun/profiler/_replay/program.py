"""The recorded program as it would be on another machine: a copy of the work for each device, and sums of gradients.

Each device gets the operations of the recorded one, issued by the same threads: where a line issued several in a row,
the copies follow one another. The gradients are the results of other lines in the same step that the line of the
updates reads. Over devices that share memory they are added as `gluon.Trainer` does it, over ranks in buckets, the last
layers first.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import groupby
from statistics import median

from .machine import Machine
from .recorded import Act, Op, Recorded, Site

__all__ = ["NETWORK", "Issue", "Program", "Task", "gradients", "made"]

NETWORK = (-1, "network")  # the lane of collectives between ranks
LINKS = (-1, "links")  # and of those between the devices of a rank
_HALF = ("allgather", "reduce_scatter", "broadcast", "all_to_all")  # they take half of the steps of a sum
_PARAMETER = "copy of parameter"
_COPY = 2 / 3  # of the time of an update: it moves two streams of memory, the update three


@dataclass(slots=True)
class Task:
    """Work of a lane: an operation of one device, a sum over devices, or a collective."""

    name: str
    site: Site
    lane: tuple[int, str]
    pieces: tuple[float, ...]
    latency: float
    deps: list[int]
    order: float
    step: int
    urgent: bool = False
    inline: bool = False
    size: int = 0
    core: float = 0.0  # of a collective: seconds of a core before the time of the link


@dataclass(slots=True)
class Issue:
    """An action of a thread: it issues a task, or waits for some."""

    gap: float
    task: int  # -1: a wait
    needs: tuple[int, ...]
    wake: float
    site: Site
    name: str
    cause: str
    step: int


@dataclass(slots=True)
class Program:
    """Tasks, and the actions of the threads."""

    tasks: list[Task] = field(default_factory=list)
    threads: list[list[Issue]] = field(default_factory=list)
    servers: dict[tuple[int, str], int] = field(default_factory=dict)
    cores: float | None = None  # that all work of a rank shares; None: all of it has one


@dataclass(slots=True)
class Gradients:
    """The gradients of a step, with the operations that use them, in the order of issue."""

    site: Site  # the line of the updates
    users: dict[int, list[int]]  # by the gradient's number: all operations of that line that need it
    sizes: dict[int, int]  # bytes of each gradient
    update: dict[int, float]  # seconds of the largest update: the time of one pass over the gradient
    joint: set[int] = field(default_factory=set)  # operations that need several gradients

    @property
    def all_users(self) -> set[int]:
        """Return all operations that need gradients."""
        return {n for users in self.users.values() for n in users}


def gradients(run: Recorded) -> dict[int, Gradients]:
    """Return the gradients of each step that has some."""
    site = _line_of_updates(run)
    found: dict[int, Gradients] = {}
    if site is None:
        return found
    owner: dict[int, set[int]] = {}
    passed_on = {d for op in run.ops.values() if op.site != site for d in op.deps}
    for n, op in run.ops.items():
        if op.site != site or op.step < 0:
            continue
        read: set[int] = set()
        for d in op.deps:
            dep = run.ops.get(d)
            if dep is None or dep.step != op.step:
                continue
            read |= owner.get(d, set()) if dep.site == site else {d}
        owner[n] = read
        step = found.setdefault(op.step, Gradients(site, {}, {}, {}))
        step.sizes |= {g: _size(run, g, g in passed_on) for g in read}
        total = sum(step.sizes[g] for g in read) or 1
        for g in read:
            step.users.setdefault(g, []).append(n)
            step.update[g] = max(step.update.get(g, 0.0), op.seconds * step.sizes[g] / total)
            step.joint |= {n} if len(read) > 1 else set()
    for step in found.values():
        step.users = dict(sorted(step.users.items()))
    return {k: step for k, step in found.items() if step.users}


def _size(run: Recorded, gradient: int, passed_on: bool) -> int:
    """Return the bytes of the gradients among an operation's results.

    passed_on: whether operations of the backward pass read its results, too: then one of several is the gradient of its
    input, which has as many bytes as that.
    """
    op = run.ops[gradient]
    inputs = [run.ops[d].largest for d in op.deps if d in run.ops and run.ops[d].step == op.step]
    rest = op.size - max(inputs, default=0)
    return rest if passed_on and op.first < op.size and rest > 0 else op.size


def _line_of_updates(run: Recorded) -> Site:
    """Return the line whose operations write arrays that the next step reads; of several, where these take longest."""
    seconds: dict[Site, float] = defaultdict(float)
    reads_other: set[Site] = set()
    carried = set()
    for op in run.ops.values():
        for d in op.deps:
            dep = run.ops.get(d)
            if dep is None:
                continue
            if dep.step + 1 == op.step and dep.step >= 0 and dep.in_place:
                carried.add(d)
            if dep.step == op.step and dep.site != op.site:
                reads_other.add(op.site)
    for n in carried:
        seconds[run.ops[n].site] += run.ops[n].seconds
    best = [s for s in seconds if s is not None and s in reads_other]
    return max(best, key=lambda s: seconds[s], default=None)


def made(run: Recorded, machine: Machine | None) -> Program:
    """Return the program of a rank of the machine; None: of the recorded one, collectives included."""
    return _Maker(run, machine).make()


class _Maker:
    def __init__(self, run: Recorded, machine: Machine | None) -> None:
        self.run, self.machine, self.as_recorded = run, machine or Machine(), machine is None
        self.program = Program()
        self.number: dict[tuple[int, int], int] = {}  # of a task, by operation and device
        self.uses: dict[tuple[int, int], dict[int, int]] = {}  # by operation and device: its replaced inputs
        several = self.machine.devices > 1 or self.machine.ranks > 1
        self.recorded = run.ranks > 1
        self.python = self.machine.slowdown if self.machine.ranks > 1 else 1.0  # each rank has its own
        self.gradients = gradients(run) if several else {}
        self.updates = {n for found in self.gradients.values() for n in found.all_users}
        self.gone: set[tuple[int, int]] = set()  # updates that another device does
        self.after: dict[tuple[int, int], list[int]] = {}  # by update and device: copies of parameters from others
        self.exchanges: dict[int, list[int]] = {}  # by step: tasks of sums and collectives, in the order of issue

    def make(self) -> Program:
        program, devices = self.program, range(self.machine.devices)
        for (device, queue), count in self.run.servers.items():
            for d in devices:
                program.servers[self._device(device, d), queue] = count
        program.servers[NETWORK] = program.servers[LINKS] = 1
        program.cores = self.machine.cores and self.machine.cores / self.machine.ranks
        for op in self.run.ops.values():
            for d in devices:
                self.number[op.number, d] = len(program.tasks)
                program.tasks.append(self._task(op, d))
        if self.machine.devices > 1 or not self.recorded:
            for step, found in self.gradients.items():
                self._exchange(step, found)
        for op in self.run.ops.values():
            for d in devices:
                program.tasks[self.number[op.number, d]].deps = self._deps(op, d)
        program.threads = [self._thread(acts) for acts in self.run.acts.values()]
        return program

    def _device(self, recorded: int, replica: int) -> int:
        return recorded + replica * len({d for d, _ in self.run.servers})

    def _task(self, op: Op, d: int) -> Task:
        lane, pieces, core = (self._device(op.device, d), op.queue), op.pieces, 0.0
        if self.machine.shared and op.queue == "compute":
            pieces = tuple(p * self.machine.slowdown for p in pieces)
        if op.collective and not self.as_recorded:
            share = 0.5 if op.name in _HALF else 1.0
            share *= d == 0
            lane, pieces = NETWORK, (self.machine.between_ranks(op.size) * share,)
            core = self.machine.core_between_ranks(op.size) * share
        return Task(
            op.name, op.site, lane, pieces, op.latency, [], op.number, op.step, inline=op.inline, size=op.size,
            core=core,
        )  # fmt: skip

    def _deps(self, op: Op, d: int) -> list[int]:
        instead = self.uses.get((op.number, d), {})
        found = []
        for n in op.deps:
            if n in instead:
                found.append(instead[n])
            elif n in self.run.ops:
                results = self._results(n, d)
                found += results[: (n, d) not in self.gone] if op.number in self.updates else results
        return found

    def _results(self, n: int, d: int) -> list[int]:
        """Return the tasks after which a device has the result of an operation."""
        own = [] if (n, d) in self.gone else [self.number[n, d]]
        return own + self.after.get((n, d), [])

    def _add(self, step: int, name: str, lane: tuple[int, str], seconds: float, deps: list[int], size: int) -> int:
        """Add a task of the exchange of a step."""
        found = self.gradients[step]
        order = (max if name == _PARAMETER else min)(found.all_users) + (0.5 if name == _PARAMETER else -0.5)
        task = Task(name, found.site, lane, (seconds,), 0.0, deps, order, step, urgent=True, size=size)
        self.program.tasks.append(task)
        self.exchanges.setdefault(step, []).append(len(self.program.tasks) - 1)
        return len(self.program.tasks) - 1

    def _exchange(self, step: int, found: Gradients) -> None:
        """Sum the gradients of a step, first over devices, then over ranks; updates use the sums."""
        m = self.machine
        slots = found.joint or any(sum(self.run.ops[n].in_place for n in users) > 1 for users in found.users.values())
        each = (m.devices == 2 and m.ranks == 1 and not slots) or m.local is not None or m.devices == 1
        owners = self._owners(found)
        sums: dict[int, list[int]] = {}  # of each gradient, for each device
        for g in found.users:
            sums[g] = self._sum(step, found, g, owners[g], each)
        if m.ranks > 1 and not self.recorded:
            self._reduce(step, found, sums, owners)
        for g, users in found.users.items():
            for d in range(m.devices):
                for n in users:
                    self.uses[n, d] = {**self.uses.get((n, d), {}), g: sums[g][d]}
        for n in found.all_users:
            for d in range(m.devices):
                self.program.tasks[self.number[n, d]].urgent = True
        if not each:
            self._divide(found, owners)
            for g in found.users:
                self._copies(step, found, g, owners[g])

    def _divide(self, found: Gradients, owners: dict[int, int]) -> None:
        """Let each device update the parameters whose gradients it has added."""
        for n in found.all_users:
            updated = [g for g, users in found.users.items() if n in users]
            total = sum(found.sizes[g] for g in updated) or 1
            for d in range(self.machine.devices):
                share = sum(found.sizes[g] for g in updated if owners[g] == d) / total
                task = self.program.tasks[self.number[n, d]]
                task.pieces = tuple(p * share for p in task.pieces)
                if not share:
                    self.gone.add((n, d))

    def _owners(self, found: Gradients) -> dict[int, int]:
        """Return the device that adds each gradient: all have as much to do."""
        loads = [0] * self.machine.devices
        owners = {}
        for g in sorted(found.users, key=lambda g: (-found.sizes[g], g)):
            owners[g] = loads.index(min(loads))
            loads[owners[g]] += found.sizes[g]
        return owners

    def _sum(self, step: int, found: Gradients, g: int, owner: int, each: bool) -> list[int]:
        """Add tasks for the sum of a gradient over devices; return the task that has the sum on each."""
        m, size = self.machine, found.sizes[g]
        all_of = [self.number[g, d] for d in range(m.devices)]
        if m.devices == 1:
            return all_of
        if m.local is not None:
            return [self._add(step, "sum over devices", LINKS, m.between_devices(size), all_of, size)] * m.devices
        at = range(m.devices) if each else [owner]
        lanes = [(self._device(self.run.ops[g].device, d), "compute") for d in at]
        seconds = found.update[g] * (m.devices - 1) * m.slowdown
        tasks = [self._add(step, "sum over devices", lane, seconds, all_of, size) for lane in lanes]
        return tasks if each else tasks * m.devices

    def _reduce(self, step: int, found: Gradients, sums: dict[int, list[int]], owners: dict[int, int]) -> None:
        """Add a collective for each bucket, and the copies into buckets."""
        for bucket in self._buckets({g: found.sizes[g] for g in found.users}):
            copies = []
            for g in bucket:
                lane = self._device(self.run.ops[g].device, owners[g]), "compute"
                seconds = found.update[g] * _COPY * self.machine.slowdown if len(bucket) > 1 else 0.0
                size = found.sizes[g]
                copies += [self._add(step, "copy to bucket", lane, seconds, [sums[g][0]], size)] if seconds else sums[g]
            size = sum(found.sizes[g] for g in bucket)
            task = self._add(step, "allreduce", NETWORK, self.machine.between_ranks(size), copies, size)
            self.program.tasks[task].core = self.machine.core_between_ranks(size)
            for g in bucket:
                sums[g] = [task] * self.machine.devices

    def _buckets(self, sizes: dict[int, int]) -> list[list[int]]:
        """Return gradients that are summed together: a bucket takes some until it has so many bytes, and one that has
        them is summed alone."""
        full: list[list[int]] = []
        some: list[int] = []
        size = 0
        for g, more in sizes.items():
            enough = self.machine.bucket if full else self.machine.first
            if more >= enough:
                full.append([g])
                continue
            some.append(g)
            size += more
            if size >= enough:
                full.append(some)
                some, size = [], 0
        return [*full, some] if some else full

    def _copies(self, step: int, found: Gradients, g: int, owner: int) -> None:
        """Let the owner update the parameter, and the other devices copy it."""
        users = found.users[g]
        last = users[-1]
        for d in range(self.machine.devices):
            if d == owner:
                continue
            lane = self._device(self.run.ops[g].device, d), "compute"
            seconds, size = found.update[g] * _COPY * self.machine.slowdown, found.sizes[g]
            copy = self._add(step, _PARAMETER, lane, seconds, [self.number[last, owner]], size)
            for n in users:
                self.after.setdefault((n, d), []).append(copy)

    def _thread(self, acts: list[Act]) -> list[Issue]:
        found: list[Issue] = []
        begun: set[int] = set()
        for _, some in groupby(acts, key=lambda a: (a.site, a.op > 0, a.step)):
            row = list(some)
            if row[0].op and row[0].step not in begun and self._is_exchange(row[0]):
                begun.add(row[0].step)
                pause = median(a.gap for a in row[1:]) if len(row) > 1 else 0.0
                for t in self.exchanges[row[0].step]:
                    task = self.program.tasks[t]
                    found.append(Issue(pause * self.python, t, (), 0.0, task.site, task.name, "", task.step))
            for d in range(self.machine.devices if row[0].op else 1):
                found += [i for a in row if (i := self._issue(a, d)) is not None]
        return found

    def _is_exchange(self, act: Act) -> bool:
        return act.step in self.exchanges and act.site == self.gradients[act.step].site

    def _issue(self, act: Act, d: int) -> Issue | None:
        if act.op:
            if (act.op, d) in self.gone or act.op not in self.run.ops:
                return None
            number = self.number[act.op, d]
            return Issue(act.gap * self.python, number, (), 0.0, act.site, act.name, act.cause, act.step)
        devices = range(self.machine.devices)
        needs = [t for n in act.needs if n in self.run.ops for k in devices for t in self._results(n, k)]
        return Issue(
            act.gap * self.python, -1, tuple(dict.fromkeys(needs)), act.wake, act.site, act.name, act.cause, act.step
        )
