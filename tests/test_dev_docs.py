"""The pages for people who work on gitcfg name what is there, and the glossary's words are kept to."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ["CONTRIBUTING.md", *sorted(f"docs/dev/{page.name}" for page in (ROOT / "docs/dev").glob("*.md"))]
_PATH = re.compile(r"`((?:gitcfg|tests|schema|hooks|bench|docs)/[^`\s{]*)`")
_DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_WORD = re.compile(r"[A-Z]?[a-z]+")
_FORBIDDEN = re.compile(r"```forbidden\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_paths_exist(page: str) -> None:
    named = [path.partition(":") for path in _PATH.findall((ROOT / page).read_text())]
    assert [name for name, _, function in named if not exists(name.replace("GCnnn", "GC518"), function)] == []


def exists(name: str, function: str) -> bool:
    """Return whether a file or folder is there and, where a function or class is named too, defines that."""
    found = list(ROOT.glob(name.removesuffix("/")))
    definition = rf"^\s*(async )?(def|class) {function.rpartition('.')[2]}\b"
    return bool(found) and (not function or bool(re.search(definition, found[0].read_text(), re.MULTILINE)))


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", (ROOT / page).read_text())
    assert [
        link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()
    ] == []


def names(path: Path) -> list[str]:
    """Return the names that a module defines, and its own."""
    nodes = ast.walk(ast.parse(path.read_text()))
    return [path.stem, *(node.name for node in nodes if isinstance(node, _DEFINITION))]


def test_names_are_words_of_the_field() -> None:
    found = _FORBIDDEN.search((ROOT / "docs/dev/glossary.md").read_text())
    assert found
    words = set(found[1].split())
    assert [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "gitcfg").rglob("*.py")
        for name in names(path)
        if words & {word.lower() for word in _WORD.findall(name)}
    ] == []
