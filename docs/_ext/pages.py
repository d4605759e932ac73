"""Adapts the Markdown of the repository to Sphinx: links between files become links between pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

# Files outside of docs/ that are pages, too, and the page of each.
COPIES = {
    "CONTRIBUTING.md": "project/contributing",
    "CHANGELOG.md": "project/changelog",
    "examples/README.md": "tutorial/examples",
}
PAGES = {"README.md": "index", "docs/README.md": "index"} | COPIES
LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)(#[\w-]+)?\)")
# An example that ends with an empty line, which doctest needs before the end of the block.
END = re.compile(r"^(( *)```python\n(?:(?!```).)*?)\n+ *```\n", re.MULTILINE | re.DOTALL)


def read(app: Any, page: str, source: list[str]) -> None:
    """Sphinx calls this with the text of a page, before it parses it."""
    file = DOCS / f"{page}.md"
    if page in COPIES.values():
        file = ROOT / next(name for name, copy in COPIES.items() if copy == page)
        source[0] = file.read_text(encoding="utf-8")
        app.env.note_dependency(str(file))
    source[0] = END.sub(r"\1\n\2```\n", source[0])
    source[0] = LINK.sub(lambda match: link(match, file.parent), source[0])


def link(match: re.Match[str], folder: Path) -> str:
    """Return a link of Markdown as Sphinx needs it: a link to a page, or the name of another file of the repository."""
    text, target, anchor = match[1], match[2], match[3] or ""
    file = (folder / target).resolve()
    if not file.is_relative_to(ROOT) or not file.exists():
        return match[0]
    path = file.relative_to(ROOT).as_posix()
    if path in PAGES:
        return f"[{text}](/{PAGES[path]}.md{anchor})"
    if file.is_dir():
        return f"`{path}/`"
    if path.startswith("docs/"):
        image = match.string[: match.start()].endswith("!")
        text = "" if text.endswith(".md") and not image else text  # Sphinx shows the title of the page
        return f"[{text}](/{path.removeprefix('docs/')}{anchor})"
    return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"
