"""The workers of the benchmark beside the peers have NumPy's results, and its table has the measured values."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
PEERS = BENCHMARKS / "peers"


def benchmark_output(*command: str, given: str = "") -> str:
    """Return the output of Python, run beside the scripts with these arguments."""
    command = (sys.executable, "-W", "error", *command)
    done = subprocess.run(command, input=given, cwd=PEERS, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("factory", "missing"), [("with_gluon:Forerun", 0), ("with_numpy:NumPy", 4)])
def test_each_row_gives_the_results_of_numpy_in_float64(factory, missing):
    rows = benchmark_output("-c", "from rows import ROWS; print(*(row.name for row in ROWS))").split()
    version, *answers = benchmark_output("worker.py", factory, "--quick", given="\n".join(rows)).splitlines()
    assert list(json.loads(version)) == ["version"]
    found = {row: json.loads(answer) for row, answer in zip(rows, answers, strict=True)}
    assert [row for row, answer in found.items() if not answer.keys() & {"seconds", "missing"}] == [], found
    assert sum("missing" in answer for answer in found.values()) == missing


def test_a_training_step_in_a_wrong_direction_is_refused():
    program = (
        "import worker\n"
        "from libraries import with_gluon\n"
        "class Wrong(with_gluon.Forerun):\n"
        "    def values(self, y): return super().values(y) - 1e-4\n"
        "with_gluon.Wrong = Wrong\n"
        "print(worker.Worker('with_gluon:Wrong', True).answer('lenet'))"
    )
    assert "loss must fall" in benchmark_output("-c", program)


def test_a_result_that_differs_from_numpys_is_refused():
    program = (
        "import worker\n"
        "from libraries import with_numpy\n"
        "class Wrong(with_numpy.NumPy):\n"
        "    def gelu(self, x, count): return lambda: x\n"
        "with_numpy.Wrong = Wrong\n"
        "print(worker.Worker('with_numpy:Wrong', True).answer('gelu'))"
    )
    assert "must be NumPy's within" in benchmark_output("-c", program)


def test_programs_of_physics_give_the_same_where_writing_makes_a_new_array():
    program = (
        "import numpy\n"
        "from libraries import with_numpy\n"
        "from ocean.programs import PROGRAMS\n"
        "class Functional(with_numpy.NumPy):\n"
        "    def put(self, x, key, value): return super().put(x.copy(), key, value)\n"
        "    def add(self, x, key, value): return super().add(x.copy(), key, value)\n"
        "def results(peer, program):\n"
        "    inputs = program.inputs(4096, numpy.random.default_rng(3))\n"
        "    found = program.compute(peer, *inputs)\n"
        "    return [y.tobytes() for y in (found if isinstance(found, list) else [found])]\n"
        "for name, program in PROGRAMS.items():\n"
        "    print(name, results(Functional(), program) == results(with_numpy.NumPy(), program))"
    )
    assert benchmark_output("-c", program).split() == ["state", "True", "mixing", "True", "turbulence", "True"]


def test_the_equation_of_state_is_the_slope_of_the_integral_of_specific_volume():
    program = (
        "import numpy\n"
        "from libraries import with_numpy\n"
        "from ocean import equation_of_state as eos\n"
        "s, t, p = eos.inputs(4096, numpy.random.default_rng(3))\n"
        "points, weights = numpy.polynomial.legendre.leggauss(12)\n"
        "def enthalpy(t):\n"
        "    a0, m, a2 = (eos.polynomial(c, s, t, numpy.sqrt(s))[0] for c in (eos.A0, eos.A1, eos.A2))\n"
        "    b0, b1, b2 = (eos.polynomial(c, s, t, numpy.sqrt(s))[0] for c in (eos.B0, eos.B1, eos.B2))\n"
        "    b0, b3 = b0 + eos.B0_SQUARE * s**2, eos.horner(eos.B3, t)[0]\n"
        "    volume = lambda q: (b0 + q * (b1 + q * (b2 + q * b3))) / (a0 + q * (m + q * a2))\n"
        "    return eos.PASCALS * sum(w * p / 2 * volume(p * (1 + x) / 2) for x, w in zip(points, weights))\n"
        "slope = (enthalpy(t + 1e-3) - enthalpy(t - 1e-3)) / 2e-3\n"
        "found = eos.compute(with_numpy.NumPy(), s, t, p)\n"
        "print(abs(found - slope).max() < 1e-6 * abs(slope).max())"
    )
    assert benchmark_output("-c", program) == "True"


def test_tridiagonal_systems_are_those_of_the_columns():
    program = (
        "import numpy\n"
        "from libraries.with_numpy import NumPy\n"
        "low, middle, up, given = numpy.random.default_rng(3).uniform(0.1, 1, (4, 2, 3, 5))\n"
        "middle += 2; low[..., 0] = up[..., -1] = 0\n"
        "solved = NumPy().tridiagonal(low, middle, up, given)\n"
        "back = middle * solved\n"
        "back[..., 1:] += low[..., 1:] * solved[..., :-1]\n"
        "back[..., :-1] += up[..., :-1] * solved[..., 1:]\n"
        "print(numpy.allclose(back, given, rtol=1e-12))"
    )
    assert benchmark_output("-c", program) == "True"


def test_a_row_in_float64_refuses_float32():
    program = (
        "import worker\n"
        "from libraries import with_numpy\n"
        "class Wrong(with_numpy.NumPy):\n"
        "    def values(self, y): return y.astype('float32')\n"
        "with_numpy.Wrong = Wrong\n"
        "print(worker.Worker('with_numpy:Wrong', True).answer('state_4096'))"
    )
    assert "must be float64" in benchmark_output("-c", program)


def test_a_worker_reports_missing_rows_and_errors():
    given = "sum\nnothing\n"
    *_, lacks, fails = benchmark_output("worker.py", "with_gluon:Hybrid", "--quick", given=given).splitlines()
    assert "gluon" in json.loads(lacks)["missing"]
    assert "KeyError" in json.loads(fails)["error"]


def test_table_and_file_have_the_requested_rows(tmp_path):
    path = tmp_path / "figures.json"
    printed = benchmark_output("run.py", "--quick", "--rows", "gelu", "small_training", "--peers", "--json", str(path))
    assert "| tanh-GELU" in printed
    gelu, training = json.loads(path.read_text())["rows"]
    assert list(gelu["seconds"]) == ["forerun"]
    assert list(training["seconds"]) == ["forerun", "hybrid", "whole"]


def test_the_ratio_is_of_the_same_round_and_the_best_peer_is_in_bold():
    program = (
        "from report import cells; from rows import ROWS; from columns import FORERUN, PEERS\n"
        "seconds = {'forerun': [1e-6, 4e-6, 3e-6], 'numpy': [2e-6, 8e-6, 3e-6], 'torch': [9e-6] * 3}\n"
        "print(*cells(ROWS[0], seconds, FORERUN + PEERS[:3])[1:], sep=';')"
    )
    assert benchmark_output("-c", program) == "3.00;-;-;**3.00 (0.50)**;9.00 (0.33);-"


# Those of other libraries run in environments that have them.
BESIDE_FORERUN = [
    path
    for path in sorted(BENCHMARKS.rglob("*.py"))
    if not path.name.startswith(("with_", "torch_", "__")) and path.name != "loader_torch.py"
]


# Loads each module of a list without the others, and prints the errors.
LOAD_ALL = """
import importlib, json, sys
given = json.load(sys.stdin)
for root, name in given["modules"]:
    before, sys.path[0] = set(sys.modules), root
    try:
        importlib.import_module(name)
    except BaseException as error:
        print(f"{root}: {name}: {type(error).__name__}: {error}")
    for other in set(sys.modules) - before:
        if (getattr(sys.modules[other], "__file__", None) or "").startswith(given["folder"]):
            del sys.modules[other]
