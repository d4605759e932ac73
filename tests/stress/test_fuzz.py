"""Random programs and files (stress/fuzz): a bounded run of fixed numbers, the kept ones, and faults that would be
found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy
import pytest

from forerun import np
from stress.fuzz import check as checking
from stress.fuzz import deaths, files, modes, watch
from stress.fuzz.batch import modes_of, smallest
from stress.fuzz.check import Counts, Finding, first_finding
from stress.fuzz.forerun_back import RunningAhead
from stress.fuzz.modes import MODES
from stress.fuzz.program import Program, random_program, read
from stress.fuzz.steps import Machine
from tests.support.paths import ROOT

SEEDS = sorted((ROOT / "stress" / "fuzz" / "seeds").glob("*.json"))
RUNS = int(os.environ.get("EXAMPLES", "8"))  # of random programs, PROGRAMS each; `make fuzz` has thousands
PROGRAMS = 15
BOUND = 300  # programs in which a fault is found


def searched(first: int, count: int, counts: Counts | None = None) -> tuple[Program, Finding] | None:
    """The first of some programs that reads something wrong."""
    for seed in range(first, first + count):
        program = random_program(seed)
        if finding := first_finding(program, modes_of(seed), counts):
            return program, finding
    return None


class TestPrograms:
    @pytest.mark.parametrize("run", range(RUNS))
    def test_random_programs_read_the_same_in_every_mode(self, run):
        counts = Counts()
        assert searched(run * PROGRAMS, PROGRAMS, counts) is None
        assert counts.reads > 100

    @pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
    def test_kept_program(self, path):
        program = read(path)
        assert program.note
        assert first_finding(program, MODES) is None

    def test_random_programs_cover_all_kinds_of_steps(self):
        """Each kind of step, poison, refusals, several threads."""
        programs = [random_program(seed) for seed in range(RUNS * PROGRAMS)]
        kinds = {kind for program in programs for kind in program.kinds()}
        steps = {name for part in Machine.__mro__ for name, f in vars(part).items() if is_step(f)}
        assert kinds >= steps - {"step"}
        assert {len(program.threads) for program in programs} == {1, 2, 3}
        assert {program.shapes for program in programs} == {"small", "large", "huge", "mixed"}

    def test_a_program_survives_its_file(self, tmp_path):
        program = random_program(3)
        (tmp_path / "kept.json").write_text(program.text())
        assert read(tmp_path / "kept.json") == program


def is_step(f: Any) -> bool:
    """Whether a method takes the three numbers of a step."""
    code = getattr(f, "__code__", None)
    return code is not None and code.co_varnames[: code.co_argcount] == ("self", "a", "b", "c")


# --- back ends that are wrong ------------------------------------------------------------------------


class LastBit(RunningAhead):
    """Running sums whose last element is the next number."""

    class xp:
        def __getattr__(self, name: str) -> Any:
            return getattr(np, name)

        def cumsum(self, x: Any, axis: int) -> Any:
            return (
                np.nextafter(np.cumsum(x, axis=axis), x.dtype.type(99))
                if x.dtype.kind == "f"
                else np.cumsum(x, axis=axis)
            )

    xp = xp()


class MissedOrder(RunningAhead):
    """A copy that is made too late: it sees the writes that follow."""

    def move(self, x: Any, device: int) -> Any:
        return x[...] if x.device.device_id == device else super().move(x, device)

    def array(self, values: numpy.ndarray, device: int) -> Any:
        return super().array(values, 0)  # on one device, where a view can be


class Swallowed(RunningAhead):
    """Positions out of range are moved into it silently."""

    def take(self, x: Any, index: Any) -> Any:
        return np.take(x, index, axis=0, mode="clip")


class WrongStep(RunningAhead):
    """Each failure says that it is the first one's."""

    def host(self, fn: Callable[..., Any], inputs: Any, specs: Any) -> Any:
        def task(*values: numpy.ndarray) -> Any:
            try:
                return fn(*values)
            except Exception as error:
                raise type(error)("step 0") from None

        return super().host(task, inputs, specs)


class Spread(RunningAhead):
    """A failed array stays failed after all writes."""

    def look(self, x: Any, how: int = 0) -> tuple[Any, ...]:
        found = super().look(x, how)
        if found[0] == "raises":
            self.spoilt = found
        return getattr(self, "spoilt", found)


