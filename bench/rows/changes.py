"""Judges a diff's JSON: exactly the nodes that the change concerns, with their old and new values."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench.fleet import Fleet, params
from bench.rows.judge import sample


class _Change(msgspec.Struct):
    nodes: list[str]
    params: dict[str, dict[str, Any]] = {}


class _Diff(msgspec.Struct):
    changes: list[_Change]


def judge_diff(before: Fleet, after: Fleet, concerned: tuple[str, ...]) -> Callable[[Path], str]:
    """ValueError says what is wrong."""
    compared = set(sample(before)).union(concerned[:200])
    right = {name: _changes(before, after, name) for name in compared}

    def judged(printed: Path) -> str:
        diff = msgspec.json.decode(printed.read_bytes(), type=_Diff)
        found = {name: change.params for change in diff.changes for name in change.nodes}
        wrong = [name for name in compared if found.get(name, {}) != right[name]]
        if wrong or not found.keys() <= set(concerned):
            raise ValueError(f"{len(wrong)} of {len(compared)} nodes differ, {len(found)} change")
        return f"{len(compared)}/{len(compared)}, {len(found)} change"

    return judged


def _changes(before: Fleet, after: Fleet, name: str) -> Mapping[str, Mapping[str, Any]]:
    old, new = params(before, before.nodes[name]), params(after, after.nodes[name])
    return {one: {"old": old[one], "new": new[one]} for one in old if old[one] != new[one]}
