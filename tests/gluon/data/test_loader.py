"""The loader: the same batches from no workers, threads and processes, and their end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import re
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import pytest

from forerun import _core, np, npx, torch
from forerun.gluon import data

SERIAL: dict[str, Any] = {}
THREADS: dict[str, Any] = {"num_workers": 2, "thread_pool": True}
PROCESSES: dict[str, Any] = {"num_workers": 2}
ALL = pytest.mark.parametrize("how", [SERIAL, THREADS, PROCESSES], ids=["serial", "threads", "processes"])
WORKERS = pytest.mark.parametrize("how", [THREADS, PROCESSES], ids=["threads", "processes"])


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """No process, thread or mapped batch is there after a test that was not before."""
    threads, maps = set(threading.enumerate()), mapped_memory()
    yield
    gc.collect()
    _core.waitall()
    assert multiprocessing.active_children() == []
    assert set(threading.enumerate()) <= threads
    assert mapped_memory() == maps


def mapped_memory() -> list[tuple[int, int]]:
    """Where memory of batches from worker processes is."""
    with open("/proc/self/maps") as file:
        found = re.findall(r"(?m)^([0-9a-f]+)-([0-9a-f]+) .*memfd:forerun batch", file.read())
    return [(int(a, 16), int(b, 16)) for a, b in found]


def address(x: Any) -> int:
    return x.numpy().__array_interface__["data"][0]


class Examples(data.Dataset):
    """Twelve examples; a call of `act` comes before each."""

    def __init__(self, act: Callable[[int], object] = lambda i: None) -> None:
        self.act = act
        self.array = np.arange(4.0, ctx=npx.cpu())  # workers read it

    def __len__(self) -> int:
        return 12

    def __getitem__(self, i: int) -> Any:
        self.act(i)
        return self.array + i, numpy.full((2, 3), i, "float32"), i


def shown(batches: Any) -> list[Any]:
    return [[x.tolist() for x in batch] for batch in batches]


@ALL
@pytest.mark.parametrize("shuffle", [False, True])
def test_batches_do_not_depend_on_the_worker(how: dict[str, Any], shuffle: bool) -> None:
    def drawn(i: int) -> None:
        seen.append([np.random.uniform(size=2).tolist(), np.random.randint(0, 99)])

    seen: list[Any] = []
    np.random.seed(4)
    expected = shown(data.DataLoader(Examples(), 5, shuffle)) + shown(data.DataLoader(Examples(), 5, shuffle))
    np.random.seed(4)
    loader = data.DataLoader(Examples(), 5, shuffle, **how)
    assert len(loader) == 3
    assert shown(loader) + shown(loader) == expected
    assert (expected[:3] == expected[3:]) is not shuffle


class Drawing(data.Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        noise = np.random.normal(size=(3,)) + np.random.randint(0, 99)
        return noise, data.vision.transforms.RandomBrightness(0.5)(np.full((1, 1, 3), 10.0))


def test_random_numbers_follow_the_seed_alone() -> None:
    found = []
    for how in (SERIAL, THREADS, PROCESSES, {"num_workers": 3}):
        np.random.seed(7)
        loader = data.DataLoader(Drawing(), 2, **how)
        found.append([shown(loader), shown(loader)])
    assert found[0] == found[1] == found[2] == found[3]
    first, second = found[0]
    assert first != second
    assert len({str(example) for batch in first for part in batch for example in part}) == 16
    np.random.seed(8)
    assert shown(data.DataLoader(Drawing(), 2)) != first


class Foreign(data.Dataset):
    def __len__(self) -> int:
        return 8

    def __getitem__(self, i: int) -> Any:
        return random.random(), numpy.random.rand()  # noqa: NPY002


def test_random_numbers_of_others_follow_the_seed_in_processes() -> None:
    found = []
    for workers in (1, 3):
        np.random.seed(7)
        found.append(shown(data.DataLoader(Foreign(), 2, num_workers=workers)))
    assert found[0] == found[1]
    assert len({x for batch in found[0] for part in batch for x in part}) == 16


@ALL
def test_batches_may_hold_anything(how: dict[str, Any]) -> None:
    def batch(examples: list[Any]) -> Any:
        first = examples[0][0]
        many = np.zeros((3, 40_000), dtype="int32") + 1
        return {
            "array": first, "view": many[1, ::2], "numpy": numpy.ones((2, 0)), "words": ["a", b"b" * 99_999], 5: None,
            "scalar": np.array(2.5), "flags": np.array([True, False]), "big": numpy.asfortranarray(many.numpy()),
        }  # fmt: skip

    for found in data.DataLoader(Examples(), 6, batchify_fn=batch, **how):
        assert type(found["array"]) is type(np.ones(1))
        assert found["view"].tolist() == [1] * 20_000
        assert found["numpy"].shape == (2, 0)
        assert found["words"] == ["a", b"b" * 99_999]
        assert found[5] is None
        assert (found["scalar"].item(), found["flags"].tolist()) == (2.5, [True, False])
        assert type(found["big"]) is numpy.ndarray
        assert found["big"].sum() == 120_000


@ALL
def test_batches_can_be_written(how: dict[str, Any]) -> None:
    for x, y, _ in data.DataLoader(Examples(), 6, **how):
        x += 1
        y[0] = 5
        assert (x[0, 0] >= 1).item()
        assert y[0].tolist() == [[5] * 3] * 2


@WORKERS
def test_at_most_so_many_batches_are_ahead(how: dict[str, Any]) -> None:
    taken: list[int] = []

    class Batches(data.Sampler):
        def __iter__(self) -> Iterator[Any]:
            for i in range(12):
                taken.append(i)
                yield [i]

    for prefetch, first in ((None, 4), (3, 3), (0, 1)):
        taken.clear()
        iterator = iter(data.DataLoader(Examples(), batch_sampler=Batches(), prefetch=prefetch, **how))
        assert len(taken) == first
        for i in range(5):
            next(iterator)
            assert len(taken) == first + i
        iterator.close()  # type: ignore[attr-defined]


@WORKERS
def test_order_is_kept(how: dict[str, Any]) -> None:
    """The first batch is made when the second one is complete."""
    event = threading.Event() if how is THREADS else multiprocessing.get_context("fork").Event()

    def act(i: int) -> None:
        assert event.wait(60) if i == 0 else True
        if i == 5:
            event.set()

    found = shown(data.DataLoader(Examples(act), 3, **how))
    assert [batch[2] for batch in found] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


@WORKERS
def test_many_batches_ahead_do_not_block(how: dict[str, Any]) -> None:
    """More than fit into a line, there and back."""
    n = 3000
    loader = data.DataLoader(data.SimpleDataset(range(n)), 1, prefetch=n, **how, timeout=60)
    assert [x.item() for x in loader] == list(range(n))


def test_long_questions_do_not_block() -> None:
    rows = list(range(100_000))
    loader = data.DataLoader(data.ArrayDataset(numpy.arange(100_000)), batch_sampler=[rows] * 4, **PROCESSES)
    assert [x.sum().item() for x in loader] == [sum(rows)] * 4


def test_long_questions_to_a_worker_that_does_not_read() -> None:
    event = threading.Event()
    positions = [[0], list(range(10, 300_000)), [1]]
    loader = data.DataLoader(Examples(lambda i: event.wait(60)), batch_sampler=positions, num_workers=1, timeout=0.5)
    with pytest.raises(TimeoutError, match=r"DataLoader: a batch must be made within 0.5 s"):
        next(iter(loader))


class OwnError(Exception):
    """Its copy in another process cannot be made, also by libraries that teach pickle other ways, as Dask's does."""

    def __init__(self, first: int, second: int) -> None:
        super().__init__("of its own")
        self.lock = threading.Lock()


