"""The carried program: the code that it was made of, and nothing that is only read by people."""

import ast
import json

import pytest

from gitcfg.deploy.program import command, program
from tests.test_architecture import ROOT

SOURCES = json.loads(program().text.partition(b"\0")[2])
FOLDER = ROOT / "gitcfg/install"


def statements(text: str) -> str:
    """The code, without what stands there only to be read."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [one for one in node.body if not _says_nothing(one)]
    return ast.dump(tree)


def _says_nothing(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SOURCES))
def test_the_same_code_on_the_same_lines(name: str) -> None:
    path = FOLDER / f"{name.replace('.', '/')}.py"
    text = path.read_text("utf-8")
    assert statements(SOURCES[name]) == statements(text)
    assert SOURCES[name].count("\n") == text.count("\n")
    assert '"""' not in SOURCES[name]
    compile(SOURCES[name], name, "exec")


def test_all_of_it_is_carried() -> None:
    files = {str(path.relative_to(FOLDER))[:-3].replace("/", ".") for path in FOLDER.rglob("*.py")}
    assert set(SOURCES) == files


def test_what_speaks_before_sudo_speaks_only_where_there_is_one() -> None:
    assert "gitcfg-far/1 line" not in command()
    assert command(("sudo", "-n", "--")).startswith("echo gitcfg-far/1 line; sudo -n -- /bin/sh -c ")
