"""How far a comparison reaches, in numbers."""

from collections.abc import Iterable

import msgspec

from gitcfg.comparison.change import Change, Kind


class Reach(msgspec.Struct, frozen=True):
    """Nodes that come, go and change, in how many ways they change, and by subsystem the nodes
    on which it restarts, reloads or stops.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    ways: int
    restart: dict[str, tuple[str, ...]]
    reload: dict[str, tuple[str, ...]]
    stop: dict[str, tuple[str, ...]]


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
    )


def _nodes(changes: Iterable[Change]) -> tuple[str, ...]:
    return tuple(sorted(name for change in changes for name in change.nodes))


def _by_subsystem(said: Iterable[tuple[tuple[str, ...], Change]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[Change]] = {}
    for subsystems, change in said:
        for name in subsystems:
            found.setdefault(name, []).append(change)
    return {name: _nodes(found[name]) for name in sorted(found)}
