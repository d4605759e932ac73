"""Which of MXNet's public names forerun has: have, differs, absent.

    python tools/name_tables/mxnet_names.py            writes docs/reference/mxnet_names.md
    python tools/name_tables/mxnet_names.py --check    fails if docs/reference/mxnet_names.md says something else
    python tools/name_tables/mxnet_names.py --counts   prints how many names there are of each kind

mxnet_names.tsv has the names: those of 1.9.1, with their parameters, as seen by looking into its modules, and
those of 2.0 by its documentation. Each is looked for where a program finds it after `install_as_mxnet()`, and its
parameters in the signature that it finds. Other differences, and why names are absent, are in mxnet_absent.py.
"""

from __future__ import annotations

import csv
import functools
import inspect
import sys
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[2]

from forerun.compat import install_as_mxnet, uninstall_as_mxnet  # noqa: E402

from mxnet_absent import ABSENT, DIFFERS, PARAMETERS  # noqa: E402  # isort: skip

PAGE = ROOT / "docs" / "reference" / "mxnet_names.md"
NAMES = Path(__file__).with_suffix(".tsv")
TODAY = "not yet"
HEAD = """This page lists the public names of MXNet 1.9.1 and 2.0 for programs over `np` and Gluon, and which of them
exist after `install_as_mxnet()`. `python tools/name_tables/mxnet_names.py` writes the page: it looks for each name, and
for MXNet's parameters in its signature. A test checks that the page is up to date. Names with (1.x) or (2.x) are in
that version only."""
OUTSIDE = """The page does not list the symbolic API (`mx.sym`, `mx.mod`, `mx.executor`, `mx.rnn`, `mx.io`, `mx.viz`),
in whose place `hybridize` captures the operations of a block; sparse storage (`mx.nd.sparse`, row_sparse and csr
arrays), because arrays are dense; and the old `mx.nd`, whose place `np` takes."""
BASES = {"gluon.HybridBlock": "gluon.Block", "gluon.rnn.RecurrentCell": "gluon.HybridBlock"}  # whose reasons hold, too
KINDS = {
    "have": "exists, with MXNet's parameters in its signature",
    "differs": "exists with the given difference",
    "absent": "does not exist, for the given reason",
}


@dataclass
class Name:
    """A name of MXNet's, and forerun's object of that name."""

    full: str
    versions: str
    kind: str
    reason: str = ""

    @property
    def place(self) -> str:
        """The module or class that it is in."""
        return self.full.rpartition(".")[0]

    @property
    def short(self) -> str:
        """The name itself, and in which versions it is if not in both."""
        return f"`{self.full.rpartition('.')[2]}`" + (f" ({self.versions}.x)" if " " not in self.versions else "")


def listed() -> Iterator[tuple[str, str, list[str]]]:
    """The names: in full, in which versions, with which parameters."""
    with NAMES.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            yield row["name"], row["versions"], row["parameters"].split()


# Objects of classes, for attributes that only objects have.
OBJECTS: dict[str, Callable[[ModuleType], Any]] = {
    "gluon.Block": lambda mx: mx.gluon.nn.Dense(1), "gluon.HybridBlock": lambda mx: mx.gluon.nn.Dense(1),
    "gluon.Parameter": lambda mx: mx.gluon.Parameter("weight", shape=(1,)),
    "gluon.Constant": lambda mx: mx.gluon.Constant(mx.np.ones(1)),
    "gluon.Trainer": lambda mx: mx.gluon.Trainer([], "sgd"),
    "optimizer.Optimizer": lambda mx: mx.optimizer.SGD(), "np.ndarray": lambda mx: mx.np.ones(1),
}  # fmt: skip


def reached(root: ModuleType, full: str) -> Any:
    """Return the object of a name, in a class also for its instances. AttributeError if it does not exist."""
    place, _, name = full.rpartition(".")
    try:
        return functools.reduce(getattr, full.split("."), root)
    except AttributeError:
        if place not in OBJECTS:
            raise
        return getattr(OBJECTS[place](root), name)


def accepted(there: Any) -> set[str] | None:
    """The names of parameters; None where they are not known, or any may be given."""
    if not isinstance(there, type):
        return _named(there)
    found: set[str] = set()
    for kind in there.__mro__:
        own = vars(kind).get("__init__") or vars(kind).get("__new__")
        if kind is object or own is None:
            continue
        names, more = _named(own), _more(own)
        if names is None:
            return None
        found |= names
        if not more:
            return found
    return None


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(function).parameters.values())


