"""The tour runs to its end, and draws what it says."""

from __future__ import annotations

import subprocess
import sys


def test_the_tour_at_reduced_size(tmp_path):
    command = [sys.executable, "-m", "forerun", "tour", "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("copies-timeline", "snippet-graph", "snippet-timeline", "timeline"):
        assert f"{name}.svg" in done.stdout
        assert (tmp_path / f"{name}.svg").stat().st_size > 1000
