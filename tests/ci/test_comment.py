"""One comment a request: found again among others, changed, and never somebody else's."""

import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ci.forge import TOKEN, Forge, serving
from tests.ci.job import CI

PROGRAM = runpy.run_path(str(CI / "comment.py"))
USERS = {"github": "github-actions[bot]", "forgejo": "ada", "gitlab": "project_42_bot"}
MARK = "<!-- gitcfg . -->\n"


@pytest.fixture(params=["github", "forgejo", "gitlab"])
def forge(request: pytest.FixtureRequest) -> Iterator[Forge]:
    with serving(Forge(request.param, USERS[request.param])) as found:
        yield found


def put(forge: Forge, tmp_path: Path, text: str, **said: str) -> Any:
    file = tmp_path / "text.md"
    file.write_text(text, encoding="utf-8")
    names = {
        "GITCFG_API": forge.address,
        "GITCFG_PROJECT": "42" if forge.kind == "gitlab" else "ada/pool",
        "GITCFG_NUMBER": "7",
        "GITCFG_TOKEN": TOKEN,
    }
    return PROGRAM["main"]([forge.kind, str(file)], {**names, **said})


def test_the_first_is_written_and_the_next_changes_it(forge: Forge, tmp_path: Path) -> None:
    forge.add("Nice!", "bob")
    assert put(forge, tmp_path, "one ☃\n") == 0
    assert put(forge, tmp_path, "two\n") == 0
    assert forge.bodies() == ["Nice!", f"{MARK}two\n"]


def test_it_is_found_on_any_page(forge: Forge, tmp_path: Path) -> None:
    for number in range(150):
        forge.add(f"{number}", "bob")
    assert put(forge, tmp_path, "one\n") == 0
    for number in range(150):
        forge.add(f"{number}", "bob")
    assert put(forge, tmp_path, "two\n") == 0
    assert [body for body in forge.bodies() if body.startswith(MARK)] == [f"{MARK}two\n"]


def test_what_others_write_stays_theirs(forge: Forge, tmp_path: Path) -> None:
    forge.add(f"{MARK}All is well, believe me.", "mallory")
    assert put(forge, tmp_path, "one\n") == 0
    assert forge.bodies() == [f"{MARK}All is well, believe me.", f"{MARK}one\n"]


def test_two_repositories_in_one_project_have_a_comment_each(forge: Forge, tmp_path: Path) -> None:
    for folder in ("a", "b", "a"):
        assert put(forge, tmp_path, f"{folder}\n", GITCFG_MARK=folder) == 0
    assert forge.bodies() == [f"<!-- gitcfg {folder} -->\n{folder}\n" for folder in ("a", "b")]


def test_what_is_too_long_says_where_it_is_whole(forge: Forge, tmp_path: Path) -> None:
    text = "### 3 nodes\n\n- Restart: x\n\n<details open>\n" + "é" * 900_000
    assert put(forge, tmp_path, text, GITCFG_ELSEWHERE="Look there.") == 0
    expected = "### 3 nodes\n\n- Restart: x\n\nThe details are too long for a comment. Look there.\n"
    assert forge.bodies() == [MARK + expected]


def test_a_refusal_is_told(forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forge.may_write = False
    assert put(forge, tmp_path, "one\n") == 1
    said = capsys.readouterr().err
    assert "error: Cannot write the comment: HTTP Error 403" in said
    assert TOKEN not in said
    assert forge.bodies() == []


def test_a_wrong_token_is_told(forge: Forge, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert put(forge, tmp_path, "one\n", GITCFG_TOKEN="other") == 1
    assert "HTTP Error 401" in capsys.readouterr().err


def test_a_forge_that_is_away_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Forge("github", USERS["github"])) as forge:
        pass
    assert put(forge, tmp_path, "one\n") == 1
    assert "error: Cannot write the comment: " in capsys.readouterr().err
