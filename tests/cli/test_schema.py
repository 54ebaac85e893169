"""`gitcfg schema` on a real repository: what it writes, what it leaves alone, and what it says."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run

SAMPLE = Path(__file__).parent.parent.parent / "sample-repo"


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A repository in git, with everything committed."""
    folder = tmp_path / "pool"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns(".gitcfg"))
    who = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    for words in (("init", "-q"), ("add", "--all"), ("commit", "-q", "-m", "start")):
        subprocess.run(["git", "-C", str(folder), *who, *words], check=True)
    return folder


def schema(pool: Path, *words: str) -> int:
    return run(["-C", str(pool), "schema", *words])


def status(pool: Path) -> str:
    words = ["git", "-C", str(pool), "status", "--porcelain"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def test_schemas_are_no_part_of_the_repository(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert schema(pool) == 0
    assert ".gitcfg/schema/groups.json" in capfd.readouterr().out.splitlines()
    assert status(pool) == ""
    assert run(["-C", str(pool), "check"]) == 0


def test_they_are_written_where_they_differ(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert schema(pool, "--check") == 1
    assert not (pool / ".gitcfg").exists()
    assert schema(pool) == 0
    assert schema(pool, "--check") == 0
    capfd.readouterr()
    (pool / "features/New.yaml").write_text("description: New.\n")
    assert schema(pool, "--check") == 1
    written = capfd.readouterr().out.splitlines()
    assert ".gitcfg/schema/groups.json" in written
    assert ".gitcfg/schema/gitcfg.json" not in written
    assert schema(pool) == 0
    groups = json.loads((pool / ".gitcfg/schema/groups.json").read_text())
    assert "New" in groups["definitions"]["feature"]["enum"]


def test_files_get_the_line_once(pool: Path) -> None:
    before = {path: path.read_bytes() for path in pool.rglob("*.yaml")}
    assert schema(pool, "--modelines") == 0
    for path, content in before.items():
        line, _, rest = path.read_bytes().partition(b"\n")
        assert rest == content
        named = path.parent / line.decode().partition("$schema=")[2]
        assert named.resolve().is_relative_to(pool / ".gitcfg/schema")
        assert named.is_file()
    assert schema(pool, "--modelines", "--check") == 0
    assert run(["-C", str(pool), "check"]) == 0


def test_settings_of_an_editor_are_merged(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert schema(pool, "--vscode") == 0
    settings = pool / ".vscode/settings.json"
    assert "./.gitcfg/schema/nodes.json" in json.loads(settings.read_text())["yaml.schemas"]
    settings.write_text("// mine\n{}\n")
    assert schema(pool, "--vscode") == 4
    assert settings.read_text() == "// mine\n{}\n"
    assert "yaml.schemas" in capfd.readouterr().err


def test_they_can_be_written_elsewhere(pool: Path, tmp_path: Path) -> None:
    assert schema(pool, "--out", str(tmp_path / "out")) == 0
    assert not (pool / ".gitcfg").exists()
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written[:2] == ["allocations.json", "features.json"]
    assert schema(pool, "--out", str(tmp_path / "out"), "--modelines") == 2
    assert status(pool) == ""


def test_nothing_is_written_through_a_link(pool: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (pool / ".gitcfg").symlink_to(tmp_path / "elsewhere")
    assert schema(pool) == 4
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_only_what_was_written_is_listed(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The second cannot be: a file lies where its folder is to be."""
    (pool / ".gitcfg").mkdir()
    (pool / ".gitcfg/schema").write_text("no folder\n")
    assert schema(pool) == 2
    assert capfd.readouterr().out == ".gitcfg/.gitignore\n"
    assert [path.name for path in (pool / ".gitcfg").iterdir() if path.name != "schema"] == [".gitignore"]
