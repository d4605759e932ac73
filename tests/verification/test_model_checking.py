"""The models of the scheduler's hand-overs: checked state by state; and the checker finds the fault of each mutant."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT
from verification.bounds import DEEP, LEANS, MODELS, MUTANTS
from verification.checker import END, Model, Program, check, lock, notify_all, notify_one, unlock, wait, woken

MODELS_FOLDER = ROOT / "verification" / "models"
CORE = ROOT / "core"
FILES = ["wake", "completion", "tiles", "budget", "life", "free_list", "lane"]


def name_of_case(case: tuple[Any, ...]) -> str:
    return "-".join([case[0].__name__, *map(str, case[1:-1]), *(f"{k}={v}" for k, v in case[-1].items())])


class TestModels:
    @pytest.mark.parametrize("case", MODELS, ids=name_of_case)
    def test_all_is_well(self, case):
        make, bounds = case
        found = check(make(**bounds))
        assert found.fault is None, str(found)
        assert found.states > 20

    @pytest.mark.parametrize("case", MUTANTS, ids=name_of_case)
    def test_fault_is_found(self, case):
        make, name, bounds = case
        found = check(make(broken=name, **bounds))
        assert found.fault, f"{make.mutants[name]}: nothing is wrong with it"
        assert found.trace
        assert "more than" not in found.fault
        assert (make, bounds) in MODELS + DEEP, "with the same bounds and nothing broken all must be well"

    @pytest.mark.parametrize("case", LEANS, ids=name_of_case)
    def test_code_leans_on_time_here(self, case):
        """With timed waits that only a call ends, an op is lost; docs/project/reliability.md says so."""
        make, _, bounds = case
        found = check(make(**bounds))
        assert found.fault
        assert found.fault.startswith("deadlock")

    def test_each_mutant_is_checked(self):
        assert {(make, name) for make, name, _ in MUTANTS} == {
            (m, n) for m in {m for m, _ in MODELS} for n in m.mutants
        }

    def test_deep_bounds_are_of_the_same_models(self):
        assert {make for make, _ in DEEP} == {make for make, _ in MODELS}


# ---- the checker itself ------------------------------------------------------------------------------------------


class Counter(Program):
    """Adds one to `n` in two steps, or in one."""

    def read(self, s, me):
        me.saw = s.n
        return "write"

    def write(self, s, me):
        s.n = me.saw + 1
        return END

    def add(self, s, me):
        s.n += 1
        return END


class Waiter(Program):
    """Sleeps until it is notified; or spins."""

    def enter(self, s, me):
        if not lock(s, self.number):
            return None
        wait(s, self.number, "asleep")
        return "asleep"

    def asleep(self, s, me):
        if not woken(s, self.number, "asleep"):
            return None
        unlock(s)
        return END

    def spin(self, s, me):
        return END if s.n else "spin"

    def notify_first(self, s, me):
        notify_one(s, "asleep")
        return END

    def notify_every(self, s, me):
        if len(s.asleep) < 2:
            return None
        notify_all(s, "asleep")
        return END

    def toss(self, s, me):
        s.n = s.choose(2) * 2 + s.choose(2)
        return END


def model(*threads: Program) -> Model:
    return Model({"n": 0, "mutex": None, "asleep": frozenset()}, list(threads))


class TestChecker:
    def test_every_interleaving(self):
        """Two threads of two steps: each step once from each of the states before it."""
        seen = set()

        class Sum(Model):
            def at_end(self, s, own):
                seen.add(s.n)

        check(Sum({"n": 0}, [Counter("a", "read", saw=0), Counter("b", "read", saw=0)]))
        assert seen == {1, 2}
        seen.clear()
        check(Sum({"n": 0}, [Counter("a", "add", saw=0), Counter("b", "add", saw=0)]))
        assert seen == {2}

    def test_every_choice(self):
        seen = set()

        class Toss(Model):
            def at_end(self, s, own):
                seen.add(s.n)

        check(Toss({"n": 0}, [Waiter("a", "toss")]))
        assert seen == {0, 1, 2, 3}

    def test_deadlock(self):
        found = check(model(Waiter("a", "enter")))
        assert found.fault.startswith("deadlock")
        assert [line.split()[:2] for line in found.trace] == [["a", "enter"]]

    def test_wake_up_before_the_sleep_is_lost(self):
        assert check(model(Waiter("a", "enter"), Waiter("b", "notify_first"))).fault.startswith("deadlock")

    def test_one_thread_or_all_are_woken(self):
        assert check(model(Waiter("a", "enter"), Waiter("b", "enter"), Waiter("c", "notify_every"))).fault is None
        assert check(model(Waiter("a", "enter"), Waiter("b", "enter"), Waiter("c", "notify_first"))).fault

    def test_lost_wake_up_with_a_running_thread(self):
        """No deadlock, as one thread can always take a step."""
        found = check(model(Waiter("a", "enter"), Waiter("b", "spin")))
        assert found.fault.startswith("a wake-up is lost")

    def test_circle_that_only_an_unfair_run_stays_in_is_none(self):
        assert check(model(Waiter("a", "spin"), Counter("b", "add", saw=0))).fault is None

    def test_fair_circle(self):
        class Toggle(Program):
            def flip(self, s, me):
                s.n = 1 - s.n
                return END if s.choose(2) else "flip"

        assert check(model(Toggle("a", "flip"))).fault.startswith("livelock")

    def test_bound(self):
        assert check(MODELS[0][0](), most=100).fault.startswith("more than 100 states")


# ---- ties between the models and the code ------------------------------------------------------------------------


def test_code_names_models_that_exist():
    """Each function that is modelled says where; each model is named."""
    sources = (path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
    documented = {
        name
        for path in sources
        for name in re.findall(r"[Mm]odelled in verification/models/(\w+)\.py", path.read_text())
    }
    assert documented == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_models_name_functions_that_exist(name):
    """The docstring of a model lists `functions (file)`; each is in its file."""
    text = " ".join((ast.get_docstring(ast.parse((MODELS_FOLDER / f"{name}.py").read_text())) or "").split())
    listed = re.search(r"Code: (.*?\))\.(?: |$)", text)
    assert listed, "a model says which code it is of"
    found = 0
    for functions, files in re.findall(r"([^()]+)\(([\w/., ]+)\)", listed.group(1)):
        source = "".join(path.read_text() for file in files.split(", ") for path in [*CORE.rglob(Path(file).name)])
        assert source, files
        for function in re.findall(r"\b([A-Za-z_]\w*)\b", re.sub(r"\b(and|end of|s)\b|'s end", " ", functions)):
            assert re.search(rf"\b{function}\b", source), f"{name}.py: {function} is not in {files}"
            found += 1
    assert found >= 2


@pytest.mark.parametrize("name", FILES)
def test_models_name_fields_that_exist(name):
    """A name that ends in an underscore in a model's docstring is a field of the code."""
    text = ast.get_docstring(ast.parse((MODELS_FOLDER / f"{name}.py").read_text())) or ""
    code = "".join(path.read_text() for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
    for field in set(re.findall(r"\b[a-z]\w*_\b", text)):
        assert re.search(rf"\b{field}\b", code), field
