"""The package runs on old nodes and without the rest of gitcfg."""

import ast
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gitcfg.install

FOLDER = Path(gitcfg.install.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))
NEWER = {"tomllib", "zoneinfo", "graphlib"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FOLDER).as_posix())
def test_it_parses_as_python_3_9_and_imports_the_standard_library_only(file: Path) -> None:
    tree = ast.parse(file.read_text(), feature_version=(3, 9))
    for node in ast.walk(tree):
        assert type(node).__name__ not in ("Match", "TryStar")
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [node.module]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= len(file.relative_to(FOLDER).parts), f"line {node.lineno}"
        for name in names:
            assert name.partition(".")[0] in sys.stdlib_module_names - NEWER, name


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.relative_to(FOLDER).as_posix())
def test_it_uses_nothing_newer_than_python_3_9(file: Path) -> None:
    """What `from __future__ import annotations` does not cover, and keywords that came later."""
    tree = ast.parse(file.read_text())
    future = any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)
    assert future
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            words = {word.arg for word in node.keywords}
            assert not words & {"slots", "kw_only", "strict"}, f"{file.name}:{node.lineno}"
    for node in tree.body:
        if isinstance(node, ast.Assign):
            assert not any(
                isinstance(part, ast.BinOp) and isinstance(part.op, ast.BitOr) and _is_type(part.right)
                for part in ast.walk(node.value)
            ), f"{file.name}:{node.lineno}"


def _is_type(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


TEST = """
import sys
from gitcfg_agent.install.installation import install
from gitcfg_agent.install.package import Actions, Package
from gitcfg_agent.install.store import Place
from gitcfg_agent.install.policy import Policy
outcome = install(Place(sys.argv[1]), Package("n", "a" * 40, "b" * 64), Actions(), Policy.everything())
assert not any(name.startswith("gitcfg.") or name == "gitcfg" for name in sys.modules)
print(outcome.result)
"""


@pytest.mark.parametrize("shape", ["folder", "zip"])
def test_it_runs_alone(tmp_path: Path, shape: str) -> None:
    (tmp_path / "wheel/gitcfg_agent").mkdir(parents=True)
    (tmp_path / "wheel/gitcfg_agent/__init__.py").write_text("")
    shutil.copytree(FOLDER, tmp_path / "wheel/gitcfg_agent/install")
    where = tmp_path / "wheel"
    if shape == "zip":
        where = tmp_path / "agent.zip"
        with zipfile.ZipFile(where, "w") as archive:
            for file in (tmp_path / "wheel").rglob("*.py"):
                archive.write(file, file.relative_to(tmp_path / "wheel"))
    (tmp_path / "root").mkdir()
    code = f"import sys; sys.path.insert(0, {str(where)!r}); {TEST.strip()}".replace("; import sys\n", "\n")
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code, tmp_path / "root"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("unchanged\n", "")
