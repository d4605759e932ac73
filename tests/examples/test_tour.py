"""The tour runs to its end, and draws what it says."""

from __future__ import annotations

import json
import subprocess
import sys

from forerun import cli, tour


def test_the_tour_at_reduced_size(tmp_path):
    command = [sys.executable, "-m", "forerun", "tour", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "\033" not in done.stdout
    for name in ("copies-timeline", "snippet-graph", "snippet-timeline", "timeline"):
        assert f"{name}.svg" in done.stdout
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000


def test_figures_for_a_program(tmp_path, monkeypatch, capsys):
    quick = [stop for stop in tour.STOPS if stop.rows == "A3 A4"]
    monkeypatch.setattr(tour, "STOPS", quick)
    assert cli.main(["tour", "--quick", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["chapter"] for one in found["experiments"]] == [["A3", "A4"]]
    assert [row[0].split()[0] for row in found["experiments"][0]["rows"]] == [
        "full",
        "full",
        "multiply",
        "add",
    ]
    assert str(tmp_path / "snippet-graph.svg") in found["pictures"]
