"""Write the table of the accuracy of GPUs, which the paragraphs of the operations state: docs/reference/gpu.md.

python tools/name_tables/accuracy.py
"""

from __future__ import annotations

import re
from pathlib import Path

from forerun._pjrt.accuracy import ULPS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "gpu.md"
START, END = "<!-- accuracy: written by tools/name_tables/accuracy.py -->\n", "<!-- end of accuracy -->\n"


def table() -> str:
    """Return a row for each number of units, with the functions that may be off by as many."""
    rows = ["| units | functions |\n", "|---|---|\n"]
    for units in sorted(set(ULPS.values())):
        names = " ".join(f"`{name}`" for name in sorted(ULPS) if ULPS[name] == units)
        rows.append(f"| {units} | {names} |\n")
    return "".join(rows)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"{START}.*?{END}", START + table() + END, page, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main()
