"""The service of examples/service.py, in a process of its own: right answers, a free loop, a good end."""

from __future__ import annotations

import asyncio
import os
import runpy
import signal
import statistics
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import numpy
import pytest

from forerun import np
from tests.support.engine.event_loops import run_in_loop
from tests.support.paths import ROOT

LONGEST_TURN = 0.1  # of the time of all turns of a round
CONCURRENT, CANCELLED, WAVE = 500, 50, 10
MALFORMED = [b"{", b"[]", b'{"rows": []}', b'{"rows": [[1, 2]]}', b'{"rows": [["a","a","a","a","a","a","a","a"]]}']


def words_of_request(i: int) -> list[list[int]]:
    """The rows of request number i; every seventh has a word that is not in the vocabulary."""
    rows = [[(i + 31 * row + k) % 1000 for k in range(8)] for row in range(1 + i % 16)]
    if i % 7 == 0:
        rows[-1][3] = 1000 + i
    return rows


class Client:
    """Requests to the service."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def predict(self, i: int) -> tuple[int, int, Any]:
        """Request i, which may be malformed: its number, the status and the document of the answer."""
        body = {"data": MALFORMED[i // 11 % 5]} if i % 11 == 0 else {"json": {"rows": words_of_request(i)}}
        async with self.session.post("/predict", **body) as response:
            return i, response.status, await response.json()

    async def see(self, page: str) -> Any:
        """Return the contents of a page."""
        async with self.session.get(page) as response:
            return await response.json()

    async def gate(self, closed: bool) -> None:
        """Holds the service's engine, or lets it go."""
        async with self.session.post("/gate", json=closed):
            pass

    async def until(self, **counts: int) -> None:
        """Comes back when the service has counted so many requests."""
        while counts.items() - (await self.see("/stats"))["requests"].items():
            await asyncio.sleep(0)


@asynccontextmanager
async def client(port: str) -> AsyncIterator[Client]:
    """A client with any number of connections."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", connector=connector) as session:
        yield Client(session)


@pytest.fixture
def service() -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process, and its port. It must end well when told to, and have nothing to complain of."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("FORERUN_")}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tests.support.processes.service_under_test"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=ROOT,
    )
    try:
        assert process.stdout
        yield process, process.stdout.readline().strip()
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=60)
        assert (process.returncode, complaints) == (0, "")
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module", autouse=True)
def expected() -> dict[int, numpy.ndarray]:
    """The scores of each request that is to be answered with some, computed here."""
    net = runpy.run_path(str(ROOT / "examples" / "service.py"))["make_net"]()
    good = [i for i in range(2 * CONCURRENT) if i % 7 and i % 11]
    return {i: net(np.array(words_of_request(i), dtype="int64")).asnumpy() for i in good}


def assert_answers(expected: dict[int, numpy.ndarray], answers: list[tuple[int, int, Any]]) -> None:
    """Each answer is that of its own request, for any outcome of the others."""
    for i, status, document in answers:
        if i % 11 == 0:
            assert (status, list(document)) == (400, ["error"])
        elif i % 7 == 0:
            assert status == 422, document
            assert document["error"].endswith(f"got {1000 + i}")
        else:
            assert status == 200, document
            numpy.testing.assert_array_equal(numpy.array(document["scores"], "float32"), expected[i])


async def held_and_answered(user: Client) -> list[tuple[int, int, Any]]:
    """500 requests that wait for one another's computations at once; 50 of them are cancelled, the others answered."""
    await user.gate(True)
    before = (await user.see("/stats"))["requests"]
    good = [i for i in range(2 * CONCURRENT) if i % 11][:CONCURRENT]
    tasks: list[asyncio.Task[Any]] = []
    for start in range(0, CONCURRENT, WAVE):  # all at once would measure how aiohttp accepts connections
        tasks += [asyncio.create_task(user.predict(i)) for i in good[start : start + WAVE]]
        await user.until(open=len(tasks))
    gone = [k for k, i in enumerate(good) if i % 7][::8][:CANCELLED]  # none whose error would not be raised
    for k in gone:
        tasks[k].cancel()
    await user.until(open=CONCURRENT - CANCELLED, cancelled=before["cancelled"] + CANCELLED)
    await user.gate(False)
    ends = await asyncio.gather(*tasks, return_exceptions=True)
    assert [k for k, end in enumerate(ends) if isinstance(end, asyncio.CancelledError)] == gone
    return [end for end in ends if not isinstance(end, asyncio.CancelledError)]


def test_five_hundred_requests_at_once_do_not_hold_up_the_loop(service, expected):
    async def main() -> list[float]:
        async with client(service[1]) as user:
            threads, longest = (await user.see("/meter"))["threads"], []
            for _ in range(3):
                assert_answers(expected, await held_and_answered(user))
                seen = await user.see("/meter")
                assert seen["threads"] == threads
                longest.append(seen["turn"] / seen["turns"])
            return longest

    longest = run_in_loop(main())
    # In a single round the machine may have stopped for a moment.
    assert statistics.median(longest) <= LONGEST_TURN, longest


def test_concurrent_requests_get_correct_answers(service, expected):
    async def main() -> None:
        async with client(service[1]) as user:
            threads = (await user.see("/meter"))["threads"]
            answers = await asyncio.gather(*(user.predict(i) for i in range(CONCURRENT)))
            assert_answers(expected, answers)
            stats = await user.see("/stats")
            malformed = len(range(0, CONCURRENT, 11))
            failed = sum(i % 7 == 0 and i % 11 > 0 for i in range(CONCURRENT))
            assert stats["requests"] == {
                "open": 0,
                "answered": CONCURRENT - malformed - failed,
                "refused": malformed,
                "failed": failed,
                "cancelled": 0,
            }
            assert (await user.see("/meter"))["threads"] == threads

    run_in_loop(main())


def test_a_document_that_is_too_large(service):
    async def main() -> int:
        async with client(service[1]) as user, user.session.post("/predict", data=b"1" * 20_000) as response:
            return response.status

    assert run_in_loop(main()) == 413


def test_shutdown_answers_received_requests(service, expected):
    process, port = service

    async def main() -> None:
        async with client(port) as user:
            await user.gate(True)
            task = asyncio.create_task(user.predict(1))
            await user.until(open=1)
            process.send_signal(signal.SIGTERM)  # the gate opens at the shutdown
            assert_answers(expected, [await task])

    run_in_loop(main())
    assert process.wait(60) == 0


def test_the_meter_sees_calls_that_block_a_loop():
    program = """
import asyncio, sys, threading, time
from tests.support.processes.service_under_test import Meter
def busy():
    end = time.thread_time() + 0.03
    while time.thread_time() < end:
        pass
def waiting():
    threading.Event().wait(0.03)
async def main(what):
    await asyncio.sleep(0)
    meter.turn = 0.0
    asyncio.get_running_loop().call_soon(what)
    await asyncio.sleep(0.01)
    return meter.turn
for what in (busy, waiting, lambda: None):
    meter = Meter()
    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(meter)) as runner:
        print(runner.run(main(what)))
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    busy, waiting, _ = map(float, done.stdout.split())
    assert busy > 0.025
    assert waiting > 0.025
