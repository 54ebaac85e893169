"""A run that had not heard the end of a node has it once the node was visited again."""

from pathlib import Path
from typing import Any

import pytest

from gitcfg.deploy.messages import Hello
from gitcfg.deploy.records import NodeDone, Recorder, Run, RunRecord, note_reported, read_run
from gitcfg.deploy.reports import LateOutcomes, find_states
from gitcfg.install.outcome import Outcome

OLD, NEW = "a" * 40, "b" * 40
FIRST, SECOND = "1234567abc", "1234568abc"


def run(folder: Path, name: str, *done: NodeDone, commit: str = NEW) -> None:
    recorder = Recorder(folder, lambda: 5.0)
    recorder.begun(Run(name, commit, "alice", "", 1.0, ("n1", "n2")))
    for one in done:
        recorder.node(one)
    recorder.ended("done")


def kept(folder: Path, name: str = FIRST) -> RunRecord:
    found = read_run(folder, name).record
    assert found is not None
    return found


def hello(result: str, commit: str = NEW, **more: Any) -> Hello:
    report = Outcome(result, commit, "d" * 64, "" if result == "ok" else "validate app", output="no")
    said: dict[str, Any] = {
        "commit": NEW if result == "ok" else OLD,
        "digest": "e" * 64,
        "report": report,
        **more,
    }
    return Hello("3.11", "n1", "root", **said)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "runs/deploys"


@pytest.mark.parametrize("word", ["lost", "timeout"])
@pytest.mark.parametrize("result", ["ok", "unchanged", "reverted", "failed", "refused"])
@pytest.mark.parametrize("dry", [True, False])
def test_it_is_written_down(folder: Path, word: str, result: str, dry: bool) -> None:
    run(folder, FIRST, NodeDone("n1", word, "validate app"), NodeDone("n2", "ok", commit=NEW))
    note_reported(folder, FIRST, "database", 6.0)
    LateOutcomes(folder, ("n1", "n2"), lambda: 9.0).heard("n1", hello(result), dry)
    done = kept(folder).done["n1"]
    assert (done.outcome, done.at) == (result, 9.0)
    assert done.output == f"Its end was unknown at first ({word}); the next deploy reported: {result}.\nno"
    assert (done.commit is None) == (result == "failed")
    assert (kept(folder).reported, kept(folder).broken) == (kept(folder).reported, 0)
    assert kept(folder).reported is not None
    (state, _) = find_states([kept(folder)])
    assert state.result is not None
    assert (state.result.outcome, state.result.commit) == (result, NEW)


@pytest.mark.parametrize(
    "said",
    [
        hello("reverted", commit=OLD),
        hello("reverted", busy="bob@desk"),
        hello("reverted", problem="It is damaged."),
        hello("reverted", report=None),
        hello("reverted", interrupted=True),
    ],
)
def test_what_says_nothing_of_it_changes_nothing(folder: Path, said: Hello) -> None:
    run(folder, FIRST, NodeDone("n1", "lost"))
    before = kept(folder)
    LateOutcomes(folder, ("n1",), lambda: 9.0).heard("n1", said, True)
    assert kept(folder) == before


@pytest.mark.parametrize(("commit", "outcome"), [(OLD, "reverted"), (NEW, "ok")])
def test_one_that_was_killed_ends_with_the_next_deploy(folder: Path, commit: str, outcome: str) -> None:
    run(folder, FIRST, NodeDone("n1", "lost"))
    said = hello("ok", commit=OLD, interrupted=True)
    LateOutcomes(folder, ("n1",), lambda: 9.0).heard(
        "n1", Hello(**{**_fields(said), "commit": commit}), False
    )
    assert kept(folder).done["n1"].outcome == outcome


def _fields(said: Hello) -> dict[str, Any]:
    return {name: getattr(said, name) for name in said.__struct_fields__}


@pytest.mark.parametrize(
    ("newer", "written"),
    [
        (NodeDone("n1", "ok", commit=NEW), False),
        (NodeDone("n1", "unreachable"), True),
        (NodeDone("n1", "skipped"), True),
        (NodeDone("n2", "ok", commit=NEW), True),
    ],
)
def test_only_the_last_that_was_done_to_a_node_counts(folder: Path, newer: NodeDone, written: bool) -> None:
    run(folder, FIRST, NodeDone("n1", "lost"))
    run(folder, SECOND, newer)
    LateOutcomes(folder, ("n1",), lambda: 9.0).heard("n1", hello("reverted"), False)
    assert (kept(folder).done["n1"].outcome == "reverted") is written


def test_a_record_that_cannot_be_written_keeps_nobody_from_a_deploy(folder: Path) -> None:
    run(folder, FIRST, NodeDone("n1", "lost"))
    later = LateOutcomes(folder, ("n1",), lambda: 9.0)
    later.heard("n2", hello("reverted"), False)
    (folder / f"{FIRST}.jsonl").unlink()
    later.heard("n1", hello("reverted"), False)
    LateOutcomes(folder / "none", ("n1",), lambda: 9.0).heard("n1", hello("reverted"), False)
