"""Every listing of the chapters, run unchanged but for imports and sizes.

The chapters are not part of the project. They are read from `../shared/seeds` beside it, or from the folder that
`FORERUN_CHAPTERS` names; without them these tests are skipped.
"""

import ast
import contextlib
import io
import os
import pathlib
import re
import shutil
import stat
import sys
from typing import Any, NamedTuple

import numpy
import pytest

import forerun
from forerun import np
from tests.support.paths import ROOT

FOLDER = pathlib.Path(os.environ.get("FORERUN_CHAPTERS", ROOT.parent / "shared" / "seeds"))
FILES = sorted(FOLDER.glob("0*.txt")) if FOLDER.is_dir() else []

IMPORTS = [
    (r"from d2l import (mxnet|torch) as d2l", "from forerun import d2l"),
    (r"from mxnet import", "from forerun import"),
    (r"from mxnet\.", "from forerun."),
    (r"import torch$", "from forerun import torch"),
    (r"from torch import", "from forerun.torch import"),
]
# Numbers as the chapters have them, and as a test has time for.
SIZES = [
    (r"\b10000\b", "200"),
    (r"\brange\(1000\)", "range(100)"),
    (r"\(1000, 1000\)", "(64, 64)"),
    (r"\(4000, 4000\)", "(48, 48)"),
    (r"\brange\(50\)", "range(5)"),
    (r"\b150, 1024\b", "6, 32"),
    (r"% 50\b", "% 2"),
    (r"\b512\b", "16"),
    (r"\b2048\b", "64"),
]
MXNET, PYTORCH = "mxnet", "pytorch"


class Run(NamedTuple):
    """The results of the listings of one file and tab."""

    names: dict[str, Any]
    printed: str
    shown: list[str]  # the output that a notebook would show below a listing

    @property
    def labels(self) -> list[str]:
        """Return the names of the measurements, in order."""
        line = r"^(.*): issued after \d+\.\d{4} sec, done after \d+\.\d{4} sec(?: \([\d,]+ operations? dropped.*\))?$"
        return re.findall(line, self.printed, re.M)


def listings(file: pathlib.Path, tab: str) -> list[str]:
    """The code blocks of a file that belong to a tab, in order."""
    found = []
    for fence, code in re.findall(r"^```(\{?\.?python[^\n]*)\n(.*?)^```", file.read_text(), re.M | re.S):
        notebook = fence.startswith("{")
        of = PYTORCH if not notebook or code.startswith("#@tab pytorch") else MXNET
        if of == tab:
            found.append(code)
    return found


def adapted(code: str) -> str:
    """The code with other imports and smaller numbers, and with nothing else changed."""
    lines = []
    for line in code.splitlines():
        if re.match(r"(from|import) ", line):
            for pattern, new in IMPORTS:
                line = re.sub(pattern, new, line)
        else:
            for pattern, new in SIZES:
                line = re.sub(pattern, new, line)
        lines.append(line)
    return "\n".join(lines)


