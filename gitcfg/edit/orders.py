"""Orders to edit definitions: read from JSON, one per line, and carried out on a draft."""

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from enum import StrEnum
from functools import partial
from typing import Any

import msgspec

from gitcfg.compile.nodes import Roster
from gitcfg.edit import lists
from gitcfg.edit.draft import NODE, NODESET, Draft, choose_place, files_beside, find_place, find_set
from gitcfg.edit.kinds import Kind, kind_of
from gitcfg.edit.lists import APPEND, PREPEND, EditedList, name_of
from gitcfg.edit.rename import FreedName, Leftover, recheck_leftovers, rename
from gitcfg.edit.secrets import raise_version
from gitcfg.edit.yaml.changes import Change, Delete, Given, Set
from gitcfg.edit.yaml.tree import Meaning, from_json, quote_like
from gitcfg.model import GitcfgError, Model
from gitcfg.model.names import did_you_mean, shown
from gitcfg.nodeset import NodeSetError, expand


class Action(StrEnum):
    """What to do with a definition."""

    NEW = "new"
    MODIFY = "modify"
    DELETE = "delete"
    RENAME = "rename"


class Order(msgspec.Struct, frozen=True):
    """One edit of one definition.

    `add` and `remove` have items of lists (`include`) by key; items are added at the position `at` (0 is
    highest), by default at the end. `put` and `take` have entries of mappings (`params`), `fields` and `drop`
    all other keys. `place` is the file or folder of a new definition, `to` the new name of a renamed one.
    """

    action: Action
    kind: str
    name: str
    place: str = ""
    at: int | None = None
    add: Mapping[str, tuple[Given, ...]] = {}
    remove: Mapping[str, tuple[Given, ...]] = {}
    put: Mapping[str, Mapping[str, Given]] = {}
    take: Mapping[str, tuple[str, ...]] = {}
    fields: Mapping[str, Given] = {}
    drop: tuple[str, ...] = ()
    to: str | None = None


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    do: Action
    kind: str
    name: str
    place: str = msgspec.field(default="", name="in")
    at: int | None = None
    add: dict[str, list[Any]] = {}
    remove: dict[str, list[Any]] = {}
    put: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict, name="set")
    take: dict[str, list[str]] = msgspec.field(default_factory=dict, name="unset")
    fields: dict[str, Any] = {}
    drop: list[str] = []
    to: str | None = None


def parse_orders(lines: Iterable[bytes]) -> list[Order]:
    """Parse orders in JSON, one per line; skip empty lines. Raise GitcfgError if a line is not an order."""
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_to_order(msgspec.json.decode(line, type=_Line)))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                hint = 'Write {"do": "modify", "kind": "feature", "name": "X", "add": {"include": ["Y"]}}.'
                raise GitcfgError(f"Line {number} is not an edit: {error}.", hint) from None
    return found


def _to_order(line: _Line) -> Order:
    return Order(
        line.do,
        line.kind,
        line.name,
        line.place,
        line.at,
        _lists(line.add),
        _lists(line.remove),
        {
            key: {name: Given(from_json(value)) for name, value in all.items()}
            for key, all in line.put.items()
        },
        {key: tuple(names) for key, names in line.take.items()},
        {key: Given(from_json(value)) for key, value in line.fields.items()},
        tuple(line.drop),
        line.to,
    )


def _lists(found: Mapping[str, Iterable[Any]]) -> dict[str, tuple[Given, ...]]:
    return {key: tuple(Given(from_json(value)) for value in values) for key, values in found.items()}


# Single edits of a definition on a draft: keys set and dropped, items added to lists, memberships.

ListChange = Callable[[EditedList, Given], Iterable[Change]]


def set_entry(draft: Draft, kind: Kind, name: str, steps: tuple[str, ...], given: Given) -> None:
    """Set a key, or an entry of a mapping."""
    place = find_place(draft, kind, name)
    path = (*place.within, *steps)
    draft.change(place.file, Set(path, given.meaning, given.source, () if place.within else kind.keys))


