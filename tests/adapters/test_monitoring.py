"""Waits as spans of OpenTelemetry, losses in TensorBoard's files, bars of tqdm and rich around loops."""

from __future__ import annotations

import importlib
import io
import time
from pathlib import Path
from typing import Any

import pytest

import forerun
from forerun import np, profiler
from forerun.testing import closed_gate


class Writer:
    """Keeps the values that it is given."""

    def __init__(self) -> None:
        self.written: list[tuple[Any, ...]] = []

    def add_scalar(self, *row: Any) -> None:
        self.written.append(row)

    def flush(self) -> None:
        self.written.append(("flush",))

    def close(self) -> None:
        self.written.append(("close",))


class TestSummaries:
    def test_arrays_are_written_in_order_when_computed(self):
        writer = Writer()
        with profiler.Summaries(writer) as log:
            with closed_gate():
                log.add_scalar("loss", np.ones((64, 64)).sum(), 0)
                log.add_scalar("rate", 0.5, 1)
                assert writer.written == []
            log.flush()
            assert writer.written == [("loss", 4096.0, 0), ("rate", 0.5, 1), ("flush",)]
            log.add_scalar("rate", 0.25, 2)
            assert writer.written[-1] == ("rate", 0.25, 2)
        assert writer.written[-1] == ("close",)

    def test_add_trace_writes_summary_values(self):
        writer = Writer()
        with profiler.record() as recording:
            (np.ones((100, 100)) + 1).sum().item()
        profiler.Summaries(writer).add_trace(recording.trace, 3)
        found = {tag: value for tag, value, step in writer.written if step == 3}
        assert {tag.partition("/")[0] for tag in found} == {"forerun"}
        assert found["forerun/ops"] == len(recording.trace.ops)
        assert found["forerun/seconds"] == recording.trace.span

    def test_mistakes(self):
        log = profiler.Summaries(Writer())
        with pytest.raises(ValueError, match=r"value must have one element, got shape \(2,\)"):
            log.add_scalar("loss", np.ones(2), 0)
        log.add_scalar("loss", np.linalg.inv(np.zeros((2, 2))).sum(), 0)
        with pytest.raises(ValueError, match="Singular"):
            log.flush()

    def test_files_of_tensorboard(self, tmp_path: Path):
        needs = "needs tensorboard: run `make adapters`"
        Writer_: Any = pytest.importorskip("tensorboard.summary", reason=needs).Writer
        with profiler.Summaries(Writer_(str(tmp_path))) as log:
            for step in range(3):
                log.add_scalar("loss", np.full(2, step).sum(), step)
        events = importlib.import_module("tensorboard.backend.event_processing.event_accumulator")
        found = events.EventAccumulator(str(tmp_path))
        found.Reload()
        assert [float(e.tensor_proto.float_val[0]) for e in found.Tensors("loss")] == [0, 2, 4]


class TestSpans:
    def test_waits_are_children_of_the_current_span(self):
        needs = "needs opentelemetry-sdk: run `make adapters`"
        sdk: Any = pytest.importorskip("opentelemetry.sdk.trace", reason=needs)
        export: Any = importlib.import_module("opentelemetry.sdk.trace.export")
        memory: Any = importlib.import_module("opentelemetry.sdk.trace.export.in_memory_span_exporter")
        seen, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
        provider.add_span_processor(export.SimpleSpanProcessor(seen))
        tracer = provider.get_tracer("test")
        before = time.time_ns()
        with tracer.start_as_current_span("request") as request, profiler.record() as recording:
            np.random.normal(size=(600, 600)).sum().item()
        with tracer.start_as_current_span("request") as request:
            count = profiler.spans(recording.trace, tracer, ops=True)
        spans = [s for s in seen.get_finished_spans() if s.name != "request"]
        assert count == len(spans) == len(recording.trace.ops) + len(recording.trace.waits)
        assert all(s.parent.span_id == request.context.span_id for s in spans)
        assert all(before - 1e6 <= s.start_time <= s.end_time <= time.time_ns() + 1e6 for s in spans)
        (wait,) = (s for s in spans if s.name == "wait: item")
        assert wait.attributes["forerun.cause"] == "item"
        assert wait.attributes["code.file.path"] == __file__
        assert {s.name for s in spans} >= {"normal", "sum", "wait: item"}

    def test_spans_without_a_provider_are_counted(self):
        pytest.importorskip("opentelemetry", reason="needs opentelemetry-sdk: run `make adapters`")
        with profiler.record() as recording:
            np.ones(3).sum().item()
        assert profiler.spans(recording.trace) == len(recording.trace.waits)


class TestMetrics:
    def test_values_are_those_of_the_engine(self):
        needs = "needs opentelemetry-sdk: run `make adapters`"
        sdk: Any = pytest.importorskip("opentelemetry.sdk.metrics", reason=needs)
        reader = importlib.import_module("opentelemetry.sdk.metrics.export").InMemoryMetricReader()
        profiler.metrics(sdk.MeterProvider([reader]).get_meter("test"))

        def read() -> dict[str, Any]:
            (scope,) = reader.get_metrics_data().resource_metrics[0].scope_metrics
            assert scope.scope.name == "test"
            return {one.name.removeprefix("forerun."): one for one in scope.metrics}

        value = lambda one: one.data.data_points[0].value
        with closed_gate():
            kept = np.ones((64, 64)) + 1
            seen, now = read(), forerun.stats()
            assert value(seen["pending"]) == now["issued"] - now["done"] == 2
        kept.wait()
        seen, now = read(), forerun.stats()
        assert {key: value(seen[key]) for key in ("issued", "done", "failed", "dropped", "at_once")} == {
            key: now[key] for key in ("issued", "done", "failed", "dropped", "at_once")
        }
        assert value(seen["pending"]) == 0
        assert all(seen[key].data.is_monotonic for key in ("issued", "done", "failed", "dropped", "at_once"))
        assert seen["memory.live"].unit == "By"
        assert dict(seen["memory.live"].data.data_points[0].attributes) == {"device": "cpu(0)"}
        for key in ("live", "peak", "cached", "limit"):
            assert value(seen[f"memory.{key}"]) == forerun.memory()[key]


class TestBars:
    def test_tqdm_counts_the_iterations_of_pace(self, monkeypatch: pytest.MonkeyPatch):
        tqdm: Any = pytest.importorskip("tqdm", reason="needs tqdm: run `make adapters`")
        monkeypatch.setattr(tqdm.tqdm, "monitor_interval", 0)  # a thread, which would stay
        text = io.StringIO()
        bar = tqdm.tqdm(forerun.pace(range(7)), file=text)
        assert bar.total == 7
        assert list(bar) == list(range(7))
        assert "7/7" in text.getvalue()

    def test_rich_knows_the_length(self):
        progress: Any = pytest.importorskip("rich.progress", reason="needs rich: run `make adapters`")
        console = importlib.import_module("rich.console").Console(file=io.StringIO(), force_terminal=True)
        assert list(progress.track(forerun.pace(range(7)), console=console)) == list(range(7))
        assert "100%" in console.file.getvalue()
