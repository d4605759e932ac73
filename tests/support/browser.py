"""A browser to look at pages with: Chromium without a window, spoken to over a pair of pipes.

The protocol is Chromium's "DevTools Protocol": JSON messages, each ended by a zero byte.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

__all__ = ["Browser", "CHROMIUM"]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
PATIENCE = 60.0  # seconds for an answer

_options = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--remote-debugging-pipe", "about:blank",
)  # fmt: skip


def _started(to_it: int, from_it: int, *options: str) -> int:
    """The process, which reads commands from file 3 and writes answers to file 4."""
    assert CHROMIUM is not None
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in (to_it, from_it)]  # so that none is 3 or 4 now
    actions: list[tuple[int, ...]] = [(os.POSIX_SPAWN_DUP2, fd, n) for n, fd in enumerate(high, 3)]
    quiet = [(os.POSIX_SPAWN_OPEN, n, os.devnull, os.O_RDWR, 0) for n in (0, 1, 2)]
    try:
        return os.posix_spawn(CHROMIUM, [CHROMIUM, *options, *_options], os.environ, file_actions=[*quiet, *actions])
    finally:
        for fd in high:
            os.close(fd)


class Browser:
    """A page in a new Chromium. `complaints`: messages of its console, errors, requests to the network."""

    def __init__(self, width: int = 1280, height: int = 900) -> None:
        assert CHROMIUM is not None
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        self.complaints: list[str] = []
        to_it, self._write = os.pipe()
        self._read, from_it = os.pipe()
        self._process = _started(to_it, from_it, f"--user-data-dir={self.folder}", f"--window-size={width},{height}")
        os.close(to_it), os.close(from_it)
        self._rest, self._number, self._session = b"", 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        """Ends it."""
        self._session = None
        try:
            self.call("Browser.close")
        finally:
            os.close(self._write), os.close(self._read)
            os.waitpid(self._process, 0)  # it ends when its pipes are closed
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- the protocol ---

    def call(self, method: str, **params: Any) -> Any:
        """The answer to a command."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self._number:
            self._note(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def until(self, event: str) -> None:
        """Returns when an event has come."""
        while (message := self._next()).get("method") != event:
            self._note(message)

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise RuntimeError("Chromium: an answer must come, got none")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        params = event.get("params", {})
        kind = event.get("method", "")
        if kind == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"].get("exception", params)))
        elif kind in ("Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(json.dumps(params))
        elif kind == "Network.requestWillBeSent" and not params["request"]["url"].startswith(("file:", "about:")):
            self.complaints.append(params["request"]["url"][:200])

    # --- the page ---

    def open(self, path: Path) -> None:
        """Shows a file."""
        self.complaints.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.until("Page.loadEventFired")
        self.drawn()

    def ask(self, expression: str) -> Any:
        """The value of an expression in the page, waited for if it is a promise. Its exceptions are raised."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"].get("description", "an exception"))
        return answer["result"].get("value")

    def drawn(self) -> None:
        """Returns when all that is to be drawn now has been."""
        self.ask("new Promise(requestAnimationFrame)")

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """A movement, press, release or turn of the wheel, at a place in the window."""
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)
        self.drawn()

    def click(self, x: float, y: float) -> None:
        """A click of the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)

    def drag(self, x: float, y: float, dx: float, dy: float = 0) -> None:
        """The left button pressed, the mouse moved, the button released."""
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseMoved", x + dx, y + dy, button="left", buttons=1)
        self.mouse("mouseReleased", x + dx, y + dy, button="left", clickCount=1)

    def press(self, key: str) -> None:
        """A key, by the name that it has in the browser."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.drawn()

    def type(self, text: str) -> None:
        """Type text into the element that has the focus."""
        self.call("Input.insertText", text=text)
        self.drawn()

    def dark(self, on: bool) -> None:
        """Prefers dark pages, or light ones."""
        value = "dark" if on else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": value}])
        for _ in range(2):  # the page is notified in the first frame
            self.drawn()

    def picture(self, path: Path, whole: bool = True) -> None:
        """Save the visible part as PNG."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))
