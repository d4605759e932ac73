"""The timeline: who issued, who ran, who waited; as a page, a picture, or a file for Perfetto."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path

from .._display.notebook import Shown
from ._picture.chrome import chrome
from ._picture.lanes import lanes
from ._picture.picture import figures, picture
from .events import Trace
from .page import page

__all__ = ["timeline"]

_forms: dict[str, Callable[[Trace, str], str]] = {
    ".html": lambda trace, title: page(trace, title, figures(trace, lanes(trace))),
    ".svg": picture,
    ".json": lambda trace, _: chrome(trace),
}


def timeline(trace: Trace, path: str | os.PathLike[str] | None = None, title: str = "Timeline") -> Shown:
    """Draw the issues, ops and waits of all threads: as SVG text, or into a file in the form of its ending.

    `.html`: a page that any browser opens, without network: wheel, drag and keys zoom and move, the pointer shows an
    op's name, line, shapes and times, a click its way from issue to wait, a word in the box dims all else. `.svg`: a
    picture. `.json`: the Trace Event Format, with the same arrows, for https://ui.perfetto.dev.

    The front end's lane has a tick for every op that it issued, its waits (hatched), and the ops that it ran while it
    waited. Below it is a lane for each worker and each queue of copies or files, and memory over time.

    Returns the text; a notebook shows the picture. Raises ValueError for another ending, OSError if the file cannot be
    written.

    Parameters
    ----------
    trace : Trace
        A recording.
    path : path, optional
        The file; none by default.
    title : str, default "Timeline"
        The title.

    Returns
    -------
    str
        The text; a notebook shows the picture.

    Raises
    ------
    ValueError
        For another ending.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from forerun import np, profiler
    >>> with profiler.record() as p:
    ...     x = np.ones((1, 2)) + 1
    >>> profiler.timeline(p.trace)[:4]
    '<svg'
    """
    ending = ".svg" if path is None else Path(path).suffix.lower()
    if ending not in _forms:
        raise ValueError(f"timeline: path must end in {', '.join(_forms)}, got {os.fspath(path or '')!r}")
    text = _forms[ending](trace, title)
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return Shown(text, text if ending == ".svg" else f"<code>{escape(os.fspath(path or ''))}</code>")
