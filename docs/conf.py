"""How Sphinx builds the pages: `make docs`. Nothing is fetched while it does."""

from __future__ import annotations

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import docstrings  # noqa: E402
import reference  # noqa: E402

project = "forerun"
author = "the authors of forerun"
copyright = "the authors of forerun; Apache-2.0"
release = metadata.version("forerun")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
exclude_patterns = ["README.md", "reference/README.md"]  # for those who read the folder as it is
if tags.has("pages"):  # noqa: F821 - Sphinx puts it there: -t pages leaves the reference out, which takes longest
    exclude_patterns.append("reference/*")
nitpick_ignore_regex = [("py:class", r".*")]  # types in signatures: pages of Python and NumPy are not fetched
default_role = "code"
autosummary_generate = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 96

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", *(["toc.excluded", "toc.not_readable"] if tags.has("pages") else [])]  # noqa: F821

html_theme = "furo"
html_title = f"forerun {release}"
html_static_path = ["_static"]
html_css_files = ["forerun.css"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#0b5e8a", "color-brand-content": "#0b5e8a"},
    "dark_css_variables": {"color-brand-primary": "#6cc0ee", "color-brand-content": "#6cc0ee"},
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
highlight_language = "text"  # of blocks that name none; examples in docstrings are Python all the same
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Files of the repository that are pages here, too; other files are named, not linked.
PAGES = {
    "README.md": "index", "docs/README.md": "index", "CONTRIBUTING.md": "contributing", "CHANGELOG.md": "changelog",
    "examples/README.md": "examples",
}  # fmt: skip
LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)(#[\w-]+)?\)")

END = re.compile(r"^(```python\n(?:(?!```).)*?)\n+```\n", re.MULTILINE | re.DOTALL)  # of an example: an empty line


def read(app: Any, page: str, source: list[str]) -> None:
    """Called by Sphinx with what it has read of a page."""
    file = HERE / f"{page}.md"
    if page in ("contributing", "changelog", "examples"):
        file = HERE.parent / next(name for name, of in PAGES.items() if of == page)
        source[0] = file.read_text(encoding="utf-8")
        app.env.note_dependency(str(file))
    source[0] = END.sub(r"\1\n```\n", source[0])
    source[0] = LINK.sub(lambda match: link(match, file.parent), source[0])


def link(match: re.Match[str], folder: Path) -> str:
    """A link of Markdown as it is to stand here: to a page, or as the name of a file of the repository."""
    text, target, anchor = match[1], match[2], match[3] or ""
    there = (folder / target).resolve()
    if not there.is_relative_to(HERE.parent) or not there.exists():
        return match[0]
    path = there.relative_to(HERE.parent).as_posix()
    if path in PAGES:
        return f"[{text}](/{PAGES[path]}.md{anchor})"
    if there.is_dir():
        return f"`{path}/`"
    if path.startswith("docs/"):
        text = "" if text.endswith(".md") and not match.string[: match.start()].endswith("!") else text  # its title
        return f"[{text}](/{path.removeprefix('docs/')}{anchor})"
    return f"`{path}`" if text.strip("`") in path else f"{text} (`{path}`)"


def setup(app: Any) -> None:
    """Called by Sphinx."""
    if not app.tags.has("pages"):
        app.connect("builder-inited", reference.write)
    app.connect("source-read", read)
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("autodoc-process-signature", docstrings.signature)