"""


def test_imports_of_benchmarks_resolve():
    """Each is loaded as if it was run, but for its main function. One process loads all of them."""
    roots = [(PEERS if path.is_relative_to(PEERS) else path.parent, path) for path in BESIDE_FORERUN]
    modules = [(str(root), ".".join(path.relative_to(root).with_suffix("").parts)) for root, path in roots]
    given = json.dumps({"folder": str(BENCHMARKS), "modules": modules})
    assert len(modules) > 30
    assert benchmark_output("-c", LOAD_ALL, given=given) == ""


def calls(*arguments: str) -> list[str]:
    """The lines of the table of calls."""
    return benchmark_output(str(BENCHMARKS / "calls.py"), "--quick", *arguments).splitlines()


def test_the_table_of_calls_has_a_ratio_for_each_row_and_size():
    head, *rows, ten, hundred = calls("--sizes", "10", "100", "--names", "^sort$", "^v .3. =", "^cross$", "^sorted$")
    assert head.split()[-2:] == ["10", "100"]
    assert [row.split()[0] for row in rows] == ["sorted", "sort", "cross"]
    assert all(float(ratio) > 0 for row in rows for ratio in row.split()[-2:])
    assert ten.startswith("10 elements: geometric mean")
    assert hundred.startswith("100 elements")


def test_rows_of_calls_stop_at_their_most_elements_and_must_be_there():
    _, row, first = calls("--sizes", "10", "10000", "--names", "^max of elements$")
    assert row.split()[-1] == "-"
    assert "above 3: " in first
    program = "import sys, calls; sys.argv[1:] = ['--names', 'nothing']; calls.main()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=BENCHMARKS, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 2
    assert "must be in names of rows" in done.stderr


def test_each_idiom_runs_with_forerun_as_numpy():
    path = str(BENCHMARKS / "idioms.py")
    head, *rows, total = benchmark_output(path, "--quick", "--all").splitlines()
    assert head.split() == ["ratio", "NumPy", "us", "call"]
    assert f"{len(rows)} calls: geometric mean" in total
    assert len(rows) > 300
    _, row, _ = benchmark_output(path, "--quick", "--all", "--names", "np.random.randn()").splitlines()
    assert float(row.split()[0]) > 0


def test_rows_of_calls_have_known_names_only():
    program = (
        "import builtins, calls, numpy\n"
        "from forerun import np\n"
        "known = {*calls.OPERANDS, 'np', 'n', 'r', 'w', 'bins', 'e', 'row', *dir(builtins)}\n"
        "rows = calls.chosen(())\n"
        "names = [n for _, code, *_ in rows for n in compile(code, '', 'exec').co_names]\n"
        "lost = [n for n in names if n not in known and not any(hasattr(o, n) for o in (np, np.ndarray, np.linalg,\n"
        "  np.fft, np.lib, np.lib.stride_tricks, np.add))]\n"
        "print(len(rows) > 200, len({row[0] for row in rows}) == len(rows), lost)"
    )
    assert benchmark_output("-c", f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n{program}") == "True True []"


def test_a_factorization_block_by_block_gives_numpys():
    script = BENCHMARKS / "engine" / "blocked_cholesky.py"
    assert float(benchmark_output(str(script), "--blocks", "4", "--size", "40", "--setting", "two cores")) > 0


@pytest.mark.parametrize(
    ("script", "options", "row"),
    [
        ("two_devices", ["--size", "64"], "both at once"),
        ("several_devices", ["--rounds", "1", "--steps", "1", "--batch", "8"], "LeNet"),
        ("overhead", ["--rounds", "1"], "a wait after each"),
    ],
)
def test_benchmarks_over_experiments_print_the_output_of_the_tour(script, options, row):
    printed = benchmark_output(str(BENCHMARKS / f"{script}.py"), *options)
    assert re.match(r"\d+ cores, 1 rounds; load ", printed)
    assert "Promised: " in printed
    assert row in printed
