"""Pages, comments, docstrings and messages use the terms of the glossary, not the words that tools/words.py retires."""

from __future__ import annotations

import functools
import re
import sys
from pathlib import Path

import pytest

from tests.support.many_cases import for_each
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import words

FOLDERS = ("src", "core", "tests", "docs", "tools", "benchmarks", "examples", "stress", "verification", "compatibility")
KINDS = ("py", "md", "h", "cpp")
# Messages of other libraries; the words themselves.
QUOTES = {"docs/reference/clients.md", "tools/words.py", "tests/docs/test_words.py"}
NAMES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *(p for f in FOLDERS for kind in KINDS for p in (ROOT / f).rglob(f"*.{kind}"))]
)
PATHS = [ROOT / name for name in NAMES if name not in QUOTES]


@for_each("path", PATHS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_has_no_retired_words(path: Path) -> None:
    assert [f"line {line}: {word!r}, say: {term}" for line, word, term in words.found(path)] == []


@for_each("path", PATHS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_names_have_no_retired_words(path: Path) -> None:
    assert [f"line {line}: {name!r}, say: {term}" for line, name, term in words.found_in_names(path)] == []


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.py", "class Sleeper:\n    def f_told(self): pass\n\nasync def is_ours(): pass\n", "Sleeper f_told is_ours"),
        ("under_way.py", "told = 1\n", "under_way"),
        ("b.py", "def test_the_way_back(): pass\n", "test_the_way_back"),
        ("a.h", "struct Door {\n  int who() const;\n  void told(int,\n};\nvoid A::let_go() {", "Door who told let_go"),
        ("a.cpp", "  return told(1);\nint told_all = 1;\nint untold(int);\n", ""),
        ("a.md", "who\n", ""),
    ],
)  # fmt: skip
def test_a_retired_word_in_a_name_is_found(name: str, text: str, found: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert sorted(each for _, each, _ in words.found_in_names(tmp_path / name)) == sorted(found.split())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Element-wise operations are joined.", "operations are joined"),
        ("Whoever waits, works.", "Whoever"),
        ("An array that\nnobody reads.", "nobody"),
        ("# Head\n\nWhat is written is read.", "What is"),
        ("It is read. Who waits looks at every queue.", ". Who waits"),
        ("It depends on what is left.", "on what is"),
        ("It returns what it has\nread.", "what it"),
        ("Give back what\nthe program holds.", "what the"),
        ("The gradients of the way back.", "way back"),
        ("A file that anybody may read.", "anybody"),
        ("Axes that stand first.", "stand"),
        ("The network is none.", "is none"),
        ("Bars have\nnone.", "have none"),
        ("The value is there, and stays.", "is there"),
        ("A copy is no view.", "is no v"),
        ("An array of ours.", "ours"),
    ],
)
def test_a_retired_word_is_found(text: str, found: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert found in [word for _, word, _ in words.found(page)]


@pytest.mark.parametrize(
    "text",
    [
        "Threads are joined at exit.",
        "What is a view? Who waits?",
        "This page explains how it works. See what is a view, and why?",
        "`x.grad` is None. A list that has None. See the stand-in.",
        "There is no thread. It is no longer than a line. It is not there yet.",
        "`nobody` is code.",
        "```\nnobody\n```",
        "It stands for a number.",
        "The room of a house has walls.",
    ],
)
def test_other_words_are_not(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert list(words.found(page)) == []


def test_code_in_python_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text(
        'nobody = 1  # a name\nx = f"{nobody}"\n\n\ndef f():\n    """Return 1.\n\n    >>> nobody\n    """\n'
    )
    assert list(words.found(file)) == []
    file.write_text('x = 1  # nobody\n"""Nobody."""\n')
    assert [line for line, _, _ in words.found(file)] == [1, 2]


def test_code_in_cpp_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "file.cpp"
    file.write_text(
        "#include \"nobody.h\"\nint nobody = 1'000;\nchar quote = '\"'; int whoever = nobody; char c = '\"';\n"
        'auto a = "x\\""; int ours;  // `nobody`\n'
    )
    assert list(words.found(file)) == []
    file.write_text(
        'x();  // what\n// nobody\n/* Whoever\n waits. */ auto s = "nobody asked";\n// An array of\n// ours.\n'
    )
    assert sorted(line for line, _, _ in words.found(file)) == [2, 3, 4, 6]


def test_a_string_that_is_a_name_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "module.py"
    file.write_text('x = {"nobody": 1}\n')
    assert list(words.found(file)) == []


def test_there_are_about_forty_and_each_has_a_term() -> None:
    assert len(words.RETIRED) >= 40
    assert all(words.RETIRED.values())


def terms() -> list[str]:
    """Return the terms that the glossary defines: the lines of its lists that are followed by an indented line."""
    text = (ROOT / "docs" / "reference" / "glossary.md").read_text()
    lists = re.findall(r"```\{glossary\}\n(.*?)\n```", text, re.DOTALL)
    return [term for each in lists for term in re.findall(r"^(\S.*)\n  ", each, re.MULTILINE)]


@functools.cache
def texts_beside_the_glossary() -> str:
    """Return the text of the sources of the package, the core and the pages, each run of blanks as one."""
    paths = (ROOT / name for name in NAMES if name.startswith(("src/", "core/", "docs/")))
    texts = (path.read_text(encoding="utf-8") for path in paths if path.name != "glossary.md")
    return re.sub(r"\s+(?:(?://+|#) )?", " ", "\n".join(texts)).lower()


@pytest.mark.parametrize("term", terms())
def test_a_term_of_the_glossary_is_used(term: str) -> None:
    assert re.search(rf"\b{re.escape(term)}(?:e?s)?\b", texts_beside_the_glossary())
