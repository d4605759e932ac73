"""Configuration of Sphinx, which `make docs` runs. The build downloads nothing."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import docstrings
import pages
import reference

project = "forerun"
author = "the authors of forerun"
copyright = "the authors of forerun; Apache-2.0"
release = metadata.version("forerun")
version = release

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_copybutton"]
exclude_patterns = ["README.md", "_ext"]  # README.md is the table of contents for readers of the folder
if tags.has("pages"):  # noqa: F821 - defined by Sphinx; -t pages leaves out the generated reference, which takes longest
    exclude_patterns.append("reference/api/*")
nitpick_ignore_regex = [("py:class", r".*")]  # types in signatures: no inventory of Python or NumPy is downloaded
default_role = "code"
autosummary_generate = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"
maximum_signature_line_length = 120
smartquotes = False  # strings of Python are written with straight quotes

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header", *(["toc.excluded", "toc.not_readable", "ref.doc"] if tags.has("pages") else [])]  # noqa: F821

html_theme = "furo"
html_title = f"forerun {release}"
html_static_path = ["_static"]
html_css_files = ["forerun.css"]
html_js_files = ["filter.js"]
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
highlight_language = "text"  # of blocks that name no language; examples in docstrings are Python
pygments_style = "default"  # its colours, as those of the next, have the contrast that WCAG asks for (AA)
pygments_dark_style = "github-dark"


def setup(app: Any) -> None:
    """Sphinx calls this once, before it builds."""
    if not app.tags.has("pages"):
        app.connect("builder-inited", reference.write)
    app.connect("source-read", pages.read)
    app.connect("autodoc-process-docstring", docstrings.process)
    app.connect("autodoc-skip-member", docstrings.foreign)
    app.connect("autodoc-process-signature", docstrings.signature)
