"""Single edits of a definition on a draft: keys set and dropped, items put into lists, memberships."""

from collections.abc import Callable, Iterable

from gitcfg.edit.changes import Change, Delete, Given, Set
from gitcfg.edit.composed import APPEND, PREPEND
from gitcfg.edit.draft import Draft
from gitcfg.edit.kinds import Kind
from gitcfg.edit.places import NODE, NODESET, find_place, find_set
from gitcfg.edit.spots import Meaning
from gitcfg.edit.target import EditedList, name_of
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.nodeset import NodeSetError, expand

ListChange = Callable[[EditedList, Given], Iterable[Change]]


def set_entry(draft: Draft, kind: Kind, name: str, steps: tuple[str, ...], given: Given) -> None:
    """Set a key, or an entry of a mapping."""
    place = find_place(draft, kind, name)
    path = (*place.within, *steps)
    draft.change(place.file, Set(path, given.meaning, given.source, () if place.within else kind.keys))


def drop_entry(draft: Draft, kind: Kind, name: str, steps: tuple[str, ...]) -> None:
    """Drop a key, or an entry, and with a mapping's last entry the mapping. GitcfgError: it is not there."""
    place = find_place(draft, kind, name)
    holder = draft.meaning(place.file, *place.within, *steps[:-1])
    if not isinstance(holder, dict) or steps[-1] not in holder:
        near = did_you_mean(steps[-1], holder) if isinstance(holder, dict) else ""
        raise GitcfgError(f"The {kind.noun} {shown(name)} says nothing of {shown(steps[-1])}.", near)
    gone = steps[:-1] if len(steps) > 1 and len(holder) == 1 else steps
    draft.change(place.file, Delete((*place.within, *gone)))


def change_list(draft: Draft, kind: Kind, name: str, key: str, given: Given, change: ListChange) -> None:
    """Change a list of a definition."""
    kind.known(key, kind.lists)
    place = find_place(draft, kind, name)
    now = draft.meaning(place.file, *place.within, key)
    target = EditedList(
        (*place.within, key),
        now if isinstance(now, list | dict) else None,
        f"`{key}` of the {kind.noun} {name}",
        () if place.within else kind.keys,
        _below(draft, name, key) if kind is NODE else None,
    )
    draft.change(place.file, *change(target, given))


def _below(draft: Draft, node: str, key: str) -> list[Meaning] | None:
    """What the set that a node is in says of a list; None: it is in no set."""
    found = find_set(draft, node)
    if found is None:
        return None
    said = draft.meaning(find_place(draft, NODESET, found).file, key)
    if isinstance(said, dict):
        said = said.get(APPEND) or said.get(PREPEND)
    return said if isinstance(said, list) else []


def hosts_to_join(draft: Draft, text: str) -> list[tuple[Kind, str]]:
    """Whose files shall say that nodes are in a group: their set's, if these are all its members.

    A member whose own list replaces the set's has to say so itself. GitcfgError: it is no set of nodes.
    """
    names, whole = _nodes(draft, text)
    if whole is None:
        return [(NODE, name) for name in names]
    own = (name for name in names if isinstance(_said(draft, NODE, name), list))
    return [(NODESET, whole), *((NODE, name) for name in own)]


def hosts_to_leave(draft: Draft, text: str, group: str) -> list[tuple[Kind, str]]:
    """Whose files shall no longer say that nodes are in a group. GitcfgError: it is no set of nodes."""
    names, whole = _nodes(draft, text)
    if whole is None or group not in _named(_said(draft, NODESET, whole)):
        return [(NODE, name) for name in names]
    own = (name for name in names if group in _named(_said(draft, NODE, name)))
    return [(NODESET, whole), *((NODE, name) for name in own)]


def _nodes(draft: Draft, text: str) -> tuple[tuple[str, ...], str | None]:
    """The nodes that a text names, and the set of which they are all members."""
    try:
        names = expand(text, draft.model.settings.max_nodes)
    except NodeSetError as error:
        raise GitcfgError(f"{shown(text)} is no set of nodes: {error}.") from None
    sets = draft.model.nodesets.values()
    return names, next((found.name for found in sets if set(found.members) == set(names)), None)


def _said(draft: Draft, kind: Kind, name: str) -> Meaning | None:
    """What a node's own file, or its set's, says of its groups now."""
    known = draft.model.nodesets if kind is NODESET else draft.model.nodes
    return draft.meaning(find_place(draft, kind, name).file, "groups") if name in known else None


def _named(said: Meaning | None) -> list[str]:
    """The groups that a list gives, alone or beside its set's."""
    if isinstance(said, dict):
        said = said.get(APPEND) or said.get(PREPEND)
    return [name_of(item) for item in said] if isinstance(said, list) else []
