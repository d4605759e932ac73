"""Options and checkpoints of the programs in this folder: a run survives a kill."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy

import forerun
from forerun import gluon, np, npx

SEED = 1


def options(about: str | None, epochs: int, **choices: list[str]) -> argparse.Namespace:
    """The command line; `choices` are further options of one word, the first being the default."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, help=f"how often all data is seen (default: {epochs})")
    parser.add_argument("--quick", action="store_true", help="little data: shows that it works, not how well")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint in the folder")
    parser.add_argument("--hybridize", action="store_true", help="issue each call of the network as one program")
    parser.add_argument(
        "--devices", type=int, default=1, help="into how many devices the cores are split, or how many GPUs"
    )
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu", help="cpu, or --devices GPUs (default: cpu)")
    parser.add_argument("--every", type=int, default=50, help="batches from one checkpoint to the next")
    parser.add_argument("--out", type=Path, help="folder for checkpoints (default: one in build/training)")
    for name, words in choices.items():
        parser.add_argument(f"--{name}", choices=words, default=words[0])
    given = parser.parse_args()
    if given.epochs is None:
        given.epochs = 2 if given.quick else epochs
    if given.device == "gpu":
        if given.devices > npx.num_gpus():
            parser.error(f"--devices: there must be that many GPUs, got {given.devices} for {npx.num_gpus()}")
        given.on = [npx.gpu(i) for i in range(given.devices)]
    else:
        if given.devices > 1:
            forerun.configure(cpu_devices=given.devices)
        given.on = [npx.cpu(i) for i in range(given.devices)]
    words_given = [getattr(given, name) for name in choices]
    given.out = given.out or Path("build/training", "-".join([Path(sys.argv[0]).stem, *words_given]))
    given.out.mkdir(parents=True, exist_ok=True)
    return given


class Run:
    """How far a training run has come, on disk too: parameters, the optimizer's state, random numbers, and the curve.

    A checkpoint is a folder, which gets its name when all in it has been written: a run that is killed leaves whole
    ones. The order of the data follows from the number of the epoch, so that the rest of an epoch can be gone through.
    """

    def __init__(self, given: argparse.Namespace, net: gluon.Block, trainer: gluon.Trainer) -> None:
        self.net, self.trainer, self.on = net, trainer, given.on
        self.out, self.every, self.last = given.out, given.every, given.epochs
        self.epoch = self.step = 0  # the epoch, and the batch in it, that come next
        self.curve: list[dict[str, Any]] = []
        self.losses: list[Any] = []  # means over batches since the last checkpoint
        found = self._checkpoints()
        if given.resume:
            self._load(found[-1] if found else sys.exit(f"there is no checkpoint in {self.out}"))
        elif found:
            sys.exit(f"there is a checkpoint in {self.out}: --resume goes on from it, --out takes another folder")

    def epochs(self) -> Iterator[int]:
        """The epochs that are left."""
        while self.epoch < self.last:
            yield self.epoch

    def batches(self, size: int, *data: numpy.ndarray) -> Iterator[list[Any]]:
        """Yield the rest of the epoch, in batches of a random order; each array is split over the devices."""
        order = numpy.random.default_rng((SEED, self.epoch)).permutation(len(data[0]))
        starts = range(0, len(order) - len(order) % len(self.on), size)
        for start in forerun.progress(starts[self.step :], f"epoch {self.epoch + 1}/{self.last}", done=self.step):
            chosen = order[start : start + size]
            chosen = chosen[: len(chosen) - len(chosen) % len(self.on)]
            yield [gluon.utils.split_and_load(np.array(x[chosen]), self.on) for x in data]

    def chance(self) -> numpy.random.Generator:
        """Random numbers for the batch, on the host: the same ones whenever it is gone through."""
        return numpy.random.default_rng((SEED, self.epoch, self.step))

    def done(self, losses: list[Any]) -> None:
        """Notes the losses of a batch, on all devices, and now and then saves a checkpoint. Only that waits."""
        here = self.on[0]
        self.losses.append(sum(part.mean().as_in_ctx(here) for part in losses) / len(losses))
        self.step += 1
        if self.step % self.every == 0:
            self._note(batch=self.step)
            self._save()

    def epoch_done(self, **figures: float) -> None:
        """Notes the epoch's figures, prints them, and saves a checkpoint."""
        self._note(**figures)
        self.epoch, self.step = self.epoch + 1, 0
        self._save()

    def _note(self, **figures: float) -> None:
        loss = numpy.mean(np.stack(self.losses).asnumpy()).item() if self.losses else None
        self.curve.append({"epoch": self.epoch + 1, "loss": loss, **figures})
        self.losses = []
        print("  ".join(f"{k} {v:.4g}" for k, v in self.curve[-1].items() if v is not None), flush=True)

    def _save(self) -> None:
        new, name = self.out / "unfinished", f"checkpoint-{self.epoch:04}-{self.step:06}"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir()
        net = self.net.save_parameters(new / "net", wait=False)  # both files are written at once
        forerun.wait([net, self.trainer.save_states(new / "optimizer", wait=False)])
        where = {"epoch": self.epoch, "step": self.step, "curve": self.curve, "random": np.random.get_state()}
        (new / "run.json").write_text(json.dumps(where))
        before = self._checkpoints()
        os.replace(new, self.out / name)
        for old in before:
            shutil.rmtree(old, ignore_errors=True)

    def _checkpoints(self) -> list[Path]:
        return sorted(self.out.glob("checkpoint-*"))

    def _load(self, folder: Path) -> None:
        where = json.loads((folder / "run.json").read_text())
        self.net.load_parameters(folder / "net", ctx=self.on)
        self.trainer.load_states(folder / "optimizer")
        np.random.set_state(where["random"])
        self.epoch, self.step, self.curve = where["epoch"], where["step"], where["curve"]
