"""The timeline's page and its file for Perfetto: their elements."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forerun import np, profiler
from forerun.profiler import Trace
from tests.support.traces import MARKUP, large_trace, small_trace


def parts(page: str) -> tuple[dict[str, Any], str, str]:
    """The data of a page, its script, and its policy."""
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    return json.loads(data), script, policy[1]


class TestPage:
    def test_page_loads_no_resources(self, tmp_path):
        page = profiler.timeline(large_trace(50), tmp_path / "run.html")
        assert (tmp_path / "run.html").read_text() == page
        assert not re.findall(r"https?:|//[a-z]|src=|href=|@import|url\(|import\(|fetch|XMLHttp", page)

    def test_policy_allows_only_the_script_of_the_page(self, tmp_path):
        _, script, policy = parts(profiler.timeline(small_trace(), tmp_path / "run.html"))
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert policy.startswith("default-src 'none'")
        assert f"script-src 'sha256-{digest}'" in policy

    def test_text_of_the_program_does_not_end_an_element(self, tmp_path):
        page = profiler.timeline(small_trace(), tmp_path / "run.html", title=MARKUP)
        data, _, _ = parts(page)  # there are two script elements, still
        assert MARKUP in data["names"]
        assert any(MARKUP in place for place in data["places"])
        assert MARKUP not in page
        raw = page.partition('<script type="application/json" id="trace">')[2].partition("</script>")[0]
        assert not set("<>&") & set(raw)

    def test_times_are_nanoseconds_from_the_start(self, tmp_path):
        data, _, _ = parts(profiler.timeline(small_trace(), tmp_path / "run.html"))
        worker = next(lane for lane in data["lanes"] if lane["label"] == "worker 1")
        assert worker["spans"]["start"][0] == 1_000_000
        assert worker["spans"]["length"][0] == 2_000_000
        assert data["span"] == 10_000_000

    def test_a_wait_for_a_member_of_a_group_is_one_for_the_group(self, tmp_path):
        data, _, _ = parts(profiler.timeline(small_trace(), tmp_path / "run.html"))
        front = data["lanes"][0]
        group = data["ops"]["members"].index(2)
        assert front["waits"]["target"] == [group]

    def test_lines_that_waited_with_advice(self, tmp_path):
        once = small_trace()
        data, _, _ = parts(profiler.timeline(once, tmp_path / "run.html"))
        assert data["tables"][0]["rows"][0][-1] == "", "one wait is not a habit"
        again = replace(once.waits[0], started=once.waits[0].ended, ended=once.waits[0].ended + 1e-3)
        data, _, _ = parts(profiler.timeline(Trace.from_events([*once.events, again]), tmp_path / "run.html"))
        waits, ops = data["tables"]
        assert dict(zip(waits["head"], waits["rows"][0]))["line"] == "program.py:9"
        assert waits["rows"][0][-1].startswith("keep the number as an array")
        assert ["matmul", "1", "2.00 ms"] in ops["rows"]

    def test_page_names_the_bottleneck(self, tmp_path):
        page = profiler.timeline(small_trace(), tmp_path / "run.html")
        assert re.search(r"<p>\d+% of the time [^<]+</p>", page)

    def test_a_trace_of_a_run(self, tmp_path):
        with profiler.record() as p:
            float((np.ones((300, 300)) @ np.ones((300, 300))).sum())
        data, _, _ = parts(profiler.timeline(p.trace, tmp_path / "run.html"))
        assert "matmul" in data["names"]

    def test_an_empty_trace(self, tmp_path):
        data, _, _ = parts(profiler.timeline(Trace([]), tmp_path / "run.html"))
        assert data["lanes"] == []

    def test_the_ending_must_be_known(self, tmp_path):
        with pytest.raises(ValueError, match=r"timeline: path must end in .html, .svg, .json, got '.*run.txt'"):
            profiler.timeline(small_trace(), tmp_path / "run.txt")
        assert not (tmp_path / "run.txt").exists()

    def test_script_is_small(self):
        folder = Path(profiler.__file__).parent / "page"
        assert sum(file.stat().st_size for file in folder.glob("page.*")) < 20_000
        assert 5_000 < sum(file.stat().st_size for file in folder.glob("*.js")) < 40_000


def slices_by_thread(events: list[dict[str, Any]]) -> dict[int, list[tuple[float, float, str]]]:
    found = defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            found[e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["cat"]))
    return found


@pytest.mark.parametrize("trace", [small_trace(), large_trace(2000)], ids=["small", "many"])
class TestPerfetto:
    """The rules of the Trace Event Format."""

    @pytest.fixture
    def events(self, trace, tmp_path):
        return json.loads(profiler.timeline(trace, tmp_path / "run.json"))["traceEvents"]

    def test_each_record_has_the_fields_of_its_kind(self, events):
        needs = {
            "X": {"name", "cat", "ts", "dur", "pid", "tid"}, "M": {"name", "pid", "tid", "args"},
            "C": {"name", "ts", "pid", "args"}, "s": (flow := {"name", "cat", "id", "ts", "pid", "tid"}), "t": flow,
            "f": {*flow, "bp"},
        }  # fmt: skip
        for e in events:
            assert needs[e["ph"]] <= set(e), e
            assert e.get("dur", 0) >= 0
            assert e.get("ts", 0) >= 0
        assert {e["ph"] for e in events} == set(needs)

    def test_slices_of_a_track_lie_within_or_beside_each_other(self, events):
        for found in slices_by_thread(events).values():
            open_until: list[float] = []
            for start, end, _ in sorted(found, key=lambda s: (s[0], -s[1])):
                while open_until and open_until[-1] <= start + 1e-3:
                    open_until.pop()
                assert not open_until or end <= open_until[-1] + 1e-3
                open_until.append(end)

    def test_arrows_begin_step_and_end_within_slices_in_order(self, events):
        at, ways = slices_by_thread(events), defaultdict(list)
        for e in events:
            if e["ph"] in "stf":
                ways[e["id"]].append(e)
        for way in ways.values():
            kinds = "".join(e["ph"] for e in way)
            assert re.fullmatch("st*f", kinds)
            assert len({(e["name"], e["cat"]) for e in way}) == 1
            for e in way:
                assert any(start - 1e-3 <= e["ts"] <= end + 1e-3 for start, end, _ in at[e["tid"]]), e
            times = [e["ts"] for e in way]
            assert times == sorted(times)

    def test_an_arrow_leads_from_issue_to_run_to_wait(self, events):
        at = slices_by_thread(events)

        def kind(e: dict[str, Any]) -> set[str]:
            return {cat for start, end, cat in at[e["tid"]] if start - 1e-3 <= e["ts"] <= end + 1e-3}

        ways = defaultdict(list)
        for e in events:
            if e["ph"] in "stf" and e["name"] == "way":
                ways[e["id"]].append(e)
        for way in ways.values():
            assert "issue" in kind(way[0])
            assert kind(way[1]) & {"op", "tile"}
        assert any("wait" in kind(way[-1]) for way in ways.values())

    def test_threads_are_named_in_order(self, events):
        named = {e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
        assert {"front end", "front end: issues", "cpu(0) worker 1"} <= named
        order = [e["args"]["sort_index"] for e in events if e["ph"] == "M" and e["name"] == "thread_sort_index"]
        assert len(set(order)) == len(order)
