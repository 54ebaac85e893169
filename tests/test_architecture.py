"""How the packages lie: imports lead downward, without circles, and each third-party library has one home."""

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "gitcfg"

TIERS = {
    0: "bundled cache cel domain fs git install model nodeset parallel progress sandbox",
    1: "load compile",
    2: "check comparison explain pictures render solve",
    3: "convert edit editor generate history parsers rollout runs secrets state",
    4: "agent library",
    5: "delivery gate inventory output web",
    6: "deploy server",
    7: "cli",
}
TIER = {part: tier for tier, parts in TIERS.items() for part in parts.split()}
# Siblings, and steps within a tier, that the design allows.
ALLOWED = {
    ("git", "model"),
    ("cache", "git"),
    ("parallel", "model"),
    ("cel", "sandbox"),
    ("sandbox", "progress"),
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
    "ruamel": {"gitcfg/edit"},
    "pygit2": {"gitcfg/git"},
    "jsonschema": {"gitcfg/load"},
    "jsonschema_rs": {"gitcfg/load"},
    "ClusterShell": {"gitcfg/nodeset.py"},
    "cel_expr_python": {"gitcfg/cel/engine.py"},
    "jinja2": {"gitcfg/render/template_child", "gitcfg/convert/reference/html.py", "gitcfg/web/page.py"},
    "markupsafe": {"gitcfg/convert/reference/html.py"},
    "tomli_w": {"gitcfg/render/formats.py"},
    "sqlalchemy": {"gitcfg/state"},
    "psycopg": {"gitcfg/state"},
    "aiohttp": {"gitcfg/server", "gitcfg/cli/serve.py"},
    "uvloop": {"gitcfg/cli/serve.py"},
    "http_message_signatures": {"gitcfg/server"},
    "pyrage": {"gitcfg/secrets/age.py"},
    "fabric": {"gitcfg/deploy/ssh"},
    "paramiko": {"gitcfg/deploy/ssh"},
    "typer": {"gitcfg/cli"},
    "rich": {"gitcfg/cli"},
    "ortools": {"gitcfg/solve/cp_sat.py"},
}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax of each file, by its path from the root."""
    found = sorted(PACKAGE.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in found}


def imports(file: str) -> Iterator[tuple[str, str]]:
    """What a file imports, in functions and for type checking too: modules, and names from them or ""."""
    package = file.split("/")[:-1]
    for node in ast.walk(trees()[file]):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield from ((base, alias.name) for alias in node.names)


def part(file: str) -> str:
    """The package or module right below gitcfg that a file belongs to."""
    return file.split("/")[1].removesuffix(".py")


def test_imports_lead_downward() -> None:
    wrong = []
    for file in trees():
        own = part(file)
        if own in ("__init__", "__main__"):
            continue
        for module, name in imports(file):
            names = [*module.split("."), name]
            other = names[1]
            if names[0] != "gitcfg" or other in (own, "", "__version__") or (own, other) in ALLOWED:
                continue
            if TIER[other] >= TIER[own]:
                wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_a_library_has_one_home() -> None:
    wrong = []
    for file in trees():
        for module, _ in imports(file):
            homes = HOMES.get(module.partition(".")[0])
            if homes is not None and not any(file.startswith(home) for home in homes):
                wrong.append(f"{file} imports {module}")
    assert wrong == []


def test_each_module_says_what_it_is_for() -> None:
    assert [file for file, tree in trees().items() if not ast.get_docstring(tree)] == []


def test_below_the_command_line_nothing_prints_exits_or_catches_everything() -> None:
    wrong = []
    for file, tree in trees().items():
        if file.startswith("gitcfg/cli/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                if node.func.id in ("print", "exit"):
                    wrong.append(f"{file}:{node.lineno} {node.func.id}")
            elif isinstance(node, ast.ExceptHandler):
                caught = node.type.id if isinstance(node.type, ast.Name) else ""
                if node.type is None or caught == "Exception":
                    wrong.append(f"{file}:{node.lineno} catches everything")
    assert wrong == []


def test_modules_form_no_circles() -> None:
    """Imports in functions and for type checking count, too."""
    modules = {name_of(file): file for file in trees()}
    graph = {}
    for own, file in modules.items():
        pairs = ((module, f"{module}.{item}") for module, item in imports(file))
        found = {inner if inner in modules else module for module, inner in pairs}
        graph[own] = (found & modules.keys()) - {own, "gitcfg"}  # the root only exports, when it is asked
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def name_of(file: str) -> str:
    """Return the dotted name of a module."""
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
