"""Count properties that make a source tree easy or hard to change: python tools/counts.py [REF ...]

Without a REF: the working tree. With commits: a column for each, and one for the working tree.

    python tools/counts.py 93d7b79                          prints the table
    python tools/counts.py 93d7b79 --page FILE              writes it into a page, between two marks
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import words
from imports import Import, circles, circles_of_folders, core_files, imports, modules

ROOT = Path(__file__).resolve().parents[1]
GLOSSARY = ROOT / "docs" / "reference" / "glossary.md"
START, END = "<!-- counts: written by tools/counts.py -->", "<!-- end of counts -->"

SOURCES = ("*.py", "*.h", "*.cpp", "*.md")
# An operation and a layer that are like any other: the files that name it, without tables that tools write.
EXAMPLES = {
    "element-wise operation": "cbrt",
    "element-wise operation that StableHLO lacks": "heaviside",
    "reduction": "ptp",
    "layer": "PixelShuffle2D",
}
WRITTEN = re.compile(r"^CHANGELOG|names?\.(md|tsv)$|names_|architecture\.md$|^build/|/api/")
TABLE = re.compile(r"<!-- \w+: written by tools/.*?<!-- end of", re.DOTALL)  # in a page of other text
# The allocator of the host's memory, instructions of one kind of CPU, and the name of the CPU, where any device may be.
OF_THE_CPU = re.compile(r"\bMemoryCache\b|\bCachingAllocator\b|\b_mm_\w+|\b__rdtsc\b|\"cpu\(")
KERNEL = re.compile(r"^class (\w+)(?: final)? : public (\w+)(?:, public \w+)* \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
CPU_FOLDERS = ("cpu", "kernels", "memory", "tests")
FUNCTION = re.compile(
    r"^( *)(?!if\b|for\b|while\b|switch\b|else\b|do\b|namespace\b|struct\b|class\b|enum\b)[\w~:].*\{$"
)
METHOD = re.compile(r"^  (?! |using\b|//)[\w:<>*&,\[\] ]*?\b(\w+)\([^;{]*(?:[;{)]|,$)")


@cache
def text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(text(path))


def files(root: Path, *folders: str) -> list[Path]:
    """Return the sources in folders, in a stable order."""
    found = [path for folder in folders for kind in SOURCES for path in (root / folder).rglob(kind)]
    return sorted(path for path in found if not WRITTEN.search(path.relative_to(root).as_posix()))


def named_in(root: Path, word: str) -> list[str]:
    """Return the files of src, core and docs that name something, outside of tables that tools write into pages."""
    pattern = re.compile(rf"\b{word}\b")
    paths = files(root, "src", "core", "docs")
    return [path.relative_to(root).as_posix() for path in paths if pattern.search(TABLE.sub("", text(path)))]


def naming(root: Path, word: str) -> str:
    """Count the files that a new thing of a kind must touch, beside its tests."""
    return str(len(named_in(root, word)))


def device_kind(root: Path) -> str:
    """Count the files of core that name a second kind of device, outside of its own folder."""
    paths = [path for path in core_files(root) if path.relative_to(root / "core").parts[0] not in ("pjrt", "tests")]
    found = sum("pjrt" in text(path).lower() for path in paths)
    return str(found) if (root / "core" / "pjrt").is_dir() else "-"


def knows_the_cpu(root: Path) -> str:
    """Count the places of core outside of the CPU's folders that know the CPU."""
    paths = [path for path in core_files(root) if path.relative_to(root / "core").parts[0] not in CPU_FOLDERS]
    found = [len(OF_THE_CPU.findall(text(path))) for path in paths]
    return f"{sum(found)} in {sum(map(bool, found))} files"


def kernels(root: Path) -> dict[str, bool]:
    """Return the classes of the CPU's kernels, and whether each describes its operations to other devices."""
    folders = [root / "core" / "cpu" / "kernels", root / "core" / "kernels"]  # the second one before there were devices
    paths = [path for folder in folders for kind in ("*.h", "*.cpp") for path in sorted(folder.rglob(kind))]
    found = {m[1]: (m[2], "bool describe(" in m[3]) for path in paths for m in KERNEL.finditer(text(path))}
    bases = {base for base, _ in found.values()} | {"FusedGroup"}
    return {
        name: described or found.get(base, ("", False))[1]
        for name, (base, described) in found.items()
        if name not in bases and base != "FusedGroup" and name.endswith("Kernel")
    }


def described_kernels(root: Path) -> str:
    found = kernels(root)
    return f"{sum(found.values())} of {len(found)}"


@cache
def found_imports(root: Path) -> list[Import]:
    return imports(root)


def graph_of_modules(root: Path, late: bool) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = {name: set() for name in modules(root)}
    for found in found_imports(root):
        if (late or not found.late) and found.target in graph and found.source != found.target:
            graph[found.source].add(found.target)
    for name, path in modules(root).items():  # re-exports of a folder are not circles
        if path.name == "__init__.py":
            graph[name] = set()
    return graph


