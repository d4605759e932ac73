"""Files of arrays: written whole or not at all, not trusted when read; no reader runs their contents."""

from __future__ import annotations

import ast
import io
import os
import pickle
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy
import pytest

import forerun
import forerun.safetensors
from forerun import gluon, np, npx
from forerun._io import atomic_write as replacing
from stress.fuzz.files import EXECUTED, Payload, header, npy, npz, stepped_trainer
from tests.ops.cases.table import EVERY_DTYPE
from tests.support.engine.resources import Peak

PACKAGE = Path(forerun.__file__).parent
HUGE = header("(1000000000000000,)")


def read_all(found: object) -> object:
    """Return the loaded arrays, once all are read."""
    forerun.wait(dict(found) if isinstance(found, Mapping) else found)
    return found


def dense_of_ones() -> gluon.nn.Dense:
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize("ones")
    return net


READERS = {
    "np.load": lambda path: read_all(np.load(path)),
    "npx.load": npx.load,
    "load_parameters": lambda path: dense_of_ones().load_parameters(path),
    "load_states": lambda path: stepped_trainer().load_states(path),
}


def archive(name: str, data: bytes, method: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        made.writestr(f"{name}.npy", data)
    return out.getvalue()


@pytest.fixture(params=READERS)
def reader(request):
    return READERS[request.param]


class TestReading:
    def refused(self, reader, data: bytes, tmp_path: Path, words: str) -> None:
        (tmp_path / "file").write_bytes(data)
        with pytest.raises(ValueError, match=words):
            reader(tmp_path / "file")

    def test_pickles_are_refused(self, reader, tmp_path):
        EXECUTED.clear()
        objects = numpy.array([Payload()], object)
        self.refused(reader, npz(weight=objects), tmp_path, "file must hold numbers, got dtype object")
        self.refused(np.load, npy(objects, allow_pickle=True), tmp_path, "file must hold numbers, got dtype object")
        self.refused(reader, pickle.dumps(Payload()), tmp_path, "file must be")
        assert EXECUTED == []

    def test_size_is_checked_before_memory_is_taken(self, reader, tmp_path):
        peak = Peak()
        self.refused(
            reader,
            archive("weight", HUGE),
            tmp_path,
            "header must agree with the file, got 4000000000000000 bytes",
        )
        self.refused(np.load, HUGE, tmp_path, "header must agree with the file, got 4000000000000000 bytes")
        assert peak.increase() < 64 << 20

    def test_a_member_that_claims_more_than_it_can_unpack_to(self, reader, tmp_path):
        data = bytearray(archive("weight", header("(16,)"), zipfile.ZIP_DEFLATED))
        at = data.index(b"PK\x01\x02") + 24  # the size, in the list of members
        data[at : at + 4] = (0x7FFFFFFF).to_bytes(4, "little")
        self.refused(reader, bytes(data), tmp_path, "weight.npy must be as large as its archive says")

    def test_fewer_values_than_the_header_says(self, tmp_path):
        whole = npy(numpy.arange(100))
        for size in range(len(whole)):
            self.refused(np.load, whole[:size], tmp_path, "load: ")

    def test_no_file(self, reader, tmp_path):
        with pytest.raises(FileNotFoundError):
            reader(tmp_path / "nothing")

    def test_states_of_another_kind_change_nothing(self, tmp_path):
        trainer = stepped_trainer()
        trainer.save_states(tmp_path / "good")
        for lacking in np.load(tmp_path / "good"):
            arrays = {n: v.asnumpy() for n, v in np.load(tmp_path / "good").items() if n != lacking}
            (tmp_path / "bad").write_bytes(npz(**arrays))
            before = trainer.optimizer.num_update
            with pytest.raises(ValueError, match="load_states: "):
                trainer.load_states(tmp_path / "bad")
            assert trainer.optimizer.num_update == before
        for number in ("9", "-1", "x", ""):
            (tmp_path / "bad").write_bytes(npz(num_update=numpy.array(1), **{f"{number}.mean": numpy.ones(2)}))
            with pytest.raises(ValueError, match="names must be of 2 parameters"):
                trainer.load_states(tmp_path / "bad")


class TestWriting:
    @pytest.mark.parametrize("dtype", EVERY_DTYPE, ids=str)
    @pytest.mark.parametrize("shape", [(), (0, 2), (3, 4)], ids=str)
    def test_round_trip_with_numpy_on_either_side(self, dtype, shape, tmp_path):
        values = numpy.arange(12).astype(dtype)[: int(numpy.prod(shape))].reshape(shape)
        np.save(tmp_path / "x", np.array(values, dtype=dtype))
        np.savez(tmp_path / "xs", np.array(values, dtype=dtype), other=values)
        npx.save(tmp_path / "named", {"file": np.array(values, dtype=dtype)})
        numpy.save(tmp_path / "y", numpy.array(values, order="F"))
        forerun.waitall()
        found = numpy.load(tmp_path / "xs.npz")
        loaded = np.load(tmp_path / "x.npy"), np.load(tmp_path / "y.npy"), npx.load(tmp_path / "named")["file"]
        loaded_by_numpy = numpy.load(tmp_path / "x.npy"), found["arr_0"], found["other"]
        for got in (*loaded_by_numpy, *(x.asnumpy() for x in loaded)):
            assert got.dtype == dtype
            assert got.shape == shape
            assert got.tobytes() == values.tobytes()

    def test_one_array_is_not_an_archive(self, tmp_path):
        numpy.save(tmp_path / "x.npy", numpy.ones(3))
        with pytest.raises(ValueError, match="load: file must be an npz archive, got an npy file"):
            npx.load(tmp_path / "x.npy")

    def test_several_after_one_another_in_an_open_file(self):
        file = io.BytesIO()
        for i in range(3):
            np.save(file, np.arange(i))
        file.seek(0)
        assert [np.load(file).size for _ in range(3)] == [0, 1, 2]

    def test_names_given_twice(self):
        with pytest.raises(ValueError, match=r"savez: names must differ .* got \['arr_0'\]"):
            np.savez(io.BytesIO(), np.ones(1), arr_0=np.ones(1))

    def test_a_failure_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "x.npy"
        np.save(path, np.arange(3))

        def breaks(*args: object) -> None:
            raise OSError("disk full")

        monkeypatch.setattr(os, "fsync", breaks)
        with pytest.raises(OSError, match="disk full"):
            np.save(path, np.arange(5))
        assert np.load(path).tolist() == [0, 1, 2]
        assert os.listdir(tmp_path) == ["x.npy"]

    def test_failed_computation_leaves_the_old_file(self, tmp_path):
        path = tmp_path / "x.npy"
        np.save(path, np.arange(3))
        with pytest.raises(IndexError):
            np.save(path, np.take(np.ones(2), np.array([7])))
        assert np.load(path).tolist() == [0, 1, 2]

    def test_permissions_and_links_stay(self, tmp_path):
        path, link = tmp_path / "x", tmp_path / "link"
        npx.save(path, np.ones(1))
        path.chmod(0o640)
        link.symlink_to(path)
        npx.save(link, np.zeros(1))
        assert link.is_symlink()
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        assert npx.load(path)[0].tolist() == [0]

    def test_never_through_a_symbolic_link(self, tmp_path, monkeypatch):
        victim = tmp_path / "victim"
        victim.write_bytes(b"dear")
        monkeypatch.setattr(replacing.os, "urandom", lambda n: b"guessed!")
        (tmp_path / f".{b'guessed!'.hex()}.tmp").symlink_to(victim)
        with pytest.raises(FileExistsError):
            np.save(tmp_path / "x.npy", np.ones(1))
        assert victim.read_bytes() == b"dear"


class TestCode:
    def test_a_pickled_array_names_nothing_but_its_own(self):
        """Unpickling calls nothing but the function that builds the array."""
        names: list[str] = []

        class Reader(pickle.Unpickler):
            def find_class(self, module: str, name: str) -> object:
                names.append(f"{module}.{name}")
                return super().find_class(module, name)

        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            found = Reader(io.BytesIO(pickle.dumps(np.arange(3), protocol))).load()
            assert found.tolist() == [0, 1, 2]
        assert set(names) == {
            "forerun.np._unpickled", "numpy._core.multiarray._reconstruct", "numpy._core.numeric._frombuffer",
            "numpy.ndarray", "numpy.dtype", "_codecs.encode",
        }  # fmt: skip

    def test_package_does_not_evaluate_text(self):
        """The package calls nothing that runs texts or bytes; `forerun trace` runs the script that it is given."""
        evil = {
            "eval",
            "exec",
            "compile",
            "system",
            "popen",
            "Popen",
            "loads",
            "mktemp",
            "run_path",
            "unpickle",
        }
        found = {(path.name, name) for path in PACKAGE.rglob("*.py") for name in called_functions(path) if name in evil}
        assert found == KNOWN

    def test_package_does_not_unpickle(self):
        ways = ["allow_pickle=True", "pickle.load", "Unpickler", "from pickle", "pickle as"]
        texts = {path.name: path.read_text() for path in PACKAGE.rglob("*.py") if path.name not in WORKERS}
        assert [name for name, text in texts.items() for way in ways if way in text] == []
        assert [name for name, text in texts.items() if "numpy.load(" in text] == []


# Data that a loader's own worker processes send to the process that has started them: no files.
WORKERS = {"worker.py", "shared.py"}
# The user's script, also in several processes; net.eval(), a method of modules.
KNOWN = {("program.py", "run_path"), ("measures.py", "eval")}
KNOWN |= {(file, "Popen") for file in ("keeper.py", "launcher.py", "watch.py")}
KNOWN |= {(name, "loads") for name in WORKERS} | {("dask.py", "loads")}  # messages of processes to one another
HARMLESS = {"re.compile", "platform.system", "json.loads"}


def called_functions(path: Path) -> set[str]:
    """The names of functions that a file calls, but for those that only share a name with functions that run text."""
    calls = [node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    return {
        f.id if isinstance(f, ast.Name) else f.attr
        for f in calls
        if isinstance(f, ast.Name | ast.Attribute) and ast.unparse(f) not in HARMLESS
    }


class TestInvalidFiles:
    @pytest.mark.parametrize("read", [np.load, npx.load, np.fromfile, np.loadtxt, forerun.safetensors.load_file])
    def test_a_folder_is_named(self, read, tmp_path):
        with pytest.raises(IsADirectoryError) as caught:
            read(tmp_path)
        assert str(tmp_path) in str(caught.value)

    def test_a_header_of_no_array(self, tmp_path):
        """Without values, and with other extents that no array could have."""
        header = {"descr": "<f4", "fortran_order": False, "shape": (0, 1 << 62)}
        with open(tmp_path / "x.npy", "wb") as file:
            numpy.lib.format.write_array_header_1_0(file, header)
        contents = io.BytesIO((tmp_path / "x.npy").read_bytes())
        for read in (lambda: np.load(tmp_path / "x.npy"), lambda: np.load(contents)):
            with pytest.raises(ValueError, match="load: array must fit into memory"):
                read()
