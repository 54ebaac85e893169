"""Where no server keeps its state nothing is told of one, and nothing is made."""

import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from gitcfg.state.state import connect


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "clone"
    (place / "nodes").mkdir(parents=True)
    (place / "gitcfg.yaml").write_text("format: 1\n")
    (place / "nodes/n1.yaml").write_text("groups: []\n")
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
        subprocess.run(["git", *who, *words], cwd=place, check=True)
    for name in ("REPO", "DATABASE", "STATE", "SERVER", "TOKEN"):
        monkeypatch.delenv(f"GITCFG_{name}", raising=False)
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize(
    "words",
    [
        "release status",
        "release resume HEAD",
        "release abort HEAD",
        "wait HEAD",
        "serve token list",
        "serve token revoke a",
        "serve token create a",
        "node list --pending",
        "node accept n1 --yes",
        "node forget n1",
    ],
)
def test_it_is_refused_and_nothing_is_left_behind(
    words: str, clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(words.split()) == 2
    said = capfd.readouterr().err
    assert "--database" in said, said
    assert ("--server" in said) == (not words.startswith("serve ")), said
    assert not list(clone.rglob("state.db"))
    assert not (clone / ".git/gitcfg-server").exists()


@pytest.mark.parametrize("words", ["release status", "serve token create a"])
def test_a_folder_that_is_said_and_empty_is_refused_too(
    words: str, clone: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run([*words.split(), "--state", "nowhere"]) == 2
    assert "does not exist" in capfd.readouterr().err
    assert not (clone / "nowhere").exists()


@pytest.mark.parametrize("words", ["release status", "serve token create a", "wait HEAD", "inventory"])
def test_an_empty_file_stays_empty(words: str, clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = clone / "empty.db"
    file.touch()
    assert run([*words.split(), "--database", f"sqlite:///{file}"]) == 2
    assert "No server has used this database yet." in capfd.readouterr().err
    assert file.stat().st_size == 0


def test_what_is_written_beats_the_environment_and_two_are_refused(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two"):
        (clone / name).mkdir()
        connect(f"sqlite:///{clone}/{name}/state.db").close()
    monkeypatch.setenv("GITCFG_SERVER", "http://127.0.0.1:1")
    assert run(["release", "status"]) == 2
    assert run(["release", "status", "--state", "one"]) == 0
    assert run(["release", "status", "--database", f"sqlite:///{clone}/two/state.db"]) == 0
    capfd.readouterr()
    assert run(["release", "status", "--state", "one", "--server", "http://127.0.0.1:2"]) == 2
    assert "Cannot combine --server with --state" in capfd.readouterr().err
    monkeypatch.setenv("GITCFG_DATABASE", f"sqlite:///{clone}/two/state.db")
    assert run(["release", "status", "--state", "one"]) == 2
    assert "name two databases" in capfd.readouterr().err
    assert run(["release", "status", "--server", "http://127.0.0.1:2"]) == 2
    assert "127.0.0.1:2 does not answer" in capfd.readouterr().err


def test_what_is_no_database_is_named(clone: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (clone / "other.db").write_text("this is no database, whatever it may be called\n" * 99)
    assert run(["release", "status", "--database", f"sqlite:///{clone}/other.db"]) == 2
    said = capfd.readouterr().err
    assert f"{clone}/other.db" in said
    assert "hint: Check that it is the server's file" in said
