"""B2: lines that wait implicitly, and the profile that names them.

A loop works on two matrices, which have nothing to do with each other, and watches a number of each. Reading the number
in every round, as `item()`, as a NumPy array, or in text that is printed, makes Python wait in every round: the work
of one matrix is done before the other's is issued. Keeping the numbers as arrays and reading all of them at the end
waits once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from forerun import np, profiler

from ...finding import Figure, Finding, Run, Table, experiment, ratio, seconds
from ...measure import medians

Watch = Callable[[np.ndarray], object]


def improve(matrices: list[np.ndarray], rounds: int, watch: Watch) -> list[object]:
    """Some rounds of the power method; the results of `watch` for each round's norms."""
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
    """A number."""
    return norm.item()


def with_asnumpy(norm: np.ndarray) -> object:
    """A NumPy array."""
    return norm.asnumpy()


def with_text(norm: np.ndarray) -> object:
    """A text."""
    return f"norm {norm}"  # as print would show it


def at_the_end(matrices: list[np.ndarray], rounds: int) -> object:
    """All norms, which are kept as arrays until they are read."""
    norms: list[np.ndarray] = []
    improve(matrices, rounds, norms.append)
    return np.stack(norms).tolist()


@experiment(
    "B2", "Blockers", "print, asnumpy and item wait, too; frequent small conversions ruin a good program.",
)  # fmt: skip
def blockers(run: Run) -> Finding:
    n, rounds = run.size("n", 16, 600), run.size("steps", 20, 300)
    matrices = [np.random.uniform(size=(n, n)) for _ in range(2)]
    at_the_end(matrices, rounds)  # the first run makes threads and memory

    def watched(watch: Watch) -> Callable[[], object]:
        return lambda: improve(matrices, rounds, watch)

    ways: dict[str, Callable[[], object]] = {
        "all numbers read at the end": lambda: at_the_end(matrices, rounds),
        "item() in each round": watched(with_item),
        "asnumpy() in each round": watched(with_asnumpy),
        "as text in each round": watched(with_text),
    }
    found = medians(ways, run.rounds)
    with profiler.record() as p:
        improve(matrices, rounds, with_item)
    spent: dict[str, list[float]] = defaultdict(list)
    for wait in p.trace.waits:
        spent[wait.line].append(wait.duration)
    once, often = list(found.values())[:2]
    lines = sorted(spent.items(), key=lambda line: -sum(line[1]))
    return Finding(
        [
            Table(
                (f"{rounds} rounds", "time", "per round", "to the first"),
                [(name, seconds(t), seconds(t / rounds), ratio(t, once)) for name, t in found.items()],
            ),
            Table(
                ("with item(), lines that waited", "times", "in all"),
                [(line, Figure(len(waits)), seconds(sum(waits))) for line, waits in lines]
                or [("none: all was computed before it was read", Figure(0), seconds(0))],
            ),
        ],
        [f"Reading a number in each round takes {often / once:.2f} times as long as reading all at the end."],
    )
