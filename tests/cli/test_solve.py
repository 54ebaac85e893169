"""`gitcfg solve`: what is told, written and committed, and what is said where there is no answer."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.completing import write
from tests.cli.published import judge

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/all.yaml": "parameters:\n  port: {description: It., type: integer}\n",
    "features/Mail.yaml": "description: Mail.\n",
    "features/Web.yaml": "description: Web.\nconflicts: [Mail]\n",
    "groups/default.yaml": "description: All.\n",
    "nodes/n1.yaml": "{}\n",
    "nodes/n2.yaml": "features: [Web]\n",
    "nodes/n10.yaml": "{}\n",
    "rules/r.yaml": "rules:\n  mails: {install: Mail, count: 2}\n  ports: {domain: {port: [80, 90]}}\n",
}
MAILS = "# What `gitcfg solve` decided for the rule mails. Change the rule, not this file.\ninstall:\n"


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], check=True)
    for key, value in (("user.name", "n"), ("user.email", "e@example.org")):
        subprocess.run(["git", "config", key, value], check=True)
    return tmp_path


def test_it_is_told_and_written_and_then_nothing_is_left(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = "mails\n  + Mail on n[1,10]\nports\n  + port = 80 on n[1-2,10]\n"
    assert run(["solve", "--dry-run"]) == 0
    assert capfd.readouterr().out == plan
    assert not (pool / "allocations").exists()
    assert run(["solve"]) == 0
    assert capfd.readouterr().out == f"{plan}created allocations/mails.yaml\ncreated allocations/ports.yaml\n"
    assert (pool / "allocations/mails.yaml").read_text() == f"{MAILS}  - n1\n  - n10\n"
    assert run(["solve"]) == 0
    assert capfd.readouterr() == ("", "Nothing is left to decide.\n")


def test_it_is_committed_only_if_what_it_follows_from_is(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["solve", "--commit"]) == 2
    told = capfd.readouterr().err
    assert "uncommitted changes: features/Mail.yaml, features/Web.yaml, gitcfg.yaml and 6 more.\n" in told
    assert not (pool / "allocations").exists()
    committed("Begin")
    (pool / "README.md").write_text("Nothing that anything follows from.\n")
    assert run(["solve", "--commit"]) == 0
    (pool / "nodes/n2.yaml").write_text("features: [Mail]\n")
    (pool / "nodes/n1.yaml").write_text("state: retired\n")
    assert run(["solve", "--commit"]) == 2
    assert "uncommitted changes: nodes/n1.yaml, nodes/n2.yaml.\n" in capfd.readouterr().err
    assert run(["solve"]) == 0


def test_an_edit_and_what_it_leaves_open_are_one_commit(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def commits() -> int:
        return len(subprocess.check_output(["git", "log", "--format=%H"]).split())

    assert run(["solve"]) == 0
    committed("Begin")
    before = commits()
    capfd.readouterr()
    assert run(["new", "node", "n3", "--commit"]) == 1
    assert "--solve decides what the edit leaves open" in capfd.readouterr().err
    assert run(["new", "node", "n3", "--commit", "--solve"]) == 0
    told = capfd.readouterr().out.splitlines()
    assert told[:2] == ["ports", "  + port = 80 on n3"]
    assert told[2:4] == ["changed allocations/ports.yaml", "created nodes/n3.yaml"]
    assert commits() == before + 1
    retire = ["--commit", "--solve", "-m", "Gone"]
    assert run(["modify", "node", "n1", "--field", "state=retired", *retire]) == 0
    assert "  ~ Mail from n1 to n3\n" in capfd.readouterr().out
    assert subprocess.check_output(["git", "show", "--format=%s", "--name-only"], text=True).split() == [
        *("Gone", "allocations/mails.yaml", "allocations/ports.yaml", "nodes/n1.yaml")
    ]
    assert run(["modify", "node", "n10", "--field", "state=retired", *retire]) == 1  # nobody else may have it
    said = capfd.readouterr()
    assert (said.out, "Nothing was written." in said.err) == ("", True)
    assert not subprocess.check_output(["git", "status", "--porcelain"])
    assert commits() == before + 2


def test_rules_that_are_wrong_themselves_are_left_aside_and_named(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (pool / "rules/r.yaml").write_text(
        "rules:\n  a: {install: Mail, count: 1, where: mode.name}\n  b: {install: Mial, count: 1}\n"
        "  c: {install: Mail, where: node.name == 'n1'}\n"
    )
    (pool / "allocations").mkdir()
    (pool / "allocations/a.yaml").write_text("install: [n2]\n")
    assert run(["solve"]) == 0
    assert capfd.readouterr() == ("", "Skipped, because `gitcfg check` finds errors in them: a, b.\n")
    assert (pool / "allocations/a.yaml").read_text() == "install: [n2]\n"
    assert run(["solve", "-o", "json"]) == 0
    assert json.loads(judged(capfd))["aside"] == ["a", "b"]


def judged(capfd: pytest.CaptureFixture[str]) -> str:
    """What was written to stdout, which is as published."""
    told = capfd.readouterr().out
    judge(told, "json")
    return told


def committed(message: str) -> None:
    """All that there is, as a commit."""
    subprocess.run(["git", "add", "--all"], check=True)
    subprocess.run(["git", "commit", "-q", "-m", message], check=True)


def test_moves_are_told_as_such_and_files_of_rules_that_are_gone_go(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    committed("Begin")
    assert run(["solve", "--commit", "-m", "Places"]) == 0
    (pool / "nodes/n11.yaml").write_text("{}\n")
    (pool / "nodes/n1.yaml").write_text("features: [Web]\n")
    rules = FILES["rules/r.yaml"].rpartition("  ports")[0]
    (pool / "rules/r.yaml").write_text(rules)
    capfd.readouterr()
    assert run(["solve"]) == 0
    told = capfd.readouterr().out
    assert "mails\n  ~ Mail from n1 to n11\n" in told
    assert "ports\n  - port = 80 on n[1-2,10]\n" in told
    assert not (pool / "allocations/ports.yaml").exists()
    log = subprocess.run(["git", "log", "--format=%s"], check=True, capture_output=True, text=True).stdout
    assert log == "Places\nBegin\n"


def test_without_an_answer_it_is_said_what_cannot_hold_together(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (pool / "rules/r.yaml").write_text("rules:\n  mails: {install: Mail, count: 3}\n")
    assert run(["solve"]) == 1
    out, told = capfd.readouterr()
    assert out == ""
    assert "rule mails: 3 of Mail" in told
    assert "rules/r.yaml:2:3" in told
    assert "Mail conflicts with Web" in told
    assert "features/Web.yaml:2:13" in told
    assert "nodes: n[1-2,10]" in told
    assert "hint: Without this, the rest could be decided: rule mails: 3 of Mail." in told
    assert not (pool / "allocations").exists()


def test_programs_read_it(pool: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert run(["solve", "--dry-run", "-o", "json"]) == 0
    text = capfdbinary.readouterr().out.decode()
    judge(text, "json")
    found = json.loads(text)
    assert found["solved"]
    assert found["changes"][0] == {
        "rule": "mails",
        "change": "add",
        "slot": "n1",
        "node": "n1",
        "instance": None,
        "feature": "Mail",
        "param": None,
        "old": None,
        "new": None,
    }
    assert run(["solve", "--dry-run", "-o", "jsonl"]) == 0
    judge(capfdbinary.readouterr().out.decode(), "jsonl")
    (pool / "rules/r.yaml").write_text("rules:\n  mails: {install: Mail, count: 3}\n")
    assert run(["solve", "-o", "json"]) == 1
    text = capfdbinary.readouterr().out.decode()
    judge(text, "json")
    found = json.loads(text)
    assert not found["solved"]
    assert [cause["rule"] for cause in found["causes"]] == ["mails", None]


def test_a_rule_that_cannot_be_asked_is_named(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (pool / "rules/r.yaml").write_text(
        "rules:\n  mails: {install: Mail, where: 'node.facts.rack == 1', count: 1}\n"
    )
    assert run(["solve"]) == 1
    told = capfd.readouterr().err
    assert told.startswith("Cannot evaluate a rule: ")
    assert "rules/r.yaml:2:33" in told
    (pool / "rules/r.yaml").write_text("rules: [\n")
    assert run(["solve"]) == 1


def test_or_tools_are_asked_for_only_where_they_are_needed(pool: Path) -> None:
    assert without_or_tools().returncode == 0
    lines = ["rules:", "  few: {limit: Any, per: node.name, count: {max: 1}}"]
    for name, among in (("A", "[123]"), ("B", "[123]"), ("C", "[12]")):
        (pool / f"features/{name}.yaml").write_text("include: [Any]\n")
        where = f"'node.name.matches(\"^n{among}$\")'"
        lines.append(f"  {name}: {{install: {name}, count: 1, where: {where}}}")
    (pool / "nodes/n3.yaml").write_text("{}\n")
    (pool / "features/Any.yaml").write_text("description: Any.\n")
    (pool / "rules/r.yaml").write_text("\n".join((*lines, "")))
    told = without_or_tools()
    assert told.returncode == 2
    assert "hint: Run `pip install '.[solve]'`" in told.stderr


def without_or_tools() -> subprocess.CompletedProcess[str]:
    """Of a program of its own: in this one some may be there already."""
    start = "import sys; sys.modules['ortools'] = None; from gitcfg.cli.main import run; "
    program = [sys.executable, "-c", f"{start}sys.exit(run(['solve', '--dry-run']))"]
    return subprocess.run(program, capture_output=True, text=True, check=False)
