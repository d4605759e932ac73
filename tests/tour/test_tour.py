"""The tour runs to its end, and draws the pictures that it names."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import forerun
from forerun import cli, tour
from forerun._display.terminal import Terminal
from forerun.tour.experiments import EXPERIMENTS
from forerun.tour.finding import Figure, Finding, experiment, percent, size
from forerun.tour.screen import show


def test_the_tour_at_reduced_size(tmp_path):
    command = [sys.executable, "-m", "forerun", "tour", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\033" not in done.stdout
    assert "Reduced sizes" in done.stdout.splitlines()[1]
    for name in ("a3_graph", "a3_timeline", "e2_without", "several_devices"):
        assert f"{name}.svg" in done.stdout
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000


def test_figures_for_a_program(tmp_path, monkeypatch, capsys):
    quick = [stop for stop in tour.STOPS if stop.chapter == "A3"]
    monkeypatch.setattr(tour, "STOPS", quick)
    assert cli.main(["tour", "--quick", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    (one,) = found["experiments"]
    assert (one["name"], one["chapter"], one["ok"], one["missed"]) == ("graph", "A3", True, [])
    (table,) = one["tables"]
    assert [row[0].split()[0] for row in table["rows"]] == ["full", "full", "multiply", "add"]
    assert all(cell["unit"] == "s" and cell["value"] >= 0 for row in table["rows"] for cell in row[2:])
    assert found["pictures"] == one["pictures"] == [str(tmp_path / f"a3_{name}.svg") for name in ("graph", "timeline")]


@pytest.mark.parametrize("name", [name for name, one in EXPERIMENTS.items() if one.chapter not in ("", "D1")])
def test_an_experiment_finds_figures_and_keeps_its_promise(name):
    """Right results and a right order, which small sizes must show, too; times are not judged there."""
    before = forerun.config()
    found = EXPERIMENTS[name].run(quick=True)
    assert (found.name, list(found.missed), found.ok, found.pictures) == (name, [], True, ())
    assert found.promise
    assert all(any(isinstance(cell, Figure) for cell in row) for table in found.tables for row in table.rows)
    assert all(len(row) == len(table.head) for table in found.tables for row in table.rows)
    assert forerun.config() == before


def test_a_broken_promise_is_printed(capsys):
    broken = experiment("Z9", "A title", "nothing breaks.")(lambda run: Finding(missed=["it broke"]))
    found = broken.run(quick=True)
    show(Terminal(), broken, found)
    assert not found.ok
    assert "MISSED: it broke" in capsys.readouterr().out


def test_sizes_have_names():
    asked = []
    sized = experiment("Z9", "A title", "none.")(
        lambda run: asked.append((run.size("n", 1, 2), run.rounds)) or Finding()
    )
    sized.run(quick=True)
    sized.run()
    sized.run(rounds=9, n=7)
    assert asked == [(1, 3), (2, 5), (7, 9)]
    with pytest.raises(TypeError, match="has no size m"):
        sized.run(m=1)


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (Figure(2.5e-7, "s"), "250.00 ns"), (Figure(0.0125, "s"), "12.50 ms"), (Figure(2, "s"), "2.00 s"),
        (Figure(0.123, "x"), "0.12 x"), (Figure(12345), "12,345"), (percent(1, 8), "12.5%"), (size(3 << 19), "1.5 MiB"),
    ],
)  # fmt: skip
def test_figures_are_printed_with_their_units(figure, text):
    assert str(figure) == text


def test_the_benchmark_of_memory_counts_each_loop_in_a_process_of_its_own():
    found = EXPERIMENTS["memory"].run(quick=True)
    (table,) = found.tables
    assert [row[1].value for row in table.rows] == [4, 4, 4, 12, 4, 4]
    assert all(row[2].value > 0 and row[4].value > row[2].value for row in table.rows)
