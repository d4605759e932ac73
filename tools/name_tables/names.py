"""Which of NumPy's names forerun has, and how each is computed: found out by calling them.

    python tools/name_tables/names.py            writes docs/reference/names.md
    python tools/name_tables/names.py --check    fails if docs/reference/names.md says something else
    python tools/name_tables/names.py --counts   prints how many names there are of each kind

Each name is called with the samples of its row in the table of cases (tests/ops/cases), while the engine is held and
the arguments are pending. The behaviour is its kind. Only reasons for absent names are written by hand.
"""

from __future__ import annotations

import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

import forerun  # noqa: E402
from forerun import _core, np  # noqa: E402
from forerun.ops._base import core  # noqa: E402
from tests.ops.cases import CASES  # noqa: E402
from tests.ops.cases.table import Case, call_with_sample, mapped, to_forerun  # noqa: E402

from names_absent import REASONS  # noqa: E402  # isort: skip

PAGE = ROOT / "docs" / "reference" / "names.md"
NAMESPACES = {"np": "numpy", "np.linalg": "numpy.linalg", "np.fft": "numpy.fft", "np.random": "numpy.random",
              "np.ndarray": "numpy.ndarray"}  # fmt: skip
KINDS = {
    "native": "one operation of the engine, or a view, which needs no operation",
    "composed": "several such operations",
    "host task": "NumPy's function, which a worker calls when the values are computed",
    "blocking": "waits, because its shape or dtype depends on values, or because it returns values to Python",
    "plain": "no computation on arrays: a constant, a dtype, a module, a setting, text",
    "absent": "not provided, for the reason given",
}
PATIENCE = 30.0
TODAY = "not yet"


def array() -> Any:
    """A matrix to call methods with."""
    return np.array(numpy.arange(12, dtype="float32").reshape(3, 4) / 7)


FOLDER = tempfile.TemporaryDirectory(prefix="forerun-names-")  # gone when the tool ends


def file(name: str = "new") -> str:
    """A path where a file of NumPy's format is, or where one may be written."""
    path = Path(FOLDER.name) / name
    if name.endswith(".npy"):
        numpy.save(path, numpy.ones(3))
    if name.endswith(".txt"):
        path.write_text("1 2\n3 4\n")
    return str(path)


# Arguments for names without a row. An array among them is on its way when the call is made.
CALLS: dict[str, Callable[[], tuple[Any, ...]]] = {
    **{f"np.{n}": lambda: (file(), array()) for n in ("save", "savez", "savez_compressed", "savetxt")},
    "np.load": lambda: (file("a.npy"),), "np.loadtxt": lambda: (file("a.txt"),),
    "np.genfromtxt": lambda: (file("a.txt"),), "np.fromfile": lambda: (file("a.npy"), "uint8", 4),
    "np.may_share_memory": lambda: (array(), array()), "np.shares_memory": lambda: (array(), array()),
    **{f"np.{n}": lambda: (array()[0, 0],) for n in ("format_float_positional", "format_float_scientific")},
    **{f"np.{n}": lambda: (np.array(5),) for n in ("base_repr", "binary_repr")},
    "np.einsum_path": lambda: ("ij,jk", array(), array().T), "np.astype": lambda: (array(), "int32"),
    "np.ndarray.astype": lambda: ("int32",), "np.ndarray.fill": lambda: (1.0,), "np.ndarray.item": lambda: (0,),
    "np.ndarray.view": lambda: ("int32",), "np.ndarray.tofile": lambda: (file(),),
    "np.ndarray.reshape": lambda: (4, 3), "np.ndarray.transpose": lambda: (1, 0), "np.ndarray.sort": lambda: (),
    "np.ndarray.partition": lambda: (1,), "np.ndarray.put": lambda: ([0], [1.0]),
    "np.ndarray.dot": lambda: (array().T,),
    "np.ndarray.compress": lambda: ([True, False, True], 0), "np.ndarray.choose": lambda: ([1, 2],),
    "np.ndarray.getfield": lambda: ("int32",), "np.ndarray.dump": lambda: (file(),),
    "np.ndarray.setfield": lambda: (1.0, "float32"), "np.ndarray.resize": lambda: ((3, 4),),
    "np.ndarray.setflags": lambda: (), "np.ndarray.to_device": lambda: ("cpu",),
    "np.ndarray.searchsorted": lambda: (1.0,),
}  # type: ignore[dict-item]  # fmt: skip
# Methods whose array is another one.
SELVES: dict[str, Callable[[], Any]] = {
    "np.ndarray.searchsorted": lambda: np.arange(4.0), "np.ndarray.item": lambda: np.arange(4.0),
    "np.ndarray.resize": array, "np.ndarray.choose": lambda: np.array([0, 1]),
}  # fmt: skip