@contextmanager
def wrong(back: type[RunningAhead], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The modes run a back end that is wrong."""
    monkeypatch.setattr(modes, "RunningAhead", back)
    monkeypatch.setattr(modes, "AllAtOnce", back)
    yield
    monkeypatch.undo()


class TestItself:
    """Faults made on purpose are found within a bounded run, and minimized."""

    @pytest.mark.parametrize("back", [LastBit, MissedOrder, Swallowed, WrongStep, Spread])
    def test_a_wrong_back_end_is_found(self, back, monkeypatch):
        with wrong(back, monkeypatch):
            found = searched(0, BOUND)
            assert found is not None
            program, finding = found
            small = smallest(program, finding)
            assert first_finding(small, [modes.BY_NAME[finding.mode]]) is not None
        assert small.steps <= 8
        assert first_finding(small, MODES) is None  # it is the back end that was wrong

    def test_errors_common_to_all_modes_are_found_by_numpy(self, monkeypatch):
        """An operation that is wrong everywhere."""
        monkeypatch.setattr(np, "maximum", np.minimum)
        found = searched(85, BOUND)  # few programs read its results: the first ones do not
        assert found is not None
        assert found[1].text.startswith("NumPy")

    def test_a_difference_between_synchronous_and_asynchronous_is_found(self, monkeypatch):
        monkeypatch.setattr(checking, "RunningAhead", LastBit)
        found = searched(0, BOUND)
        assert found is not None
        assert found[1].mode == "sync"

    @pytest.mark.parametrize(("ending", "kind"), [("os.abort()", "crash"), ("threading.Event().wait()", "hang")])
    def test_a_process_that_ends_badly_is_a_finding(self, ending, kind, tmp_path, monkeypatch):
        (tmp_path / "ends.py").write_text(
            "import json, os, threading\nprint(json.dumps({'begin': 7}), flush=True)\n" + ending
        )
        monkeypatch.setattr(watch, "ROOT", tmp_path)
        lines = watch.lines([], patience=2, module="ends")
        assert next(lines) == {"begin": 7}
        with pytest.raises(watch.Stopped, match=kind):
            next(lines)

    def test_a_process_that_cannot_begin_ends_the_run(self, tmp_path, monkeypatch, capsys):
        from stress.fuzz.__main__ import main

        monkeypatch.setattr(watch, "ROOT", tmp_path)  # where there is no package `stress`
        assert main(["--seconds", "60", "--seed", "5", "--jobs", "1", "--out", str(tmp_path)]) == 1
        assert "findings 1" in capsys.readouterr().out

    def test_command_line_runs_and_prints_its_results(self, tmp_path, capsys):
        from stress.fuzz.__main__ import main

        assert main(["--seconds", "1", "--seed", "5", "--jobs", "1", "--out", str(tmp_path)]) == 0
        output = capsys.readouterr().out
        assert "findings 0" in output
        assert "reads compared" in output


class TestFiles:
    @pytest.mark.parametrize("target", files.TARGETS, ids=lambda target: target.name)
    def test_arbitrary_bytes_are_read_or_refused(self, target):
        for data in files.inputs_of_target(target, 1, 60):
            assert files.judged(target, data) == ""

    @pytest.mark.parametrize("target", [t for t in files.TARGETS if "load" in t.name], ids=lambda target: target.name)
    def test_some_are_read(self, target):
        """Else nothing but refusals would be tested."""
        assert [data for data in target.good() if is_read(target, data)]

    def test_code_that_is_run_is_found(self):
        target = files.Target("pickle", list, lambda data: numpy.load(files.io.BytesIO(data), allow_pickle=True))
        data = files.npy(numpy.array([files.Payload()], object), allow_pickle=True)
        assert files.judged(target, data) == "code from the file was run"

    def test_memory_and_unclear_errors_are_found(self):
        def fills(data: bytes) -> object:
            return bytearray(files.MEMORY + (64 << 20))

        def unclear(data: bytes) -> object:
            raise KeyError("num_update")

        assert "MiB of memory" in files.judged(files.Target("memory", list, fills), b"")
        assert files.judged(files.Target("error", list, unclear), b"") == "KeyError: 'num_update'"


def is_read(target: files.Target, data: bytes) -> bool:
    try:
        target.read(data)
    except files.CLEAN:
        return False
    return True


# --- programs that die -------------------------------------------------------------------------------


class TestDeaths:
    SPEC: ClassVar = {
        "method": "fork", "act": "lock", "end": "SIGKILL", "workers": 2, "batches": 2, "saves": 2, "thread": True,
        "turns": 1,
    }  # fmt: skip

    def test_a_crashed_program_leaves_no_files(self):
        assert deaths.fault_of_program(self.SPEC) == ""

    def test_a_worker_that_lives_on_is_found(self, monkeypatch):
        monkeypatch.setattr(deaths, "PATIENCE", 0.0)
        lives = "from forerun import _core\n_core.end_with_process = lambda *args: True\n"
        monkeypatch.setattr(deaths, "PROGRAM", lives + deaths.PROGRAM.replace("100_000", "1"))
        assert deaths.fault_of_program(self.SPEC).startswith("processes that live on")

    @pytest.mark.parametrize("name", ["x.npy", ".0123.tmp"])
    def test_a_file_in_part_is_found(self, name, monkeypatch):
        spoils = f"    np.save = lambda file, x, wait: open({name!r}, 'wb').write(b'half')\n"
        begin = 'if __name__ == "__main__":\n'
        monkeypatch.setattr(deaths, "PROGRAM", deaths.PROGRAM.replace(begin, begin + spoils))
        assert deaths.fault_of_program(self.SPEC).startswith(("files", "a file that cannot be read"))
