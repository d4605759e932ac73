"""A save is over when it returns, as NumPy's are; with wait=False it goes on beside the computation."""

from __future__ import annotations

import errno
import importlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest
import safetensors.numpy as reference

import forerun
from forerun import gluon, np, npx, profiler
from forerun import torch as spelled
from forerun.compat import uninstall_as_mxnet
from forerun.np import host
from forerun.safetensors import save_file
from forerun.testing import closed_gate
from tests.support.engine.settings import configured
from tests.support.engine.waiting import assert_waits, result_without_waiting
from tests.support.processes import subprocesses

VALUES = numpy.arange(12.0, dtype="float32").reshape(3, 4)
Save = Callable[..., Any]


def layer_with_weight(x: Any) -> Any:
    layer = gluon.nn.Dense(3, in_units=4, use_bias=False)
    layer.initialize()
    layer.weight.set_data(x)
    return layer


def states_of(x: Any) -> gluon.Trainer:
    """A trainer whose state of the one parameter holds the values."""
    trainer = gluon.Trainer({"w": gluon.Parameter("w", shape=(3, 4), init="zeros")}, "sgd", {"momentum": 0.9})
    trainer._params[0].initialize()
    trainer._states[0] = [{"momentum": x}]
    return trainer


def of_mxnet(file: Any, arrays: Any, **how: Any) -> Any:
    """`mx.nd.save`."""
    forerun.install_as_mxnet()
    try:
        return importlib.import_module("mxnet").nd.save(file, arrays, **how)
    finally:
        uninstall_as_mxnet()


# Every save: the file's name, how it is written, and how others than forerun read the values from it.
SAVES: dict[str, tuple[str, Save, Callable[[Path], Any]]] = {
    "np.save": ("x.npy", np.save, numpy.load),
    "np.savez": ("x.npz", lambda file, x, **how: np.savez(file, x=x, **how), lambda file: numpy.load(file)["x"]),
    "np.savez_compressed": ("x.npz", np.savez_compressed, lambda file: numpy.load(file)["arr_0"]),
    "np.savetxt": ("x.txt", np.savetxt, numpy.loadtxt),
    "np.savetxt, compressed": ("x.gz", np.savetxt, numpy.loadtxt),
    "tofile": ("x", lambda file, x, **how: x.tofile(file, **how), lambda file: numpy.fromfile(file, "f4")),
    "tofile, as text": (
        "x", lambda file, x, **how: x.tofile(file, sep=" ", **how), lambda file: numpy.fromfile(file, sep=" ")
    ),
    "npx.save": ("x", lambda file, x, **how: npx.save(file, {"x": x}, **how), lambda file: numpy.load(file)["x"]),
    "nd.save": ("x", lambda file, x, **how: of_mxnet(file, [x], **how), lambda file: numpy.load(file)["arr_0"]),
    "torch.save": (
        "x", lambda file, x, **how: spelled.save({"x": x}, file, **how), lambda file: numpy.load(file)["x"]
    ),
    "save_parameters": (
        "x", lambda file, x, **how: layer_with_weight(x).save_parameters(file, **how),
        lambda file: numpy.load(file)["weight"],
    ),
    "save_parameters, safetensors": (
        "x.safetensors", lambda file, x, **how: layer_with_weight(x).save_parameters(file, **how),
        lambda file: reference.load_file(file)["weight"],
    ),
    "ParameterDict.save": (
        "x", lambda file, x, **how: layer_with_weight(x).collect_params().save(file, **how),
        lambda file: numpy.load(file)["weight"],
    ),
    "save_states": (
        "x", lambda file, x, **how: states_of(x).save_states(file, **how),
        lambda file: numpy.load(file)["0.momentum"],
    ),
    "save_file": (
        "x", lambda file, x, **how: save_file({"x": x}, file, **how), lambda file: reference.load_file(file)["x"]
    ),
}  # fmt: skip
every_save = pytest.mark.parametrize("kind", SAVES)


def late(function: Callable[..., Any] = lambda values: values) -> Any:
    """An array whose values a task must make first."""
    return host(function, [np.array(VALUES)], [(VALUES.shape, "float32")])[0]


