"""Find words of a private language in pages, comments, messages and names, and print the term to use instead.

    python tools/words.py FILE ...      prints each one with its file and line

Of code only the names of functions, classes and files are read. docs/reference/glossary.md has the terms.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

_END = r"(?=[.,;:)\n]|$| (?:and|or|when|before|until|yet|already|again)\b)"  # of a clause

RETIRED = {  # a regular expression, and the term or the form to use instead
    # Engine
    r"\b(?:operations|ops|others|steps|kernels) (?:are |is |were )?joined\b|\bjoined (?:operations|ops)\b": "fused",
    r"\btakes? (?:no )?part in (?:the )?groups?\b": "is fused, is not fused",
    r"\b(?:find|finds|found) room\b|\bno room\b": "back-pressure; a free slot; memory is available",
    r"\bcrammed\b": "nearly full",
    r"\bthe bell\b|\brings? the bell\b": "completion queue",
    r"\bsleepers?\b": "parked worker, parked thread",
    r"\bdoor\b": "submission gate",
    r"\bg(?:ive|ives|ave|iving|iven) up\b": "abandon, cancel, stop",
    r"\blets? go\b|\bletting go\b": "release",
    r"\b(?:is|are|was|were|been|be) told\b|\btells? nobody\b": "report, notify",
    r"\bspoil(?:s|t|ed)?\b": "poison",
    r"\bplanner\b": "passes; scheduler",
    r"\b(?:gets?|makes?|made) (?:it |them |waiting \w+ )?better before\b": "optimize, rewrite",
    r"\b(?:its|their) turn\b": "program order",
    r"\bdozes?\b|\bdozing\b": "timed wait",
    r"\bunder ?way\b": "in flight, pending, running",
    r"\bbrought to rest\b|\bbrings? \w+ to rest\b|\bcomes? to rest\b": "drain, quiesce",
    r"\bhand(?:s|ed|ing)? round\b": "broadcast, all-reduce",
    r"\b(?:matri\w+|operands?|arrays?) (?:is|are|was|were) turned\b|\bturned matri": "transposed",
    r"\b(?:held|hold|holds|holding) up\b": "delay, block",
    r"\bone look\b|\ba look at\b|\blooks at (?:it|them) (?:alone|meanwhile)\b": "a read, reading",
    # Autograd
    r"\bwalk(?:s|ing|ed)? back\b|\bthe walk\b|\bback ?walk\b": "backward pass",
    r"\bback through the tape\b": "backward pass",
    r"\bways? back\b": "backward pass, gradient, inverse",
    # Sentences without a subject
    r"\bwhoever\b|\bwhomever\b": "name the thread, the caller or the operation",
    r"\bnobody\b": "no thread, no operation, no array; nothing",
    r"\b(?:some|any)body\b": "a user, a thread, a caller, an object",
    r"(?:^ *|[.:;] |\")Who \w+ (?![^.]*\?)": "a thread that, a program that, users who",
    r"\b(?:by|for|of|to|that|and|or|from|on|with) who (?!m\b)(?![^.]*\?)": "a thread that, a caller that",
    r"(?:^ *|[.:;] |\")What \w+(?![^.]*\?)": ("name it: an operation that, a value that, a file that"),
    r"\b(?:of|for|from|with|by|in|on|than|at|to) what (?:is|was|are|were|has|had|it|they|stands|waits)\b": (
        "a noun: the values that, the operations that"
    ),
    r"\bwhat (?:stands?|stood|remains?|comes|came|waits|needs|is left|is there|is not there)\b": "a noun, and a clause",
    r"\bwhat\s+(?:is|are|was|were|has|it|they|there|such|a|an|the)\b(?![^.]*\?)": "a noun, and a clause",
    r"\b(?:is|are|was|were|has|have|had)\s+(?-i:none)\b": "no X, does not exist, lacks X",
    # Verbs and adverbs in place of nouns
    r"\b(?:stands?|stood)\b(?!-| for\b)": "is, lies, is stored, comes, is written",
    r"\b(?:is|are|was|were) there" + _END: "is available, is computed, exists",
    r"(?<!here )(?<!here\n)\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b)\w": "is not a",
    r"\bcomes? again\b": "repeats",
    r"\b(?:is|are|was|were) (?:said|seen to)\b": "is logged, is printed, is reported",
    r"\bours\b|\bour (?:arrays?|own|kernels?|devices|backend|scalars|modules|ops|names)\b": "forerun's",
    r"\bone's own\b": "custom, user-defined",
    r"\bmended\b": "fixed",
    r"\b(?:not|never|is|are) believed\b": "trusted",
    r"\bhangs? on\b": "depends on",
    r"\bthe way there\b|\bon the way\b": "meanwhile, in between",
    r"\bwithout a word\b": "silently",
}
# Words of names of functions, classes and files, each with its term. A name is code, so that the list above misses it.
RETIRED_IN_NAMES = {
    "told": "is reported, is notified, is raised", "who": "the thread, the caller", "whoever": "the thread, the caller",
    "nobody": "unused, unread", "somebody": "another thread, a user", "anybody": "a user, a caller", "stands": "is",
    "stood": "was", "way_back": "backward",
    "standing": "waiting", "ours": "forerun's", "crammed": "nearly full", "bell": "completion queue",
    "sleeper": "parked thread", "sleepers": "parked threads", "door": "gate", "doze": "timed wait",
    "dozes": "timed wait", "spoil": "poison", "spoils": "poisons", "spoilt": "poisoned", "spoiled": "poisoned",
    "under_way": "pending", "given_up": "abandoned", "gives_up": "stops", "give_up": "abandon", "let_go": "release",
    "lets_go": "releases", "hand_round": "broadcast", "turned": "transposed, reversed", "unmet": "pending",
    "mended": "fixed", "believed": "trusted",
}  # fmt: skip
NAME = re.compile(r"(?:^|_)(" + "|".join(RETIRED_IN_NAMES) + r")(?=_|$)")
PYTHON_DEFINITION = re.compile(r"\b(?:def|class)\s+(\w+)")
CPP_FUNCTION = re.compile(
    r"^(?:  )?(?=\w)(?!return\b|else\b|if\b|for\b|while\b|switch\b)[\w:<>*&, ]*?[\s*&](?:\w+::)?(\w+)\(", re.MULTILINE
)
CPP_TYPE = re.compile(r"^(?:  )?(?:struct|class|enum class) (\w+)", re.MULTILINE)
PATTERNS = {
    # Where a capital begins a sentence, case counts.
    re.compile(pattern, re.MULTILINE | (0 if "Wh" in pattern else re.IGNORECASE)): term
    for pattern, term in RETIRED.items()
}
# Nearly all files are without them, as one search of a text in lower case finds.
ANY_WORD = re.compile(r"\b(?:" + "|".join(each for each in RETIRED if each.startswith(r"\b")) + ")", re.MULTILINE)
OTHERS = [pattern for pattern in PATTERNS if not pattern.pattern.startswith(r"\b")]

FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
WORD = re.compile(r"""\w?["']\w*["']""")  # a string that is a name
FIELD = re.compile(r"\{[^{}\n]*\}")  # code in an f-string
PYTHON_TOKEN = re.compile(  # of Python: comments and strings
    r"#[^\n]*|[bBfFrRuU]{0,2}(?:\"{3}(?:\\.|[^\\])*?\"{3}|'{3}(?:\\.|[^\\])*?'{3}"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')",
    re.DOTALL,
)
CPP_TOKEN = re.compile(  # of C++: comments and strings, and literals in which a quote does not begin a string
    r"//[^\n]*|/\*.*?\*/|R\"\((?:.|\n)*?\)\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'"
    r"|\b\d[\w']*|^[ \t]*#include[^\n]*",
    re.MULTILINE | re.DOTALL,
)
BLANKS = re.compile(r" {3,}|\n[ \n]*\n|_{3,}")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)


