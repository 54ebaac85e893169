"""A change as data: what some nodes get that they did not, and what must happen to them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.model.text import safe


class Kind(StrEnum):
    """Is the node new, gone, or on both sides?"""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Delta(msgspec.Struct, frozen=True):
    """A parameter's value before and after; UNSET on the side where it is not bound, None if bare."""

    old: Any = UNSET
    new: Any = UNSET


class Names(msgspec.Struct, frozen=True):
    """Names that came and names that went, each in order of name."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


class Actions(msgspec.Struct, frozen=True):
    """What must happen to a node's subsystems, each in order of name."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """What changes on all of `nodes` alike.

    `params` are in order of name, `files` are the paths whose content, mode, owner or group differ. `modes`
    are, of those files that are there before and after, what differs of mode, owner and group, by that word.
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
    """`mode 0644 -> 0600, owner root -> condor`: what changes of who may do what with a file."""
    return ", ".join(f"{what} {safe(old)} -> {safe(turn.new[what])}" for what, old in turn.old.items())


def came_and_went(old: frozenset[str], new: frozenset[str]) -> Names:
    """What is on one side only."""
    return Names(tuple(sorted(new - old)), tuple(sorted(old - new)))


def deltas(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Delta]:
    """The parameters whose values differ as JSON, in order of name."""
    if _json(old) == _json(new):  # the usual case, judged all at once
        return {}
    names = sorted(old.keys() | new.keys())
    pairs = ((name, Delta(old.get(name, UNSET), new.get(name, UNSET))) for name in names)
    return {name: delta for name, delta in pairs if not equal(delta)}


def equal(delta: Delta) -> bool:
    """Is the value the same, as JSON? There 1 is neither true nor 1.0."""
    old, new = delta.old, delta.new
    if old is UNSET or new is UNSET:
        return old is new
    return old is new or _json(old) == _json(new)


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")