@ALL
def test_errors_are_raised_in_the_order_of_batches(how: dict[str, Any]) -> None:
    def act(i: int) -> None:
        if i == 7:
            {}["seven"]

    seen: list[Any] = []
    with pytest.raises(KeyError, match="seven") as caught:
        seen.extend(batch[2].tolist() for batch in data.DataLoader(Examples(act), 3, **how))
    assert seen == [[0, 1, 2], [3, 4, 5]]
    shown = "".join(map(str, [caught.value.__cause__, *(entry.name for entry in caught.traceback)]))
    assert "act" in shown  # where it was raised


def test_errors_that_cannot_be_pickled_are_described() -> None:
    def act(i: int) -> None:
        raise OwnError(1, 2)

    with pytest.raises(RuntimeError, match="OwnError: of its own"):
        list(data.DataLoader(Examples(act), 3, **PROCESSES))
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        list(data.DataLoader(Examples(), 3, batchify_fn=lambda examples: lambda: None, **PROCESSES))


def test_long_errors_arrive() -> None:
    def act(i: int) -> None:
        raise ValueError("x" * 1_000_000)

    with pytest.raises(ValueError, match=r"x{1000}"):
        list(data.DataLoader(Examples(act), 3, **PROCESSES))


def test_errors_of_forerun_operations_are_raised() -> None:
    def batch(examples: list[Any]) -> Any:
        return np.linalg.inv(np.zeros((2, 2)))

    with pytest.raises(numpy.linalg.LinAlgError):
        list(data.DataLoader(Examples(), 3, batchify_fn=batch, **PROCESSES))


