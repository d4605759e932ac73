"""The pages: they build without a warning, each can be reached, and the reference has every public name.

`make docs` builds all of it; here the reference's pages are made as text, which is quick, and the others are read.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import forerun
from tests.support.paths import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.fixture
def helper(monkeypatch: pytest.MonkeyPatch):
    """Gives the modules in _ext, which Sphinx imports by their bare names."""
    monkeypatch.syspath_prepend(str(DOCS / "_ext"))
    given: list[str] = []

    def give(name: str) -> ModuleType:
        given.append(name)
        return importlib.import_module(name)

    yield give
    for name in given:
        sys.modules.pop(name, None)


def test_the_pages_build_without_a_warning(tmp_path):
    """Links, anchors, figures and tables of contents, by Sphinx; all pages but the reference."""
    command = [sys.executable, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-t", "pages", "-b", "dummy"]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "out")],
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.returncode == 0


# Pages that are read where the source is shown, without Sphinx.
READ_AS_FILES = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]


def prose(text: str) -> str:
    """Return a page without its code, which has no links and no headings."""
    return re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL)


def link_targets(text: str) -> list[tuple[str, str]]:
    """Return the files that the links of a page name, "" for itself, and the headings in them."""
    return re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)]*))?\)", re.sub(r"`[^`\n]+`", "", prose(text)))


def headings(page: Path) -> set[str]:
    """Return the anchors of a page's headings, made as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", prose(page.read_text(encoding="utf-8")), re.MULTILINE)
    shown = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading) for heading in found)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in shown}


