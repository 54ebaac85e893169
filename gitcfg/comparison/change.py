"""A change as data: the differences of nodes, and the actions that follow."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.model.secrets import is_secret, secret_name
from gitcfg.model.text import safe
from gitcfg.nodeset import fold


class Kind(StrEnum):
    """Whether the node is new, gone, or on both sides."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Delta(msgspec.Struct, frozen=True):
    """A parameter's value before and after; UNSET on the side where it is not bound, None if bare."""

    old: Any = UNSET
    new: Any = UNSET


class Names(msgspec.Struct, frozen=True):
    """Names that were added and names that were removed, each in order of name."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class Actions(msgspec.Struct, frozen=True):
    """The due actions on a node's subsystems, each in order of name."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """The changes that all of `nodes` have in common.

    `params` are in order of name, `files` are the paths whose content, mode, owner or group differ. `modes`
    has, for those files that exist before and after, the differences by the words `mode`, `owner` and
    `group`.
    """

    kind: Kind
    nodes: tuple[str, ...]
    params: Mapping[str, Delta]
    files: tuple[str, ...]
    features: Names
    groups: Names
    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    modes: Mapping[str, Delta] = {}


def access(turn: Delta) -> str:
    """Return the changed mode, owner and group of a file: `mode 0644 -> 0600, owner root -> condor`."""
    return ", ".join(f"{what} {safe(old)} -> {safe(turn.new[what])}" for what, old in turn.old.items())


def came_and_went(old: frozenset[str], new: frozenset[str]) -> Names:
    """Return the names that are on one side only."""
    return Names(tuple(sorted(new - old)), tuple(sorted(old - new)))


def deltas(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """Return the parameters whose values differ as JSON, in order of name."""
    if _json(old) == _json(new):  # the usual case, compared as a whole
        return {}
    names = sorted(old.keys() | new.keys())
    pairs = ((name, Delta(old.get(name, UNSET), new.get(name, UNSET))) for name in names)
    return {name: delta for name, delta in pairs if not equal(delta)}


def equal(delta: Delta) -> bool:
    """Return whether the value is the same as JSON, where 1 is neither true nor 1.0."""
    old, new = delta.old, delta.new
    if old is UNSET or new is UNSET:
        return old is new
    return old is new or _json(old) == _json(new)


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


# The reach of a comparison, in numbers.


class Reach(msgspec.Struct, frozen=True):
    """The nodes that are added, removed and changed, and the nodes of each action.

    `ways` is the number of different changes. `restart`, `reload` and `stop` are nodes by subsystem.
    `secrets` are, by secret, the nodes that get one which they did not have.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    ways: int
    restart: dict[str, tuple[str, ...]]
    reload: dict[str, tuple[str, ...]]
    stop: dict[str, tuple[str, ...]]
    secrets: dict[str, tuple[str, ...]]


def reach(changes: Iterable[Change]) -> Reach:
    """Return the sums of changes."""
    changes = tuple(changes)
    return Reach(
        _nodes(change for change in changes if change.kind is Kind.ADDED),
        _nodes(change for change in changes if change.kind is Kind.REMOVED),
        _nodes(change for change in changes if change.kind is Kind.CHANGED),
        sum(change.kind is Kind.CHANGED for change in changes),
        _by_subsystem((change.restart, change) for change in changes),
        _by_subsystem((change.reload, change) for change in changes),
        _by_subsystem((change.stop, change) for change in changes),
        _by_subsystem((_secrets(change), change) for change in changes),
    )


def _secrets(change: Change) -> tuple[str, ...]:
    """Return the secrets that nodes get by a change. A new version of a secret that they had is none."""
    had = {secret_name(delta.old) for delta in change.params.values() if is_secret(delta.old)}
    have = {secret_name(delta.new) for delta in change.params.values() if is_secret(delta.new)}
    return tuple(sorted(have - had))


def _nodes(changes: Iterable[Change]) -> tuple[str, ...]:
    return tuple(sorted(name for change in changes for name in change.nodes))


def _by_subsystem(said: Iterable[tuple[tuple[str, ...], Change]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[Change]] = {}
    for subsystems, change in said:
        for name in subsystems:
            found.setdefault(name, []).append(change)
    return {name: _nodes(found[name]) for name in sorted(found)}


# The record that `diff` writes for programs (interfaces: JSON).

Record = dict[str, Any]


def diff_record(
    old: str | None,
    new: str | None,
    changes: Iterable[Change],
    folded: bool = False,
    secrets: Iterable[Record] = (),
) -> Record:
    """Return `gitcfg.diff/1`.

    A commit is None for what is not committed; `secrets` are included if not empty.
    """
    record: Record = {
        "schema": "gitcfg.diff/1",
        "from": old,
        "to": new,
        "changes": changes_to_json(changes, folded),
    }
    if found := list(secrets):
        record["secrets"] = found
    return record


def changes_to_json(changes: Iterable[Change], folded: bool = False) -> list[Record]:
    """Return the changes of `gitcfg.diff/1`."""
    return [_change(change, folded) for change in changes]


def _change(change: Change, folded: bool) -> Record:
    record: Record = {"kind": change.kind, "nodeset": fold(change.nodes), "count": len(change.nodes)}
    record |= msgspec.to_builtins(change)
    if not change.modes:
        del record["modes"]
    if folded:
        del record["nodes"]
    return record
