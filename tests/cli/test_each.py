"""`gitcfg check --each`: every commit of a range as `git rev-list` has it, each judged as if alone."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from gitcfg.cli.main import run
from tests.cli.published import judge
from tests.cli.test_commands import git

NODES = "nodes: n[1-3]\n"
GOOD = "params: {X: 1}\n"
WRONG = "params: {X: 1, Y: 2}\n"


def commit(folder: Path, subject: str, **files: str) -> str:
    for name, text in files.items():
        place = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", subject)
    return git(folder, "rev-parse", "HEAD").strip()


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """main: without gitcfg, the fleet, a mistake, topic merged, mended; topic: the fleet and a change."""
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "nothing yet", README="x\n")
    commit(
        tmp_path,
        "the fleet",
        gitcfg_yaml="format: 1\n",
        nodesets__n_yaml=NODES,
        parameters__p_yaml="parameters: {X: {description: X., type: integer}}\n",
        groups__default_yaml=GOOD,
    )
    git(tmp_path, "checkout", "--quiet", "-b", "topic")
    commit(tmp_path, "a change", nodes__a_yaml="description: A.\n")
    git(tmp_path, "checkout", "--quiet", "main")
    commit(tmp_path, "a mistake\x1b[31m of 100%", groups__default_yaml=WRONG)
    git(tmp_path, "merge", "--quiet", "--no-edit", "topic")
    commit(tmp_path, "mended", groups__default_yaml=GOOD)
    return tmp_path


def listed(pool: Path, words: str) -> list[str]:
    return git(pool, "rev-list", "--topo-order", "--reverse", words).split()


def records(pool: Path, capfd: pytest.CaptureFixture[str], words: str, form: str) -> list[dict[str, object]]:
    run(["-C", str(pool), "check", "--each", words, "-o", form])
    out = capfd.readouterr().out
    for line in out.splitlines() if form != "yaml" else []:
        judge(line, "json")
    return (
        list(yaml.safe_load_all(out)) if form == "yaml" else [json.loads(line) for line in out.splitlines()]
    )


@pytest.mark.parametrize("form", ["json", "yaml"])
@pytest.mark.parametrize(
    "words", ["main~3..main", "main~2..", "topic..main", "main..topic", "main~1^2..main"]
)
def test_a_record_is_of_each_commit_and_says_what_a_check_of_it_says(
    pool: Path, capfd: pytest.CaptureFixture[str], words: str, form: str
) -> None:
    found = records(pool, capfd, words, form)
    assert {record["commit"] for record in found} == set(listed(pool, words))
    for record in found:
        run(["-C", str(pool), "check", "--at", str(record["commit"]), "-o", "json"])
        assert json.loads(capfd.readouterr().out) == record


def test_parents_come_first(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    commits = [record["commit"] for record in records(pool, capfd, "main~3..main", "json")]
    assert len(commits) == 4
    for place, commit in enumerate(commits):
        parents = git(pool, "rev-parse", f"{commit}^@").split()
        assert set(parents) & set(commits) <= set(commits[:place])


def test_lines_are_findings(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = records(pool, capfd, "main~3..main", "jsonl")
    wrong = git(pool, "rev-parse", "main~2", "main~1").split()
    assert [(line["schema"], line["commit"]) for line in found if line["code"] == "GC201"] == [
        ("gitcfg.finding/1", commit) for commit in wrong
    ]


def test_the_exit_code_is_of_the_worst(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    expected = {"main~3..main": 1, "main~1..main": 0, "main~2..topic": 0, "main..main": 0}
    assert {words: run(["-C", str(pool), "check", "--each", words]) for words in expected} == expected


def test_headlines_hold_no_commands_for_terminals(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run(["-C", str(pool), "check", "--each", "main~3..main~2"])
    assert "n: a mistake\\x1b[31m of 100%\n" in capfd.readouterr().out


def test_what_is_no_configuration_is_said_and_skipped(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(pool, "rm", "--quiet", "gitcfg.yaml")
    commit(pool, "gone")
    commit(pool, "back", gitcfg_yaml="format: 1\n")
    assert run(["-C", str(pool), "check", "--each", "main~2..", "-o", "json"]) == 0
    out, err = capfd.readouterr()
    assert [json.loads(line)["commit"] for line in out.splitlines()] == listed(pool, "main~1..")
    assert "note: There is no gitcfg.yaml in " in err
    assert "n: gone\nNo errors in 1 commit.\n" in err


def test_a_link_is_no_configuration_nor_is_what_was_before(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (pool / "gitcfg.yaml").unlink()
    (pool / "gitcfg.yaml").symlink_to("README")
    commit(pool, "a link")
    (pool / "gitcfg.yaml").unlink()
    commit(pool, "back", gitcfg_yaml="format: 1\n")
    assert run(["-C", str(pool), "check", "--each", "HEAD~3.."]) == 0
    assert "n: a link\nNo errors in 2 commits.\n" in capfd.readouterr().err


def test_below_gits_top(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    git(tmp_path, "init", "--quiet")
    commit(tmp_path, "elsewhere", gitcfg_yaml="format: 1\n")
    first = commit(tmp_path, "the fleet", site__gitcfg_yaml="format: 1\n", site__groups__default_yaml=WRONG)
    second = commit(tmp_path, "unlike", README="x\n")
    assert run(["-C", str(tmp_path / "site"), "check", "--each", "HEAD~2..", "-o", "json"]) == 1
    found = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [record["commit"] for record in found] == [first, second]
    origins = [origin["file"] for record in found for f in record["findings"] for origin in f["origins"]]
    assert set(origins) == {"groups/default.yaml"}


def test_a_shallow_clone_says_what_it_lacks(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    base = git(pool, "rev-parse", "main~3").strip()
    subprocess.run(
        ["git", "clone", "--quiet", "--depth=1", f"file://{pool}", str(pool / "clone")],
        check=True,
        capture_output=True,
    )
    assert run(["-C", str(pool / "clone"), "check", "--each", f"{base}.."]) == 2
    assert f"There is no revision {base}." in capfd.readouterr().err