@dataclass
class Name:
    """A name of NumPy's: its kind, other kinds that some arguments give, and why it is absent."""

    name: str
    kind: str
    others: list[str] = field(default_factory=list)
    reason: str = ""


class Call(threading.Thread):
    """A call in a thread of its own."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.function, self.result, self.error = function, None, None

    def run(self) -> None:
        """Keeps the function's result or error."""
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error


@contextmanager
def counting_host_tasks() -> Iterator[list[str]]:
    """The names of the host tasks that are issued in the block."""
    found: list[str] = []
    issue = _core.host

    def host(fn: Any, inputs: Any, outs: Any, device: Any, name: str, *rest: Any, **named: Any) -> Any:
        found.append(name)
        return issue(fn, inputs, outs, device, name, *rest, **named)

    modules = (_core, core)  # the other one is where operations have it from
    for module in modules:
        module.host = host
    try:
        yield found
    finally:
        for module in modules:
            module.host = issue


def kind_of(function: Callable[..., Any], args: Any) -> str:
    """The effects of a call while the engine is held: whether it waits, and the operations that it issues."""
    arrays: list[Any] = []
    mapped(lambda a: arrays.append(a) or a, args)
    forerun.waitall()
    before = _core.stats()
    late = lambda: mapped(lambda a: a.copy(), args)
    with counting_host_tasks() as tasks:
        _core.gate(True)
        try:
            helper = Call(lambda: call_with_sample(function, late()))
            helper.start()
            while helper.is_alive() and _core.stats()["waits"] == before["waits"]:
                helper.join(0.0005)
            waited = _core.stats()["waits"] != before["waits"]
        finally:
            _core.gate(False)
        helper.join(PATIENCE)
    if helper.error is not None:
        raise helper.error
    issued = _core.stats()["issued"] - before["issued"] - len(arrays)
    if waited:
        return "blocking"
    if tasks:
        return "host task"
    if issued > 1:
        return "composed"
    made: list[Any] = []
    mapped(lambda a: made.append(a) or a, [helper.result])
    return "native" if issued == 1 or made else "plain"


def samples_of(case: Case) -> list[Any]:
    """A row's samples of float32, or of the first dtype that it has, and of complex64 if it has that."""
    dtypes = [d for d in map(numpy.dtype, ("float32", "complex64")) if d in case.dtype_list()]
    return [to_forerun(args) for dtype in dtypes or case.dtype_list()[:1] for args in case.arguments(dtype)]


def kinds_of_rows(function: Any, rows: list[Case]) -> list[str]:
    """Return the kinds for the samples of some rows: that of the first one comes first."""
    return list(dict.fromkeys(kind_of(function, args) for row in rows for args in samples_of(row)))


def examined(path: str, name: str, there: Any) -> Name:
    """Return the kind of an existing name."""
    full = f"{path}.{name}"
    if full in CALLS:
        kinds = [kind_of(there, CALLS[full]())]
    elif rows := [c for c in CASES if c.op is there]:
        kinds = kinds_of_rows(there, rows)
    elif isinstance(there, type) or not callable(there) or not hasattr(there, "__name__"):
        kinds = ["plain"]
    else:
        kinds = [kind_of(there, (array(),) if takes_array(there) else ())]
    return Name(name, kinds[0], kinds[1:])


