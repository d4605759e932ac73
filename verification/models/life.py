"""Life cycle: workers stop and start again while other threads issue; a fork finds the engine at rest, and the
child can continue.

Code: stop_workers, at_rest, after_fork, issue (engine.cpp); begin_stop, finish_stop, start, start_all, wake
(worker_pool.cpp); serve (dispatcher.cpp); SubmissionGate::close, open, wait_open
(core/python/runtime/waiting/submission_gate.cpp); quiesce (core/python/runtime/wait.cpp); before_fork, after_fork
(core/python/runtime/fork_exit.cpp). Fields of the same names: started_, stopping_, serving_ (`live`), helping_,
owner_ of the gate (`gate`), and the queue's sleeping, searching, called. `gil` is the front end's lock, `memory` a lock
of the allocator, below the engine.

Ops are counted, not distinguished: `pending` have been issued and have not ended (next_ - front_), `marked` of
them a quiescing thread waits for. One worker runs them all; a waiting thread runs those that are not host
tasks.

Memory orders: all shared fields are seq_cst in the code, or guarded by mutex_ (started_) or the front
end's lock (`gate`, which is written with that lock held, as every submitting thread holds it).
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, notify_all, notify_one, unlock, wait, woken


class Engine(Program):
    """A thread of this process; a child has only the thread that forked, and those that it starts."""

    def __init__(self, name: str, start: str, model: Life, **own: Any) -> None:
        super().__init__(name, start, **own)
        self.model = model


def start_workers(s: Any) -> None:
    s.started, s.sleeping = True, s.sleeping - 1
    s.live, s.to_start = s.live + 1, s.to_start + 1


class Worker(Engine):
    """serve(), repeatedly: each time a thread is started."""

    serves = True

    def gone(self, s: Any) -> bool:
        return bool(s.child) and self.name != "child's"

    def born(self, s: Any, me: Any) -> str | None:
        if not s.to_start or self.gone(s) or (self.name == "child's" and not s.child):
            return None
        s.to_start -= 1
        s.searching += 1
        return "enter"

    def enter(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or not lock(s, self.number):
            return None
        if s.stopping:
            unlock(s)
            return "leaves"
        if s.pending > s.running:
            s.running += 1
            unlock(s)
            return "run"
        return "sleep"

    def run(self, s: Any, me: Any) -> str | None:  # a host task takes the front end's lock
        if self.gone(s) or (self.model.host and s.gil is not None) or (self.model.dependent and not s.event):
            return None
        return "ends"

    def ends(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or s.mutex is not None:
            return None
        end(s)
        return "enter"

    def sleep(self, s: Any, me: Any) -> str | None:
        if self.gone(s):
            return None
        s.sleeping += 1
        return "not_searching"

    def not_searching(self, s: Any, me: Any) -> str | None:
        if self.gone(s):
            return None
        s.searching -= 1
        return "last_check"

    def last_check(self, s: Any, me: Any) -> str | None:
        if self.gone(s):
            return None
        if s.pending > s.running:
            return "wakes"
        wait(s, self.number, "asleep")
        return "asleep"

    def asleep(self, s: Any, me: Any) -> str | None:
        return "wakes" if not self.gone(s) and woken(s, self.number, "asleep") else None

    def wakes(self, s: Any, me: Any) -> str | None:
        if self.gone(s):
            return None
        s.searching += 1
        s.sleeping -= 1
        s.called = False
        unlock(s)
        return "enter"

    def leaves(self, s: Any, me: Any) -> str | None:
        if self.gone(s):
            return None
        s.searching -= 1
        s.live -= 1
        return "born"


def end(s: Any) -> None:
    s.running, s.pending = s.running - 1, s.pending - 1
    s.marked = tuple(max(0, n - 1) for n in s.marked)


class Front(Engine):
    """A thread that issues `ops` ops, and waits for the last; or issues without end."""

    def __init__(self, name: str, model: Life) -> None:
        super().__init__(name, "lock", model, left=model.ops, patience=1 if model.endless else model.ops)
        self.serves = model.endless

    def lock(self, s: Any, me: Any) -> str | None:
        return None if s.child or not lock(s, self.number, "gil") else "must_wait"

    def must_wait(self, s: Any, me: Any) -> str:
        if (s.gate is None or self.model.broken == "no_gate") and s.pending < 2:
            return "ticket"
        unlock(s, "gil")
        return "make_room" if s.pending >= 2 else "wait_at_gate"

    def make_room(self, s: Any, me: Any) -> str | None:  # the window is full: make_room
        return None if s.child or s.pending >= 2 else "lock_again"

    def wait_at_gate(self, s: Any, me: Any) -> str | None:
        if s.child:
            return None
        if s.gate is None:
            return "lock_again"
        if (
            me.patience and self.model.broken != "waits_for_ever"
        ):  # relies on time: no thread waits there for more than a second
            me.patience -= 1
            return "comes_through"
        return None

    def comes_through(self, s: Any, me: Any) -> str | None:
        return None if s.child or not lock(s, self.number, "gil") else "ticket"

    def lock_again(self, s: Any, me: Any) -> str | None:
        if s.child or not lock(s, self.number, "gil"):
            return None
        return "ticket" if self.model.broken == "checks_once" else "must_wait"

    def ticket(self, s: Any, me: Any) -> str:
        s.pending += 1
        me.left -= not self.model.endless
        return "check_sleeping"

    def check_sleeping(self, s: Any, me: Any) -> str:
        return "check_searching" if s.sleeping > 0 else "issued"

    def check_searching(self, s: Any, me: Any) -> str:
        return "issued" if s.searching > 0 else "check_called"

    def check_called(self, s: Any, me: Any) -> str:
        return "issued" if s.called else "tell"

    def tell(self, s: Any, me: Any) -> str | None:
        if s.mutex is not None:
            return None
        if not s.started:
            start_workers(s)
        elif s.sleeping > 0:
            s.called = True
            notify_one(s, "asleep")
        return "issued"

    def issued(self, s: Any, me: Any) -> str:
        if not me.left:
            s.event = True  # a host task may wait for it
        unlock(s, "gil")
        return "lock" if me.left else "wait"

    def wait(self, s: Any, me: Any) -> str | None:
        return None if s.child or s.pending else END


class Helper(Engine):
    """A thread that waits: it runs an op if there is one, and frees memory when it has released the engine's lock."""

    serves = True

    def comes(self, s: Any, me: Any) -> str | None:
        if s.child or s.pending <= s.running:
            return None
        s.helping += 1
        return "take"

    def take(self, s: Any, me: Any) -> str | None:
        if s.child or s.mutex is not None:
            return None
        if s.pending <= s.running or s.stopping:
            s.helping -= 1
            return "comes"
        s.running += 1
        return "ends"

    def ends(self, s: Any, me: Any) -> str | None:
        if s.child or s.mutex is not None:
            return None
        end(s)
        return "release"

    def release(self, s: Any, me: Any) -> str | None:
        return None if s.child or not lock(s, self.number, "memory") else "released"

    def released(self, s: Any, me: Any) -> str | None:
        if s.child:
            return None
        unlock(s, "memory")
        s.helping -= 1
        return "comes"