def drop_entry(draft: Draft, kind: Kind, name: str, steps: tuple[str, ...]) -> None:
    """Drop a key or an entry, and a mapping that becomes empty. Raise GitcfgError if it does not exist."""
    place = find_place(draft, kind, name)
    holder = draft.meaning(place.file, *place.within, *steps[:-1])
    if not isinstance(holder, dict) or steps[-1] not in holder:
        near = did_you_mean(steps[-1], holder) if isinstance(holder, dict) else ""
        raise GitcfgError(f"The {kind.noun} {shown(name)} does not set {shown(steps[-1])}.", near)
    deleted = steps[:-1] if len(steps) > 1 and len(holder) == 1 else steps
    draft.change(place.file, Delete((*place.within, *deleted)))


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
        _list_of_set(draft, name, key) if kind is NODE else None,
    )
    draft.change(place.file, *change(target, given))


def _list_of_set(draft: Draft, node: str, key: str) -> list[Meaning] | None:
    """Return the list under a key of the set that a node is in; None: it is in no set."""
    found = find_set(draft, node)
    if found is None:
        return None
    return _added_items(draft.meaning(find_place(draft, NODESET, found).file, key))


def _added_items(meaning: Meaning | None) -> list[Meaning]:
    """Return the items of a plain list, or those that a list adds to its set's."""
    if isinstance(meaning, dict):
        meaning = meaning.get(APPEND) or meaning.get(PREPEND)
    return meaning if isinstance(meaning, list) else []


def hosts_to_join(draft: Draft, text: str) -> list[tuple[Kind, str]]:
    """Return the definitions that must list a group for nodes: their set, if these are all its members.

    A member whose own list replaces the set's must list it, too. Raise GitcfgError if the text is not a node
    set.
    """
    names, whole = _nodes(draft, text)
    if whole is None:
        return [(NODE, name) for name in names]
    own = (name for name in names if isinstance(_listed_groups(draft, NODE, name), list))
    return [(NODESET, whole), *((NODE, name) for name in own)]


def hosts_to_leave(draft: Draft, text: str, group: str) -> list[tuple[Kind, str]]:
    """Return the definitions that list a group for nodes. Raise GitcfgError if the text is not a node set."""

    def lists_group(kind: Kind, name: str) -> bool:
        return group in map(name_of, _added_items(_listed_groups(draft, kind, name)))

    names, whole = _nodes(draft, text)
    if whole is None or not lists_group(NODESET, whole):
        return [(NODE, name) for name in names]
    return [(NODESET, whole), *((NODE, name) for name in names if lists_group(NODE, name))]


def _nodes(draft: Draft, text: str) -> tuple[tuple[str, ...], str | None]:
    """Return the nodes that a text names, and the set that has exactly these members, if any."""
    try:
        names = expand(text, draft.model.settings.max_nodes)
    except NodeSetError as error:
        raise GitcfgError(f"{shown(text)} is not a node set: {error}.") from None
    sets = draft.model.nodesets.values()
    return names, next((found.name for found in sets if set(found.members) == set(names)), None)


def _listed_groups(draft: Draft, kind: Kind, name: str) -> Meaning | None:
    """Return the value of `groups` in the file of a node or a node set."""
    known = draft.model.nodesets if kind is NODESET else draft.model.nodes
    return draft.meaning(find_place(draft, kind, name).file, "groups") if name in known else None


# Carries out orders on a draft: each becomes changes in the texts of one or more files.

LastVersion = Callable[[str], int]
"""Returns the highest version that a secret of a name ever had; 0: there was none."""


