"""Downloads, from a server in this process: broken off, wrong, refused, resumed, by several at once."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.error import HTTPError, URLError

import numpy
import pytest

from forerun.gluon import download as module
from forerun.gluon.data import vision
from forerun.gluon.utils import check_sha1, download
from tests.support.files.data_files import idx_file
from tests.support.processes.subprocesses import PATIENCE, environment

BODY = bytes(numpy.random.default_rng(3).integers(0, 256, 300_000, "u1"))
SUM = hashlib.sha1(BODY).hexdigest()


class Server(ThreadingHTTPServer):
    """Answers from `files`; `behave` may act first, and say that it has answered."""

    daemon_threads = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files = {"/x.bin": BODY}
        self.asked: list[tuple[str, str | None]] = []  # paths and ranges
        self.behave: Callable[[Handler, int], bool] = lambda handler, i: False
        self.tag = '"1"'

    def url(self, path: str = "/x.bin") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers["Range"]))
        if self.server.behave(self, len(self.server.asked)):
            return
        name = self.path.split("?")[0]
        if name not in self.server.files:
            self.send_error(404)
            return
        body, start = self.server.files[name], 0
        if (wanted := self.headers["Range"]) and self.headers.get("If-Range", self.server.tag) == self.server.tag:
            start = int(wanted.removeprefix("bytes=").removesuffix("-"))
        self.answer(body, start)

    def answer(self, body: bytes, start: int = 0, most: int | None = None) -> None:
        """The body from there on, of which at most so many bytes are sent."""
        if start >= len(body) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body) - start))
        if self.server.tag:
            self.send_header("ETag", self.server.tag)
        self.end_headers()
        self.wfile.write(body[start:][:most])

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(module, "_PAUSE", 0)
    with Server() as found:
        thread = threading.Thread(target=found.serve_forever, args=(0.01,))
        thread.start()
        yield found
        found.shutdown()
        thread.join()


def assert_complete_and_alone(path: Path) -> None:
    """Check that the folder has the file alone, and that it is complete."""
    assert path.read_bytes() == BODY
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_files_arrive(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert download(server.url(), tmp_path / "new" / "y.bin", sha1_hash=SUM) == str(tmp_path / "new" / "y.bin")
    assert_complete_and_alone(tmp_path / "new" / "y.bin")
    assert download(server.url() + "?a=/b", str(tmp_path)) == f"{tmp_path}/x.bin"
    monkeypatch.chdir(tmp_path / "new")
    assert download(server.url()) == "x.bin"
    assert Path("x.bin").read_bytes() == BODY
    with pytest.raises(ValueError, match="download: url must end in the name of a file"):
        download(server.url("/"))
    with pytest.raises(ValueError, match="download: retries must not be negative, got -1"):
        download(server.url(), retries=-1)
    with pytest.raises(ValueError, match="unknown url type"):
        download("x.bin", tmp_path / "z")
    with pytest.warns(UserWarning, match="certificates are not verified"):
        download(server.url(), tmp_path, verify_ssl=False)


def test_existing_file_is_kept_unless_sha1_differs(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    download(server.url(), path)
    assert path.read_bytes() == b"old"
    assert not server.asked
    assert not check_sha1(path, SUM)
    download(server.url(), path, sha1_hash=SUM.upper())
    assert_complete_and_alone(path)
    download(server.url(), path, sha1_hash=SUM)
    assert len(server.asked) == 1
    path.write_bytes(b"old")
    download(server.url(), path, overwrite=True)
    assert_complete_and_alone(path)


@pytest.mark.parametrize("sha1", [SUM, None])
def test_an_interrupted_body_is_resumed(server: Server, tmp_path: Path, sha1: str | None) -> None:
    def behave(handler: Handler, i: int) -> bool:
        if i < 3:
            handler.answer(BODY, (i - 1) * 100_000, most=100_000)
        return i < 3

    server.behave = behave
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin", sha1_hash=sha1)))
    assert [bytes_ for _, bytes_ in server.asked] == [None, "bytes=100000-", "bytes=200000-"]


def test_a_server_without_ranges_begins_anew(server: Server, tmp_path: Path) -> None:
    server.tag = ""

    def behave(handler: Handler, i: int) -> bool:
        handler.answer(BODY, most=100_000 if i == 1 else None)
        return True

    server.behave = behave
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin")))
    (tmp_path / "x.bin").unlink()
    server.asked.clear()
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin", sha1_hash=SUM)))
    assert server.asked[1][1] == "bytes=100000-"


def test_another_version_is_not_appended(server: Server, tmp_path: Path) -> None:
    """Without a checksum the server says whether its file is the same."""

    def behave(handler: Handler, i: int) -> bool:
        if i == 1:
            handler.answer(b"old" * 9999, most=9999)
            server.tag = '"2"'
        return i == 1

    server.behave = behave
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin")))


@pytest.mark.parametrize("retries", [0, 2])
def test_wrong_checksums_are_refused(server: Server, tmp_path: Path, retries: int) -> None:
    with pytest.raises(ValueError, match=rf"download: SHA-1 of {server.url()} must be {'0' * 40}, got {SUM}"):
        download(server.url(), tmp_path / "x.bin", sha1_hash="0" * 40, retries=retries)
    assert len(server.asked) == retries + 1
    assert not list(tmp_path.iterdir())


def test_truncated_responses_raise_after_all_retries(server: Server, tmp_path: Path) -> None:
    server.behave = lambda handler, i: handler.answer(BODY, most=7) is None
    with pytest.raises(ConnectionError, match="must have 300000 bytes, got 7"):
        download(server.url(), tmp_path / "x.bin", retries=2)
    assert len(server.asked) == 3
    assert not list(tmp_path.iterdir())


def test_statuses(server: Server, tmp_path: Path) -> None:
    """404 will not change; 503 may, and a garbled answer."""

    def behave(handler: Handler, i: int) -> bool:
        if i == 1:
            handler.send_error(503)
        if i == 2:
            handler.wfile.write(b"nonsense\r\n\r\n")
        return i < 3

    with pytest.raises(HTTPError, match="404"):
        download(server.url("/other"), tmp_path / "x.bin")
    assert len(server.asked) == 1
    server.asked.clear()
    server.behave = behave
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin")))
    assert len(server.asked) == 3


def test_pauses_grow(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(module, "_PAUSE", 0.5)
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=pauses.append))  # of that module alone
    server.behave = lambda handler, i: handler.send_error(500) is None
    with pytest.raises(HTTPError, match="500"):
        download(server.url(), tmp_path / "x.bin", retries=3)
    assert pauses == [0.5, 1, 2]
    with pytest.raises(URLError, match="refused"):
        download("http://127.0.0.1:1/x.bin", tmp_path / "x.bin", retries=0)


def test_a_process_that_is_killed_leaves_a_partial_download(server: Server, tmp_path: Path) -> None:
    """No file of that name; the next one goes on there."""
    sent, go = threading.Event(), threading.Event()

    def behave(handler: Handler, i: int) -> bool:
        if i == 1:
            handler.answer(BODY, most=200_000)
            handler.wfile.flush()
            sent.set()
            go.wait(PATIENCE)
        return i == 1

    server.behave = behave
    program = """if True:
        import sys
        from forerun.gluon import download as d
        d._PIECE = 1000
        d.download(*sys.argv[1:3], sha1_hash=sys.argv[3])"""
    child = subprocess.Popen(
        [sys.executable, "-c", program, server.url(), str(tmp_path / "x.bin"), SUM],
        env=environment(), stdout=subprocess.DEVNULL,
    )  # fmt: skip
    assert sent.wait(PATIENCE)
    part = tmp_path / "x.bin.part"
    while not part.exists() or not part.stat().st_size:  # until some has been written
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait(PATIENCE)
    go.set()
    assert [file.name for file in tmp_path.iterdir()] == ["x.bin.part"]
    had = part.stat().st_size
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin", sha1_hash=SUM)))
    assert server.asked[1:] == [("/x.bin", f"bytes={had}-")]


@pytest.mark.parametrize("part", [b"garbage", BODY, BODY + b"more", BODY[:5]])
def test_existing_parts_are_resumed(server: Server, tmp_path: Path, part: bytes) -> None:
    """Of another file, whole, too long."""
    (tmp_path / "x.bin.part").write_bytes(part)
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin", sha1_hash=SUM, retries=0)))
    (tmp_path / "x.bin").unlink()
    (tmp_path / "x.bin.part").write_bytes(part)
    assert_complete_and_alone(Path(download(server.url(), tmp_path / "x.bin", retries=0)))


def test_concurrent_downloads_fetch_once(server: Server, tmp_path: Path) -> None:
    threads = [
        threading.Thread(target=download, args=(server.url(), tmp_path / "x.bin"), kwargs={"sha1_hash": SUM})
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert_complete_and_alone(tmp_path / "x.bin")
    assert len(server.asked) == 1


# --- data sets ---------------------------------------------------------------------------------------


@pytest.fixture
def repository(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("MXNET_GLUON_REPO", server.url("/repo/"))
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    return server


def test_mnist_is_downloaded_and_checked(repository: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels = numpy.arange(2 * 784).reshape(2, 28, 28) % 256, numpy.array([3, 4])
    for name, values in (("images-idx3", images), ("labels-idx1", labels)):
        packed = gzip.compress(idx_file(values))
        repository.files[f"/repo/gluon/dataset/mnist/t10k-{name}-ubyte.gz"] = packed
        monkeypatch.setitem(vision.MNIST._sums, f"t10k-{name}-ubyte", hashlib.sha1(packed).hexdigest())
    data = vision.MNIST(train=False)
    assert numpy.array_equal(data[1][0][..., 0], images[1])
    assert [label for _, label in data] == [3, 4]
    assert len(list((tmp_path / "home" / "datasets" / "mnist").iterdir())) == 2
    vision.MNIST(train=False)
    assert len(repository.asked) == 2
    with pytest.raises(FileNotFoundError, match=r"must have the files of FashionMNIST, or .* be downloaded, got .*404"):
        vision.FashionMNIST(tmp_path / "empty")
    monkeypatch.setitem(vision.MNIST._sums, "t10k-labels-idx1-ubyte", "0" * 40)
    with pytest.raises(ValueError, match=r"SHA-1 of .*t10k-labels"):
        vision.MNIST(tmp_path / "other", train=False)
    assert [file.name for file in (tmp_path / "other").iterdir()] == ["t10k-images-idx3-ubyte.gz"]


@pytest.mark.parametrize("kind", [vision.CIFAR10, vision.CIFAR100])
def test_cifar_is_downloaded_unpacked_and_checked(
    kind: Any, repository: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = 3072 + kind._labels_each
    records = numpy.random.default_rng(5).integers(0, 256, (6, size), "u1")
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for i, name in enumerate([*kind._train_files, *kind._test_files]):
            content = records[i].tobytes()
            for path in (f"inside/{name}", f"../evil-{name}"):
                entry = tarfile.TarInfo(path)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
    repository.files[f"/repo/gluon/dataset/{kind.folder}/{kind._archive[0]}"] = archive.getvalue()
    monkeypatch.setattr(kind, "_archive", (kind._archive[0], hashlib.sha1(archive.getvalue()).hexdigest()))
    root = tmp_path / "deep" / "root"
    train, test = kind(root), kind(root, train=False)
    assert (len(train), len(test), len(repository.asked)) == (len(kind._train_files), 1, 1)
    last = len(kind._train_files)
    assert int(test[0][1]) == records[last, 0]
    assert numpy.array_equal(test[0][0], records[last, -3072:].reshape(3, 32, 32).transpose(1, 2, 0))
    assert {file.name for file in root.iterdir()} == {kind._archive[0], *kind._train_files, *kind._test_files}
    assert [file.name for file in root.parent.iterdir()] == ["root"]
    if kind is vision.CIFAR100:
        assert int(vision.CIFAR100(root, fine_label=True, train=False)[0][1]) == records[last, 1]


def test_folders_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setattr(module, "_PAUSE", 0)
    monkeypatch.setenv("MXNET_GLUON_REPO", "http://127.0.0.1:1")  # no server answers there
    with pytest.raises(FileNotFoundError, match=rf"{os.path.join(tmp_path, 'datasets', 'cifar10')}: must have"):
        vision.CIFAR10()