@pytest.mark.parametrize(("code", "says"), [(None, "was killed by SIGKILL"), (3, "ended with status 3")])
def test_death_of_a_worker_is_reported(code: int | None, says: str) -> None:
    def act(i: int) -> None:
        if i == 7:
            os.kill(os.getpid(), signal.SIGKILL) if code is None else os._exit(code)

    with pytest.raises(RuntimeError, match=rf"DataLoader: workers must live .* but worker \d \(process \d+\) {says}"):
        list(data.DataLoader(Examples(act), 3, **PROCESSES))


@WORKERS
def test_a_batch_that_takes_too_long(how: dict[str, Any]) -> None:
    event = threading.Event()
    loader = data.DataLoader(Examples(lambda i: event.wait(60) if i == 4 else None), 3, timeout=0.5, **how)
    with pytest.raises(TimeoutError, match=r"DataLoader: a batch must be made within 0.5 s \(timeout\), got none"):
        list(loader)
    event.set()
    for thread in threading.enumerate():
        if thread.name.startswith("DataLoader"):
            thread.join(60)


@WORKERS
def test_errors_of_a_sampler(how: dict[str, Any]) -> None:
    """At once, and when the epoch has begun."""

    def positions(good: int) -> Iterator[list[int]]:
        yield from [[0]] * good
        raise KeyError("no more")

    for good in (2, 6):
        with pytest.raises(KeyError, match="no more"):
            list(data.DataLoader(Examples(), batch_sampler=positions(good), **how))


@pytest.mark.usefixtures("two_devices")
@WORKERS
def test_arrays_of_all_kinds(how: dict[str, Any]) -> None:
    """Of another device, without elements, of bfloat16, that broadcast."""

    def batch(examples: list[Any]) -> Any:
        wide = np.broadcast_to(np.arange(3), (2, 3))
        return np.ones(3).as_in_ctx(npx.cpu(1)), np.ones((0, 3)), np.ones(2, dtype="bfloat16"), wide

    found = next(iter(data.DataLoader(Examples(), 12, batchify_fn=batch, **how)))
    assert [x.device for x in found] == [npx.cpu(1), *3 * [npx.current_device()]]
    assert [x.shape for x in found] == [(3,), (0, 3), (2,), (2, 3)]
    assert found[2].dtype == np.ones(1, dtype="bfloat16").dtype
    assert (found[0].tolist(), found[2].tolist(), found[3][1].tolist()) == ([1] * 3, [1, 1], [0, 1, 2])


