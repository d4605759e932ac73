"""Print the requirements of the build and of the named extras, a line each: `python tools/requirements.py dev`."""

import re
import sys
import tomllib
from pathlib import Path


def expand(extra: str, extras: dict[str, list[str]]) -> list[str]:
    """List the requirements of an extra, with `forerun[a,b]` replaced by those of a and b."""
    found: list[str] = []
    for requirement in extras[extra]:
        if own := re.fullmatch(r"forerun\[(.+)\]", requirement):
            for name in own[1].split(","):
                found += expand(name.strip(), extras)
        else:
            found.append(requirement)
    return found


def main() -> None:
    """Read pyproject.toml beside this folder."""
    settings = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    wanted = settings["build-system"]["requires"] + settings["project"]["dependencies"]
    for extra in sys.argv[1:]:
        wanted += expand(extra, settings["project"]["optional-dependencies"])
    print("\n".join(dict.fromkeys(wanted)))


if __name__ == "__main__":
    main()
