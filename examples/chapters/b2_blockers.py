"""B2: lines that wait without saying so, and the report that names them.

A loop works on two matrices, which have nothing to do with each other, and watches a number of each meanwhile. Reading
the number in every round, as `item()`, as a NumPy array, or in text that is printed, makes Python wait in every round:
the work of one matrix is done before the other's is issued. Keeping the numbers as arrays and reading all of them at
the end waits once. The profiler's report lists waits by line.

    python examples/chapters/b2_blockers.py [--quick]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from common import median, ms, options, seconds, table

import forerun
from forerun import np, profiler

Watch = Callable[[np.ndarray], object]


def improve(matrices: list[np.ndarray], rounds: int, watch: Watch) -> list[object]:
    """Some rounds of the power method; what `watch` made of each round's norms."""
    vectors = [np.ones(a.shape[0]) for a in matrices]
    seen = []
    for _ in range(rounds):
        for i, a in enumerate(matrices):
            y = a @ vectors[i]
            norm = np.sqrt((y * y).sum())
            vectors[i] = y / norm
            seen.append(watch(norm))
    return seen


def with_item(norm: np.ndarray) -> object:
    return norm.item()


def with_asnumpy(norm: np.ndarray) -> object:
    return norm.asnumpy()


def with_text(norm: np.ndarray) -> object:
    return f"norm {norm}"  # what print would show


def at_the_end(matrices: list[np.ndarray], rounds: int) -> list[float]:
    return np.stack(improve(matrices, rounds, lambda norm: norm)).tolist()


def main() -> None:
    quick, _ = options(__doc__)
    n, rounds, runs = (16, 20, 3) if quick else (600, 300, 5)
    matrices = [np.random.uniform(size=(n, n)) for _ in range(2)]
    at_the_end(matrices, rounds)  # the first run makes threads and memory

    def run(watch: Watch) -> Callable[[], object]:
        return lambda: improve(matrices, rounds, watch)

    ways: dict[str, Callable[[], object]] = {
        "one read at the end": lambda: at_the_end(matrices, rounds),
        "item() in each round": run(with_item),
        "asnumpy() in each round": run(with_asnumpy),
        "as text in each round": run(with_text),
    }
    time = {name: median(lambda way=way: seconds(way), runs) for name, way in ways.items()}
    once = time["one read at the end"]
    rows = [(name, ms(t), f"{t / rounds * 1e6:,.1f} us", f"{t / once:.2f}") for name, t in time.items()]
    table((f"{rounds} rounds", "time", "per round", "times the first"), rows)

    with profiler.record() as p:
        improve(matrices, rounds, with_item)
    waits = [w for w in p.trace.waits if w.cause != "end"]
    print(profiler.report(p.trace, limit=5), end="\n\n")
    spent: dict[str, float] = defaultdict(float)
    for w in waits:
        spent[w.line] += w.duration
    line = max(spent, key=spent.__getitem__, default="none: all was done before it was asked for")
    print(f"A look in each round takes {time['item() in each round'] / once:.2f} times as long as one at the end.")
    print(f"{len(waits)} waits in {rounds} rounds; the line to change is {line}.")
    forerun.waitall()


if __name__ == "__main__":
    main()
