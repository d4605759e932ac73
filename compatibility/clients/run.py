"""`python -m compatibility.clients.run NAME`: evaluates a library's expressions, and prints their results as JSON."""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import warnings

if sys.argv[1] in ("scipy", "sklearn"):
    os.environ["SCIPY_ARRAY_API"] = "1"  # SciPy looks for it when it is imported

from compatibility.clients.look import looked_at
from forerun import npx


def main(name: str) -> None:
    """Print the library's versions, and for each subject the kind of each expression's result."""
    warnings.simplefilter("ignore")  # of the libraries among each other
    npx.set_np(dtype=True)
    client = importlib.import_module(f"compatibility.clients.{name}")
    subjects = {
        subject: {
            expression: ": ".join(filter(None, looked_at(expression, client.names)))
            for expression in map(str.strip, lines.strip().splitlines())
        }
        for subject, lines in client.ROWS.items()
    }
    versions = {package: importlib.metadata.version(package) for package in client.VERSIONS}
    print(json.dumps({"versions": versions, "subjects": subjects}))


if __name__ == "__main__":
    main(sys.argv[1])
