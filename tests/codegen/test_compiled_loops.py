"""Groups whose loops are compiled while the program runs: the same bits, and programs that go on without a compiler."""

import gc
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy
import pytest

import forerun
from forerun import _core, np
from forerun.testing import closed_gate
from tests.support.comparison.bits import bits_of
from tests.support.comparison.random_arrays import normal_array
from tests.support.engine.settings import configured
from tests.support.processes.subprocesses import run_python

pytest.importorskip("llvmlite")

WORTH = 1 << 26


@pytest.fixture(autouse=True)
def everything_is_compiled() -> Iterator[None]:
    """Loops are compiled for groups that run for the first time, however short they are."""
    forerun.waitall()
    _core.set_compile_from(0)
    _core.set_fuse_from(0)
    try:
        yield
    finally:
        _core.set_compile_from(WORTH)
        _core.set_fuse_from(500)


def results_behind_gate(program: Callable[..., Any], arrays: list[Any]) -> Any:
    with closed_gate():
        results = program(*arrays)
    forerun.waitall()
    return results


def check_loops(program: Callable[..., Any], *inputs: Any, runs: int = 3) -> int:
    """Compare bits with those of single steps; return how many loops have been compiled."""
    with configured(engine="sync", passes=""):
        expected = bits_of(program(*(np.array(x) for x in inputs)))
    before = forerun.stats()["compiled"]
    for _ in range(runs):
        results = results_behind_gate(program, [np.array(x) for x in inputs])
        assert bits_of(results) == expected
        _core.wait_for_loop_compiler()
    gc.collect()
    return forerun.stats()["compiled"] - before


@pytest.mark.parametrize("n", [1, 7, 8, 2048, 2049, 70_001])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arithmetic_of_vectors(n, dtype):
    def program(a, b):
        c = (a + b) * (a - b) + 1.5
        return np.sqrt(np.abs(c)) / (np.maximum(a, 0.25) * np.minimum(b, c)) - c * a

    check_loops(program, normal_array((n,), dtype=dtype), normal_array((n,), seed=1, dtype=dtype))


def test_loops_are_compiled_once_and_used_for_every_size():
    def program(a, b):
        return ((a * b + 3.25) * a - b) / (b * b + 7.125)

    assert check_loops(program, normal_array((5000,)), normal_array((5000,), seed=1)) == 1
    assert check_loops(program, normal_array((3001,)), normal_array((3001,), seed=1)) == 0


def test_stencils_are_computed_row_by_row():
    def program(x):
        y = x[1:-1, 1:-1] * 4 - x[:-2, 1:-1] - x[2:, 1:-1] - x[1:-1, :-2] - x[1:-1, 2:]
        return y * 0.25 + x[1:-1, 1:-1], np.where(y > 0, y, -y)

    for shape in [(40, 300), (300, 40), (17, 23), (3, 5000)]:
        check_loops(program, normal_array(shape))


def test_three_axes_merge_differently_in_each_operation():
    def program(x, row, plane):
        y = x[1:-1, :, :] + x[:-2, :, :]
        z = y * row + plane
        return z - x[2:, :, :] * y, z[:, ::1, :] * 2 + row

    check_loops(program, normal_array((12, 10, 24)), normal_array((24,), seed=1), normal_array((10, 24), seed=2))


def test_short_rows_with_gaps():
    def program(x, y):
        a = x[2:-2, :, 1:] * y[2:-2, :, :-1]
        return a * a + x[2:-2, :, :-1], np.where(a > 0, a, y[2:-2, :, 1:])

    check_loops(program, normal_array((20, 30, 26)), normal_array((20, 30, 26), seed=1))


def test_writes_into_slices_and_in_place():
    def program(x, y):
        z = x * 1.5 + y
        z[1:-1] = (x[:-2] + x[2:]) * 0.5 - z[1:-1]
        z += y * y
        z *= 0.75
        return z, x + z

    check_loops(program, normal_array((9000,)), normal_array((9000,), seed=1))


def test_other_operations_in_between():
    def program(x, y):
        a = x * y + 1
        b = np.tanh(a) * a + np.exp(-a * a)
        c = np.sqrt(b * b + 1) - y
        return (c * a).sum(), np.where(c > b, c, b * 2), (c + b).mean()

    check_loops(program, normal_array((20_000,)), normal_array((20_000,), seed=1))


