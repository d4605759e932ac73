"""Files from the network: whole and as their checksum says, or not at all."""

from __future__ import annotations

import hashlib
import os
import ssl
import time
import urllib.error
import urllib.request
import warnings
from http.client import HTTPException
from typing import Any
from urllib.parse import unquote, urlsplit

from .._runtime.system import lock_file

__all__ = ["check_sha1", "download"]

_PAUSE = 0.5  # seconds before the second try; before each later one twice as many
_SILENCE = 60.0  # seconds without a byte after which a try has failed
_PIECE = 1 << 20
_AGAIN = {408, 425, 429}  # beside those of servers at fault


def check_sha1(filename: str | os.PathLike[str], sha1_hash: str) -> bool:
    """Return whether a file's SHA-1 is the one given, in hexadecimal digits.

    Parameters
    ----------
    filename : path
        The file.
    sha1_hash : str
        40 hexadecimal digits.

    Returns
    -------
    bool
        Whether it is.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     check_sha1(file.name, "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    True
    """
    with open(filename, "rb") as file:
        return hashlib.file_digest(file, "sha1").hexdigest() == sha1_hash.lower()


def download(
    url: str,
    path: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    sha1_hash: str | None = None,
    retries: int = 5,
    verify_ssl: bool = True,
) -> str:
    """Download a file, unless it exists already, and return its path.

    The data is kept beside it, as `.part`, until it is complete and checked; then the file gets its name. A download
    that was interrupted, also by the end of the process, continues where it was: if the server says that its file is
    the same, or if there is a checksum to find out. Several processes may ask for one file; one of them brings it.

    A try that failed is followed by others, after a pause. Then the last error is raised. A permanent error, such as
    status 404, is raised at once.

    Parameters
    ----------
    url : str
        The address.
    path : path, optional
        The file, or a folder, where it gets the last part of the URL as its name; by default the current folder.
    overwrite : bool, default False
        Whether a file that exists is replaced.
    sha1_hash : str, optional
        The SHA-1 of the file; one with another SHA-1 is replaced.
    retries : int, default 5
        How many tries may follow the first one.
    verify_ssl : bool, default True
        Whether the certificate of the server is checked.

    Returns
    -------
    str
        The path of the file.

    Raises
    ------
    OSError
        The last try's, as urllib's HTTPError and URLError.
    ValueError
        For a wrong checksum, negative `retries`, or if no name can be made of the URL.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from forerun.gluon.utils import download
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "data.csv").write_text("1,2")
    ...     path = download("https://example.org/data.csv", folder)  # it exists already
    ...     pathlib.Path(path).name
    'data.csv'
    """
    if retries < 0:
        raise ValueError(f"download: retries must not be negative, got {retries}")
    target = _target(url, path)
    urllib.request.Request(url)  # of no known kind? ValueError
    if not verify_ssl:
        warnings.warn(f"download: certificates are not verified for {url}", stacklevel=2)
    if not overwrite and _is_complete(target, sha1_hash):
        return target
    os.makedirs(os.path.dirname(os.path.abspath(target)), exist_ok=True)
    with _Part(target, keep=sha1_hash is not None) as part:
        if overwrite or not _is_complete(target, sha1_hash):  # another process may have brought it meanwhile
            _tried(_Download(url, part, sha1_hash, verify_ssl), retries)
            part.finish()
    return target


def _target(url: str, path: str | os.PathLike[str] | None) -> str:
    where = os.path.expanduser(path) if path is not None else "."
    if path is not None and not os.path.isdir(where):
        return str(where)
    name = unquote(urlsplit(url).path).split("/")[-1]
    if name in ("", ".", ".."):
        raise ValueError(f"download: url must end in the name of a file, or path be given, got {url!r}")
    return name if path is None else os.path.join(where, name)


def _is_complete(target: str, sha1_hash: str | None) -> bool:
    return os.path.exists(target) and (sha1_hash is None or check_sha1(target, sha1_hash))


