"""The programs in examples/training learn, and after a kill go on as if nothing had happened."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from tests.support.paths import ROOT
from tests.support.processes.subprocesses import environment

FOLDER = ROOT / "examples" / "training"
RUNS = ["images.py", "characters.py --hybridize", "transformer.py --devices 2"]  # have dropout, all of them
FURTHER = ["images.py --net resnet", "characters.py --cell gru"]


# A program that is killed at the end of its second line, however soon a test reads it.
KILLED = """
import os, runpy, signal, sys
del sys.argv[0]
sys.path[0] = os.path.dirname(sys.argv[0])
write, lines = sys.stdout.write, []
def counted(text):
    write(text)
    sys.stdout.flush()
    lines.extend(text.count("\\n") * [text])
    if len(lines) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
sys.stdout.write = counted
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def started(words: str, out: Path, *more: str, how: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """The program in a process of its own, with little data."""
    program, *rest = words.split()
    return subprocess.Popen(
        [
            *(sys.executable, "-W", "error", *how, FOLDER / program, *rest),
            *("--quick", "--every", "3", "--out", out, *more),
        ],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(words: str, out: Path, *more: str) -> str:
    """Return the output of the program."""
    with started(words, out, *more) as process:
        printed, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert errors == ""
    return printed


def checkpoint(out: Path) -> tuple[dict[str, Any], dict[str, numpy.ndarray]]:
    """Return the contents of the only checkpoint in a folder, with the parameters and the optimizer's arrays."""
    (folder,) = out.iterdir()
    arrays = {}
    for name in ("net", "optimizer"):
        with numpy.load(folder / name) as file:
            arrays |= {f"{name}: {key}": file[key] for key in file.files}
    return json.loads((folder / "run.json").read_text()), arrays


def learned(curve: list[dict[str, Any]]) -> None:
    """The loss has gone down, and there are figures for each epoch."""
    assert curve[-1]["loss"] < curve[0]["loss"]
    assert [point["epoch"] for point in curve if not point.keys().isdisjoint({"accuracy", "bits"})] == [1, 2]


@pytest.mark.parametrize("words", FURTHER)
def test_accuracy_improves(words: str, tmp_path: Path) -> None:
    ended(words, tmp_path)
    learned(checkpoint(tmp_path)[0]["curve"])


@pytest.mark.parametrize("words", RUNS)
def test_training_resumes_after_a_kill(words: str, tmp_path: Path) -> None:
    """Killed in the middle of an epoch, after the second checkpoint: curve, parameters and all are the same."""
    printed = ended(words, tmp_path / "whole")
    with started(words, tmp_path / "parts", how=("-c", KILLED)) as process:
        seen, _ = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGKILL
    assert [line.split()[-2:] for line in seen.splitlines()] == [["batch", "3"], ["batch", "6"]]
    rest = ended(words, tmp_path / "parts", "--resume")
    assert printed.endswith(rest)
    assert len(rest) < len(printed)
    (run, arrays), (other, others) = checkpoint(tmp_path / "whole"), checkpoint(tmp_path / "parts")
    assert run == other
    learned(run["curve"])
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.tobytes() == others[name].tobytes(), name


def test_missing_or_unexpected_checkpoint_ends_the_program(tmp_path: Path) -> None:
    for more, message in [(["--resume"], "there is no checkpoint"), ([], "there is a checkpoint")]:
        with started("characters.py", tmp_path, *more) as process:
            assert message in process.communicate(timeout=120)[1]
        assert process.returncode == 1
        (tmp_path / "checkpoint-0001-000000").mkdir(exist_ok=True)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_programs_are_short_and_document_their_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 150
    assert path.name in ("common.py", "material.py") or f"python examples/training/{path.name} [--" in text


def test_readme_has_the_figures() -> None:
    """For each program, in the page beside it: the command, and its result."""
    page = FOLDER.with_name("README.md").read_text(encoding="utf-8")
    for words in ("images.py --hybridize", "images.py --net resnet", "characters.py", "transformer.py"):
        assert re.search(rf"`python examples/training/{words}[^`]*` \| [\d.]+", page), words