def run_listings(file: pathlib.Path, tab: str) -> Run:
    """Runs the listings one after the other in one namespace, as a notebook does."""
    names: dict[str, Any] = {"__name__": f"{file.stem}_{tab}"}
    printed, shown = io.StringIO(), []
    with contextlib.redirect_stdout(printed):
        for i, code in enumerate(listings(file, tab)):
            tree = ast.parse(adapted(code))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            where = f"<{file.stem} {tab} {i}>"
            exec(compile(tree, where, "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), where, "eval"), names)
                if value is not None:
                    shown.append(repr(value))
    forerun.waitall()
    return Run(names, printed.getvalue(), shown)


STAND_IN = """#!{python}
import os, sys
pid = sys.argv[-1]
kb = [line.split()[1] for line in open(f"/proc/{{pid}}/status") if line.startswith(("VmSize", "VmRSS"))]
print("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND")
print("me", pid, "0.0 0.0", *kb, "? S 00:00 0:00 python")
"""


@pytest.fixture
def ps(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program `ps`, or something that prints the same columns."""
    if shutil.which("ps") is None:
        script = tmp_path / "ps"
        script.write_text(STAND_IN.format(python=sys.executable))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")


def of_chapter(word: str, tab: str) -> list[Any]:
    """Files with listings of a tab that say a word: one parameter each, or one that is skipped."""
    found = [f for f in FILES if any(word in code for code in listings(f, tab))]
    reason = f"no chapters in {FOLDER}: FORERUN_CHAPTERS may name the folder that has them"
    none = pytest.param(None, marks=pytest.mark.skip(reason=reason), id="no chapters")
    return [pytest.param(f, id=f"{f.stem[:3]}-{tab}") for f in found] or [none]


def test_the_tables_change_only_imports_and_numbers():
    code = "from mxnet.gluon import nn\nimport torch\nx = torch.ones((1000, 1000))\nfor i in range(10000): pass"
    want = "from forerun.gluon import nn\nfrom forerun import torch\nx = torch.ones((64, 64))\n"
    assert adapted(code) == want + "for i in range(200): pass"


@pytest.mark.parametrize("file", of_chapter("scalar conversion", MXNET))
def test_asynchronous_computation_mxnet(file, ps):
    done = run_listings(file, MXNET)
    names = done.names
    expected = [
        "numpy",
        "mxnet.np",
        "Done",
        "waitall",
        "wait_to_read",
        "numpy conversion",
        "scalar conversion",
    ]
    assert done.labels[:9] == [*expected, "synchronous", "asynchronous"]
    assert done.shown[0] == "array([[3., 3.]])"
    assert names["z"].tolist() == [[3.0, 3.0]]
    assert isinstance(names["a"], np.ndarray)
    a = names["a"].asnumpy()
    numpy.testing.assert_allclose(names["b"].asnumpy(), a @ a, rtol=1e-4, atol=1e-4)
    if "net" not in names:
        assert names["y"].tolist() == [[2.0, 2.0]]
        return
    assert done.labels[9:] == ["time per epoch", "time per epoch"]
    assert re.findall(r"^batch (\d), time \d+\.\d{4} sec$", done.printed, re.M) == ["2", "4", "6"] * 2
    assert len(re.findall(r"^increased memory: -?\d+\.\d+ MB$", done.printed, re.M)) == 2
    assert names["l"].shape == (32,)
    assert next(p.shape for p in names["net"].collect_params().values()) == (64, 16)
    assert float(names["l"].mean()) < 0.5  # training towards ones has begun
    assert names["get_mem"]() > 1


@pytest.mark.parametrize("file", of_chapter("torch.randn", PYTORCH))
def test_asynchronous_computation_pytorch(file):
    done = run_listings(file, PYTORCH)
    names = done.names
    assert done.labels == ["numpy", "torch", "Done"]
    assert done.shown == ["array([[3., 3.]])"]
    assert names["z"].tolist() == [[3.0, 3.0]]
    assert names["device"] == forerun.cpu(0)
    a = names["a"].numpy()
    assert a.dtype == numpy.float32
    numpy.testing.assert_allclose(names["b"].numpy(), a @ a, rtol=1e-4, atol=1e-4)


PARALLEL = [
    "GPU1 time",
    "GPU2 time",
    "GPU1 & GPU2",
    "Run on GPU1",
    "Copy to CPU",
    "Run on GPU1 and copy to CPU",
]


@pytest.mark.parametrize(
    ("file", "tab"),
    [
        pytest.param(p.values[0], tab, marks=p.marks, id=p.id)
        for tab in (MXNET, PYTORCH)
        for p in of_chapter("copy_to_cpu", tab)
    ],
)
def test_automatic_parallelism(file, tab, two_devices):
    done = run_listings(file, tab)
    names = done.names
    assert done.labels == PARALLEL
    assert names["devices"] == [forerun.cpu(0), forerun.cpu(1)]
    assert [names[x].device for x in ("x_gpu1", "x_gpu2")] == names["devices"]
    x = names["x_gpu1"].asnumpy()
    assert x.shape == (48, 48)
    assert 0 <= x.min() < x.max() < 1
    assert len(names["y_cpu"]) == len(names["y"]) == 5
    for y, y_cpu in zip(names["y"], names["y_cpu"]):
        numpy.testing.assert_array_equal(y.asnumpy(), y_cpu.asnumpy())
        numpy.testing.assert_allclose(y.asnumpy(), x @ x, rtol=1e-5)
        assert y_cpu.device == forerun.cpu(0)
    second = names["run"](names["x_gpu2"])
    copies = names["copy_to_cpu"](second)  # from the device that is not the first
    assert [c.device for c in copies] == [forerun.cpu(0)] * 5
    numpy.testing.assert_array_equal(copies[-1].asnumpy(), second[-1].asnumpy())


def test_every_listing_is_run():
    if not FILES:
        pytest.skip(f"no chapters in {FOLDER}")
    tested = {
        (p.values[0], tab)
        for word, tab in [
            ("scalar conversion", MXNET), ("torch.randn", PYTORCH), ("copy_to_cpu", MXNET), ("copy_to_cpu", PYTORCH),
        ]
        for p in of_chapter(word, tab)
    }  # fmt: skip
    assert tested == {(file, tab) for file in FILES for tab in (MXNET, PYTORCH) if listings(file, tab)}
