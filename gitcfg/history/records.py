"""What `log` writes for programs (interfaces: JSON)."""

from typing import Any

import msgspec

from gitcfg.git.history import Commit
from gitcfg.history.effect import Effect
from gitcfg.history.log import Log
from gitcfg.history.question import Question, Subject

Record = dict[str, Any]

_OF_A_LAYER = ("params", "files", "features", "nodes")
_PARTS = {
    Subject.NODE: ("params", "files", "features", "groups"),
    Subject.PARAM: ("values", "declaration"),
    Subject.FEATURE: _OF_A_LAYER,
    Subject.GROUP: _OF_A_LAYER,
}


def log_record(log: Log) -> Record:
    """`gitcfg.log/1`: every commit with what it changed, of that kind of thing all parts."""
    question = log.question
    return {
        "schema": "gitcfg.log/1",
        "tip": log.tip,
        "kind": question.kind.value,
        "name": question.name,
        "param": question.param,
        "commits": [{**_commit(entry.commit), **_effect(question, entry.effect)} for entry in log.entries],
    }


def _commit(commit: Commit) -> Record:
    """`shallow` is there only where a clone ends: who made it so, and when, is not known."""
    record: Record = msgspec.to_builtins(commit)
    if not commit.shallow:
        del record["shallow"]
    return record


def _effect(question: Question, effect: Effect) -> Record:
    said = msgspec.to_builtins(effect)
    said["nodes"] = {"added": said["added"], "removed": said["removed"]}
    parts = ("params",) if question.param is not None else _PARTS[question.kind]
    return {"change": said["kind"], **{part: said[part] for part in parts}}
