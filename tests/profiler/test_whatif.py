"""`profiler.whatif`: replays of recorded programs on other machines, with durations that are known."""

from __future__ import annotations

import json
import random
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import pytest

import forerun
from forerun import autograd, cli, gluon, np, npx, profiler
from forerun.profiler import Event, Trace
from forerun.profiler._replay import program as programs
from forerun.profiler._replay.machine import Link, Machine
from forerun.profiler._replay.recorded import Recorded
from forerun.profiler._replay.simulate import run
from tests.support.engine.settings import configured

MS = 1e-3


def event_of_op(seq: int, name: str, line: int, start: float, seconds: float, *deps: int, **more: object) -> Event:
    """An operation of cpu(0), in milliseconds, that was issued at once with all others."""
    known: dict[str, object] = {"shape": (1000, 1000), "dtype": "float32", "issuer": 0, **more}
    times = 0.0, start * MS, (start + seconds) * MS
    return Event("op", seq, name, ("train.py", line), 1, 0, "compute", *times, deps=deps, **known)  # type: ignore[arg-type]


def training(steps: int = 6) -> Trace:
    """Steps of 20 ms: forward 10 ms, two gradients of 4 MB in 4 ms each, two updates in place of 1 ms each."""
    events, seq, before = [], 1, ()
    for k in range(steps):
        at = 20.0 * k
        forward = event_of_op(seq, "matmul", 1, at, 10, *before)
        last = event_of_op(seq + 1, "matmul", 2, at + 10, 4, seq)
        first = event_of_op(seq + 2, "matmul", 2, at + 14, 4, seq + 1)
        updates = [
            event_of_op(seq + 3 + i, "sgd", 3, at + 18 + i, 1, seq + 1 + i, *before[i : i + 1], shape=None, dtype=None)
            for i in range(2)
        ]
        events += [forward, last, first, *updates]
        before, seq = (seq + 3, seq + 4), seq + 5
    trace = Trace.from_events(events, {0: "cpu(0)"})
    trace.issued = trace.recorded = len(events)
    return trace


def recorded_graph(draw: random.Random) -> Trace:
    """A random program that the engine ran, with known durations in the place of those measured."""
    with configured(passes="drop"), profiler.record() as p:
        arrays = [np.ones((64, 64)) for _ in range(3)]
        for _ in range(60):
            a, b = draw.choice(arrays), draw.choice(arrays)
            arrays.append(draw.choice((np.add, np.multiply, np.matmul))(a, b) * 0.01)
        kept = np.stack(arrays).wait()
        del kept
    events = [replace(e, started=0.0, ended=draw.randrange(1, 50) * MS, issued=0.0) for e in p.trace.ops]
    trace = Trace(sorted(events, key=lambda e: e.seq), {0: "cpu(0)"})
    trace.issued = trace.recorded = len(events)
    return trace


def seconds_of_threads(trace: Trace, threads: int) -> float:
    """Replay the durations of a trace alone, all issued at once."""
    found = Recorded.of(trace)
    for o in found.ops.values():
        o.latency, o.inline = 0.0, False
        o.pieces = (next(e.duration for e in trace.ops if e.seq == o.number),)
    found.servers = dict.fromkeys(found.servers, threads)
    return run(programs.made(found, Machine())).seconds


@pytest.mark.parametrize("seed", range(5))
def test_recorded_graphs_are_replayed_exactly(seed):
    trace = recorded_graph(random.Random(seed))
    ends: dict[int, float] = {}
    for e in trace.ops:  # in the order of issue: operands were issued before
        ends[e.seq] = e.duration + max((ends[d] for d in e.deps if d in ends), default=0.0)
    assert seconds_of_threads(trace, 10_000) == pytest.approx(max(ends.values()))
    assert seconds_of_threads(trace, 1) == pytest.approx(sum(e.duration for e in trace.ops))
    two = seconds_of_threads(trace, 2)
    assert max(max(ends.values()), sum(e.duration for e in trace.ops) / 2) <= two * (1 + 1e-9)
    assert two <= sum(e.duration for e in trace.ops)