def test_reductions_of_rows():
    def program(x):
        mean = x.mean(axis=1, keepdims=True)
        centred = x - mean
        variance = (centred * centred).mean(axis=1, keepdims=True)
        return centred / np.sqrt(variance + 1e-5) * 1.25 + 0.5

    check_loops(program, normal_array((200, 150)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "shape", [(70_001,), (3, 20_000), (50, 4096), (300, 100), (40, 8), (90, 71), (1, 2048), (700, 3)]
)
def test_sums_are_a_part_of_loops(shape, dtype):
    """Long rows, those of several blocks, short ones, and those whose ends do not fill a vector."""

    def program(x, y):
        z = x * y + 0.5
        return np.sum(z * z, axis=-1), (x - y).sum(axis=-1), z, np.abs(y - x).sum(axis=-1) * 2

    check_loops(program, normal_array(shape, dtype=dtype), normal_array(shape, seed=1, dtype=dtype))


def test_one_operation_and_its_sum_are_a_loop():
    assert check_loops(lambda x: np.floor(x).sum(axis=1), normal_array((200, 300))) == 1


def test_sums_of_strided_operands():
    def program(x, y):
        a, b = x[:, ::2] * y, x[1:, 3:203] - x[:-1, 2:202]
        return a.sum(axis=1), (a * a).sum(), b.sum(axis=1), (b * b).mean(), (x[::3, 0] * y[::3, 0]).sum()

    check_loops(program, normal_array((90, 400)), normal_array((90, 200), seed=1))


def test_sums_of_two_dtypes():
    def program(x, y):
        wide = x.astype("float64") * 2
        narrow = y.astype("float32") * x
        return (x * x).sum(axis=1), (wide * wide).sum(axis=1), (y * y).sum(axis=1), narrow.sum(axis=1)

    check_loops(program, normal_array((60, 512), dtype="float32"), normal_array((60, 512), seed=1))


def test_sums_whose_results_are_read():
    """A loop adds to results, and cannot read them: later steps do."""

    def program(x, s, t):
        scaled = x * s[:, None]
        np.sum(scaled * x, axis=1, out=s)
        shifted = (x - s[:, None]) * 0.5
        np.sum(shifted * shifted, axis=1, out=t)
        np.sum(shifted * x, axis=1, out=t)
        return s, t, x / t[:, None]

    check_loops(program, normal_array((80, 256)), normal_array((80,), seed=1), normal_array((80,), seed=2))


def test_integers_and_bools():
    rng = numpy.random.default_rng(3)
    alive = (rng.random((64, 64)) < 0.4).astype("int32")

    def program(a):
        n = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
        born, stays = (n == 3) & (a[1:-1, 1:-1] == 0), ((n == 2) | (n == 3)) & (a[1:-1, 1:-1] == 1)
        return (born | stays).astype("int32") * 3 - n, ~born ^ stays

    check_loops(program, alive)


def test_special_numbers():
    x = numpy.array([0.0, -0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-320, -1e308, 1.5] * 700)
    y = numpy.roll(x, 3)

    def program(a, b):
        return np.maximum(a, b) + np.minimum(b, a), np.copysign(a, b) * 2, np.where(np.isnan(a), b, -a), a < b

    check_loops(program, x, y)


def test_overlapping_parts_of_one_array():
    """The two halves are other elements, though the groups of both programs look alike."""
    n = 3000

    def same(x):
        return x[:n] * x[:n] + x[:n] * 2

    def other(x):
        return x[:n] * x[n:] + x[:n] * 2

    for _ in range(2):
        check_loops(same, normal_array((2 * n,)))
        check_loops(other, normal_array((2 * n,)))


def test_more_results_and_scalars_than_one_loop_takes():
    check_loops(lambda x: [x * (k + 0.25) + (k + 0.5) for k in range(250)], normal_array((3000,)))


def test_more_operands_than_one_loop_takes():
    def program(*inputs):
        pairs = [a * b + a for a, b in pairwise(inputs)]
        return [*pairs, *(a - b for a, b in pairwise(pairs))]

    check_loops(program, *(normal_array((300,), seed=k) for k in range(160)))


def random_elementwise_program(seed: int) -> tuple[Callable[..., Any], list[numpy.ndarray]]:
    """Twenty to eighty operations of every kind on values of one shape, some of them slices of larger arrays."""
    rng = numpy.random.default_rng(seed)
    shape = [(5000,), (60, 70), (9, 11, 40), (300, 9)][seed % 4]
    plan = [(rng.integers(14), rng.integers(1000), rng.integers(1000)) for _ in range(rng.integers(20, 80))]

    def program(*inputs):
        wide, values = inputs[0], list(inputs[1:])
        values += [wide[tuple(slice(k, k + n) for n in shape)] for k in range(3)]
        for kind, i, j in plan:
            a, b = values[i % len(values)], values[j % len(values)]
            made = [
                lambda a=a, b=b: a + b, lambda a=a, b=b: a - b * 0.5, lambda a=a, b=b: a * b,
                lambda a=a, b=b: a / (b * b + 1), lambda a=a: np.sqrt(np.abs(a)), lambda a=a, b=b: np.maximum(a, b),
                lambda a=a, b=b: np.where(a < b, a, b), lambda a=a: np.floor(a) * 0.25,
                lambda a=a: np.tanh(a), lambda a=a, b=b: (a > b).astype("float64") + a, lambda a=a: -a,
                lambda a=a: a.astype("float32").astype("float64"),
                lambda a=a: a - (a * a).sum(axis=-1, keepdims=True), lambda a=a, b=b: b * (a - b).sum(),
            ][kind]()  # fmt: skip
            values.append(made)
        return values[-6:]

    wide = numpy.array(numpy.random.default_rng(seed + 1).normal(size=[n + 3 for n in shape]))
    return program, [wide, *(normal_array(shape, seed=k) for k in range(2))]


@pytest.mark.parametrize("seed", range(24))
def test_random_programs(seed):
    program, inputs = random_elementwise_program(seed)
    check_loops(program, *inputs)


def test_without_the_pass_nothing_is_compiled():
    with configured(passes="drop,fuse,reuse,at_once,apart"):
        before = forerun.stats()["compiled"]
        for _ in range(3):
            results_behind_gate(lambda x: (x * 11.5 + 2.75) * x - 0.125, [np.array(normal_array((6000,)))])
        _core.wait_for_loop_compiler()
        assert forerun.stats()["compiled"] == before


START = """
import os, sys
import numpy, forerun
from forerun import _core, np
_core.set_compile_from(0)
_core.set_fuse_from(0)
x = np.array(numpy.linspace(0.0, 1.0, 50_000))
def program():
    return ((x * 3.5 + 1) * x - 0.5) / (x + 2)
expected = ((x.asnumpy() * 3.5 + 1) * x.asnumpy() - 0.5) / (x.asnumpy() + 2)
def good():
    return bool((program().asnumpy() == expected).all())
"""


def test_parent_and_forked_child_continue():
    done = run_python(
        START
        + """
import warnings
warnings.filterwarnings("ignore", "This process", DeprecationWarning)  # Python 3.12 warns where threads are
assert all(good() for _ in range(3))
child = os.fork()
if child == 0:
    os._exit(0 if all(good() for _ in range(5)) else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert all(good() for _ in range(3))
_core.wait_for_loop_compiler()
print(forerun.stats()["compiled"] >= 1)
""",
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_a_process_may_end_while_a_loop_is_compiled():
    for _ in range(3):
        done = run_python(START + "program(); program().asnumpy()\n")
        assert (done.returncode, done.stderr) == (0, "")


def test_a_failing_compiler_is_reported_and_the_program_continues():
    done = run_python(
        START
        + """
import logging
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.WARNING)
import llvmlite.binding
def broken(*_):
    raise RuntimeError("no code today")
llvmlite.binding.parse_assembly = broken
assert good()
_core.wait_for_loop_compiler()
assert all(good() for _ in range(3))
print(forerun.stats()["compiled"])
""",
    )
    assert done.returncode == 0, done.stderr
    assert "no code today" in done.stdout
    # A group that timing cut in another place is another loop, whose compilation may fail after the count is printed.
    assert "0" in done.stdout.splitlines()


def test_without_llvmlite_nothing_is_compiled():
    done = run_python(
        """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "llvmlite":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Without())
""".replace("raise ModuleNotFoundError(name)", "return None")
        + "import importlib.util\nfound = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'llvmlite' else found(name, *a)\n"
        + START
        + "assert all(good() for _ in range(3))\nprint(forerun.stats()['compiled'], 'llvmlite' in sys.modules)\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 False\n", "")


def test_the_compiler_is_not_loaded_for_short_programs():
    done = run_python(
        "import sys\nimport forerun\nfrom forerun import np\nprint((np.ones(100) * 2 + 1).sum())\n"
        "print('llvmlite' in sys.modules)\n"
    )
    assert (done.returncode, done.stdout.splitlines()[-1], done.stderr) == (0, "False", "")


def test_the_environment_disables_compilation():
    done = run_python(START + "assert all(good() for _ in range(3))\n_core.wait_for_loop_compiler()\n"
               "print(forerun.stats()['compiled'])\n", FORERUN_PASSES="drop,fuse")  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert os.environ.get("FORERUN_PASSES") is None
