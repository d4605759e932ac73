"""Checkpoints: written by one rank, whole or not at all, and read by all ranks."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..ops.random.seeding import get_state, set_state
from ._peers import rank, size
from ._world import gathered

__all__ = ["Checkpoint", "checkpoint", "resume"]

_MANIFEST = "checkpoint.json"
_PARAMETERS, _OPTIMIZER = "parameters.safetensors", "optimizer.npz"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint that was read.

    Parameters
    ----------
    step : int
        The step in which it was written.
    extra : dict, optional
        The values that the program had added.

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> dist.Checkpoint(100).step
    100
    """

    step: int
    extra: dict[str, Any] = field(default_factory=dict)


def checkpoint(
    folder: str | os.PathLike[str],
    step: int,
    block: object = None,
    trainer: object = None,
    extra: dict[str, Any] | None = None,
    keep: int = 2,
) -> None:
    """Write a checkpoint. Each rank must call it, and rank 0 writes: it appears whole, or not at all. Waits.

    The random state of each rank is part of it.

    Parameters
    ----------
    folder : where all checkpoints of a program are; made if missing
    step : the number of steps done, by which checkpoints are ordered
    block, trainer : the network and the trainer to write, if any
    extra : values of JSON that `resume` returns
    keep : number of checkpoints that stay; older ones are removed

    Raises
    ------
    RankFailed : if another rank has failed
    ValueError : if step is negative, or keep is not positive
    OSError : if it cannot be written, on rank 0

    Examples
    --------
    >>> import tempfile
    >>> from forerun import distributed as dist
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dist.checkpoint(folder, 100, extra={"epoch": 3})
    ...     found = dist.resume(folder)
    >>> found.step, found.extra
    (100, {'epoch': 3})
    """
    if step < 0 or keep < 1:
        raise ValueError(f"checkpoint: step must not be negative and keep at least 1, got {step} and {keep}")
    states = gathered("checkpoint", get_state())
    if rank() == 0:
        _write(Path(folder), step, block, trainer, {"step": step, "extra": extra or {}, "random": states}, keep)


def _write(folder: Path, step: int, block: Any, trainer: Any, facts: dict[str, Any], keep: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(".new-*"):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    fresh, final = folder / f".new-{os.urandom(8).hex()}", folder / f"step-{step:012d}"
    fresh.mkdir()
    try:
        if block is not None:
            block.save_parameters(fresh / _PARAMETERS)
        if trainer is not None:
            trainer.save_states(fresh / _OPTIMIZER)
        files = {each.name: _summary(each) for each in sorted(fresh.iterdir())}
        with open(fresh / _MANIFEST, "w", encoding="utf-8") as file:
            json.dump({**facts, "files": files}, file)
        for each in [*fresh.iterdir(), fresh]:
            _synchronise(each)
        if final.exists():  # the same step again, after it was found not to be whole somewhere
            shutil.rmtree(final)
        fresh.rename(final)
        _synchronise(folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    for old in sorted(folder.glob("step-*"))[:-keep]:
        shutil.rmtree(old, ignore_errors=True)


def _synchronise(path: Path) -> None:
    writable_only = not hasattr(os, "O_DIRECTORY")  # Windows, where folders have no descriptors at all
    if writable_only and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if writable_only else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _summary(path: Path) -> list[int]:
    """Return size and check sum of a file."""
    size_, total = 0, 0
    with open(path, "rb") as file:
        while data := file.read(1 << 20):
            size_, total = size_ + len(data), zlib.crc32(data, total)
    return [size_, total]


def _facts(folder: Path) -> dict[str, Any] | None:
    """Return the contents of a checkpoint's manifest; None if the checkpoint is incomplete."""
    try:
        facts = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        whole = all(_summary(folder / name) == found for name, found in facts["files"].items())
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return facts if whole else None


def resume(folder: str | os.PathLike[str], block: object = None, trainer: object = None) -> Checkpoint | None:
    """Take over the newest checkpoint that is whole on all ranks. Each rank must call it. Waits.

    Parameters
    ----------
    folder : of `checkpoint`; on machines that share no files, each has its own copy
    block, trainer : the network and the trainer to read, as they were given to `checkpoint`

    Returns
    -------
    Checkpoint or None
                None if no checkpoint exists

    Raises
    ------
    RankFailed : if another rank has failed
    ValueError : if it is of another number of ranks, or has no such file

    Examples
    --------
    >>> from forerun import distributed as dist
    >>> print(dist.resume("no such folder"))
    None
    """
    found = {each.name: facts for each in Path(folder).glob("step-*") if (facts := _facts(each))}
    everywhere = set.intersection(*map(set, gathered("resume", sorted(found))))
    if not everywhere:
        return None
    name = max(everywhere)
    facts = found[name]
    if len(facts["random"]) != size():
        raise ValueError(f"resume: {name} must be of {size()} ranks, got one of {len(facts['random'])}")
    for target, file, read in ((block, _PARAMETERS, "load_parameters"), (trainer, _OPTIMIZER, "load_states")):
        if target is not None:
            if file not in facts["files"]:
                raise ValueError(f"resume: {name} must have {file}, got only {', '.join(facts['files']) or 'no files'}")
            getattr(target, read)(Path(folder) / name / file)
    set_state(facts["random"][rank()])
    return Checkpoint(facts["step"], facts["extra"])