@WORKERS
def test_an_epoch_can_be_left(how: dict[str, Any]) -> None:
    loader = data.DataLoader(Examples(), 2, **how)
    for batch in loader:  # noqa: B007
        break
    assert multiprocessing.active_children() == []
    assert not any(t.name.startswith("DataLoader") for t in threading.enumerate())
    assert batch[2].tolist() == [0, 1]
    assert len(list(loader)) == 6


def test_threads_stop_within_an_unwanted_batch() -> None:
    begun, go, made = threading.Event(), threading.Event(), []

    def act(i: int) -> None:
        made.append(i)
        if i == 8:
            begun.set()
            go.wait(60)

    iterator = iter(data.DataLoader(Examples(act), 6, num_workers=1, thread_pool=True))
    next(iterator)
    begun.wait(60)
    ended: threading.Event = iterator._ended  # type: ignore[attr-defined]
    helper = threading.Thread(target=lambda: (ended.wait(10), go.set()))
    helper.start()
    iterator.close()  # type: ignore[attr-defined]
    helper.join()
    assert made == list(range(9))


@WORKERS
def test_an_epoch_ends_once(how: dict[str, Any]) -> None:
    iterator = iter(data.DataLoader(Examples(), 12, **how))
    next(iterator)
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


@WORKERS
def test_two_epochs_at_once(how: dict[str, Any]) -> None:
    found = []
    for settings in (SERIAL, how):
        np.random.seed(9)
        loader = data.DataLoader(Examples(), 2, shuffle=True, **settings)
        found.append([(x[2].tolist(), y[2].tolist()) for x, y in zip(loader, loader)])
    assert found[0] == found[1]
    for epoch in zip(*found[0]):
        assert sorted(i for batch in epoch for i in batch) == list(range(12))


@WORKERS
def test_the_next_epoch_starts_in_advance(how: dict[str, Any]) -> None:
    starts: list[int] = []

    class Order(data.SequentialSampler):
        def __iter__(self) -> Iterator[int]:
            starts.append(1)
            return super().__iter__()

    loader = data.DataLoader(Examples(), 3, sampler=Order(12), auto_reload=True, **how)
    for epoch in range(2):
        assert [batch[2].tolist() for batch in loader][3] == [9, 10, 11]
        assert len(starts) == epoch + 2
    del loader


class TestMemory:
    def test_batches_are_not_copied(self) -> None:
        for x, y, _ in data.DataLoader(Examples(), 3, **PROCESSES):
            assert all(any(a <= address(part) < b for a, b in mapped_memory()) for part in (x, y))

    def test_memory_is_used_again(self) -> None:
        seen = set()
        for x, _, _ in data.DataLoader(Examples(), batch_sampler=[[0], [1]] * 30, **PROCESSES):
            seen.add(address(x))
            del x, _
        assert len(seen) < 40  # of 60; about 6, but arrays that are dropped are gone a little later

    def test_kept_batches_are_not_overwritten(self) -> None:
        kept, parts = [], []
        before = len(os.listdir("/proc/self/fd"))
        for x, y, i in data.DataLoader(Examples(), batch_sampler=[[n % 12] for n in range(60)], **PROCESSES):
            kept.append(x)
            parts.append(y[0, 1])
            assert len(os.listdir("/proc/self/fd")) < before + 12
            del i
        assert [x[0, 0].item() for x in kept] == [part[0].item() for part in parts] == [n % 12 for n in range(60)]

    def test_pending_operations_keep_their_values(self) -> None:
        iterator = iter(data.DataLoader(Examples(), batch_sampler=[[n] for n in range(12)], prefetch=1, num_workers=1))
        _core.gate(True)
        try:
            sums = [(x + y.sum()).sum() for x, y, _ in iterator]
            assert not any(x.ready for x in sums)
        finally:
            _core.gate(False)
        assert [x.item() for x in sums] == [4 * n + 6 + 24 * n for n in range(12)]

    def test_batches_that_grow_and_shrink(self) -> None:
        def batch(examples: list[Any]) -> Any:
            n = examples[0][2]
            return data.batchify.Stack()([numpy.full((n % 5 * 20_000 + 1,), n)]), str(n) * 50_000

        loader = data.DataLoader(Examples(), 1, batchify_fn=batch, **PROCESSES)
        for n, (x, text) in enumerate(loader):
            assert (x.shape, x.sum().item()) == ((1, n % 5 * 20_000 + 1), n * x.size)
            assert text == str(n) * 50_000

    def test_a_worker_may_keep_its_batches(self) -> None:
        class Keeping:
            kept: Any = None

            def __call__(self, examples: list[Any]) -> Any:
                first = examples[0][2]
                if self.kept is None:
                    self.kept = data.batchify.Stack()([numpy.full(3, first)])
                return data.batchify.Stack()([numpy.full(3, first)]), self.kept

        loader = data.DataLoader(Examples(), 1, batchify_fn=Keeping(), num_workers=1)
        for n, (x, kept) in enumerate(loader):
            assert (x.tolist(), kept.tolist()) == ([[n] * 3], [[0] * 3])