def carry_out(draft: Draft, orders: Iterable[Order], last: LastVersion = lambda _: 0) -> tuple[Leftover, ...]:
    """Carry out orders, one after another, and return where old names of renamed definitions are left.

    Raise GitcfgError if an order fails; the draft is then unusable.
    """
    freed: list[FreedName] = []
    for order in orders:
        kind = kind_of(order.kind)
        _check_order(order)
        match order.action:
            case Action.DELETE:
                _delete(draft, kind, order.name)
            case Action.RENAME:
                freed.append(_rename(draft, kind, order, last))
            case Action.NEW:
                _create(draft, kind, order)
                _modify(draft, kind, order)
            case Action.MODIFY:
                _modify(draft, kind, order)
    return recheck_leftovers(draft, freed)


def _check_order(order: Order) -> None:
    """Raise GitcfgError if the parts of an order contradict each other."""
    if order.at is not None and order.at < 0:
        raise GitcfgError(f"{order.at} is not a position.", "Use 0 for the highest.")
    match order.action:
        case Action.DELETE if order != Order(Action.DELETE, order.kind, order.name):
            raise GitcfgError("A deletion has only the kind and the name of a definition.")
        case Action.RENAME if order != Order(Action.RENAME, order.kind, order.name, to=order.to):
            raise GitcfgError("A renaming has only the kind, the name and the new name of a definition.")
        case Action.NEW | Action.MODIFY if order.to is not None:
            raise GitcfgError("`to` is only for `rename`.", 'Write {"do": "rename", ...}.')
        case Action.MODIFY if order.place:
            raise GitcfgError("Only a new definition can have a place.", "Move the file with `git mv`.")
        case Action.MODIFY if order == Order(Action.MODIFY, order.kind, order.name, at=order.at):
            raise GitcfgError("The edit has no change.", "See `gitcfg modify --help`.")


def _delete(draft: Draft, kind: Kind, name: str) -> None:
    path = draft.path(kind, name)
    if kind.sheet:
        draft.change(path, Delete((kind.sheet, name)))
    else:
        for file in (*files_beside(draft, kind, path), path):
            draft.write(file, None)


def _rename(draft: Draft, kind: Kind, order: Order, last: LastVersion) -> FreedName:
    if order.to is None:
        raise GitcfgError(f"The renaming of {shown(order.name)} has no new name.", 'Write "to": "NAME".')
    freed = rename(draft, kind, order.name, order.to)
    if kind.name == "secret":
        raise_version(draft, order.to, last(order.to))
    return freed


def _create(draft: Draft, kind: Kind, order: Order) -> None:
    place = choose_place(draft, kind, order.name, order.place)
    if not kind.sheet or draft.text(place.file) is None:
        draft.write(place.file, "{}\n")
    if kind.sheet:
        draft.change(place.file, Set(place.within, {}))


def _modify(draft: Draft, kind: Kind, order: Order) -> None:
    """Make all changes of an order: whole keys first, then lists, then entries of mappings."""
    for key, given in order.fields.items():
        set_entry(draft, kind, order.name, (kind.known(key, kind.fields),), given)
    for key in order.drop:
        drop_entry(draft, kind, order.name, (kind.known(key, kind.keys),))
    _modify_lists(draft, kind, order)
    for key, entries in order.put.items():
        for name, given in entries.items():
            set_entry(draft, kind, order.name, (kind.mapping(key), name), given)
    for key, names in order.take.items():
        for name in names:
            drop_entry(draft, kind, order.name, (kind.mapping(key), name))


def _modify_lists(draft: Draft, kind: Kind, order: Order) -> None:
    for key, items in order.remove.items():
        for given in items:
            _modify_list(draft, kind, order.name, key, given, lists.remove_item)
    for key, items in order.add.items():
        for offset, given in enumerate(items):
            step = 0 if _is_membership(kind, key) else offset
            at = None if order.at is None else order.at + step
            _modify_list(draft, kind, order.name, key, given, partial(lists.add_item, at=at))


