"""Completion and waiting: a thread that waits for writes, for a mark, or for a slot is notified, whenever it
goes to sleep.

Code: end_one (dependency_graph.cpp); finish_and_fetch's end (dispatcher.cpp); wait_until, wait, wait_mark, make_room
(waiter.cpp); notify, front_is, arm (notifier.cpp). Fields of the same names: Storage::ended (`ended`),
Storage::watched, front_, mark_ (`watch_mark`), due_ (`notify`), notifications_. `asleep` are the threads that wait for
wake_.

No thread is woken by time here: the model does not rely on the slices of a wait (40 ms, to check for signals).

Memory orders: `ended`, `watched`, front_ and mark_ are seq_cst in the code, as here: the side that ends
an op writes `ended` and then reads `watched`; a thread that waits writes `watched` and then reads `ended`. One of the
two sees the other. notifications_ is written with the lock of Notifier held, and the read that decides has it, too.
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, notify_all, unlock, wait, woken

NEVER = 99  # UINT64_MAX


class Ender(Program):
    """A worker: it ends ops in order; each writes the storage. It has the lock, but not when it notifies."""

    serves = True

    def __init__(self, name: str, model: Completion) -> None:
        super().__init__(name, "take", op=0, armed=0, notify=False)
        self.model = model

    def take(self, s: Any, me: Any) -> str | None:
        if s.front >= self.model.ops or (self.model.chain and s.front > s.gone) or not lock(s, self.number):
            return None
        return "notify_first" if self.model.broken == "notify_first" else "ended"

    def notify_first(self, s: Any, me: Any) -> str | None:  # not in the code
        if s.watch_mutex is not None:
            return None
        notify_all(s, "asleep")
        return "ended"

    def ended(self, s: Any, me: Any) -> str:  # end_one: s.ended.fetch_add
        s.ended += 1
        return "watched"

    def watched(self, s: Any, me: Any) -> str:
        return "unwatch" if s.watched else self.then()

    def unwatch(self, s: Any, me: Any) -> str:
        s.watched, s.notify = False, True
        return self.then()

    def then(self) -> str:
        return "mark_first" if self.model.broken == "mark_first" else "front"

    def mark_first(self, s: Any, me: Any) -> str:  # not in the code
        me.armed = s.watch_mark
        return "front"

    def front(self, s: Any, me: Any) -> str:  # front_.store
        s.front += 1
        return "watch_mark"

    def watch_mark(self, s: Any, me: Any) -> str:
        armed = me.armed if self.model.broken == "mark_first" else s.watch_mark
        return "disarm" if s.front >= armed else "leave"

    def disarm(self, s: Any, me: Any) -> str:  # mark_.store(UINT64_MAX), due_ = true
        s.watch_mark, s.notify = NEVER, True
        return "leave"

    def leave(self, s: Any, me: Any) -> str:  # the end of finish_and_fetch
        me.notify = s.notify or self.model.hands
        s.notify = False
        me.armed = 0
        unlock(s)
        if self.model.broken == "notify_first":
            me.notify = False
        return "tell" if me.notify else "take"

    def tell(self, s: Any, me: Any) -> str | None:  # notify
        if self.model.broken != "notify_without_mutex" and s.watch_mutex is not None:
            return None
        s.notifications = s.notifications + 1 if self.model.hands else 0
        me.notify = False
        notify_all(s, "asleep")
        return "take"


class Sleeping(Program):
    """A thread that sleeps on wake_, and then checks whether its condition holds."""

    def asleep(self, s: Any, me: Any) -> str | None:
        if not woken(s, self.number, "asleep", "watch_mutex"):
            return None
        unlock(s, "watch_mutex")
        return "done"


class Waiter(Sleeping):
    """wait_until for `kind`: a number of ended writes, or a mark. Issues first if it waits for a slot."""

    def __init__(self, name: str, model: Completion, kind: str, target: int) -> None:
        super().__init__(name, "done", seen=0)
        self.model, self.kind, self.target = model, kind, target

    def reached(self, s: Any) -> bool:
        return bool((s.ended if self.kind == "storage" else s.front) >= self.target)

    def done(self, s: Any, me: Any) -> str:
        if self.reached(s):
            s.gone += self.model.chain
            return END
        return "watch"

    def watch(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number, "watch_mutex"):
            return None
        if self.model.broken == "arm_late":
            return "look_unarmed"
        return "arm" if self.kind == "storage" else "read_mark"

    def look_unarmed(self, s: Any, me: Any) -> str:  # not in the code
        if self.reached(s):
            unlock(s, "watch_mutex")
            return "done"
        return "arm" if self.kind == "storage" else "read_mark"

    def arm(self, s: Any, me: Any) -> str:  # storage.watched.store(true)
        s.watched = True
        return "look_again"

    def read_mark(self, s: Any, me: Any) -> str:  # mark_.load
        me.seen = s.watch_mark
        return "lower" if self.target < me.seen or self.model.broken == "store_mark" else "look_again"

    def lower(self, s: Any, me: Any) -> str:  # compare_exchange
        if self.model.broken == "store_mark":
            s.watch_mark, me.seen = self.target, 0
            return "look_again"
        if s.watch_mark != me.seen:
            return "read_mark"
        s.watch_mark, me.seen = self.target, 0
        return "look_again"

    def look_again(self, s: Any, me: Any) -> str:
        me.seen = 0
        if self.model.broken != "arm_late" and self.reached(s):
            unlock(s, "watch_mutex")
            return "done"
        wait(s, self.number, "asleep", "watch_mutex")
        return "asleep"


class Hand(Sleeping):
    """A thread that waits in an engine without workers: it runs the op itself, unless another has taken it.

    Op 1 waits for op 0. A thread that finds no op to run sleeps; notifications_ changes when there may be work again.
    """

    def __init__(self, name: str, model: Completion, target: int) -> None:
        super().__init__(name, "notifications", seen=0, op=-1)
        self.model, self.target = model, target

    def notifications(self, s: Any, me: Any) -> str:
        me.seen = s.notifications
        return "help"

    def help(self, s: Any, me: Any) -> str | None:  # finish_and_fetch: pick_any
        if s.mutex is not None:
            return None
        if s.front < self.model.ops and s.front not in s.running:
            me.op = s.front
            s.running |= {me.op}
            return "run"
        return "watch"

    def run(self, s: Any, me: Any) -> str | None:  # finish_and_fetch: finish, with the lock
        if s.mutex is not None:
            return None
        s.running -= {me.op}
        s.front, s.ended, me.op = s.front + 1, s.ended + 1, -1
        return "tell"

    def tell(self, s: Any, me: Any) -> str | None:  # due_ = true without workers; notify
        if s.watch_mutex is not None:
            return None
        s.notifications += 1
        notify_all(s, "asleep")
        return "done"

    def done(self, s: Any, me: Any) -> str:
        return END if s.front >= self.target else "notifications"

    def watch(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number, "watch_mutex"):
            return None
        return "look_again"

    def look_again(self, s: Any, me: Any) -> str:
        if s.front >= self.target:
            unlock(s, "watch_mutex")
            return END
        if s.notifications != me.seen and self.model.broken != "notified_nothing":
            unlock(s, "watch_mutex")
            return "notifications"
        wait(s, self.number, "asleep", "watch_mutex")
        return "asleep"


class Completion(Model):
    """`waits`: kind and target of each waiter. `hands`: no workers, two threads that run and wait.

    `chain`: op n is issued only after n waiters have continued, as in a program that issues it after its wait.
    """

    mutants: ClassVar = {
        "notify_first": "waiters are notified before the op counts as ended",
        "notify_without_mutex": "waiters are notified without their mutex",
        "arm_late": "a waiter checks, arms, and does not check again",
        "mark_first": "a thread that ends an op reads mark_ before it moves front_",
        "store_mark": "a waiter overwrites a mark that is nearer than its own",
        "notified_nothing": "without workers, a waiter sleeps although an op has ended since it looked (past bug)",
    }

    def __init__(
        self,
        broken: str | None = None,
        waits: tuple[tuple[str, int], ...] = (("storage", 1), ("storage", 2), ("mark", 2)),
        ops: int = 2,
        hands: bool = False,
        chain: bool = False,
    ) -> None:
        self.broken, self.ops, self.hands, self.chain = broken, ops, hands, chain
        none: frozenset[int] = frozenset()
        shared = {
            "ended": 0,
            "watched": False,
            "front": 0,
            "watch_mark": NEVER,
            "notify": False,
            "notifications": 0,
            "mutex": None,
            "watch_mutex": None,
            "asleep": none,
            "running": none,
            "gone": 0,
        }
        threads: list[Program] = []
        if hands:
            threads = [Hand("first", self, 1), Hand("second", self, 2)]
        else:
            threads = [Ender(f"worker {i}", self) for i in range(2)]
            threads += [Waiter(f"waiter {i}", self, *w) for i, w in enumerate(waits)]
        super().__init__(shared, threads)

    def always(self, s: Any, own: list[Any]) -> None:
        if s.front > self.ops or s.ended > self.ops:
            raise Violation("an op has ended twice")
