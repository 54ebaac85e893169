"""What people read is plain English: words that we avoid are absent, and sentences are short."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "docs/dev/words.md"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "gitcfg/check/explanations").glob("*.md")),
]
MODULES = sorted((ROOT / "gitcfg").rglob("*.py"))
_FENCE = re.compile(r"^\s*(```+|~~~+).*?^\s*\1$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) ?)|\s\|\s")
_END = re.compile(r"(?<=[.!?:;])\s+(?=[A-Z\"X(*])")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
LONG, LONGEST, PART = 25, 40, 0.1


def avoided() -> list[tuple[re.Pattern[str], str]]:
    """Return each pattern of the guide with what to write instead."""
    block = re.search(r"```words\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    assert block
    lines = (re.split(r" {2,}", line, maxsplit=1) for line in block[1].splitlines())
    return [(re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), instead) for pattern, instead in lines]


AVOIDED = avoided()


def prose(text: str) -> str:
    """Return a page without blocks of code; what is in backticks becomes X, a link its text."""
    text = re.sub(r"`+[^`]*`+", "X", _FENCE.sub("", text))
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL))


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of prose: items of lists and cells of tables are apart."""
    for paragraph in _PARAGRAPH.split(text):
        for sentence in _END.split(" ".join(paragraph.split()).strip("-*|#> ")):
            if len(sentence.split()) > 2:
                yield sentence


def messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that people may read, with their lines: of three words and more."""
    tree = ast.parse(source)
    hidden = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED):
            hidden |= {id(each.value) for each in node.body if isinstance(each, ast.Expr)}
        if not isinstance(node, ast.expr):
            continue
        text = ""
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            text = node.value
        if len(text.split()) > 2:
            yield node.lineno, re.sub(r"`[^`]*`", "X", text)


def remarks(source: str) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, with their lines."""
    for node in ast.walk(ast.parse(source)):
        for part in getattr(node, "body", ()) if isinstance(node, DOCUMENTED) else ():
            if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                yield part.lineno, re.sub(r"`[^`]*`", "X", str(part.value.value))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", "X", token.string)


def faults(text: str) -> list[str]:
    """Return what is to be avoided in a text, with what to write instead."""
    found = ((pattern.search(text), instead) for pattern, instead in AVOIDED)
    return [f"{match[0]} (write: {instead})" for match, instead in found if match]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_uses_plain_words(page: Path) -> None:
    text = prose(page.read_text(encoding="utf-8"))
    assert [f"{sentence}: {faults(sentence)}" for sentence in sentences(text) if faults(sentence)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_messages_use_plain_words(module: Path) -> None:
    texts = messages(module.read_text(encoding="utf-8"))
    assert [f"{line}: {text}: {faults(text)}" for line, text in texts if faults(text)] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_docstrings_and_comments_use_plain_words(module: Path) -> None:
    texts = remarks(module.read_text(encoding="utf-8"))
    assert [f"{line}: {text}: {faults(text)}" for line, text in texts if faults(text)] == []


def test_sentences_are_short() -> None:
    found = [
        (len(sentence.split()), f"{page.relative_to(ROOT)}: {sentence}")
        for page in PAGES
        for sentence in sentences(prose(page.read_text(encoding="utf-8")))
    ]
    assert [sentence for words, sentence in found if words > LONGEST] == []
    assert sum(words > LONG for words, _ in found) <= PART * len(found)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("It is told twice.", True),
        ("This is no folder.", True),
        ("There is no folder.", False),
        ("It is no longer there.", False),
        ("Use a branch.", False),
    ],
)
def test_a_fault_is_found(text: str, fault: bool) -> None:
    assert bool(faults(text)) is fault
