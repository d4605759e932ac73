"""The example notebooks, executed by a kernel: each cell runs, and shows the expected output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

FOLDER = ROOT / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

# Sockets that are files: a port that was free a moment ago may be in use when the kernel takes it.
EXECUTE = """
import sys, tempfile, jupyter_client, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], 4)
with tempfile.TemporaryDirectory() as folder:
    kernel = jupyter_client.AsyncKernelManager(kernel_name="python3", transport="ipc", ip=folder + "/kernel")
    nbclient.NotebookClient(notebook, km=kernel, timeout=100, startup_timeout=100).execute()
nbformat.write(notebook, sys.argv[2])
"""


def executed(notebook: Path, folder: Path) -> list[dict[str, Any]]:
    """The cells of a notebook after a run in a kernel of its own, which finds no user's settings."""
    homes = {
        name: str(folder / name)
        for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(notebook), str(folder / notebook.name)],
        capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **homes},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads((folder / notebook.name).read_text())["cells"]


def output_of_cell(cells: list[dict[str, Any]], word: str) -> dict[str, str]:
    """Return the output of the cell with a word in its source, by kind."""
    code = [c for c in cells if c["cell_type"] == "code"]
    cell = next((c for c in code if "".join(c["source"]) == word), None) or next(
        c for c in code if word in "".join(c["source"])
    )
    found: dict[str, str] = {}
    for output in cell["outputs"]:
        if output["output_type"] == "stream":
            found[output["name"]] = found.get(output["name"], "") + "".join(output["text"])
        else:
            found |= {kind: "".join(text) for kind, text in output["data"].items()}
    return found


def test_running_ahead(tmp_path):
    cells = executed(FOLDER / "running_ahead.ipynb", tmp_path)
    assert output_of_cell(cells, "y.ready")["text/plain"].startswith("((1000, 1000), ")
    assert "float32 (1000, 1000)" in output_of_cell(cells, "y")["text/html"]
    assert "<svg" in output_of_cell(cells, "forerun.graph(z)")["image/svg+xml"]
    training = output_of_cell(cells, "forerun.progress")
    assert "training" in training["text/html"]
    assert "100/100 issued" in training["text/html"]
    assert "stderr" not in training
    first, last = map(float, training["text/plain"].strip("'").split(" to "))
    assert last < first
    assert "<table" in output_of_cell(cells, "net.summary")["text/html"]
    assert "item" in output_of_cell(cells, "profiler.report")["stdout"]
    assert output_of_cell(cells, "len([wait")["text/plain"] == "1"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.name)
def test_no_output_is_kept(notebook):
    """Outputs of a run are of its machine, and make each change of a notebook large."""
    cells = [c for c in json.loads(notebook.read_text())["cells"] if c["cell_type"] == "code"]
    assert all(c["outputs"] == [] and c["execution_count"] is None for c in cells)
