"""Docstrings, which are plain text with code in backticks, as reStructuredText."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Iterator
from typing import Any

TERM = re.compile(r"^(\*{0,2}\w[\w, ]*) : ")  # in a section of NumPy's style: names, and their types
PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Called by Sphinx for each docstring; changes its lines in place."""
    lines[:] = as_rst(lines, parameters(obj))


def foreign(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Called by Sphinx for each member: those that another library's classes give are left out."""
    module = getattr(obj, "__module__", None)
    return True if isinstance(module, str) and not module.startswith("forerun") else None


def signature(app: Any, what: str, name: str, obj: Any, options: Any, given: str | None, back: str | None) -> Any:
    """Called by Sphinx for each signature: a parameter that may be anything has no type there."""
    if given is None:
        return None
    given = re.sub(r": ~?(?:typing\.)?Any\b(?! *\|)", "", given)
    given = re.sub(r"(\w) = ", r"\1=", given) if ": " not in given else given
    return given, None if back and re.fullmatch(r"~?(typing\.)?Any|None", back) else back


def parameters(obj: Any) -> set[str]:
    """The names of the parameters of a function or a class."""
    try:
        return set(inspect.signature(obj).parameters)
    except (TypeError, ValueError):
        return set()


def as_rst(lines: list[str], named: Collection[str] = ()) -> list[str]:
    """Paragraphs with signs of markup escaped, `x: what it is` as a field where x is a parameter, examples as they
    are."""
    found: list[str] = []
    for block in blocks(lines):
        if len(block) > 1 and set(block[1]) == {"-"}:  # a section, such as Parameters
            found += ["", f".. rubric:: {block[0]}", ""]
            block = block[2:] or [""]
        if block[0].lstrip().startswith(">>>"):
            found += ["", *block, ""]
        elif block[0].startswith(" "):
            found += ["", "::", "", *block, ""]
        else:
            lines = escaped("\n".join(block)).split("\n")
            found += ["", *(terms(lines) if TERM.match(block[0]) else fields(lines, named)), ""]
    return found


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """Stretches of lines between empty ones; an example begins one of its own."""
    block: list[str] = []
    for line in [*lines, ""]:
        begins = line.lstrip().startswith(">>>") and block and not block[0].lstrip().startswith(">>>")
        if (not line.strip() or begins) and block:
            yield block
            block = []
        if line.strip():
            block.append(line)


def escaped(text: str) -> str:
    """Escape a text so that only its code in backticks is marked up."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a backtick too many: no code
        return re.sub(r"([\\`*|_])", r"\\\1", text)
    for i, part in enumerate(parts):
        code = " ".join(part.split("\n")).strip()
        parts[i] = f"``{code}``" if i % 2 else re.sub(r"([\\*|_])", r"\\\1", part)
    for i in range(2, len(parts), 2):  # code ends where a space or a sign comes
        if parts[i][:1].isalnum() or parts[i].startswith("\\"):
            parts[i] = "\\ " + parts[i]
    return "".join(parts)


def terms(lines: list[str]) -> list[str]:
    """Make the names of a section bold: `x : array_like`."""
    return [re.sub(r"^((?:\\\*)*\w[\w\\, ]*?) : ", r"**\1** : ", line) for line in lines]


def fields(lines: list[str], named: Collection[str]) -> list[str]:
    """`x: what it is` as a field of the function, if x is one of its parameters."""
    found: list[str] = []
    inside = False
    for line in lines:
        plain = line.replace("\\", "")
        match = PARAMETER.match(plain)
        if match and {n.strip("* ") for n in match[1].split(",")} <= set(named):
            text = line[line.index(": ") + 2 :]
            found += [*([] if inside else [""]), f":param {match[1].replace(', ', ',')}: {text}"]
            inside = True
        else:
            found.append(f"    {line.lstrip()}" if inside else line)
    return found
