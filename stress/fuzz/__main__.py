"""`make fuzz`: random programs and files in separate processes, for a given time. Status 1 if there are findings."""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from pathlib import Path

from stress.fuzz import watch
from stress.fuzz.check import Finding
from stress.fuzz.program import random_program

BATCH = 200
DEATHS = 5  # programs that die, with each batch


class Campaign:
    """The state of all jobs: the next numbers, the figures, the findings. Guarded by the lock."""

    def __init__(self, seed: int, seconds: float, folder: Path) -> None:
        self.next, self.folder = seed, folder
        self.end = time.monotonic() + seconds
        self.counts: Counter[str] = Counter()
        self.findings: list[Path] = []
        self.lock = threading.Lock()

    def take(self) -> int:
        """The first number of a batch."""
        with self.lock:
            self.next += BATCH
            return self.next - BATCH

    def note(self, seed: int, finding: Finding) -> None:
        """Save a program with a finding, and report it."""
        path = watch.keep(random_program(seed), finding, self.folder)
        with self.lock:
            self.findings.append(path)
            print(f"program {seed}, {finding.mode}: {finding.text[:2000]}\n  kept as {path}", flush=True)

    def over(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self.end

    def work(self) -> None:
        """Run batch after batch, each followed by a batch of files, until the time is over or no process can be run."""
        try:
            self.batches()
        except watch.Stopped as stop:
            self.note_file("start", str(stop), b"")

    def batches(self) -> None:
        """Batch after batch."""
        while not self.over():
            first = self.take()
            for seed, counts, finding in watch.watched_programs(first, BATCH):
                with self.lock:
                    self.counts.update(counts)
                if finding:
                    self.note(seed, finding)
                if self.over():
                    break
            if not self.over():
                self.others("stress.fuzz.files", first, BATCH)
            if not self.over():
                self.others("stress.fuzz.deaths", first // BATCH * DEATHS, DEATHS)

    def others(self, module: str, seed: int, count: int) -> None:
        """A batch of files and texts, or of programs that die."""
        try:
            for message in watch.lines(["batch", str(seed), str(count)], module=module):
                with self.lock:
                    self.counts.update(message["counts"])
                for finding in message["findings"]:
                    self.note_file(finding["target"], finding["text"], bytes.fromhex(finding["data"]))
        except watch.Stopped as stop:
            self.note_file("any", f"batch {seed} of {module}: {stop}", b"")

    def note_file(self, target: str, text: str, data: bytes) -> None:
        """Save bytes that were read incorrectly, and report them."""
        with self.lock:
            path = self.folder / f"{target.replace(' ', '-')}-{len(self.findings)}.bin"
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.findings.append(path)
        print(f"{target}: {text}\n  kept as {path}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; 1 if there are findings."""
    parser = argparse.ArgumentParser(prog="make fuzz", description="Random programs and files, compared.")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, help="first number (default: another one each day)")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="folder for findings")
    parser.add_argument("--replay", type=Path, nargs="+", help="kept programs to run in all modes instead")
    given = parser.parse_args(arguments)
    return replay_files(given.replay) if given.replay else fuzz(given)


def replay_files(paths: list[Path]) -> int:
    """Kept programs in all modes."""
    failed = 0
    for path in paths:
        try:
            for message in watch.lines(["replay", str(path)]):
                finding = message["finding"]
                failed += finding is not None
                print(f"{path}: {finding['mode'] + ': ' + finding['text'] if finding else 'the same in all modes'}")
        except watch.Stopped as stop:
            failed += 1
            print(f"{path}: {stop}")
    return int(failed > 0)


def fuzz(given: argparse.Namespace) -> int:
    """Run new programs until the time is over."""
    seed = given.seed if given.seed is not None else int(time.time()) // 86_400 * 1_000_000
    campaign = Campaign(seed, given.seconds, given.out)
    threads = [threading.Thread(target=campaign.work) for _ in range(given.jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    c = campaign.counts
    print(
        f"programs {c['programs']} (from {seed}), steps {c['steps']}, runs {c['runs']}, reads compared {c['reads']}, "
        f"of them poisoned {c['poisoned']}, calls refused {c['refused']}, files and texts {c['files']}, "
        f"deaths {c['deaths']}; findings {len(campaign.findings)}"
    )
    return int(bool(campaign.findings))


if __name__ == "__main__":
    sys.exit(main())
