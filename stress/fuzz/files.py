"""Bytes and texts for all functions that read them: a clear exception or a right result, bounded memory, no code run.

A target has good inputs, which are mutated, and a function that reads one.
`make fuzz` runs `python -m stress.fuzz.files batch SEED COUNT` in processes
that it watches; to fuzz another function, add a `Target`.
"""

from __future__ import annotations

import io
import os
import pickle
import resource
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy

import forerun
from forerun import autograd, gluon, np, npx, safetensors
from forerun._runtime.device import resolve
from forerun._runtime.settings import _environment
from stress.fuzz.batch import say
from tests.support.engine.resources import Peak
from tests.support.paths import DATA

CLEAN = (
    ValueError,
    TypeError,
    IndexError,
    NotImplementedError,
    OverflowError,
)  # exceptions that a wrong input may raise
MEMORY = 256 << 20  # bytes by which reading some kilobytes may increase the memory of the process
EXECUTED: list[str] = []  # filled by code from a file


@dataclass(frozen=True)
class Target:
    """A function that reads bytes (or text, as UTF-8)."""

    name: str
    good: Callable[[], list[bytes]]
    read: Callable[[bytes], object]


class Payload:
    """Unpickling it runs code."""

    def __reduce__(self) -> Any:
        return record_execution, ("code from a file",)


def record_execution(text: str) -> None:
    """Record that it was run."""
    EXECUTED.append(text)


# --- good inputs, and malicious ones --------------------------------------------------------------------


def npy(x: Any, **options: Any) -> bytes:
    """An npy file."""
    out = io.BytesIO()
    numpy.save(out, x, **options)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    """An npz file."""
    out = io.BytesIO()
    numpy.savez(out, **arrays)
    return out.getvalue()


def header(shape: str, descr: str = "'<f4'", version: bytes = b"\x01\x00") -> bytes:
    """An npy file with this header and a few bytes of values."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version[0] == 1 else 4, "little") + text + bytes(64)


def npy_files() -> list[bytes]:
    """Arrays, and headers that lie."""
    arrays = [numpy.arange(6.0).reshape(2, 3), numpy.zeros((0, 3), "int8"), numpy.array(7), numpy.ones((3, 2)).T,
              numpy.arange(3, dtype=">i4"), numpy.array([True]), numpy.ones(2, "complex64")]  # fmt: skip
    lies = ["(1000000000000000,)", "(10**15,)", "(-4,)", "(2, -8)", "(1.5,)", "'x'", "(True,)", "(0, 10**22)",
            "(4294967296, 4294967296)", "(" * 90 + ")" * 90, "(0, 10000000000000000000000)",
            "__import__('os').getpid()"]  # fmt: skip
    dtypes = [
        "'O'",
        "'|O'",
        "'S5'",
        "'U3'",
        "[('a', '<f4')]",
        "'M8[s]'",
        "'<f16'",
        "'V8'",
        "None",
        "'<f4, <i4'",
    ]
    others = [
        npy(numpy.array([Payload()], object), allow_pickle=True),
        pickle.dumps(Payload()),
        b"",
        b"\x93NUMPY",
    ]
    versions = [header("(4,)", version=v) for v in (b"\x02\x00", b"\x03\x00", b"\x09\x00")]
    return [*map(npy, arrays), *map(header, lies), *(header("(2,)", d) for d in dtypes), *versions, *others]


def npz_files() -> list[bytes]:
    """Archives: good ones, ones with members that are not arrays, and ones that unpack to a much larger size."""
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", header("(100000000,)") + bytes(4 << 20))
    odd = io.BytesIO()
    with zipfile.ZipFile(odd, "w") as archive:
        archive.writestr("../../outside.npy", npy(numpy.ones(2)))
        archive.writestr("text", b"no array")
    members = npz(num_update=numpy.array(3), **{"0.t": numpy.array(1), "0.mean": numpy.zeros(2)})
    evil = io.BytesIO()
    numpy.savez(evil, x=numpy.array([Payload()], object))
    named = npz(weight=numpy.ones((1, 2), "float32"), bias=numpy.zeros(1, "float32"))
    plain = npz(a=numpy.ones(3), b=numpy.zeros((2, 2)))
    return [npz(), plain, bomb.getvalue(), odd.getvalue(), members, named, evil.getvalue()]


def tensor_files() -> list[bytes]:
    """Files in the safetensors format, and headers that lie."""
    good = [
        safetensors.save({}),
        safetensors.save({"x": numpy.ones((2, 3), "f4"), "y": numpy.arange(5), "z": numpy.array(True)}, {"by": "me"}),
    ]
    place = '{"dtype":"F32","shape":[%s],"data_offsets":[%s]}'
    huge = "9" * 30
    places = [("2", "0,8"), ("-2", "0,8"), ("1e3", "0,8"), (huge, "0,8"), (f"0,{huge}", "0,0"), ("2", "8,16")]
    headers = [f'{{"x":{place % both}}}' for both in places]
    headers += ["[" * 5000, "{" * 90, '{"__metadata__":{"a":1}}', "NaN", '"x"', '{"x":{}}', headers[0] + "," * 99]
    return good + [len(h).to_bytes(8, "little") + h.encode() + bytes(8) for h in headers]


def mxnets_files() -> list[bytes]:
    """Return files that MXNet has written."""
    return [path.read_bytes() for path in sorted((DATA / "mxnet").glob("*.params"))]


def symbols() -> list[bytes]:
    """Return files that `export` writes, of small nets."""
    with tempfile.TemporaryDirectory() as folder:
        found = []
        nn = gluon.nn
        for layers in ((nn.Dense(2, "relu"), nn.BatchNorm()), (nn.Conv1D(1, 2), nn.MaxPool1D())):
            net = gluon.nn.HybridSequential()
            net.add(*layers)
            net.initialize()
            net.hybridize()
            net(np.ones((2, 1, 6)))
            found.append(Path(net.export(f"{folder}/net")[0]).read_bytes())
    return found


def imports(path: str) -> object:
    """Run the program in a file on small arrays."""
    block = gluon.SymbolBlock.imports(path, ["data"])
    block.initialize("ones")
    result = block(np.ones((2, 1, 6)))
    forerun.wait(result)
    return result


def texts(*good: str) -> Callable[[], list[bytes]]:
    """Texts as good inputs."""
    return lambda: [text.encode() for text in good]


# --- the functions that read them ---------------------------------------------------------------------------------


@contextmanager
def file_of(data: bytes) -> Iterator[str]:
    """A file with these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        path.write_bytes(data)
        yield str(path)


