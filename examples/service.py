"""A web service whose model runs on the engine, so that its event loop is never blocked.

    python examples/service.py [--port 8080]
    curl -d '{"rows": [[1, 2, 3, 4, 5, 6, 7, 8]]}' localhost:8080/predict
    curl localhost:8080/stats

POST /predict takes rows of eight words, numbers below 1000, and answers with ten scores for each. Other documents are
answered with 400; a word that is not in the vocabulary, which only the computation finds out, with 422. SIGTERM lets
requests that have come be answered, and ends the service.
"""

from __future__ import annotations

import argparse
import asyncio
import fcntl
import gc
import os
from collections import Counter
from typing import Any

from aiohttp import web

import forerun
from forerun import gluon, np
from forerun.gluon import nn

VOCABULARY, WORDS, SCORES = 1000, 8, 10
MOST_ROWS = 16  # of a request: bounds the time of the loop for issuing and reading
MOST_BYTES = 16 * 1024

# How many requests may be computed at once; the others wait here, in the loop. Their operations together, some ten
# each, are far fewer than forerun.config()["ops_ahead"]: the loop never waits for room to issue.
CONCURRENT = 64


class MeanOfRows(gluon.HybridBlock):
    """The mean of the words' vectors: (rows, words, width) to (rows, width)."""

    def forward(self, x: Any) -> Any:
        return x.mean(axis=1)


def make_net() -> Any:
    """Words in, scores out. Its calls are recorded once for each number of rows, before the first request comes."""
    np.random.seed(0)
    net = nn.HybridSequential()
    net.add(nn.Embedding(VOCABULARY, 64), MeanOfRows(), nn.Dense(256, activation="relu"), nn.Dense(SCORES))
    net.initialize()
    net.hybridize()
    for rows in 2 * list(range(1, MOST_ROWS + 1)):  # recorded, and run as a program
        net(np.zeros((rows, WORDS), dtype="int64"))
    forerun.waitall()
    return net


def words_of(document: Any) -> Any:
    """Return the rows of a request as an array. ValueError if they are not valid rows."""
    rows = document.get("rows") if isinstance(document, dict) else None
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
        raise ValueError(f"predict: rows must be a list of 1 to {MOST_ROWS} rows, got {rows!r:.80}")
    for row in rows:
        if not isinstance(row, list) or len(row) != WORDS or not all(type(word) is int for word in row):
            raise ValueError(f"predict: a row must be a list of {WORDS} integers, got {row!r:.80}")
    return np.array(rows, dtype="int64")


class Service:
    """The handlers, and their common state."""

    def __init__(self) -> None:
        self.net = make_net()
        self.room = asyncio.Semaphore(CONCURRENT)
        self.counts: Counter[str] = Counter(open=0, answered=0, refused=0, failed=0, cancelled=0)

    async def predict(self, request: web.Request) -> web.Response:
        """POST /predict."""
        self.counts["open"] += 1
        try:
            words = words_of(await request.json())
            async with self.room:
                scores = await self.net(words)  # issued at once; the loop serves others until the scores are computed
        except (ValueError, OverflowError) as error:
            return self.answer("refused", {"error": str(error)}, 400)
        except IndexError as error:  # raised by the computation, for this request alone
            return self.answer("failed", {"error": str(error)}, 422)
        except asyncio.CancelledError:  # the client has gone: no reader of the result is left, the engine may drop it
            self.counts["cancelled"] += 1
            raise
        finally:
            self.counts["open"] -= 1
        return self.answer("answered", {"scores": scores.tolist()})

    def answer(self, count: str, document: dict[str, Any], status: int = 200) -> web.Response:
        """An answer in JSON, which is counted."""
        self.counts[count] += 1
        return web.json_response(document, status=status)

    async def stats(self, request: web.Request) -> web.Response:
        """GET /stats."""
        engine = forerun.stats()
        return web.json_response(
            {
                "requests": self.counts,
                "operations": {key: engine[key] for key in ("issued", "done", "dropped", "failed")},
                "bytes": forerun.memory()["live"],
            }
        )


def make_app() -> web.Application:
    """The application, with its model."""
    no_surprises_later()
    service = Service()
    app = web.Application(client_max_size=MOST_BYTES)
    app.add_routes([web.post("/predict", service.predict), web.get("/stats", service.stats)])
    gc.collect()
    gc.freeze()  # present objects stay: to visit them again and again would block the loop
    return app


def no_surprises_later() -> None:
    """Makes room for a thousand connections now, while the process has one thread.

    Later it takes Linux some 10 ms, inside of `accept`.
    """
    file = os.open(os.devnull, os.O_RDONLY)
    os.close(fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, 1000))
    os.close(file)


def serve(app: web.Application, **where: Any) -> None:
    """Serves until SIGTERM or Ctrl-C; a client that goes away has its request cancelled."""
    web.run_app(app, shutdown_timeout=10, handler_cancellation=True, **where)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8080)
    serve(make_app(), host="127.0.0.1", port=parser.parse_args().port)


if __name__ == "__main__":
    main()
