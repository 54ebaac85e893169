"""How far a comparison reaches, in numbers."""

from collections.abc import Iterable

import msgspec

from gitcfg.comparison.change import Change, Kind
from gitcfg.model.secrets import is_secret, secret_name


class Reach(msgspec.Struct, frozen=True):
    """Nodes that come, go and change, in how many ways they change, and by subsystem the nodes
    on which it restarts, reloads or stops. `secrets`: the nodes that get one which they did not have.
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
    """Sum changes up."""
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
    """The secrets that come to nodes with a change; in another version they had it before."""
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