def from_file_name(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Reads from a file."""

    def from_file(data: bytes) -> object:
        with file_of(data) as path:
            return read(path)

    return from_file


def by_text(read: Callable[[str], object]) -> Callable[[bytes], object]:
    """Reads a text."""
    return lambda data: read(data.decode("utf-8", "replace"))


def all_of(found: Any) -> object:
    """Return the arrays of a file, once they are read."""
    arrays = list(found.values()) if isinstance(found, Mapping) else found
    forerun.wait(arrays)
    return arrays


def load_parameters(path: str) -> object:
    """Load into a small layer, which is unchanged if the file is rejected."""
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize("ones")
    net.load_parameters(path)
    return net(np.ones((1, 2))).tolist()


def stepped_trainer() -> gluon.Trainer:
    """A trainer that has made a step."""
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize("ones")
    trainer = gluon.Trainer(net.collect_params(), "adam")
    with autograd.record():
        loss = net(np.ones((1, 2))).sum()
    loss.backward()
    trainer.step(1)
    return trainer


def states() -> list[bytes]:
    """Return files that a trainer writes, and other archives."""
    with file_of(b"") as path:
        stepped_trainer().save_states(path).wait()
        return [Path(path).read_bytes(), *npz_files()]


def load_states(path: str) -> object:
    """Load into a trainer that has made a step."""
    stepped_trainer().load_states(path)
    forerun.waitall()
    return None


def einsum_of_text(text: str) -> object:
    """Subscripts for two operands, or for as many as they name."""
    shapes = ((2, 3), (3, 2), (2, 2, 2))
    return np.einsum(text, *(np.ones(shapes[i % 3]) for i in range(min(5, text.count(",") + 1)))).tolist()


def read_settings(text: str) -> object:
    """Names and values of settings in the environment, as they are read at import."""
    names = ("ENGINE", "WORKERS", "CPU_DEVICES", "OPS_AHEAD", "MEMORY_BUDGET", "MEMORY_LIMIT", "PASSES")
    before = dict(os.environ)
    try:
        for name in names:
            os.environ[f"FORERUN_{name}"] = text.replace("\0", "")
            _environment()
            del os.environ[f"FORERUN_{name}"]
    finally:
        os.environ.clear()
        os.environ.update(before)
    return None


def activation(name: str) -> object:
    """An activation by its name."""
    return npx.activation(np.ones(2), name).tolist()


TARGETS = [
    Target("np.load", npy_files, lambda data: np.load(io.BytesIO(data))),
    Target("np.load of a name", lambda: npy_files() + npz_files(), from_file_name(lambda path: all_of(np.load(path)))),
    Target("npx.load", npz_files, from_file_name(lambda path: all_of(npx.load(path)))),
    Target("safetensors.load", tensor_files, safetensors.load),
    Target("safetensors.load_file", tensor_files, from_file_name(lambda path: all_of(safetensors.load_file(path)))),
    Target("npx.load of MXNet's files", mxnets_files, from_file_name(lambda path: all_of(npx.load(path)))),
    Target("load_parameters", lambda: npz_files() + tensor_files() + mxnets_files(), from_file_name(load_parameters)),
    Target("SymbolBlock.imports", symbols, from_file_name(imports)),
    Target("load_states", states, from_file_name(load_states)),
    Target(
        "einsum",
        texts("ij,jk->ik", "ij,ji", "...i,i...->...", "ii", "i,j->ji", "ij->", "bij,bjk->bik", "ij,jk,klm"),
        by_text(einsum_of_text),
    ),
    Target("device", texts("cpu", "cpu:0", "cpu:1", "gpu:0", "cpu:\u0663", "cpu:-1"), by_text(resolve)),
    Target(
        "dtype",
        texts("float32", "<f4", "i8", "bool", "O", "M8[s]", "f4,f4", "(2,3)f4", "U9", "void"),
        by_text(lambda text: np.zeros(2, text).tolist()),
    ),
    Target(
        "settings",
        texts("async", "sync", "2", "512M", "1e3G", "drop,fuse", "", "inf", "nanK", "1e999M", "\u0662"),
        by_text(read_settings),
    ),
    Target("activation", texts("relu", "tanh", "softrelu", "leaky", "__class__"), by_text(activation)),
    Target("norm", texts("fro", "nuc", "inf"), by_text(lambda text: np.linalg.norm(np.ones((2, 2)), text))),
]


# --- mutation and verdict --------------------------------------------------------------------------


def mutated(data: bytes, rng: numpy.random.Generator) -> bytes:
    """Return data with a few bytes changed, added, removed, repeated, or copied from elsewhere."""
    found = bytearray(data)
    for _ in range(int(rng.integers(1, 5))):
        at, n = int(rng.integers(len(found) + 1)), int(rng.integers(1, 9))
        what = rng.integers(6)
        if what == 0 and found:
            found[at % len(found)] = int(rng.integers(256))
        elif what == 1 and found:
            found[at % len(found)] ^= 1 << int(rng.integers(8))
        elif what == 2:
            del found[at : at + n]
        elif what == 3:
            found[at:at] = rng.bytes(n)
        elif what == 4:
            found[at:at] = found[max(0, at - n) : at]
        else:
            found[at : at + n] = (b"9" * n, b"\xff" * n, bytes(n), b"-1")[int(rng.integers(4))]
    return bytes(found)


def judged(target: Target, data: bytes) -> str:
    """Return the fault in reading it; empty if it is read, or rejected with a clear error."""
    EXECUTED.clear()
    peak = Peak()
    try:
        target.read(data)
    except CLEAN as error:
        if not str(error):
            return f"{type(error).__name__} without a message"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if EXECUTED:
        return "code from the file was run"
    grown = peak.increase()
    return f"{grown >> 20} MiB of memory for {len(data)} bytes" if grown > MEMORY else ""


def inputs_of_target(target: Target, seed: int, count: int) -> Iterator[bytes]:
    """All good inputs of a target, then `count` mutations of them."""
    good = target.good()
    yield from good
    rng = numpy.random.default_rng([seed, sum(target.name.encode())])
    for _ in range(count):
        yield mutated(good[rng.integers(len(good))], rng)


def run_targets(seed: int, count: int) -> tuple[int, list[dict[str, str]]]:
    """Return the number of inputs read, and the findings, one per target."""
    tried, findings = 0, list[dict[str, str]]()
    for target in TARGETS:
        for data in inputs_of_target(target, seed, count):
            tried += 1
            if text := judged(target, data):
                findings.append({"target": target.name, "text": text, "data": data.hex()})
                break
    return tried, findings


def main(arguments: list[str]) -> None:
    """`batch SEED COUNT`: so many mutations for each target."""
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    for i in range(int(arguments[2]) // 20):
        tried, findings = run_targets(int(arguments[1]) + i, 20)
        say({"counts": {"files": tried}, "findings": findings})


if __name__ == "__main__":
    main(sys.argv[1:])