class _Part:
    """A partly downloaded file, beside its destination, which one process at a time may write.

    keep: whether it stays when the download fails.
    """

    def __init__(self, target: str, keep: bool) -> None:
        self.target, self.path, self.keep = target, f"{target}.part", keep

    def __enter__(self) -> _Part:
        while True:
            self.file = open(self.path, "ab")
            lock_file(self.file)
            if self._has_its_name():
                return self
            self.file.close()  # the process that locked it has finished

    def _has_its_name(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path))
        except FileNotFoundError:
            return False

    def __exit__(self, *_: object) -> None:
        self.file.flush()
        if self._has_its_name() and not (self.keep and self.size()):
            os.unlink(self.path)
        self.file.close()

    def size(self) -> int:
        """Return bytes that have arrived."""
        return os.fstat(self.file.fileno()).st_size

    def clear(self) -> None:
        """Remove the data."""
        self.file.flush()
        self.file.truncate(0)

    def finish(self) -> None:
        """Give the file its name."""
        os.fsync(self.file.fileno())
        os.replace(self.path, self.target)


class _WrongSum(ValueError):
    """The checksum of the data is not the one given."""


class _Download:
    """Tries to bring a file; one after another, each from where the last one ended."""

    def __init__(self, url: str, part: _Part, sha1_hash: str | None, verify_ssl: bool) -> None:
        self.url, self.part, self.sha1 = url, part, sha1_hash
        self.context = None if verify_ssl else ssl._create_unverified_context()
        self.same = ""  # the server's tag of the version whose part is here

    def run(self) -> None:
        """Try once."""
        if self.sha1 is None and not self.same:
            self.part.clear()
        start = self.part.size()
        try:
            self._bring(start)
            self._check()
        except _WrongSum:
            self.part.clear()
            if not start:
                raise
            self._bring(0)  # the part was of another file
            self._check()

    def _bring(self, start: int) -> None:
        headers = {"User-Agent": "forerun", "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
            if self.same:
                headers["If-Range"] = self.same
        request = urllib.request.Request(self.url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=_SILENCE, context=self.context) as answer:
                self._take(answer, start)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code != 416:
                raise
            if self.sha1 is None:  # there is nothing behind our part; the checksum tells whether that is all
                self.part.clear()
                raise

    def _take(self, answer: Any, start: int) -> None:
        if start and answer.status != 206:
            self.part.clear()
        tag = answer.headers.get("ETag", "")
        self.same = tag if not tag.startswith("W/") else ""
        whole, arrived = answer.headers.get("Content-Length"), 0
        while piece := answer.read(_PIECE):
            self.part.file.write(piece)
            arrived += len(piece)
        if whole is not None and arrived != int(whole):
            raise ConnectionError(f"download: {self.url} must have {whole} bytes, got {arrived}")

    def _check(self) -> None:
        self.part.file.flush()
        if self.sha1 is not None and not check_sha1(self.part.path, self.sha1):
            with open(self.part.path, "rb") as file:
                found = hashlib.file_digest(file, "sha1").hexdigest()
            raise _WrongSum(f"download: SHA-1 of {self.url} must be {self.sha1}, got {found}")


def _tried(task: _Download, retries: int) -> None:
    print(f"Downloading {task.part.target} from {task.url}...")
    for i in range(retries + 1):
        try:
            return task.run()
        except (OSError, HTTPException, _WrongSum) as error:
            lasts = isinstance(error, urllib.error.HTTPError) and error.code < 500 and error.code not in _AGAIN
            if i == retries or lasts:
                if isinstance(error, HTTPException) and not isinstance(error, OSError):
                    raise ConnectionError(f"download: {task.url} must arrive whole, got {error!r}") from error
                raise
            print(f"download failed due to {error!r}, {retries - i} more tries")
            time.sleep(_PAUSE * 2**i)
