"""The wheel gitcfg-agent: installed alone, it is a whole program that needs nothing but cryptography."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.agent.site import CONFIG, ROOT, Site

PARTS = sorted([*(ROOT / "gitcfg/agent").glob("*.py"), *(ROOT / "gitcfg/install").glob("*.py")])
ALLOWED = {"cryptography", "tomli"}
UNITS = sorted((ROOT / "hooks/systemd").glob("gitcfg-agent*"))


@pytest.mark.parametrize("file", PARTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_module_imports_only_what_the_wheel_has(file: Path) -> None:
    for node in ast.walk(ast.parse(file.read_text(), feature_version=(3, 9))):
        if isinstance(node, ast.Import):
            names = [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 2
            names = [] if node.level else [str(node.module).split(".")[0]]
            if node.level == 2:
                assert node.module is None or node.module.split(".")[0] == "install"
        else:
            continue
        allowed = ALLOWED if file.parent.name == "agent" else set()
        assert not set(names) - set(sys.stdlib_module_names) - allowed - {"__future__"}, names


def test_the_wheels_files_are_there() -> None:
    said = (ROOT / "agent/pyproject.toml").read_text()
    paths = re.findall(r'^"(\.\./[^"]+)" =', said, re.MULTILINE)
    assert len(paths) == 5 + len(UNITS)
    assert "../gitcfg/py.typed" in paths
    assert all((ROOT / "agent" / path).exists() for path in paths)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.name)
def test_units_are_what_systemd_takes(unit: Path, tmp_path: Path) -> None:
    for one in UNITS:
        (tmp_path / one.name).write_text(one.read_text().replace("/usr/bin/gitcfg-agent", "/bin/true"))
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:"}
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", tmp_path / unit.name],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, out of its wheel, in a venv where nothing else was installed."""
    folder = tmp_path_factory.mktemp("alone")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    built = subprocess.run(
        [*pip, "wheel", "--no-deps", "-w", folder, ROOT / "agent"], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    (wheel,) = folder.glob("*.whl")
    python = folder / "venv/bin/python"
    done = subprocess.run([python, *pip[1:], "install", wheel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "venv/bin/gitcfg-agent"


@pytest.mark.slow
def test_it_runs_without_gitcfg(program: Path, site: Site) -> None:
    def agent(*words: str) -> "subprocess.CompletedProcess[str]":
        line = [str(program), *words, "--root", str(site.world.root)]
        return subprocess.run(line, capture_output=True, text=True, cwd="/")

    site.offer("one\n", "a")
    site.accept()
    done = agent("run", "--once")
    assert (done.returncode, site.world.runs_with("app")) == (0, "one\n"), done.stderr
    assert site.book.results == [("a", "ok")]
    site.world.write(CONFIG, "by hand\n")
    assert agent("drift").returncode == 1
    assert agent("status").stdout.startswith("node      n1\n")


@pytest.mark.slow
def test_it_imports_nothing_else(program: Path, site: Site) -> None:
    site.offer("one\n", "a")
    site.accept()
    python = program.parent / "python"
    code = (
        "import sys; from gitcfg_agent.agent.main import main;"
        f"main(['run', '--once', '--root', {str(site.world.root)!r}]);"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, cwd="/")
    assert site.book.results == [("a", "ok")], done.stderr
    found = set(done.stdout.split()) - set(sys.stdlib_module_names) - {"__main__"}
    # The last one is of setuptools, which old versions of venv bring along.
    known = {"gitcfg_agent", "cryptography", "_cffi_backend", "_openssl", "_distutils_hack"}
    assert found <= known
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format", "freeze"], capture_output=True, text=True
    ).stdout
    assert not re.search("^gitcfg==", listed, re.MULTILINE)


NEVER = {
    *("dataclasses", "inspect", "shutil", "subprocess", "email", "http.client", "ssl", "random", "platform"),
    *("urllib.parse", "encodings.idna", "cryptography.hazmat.primitives.serialization"),
}


@pytest.mark.parametrize(
    ("words", "without"),
    [
        (["drift"], {*NEVER, "socket", "tomllib", "cryptography"}),
        (["status"], {*NEVER, "socket", "cryptography"}),
        (["key"], {*NEVER, "socket", "cryptography"}),
        (["run", "--once"], NEVER),
    ],
    ids=lambda one: " ".join(one) if isinstance(one, list) else "",
)
def test_what_is_not_needed_is_not_imported(site: Site, words: list[str], without: set[str]) -> None:
    """Each of these would add 2 to 25 ms of processor time to each start (Python itself: 11)."""
    site.configure(server="http://127.0.0.1:9")
    site.agent("key")
    line = [*words, "--root", str(site.world.root)]
    code = f"import sys; from gitcfg.agent.main import main; main({line!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout.splitlines()[-1].split()) & without


def test_a_daemon_has_its_whole_program_from_its_start_on(site: Site) -> None:
    """What it imports later must be Python's: its own files may be another version's by then."""
    code = (
        "import sys, gitcfg.agent.main, gitcfg.agent.rounds\n"
        "gitcfg.agent.rounds.load_whole_program()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    loaded = set(done.stdout.split())
    others = {"gitcfg.agent.status"}
    wanted = {f"gitcfg.{one.parent.name}.{one.stem}" for one in PARTS if one.stem != "__init__"}
    assert wanted - loaded == others, done.stderr