class Forks(Engine):
    """before_fork, the fork, and the steps of both processes after it: issue an op, wait for it, and quiesce again."""

    def __init__(self, name: str, model: Life, me: int) -> None:
        super().__init__(name, "close_gate", model, second=False)
        self.me = me

    def mark(self, s: Any, n: int) -> None:
        s.marked = (*s.marked[: self.me], n, *s.marked[self.me + 1 :])

    def gone(self, s: Any) -> bool:
        return s.child not in (None, self.number)

    def close_gate(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or (s.gate is not None and self.model.broken != "two_drain") or not lock(s, self.number, "gil"):
            return None
        s.gate = self.number
        return "quiesce"

    def quiesce(self, s: Any, me: Any) -> str:
        self.mark(s, s.pending)
        unlock(s, "gil")
        return "drain"

    def drain(self, s: Any, me: Any) -> str | None:  # wait_mark
        if self.gone(s):
            return None
        if self.model.signals and not me.second and s.choose(2):
            return "raised"
        return None if s.marked[self.me] else "stop"

    def raised(self, s: Any, me: Any) -> str | None:  # a signal's handler raises, and the fork proceeds
        return "fork" if not self.gone(s) and lock(s, self.number, "gil") else None

    def stop(self, s: Any, me: Any) -> str | None:  # stop_workers
        if self.gone(s) or s.mutex is not None:
            return None
        if not s.started:
            return "look"
        s.stopping = True
        notify_all(s, "asleep")
        return "join"

    def join(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or s.live:
            return None
        if s.joins:
            raise Violation("two threads join the same workers")
        s.joins = True
        return "joined"

    def joined(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or s.mutex is not None:
            return None
        s.joins = s.stopping = s.started = s.called = False
        s.sleeping = 1
        return "look"

    def look(self, s: Any, me: Any) -> str | None:  # at_rest, with both locks
        if self.gone(s) or s.mutex is not None or not lock(s, self.number, "gil"):
            return None
        if s.pending or (s.started and self.model.broken != "rests_with_workers"):
            if not s.started and self.model.broken != "strands":
                start_workers(s)
            return "quiesce"
        if me.second:
            s.gate = None
            unlock(s, "gil")
            return END
        return "fork"

    def fork(self, s: Any, me: Any) -> str | None:
        """before_fork takes all locks but the front end's, which this thread has; then after_fork."""
        if s.mutex is not None or (s.memory is not None and self.model.broken != "forks_unlocked"):
            return None
        me.second = s.event = True
        s.child = self.number if s.choose(2) else None
        if self.model.broken != "stays_closed" or s.child is None:
            s.gate = None if self.model.broken != "stays_closed" else s.gate
        if s.child is not None:
            if s.memory is not None:
                raise Violation("the child has a lock that no thread will release")
            if s.pending and self.model.broken != "continues":
                s.pending, s.child = (
                    0,
                    self.number,
                )  # lost_: pending work belongs to the parent, and so does the engine
                unlock(s, "gil")
                return END
            if s.running or (s.live and not self.model.signals):
                raise Violation("the child has work or workers that only the parent runs")
            s.live = s.to_start = 0  # it forgets the threads of its parent
            s.asleep, s.sleeping, s.searching, s.called, s.helping, s.started = (
                frozenset(),
                1,
                0,
                False,
                0,
                False,
            )
        unlock(s, "gil")
        return "issue"

    def issue(self, s: Any, me: Any) -> str | None:
        if self.gone(s) or s.mutex is not None or s.gil is not None:
            return None
        if s.gate not in (None, self.number):  # at the gate
            return None
        s.pending += 1
        if not s.started:
            start_workers(s)
        elif s.sleeping > 0 and not s.searching and not s.called:  # wake(), whose single steps are those of Front
            s.called = True
            notify_one(s, "asleep")
        return "close_gate"


class Life(Model):
    """`forks` threads that fork beside one that issues. `host`: ops that need the front end's lock, and a worker.

    `dependent`: issued ops wait for the issuing thread to continue. `endless`: it never stops issuing.
    `signals`: the wait before a fork may be ended by one.
    """

    mutants: ClassVar = {
        "strands": "workers that have been stopped do not start again for ops issued meanwhile (past bug)",
        "rests_with_workers": "the engine is at rest with workers that another thread's op has started (past bug)",
        "forks_unlocked": "a process forks while a waiting thread frees memory (past bug)",
        "two_drain": "two threads quiesce the engine at once (past bug)",
        "no_gate": "a thread that issues without end is not blocked (past bug)",
        "checks_once": "a thread that has waited at the gate does not check whether it is closed again",
        "waits_for_ever": "an issuing thread waits at the gate however long quiescing takes",
        "continues": "a child continues the parent's pending work (past bug)",
        "stays_closed": "the gate stays closed after a fork (past bug, if a signal's handler raised there)",
    }

    def __init__(
        self,
        broken: str | None = None,
        ops: int = 1,
        forks: int = 1,
        host: bool = True,
        helper: bool = False,
        dependent: bool = False,
        endless: bool = False,
        signals: bool = False,
    ) -> None:
        self.signals = signals
        self.broken, self.ops, self.host, self.dependent, self.endless = broken, ops, host, dependent, endless
        shared = {
            "gil": None,
            "mutex": None,
            "gate": None,
            "memory": None,
            "pending": 0,
            "running": 0,
            "marked": (0,) * forks,
            "event": not dependent,
            "started": False,
            "stopping": False,
            "sleeping": 1,
            "searching": 0,
            "called": False,
            "asleep": frozenset(),
            "live": 0,
            "to_start": 0,
            "helping": 0,
            "joins": False,
            "child": None,
        }
        threads: list[Program] = [
            Worker("worker", "born", self),
            Worker("child's", "born", self),
            Front("front end", self),
        ]
        threads += [Helper("helper", "comes", self)] * helper
        threads += [Forks(f"fork {i}", self, i) for i in range(forks)]
        super().__init__(shared, threads)

    def gone(self, s: Any, thread: Program) -> bool:
        return s.child not in (None, thread.number)

    def complete(self, s: Any) -> bool:
        return not s.pending or self.endless