def test_pytorchs_spelling_has_workers() -> None:
    def collate(examples: list[Any]) -> Any:
        return os.getpid(), [y for _, y in examples]

    examples = torch.utils.data.TensorDataset(torch.ones(5, 2), list(range(5)))
    loader = torch.utils.data.DataLoader(examples, batch_size=2, num_workers=1, collate_fn=collate, drop_last=True)
    found = list(loader)
    assert [y for _, y in found] == [[0, 1], [2, 3]]
    assert os.getpid() not in {process for process, _ in found}


def test_settings_are_checked() -> None:
    x = Examples()
    for settings, message in [
        ({}, "batch_size or batch_sampler must be given"),
        ({"batch_size": 2, "batch_sampler": [[0]]}, "must not be given beside batch_sampler, got 2, False, None, None"),
        ({"batch_size": 2, "shuffle": True, "sampler": [0]}, "shuffle must not be given beside sampler"),
        ({"batch_size": 2, "timeout": 0}, "timeout must be positive, got 0"),
        ({"batch_size": 2, "num_workers": -1}, "must not be negative, got -1"),
        ({"batch_size": 0}, "batch_size must be positive, got 0"),
        ({"batch_size": 2, "last_batch": "drop"}, "last_batch must be one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            data.DataLoader(x, **settings)
    loader = data.DataLoader(x, 3, sampler=[3, 1], pin_memory=True, pin_device_id=0, try_nopython=False)
    assert shown(loader)[0][2] == [3, 1]


@ALL
def test_no_examples(how: dict[str, Any]) -> None:
    assert list(data.DataLoader(data.SimpleDataset([]), 3, **how)) == []
    assert list(data.DataLoader(data.SimpleDataset([]), 3, shuffle=True, **how)) == []


@ALL
def test_examples_that_are_dicts(how):
    """As those of Hugging Face's datasets: no class of this library, and items of NumPy."""
    rows = [{"ids": numpy.full(3, i), "more": {"label": numpy.int64(i)}, "pair": (i, 0.5)} for i in range(5)]
    first, last = data.DataLoader(rows, batch_size=3, **how)
    assert list(first) == ["ids", "more", "pair"]
    assert first["ids"].tolist() == [[0, 0, 0], [1, 1, 1], [2, 2, 2]]
    assert last["more"]["label"].tolist() == [3, 4]
    assert [part.tolist() for part in last["pair"]] == [[3, 4], [0.5, 0.5]]
    assert all(isinstance(x, np.ndarray) for x in (first["ids"], last["more"]["label"], *last["pair"]))