class TestTheFileIsThere:
    @every_save
    def test_file_exists_when_the_call_returns(self, kind: str) -> None:
        """The file is visible to every reader, and the folder can be deleted at once."""
        name, save, read = SAVES[kind]
        for _ in range(3):
            with tempfile.TemporaryDirectory() as folder:
                size = save(f"{folder}/{name}", late())
                assert size.ready
                assert os.listdir(folder) == [name]
                assert os.path.getsize(f"{folder}/{name}") == size.item()
                assert (numpy.reshape(read(Path(folder) / name), VALUES.shape) == VALUES).all()

    @every_save
    def test_save_waits_for_values(self, kind: str, tmp_path: Path) -> None:
        name, save, _ = SAVES[kind]
        x = np.array(VALUES)
        assert_waits(lambda: save(tmp_path / name, x + 0))

    @every_save
    def test_save_with_wait_false_does_not_wait(self, kind: str, tmp_path: Path) -> None:
        name, save, read = SAVES[kind]
        x = np.array(VALUES)
        size = result_without_waiting(lambda: (save(tmp_path / name, x + 0, wait=False), os.listdir(tmp_path)))
        assert size[1] == []
        forerun.waitall()
        assert (numpy.reshape(read(tmp_path / name), VALUES.shape) == VALUES).all()

    def test_in_every_mode(self, engine: str, tmp_path: Path) -> None:
        np.save(tmp_path / "x", np.array(VALUES) * 2)
        assert (numpy.load(tmp_path / "x.npy") == VALUES * 2).all()

    def test_after_saves_of_the_same_file_that_have_not_waited(self, tmp_path: Path) -> None:
        with closed_gate():
            for i in range(5):
                np.save(tmp_path / "x", np.full((3,), i), wait=False)
        np.save(tmp_path / "x", np.full((3,), 5))
        assert numpy.load(tmp_path / "x.npy").tolist() == [5, 5, 5]

    def test_in_a_task_of_the_queue_that_writes_it(self, tmp_path: Path) -> None:
        """All of whose threads run such tasks."""

        def saved(values: numpy.ndarray) -> int:
            np.save(tmp_path / f"{values}", np.full((3,), 2) * values)
            return int(numpy.load(tmp_path / f"{values}.npy")[0])

        with configured(io_threads=1):
            tasks = [npx.host(saved, [np.array(i)], [((), "int64")], queue="io")[0] for i in range(4)]
            assert [x.item() for x in tasks] == [0, 2, 4, 6]

    def test_in_a_hybridized_function(self, tmp_path: Path) -> None:
        @forerun.hybrid
        def twice(x: Any) -> Any:
            np.save(tmp_path / "x", x)
            return x * 2

        for i in range(3):
            y = twice(np.full((3,), i))
            assert numpy.load(tmp_path / "x.npy").tolist() == [i] * 3
            assert y.tolist() == [2 * i] * 3

    def test_an_array_named_wait(self, tmp_path: Path) -> None:
        """Only True and False say whether to wait."""
        for save in (np.savez, np.savez_compressed):
            save(tmp_path / "x", wait=np.arange(3), other=[1])
            found = numpy.load(tmp_path / "x.npz")
            assert (found["wait"].tolist(), sorted(found)) == ([0, 1, 2], ["other", "wait"])
            assert sorted(numpy.load(tmp_path / "x.npz")) == ["other", "wait"]

    def test_the_program_may_end_at_once(self, tmp_path: Path) -> None:
        path = str(tmp_path / "x.npy")
        program = f"import os, numpy\nnp.save({path!r}, np.arange(9))\nprint(numpy.load({path!r}).sum(), flush=True)\n"
        program += "os._exit(0)"
        assert subprocesses.output(program) == ["36"]


class TestFailure:
    @every_save
    def test_of_the_values_is_raised_at_the_call(self, kind: str, tmp_path: Path) -> None:
        name, save, _ = SAVES[kind]

        def fails(values: numpy.ndarray) -> numpy.ndarray:
            raise ZeroDivisionError("of the values")

        (tmp_path / name).write_bytes(b"old")
        with pytest.raises(ZeroDivisionError, match="of the values"):
            save(tmp_path / name, late(fails))
        assert (tmp_path / name).read_bytes() == b"old"
        forerun.waitall()  # which has nothing more to say

    @every_save
    def test_of_the_file_is_raised_at_the_call(self, kind: str, tmp_path: Path) -> None:
        name, save, _ = SAVES[kind]
        with pytest.raises(FileNotFoundError, match="none/x") as caught:
            save(tmp_path / "none" / name, np.array(VALUES))
        assert caught.value.filename == str(tmp_path / "none" / name)
        forerun.waitall()

    def test_of_the_disk_is_raised_at_the_call(self) -> None:
        for save in (npx.save, lambda file, x: x.tofile(file), lambda file, x: save_file({"x": x}, file)):
            with pytest.raises(OSError, match="/dev/full") as caught:
                save("/dev/full", np.array(VALUES))
            assert caught.value.errno == errno.ENOSPC


class TestAsABlocker:
    @every_save
    def test_a_profile_has_the_line(self, kind: str, tmp_path: Path) -> None:
        name, save, _ = SAVES[kind]
        with profiler.record() as p:
            save(tmp_path / name, late())
        found = [line for line in profiler.blockers(p.trace) if line.line.cause == "keep"]
        called = "save_parameters" if kind == "ParameterDict.save" else kind.split(".")[-1].split(",")[0]
        assert [(b.line.name, b.line.waits) for b in found] == [(called, 1)]
        assert found[0].line.site is not None
        assert found[0].line.site[0] == __file__
        assert "wait=False" in found[0].advice

    @every_save
    def test_a_guard_raises_before_the_save_begins(self, kind: str, tmp_path: Path) -> None:
        name, save, _ = SAVES[kind]
        x = np.array(VALUES)
        with profiler.guard("raise"), pytest.raises(profiler.Blocked, match="wait=False"):
            save(tmp_path / name, x)
        with profiler.guard("raise"):
            save(tmp_path / f"late-{name}", x, wait=False)
        forerun.waitall()
        assert [file.startswith("late-") for file in os.listdir(tmp_path)] == [True]
