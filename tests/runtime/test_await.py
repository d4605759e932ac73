"""Arrays in asyncio: awaiting one never blocks the loop, takes no thread, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings
import weakref
from typing import Any

import pytest

import forerun
from forerun import _core, np, npx, profiler
from forerun._runtime import asyncio as aio
from forerun.testing import closed_gate
from tests.support.engine.event_loops import LOOPS, open_descriptors, run_in_loop, run_other_tasks
from tests.support.engine.late_arrays import late_array
from tests.support.engine.resources import eventually
from tests.support.processes.subprocesses import output


@pytest.mark.parametrize("loop", LOOPS)
class TestLoops:
    def test_other_tasks_continue(self, loop):
        go = threading.Event()

        async def release() -> None:
            await asyncio.sleep(0)  # runs only if the loop is not blocked
            go.set()

        async def main() -> None:
            x = late_array(go) * 2
            releasing = asyncio.create_task(release())
            assert await x is x
            await releasing
            assert x.ready
            assert x.tolist() == [2, 2, 2]

        run_in_loop(main(), loop)

    def test_each_await_raises_the_error_of_the_computation(self, loop):
        async def main() -> None:
            go = threading.Event()
            x = late_array(go, fails="late")
            asyncio.get_running_loop().call_soon(go.set)
            for _ in range(3):
                with pytest.raises(KeyError, match="late") as caught:
                    await x
                assert [note.startswith("issued at") for note in caught.value.__notes__] == [True]

        run_in_loop(main(), loop)

    def test_a_thousand_tasks_await_one_array_without_a_thread(self, loop):
        async def main() -> None:
            go = threading.Event()
            x = late_array(go)
            await asyncio.wait([asyncio.create_task(wrapped(late_array(go)))], timeout=0)  # all threads are there now
            before = threading.active_count()
            tasks = [asyncio.create_task(wrapped(x)) for _ in range(1000)]
            await run_other_tasks()
            assert threading.active_count() == before
            go.set()
            assert all(y is x for y in await asyncio.gather(*tasks))

        run_in_loop(main(), loop)

    def test_simultaneous_arrays_are_delivered_in_portions(self, loop):
        """So that a flood of results does not keep the loop from anything else."""

        async def main() -> int:
            with closed_gate():
                tasks = [asyncio.create_task(wrapped(np.ones(2) + i)) for i in range(4 * aio._AT_ONCE)]
                await run_other_tasks()
            count = 0
            while not all(task.done() for task in tasks):
                count += any(task.done() for task in tasks)
                await asyncio.sleep(0)
            return count

        assert run_in_loop(main(), loop) >= 3

    def test_a_closed_loop_leaves_no_descriptor_and_no_array(self, loop):
        with closed_gate():
            before, dropped = open_descriptors(), forerun.stats()["dropped"]
            alone = LOOPS[loop]()
            alone.set_exception_handler(lambda loop, context: None)  # tells of tasks that never ended
            x = np.ones(3) + 1
            pending = alone.create_task(wrapped(x))
            alone.run_until_complete(run_other_tasks())
            assert not pending.done()
            alone.close()
            ref = weakref.ref(x)
            del x, pending, alone
            gc.collect()
            assert ref() is None
            assert open_descriptors() == before
        forerun.waitall()
        assert forerun.stats()["dropped"] > dropped  # it had no handle


async def wrapped(x):
    return await x


def test_await_of_a_ready_array_does_not_suspend():
    x = np.ones(3) + 1
    x.wait()
    with pytest.raises(StopIteration) as ended:
        x.__await__().send(None)  # no loop runs
    assert ended.value.value is x


def test_short_work_lets_other_tasks_run(queued):
    async def main() -> None:
        order = []

        async def other() -> None:
            order.append("other")

        task = asyncio.create_task(other())
        x = np.ones(2)
        for _ in range(100):
            x = await (x + 1)
        assert order
        await task

    run_in_loop(main())


def test_many_arrays_are_awaited_together(engine):
    async def main() -> list[float]:
        arrays = await asyncio.gather(*(wrapped(np.full(2, float(i)) + 1) for i in range(100)))
        return [a[0].item() for a in arrays]

    assert run_in_loop(main()) == [i + 1 for i in range(100)]


def test_behind_a_closed_gate(gate):
    async def main() -> None:
        x = np.ones(3) + 1
        task = asyncio.create_task(wrapped(x))
        await run_other_tasks(10)
        assert not task.done()
        forerun._core.gate(False)
        assert (await task).tolist() == [2, 2, 2]

    run_in_loop(main())


class TestWritesBehindTheAwait:
    """Only writes issued before it count."""

    def test_later_writes_are_not_waited_for(self, four_workers):
        async def main() -> None:
            first, second = threading.Event(), threading.Event()
            x = late_array(first)
            task = asyncio.create_task(wrapped(x))
            await run_other_tasks()
            x[...] = late_array(second, value=5)
            first.set()
            await task
            assert not x.ready
            second.set()
            assert (await x).tolist() == [5, 5, 5]

        run_in_loop(main())

    def test_errors_of_earlier_and_later_writes_are_distinguished(self, four_workers):
        async def main() -> None:
            go, x = threading.Event(), np.zeros(3)
            tasks = []
            for fails in ("first", "", "second", ""):
                x[...] = late_array(go, fails)
                tasks.append(asyncio.create_task(wrapped(x)))
                await run_other_tasks()
            go.set()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            assert [e.args[0] if isinstance(e, KeyError) else e is x for e in ends] == ["first", True, "second", True]

        run_in_loop(main())


class TestCancellation:
    def test_the_computation_and_the_loop_continue(self, four_workers):
        async def main() -> None:
            go = threading.Event()
            x = late_array(go)
            y = x + 1
            task, other = asyncio.create_task(wrapped(y)), asyncio.create_task(wrapped(y))
            await run_other_tasks()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go.set()
            assert await other is y
            assert (await y).tolist() == [2, 2, 2]

        run_in_loop(main())

    def test_time_outs(self):
        async def within(seconds: float, x) -> None:
            async with asyncio.timeout(seconds):
                await x

        async def main() -> None:
            go = threading.Event()
            x = late_array(go)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(x, 0.01)
            with pytest.raises(TimeoutError):
                await within(0.01, x)
            go.set()
            assert (await asyncio.wait_for(x, 60)) is x

        run_in_loop(main())

    def test_tasks_may_be_cancelled_when_their_arrays_have_come(self):
        """By the first of them: some were notified in the same turn, others are about to be."""

        async def main() -> None:
            complaints: list[object] = []
            asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))

            async def first(x) -> None:
                await x
                for task in tasks[1:]:
                    task.cancel()

            with closed_gate():
                arrays = [np.ones(3) + i for i in range(3 * aio._AT_ONCE)]
                tasks = [asyncio.create_task((wrapped if i else first)(x)) for i, x in enumerate(arrays)]
                await run_other_tasks()
            await asyncio.wait(tasks)
            await run_other_tasks()
            assert [task.cancelled() for task in tasks] == [False] + [True] * (len(tasks) - 1)
            assert complaints == []

        run_in_loop(main())

    def test_the_array_is_freed(self):
        async def main() -> None:
            x = np.ones(3) + 1
            task = asyncio.create_task(wrapped(x))
            await run_other_tasks()
            task.cancel()
            await asyncio.wait([task])

        dropped = forerun.stats()["dropped"]
        with closed_gate():
            run_in_loop(main())
        forerun.waitall()
        assert forerun.stats()["dropped"] > dropped


class TestManyLoops:
    @pytest.mark.parametrize("loop", LOOPS)
    def test_loops_one_after_another(self, loop):
        """Without the garbage collector: a closed loop releases its completion queue at once."""

        def once(i: int) -> None:
            with closed_gate():
                runner = asyncio.Runner(loop_factory=LOOPS[loop])
                task = runner.get_loop().create_task(wrapped(np.ones(2) + i))
                runner.get_loop().run_until_complete(run_other_tasks())
            assert runner.get_loop().run_until_complete(task).tolist() == [i + 1, i + 1]
            runner.close()

        once(0)
        before = open_descriptors()
        gc.disable()
        try:
            for i in range(1000 if loop == "asyncio" else 100):
                once(i)
        finally:
            gc.enable()
        gc.collect()
        assert eventually(lambda: open_descriptors() <= before)  # those of the thread of the last loop too

    def test_in_several_threads_at_once(self, four_workers):
        ends: list[list[float]] = []

        async def main(k: int) -> list[float]:
            x = np.full(3, float(k))
            for _ in range(200):
                x = await (x + 1)
            y = await late_array(go)
            return (x + y).tolist()

        go = threading.Event()
        threads = [threading.Thread(target=lambda k=k: ends.append(run_in_loop(main(k)))) for k in range(4)]
        for thread in threads:
            thread.start()
        go.set()
        for thread in threads:
            thread.join()
        assert sorted(ends) == [[201.0 + k] * 3 for k in range(4)]

    def test_a_child_has_queues_of_its_own(self):
        assert output(
            """