def takes_array(function: Any) -> bool:
    """Whether a function without a row runs with an array; else it is called with nothing, or not at all."""
    try:
        function(array())
    except Exception:
        return False
    return True


def method(name: str) -> Name:
    """The kind of a method or attribute of arrays."""
    full = f"np.ndarray.{name}"
    rows = [c for c in CASES if c.name == f"np.{name}" and not c.in_place]
    take = SELVES.get(full, array)
    if not callable(getattr(take(), name)):
        return Name(name, kind_of(lambda x: getattr(x, name), (take(),)))
    called = lambda x, *args, **named: getattr(x, name)(*args, **named)
    if full not in CALLS and rows and len(args := samples_of(rows[0])[0]) and isinstance(args[0], _core.Array):
        return Name(name, kind_of(called, args))
    return Name(name, kind_of(called, (take(), *(CALLS[full]() if full in CALLS else ()))))


OF_TORCH = {"np.ndarray.data"}  # only after an import of forerun.torch


def found(path: str) -> list[Name]:
    """All of NumPy's names in a namespace."""
    numpy_namespace, namespace = numpy, np
    for part in path.split(".")[1:]:
        numpy_namespace, namespace = getattr(numpy_namespace, part), getattr(namespace, part)
    result = []
    for name in sorted(n for n in dir(numpy_namespace) if not n.startswith("_")):
        if not hasattr(namespace, name) or f"{path}.{name}" in OF_TORCH:
            result.append(Name(name, "absent", reason=REASONS.get(f"{path}.{name}", TODAY)))
        elif path == "np.ndarray":
            result.append(method(name))
        else:
            result.append(plain_or(path, name, getattr(namespace, name)))
    return result


def plain_or(path: str, name: str, there: Any) -> Name:
    """`examined`, but for functions that no array goes into or comes out of."""
    try:
        return examined(path, name, there)
    except TypeError:
        return Name(name, "plain")


def everything() -> dict[str, list[Name]]:
    """All names, by namespace."""
    return {path: found(path) for path in NAMESPACES}


def counts(names: dict[str, list[Name]]) -> str:
    """A table: how many names of each kind each namespace has."""
    rows = ["| namespace | " + " | ".join(KINDS) + " | all |", "|---" * (len(KINDS) + 2) + "|"]
    total: Counter[str] = Counter()
    for path, found_ in names.items():
        here = Counter(n.kind for n in found_)
        total += here
        rows.append(f"| `{path}` | " + " | ".join(str(here[k]) for k in KINDS) + f" | {len(found_)} |")
    rows.append("| together | " + " | ".join(str(total[k]) for k in KINDS) + f" | {total.total()} |")
    return "\n".join(rows)


def row(name: Name) -> str:
    """A row of a table: a name, its kind, and the effects of other arguments, or why it is absent."""
    note = name.reason or (f"with other arguments: {', '.join(name.others)}" if name.others else "")
    return f"| `{name.name}` | {name.kind} | {note} |"


def page(names: dict[str, list[Name]]) -> str:
    """The text of docs/reference/names.md."""
    version = ".".join(numpy.__version__.split(".")[:2])
    parts = [
        "# NumPy's names",
        f"This page lists every public name of NumPy {version}, and how forerun computes it. "
        "`python tools/name_tables/names.py`\nwrites the page: it calls each name while no operation can start, "
        "and records the result. A test checks that the page is\nup to date.",
        "\n".join(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items()),
        counts(names),
    ]
    for path, found_ in names.items():
        rows = [row(name) for name in sorted(found_, key=lambda name: name.name.lower())]
        parts += [f"## `{path}`", "\n".join(["| name | kind | note |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    names = everything()
    if "--counts" in sys.argv:
        print(counts(names))
    elif "--check" in sys.argv:
        stale = f"{PAGE} is not up to date: run python tools/name_tables/names.py"
        sys.exit(0 if PAGE.read_text() == page(names) else stale)
    else:
        PAGE.write_text(page(names))


if __name__ == "__main__":
    main()
