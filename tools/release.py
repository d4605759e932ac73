"""Check a release and print its notes: `python tools/release.py v0.2.0`.

The tag, `__version__` and CHANGELOG.md must agree.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version() -> str:
    """Read the version from the one place that has it."""
    text = (ROOT / "src/forerun/__init__.py").read_text()
    return re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0]


def sections() -> dict[str, str]:
    """Split CHANGELOG.md: from headings such as `0.1.0 (2026-12-01)` to their text."""
    parts = re.split(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def notes(tag: str) -> str:
    """Return the text of the release that `tag` names; a disagreement ends the program."""
    if tag != f"v{version()}":
        raise SystemExit(f"release: the tag must be v{version()}, as in src/forerun/__init__.py, got {tag}")
    for heading, text in sections().items():
        if re.fullmatch(re.escape(version()) + r" \(\d{4}-\d\d-\d\d\)", heading):
            return text.strip()
    wanted = f"`## {version()} (year-month-day)`"
    raise SystemExit(f"release: CHANGELOG.md must have a heading {wanted}, got {', '.join(sections())}")


if __name__ == "__main__":
    print(notes(*sys.argv[1:]))