def _more(function: Callable[..., Any]) -> bool:
    """Whether a function takes any names."""
    return any(p.kind is p.VAR_KEYWORD for p in _parameters(function))


def _named(function: Callable[..., Any]) -> set[str] | None:
    try:
        given = _parameters(function)
    except (TypeError, ValueError):
        return None
    plain = not inspect.isfunction(function) or function.__name__ not in ("__init__", "__new__")
    return None if plain and _more(function) else {p.name for p in given}


def without(there: Any, full: str, parameters: list[str]) -> list[str]:
    """The parameters that are not accepted, but for those that need no word (see `PARAMETERS`)."""
    if not callable(there) or not parameters:
        return []
    known = accepted(there)
    if known is None:
        return []
    own = DIFFERS.get(full, "")
    return [p for p in parameters if p not in known and p not in PARAMETERS and f"`{p}`" not in own]


def absent(full: str) -> str:
    """Return why a name is absent: the reason of the name, of its namespace, or of its name in a base class."""
    place, _, name = full.rpartition(".")
    found = ABSENT.get(full, ABSENT.get(f"{place}.*"))
    if found is None:
        return absent(f"{BASES[place]}.{name}") if place in BASES else TODAY
    return found


def examined(root: ModuleType, full: str, versions: str, parameters: list[str]) -> Name:
    """A name, looked for."""
    try:
        there = reached(root, full)
    except AttributeError:
        return Name(full, versions, "absent", absent(full))
    differences = [DIFFERS[full]] if full in DIFFERS else []
    if missing := without(there, full, parameters):
        differences.append("without " + ", ".join(f"`{p}`" for p in missing))
    return Name(full, versions, "differs" if differences else "have", "; ".join(differences))


def everything() -> dict[str, list[Name]]:
    """All names, by the module or class that they are in."""
    install_as_mxnet()
    try:
        import mxnet  # type: ignore[import-not-found]

        found: dict[str, list[Name]] = {}
        for full, versions, parameters in listed():
            name = examined(mxnet, full, versions, parameters)
            found.setdefault(name.place, []).append(name)
        return found
    finally:
        uninstall_as_mxnet()


def counts(names: dict[str, list[Name]]) -> str:
    """A table: how many names of each kind there are in each place."""
    rows = ["| where | " + " | ".join(KINDS) + " | all |", "|---" * (len(KINDS) + 2) + "|"]
    total: Counter[str] = Counter()
    for place, found in names.items():
        here = Counter(n.kind for n in found)
        total += here
        rows.append(f"| `{place}` | " + " | ".join(str(here[k]) for k in KINDS) + f" | {len(found)} |")
    rows.append("| together | " + " | ".join(str(total[k]) for k in KINDS) + f" | {total.total()} |")
    return "\n".join(rows)


def _reasons(found: list[Name]) -> str:
    """Lines of names with one reason."""
    by: dict[str, list[str]] = {}
    for name in found:
        by.setdefault(name.reason, []).append(name.short)
    return "\n".join(f"- {', '.join(names)}: {reason}" for reason, names in by.items())


def page(names: dict[str, list[Name]]) -> str:
    """The text of docs/reference/mxnet_names.md."""
    parameters = ", ".join(f"`{p}` ({reason})" for p, reason in PARAMETERS.items() if reason)
    parts = [
        "# MXNet's names",
        textwrap.fill(HEAD, 120),
        "\n".join(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items()),
        textwrap.fill(f"{OUTSIDE} These parameters are not looked for: {parameters}.", 120),
        counts(names),
    ]
    for place, found in names.items():
        parts.append(f"## `{place}`")
        for kind in KINDS:
            some = [n for n in found if n.kind == kind]
            if some and kind == "have":
                parts.append(f"**{kind}** ({len(some)}): " + ", ".join(n.short for n in some))
            elif some:
                parts.append(f"**{kind}** ({len(some)})\n\n{_reasons(some)}")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    names = everything()
    if "--counts" in sys.argv:
        print(counts(names))
    elif "--check" in sys.argv:
        text = "docs/reference/mxnet_names.md is not up to date: run python tools/name_tables/mxnet_names.py"
        sys.exit(0 if PAGE.read_text() == page(names) else text)
    else:
        PAGE.write_text(page(names))


if __name__ == "__main__":
    main()
