"""Pages, comments, docstrings and messages use the terms of the glossary, not the words that tools/words.py retires."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import words

# The set is to grow to all of core and tests.
FILES = [
    "*.md",
    "docs/**/*.md",
    "docs/**/*.py",
    "examples/README.md",
    "tools/*.py",
    "src/**/*.py",
]
QUOTES = {"docs/reference/clients.md", "tools/words.py"}  # messages of other libraries; the words themselves
PATHS = sorted(
    path
    for path in {path for glob in FILES for path in ROOT.glob(glob)}
    if path.relative_to(ROOT).as_posix() not in QUOTES
)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_file_has_no_retired_words(path: Path) -> None:
    assert [f"line {line}: {word!r}, say: {term}" for line, word, term in words.found(path)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Element-wise operations are joined.", "operations are joined"),
        ("Whoever waits, works.", "Whoever"),
        ("An array that\nnobody reads.", "nobody"),
        ("# Head\n\nWhat is written is read.", "What is"),
        ("It is read. Who waits looks at every queue.", ". Who waits"),
        ("It depends on what is left.", "on what is"),
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


def test_there_are_about_forty_and_each_has_a_term() -> None:
    assert len(words.RETIRED) >= 40
    assert all(words.RETIRED.values())
