"""Lanes: an op is handed over to a device, which reports its end from a thread of its own, at any time; the op
ends once, after the hand-over has returned and after all ops that it follows.

Code: hand_over (executor.cpp); handed_over, completed, find_failure, end_one (dependency_graph.cpp); complete
(dispatcher.cpp); finish (scheduler.cpp); follow (op.cpp). Fields of the same names: `returned`, `handed_over` and
`completed` are the ops for which Op's are true; `failure` is the op whose failure each one has, as far as it is known;
`lane` are the ops that the device has and has not reported, `had` all that it ever had.

The ops are a chain: each reads the result of the one before it, and overwrites nothing else. All fields of the ops are
guarded by the engine's lock; Op::failure is written without it in a hand-over that fails, while only the
thread that hands over knows of the op.
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation, lock, unlock

NONE = -1  # no failure


class Submitter(Program):
    """The thread of the lane's queue: it hands over ops, each as soon as possible."""

    def __init__(self, name: str, model: Lanes) -> None:
        super().__init__(name, "pick", op=-1, accepted=False)
        self.model = model

    def pick(self, s: Any, me: Any) -> str | None:
        if not lock(s, self.number):
            return None
        op = me.op + 1
        if op == self.model.ops:
            unlock(s)
            return END
        if op > 0 and op - 1 not in s.ended and op - 1 not in s.handed_over:
            return None
        me.op, me.accepted = op, False
        # start(): it has the failure of its operand, if that has ended
        failed = op > 0 and op - 1 in s.ended and s.failure[op - 1] != NONE
        if failed:
            s.failure = self.model.with_failure(s, op, s.failure[op - 1])
        unlock(s)
        return "returned" if failed else "hand_over"

    def hand_over(self, s: Any, me: Any) -> str:
        s.inside = me.op
        if me.op in self.model.throwing:
            s.failure = self.model.with_failure(s, me.op, me.op)
        else:
            me.accepted = True
            s.lane |= {me.op}
            s.had |= {me.op}
        return "touch"

    def touch(self, s: Any, me: Any) -> str:  # the rest of hand_over() once the device has the op
        if me.op in s.ended:
            raise Violation("an op has ended, and may be in use again, while its hand-over uses it")
        return "returned"

    def returned(self, s: Any, me: Any) -> str | None:  # finish: handed_over
        if not lock(s, self.number):
            return None
        op = me.op
        s.inside = NONE
        s.returned |= {op}
        if not me.accepted:
            s.completed |= {op}
        if self.model.done(s, op) and self.model.broken != "forgets_early_end":
            self.model.end(s, op)
        elif me.accepted or self.model.broken == "follows_failed":
            s.handed_over |= {op}
        unlock(s)
        return "pick"


class Device(Program):
    """A thread of the device: it reports ends in any order."""

    serves = True

    def __init__(self, name: str, model: Lanes) -> None:
        super().__init__(name, "complete")
        self.model = model

    def complete(self, s: Any, me: Any) -> str | None:
        if not s.lane or not lock(s, self.number):
            return None
        ops = sorted(s.lane)
        op = ops[s.choose(len(ops)) if len(ops) > 1 else 0]
        s.lane -= {op}
        s.completed |= {op}
        # The device fails ops that read failed values, with an error of its own.
        if any(failing <= op for failing in self.model.failing):
            s.failure = self.model.with_failure(s, op, op)
        if self.model.done(s, op):
            self.model.end(s, op)
        unlock(s)
        return "complete"


class Lanes(Model):
    """`failing`: ops that fail on the device; `throwing`: ops whose hand-over fails."""

    mutants: ClassVar = {
        "ends_inside": "an op ends as soon as it is completed, although its hand-over has not returned",
        "ends_before": "an op ends although one that it follows has not",
        "forgets_early_end": "a completion within the hand-over is ignored when that returns",
        "follows_failed": "an op that follows one that was never handed over is handed over before that one has ended",
        "keeps_device_failure": "an op keeps the device's failure instead of that of its operand",
    }

    def __init__(
        self,
        broken: str | None = None,
        ops: int = 3,
        devices: int = 2,
        failing: tuple[int, ...] = (),
        throwing: tuple[int, ...] = (),
    ) -> None:
        self.broken, self.ops, self.failing, self.throwing = broken, ops, failing, throwing
        none: frozenset[int] = frozenset()
        shared = {
            "lane": none,
            "had": none,
            "returned": none,
            "handed_over": none,
            "completed": none,
            "ended": none,
            "failure": (NONE,) * ops,
            "inside": NONE,
            "mutex": None,
        }
        super().__init__(shared, [Submitter("submitter", self), *(Device(f"device {i}", self) for i in range(devices))])

    @staticmethod
    def with_failure(s: Any, op: int, failure: int) -> tuple[int, ...]:
        return tuple(failure if i == op else f for i, f in enumerate(s.failure))

    def done(self, s: Any, op: int) -> bool:  # Op::lane_is_done
        if op not in s.completed or op in s.ended:
            return False
        if op not in s.returned and self.broken != "ends_inside":
            return False
        return op == 0 or op - 1 in s.ended or self.broken == "ends_before"

    def end(self, s: Any, op: int) -> None:  # end_all_idle: find_failure, end_one
        while True:
            if op in s.ended:
                raise Violation("an op ends twice")
            if op > 0 and op - 1 not in s.ended:
                raise Violation("an op ends before one that it follows")
            before = s.failure[op - 1] if op > 0 else NONE
            if before != NONE and self.broken != "keeps_device_failure":
                s.failure = self.with_failure(s, op, before)
            s.ended |= {op}
            if op + 1 == self.ops or not self.done(s, op + 1):
                return
            op += 1

    def complete(self, s: Any) -> bool:
        return len(s.ended) == self.ops

    def always(self, s: Any, own: list[Any]) -> None:
        if any(op - 1 in s.completed - s.returned for op in s.handed_over):
            raise Violation("an op is handed over before the hand-over of the one before it has returned")
        for op in s.lane:
            if op > 0 and op - 1 not in s.had | s.ended:
                raise Violation("the device has an op whose operand it never had")

    def at_end(self, s: Any, own: list[Any]) -> None:
        first = min((*self.failing, *self.throwing), default=self.ops)
        if s.failure != tuple(first if op >= first else NONE for op in range(self.ops)):
            raise Violation("an op has the failure of the first that failed before it, and no other")