def _modify_list(draft: Draft, kind: Kind, name: str, key: str, given: Given, change: ListChange) -> None:
    """Change a list. The `nodes` of a group are listed in the nodes' own files."""
    if not _is_membership(kind, key):
        change_list(draft, kind, name, key, given, change)
        return
    if name != draft.model.settings.default_group:
        find_place(draft, kind, name)
    nodes = name_of(given.meaning)
    hosts = hosts_to_leave(draft, nodes, name) if change is lists.remove_item else hosts_to_join(draft, nodes)
    for host, node in hosts:
        change_list(draft, host, node, "groups", Given(name), change)


def _is_membership(kind: Kind, key: str) -> bool:
    return (kind.name, key) == ("group", "nodes")


# Orders for holds and overrides: begun, lifted, and expired.


class Term(StrEnum):
    """A kind of definitions with a last day."""

    HOLD = "hold"
    OVERRIDE = "override"

    def of(self, model: Model) -> Mapping[str, date]:
        """Return the last day of each definition, in order of name."""
        found = model.holds if self is Term.HOLD else model.overrides
        return {name: found[name].until for name in sorted(found)}


class TermEnd(msgspec.Struct, frozen=True):
    """The last day, and the reason."""

    day: date
    reason: str


def parse_scope(model: Model, words: Iterable[str], where: str | None) -> Mapping[str, Given]:
    """Parse the selection of nodes: names, node sets, groups (`@rack3`) or a condition (CEL).

    Raise GitcfgError if it is missing or mixes these, or if there is no such node or group.
    """
    words = tuple(words)
    groups = [word[1:] for word in words if word.startswith("@")]
    if (where is not None and words) or (groups and len(groups) < len(words)):
        hint = "Use only one condition instead: --where '\"rack3\" in node.groups'."
        raise GitcfgError("Nodes, groups and `--where` cannot be combined.", hint)
    if groups:
        where = " || ".join(_member_condition(model, group) for group in groups)
    if where is not None:
        # In single quotes, as conditions contain double ones.
        return {"where": Given(where, quote_like("'", where) or None)}
    if not words:
        raise GitcfgError("The selection of nodes is missing.", "Give their names, or use `--where CEL`.")
    try:
        names = [name for word in words for name in expand(word, model.settings.max_nodes)]
    except NodeSetError as error:
        raise GitcfgError(f"{shown(','.join(words))} is not a node set: {error}.") from None
    roster = Roster(model)
    unknown = next((name for name in names if name not in roster), None)
    if unknown is not None and model.settings.walk_in is None:
        raise GitcfgError(f"There is no node {shown(unknown)}.", did_you_mean(unknown, roster.names()))
    return {"nodes": Given(",".join(words))}


def _member_condition(model: Model, group: str) -> str:
    if group == model.settings.default_group:
        return "true"
    if group not in model.groups:
        raise GitcfgError(f"There is no group {shown(group)}.", did_you_mean(group, model.groups))
    return f'"{group}" in node.groups'


def begin_term(order: Order, who: Mapping[str, Given], until: TermEnd, today: date) -> Order:
    """Return the order for a new one. Raise GitcfgError if its last day is past, or the reason is missing."""
    if until.day < today:
        raise GitcfgError(f"{until.day} is in the past.", "Give the last day on which it applies.")
    if not until.reason.strip():
        raise GitcfgError("It has no reason.", "Use `--reason TEXT` to explain it to others.")
    end = {"reason": Given(until.reason), "until": Given(str(until.day), str(until.day))}
    return msgspec.structs.replace(order, fields={**order.fields, **who, **end})


def find_expired(model: Model, term: Term, today: date) -> tuple[str, ...]:
    """Return the names of those whose last day is past."""
    return tuple(name for name, day in term.of(model).items() if day < today)


def lift_terms(term: Term, names: Iterable[str]) -> list[Order]:
    """Return the orders that delete definitions."""
    return [Order(Action.DELETE, term.value, name) for name in dict.fromkeys(names)]


def parse_last_day(text: str) -> date:
    """Parse a day in ISO format. Raise GitcfgError if it is not one."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise GitcfgError(f"{shown(text)} is not a date.", "Write YYYY-MM-DD.") from None
