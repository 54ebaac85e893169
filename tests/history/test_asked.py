"""What a log is asked for by name: which kind of thing is meant, what is gone, what never was."""

import subprocess
from pathlib import Path

import pytest

import gitcfg
from gitcfg.git.repository import Repository
from gitcfg.history.log import Log, Logs, Subject, answered
from gitcfg.model import GitcfgError
from tests.history.histories import Version, imported

BEFORE = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {OLD: {type: string}, START: {type: string}}\n",
    "features/x/Gone.yaml": "params: {BOUND: 1}\n",
    "features/Same.yaml": "{}\n",
    "groups/left.yaml": "{}\n",
    "nodes/away.yaml": "groups: [left]\n",
    "nodesets/s.yaml": "nodes: exec[01-04]\n",
    "features/Startd.yaml": 'params: {"STARTD_${as}": 1}\n',
}
NOW = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {START: {type: string}}\n",
    "features/Same.yaml": "params: {START: a}\n",
    "groups/Same.yaml": "features: [{feature: Startd, as: x}]\n",
    "nodes/Same.yaml": "groups: [Same]\n",
    "nodes/exec02.yaml": "params: {START: x}\n",
    "nodesets/s.yaml": "nodes: exec[01-03]\n",
    "features/Startd.yaml": 'params: {"STARTD_${as}": 1}\n',
}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    imported(tmp_path / "r.git", [Version([], BEFORE), Version([0], NOW)])
    return Logs(Repository.open(tmp_path / "r.git"), "main")


def subjects(log: Log) -> list[str]:
    return [entry.commit.subject for entry in log.entries]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("exec02", Subject.NODE),
        ("exec04", Subject.NODE),
        ("away", Subject.NODE),
        ("START", Subject.PARAM),
        ("STARTD_x", Subject.PARAM),
        ("OLD", Subject.PARAM),
        ("Gone", Subject.FEATURE),
        ("left", Subject.GROUP),
    ],
)
def test_a_name_is_found_now_or_long_ago(logs: Logs, name: str, kind: Subject) -> None:
    log = answered(logs, name)
    assert log.question.kind is kind
    assert log.entries


def test_what_is_gone_has_its_last_commit_too(logs: Logs) -> None:
    assert subjects(answered(logs, "Gone")) == ["commit 1", "commit 0"]
    assert subjects(answered(logs, "away")) == ["commit 1", "commit 0"]


def test_a_name_of_several_things(logs: Logs) -> None:
    with pytest.raises(GitcfgError) as told:
        answered(logs, "Same")
    assert told.value.message == "Same is a node, a feature and a group."
    assert told.value.hints == ("Choose one: --kind node or --kind feature or --kind group.",)
    assert subjects(answered(logs, "Same", kind=Subject.GROUP)) == ["commit 1"]


@pytest.mark.parametrize(
    ("name", "param", "kind", "message", "hint"),
    [
        ("Sam", None, None, "No node, parameter, feature or group Sam ever existed.", "Did you mean Same?"),
        ("exec2", None, Subject.NODE, "No node exec2 ever existed.", "Did you mean exec02?"),
        ("START", None, Subject.NODE, "No node START ever existed.", ""),
        ("exec22", "START", None, "No node exec22 ever existed.", "Did you mean exec02?"),
        ("exec02", "STAR", None, "No parameter STAR ever existed.", "Did you mean START?"),
        ("../x", None, None, "No node, parameter, feature or group ../x ever existed.", ""),
    ],
)
def test_what_never_was(
    logs: Logs, name: str, param: str | None, kind: Subject | None, message: str, hint: str
) -> None:
    with pytest.raises(GitcfgError) as told:
        answered(logs, name, param, kind)
    assert told.value.message == message
    assert told.value.hints == (hint,)


def test_a_parameter_that_no_node_ever_had(logs: Logs) -> None:
    assert answered(logs, "exec02", "OLD").entries == ()
    assert answered(logs, "BOUND").entries == ()


def test_only_nodes_have_parameters_of_their_own(logs: Logs) -> None:
    with pytest.raises(GitcfgError, match="Only a parameter of a node has its own log"):
        answered(logs, "Same", "START", Subject.FEATURE)


def test_at_a_commit_without_a_repository_history_still_answers(tmp_path: Path) -> None:
    imported(tmp_path / "r.git", [Version([], NOW), Version([0], {"README": "moved"})])
    log = answered(Logs(Repository.open(tmp_path / "r.git"), "main"), "exec02")
    assert subjects(log) == ["commit 1", "commit 0"]


def test_the_library_asks_so(logs: Logs) -> None:
    source = gitcfg.open(logs.repository.root)
    assert subjects(source.log("exec02", "START", revision="main")) == ["commit 1"]
    assert subjects(source.log("Same", kind="group", revision="main", limit=1)) == ["commit 1"]


def test_before_the_first_commit_there_is_no_history(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    with pytest.raises(GitcfgError, match="There is no commit yet"):
        Logs(Repository.open(tmp_path))
