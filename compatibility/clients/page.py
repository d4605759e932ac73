"""`python -m compatibility.clients.page [NAME ...]`: calls libraries again, and writes results and page.

`seen.json` has the results; the tables in docs/reference/clients.md, between two marks, are written from it alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from compatibility.clients import NAMES

HERE = Path(__file__).parent
SEEN = HERE / "seen.json"
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "reference" / "clients.md"
BEGIN, END = "<!-- tables: make clients -->\n", "<!-- end of tables -->\n"
PATIENCE = 300.0  # seconds for one library; a loaded machine takes a tenth
WORDS = {
    "waits": "Wait",
    "other": "Return other objects than arrays of forerun",
    "raises": "Raise",
    "wrong": "Give other values than with NumPy's arrays",
}


def looked(name: str) -> dict[str, Any]:
    """Return the results of a library now, from a process of its own."""
    command = [sys.executable, "-m", "compatibility.clients.run", name]
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("FORERUN_", "SCIPY_"))}
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kinds(seen: dict[str, Any]) -> dict[str, str]:
    """The kind of each expression's result."""
    return {e: word.partition(": ")[0] for found in seen["subjects"].values() for e, word in found.items()}


def table(seen: dict[str, Any]) -> list[str]:
    """How many expressions of each subject are of each kind."""
    lines = [
        "| | arrays of forerun, at once | after a wait | other objects | raises |",
        "|---|---|---|---|---|",
    ]
    for subject, expressions in seen["subjects"].items():
        found = [word.partition(": ")[0] for word in expressions.values()]
        cells = [str(found.count(kind) or "") for kind in ("at once", "waits", "other", "raises")]
        lines.append(f"| {subject} | " + " | ".join(cells) + " |")
    return lines


def exceptions(seen: dict[str, Any]) -> list[str]:
    """Return the expressions that do not give arrays of forerun at once, by their results."""
    lines = []
    for kind, word in WORDS.items():
        found = [
            f"`{e}`" + (f" ({what.partition(': ')[2]})" if ": " in what else "")
            for expressions in seen["subjects"].values()
            for e, what in expressions.items()
            if what.partition(": ")[0] == kind
        ]
        lines += [f"{word}:", "", *(f"- {line}" for line in found), ""] if found else []
    return lines


def section(name: str, seen: dict[str, Any]) -> str:
    """A library's part of the page."""
    title = ", ".join(f"{package} {version}" for package, version in seen["versions"].items())
    source = f"Expressions: [compatibility/clients/{name}.py](../../compatibility/clients/{name}.py)."
    return "\n".join([f"### {title}", "", *table(seen), "", source, "", *exceptions(seen)])


def rendered(seen: dict[str, Any]) -> str:
    """All libraries' parts."""
    return "\n".join(section(name, seen[name]) for name in NAMES if name in seen)


def split(page: str) -> tuple[str, str, str]:
    """Return the text before the tables, the tables, and the text after them."""
    head, _, rest = page.partition(BEGIN)
    tables, _, tail = rest.partition(END)
    return head + BEGIN, tables, END + tail


def main(names: list[str]) -> None:
    """Look at the named libraries, or all, and write both files."""
    seen = json.loads(SEEN.read_text()) if SEEN.exists() else {}
    for name in names or NAMES:
        seen[name] = looked(name)
        print(name, {kind: list(kinds(seen[name]).values()).count(kind) for kind in ("at once", *WORDS)})
    SEEN.write_text(json.dumps(seen, indent=1) + "\n")
    head, _, tail = split(PAGE.read_text())
    PAGE.write_text(head + rendered(seen) + tail)


if __name__ == "__main__":
    main(sys.argv[1:])
