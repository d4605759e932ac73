"""The free list: no object is given to two threads, and no object that was given back is lost.

Code: FreeList::take, push and put_back (core/base/containers/free_list.h). `shared` is shared_, `mine` is mine_, `next`
each object's next_free.

Memory orders: a push releases and the exchange that takes all acquires; pushes between them are
read-modify-writes, so a thread that takes the whole stack sees `next` of all objects in it. A push compares only with
the object that it has linked to: if the stack has been taken, and the same object pushed again
meanwhile, the link is still correct. So there is no ABA problem.

A thread that takes the stack keeps one batch and puts the rest back, in place of the batches pushed meanwhile; these
then go on top. If two threads put back at once, one may have to search for the end of the other's rest, which is also
correct.

A batch of the code is one object here: no other thread sees the links between its first and last object before the
push.

Left out: objects that a thread gives back and takes again itself, the count of objects kept, which only decides
whether a batch goes back to the allocator, and the allocator.
"""

from __future__ import annotations

from typing import Any, ClassVar

from verification.checker import END, Model, Program, Violation


def linked(links: tuple[int | None, ...], one: int, to: int | None) -> tuple[int | None, ...]:
    """Return the links with the link of one object replaced."""
    return (*links[:one], to, *links[one + 1 :])


class User(Program):
    """Takes objects and gives them back, so many times; in the end it gives its remaining objects to the others."""

    def __init__(self, name: str, model: FreeLists, rounds: int, takes: int) -> None:
        nothing: dict[str, Any] = dict.fromkeys(("mine", "saw", "after", "rest", "top", "last"))
        super().__init__(name, "take", rounds=rounds, held=(), **nothing)
        self.model, self.takes = model, takes

    def take(self, s: Any, me: Any) -> str:
        if me.mine is not None:
            return self.pop(s, me)
        if self.model.broken == "pop_one":
            me.saw = s.shared
            return "read_next" if me.saw is not None else self.full(me)
        if self.model.broken == "read_then_clear":
            me.mine = s.shared
            return "clear"
        me.mine, s.shared = s.shared, None  # exchange
        if me.mine is None:
            return self.full(me)
        me.rest, s.next = s.next[me.mine], linked(s.next, me.mine, None)
        return "put_back" if me.rest is not None else self.pop(s, me)

    def put_back(self, s: Any, me: Any) -> str:  # exchange
        me.top, s.shared, me.rest = s.shared, me.rest, None
        if me.top is None or self.model.broken == "put_back_over":
            me.top = None
            return self.pop(s, me)
        me.last = me.top
        while s.next[me.last] is not None:
            me.last = s.next[me.last]
        return self.link(s, me)

    def link(self, s: Any, me: Any) -> str:  # last->next_free = shared_.load
        me.saw = s.shared
        s.next = linked(s.next, me.last, me.saw)
        return "put_on_top"

    def put_on_top(self, s: Any, me: Any) -> str:  # compare_exchange
        if s.shared != me.saw:
            return self.link(s, me)
        s.shared, me.top, me.last, me.saw = me.top, None, None, None
        return self.pop(s, me)

    def clear(self, s: Any, me: Any) -> str:  # not in the code
        s.shared = None
        return self.pop(s, me) if me.mine is not None else self.full(me)

    def read_next(self, s: Any, me: Any) -> str:  # not in the code: a stack from which single objects are taken
        me.after = s.next[me.saw]
        return "pop_one"

    def pop_one(self, s: Any, me: Any) -> str:
        if s.shared != me.saw:
            me.saw = me.after = None
            return "take"
        s.shared = me.after
        return self.hold(me, me.saw)

    def pop(self, s: Any, me: Any) -> str:
        taken, me.mine = me.mine, s.next[me.mine]
        return self.hold(me, taken)

    def hold(self, me: Any, taken: int) -> str:
        me.held = (*me.held, taken)
        me.saw = me.after = None
        return self.full(me) if len(me.held) >= self.takes else "take"

    def full(self, me: Any) -> str:
        return "give" if me.held else "again"

    def give(self, s: Any, me: Any) -> str:  # last->next_free = shared_.load
        me.saw = s.shared
        s.next = (*s.next[: me.held[0]], me.saw, *s.next[me.held[0] + 1 :])
        return "push"

    def push(self, s: Any, me: Any) -> str:  # compare_exchange
        if s.shared != me.saw and self.model.broken != "plain_push":
            me.saw = s.shared
            s.next = (*s.next[: me.held[0]], me.saw, *s.next[me.held[0] + 1 :])
            return "push"
        s.shared, me.held, me.saw = me.held[0], me.held[1:], None
        return "give" if me.held else "again"

    def again(self, s: Any, me: Any) -> str:
        me.rounds -= me.rounds > 0
        if me.rounds:
            return "take"
        if me.mine is None:
            return END
        me.held, me.mine = (me.mine,), s.next[me.mine]  # ~Mine
        return "give"


class FreeLists(Model):
    """`users` threads; `objects` are on the shared stack initially."""

    mutants: ClassVar = {
        "pop_one": "one object is taken by compare and exchange: the ABA problem",
        "read_then_clear": "the stack is read and emptied in two steps",
        "plain_push": "an object is pushed although the stack may have changed",
        "put_back_over": "the rest is put back in place of the batches pushed meanwhile",
    }

    def __init__(
        self, broken: str | None = None, users: int = 3, objects: int = 3, rounds: int = 2, takes: int = 2
    ) -> None:
        self.broken, self.objects = broken, objects
        links = (*range(1, objects), None)
        shared = {"shared": 0, "next": links}
        threads: list[Program] = [User(f"user {i}", self, rounds, takes if i == 0 else 1) for i in range(users)]
        super().__init__(shared, threads)

    def always(self, s: Any, own: list[Any]) -> None:
        seen: list[int] = []
        ends = {
            me.last for me in own if me.last is not None
        }  # of the object to be put on top, whatever its present link is
        tops = (top for me in own for top in (me.mine, me.rest, me.top))
        for top in (s.shared, *tops):
            while top is not None:
                if top in seen:
                    raise Violation(f"object {top} is in two places")
                seen.append(top)
                top = None if top in ends else s.next[top]
        for me in own:
            for held in me.held:
                if held in seen:
                    raise Violation(f"object {held} is given to two threads")
                seen.append(held)

    def at_end(self, s: Any, own: list[Any]) -> None:
        top, count = s.shared, 0
        while top is not None:
            top, count = s.next[top], count + 1
        if count != self.objects:
            raise Violation(f"{self.objects - count} objects are lost")
