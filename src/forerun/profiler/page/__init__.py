"""The timeline as one HTML file: no network, no library; the trace is in it, and a script that draws it."""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template

from ..costs import bound
from ..events import Trace
from .data import tables_and_columns

__all__ = ["page"]

_here = Path(__file__).parent
_scripts = ("model.js", "draw.js", "control.js", "panel.js")


def page(trace: Trace, title: str, figures: str) -> str:
    """Return the text of the page.

    Its policy lets the browser run no script but its own, and load nothing: text of the program that looks like
    markup would do no harm even if it were not escaped, which it is.
    """
    script = "\n".join(_read(name) for name in _scripts)
    # The browser takes the hash of all between the tags.
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    return Template(_read("page.html")).substitute(
        title=escape(title),
        figures=escape(figures),
        bound=escape(str(bound(trace))) if trace.ops else "",
        hash=f"sha256-{digest}",
        style=_read("page.css"),
        data=_embedded(tables_and_columns(trace)),
        script=script,
    )


def _read(name: str) -> str:
    return (_here / name).read_text(encoding="utf-8")


def _embedded(data: object) -> str:
    """Return JSON for a script element: nothing in it ends the element, or begins a comment."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
