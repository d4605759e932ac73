"""Submission and wake-up: an op that is submitted runs, whatever the workers do at that time: sleep, with or without a
time limit, look for work, or work.

Code: Engine::issue (engine.cpp); wake, start_all, sleep, wake_others, wake_for_leftovers, awake (worker_pool.cpp);
serve, finish_and_fetch, crowded_by_program (dispatcher.*); plan, pick (scheduler.cpp); leave_work, stops_looking
(producer.h). Fields of the same names: next_ (`head`), planned_, cost_ beyond planned_cost_ (`unseen_cost`), slots_,
gave_way_, looking_, left_ (`left_work`), and the queue's sleeping, `timed_waits`, searching and called. `asleep` are
the threads in Queue::parked, any of which may be woken.

Memory orders. next_, sleeping, searching, called, `timed_waits`, looking_, left_ are seq_cst in the code where one side
writes one and then reads another (a number, then the parked; sleeping, then the numbers): as here. planned_ is relaxed
and written under the lock; a thread without the lock that sees an old value sees too much fresh work, and requests an
unnecessary look. A slot is stored with release and loaded with acquire: it carries the op; a planning thread that does
not see it yet leaves the rest of the ring as fresh work. cost_ is relaxed and may lose one of two simultaneous
additions: only the wake-up of a worker in a timed wait depends on it, and that worker looks by itself (`lean`).

Left out: let_submit and spin, which only let time pass without the lock between two looks (a worker that leaves
this to another one sleeps for a limited time, and looks again); several queues, except `Other`.
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, notify_one, timed_out, unlock, wait, woken

TIMEOUTS = 1  # kTimeouts: timed waits of a worker before it sleeps


class Issuer(Program):
    """Engine::issue, once for each of its ops; then WorkerPool::wake."""

    def __init__(self, name: str, model: Wake, ops: int) -> None:
        self.model, self.first = model, "peek" if model.broken == "look_first" else "ticket"
        super().__init__(name, self.first, left=ops, seq=-1, saw=False)

    def peek(self, s: Any, me: Any) -> str:  # not in the code
        me.saw = s.sleeping > 0
        return "ticket"

    def ticket(self, s: Any, me: Any) -> str:
        me.seq, s.head = s.head, s.head + 1  # next_.fetch_add
        me.left -= 1
        return "count"

    def next(self, me: Any) -> str:
        return self.first if me.left else END

    def count(self, s: Any, me: Any) -> str:
        s.unseen_cost |= self.model.big(me.seq)  # fresh_cost(): from kWakeCost on or not
        return "put"

    def put(self, s: Any, me: Any) -> str:
        s.slots = put(s.slots, me.seq, "there")
        return "check_sleeping"

    def check_sleeping(self, s: Any, me: Any) -> str:
        sleep = me.saw if self.model.broken == "look_first" else s.sleeping > 0
        return "check_timed_waits" if sleep else self.next(me)

    def check_timed_waits(self, s: Any, me: Any) -> str:
        return "check_searching" if s.timed_waits == 0 or s.unseen_cost else self.next(me)

    def check_searching(self, s: Any, me: Any) -> str:  # wake() begins
        return self.next(me) if s.searching > 0 else "check_called"

    def check_called(self, s: Any, me: Any) -> str:
        return self.next(me) if s.called else "tell"

    def tell(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number):
            return None
        tell(s)
        unlock(s)
        return self.next(me)


def put(slots: tuple[Any, ...], at: int, what: Any) -> tuple[Any, ...]:
    return (*slots[:at], what, *slots[at + 1 :])


def tell(s: Any) -> None:
    """The part of wake() that holds the lock."""
    if not s.started:
        s.started, s.sleeping = True, s.sleeping - 1  # start_all
    elif s.sleeping > 0:
        s.called = True
        notify_one(s, "asleep")


def awake(s: Any, model: Wake) -> int:
    """WorkerPool::awake, once the workers have been started."""
    return int(model.workers - s.sleeping + s.looking)


def wake_others(s: Any, me: Any, model: Wake, wanted: bool, then: str) -> str:
    """WorkerPool::wake_others, for this queue, and the unlock after it; the step after these is `then`. `wanted`:
    something has changed, or the caller has taken work that is worth a wake-up.
    """
    if s.busy < model.cores and s.ready and s.sleeping > 0 and s.started and wanted:
        if awake(s, model) >= model.cores:
            me.then = then
            return "leave_work" if model.broken != "looks_first" else "still_look"
        notify_one(s, "asleep")
    unlock(s)
    return then


class Waker(Program):
    """The steps of Producer::leave_work, in which other threads may stop looking."""

    model: Wake

    def leave_work(self, s: Any, me: Any) -> str:
        s.left_work = True
        return "still_look" if self.model.broken != "looks_first" else self.leave(s, me)

    def still_look(self, s: Any, me: Any) -> str:
        if not s.looking:
            notify_one(s, "asleep")
        elif self.model.broken == "looks_first":
            return "leave_work"
        return self.leave(s, me)

    def leave(self, s: Any, me: Any) -> str:
        then, me.then = str(me.then), ""
        unlock(s)
        return then


def plan(s: Any, last: int) -> None:
    """The second half of Scheduler::plan: up to the first slot that is still empty."""
    while s.planned < last and s.slots[s.planned] == "there":
        s.ready |= {s.planned}
        s.planned += 1


def enter(s: Any, me: Any, number: int, then: str) -> str | None:
    """The lock, and the number up to which plan() will look."""
    if not lock(s, number):
        return None
    me.last = s.head
    return then


class Worker(Waker):
    """Dispatcher::serve and the functions that it calls: finish_and_fetch, plan, sleep. Created when started."""

    serves = True

    def __init__(self, name: str, model: Wake) -> None:
        looked = {"timed": False, "changed": False, "worked": False, "left": False, "overslept": False}
        super().__init__(name, "born", op=-1, last=0, timeouts=0, then="", **looked)
        self.model = model

    def born(self, s: Any, me: Any) -> str | None:
        if not s.started:
            return None
        s.searching += 1
        return "enter"

    def enter(self, s: Any, me: Any) -> str | None:  # finish_and_fetch: the lock, finish, pick
        if not lock(s, self.number):
            return None
        me.changed = me.worked = me.op >= 0
        if me.op >= 0:
            s.busy -= 1
            s.ended |= {me.op}
            me.op = -1
        return self.find(s, me)

    def find(self, s: Any, me: Any) -> str:
        """Scheduler::pick, with the lock held."""
        s.gave_way = False
        crowded = s.looking > 0 and awake(s, self.model) > self.model.cores
        if me.overslept and s.seen_head != s.head and awake(s, self.model) >= max(2, self.model.cores):
            s.seen_head, crowded = s.head, True  # crowded_by_program()
        me.overslept = False
        me.left = crowded or self.model.left_to_helper(s, me)
        if s.ready and not me.left:
            if s.busy > 0 and s.busy + 1 == self.model.cores and s.seen_head != s.head:
                s.seen_head, s.gave_way = s.head, True  # issuing(): it needs the core
            elif s.busy < self.model.cores:
                me.op = min(s.ready)
                s.ready -= {me.op}
                s.busy += 1
                me.changed, me.timeouts = False, 0
                return wake_others(s, me, self.model, True, "away")
        return "look"

    def look(self, s: Any, me: Any) -> str:  # fresh_work()
        if s.head != s.planned:
            if self.model.tiny and s.head != s.left_head:
                s.left_head = s.head
                me.left = me.left or (not s.unseen_cost and s.choose(2) > 0)  # left_to_issuer()
            if not me.left:
                return "forget"
        elif self.model.broken == "looks_again":
            me.left = self.model.left_to_helper(s, me)
        left = me.left or (s.gave_way and self.model.broken != "gave_way")
        me.left = me.changed = me.worked = False
        return "timed_wait" if me.timeouts < TIMEOUTS or left else "sleep"

    def forget(self, s: Any, me: Any) -> str:  # plan(): unseen_cost_ is set back first, then head_ is read
        s.unseen_cost = False
        return "read_head"

    def read_head(self, s: Any, me: Any) -> str:
        me.last = s.head
        return "plan"

    def plan(self, s: Any, me: Any) -> str:
        plan(s, me.last)
        me.last, me.changed = 0, True
        if not s.ready and s.head != s.planned:
            unlock(s)  # it looks repeatedly until the slot is filled; others need the lock meanwhile only to sleep less
            return "enter"
        return self.find(s, me)

    # WorkerPool::sleep, for a while.
    def timed_wait(self, s: Any, me: Any) -> str:
        me.timeouts, me.timed = me.timeouts + (me.timeouts < TIMEOUTS), True
        s.timed_waits += 1
        return "sleep" if self.model.broken != "look_before_sleeping" else "not_searching"

    # For good, and for a while from here on.
    def sleep(self, s: Any, me: Any) -> str:
        if self.model.broken == "look_before_sleeping" and not me.timed:
            if s.head != s.planned:
                return "look"
            s.sleeping += 1
            return "not_searching"
        s.sleeping += 1
        return "not_searching"

    def not_searching(self, s: Any, me: Any) -> str:
        s.searching -= self.model.broken != "looks_asleep"
        return "last_check"

    def last_check(self, s: Any, me: Any) -> str:
        blind = self.model.broken in ("look_before_sleeping", "no_last_check")
        if not me.timed and s.head != s.planned and not blind:
            return "wakes"
        wait(s, self.number, "asleep")
        return "asleep"

    def asleep(self, s: Any, me: Any) -> str | None:
        if me.timed and not self.model.endless and self.number in s.asleep:
            if not timed_out(s, self.number, "asleep"):  # relies on time: wait_for(kTimeout)
                return None
            # No fault of those that are modelled lies in this, which multiplies the states.
            me.overslept = not self.model.broken and s.seen_head != s.head
            return "wakes"
        return "wakes" if woken(s, self.number, "asleep") else None

    def wakes(self, s: Any, me: Any) -> str:
        s.searching += self.model.broken != "looks_asleep"
        return "up"

    def up(self, s: Any, me: Any) -> str:
        s.sleeping -= 1
        s.timed_waits -= me.timed
        me.timed = False
        return "answer"

    def answer(self, s: Any, me: Any) -> str:
        if s.called and self.model.broken != "stays_called":
            s.called, me.timeouts = False, 0
        return self.find(s, me)

    # serve: its op takes long, so it does not count as searching.
    def away(self, s: Any, me: Any) -> str:
        s.searching -= 1
        return "run" if self.model.broken == "goes_away_silently" else "before_away"

    def before_away(self, s: Any, me: Any) -> str:
        return "check_searching" if s.head != s.planned and s.sleeping > 0 else "run"

    def check_searching(self, s: Any, me: Any) -> str:  # wake()
        return "run" if s.searching > 0 else "check_called"

    def check_called(self, s: Any, me: Any) -> str:
        return "run" if s.called else "tell"

    def tell(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number):
            return None
        tell(s)
        unlock(s)
        return "run"

    def run(self, s: Any, me: Any) -> str | None:
        if not self.model.may_end(me.op, s):
            return None
        s.searching += 1
        return "enter"


class Helper(Waker):
    """A thread that waits: it tries to run small ops, although no small ops exist (settle_small), and leaves planned
    ops to itself; it helps once (Waiter::wait_until), or is interrupted before; then it continues the program.
    """

    def __init__(self, name: str, model: Wake) -> None:
        start = "begins_to_look" if model.in_vain else "tries"
        super().__init__(name, start, last=0, op=-1, rest=False, left=False, then="")
        self.model = model

    def tries(self, s: Any, me: Any) -> str | None:
        return enter(s, me, self.number, "looks")

    def looks(self, s: Any, me: Any) -> str:
        plan(s, me.last)
        s.unseen_cost = False
        me.left = bool(s.ready and s.sleeping)  # `leaves`
        unlock(s)
        if not self.model.interrupted:
            return "comes"
        return "leaves" if me.left and self.model.broken != "interrupted_silently" else "waits"

    def comes(self, s: Any, me: Any) -> str:
        s.helping += 1
        return "begins_to_look"

    def begins_to_look(self, s: Any, me: Any) -> str:
        s.looking += not self.model.tiny
        return "stops_looking" if self.model.in_vain else "enter"

    def enter(self, s: Any, me: Any) -> str | None:
        return enter(s, me, self.number, "take")

    def take(self, s: Any, me: Any) -> str:
        plan(s, me.last)
        s.unseen_cost = False
        if s.ready and s.busy < self.model.cores:
            me.op = min(s.ready)
            s.ready -= {me.op}
            s.busy += 1
        return wake_others(s, me, self.model, True, "stops_looking" if me.op < 0 else "ends")

    def ends(self, s: Any, me: Any) -> str | None:  # help() looks again, and takes nothing more
        if not self.model.may_end(me.op, s) or not lock(s, self.number):
            return None
        s.busy -= 1
        s.ended |= {me.op}
        me.op = -1
        me.rest = bool(s.ready and s.sleeping)  # `leaves`
        unlock(s)
        return "stops_looking"

    def stops_looking(self, s: Any, me: Any) -> str:
        s.looking -= not self.model.tiny
        return "left_work"

    def left_work(self, s: Any, me: Any) -> str:
        if not s.left_work or self.model.broken == "forgets_left_work":
            return "goes"
        s.left_work = False
        return "wakes"

    def wakes(self, s: Any, me: Any) -> str | None:
        return self.wake_for_leftovers(s, me, "goes")

    def goes(self, s: Any, me: Any) -> str:
        s.helping -= not self.model.in_vain
        return "leaves" if (me.rest or me.left) and self.model.broken != "leaves_silently" else "waits"

    def leaves(self, s: Any, me: Any) -> str | None:
        me.rest = me.left = False
        return self.wake_for_leftovers(s, me, "waits")

    def wake_for_leftovers(self, s: Any, me: Any, then: str) -> str | None:
        if not lock(s, self.number):
            return None
        return wake_others(s, me, self.model, not s.timed_waits or not (s.busy or self.model.tiny), then)

    def waits(self, s: Any, me: Any) -> str | None:
        return END if len(s.ended) == self.model.ops else None


class Other(Waker):
    """A worker of another queue, whose pick() plans before it takes an op of its own queue."""

    def __init__(self, name: str, model: Wake) -> None:
        super().__init__(name, "enter", last=0, then="")
        self.model = model

    def enter(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number):
            return None
        s.unseen_cost = False
        me.last = s.head
        return "plan"

    def plan(self, s: Any, me: Any) -> str:
        plan(s, me.last)
        return wake_others(s, me, self.model, self.model.broken != "plans_silently", "run")  # ended_early_

    def run(self, s: Any, me: Any) -> str | None:  # its own op takes as long as any other
        return END if len(s.ended) == self.model.ops else None


class Wake(Model):
    """`cost`: "big", worth a wake-up, or "tiny". `meet`: op 0 ends only when all others have.
    `interrupted`: the helper's wait is, before it begins to help. `in_vain`: the helper has found no op."""

    mutants: ClassVar = {
        "look_first": "issue counts the sleeping workers before it draws its number",
        "look_before_sleeping": "a worker reads the numbers before it counts itself as sleeping",
        "no_last_check": "a worker sleeps without a last look at the numbers",
        "looks_asleep": "a sleeping worker still counts as one that looks",
        "stays_called": "a worker that wakes up does not reset the mark that it was called",
        "goes_away_silently": "a worker starts a long op without checking whether a thread relied on it",
        "plans_silently": "a worker of another queue plans in pick() and notifies no thread (past bug)",
        "leaves_silently": "a thread that has helped, and continues, notifies no thread of remaining ops (past bug)",
        "interrupted_silently": "a thread that left work to itself is interrupted, and notifies no thread of it",
        "looks_again": "a worker that left work to a waiting thread checks again whether it waits, and sleeps",
        "looks_first": "a thread reads whether a waiting one looks for work before it notes that work is left to it",
        "forgets_left_work": "a thread that stops looking for work does not check whether work was left to it",
        "gave_way": "a worker that leaves the core to the front end sleeps for good (past bug)",
    }

    def __init__(
        self,
        broken: str | None = None,
        issuers: tuple[int, ...] = (1, 1),
        workers: int = 2,
        cost: str = "big",
        meet: bool = False,
        cores: int = 3,
        helper: bool = False,
        other: bool = False,
        endless: bool = False,
        interrupted: bool = False,
        in_vain: bool = False,
    ) -> None:
        self.broken, self.endless, self.interrupted, self.in_vain = broken, endless, interrupted, in_vain
        self.workers, self.cores = workers, cores
        self.tiny, self.meet, self.ops = cost == "tiny", meet, sum(issuers)
        none: frozenset[int] = frozenset()
        shared = {
            "head": 0,
            "planned": 0,
            "slots": ("",) * self.ops,
            "unseen_cost": False,
            "left_head": 0,
            "ready": none,
            "ended": none,
            "busy": 0,
            "seen_head": 0,
            "sleeping": 1,
            "timed_waits": 0,
            "searching": 0,
            "called": False,
            "helping": 0,
            "looking": 0,
            "left_work": False,
            "gave_way": False,
            "started": False,
            "mutex": None,
            "asleep": none,
        }
        threads: list[Program] = [Issuer(f"issuer {i}", self, n) for i, n in enumerate(issuers)]
        threads += [Worker(f"worker {i}", self) for i in range(workers)]
        threads += [Helper("helper", self)] * helper + [Other("other", self)] * other
        super().__init__(shared, threads)

    def big(self, op: int) -> bool:
        return not self.tiny

    def left_to_helper(self, s: Any, me: Any) -> bool:
        return bool(s.helping if self.tiny else s.looking and not (me.worked or s.busy))

    def may_end(self, op: int, s: Any) -> bool:
        return not self.meet or op > 0 or len(s.ended) == self.ops - 1

    def always(self, s: Any, own: list[Any]) -> None:
        if s.ready & s.ended or not s.planned <= s.head:
            raise Violation("an op is ready and has ended")
        if s.busy > self.cores:
            raise Violation("more threads run kernels than there are cores")

    def complete(self, s: Any) -> bool:
        return len(s.ended) == self.ops

    def at_end(self, s: Any, own: list[Any]) -> None:
        if s.busy < 0 or s.ready:
            raise Violation("an op was run twice, or a core is released twice")