@pytest.mark.parametrize("page", READ_AS_FILES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere_as_files_too(page):
    """To a file that is there, and to a heading in it."""
    for target, anchor in link_targets(page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        assert file.exists(), f"{page.name}: {target}"
        assert not anchor or file.suffix != ".md" or anchor in headings(file), f"{page.name}: {target}#{anchor}"


def missing_programs(text: str) -> list[str]:
    """Return the programs of this project that a text names, and that there are not."""
    named = re.findall(
        r"(?<![\w/.-])(?:benchmarks|compatibility|examples|stress|tools|verification)/[\w/]+\.py\b", text
    )
    return [name for name in named if not (ROOT / name).is_file()]


@pytest.mark.parametrize(
    "path", [*READ_AS_FILES, ROOT / "Makefile"], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_programs_named_on_pages_exist(path):
    assert path.name == "CHANGELOG.md" or missing_programs(path.read_text(encoding="utf-8")) == []


def test_a_missing_program_is_found():
    assert missing_programs("run `python benchmarks/gpu.py` and tools/none.py.") == ["tools/none.py"]


def test_every_page_of_the_folder_is_listed_for_its_readers():
    listed = {(DOCS / name).resolve() for name in re.findall(r"\]\(([^)#:]+\.md)", (DOCS / "README.md").read_text())}
    copies = {"index.md", "README.md", "contributing.md", "changelog.md", "examples.md"}
    assert [p.name for p in PAGES if p.name not in copies and p not in listed] == []


def test_figures_name_files_from_the_root_of_the_project():
    lines = [line for file in (DOCS / "figures").glob("*.svg") for line in file.read_text().splitlines()]
    assert any("docs/_ext/figures.py:" in line for line in lines)
    assert [line for line in lines if "/docs/_ext/" in line or "/benchmarks/" in line] == []


def test_figures_on_pages_are_drawn(helper):
    figures = helper("figures")
    source = (DOCS / "_ext" / "figures.py").read_text()
    names = {file.stem for file in figures.FOLDER.glob("*.svg")}
    assert names == set(re.findall(r'(?:save|timeline)\(\s*"([\w-]+)"', source))
    shown = "".join(page.read_text() for page in PAGES)
    assert [name for name in names if f"figures/{name}.svg" not in shown] == []


class TestReference:
    def test_has_every_public_name_once(self, helper):
        reference = helper("reference")
        seen: dict[int, str] = {}
        pages = "\n".join(reference.np_pages(seen).values())
        np = forerun.np
        described = re.findall(r"^\.\. (?:auto|py:)(?:function|class):: (?:forerun\.np\.)?(\w+)", pages, re.MULTILINE)
        listed = re.findall(r"^   \* - :py:obj:`(\w+) ", pages, re.MULTILINE)
        assert sorted(listed) == sorted(reference.public(np))
        assert {"tanh", "sort", "stack", "ndarray"} <= set(described)
        assert len(described) == len(set(described)) == len({id(getattr(np, n)) for n in listed})

    @pytest.mark.parametrize("name", ["forerun", "forerun.gluon.nn", "forerun.torch", "forerun.profiler"])
    def test_of_a_namespace(self, name, helper):
        reference = helper("reference")
        text = reference.namespace(name, "about", {})
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", []):
            if reference.documented(getattr(module, public)):
                assert f"`{public} <" in text

    def test_the_commands_page_has_the_help(self, helper):
        text = helper("reference").command()
        assert text.count("usage: forerun") == 7

    def test_every_page_is_in_a_table_of_contents(self, helper):
        reference = helper("reference")
        pages = dict.fromkeys(
            (*reference.np_pages({}), *(n.removeprefix("forerun.") for n in reference.NAMESPACES)), ""
        )
        tables = "\n".join(reference.contents(pages).values())
        assert [name for name in [*pages, "command"] if f"   {name}\n" not in tables + "\n"] == []


class TestDocstrings:
    """Plain text, of which nothing but code in backticks is marked up."""

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ("|a| * b_ of `x * y`", r"\|a\| \* b\_ of ``x * y``"),
            ("`op`s, and `a\nb`.", "``op``\\ s, and ``a b``."),
            ("one ` alone, *args", r"one \` alone, \*args"),
        ],
    )
    def test_signs_of_markup(self, given, expected, helper):
        assert helper("docstrings").escaped(given) == expected

    def test_parameter_fields(self, helper):
        lines = helper("docstrings").as_rst(
            ["Does it.", "", "axis: which one", "or None.", "note: no parameter"], {"axis"}
        )
        assert [line for line in lines if line] == [
            "Does it.", ":param axis: which one", "    or None.", "    note: no parameter",
        ]  # fmt: skip

    def test_an_example_begins_a_paragraph_of_its_own(self, helper):
        assert helper("docstrings").as_rst(["As in:", ">>> f(*a)", "3"]) == [
            "",
            "As in:",
            "",
            "",
            ">>> f(*a)",
            "3",
            "",
        ]

    def test_a_section_is_a_heading_without_a_place_in_the_contents(self, helper):
        lines = helper("docstrings").as_rst(
            ["Does it.", "", "Parameters", "----------", "x : int", "    A number."], {"x"}
        )
        assert [line for line in lines if line] == [
            "Does it.", ".. rubric:: Parameters", "**x** : int", "    A number.",
        ]  # fmt: skip

    def test_names_of_several_parameters_are_bold(self, helper):
        assert helper("docstrings").terms(["x1, x2 : array\\_like", "    At 3 : 1.", "\\*arrays : arrays"]) == [
            "**x1, x2** : array\\_like", "    At 3 : 1.", "**\\*arrays** : arrays",
        ]  # fmt: skip

    def test_members_of_other_libraries_are_left_out(self, helper):
        foreign = helper("docstrings").foreign
        assert foreign(None, "class", "x", subprocess.run, False, None)
        assert foreign(None, "class", "x", forerun.pace, False, None) is None

    def test_uninformative_types_are_left_out(self, helper):
        signature = helper("docstrings").signature
        given = signature(None, "", "", None, None, "(a: ~typing.Any, axis: int | None = None)", "~typing.Any")
        assert given == ("(a, axis: int | None = None)", None)


class TestReadme:
    TEXT = (ROOT / "README.md").read_text(encoding="utf-8")

    def test_first_program_runs(self):
        program = re.search(r"^```python\n(from forerun.*?)^```", self.TEXT, re.MULTILINE | re.DOTALL)
        assert program is not None
        done = subprocess.run(
            [sys.executable, "-c", program[1]], capture_output=True, text=True, timeout=120, check=True
        )
        assert abs(float(done.stdout)) > 0

    def test_table_has_the_figures_of_the_benchmark_page(self):
        page = (DOCS / "project" / "benchmarks.md").read_text(encoding="utf-8")
        columns, *measured = rows_of(page[page.index("## Comparison with other libraries") :])
        known = {row[0]: dict(zip(columns[1:], row[1:])) for row in measured}
        columns, *shown = rows_of(self.TEXT)
        assert len(shown) >= 8
        for label, *cells, multiple in shown:
            times = dict(zip(columns[1:-1], cells))
            assert times == {name: known[label][name] for name in times}
            others = [float(time) for name, time in times.items() if time != "-" and name != "forerun"]
            assert float(multiple) == pytest.approx(float(times["forerun"]) / min(others), abs=0.006)
        assert any(float(row[-1]) > 1 for row in shown), "rows in which forerun is slower belong in it"


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the first table of a page, without the multiples in brackets."""
    table = re.search(r"^\|.*(?:\n\|.*)+", text, re.MULTILINE)
    assert table is not None
    rows = [[cell.strip().strip("*") for cell in line.split("|")[1:-1]] for line in table[0].splitlines()]
    return [[re.sub(r" \([\d.]+\)$", "", cell) for cell in row] for row in rows if not set(row[1]) <= set("-:")]