def prose(path: Path) -> str:
    """Return a file's text with all code blanked, so that lines and columns stay."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = _comments_and_strings(text)
        text = re.sub(r"^ *(?:>>>|\.\.\.) .*", _blank, text, flags=re.MULTILINE)
    elif path.suffix in (".h", ".cpp"):
        text = _comments_and_strings_of_cpp(text)
    else:
        text = FENCE.sub(_blank, text)
    return CODE.sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", "_", match[0])


def _comments_and_strings(text: str) -> str:
    kept, end = [], 0
    for match in PYTHON_TOKEN.finditer(text):
        token = match[0]
        if not WORD.fullmatch(token):
            code = token[:2].lower().strip("'\"").count("f") and "\n" not in token
            kept += [_spaces(text[end : match.start()]), FIELD.sub(_blank, token) if code else token]
            end = match.end()
    return "".join([*kept, _spaces(text[end:])])


def _spaces(code: str) -> str:
    return "\n".join(" " * len(line) for line in code.split("\n"))


def _comments_and_strings_of_cpp(text: str) -> str:
    kept = [c if c == "\n" else " " for c in text]
    for match in CPP_TOKEN.finditer(text):
        if match[0].startswith(("//", "/*", '"', "R")):
            kept[match.start() : match.end()] = match[0]
    return "".join(kept)


def found(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each retired word, the word, and its replacement."""
    text = prose(path)
    flat = re.sub(r"\n *(?:(?:#|//+) )?", lambda m: "\n" + " " * (len(m[0]) - 1), text)
    short = BLANKS.sub(lambda m: m[0][:2], flat)  # most of a program is blank
    possible = PATTERNS if ANY_WORD.search(short.lower()) else OTHERS
    for pattern in possible:
        term = PATTERNS[pattern]
        for match in pattern.finditer(flat) if pattern.search(short) else ():
            yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split()), term


def defined(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each function and class of a file, and the name of the file.

    Of Python only if one of the names may have a retired word.
    """
    yield 1, path.stem
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        if not any(NAME.search(_as_words(name)) for name in PYTHON_DEFINITION.findall(text)):
            return  # a syntax tree takes long, and would only tell definitions from text that looks like one
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        yield from ((node.lineno, node.name) for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))
    elif path.suffix in (".h", ".cpp"):
        for match in (*CPP_FUNCTION.finditer(text), *CPP_TYPE.finditer(text)):
            yield text.count("\n", 0, match.start()) + 1, match[1]


def found_in_names(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each name with a retired word, the name, and its replacement."""
    for line, name in defined(path):
        yield from ((line, name, RETIRED_IN_NAMES[match[1]]) for match in NAME.finditer(_as_words(name)))


def _as_words(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def main(names: list[str]) -> None:
    """Print the findings in files."""
    hits = sorted((name, *hit) for name in names for kind in (found, found_in_names) for hit in kind(Path(name)))
    for name, line, word, term in hits:
        print(f"{name}:{line}: {word!r}: {term}")
    sys.exit(bool(hits))


if __name__ == "__main__":
    main(sys.argv[1:])