import asyncio, os, threading
from forerun import npx
from forerun._runtime import asyncio as aio
def late(go):
    return npx.host(lambda v: (go.wait(60), v)[1], [np.ones(3)], [((3,), "float32")])[0]
async def main():
    go = threading.Event()
    x = late(go) + 1
    asyncio.get_running_loop().call_later(0.01, go.set)
    return (await x).tolist()
loop = asyncio.new_event_loop()
assert loop.run_until_complete(main()) == [2, 2, 2]
assert len(aio._queues) == 1
pid = os.fork()
if pid == 0:
    assert len(aio._queues) == 0
    os._exit(asyncio.run(main()) != [2, 2, 2])
assert loop.run_until_complete(main()) == [2, 2, 2]
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
loop.close()
"""
        ) == ["0"]


@pytest.mark.usefixtures("one_worker")
class TestHostTasks:
    """They may hold every worker there is; an await ends all the same, as a wait does."""

    def test_host_task_that_waits_for_operations_after_an_await(self):
        async def main() -> None:
            for before in (True, False):
                go = threading.Event()
                y = np.ones((300, 300))
                x = late_array(go) if before else None
                task = asyncio.create_task(wrapped(y @ y + 1))
                x = late_array(go) if x is None else x
                assert (await task)[0, 0].item() == 301
                assert not x.ready
                go.set()
                await x

        run_in_loop(main())

    def test_host_task_that_awaits(self):
        def inside(v):
            x = np.ones((300, 300))
            y = run_in_loop(wrapped(x @ x))[0, 0].item() + v
            del threading._active[threading.get_ident()]  # Python would count the worker as its own for ever
            return y

        async def main() -> list[float]:
            (x,) = npx.host(inside, [np.ones(3)], [((3,), "float32")])
            return (await x).tolist()

        assert run_in_loop(main()) == [301, 301, 301]


class TestDebugMode:
    """asyncio's debug mode: lines that block the loop are named."""

    @staticmethod
    def late() -> Any:
        go = threading.Event()
        threading.Timer(0.01, go.set).start()
        return late_array(go)

    def reads_without_await(self) -> None:
        self.late().tolist()

    async def main(self) -> None:
        await self.late()
        self.reads_without_await()

    def test_a_line_that_blocks_the_loop_gives_a_warning(self):
        with pytest.warns(
            profiler.BlockedWarning, match=r"^tolist: blocks the event loop at .*test_await\.py:\d+; "
        ) as found:
            asyncio.run(self.main(), debug=True)
        assert len(found) == 1

    def test_other_loops_and_code_outside_of_loops_give_none(self):
        with pytest.warns(profiler.BlockedWarning):
            asyncio.run(self.main(), debug=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            asyncio.run(self.main())
            self.reads_without_await()

    def test_the_guard_ends_with_the_loop(self):
        with pytest.warns(profiler.BlockedWarning):
            asyncio.run(self.main(), debug=True)
        assert _core.set_guard(0) == 0

    def test_a_guard_that_the_program_sets_holds_instead(self):
        async def main() -> None:
            await self.late()
            with profiler.guard("off"):
                self.reads_without_await()
            with profiler.guard("raise"), pytest.raises(profiler.Blocked):
                self.reads_without_await()

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            asyncio.run(main(), debug=True)


def test_awaiting_is_refused_while_a_call_is_recorded():
    @forerun.hybrid(strict=True)
    def looks(x):
        y = x + 1
        y.__await__().send(None)
        return y

    with pytest.raises(RuntimeError, match=r"hybridize: reading the value of an array \(.*\) is not allowed"):
        looks(np.ones(3))


def test_pending_work_that_will_never_run_is_marked():
    assert output(
        """
import asyncio
x = np.ones(3)
x.wait()
_core.gate(True)
y = x + 1
_core.abandon_pending_work()
async def main():
    try:
        await y
    except RuntimeError as error:
        print(str(error).startswith("engine: pending work must be waited for"))
asyncio.run(main())
"""
    ) == ["True"]