def circles_of_modules(root: Path) -> str:
    """Count circles of modules, with the imports inside of functions, and the modules in them."""
    around = circles(graph_of_modules(root, late=True))
    return f"{len(around)} ({sum(map(len, around))} modules)" if around else "0"


def circles_of_includes(root: Path) -> str:
    """Count circles of folders of core, those inside of one folder too, and the folders in them."""
    around = [circle for found in circles_of_folders(root).values() for circle in found]
    return f"{len(around)} ({sum(map(len, around))} folders)" if around else "0"


def importers_of_core(root: Path) -> str:
    """Count the modules that import the extension module themselves, among all."""
    found = {one.source for one in found_imports(root) if one.target == "forerun._core"}
    return f"{len(found)} of {len(modules(root))}"


def late_imports(root: Path) -> str:
    return str(sum(found.late for found in found_imports(root)))


@cache
def hints(root: Path) -> list[tuple[str, ast.expr | None]]:
    """Return the annotation of every parameter and result in src; self and cls have no annotation."""
    found: list[tuple[str, ast.expr | None]] = []
    for path in modules(root).values():
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                a = node.args
                named = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
                found += [("parameter", x.annotation) for x in named if x.arg not in ("self", "cls")]
                found.append(("result", node.returns))
    return found


def share_of_any(kind: str, public: bool = False) -> Callable[[Path], str]:
    """Return a count of the annotations of a kind that are `Any`."""

    def count(root: Path) -> str:
        found = [annotation for name, annotation in (public_hints if public else hints)(root) if name == kind]
        names = (annotation for annotation in found if isinstance(annotation, (ast.Name, ast.Attribute)))
        bare = sum(ast.unparse(name) in ("Any", "typing.Any") for name in names)
        return f"{100 * bare / len(found):.0f} %"

    return count


def is_public(path: str) -> bool:
    """Return whether users import the contents of a file of src. The class of arrays is in a private folder."""
    return re.search(r"(^|/)_(?!array/|_init__)", path) is None


def public_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield functions with public names, methods of public classes too: of one with overloads, these alone."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, (*kinds, ast.ClassDef, ast.If))]
    loaded = {f.name for f in inner if isinstance(f, kinds) and "overload" in map(ast.unparse, f.decorator_list)}
    for each in inner:
        if isinstance(each, ast.If):
            yield from public_functions(each)
        elif each.name.startswith("_"):
            continue
        elif isinstance(each, ast.ClassDef):
            yield from public_functions(each)
        elif each.name not in loaded or "overload" in map(ast.unparse, each.decorator_list):
            yield each


@cache
def public_hints(root: Path) -> list[tuple[str, ast.expr | None]]:
    """Return the annotations of public functions, without those of `*args` and `**kwargs`."""
    found: list[tuple[str, ast.expr | None]] = []
    for path in modules(root).values():
        if is_public(path.relative_to(root / "src" / "forerun").as_posix()):
            for node in public_functions(parsed(path)):
                named = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                found += [("parameter", x.annotation) for x in named if x.arg not in ("self", "cls")]
                found.append(("result", node.returns))
    return found


def longest_file(folder: str, kind: str) -> Callable[[Path], str]:
    def count(root: Path) -> str:
        paths = [path for path in (root / folder).rglob(kind) if "tests" not in path.relative_to(root / folder).parts]
        longest = max(paths, key=lambda path: len(text(path).splitlines()))
        return f"{len(text(longest).splitlines())} ({longest.relative_to(root / folder).as_posix()})"

    return count


