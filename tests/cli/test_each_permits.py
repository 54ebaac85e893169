"""`gitcfg check --each A..B --as WHO`: who may change what, by the rules of A."""

import json
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.test_commands import git
from tests.cli.test_each import commit

RULES = (
    "rules:\n  hosts: {allow: {by: [ann], params: [HOST]}}\n  web: {forbid: {by: [bob], groups: [default]}}\n"
)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """The fleet with rules; a change of a host's name, and one of a description."""
    git(tmp_path, "init", "--quiet")
    commit(
        tmp_path,
        "the fleet",
        gitcfg_yaml="format: 1\n",
        nodes__n_yaml="{}\n",
        parameters__p_yaml="parameters: {HOST: {description: The host., type: string}}\n",
        groups__default_yaml="description: All.\n",
        rules__who_yaml=RULES,
    )
    commit(tmp_path, "a host", nodes__n_yaml="params: {HOST: x}\n")
    commit(tmp_path, "words", groups__default_yaml="# Every node.\ndescription: All nodes.\n")
    return tmp_path


def refused(pool: Path, capfd: pytest.CaptureFixture[str], words: str, *more: str) -> list[list[list[str]]]:
    """The subjects of what is refused, by commit, and whether it exits so."""
    code = run(["-C", str(pool), "check", "--each", words, "-o", "json", *more])
    records = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    found = [[one["subjects"] for one in record["findings"] if one["code"] == "GC405"] for record in records]
    assert code == int(any(found))
    return found


def test_only_signers_are_charged_where_nobody_is_named(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert refused(pool, capfd, "HEAD~2..HEAD") == [[["HOST"]], []]


def test_who_pushes_is_charged_with_all_of_it(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert refused(pool, capfd, "HEAD~2..", "--as", "ann") == [[["HOST"]], []]
    assert refused(pool, capfd, "HEAD~2..", "--as", "bob") == [
        [["HOST"]],
        [["HOST", "bob"], ["default", "bob"]],
    ]
    assert refused(pool, capfd, "HEAD~1..", "--as", "ann") == [[]]


def test_rules_are_those_of_where_it_begins(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(pool, "rm", "--quiet", "rules/who.yaml")
    commit(pool, "no rules")
    commit(pool, "after", nodes__n_yaml="params: {HOST: y}\n")
    assert refused(pool, capfd, "HEAD~1..", "--as", "bob") == [[]]
    assert refused(pool, capfd, "HEAD~2..", "--as", "ann") == [[], [["HOST"]]]


def test_who_takes_all_away_is_charged_with_it(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(pool, "rm", "--quiet", "gitcfg.yaml")
    commit(pool, "gone")
    commit(pool, "back", gitcfg_yaml="format: 1\n")
    assert run(["-C", str(pool), "check", "--each", "HEAD~2..HEAD~1"]) == 1
    assert "may not change the parameter HOST" in capfd.readouterr().err


def test_rules_that_cannot_be_read_judge_nothing(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    commit(pool, "broken", rules__who_yaml="rules: [\n")
    commit(pool, "mended", rules__who_yaml=RULES)
    assert run(["-C", str(pool), "check", "--each", "HEAD~1.."]) == 2
    assert "Cannot read the permission rules in " in capfd.readouterr().err


def test_it_goes_with_a_range(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["-C", str(pool), "check", "--as", "ann"]) == 2
    assert "--as needs --each." in capfd.readouterr().err
