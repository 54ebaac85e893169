"""The packages import downward only, and each third-party library has one home."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gitcfg"

TIERS = {
    "model": 0,
    "graph": 0,
    "git": 0,
    "cache": 0,
    "cel": 0,
    "domain": 0,
    "guard": 0,
    "nodeset": 0,
    "markdown": 0,
    "bundled": 0,
    "install": 0,
    "workers": 0,
    "secrets": 3,
    "load": 1,
    "compile": 1,
    "check": 2,
    "comparison": 2,
    "explain": 2,
    "picture": 2,
    "render": 2,
    "solve": 2,
    "generate": 3,
    "convert": 3,
    "edit": 3,
    "editor": 3,
    "history": 3,
    "agent": 4,
    "parsers": 3,
    "output": 3,
    "rollout": 3,
    "state": 3,
    "library": 4,
    "delivery": 5,
    "inventory": 5,
    "published": 5,
    "web": 5,
    "gate": 5,
    "deploy": 6,
    "server": 6,
    "cli": 7,
}
# Siblings, and steps within a tier, that the design allows.
ALLOWED = {
    ("git", "model"),
    ("cache", "git"),
    ("workers", "model"),
    ("markdown", "model"),
    ("cel", "guard"),
    ("domain", "model"),
    ("convert", "parsers"),
    ("editor", "edit"),
    ("compile", "load"),
    ("check", "render"),
    ("explain", "render"),
    ("comparison", "render"),
    ("state", "rollout"),
}
HOMES = {
    "yaml": {"gitcfg/load/yaml.py"},
    "pygit2": {"gitcfg/git"},
    "jsonschema": {"gitcfg/load"},
    "jsonschema_rs": {"gitcfg/load"},
    "ClusterShell": {"gitcfg/nodeset.py"},
    "cel_expr_python": {"gitcfg/cel"},
    "jinja2": {"gitcfg/render/template_child", "gitcfg/convert/reference/page.py", "gitcfg/web/page.py"},
    "markupsafe": {"gitcfg/convert/reference/page.py"},
    "tomli_w": {"gitcfg/render/formats/toml.py"},
    "sqlalchemy": {"gitcfg/state"},
    "psycopg": {"gitcfg/state"},
    "aiohttp": {"gitcfg/server", "gitcfg/cli/serving/command.py"},
    "uvloop": {"gitcfg/cli/serving/command.py"},
    "http_message_signatures": {"gitcfg/server"},
    "pyrage": {"gitcfg/secrets/age.py"},
    "fabric": {"gitcfg/deploy/ssh"},
    "paramiko": {"gitcfg/deploy/ssh"},
    "typer": {"gitcfg/cli"},
    "rich": {"gitcfg/cli"},
    "ortools": {"gitcfg/solve/sat.py"},
}

FILES = sorted(path.relative_to(ROOT).as_posix() for path in PACKAGE.rglob("*.py"))


def imports(file: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def part(file: str) -> str:
    return file.split("/")[1].removesuffix(".py")


@pytest.mark.parametrize("file", FILES)
def test_imports_lead_downward(file: str) -> None:
    own = part(file)
    if own in ("__init__", "__main__"):
        return
    for module in imports(file):
        name, _, rest = module.partition(".")
        other = rest.split(".")[0]
        if name != "gitcfg" or not other or other == own or (own, other) in ALLOWED:
            continue
        assert TIERS[other] < TIERS[own], f"{file} imports {module}"


@pytest.mark.parametrize("file", FILES)
def test_a_library_has_one_home(file: str) -> None:
    for module in imports(file):
        homes = HOMES.get(module.partition(".")[0])
        assert homes is None or any(file.startswith(home) for home in homes), f"{file} imports {module}"


@pytest.mark.parametrize("file", FILES)
def test_a_module_says_what_it_is_for(file: str) -> None:
    text = ast.get_docstring(ast.parse((ROOT / file).read_text())) or ""
    assert text.splitlines()[:1], f"{file} has no docstring"


@pytest.mark.parametrize("file", [file for file in FILES if not file.startswith("gitcfg/cli/")])
def test_below_the_command_line_nothing_prints_exits_or_catches_everything(file: str) -> None:
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in ("print", "exit"), f"{file}:{node.lineno}"
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.id if isinstance(node.type, ast.Name) else ""
            assert node.type is not None, f"{file}:{node.lineno}"
            assert caught != "Exception", f"{file}:{node.lineno}"