def longest_python(root: Path) -> str:
    found = []
    for path in modules(root).values():
        for node in ast.walk(parsed(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                doc = node.body[0] if ast.get_docstring(node) else None
                inside = (doc.end_lineno or 0) - doc.lineno + 1 if doc else 0
                found.append(((node.end_lineno or 0) - node.lineno + 1 - inside, node.name))
    return "{} ({})".format(*max(found))


def functions_of_core(root: Path) -> Iterator[tuple[int, str]]:
    """Yield the length and the name of each function of core. It ends at a brace not further right than its head."""
    for path in core_files(root):
        lines = text(path).splitlines()
        for i, line in enumerate(lines):
            match = FUNCTION.match(line)
            if not match or "(" not in line or line.rstrip().endswith(("({", "[] {", "= {")):
                continue
            ends = (k for k in range(i + 1, len(lines)) if re.match(rf" {{0,{len(match[1])}}}\}}", lines[k]))
            yield next(ends, i) - i + 1, line.partition("(")[0].split()[-1]


def longest_core(root: Path) -> str:
    return "{} ({})".format(*max(functions_of_core(root)))


def member_functions(path: Path) -> dict[str, int]:
    """Return how many member functions each class of a C++ file declares."""
    classes = re.finditer(r"^(?:class|struct) (\w+)[^;{]*\{\n(.*?)^\};", text(path), re.MULTILINE | re.DOTALL)
    found = {match[1]: {m[1] for line in match[2].splitlines() if (m := METHOD.match(line))} for match in classes}
    no_functions = {"alignas", "operator", "bool", "void"}  # types of functions that fields hold, operators of fields
    return {
        name: len({n for n in names - no_functions - {name} if not n.endswith("_")}) for name, names in found.items()
    }


def largest_class(root: Path) -> str:
    """Count the member functions that the class with most of them declares."""
    count, name = max((n, name) for path in core_files(root) for name, n in member_functions(path).items())
    return f"{count} ({name})"


def terms() -> list[str]:
    """Return the terms of the glossary of the working tree."""
    blocks = re.findall(r"```\{glossary\}\n(.*?)\n```", text(GLOSSARY), re.DOTALL)
    return [term for block in blocks for term in re.findall(r"^(\w.*)$", block, re.MULTILINE)]


def terms_used(root: Path) -> str:
    """Count the glossary's terms that occur in src, core and docs, the glossary aside."""
    paths = [path for path in files(root, "src", "core", "docs") if path.name != "glossary.md"]
    everything = "\n".join(text(path).lower() for path in paths)
    found = [term for term in terms() if re.search(rf"\b{re.escape(term.lower())}", everything)]
    return f"{len(found)} of {len(terms())}"


def retired(root: Path) -> str:
    """Count the retired words in the prose of pages and of the package."""
    paths = [*files(root, "src", "docs"), root / "README.md", root / "CONTRIBUTING.md", root / "SECURITY.md"]
    return str(sum(1 for path in paths if path.suffix in {".py", ".md"} for _ in words.found(path)))


def largest_folder(root: Path) -> str:
    """Count the files of the fullest folder of src, core and tests."""
    counts: dict[str, int] = {}
    for path in files(root, "src", "core", "tests"):
        folder = path.parent.relative_to(root).as_posix()
        counts[folder] = counts.get(folder, 0) + 1
    return "{1} ({0})".format(*max(counts.items(), key=lambda item: item[1]))


COUNTS: dict[str, Callable[[Path], str]] = {
    **{
        f"files of src, core and docs that name a typical {what} (`{word}`)": partial(naming, word=word)
        for what, word in EXAMPLES.items()
    },
    "files of core outside of its folder that name a second kind of device (`pjrt`)": device_kind,
    "uses of the CPU's allocator, instructions and name in core, outside of the CPU's folders": knows_the_cpu,
    "kernels of the CPU that describe their operations to other devices": described_kernels,
    "circles of Python modules": circles_of_modules,
    "circles of C++ folders, those inside of one folder too": circles_of_includes,
    "modules that import the extension module": importers_of_core,
    "imports inside of functions": late_imports,
    "parameters annotated `Any`": share_of_any("parameter"),
    "results annotated `Any`": share_of_any("result"),
    "parameters of public functions annotated `Any`": share_of_any("parameter", public=True),
    "results of public functions annotated `Any`": share_of_any("result", public=True),
    "longest file of src, lines": longest_file("src/forerun", "*.py"),
    "longest file of core, lines": longest_file("core", "*.cpp"),
    "longest function of src, lines": longest_python,
    "longest function of core, lines": longest_core,
    "most member functions of a class": largest_class,
    "most files in a folder": largest_folder,
    "terms of the glossary in use": terms_used,
    "retired words in pages and in the package": retired,
}


def tree_of(ref: str, folder: Path) -> Path:
    """Unpack a commit into a folder."""
    packed = subprocess.run(["git", "-C", str(ROOT), "archive", ref], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def table(refs: list[str]) -> str:
    """Return the counts of commits and of the working tree as Markdown."""
    with tempfile.TemporaryDirectory() as folder:
        trees = {ref: tree_of(ref, Path(folder) / ref) for ref in refs} | {"working tree": ROOT}
        rows = [f"| count | {' | '.join(trees)} |", f"|---|{'---|' * len(trees)}"]
        rows += [f"| {what} | {' | '.join(count(tree) for tree in trees.values())} |" for what, count in COUNTS.items()]
    return "\n".join(rows)


def of_page(page: str) -> dict[str, str]:
    """Return the counts of the working tree that a page has, by their names."""
    rows = re.findall(r"^\| (.+?) \|.* \| ([^|]+) \|$", page.partition(START)[2].partition(END)[0], re.MULTILINE)
    return {what: count for what, count in rows if what != "count"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("refs", nargs="*", metavar="REF", help="a commit to compare with")
    parser.add_argument("--page", type=Path, help="a page to write the table into")
    given = parser.parse_args()
    found = table(given.refs)
    if not given.page:
        print(found)
        return
    page = text(given.page)
    given.page.write_text(re.sub(f"{START}\n.*?{END}", lambda _: f"{START}\n{found}\n{END}", page, flags=re.DOTALL))


if __name__ == "__main__":
    main()
