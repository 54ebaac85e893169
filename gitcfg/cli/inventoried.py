"""An inventory as it is asked for: of which commit, from which database, which nodes, in which order."""

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.cli.inventory_said import known_of
from gitcfg.cli.server_state import StateQuery, note_on_tip
from gitcfg.inventory.columns import COLUMNS, value
from gitcfg.inventory.conditions import selected
from gitcfg.inventory.described import behind, described
from gitcfg.inventory.failures import failing
from gitcfg.inventory.keys import by_another
from gitcfg.inventory.places import Place, Tip
from gitcfg.library import Fleet, Source
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.nodeset import abridged

if TYPE_CHECKING:
    from gitcfg.state import NodeState


class Wanted(msgspec.Struct, frozen=True):
    """What is asked for."""

    words: tuple[str, ...]
    where: str | None
    sort: str
    at: str | None
    database: StateQuery


class Inventory(msgspec.Struct, frozen=True):
    """Nodes; `tip` is the commit that they shall run, `seen` says whether more is known than git says.

    `notes` are what is to be said of a branch whose tip does not count, and of nodes with another key.
    """

    tip: str | None
    now: float
    seen: bool
    places: tuple[Place, ...]
    notes: tuple[str, ...] = ()


def found(source: Source, wanted: Wanted, now: float) -> Inventory:
    """The inventory. GitcfgError: what is asked for cannot be read, or is not there."""
    column = known(wanted.sort.removeprefix("-"))
    said = known_of(source, wanted.database)
    branch = note_on_tip(source.repository, wanted.database)
    with _fleet(source, wanted.at) as fleet:
        tip = _tip(source, fleet, said.nodes.values(), now)
        places = _named(fleet, said.places(described(fleet, source.today), tip), wanted.words)
        if wanted.where is not None:
            places = selected(places, fleet, wanted.where, now if said.any else None)
        notes = tuple(filter(None, (branch, _strange(fleet, places))))
        return Inventory(fleet.commit, now, said.any, _sorted(places, column, wanted.sort), notes)


def _strange(fleet: Fleet, places: tuple[Place, ...]) -> str:
    """What is to be said of nodes that do not come with their keys: they may stand well, and run nothing."""
    names = by_another(fleet, [place.seen for place in places if place.seen is not None])
    if not names:
        return ""
    come, them = ("comes", "it") if len(names) == 1 else ("come", "them")
    return f"note: {abridged(names)} {come} with another key: `gitcfg node list --pending` shows {them}."


def known(column: str) -> str:
    """A column, if there is one. GitcfgError: there is none."""
    if not column:
        raise GitcfgError("A column has no name.", f"Say some of: {', '.join(COLUMNS)}.")
    if column not in COLUMNS:
        near = did_you_mean(column, COLUMNS) or f"Say one of: {', '.join(COLUMNS)}."
        raise GitcfgError(f"There is no column {shown(column)}.", near)
    return column


def _fleet(source: Source, at: str | None) -> Fleet:
    """What nodes shall run is committed; where nothing is, there is but the work tree."""
    if at is not None or source.repository.knows("HEAD"):
        return source.at(at or "HEAD")
    return source.worktree()


def _tip(source: Source, fleet: Fleet, seen: "Collection[NodeState]", now: float) -> Tip:
    older, walk_in = partial(_older, source), fleet.model.settings.walk_in
    late = behind(fleet, seen, source.cache, older, source.today)
    failed = failing(fleet, [one for one in seen if one.node in late], source.cache, older, source.today)
    return Tip(late, None if walk_in is None else tuple(ref.name for ref in walk_in), now, failed)


def _older(source: Source, commit: str) -> Fleet | None:
    return source.at(commit) if source.repository.knows(commit) else None


def _named(fleet: Fleet, places: tuple[Place, ...], words: tuple[str, ...]) -> tuple[Place, ...]:
    """Those that words name; also such that only the database knows."""
    if not words:
        return places
    from gitcfg.cli.node import expand_names
    from gitcfg.cli.nodes import chosen

    groups = tuple(word for word in words if word.startswith("@"))
    plain = tuple(word for word in words if word not in groups)
    there = {place.name for place in places}
    wanted = set(expand_names(fleet.model.settings.max_nodes, plain))
    if strange := sorted(wanted - there):
        raise GitcfgError(f"There is no node {shown(strange[0])}.", did_you_mean(strange[0], there))
    wanted |= set(chosen(fleet, groups)) if groups else set()
    return tuple(place for place in places if place.name in wanted)


def _sorted(places: tuple[Place, ...], column: str, said: str) -> tuple[Place, ...]:
    """By a column, then by name; nodes of which it says nothing come first."""
    return tuple(sorted(places, key=lambda place: _rank(value(place, column)), reverse=said.startswith("-")))


def _rank(said: Any) -> tuple[bool, Any]:
    return said is not None, str(said) if isinstance(said, list | dict) else said if said is not None else 0