class TestPredictions:
    def test_the_recorded_machine(self):
        found = profiler.whatif(training())
        assert (found.steps, found.recorded, found.seconds) == (6, pytest.approx(20 * MS), pytest.approx(20 * MS))
        assert found.error == pytest.approx(0, abs=1e-9)
        assert (found.efficiency, found.speed) == (pytest.approx(1), pytest.approx(1))

    def test_two_devices_add_each_gradient_once(self):
        found = profiler.whatif(training(), devices=2)
        assert found.seconds == pytest.approx(22 * MS)
        assert found.speed == pytest.approx(2 * 20 / 22)

    def test_four_devices_add_updates_and_copies_where_the_owner_is(self):
        # Device 0 adds three gradients of the last layer, from 14 to 17 ms, and updates, before it computes that of the
        # first one, to 22. Device 1 adds those to 25 and updates to 26; then the others copy the parameter in 2/3 ms.
        found = profiler.whatif(training(), devices=4)
        assert found.seconds == pytest.approx((10 + 4 + 3 + 1 + 4 + 3 + 1 + 2 / 3) * MS)

    def test_devices_that_share_cores(self):
        found = profiler.whatif(training(), devices=2, slowdown=1.5)
        assert found.seconds == pytest.approx(1.5 * 22 * MS)

    @pytest.mark.parametrize(("cores", "seconds"), [(2, 22), (1, 44), (1.5, 44 / 1.5)])
    def test_devices_share_the_cores_that_there_are(self, cores, seconds):
        """Both work all the time, 22 ms each."""
        assert profiler.whatif(training(), devices=2, cores=cores).seconds == pytest.approx(seconds * MS)

    def test_one_update_of_all_parameters_is_divided_among_devices(self):
        events = []
        for e in training().ops:
            k = (e.seq - 1) // 5 * 5
            if e.seq == k + 4:  # instead of two updates: one of 2 ms
                deps = tuple(d for d in (k + 2, k + 3, k - 1) if d > 0)
                events.append(replace(e, ended=e.ended + 1 * MS, deps=deps))
            elif e.seq != k + 5:
                events.append(replace(e, deps=tuple(d - (d % 5 == 0) for d in e.deps)))
        trace = Trace.from_events(events, {0: "cpu(0)"})
        trace.issued = trace.recorded = len(events)
        # Each device adds one gradient of 1 ms, updates a half in 1 ms, and copies the other half in 2/3 ms. The sum of
        # the last layer's gradient delays the first layer's on one device: until 19 ms; the other adds that to 20.
        assert profiler.whatif(trace, devices=2).seconds == pytest.approx((20 + 1 + 2 / 3) * MS)

    def test_links_between_devices(self):
        found = profiler.whatif(training(), devices=2, local_link="1GB/s,0us")
        # 4 ms for each gradient: the last layer's beside the backward pass, the first layer's after it.
        assert found.seconds == pytest.approx(23 * MS)

    @pytest.mark.parametrize(("ranks", "seconds"), [(2, 23.0), (4, 18 + 6 + 2 + 1)])
    def test_ranks_overlap_with_the_backward_pass(self, ranks, seconds):
        # Of 4 ranks a sum takes 6 ms: from 14 to 20 and from 20 to 26; the last update ends at 27.
        found = profiler.whatif(training(), ranks=ranks, link="1GB/s,0us")
        assert found.seconds == pytest.approx(seconds * MS)

    @pytest.mark.parametrize(("cores", "seconds"), [(None, 21), (4, 21), (2, 24), (1, 48)])
    def test_ranks_that_share_cores_sum_when_these_are_free(self, cores, seconds):
        """Two sums of 2 ms of a core each: beside the backward pass and an update if a core is free."""
        found = profiler.whatif(training(), ranks=2, link="1000TB/s,0us,copy=2GB/s", cores=cores)
        assert found.seconds == pytest.approx(seconds * MS)

    def test_a_network_that_takes_no_core_is_not_slower_where_ranks_share_cores(self):
        found = profiler.whatif(training(), ranks=2, link="2GB/s,0us", cores=2)
        assert found.seconds == pytest.approx(21 * MS)

    def test_a_line_whose_sums_take_a_core_is_worth_a_change(self):
        found = profiler.whatif(training(), ranks=2, link="1000TB/s,0us,copy=0.05GB/s")
        first = found.changes()[0]
        assert (first.kind, first.where) == ("network", "train.py:3")
        assert first.seconds == pytest.approx((found.seconds / MS - 80) * MS, rel=0.02)

    def test_small_gradients_share_buckets(self):
        run_ = Recorded.of(training()).cut(6000)
        machine = Machine(ranks=2, first=1, bucket=16 << 20)
        names = [t.name for t in programs.made(run_, machine).tasks if t.step == 2]
        assert names.count("allreduce") == 1 + 1  # the first bucket is full with one gradient
        machine = Machine(ranks=2, first=16 << 20)
        tasks = [t for t in programs.made(run_, machine).tasks if t.step == 2]
        assert [t.size for t in tasks if t.name == "allreduce"] == [8_000_000]
        assert [t.name for t in tasks].count("copy to bucket") == 2

    @pytest.mark.parametrize(
        ("first", "bucket", "sizes"), [(1, 1, [1, 3, 2, 2]), (4, 3, [4, 4]), (5, 100, [6, 2]), (3, 4, [3, 5])]
    )
    def test_a_bucket_takes_gradients_until_it_is_full(self, first, bucket, sizes):
        run_ = Recorded.of(training())
        for n, size in zip((1, 2, 3, 4), (1, 3, 2, 2)):
            run_.ops[n] = replace(run_.ops[1], number=n, size=size)
        maker = programs._Maker(run_, Machine(ranks=2, first=first, bucket=bucket))
        found = maker._buckets({n: run_.ops[n].size for n in (1, 2, 3, 4)})
        assert [sum(run_.ops[g].size for g in some) for some in found] == sizes
        assert sorted(g for some in found for g in some) == [1, 2, 3, 4]

    def test_ranks_that_share_cores_are_slower_in_python_too(self):
        found = profiler.whatif(training(), ranks=2, link="1000TB/s,0us", slowdown=1.5)
        assert found.seconds == pytest.approx(1.5 * 20 * MS)
        recorded = Recorded.of(training())
        for act in (a for acts in recorded.acts.values() for a in acts):
            act.gap = 10 * MS  # five in a step, and two sums: issuing takes longer than the work
        machine = Machine(ranks=2, link=Link(1e15, 0.0), slowdown=1.5)
        ends = run(found := programs.made(recorded, machine)).step_ends(found)
        assert ends[-1] - ends[-2] == pytest.approx(1.5 * 70 * MS)

    def test_gradients_are_the_operands_of_the_line_of_the_updates(self):
        found = programs.gradients(Recorded.of(training()))
        assert found[1].site == ("train.py", 3)
        assert found[1].users == {7: [9], 8: [10]}

    @pytest.mark.parametrize(
        ("more", "size"),
        [({"shape": (1000,), "bytes": 4_004_000}, 4000), ({"shape": (2000, 1000)}, 8_000_000)],
        ids=["of several results", "of one result"],
    )
    def test_a_gradient_of_the_input_is_not_summed(self, more, size):
        """The layer before reads that of a program, whose input is of a group that ends with a comparison."""
        events = []
        for e in training().ops:
            if e.seq % 5 == 1:
                e = replace(e, dtype="bool", parts=(e,))
            events.append(replace(e, **more) if e.seq % 5 == 2 else e)
        trace = Trace.from_events(events, {0: "cpu(0)"})
        trace.issued = trace.recorded = len(events)
        assert programs.gradients(Recorded.of(trace))[1].sizes == {7: size, 8: 4_000_000}

    def test_the_size_of_a_result_is_the_largest_of_all_steps(self):
        taken = {"shape": (1,), "bytes": 0}  # memory of another array, except in the fourth step
        events = [replace(e, **taken) if e.seq % 5 == 2 else e for e in training().ops]
        events = [replace(e, bytes=4_000_000) if e.seq == 17 else e for e in events]
        trace = Trace.from_events(events, {0: "cpu(0)"})
        trace.issued = trace.recorded = len(events)
        assert set(programs.gradients(Recorded.of(trace).typical())[2].sizes.values()) == {4_000_000}

    def test_scaling_to_1024_ranks(self):
        found = profiler.whatif(training(), ranks=3, link="1GB/s,0us")
        assert [n for n, _ in found.scaling()] == [1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
        times = dict(found.scaling())
        assert times[1] == pytest.approx(20 * MS)
        assert times[1024] == pytest.approx((14 + 2 * 2 * 1023 * 4e6 / 1024 / 1e9 * 1e3 + 1) * MS)

    def test_waits_by_kind_and_line(self):
        found = profiler.whatif(training(), ranks=1024, link="1GB/s,0us")
        shares = {(s.kind, s.site[1] if s.site else 0): s for s in found.waits}
        assert shares["network", 3].seconds == pytest.approx(2 * 7.992 * MS, rel=1e-3)
        assert shares["operations", 1].seconds == pytest.approx(10 * MS)
        assert sum(s.seconds for s in found.waits) == pytest.approx(found.seconds)

    def test_the_line_to_change_next_is_the_one_that_gains_most(self):
        first = profiler.whatif(training()).changes()[0]
        assert (first.kind, first.where, first.seconds) == ("operations", "train.py:1", pytest.approx(15 * MS))
        first = profiler.whatif(training(), ranks=1024, link="0.1GB/s,0us").changes()[0]
        assert (first.kind, first.where) == ("network", "train.py:3")

    def test_the_error_is_printed_with_each_prediction(self):
        text = str(profiler.whatif(training(), devices=8, ranks=64))
        assert "an error of +0.0%" in text
        assert "beyond the 2 devices and 4 ranks that benchmarks/processes/whatif.py compares" in text
        assert "beyond" not in str(profiler.whatif(training(), devices=2))
        assert text.count("change next") == 1
        assert "1,024" in text

    def test_the_picture(self, tmp_path):
        found = profiler.whatif(training(), devices=2, ranks=64)
        found.save(tmp_path / "whatif.svg")
        picture = ElementTree.parse(tmp_path / "whatif.svg").getroot()
        text = "".join(picture.itertext())
        assert all(word in text for word in ("1,024", "network", "worker 1", "ideal"))
        assert len(picture.findall("{*}path")) == 1  # the front end's issues
        with pytest.raises(ValueError, match="svg"):
            found.save(tmp_path / "whatif.png")

    def test_the_predicted_run_is_a_trace(self):
        trace = profiler.whatif(training(), devices=2, ranks=4).trace
        assert "allreduce" in profiler.report(trace)
        assert "<svg" in profiler.timeline(trace)

    def test_a_step_may_be_named_by_its_line(self):
        assert profiler.whatif(training(), step="train.py:1").steps == 6
        with pytest.raises(ValueError, match=r"got none in train\.py:9"):
            profiler.whatif(training(), step="train.py:9")

    def test_one_step_is_replayed_whole(self):
        found = profiler.whatif(training(1), step="train.py:1")
        assert (found.steps, found.seconds) == (1, pytest.approx(20 * MS))

    def test_empty_trace_raises(self):
        with pytest.raises(ValueError, match="there must be operations"):
            profiler.whatif(Trace([]))

    def test_of_a_sample_the_longest_part_without_gaps_counts(self):
        whole = training(600)
        sample = Trace([e for e in whole.events if not 1024 <= e.seq < 2048], {0: "cpu(0)"})
        sample.recorded, sample.issued = len(sample.events), 3000
        found = Recorded.of(sample)
        assert (min(found.ops), max(found.ops)) == (1, 1023)
        assert profiler.whatif(sample).seconds == pytest.approx(20 * MS)


def of_ranks(size: int = 2, network: float = 6.0) -> Trace:
    """The training above with recorded sums over ranks: 6 ms for each gradient of 4 MB, behind one another."""
    events: list[Event] = []
    for e in training().ops:
        at = (e.seq - 1) // 5 * 7  # seven operations a step: a sum behind each gradient
        place = (e.seq - 1) % 5
        seq = at + (1, 2, 4, 6, 7)[place]
        before = at - 7
        deps = {
            0: (before + 6, before + 7),
            1: (at + 1,),
            2: (at + 2,),
            3: (at + 3, before + 6),
            4: (at + 5, before + 7),
        }
        step = 27 * MS * (at // 7)
        start = step + (0, 10, 14, 20, 26)[place] * MS
        events.append(
            replace(e, seq=seq, deps=tuple(d for d in deps[place] if d > 0), started=start, ended=start + e.duration)
        )
        if place in (1, 2):
            begin = step + (14, 20)[place - 1] * MS
            events.append(
                replace(e, seq=seq + 1, name="allreduce", site=("train.py", 4), device=255, queue="network", thread=9,
                        deps=(seq, *([at + 3] if place == 2 else [])), started=begin, ended=begin + network * MS,
                        bytes=4_000_000, shape=None, dtype=None)
            )  # fmt: skip
    trace = Trace.from_events(events, {0: "cpu(0)"})
    trace.issued = trace.recorded = len(events)
    trace.ranks = [profiler.Rank(0, size, "a", 1, "a")]
    return trace


class TestRecordedRanks:
    def test_the_replay_has_the_recorded_sums(self):
        found = profiler.whatif(of_ranks(), ranks=2, link="1GB/s,0us")
        assert found.replayed == pytest.approx(27 * MS)
        assert found.alone == pytest.approx(20 * MS)
        assert " on 2 ranks (half of" in str(found)

    def test_sums_take_the_time_of_the_other_network(self):
        assert profiler.whatif(of_ranks(), ranks=2, link="1GB/s,0us").seconds == pytest.approx(23 * MS)
        assert profiler.whatif(of_ranks(), ranks=4, link="1GB/s,0us").seconds == pytest.approx(27 * MS)

    def test_sums_take_their_time_of_a_core(self):
        found = profiler.whatif(of_ranks(), ranks=2, link="1000TB/s,0us,copy=1GB/s")
        assert found.seconds == pytest.approx(23 * MS)

    def test_one_rank_has_no_sums(self):
        assert dict(profiler.whatif(of_ranks(), ranks=4, link="1GB/s,0us").scaling())[1] == pytest.approx(20 * MS)

    def test_steps_end_with_updates_and_not_with_sums(self):
        assert profiler.whatif(of_ranks(network=60.0)).steps == 6

    def test_of_a_trace_of_all_ranks_the_first_is_replayed(self):
        from forerun.profiler._ranks.merge import merged

        both = merged([of_ranks(), replace(of_ranks(), ranks=[profiler.Rank(1, 2, "a", 2, "a")])])
        found = profiler.whatif(both, ranks=2, link="1GB/s,0us")
        assert (found.steps, found.seconds) == (6, pytest.approx(23 * MS))

    def test_other_collectives_take_half_of_a_sum(self):
        trace = of_ranks()
        trace.events = [replace(e, name="allgather") if e.name == "allreduce" else e for e in trace.events]
        tasks = programs.made(Recorded.of(trace), Machine(ranks=2, link=Link(1e9, 0.0, copy=2e9))).tasks
        assert {(t.pieces, t.core) for t in tasks if t.name == "allgather"} == {((2 * MS,), 1 * MS)}


def recorded_training(steps: int, path: Path | None = None, captured: bool = False) -> Trace:
    """A recorded training of two layers, a batch ahead."""
    net = gluon.nn.Sequential()
    net.add(gluon.nn.Dense(32, activation="relu", in_units=32), gluon.nn.Dense(1, in_units=32))
    net.initialize()
    if not captured:
        net.hybridize(False)
    trainer = gluon.Trainer(net.collect_params(), "adam")
    x, y = np.ones((16, 32)), np.ones((16, 1))

    def step() -> None:
        with autograd.record():
            loss = gluon.loss.L2Loss()(net(x), y)
        loss.backward()
        trainer.step(16)

    step()
    forerun.waitall()
    with profiler.record(path) as p:
        for _ in forerun.pace(range(steps)):
            step()
    return p.trace


def test_steps_of_a_training_are_found(one_worker):
    found = Recorded.of(recorded_training(7))
    assert found.steps == 7
    step = programs.gradients(found)[3]
    sizes = sorted(found.ops[g].size for g in step.users)
    assert sizes == [4, 32 * 4, 32 * 4, 32 * 32 * 4]  # each parameter's gradient, once
    paces = [a for a in next(iter(found.acts.values())) if a.name == "pace"]
    for act in paces:  # a batch ahead: it waits for all up to the end of the step before the last
        assert max(found.ops[n].step for n in act.needs) == act.step - 1


def test_gradients_of_a_captured_network_are_the_results_of_its_program(one_worker):
    found = Recorded.of(recorded_training(30, captured=True)).typical()
    (program,) = programs.gradients(found)[25].users
    assert found.ops[program].name.endswith(" backward")
    assert found.ops[program].size == pytest.approx(4 + 32 * 4 + 32 * 4 + 32 * 32 * 4, abs=64)


def test_waits_for_one_result_are_replayed(one_worker):
    with profiler.record() as p:
        for _ in range(5):
            (y,) = npx.host(lambda v: v, [np.ones(3)], [((3,), "float32")])
            y.sum().item()
    found = Recorded.of(p.trace)
    (acts,) = found.acts.values()
    items = [a for a in acts if a.name == "item"]
    assert len(items) == 5
    assert all(found.ops[a.needs[-1]].name == "sum" for a in items)


class TestCommand:
    @pytest.fixture
    def recording(self, tmp_path, one_worker):
        recorded_training(6, tmp_path / "profile.frec")
        return tmp_path / "profile.frec"

    def test_prediction_and_picture(self, recording, tmp_path, capsys):
        words = ["--devices", "8", "--ranks", "64", "--link", "25GB/s,2us", "--collective", "ring"]
        assert cli.main(["whatif", str(recording), *words, "--out", str(tmp_path / "out")]) == 0
        out = capsys.readouterr().out
        assert "on 8 devices, 64 ranks, ring over 25 GB/s, 2 us" in out
        assert "an error of" in out
        assert (tmp_path / "out" / "profile.svg").read_text().startswith("<svg")

    def test_as_json(self, recording, tmp_path, capsys):
        assert cli.main(["whatif", str(recording), "--ranks", "4", "--json", "--out", str(tmp_path)]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["devices"], found["ranks"], found["checked"]) == (1, 4, True)
        assert found["scaling"][-1]["ranks"] == 1024

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["nothing.frec"], "cannot read nothing.frec"), (["FILE", "--link", "fast"], "link must be a rate"),
            (["FILE", "--ranks", "0"], "ranks must be at least 1"), (["FILE", "--collective", "x"], "one of ring"),
            (["FILE", "--step", "a.py:1"], "got none in a.py:1"),
        ],
    )  # fmt: skip
    def test_misuse_is_one_line(self, words, says, recording, tmp_path, capsys):
        words = [str(recording) if w == "FILE" else w for w in words]
        assert cli.main(["whatif", *words, "--out", str(tmp_path)]) == 2
        err = capsys.readouterr().err
        assert says in err
        assert err.count("whatif: ") <= 1

    def test_another_file_is_refused(self, tmp_path, capsys):
        (tmp_path / "x.frec").write_bytes(b"nothing")
        assert cli.main(["whatif", str(tmp_path / "x.frec"), "--out", str(tmp_path)]) == 2
        assert "must be a recording" in capsys.readouterr().err
