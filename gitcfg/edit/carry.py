"""Carries out orders on a draft: each becomes changes of the texts of one or more files."""

from collections.abc import Callable, Iterable
from functools import partial

from gitcfg.edit import lists
from gitcfg.edit.changes import Delete, Given, Set
from gitcfg.edit.draft import Draft
from gitcfg.edit.entries import ListChange, change_list, drop_entry, hosts_to_join, hosts_to_leave, set_entry
from gitcfg.edit.kinds import Kind, kind_of
from gitcfg.edit.left import FreedName, Leftover, recheck_leftovers
from gitcfg.edit.orders import Action, Order
from gitcfg.edit.places import choose_place, files_beside, find_place
from gitcfg.edit.renamed import rename
from gitcfg.edit.secrets import raise_version
from gitcfg.edit.target import name_of
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Last = Callable[[str], int]
"""The highest version that a secret of a name ever had; 0: there was none."""


def carry_out(draft: Draft, orders: Iterable[Order], last: Last = lambda _: 0) -> tuple[Leftover, ...]:
    """Carry out orders, one after another, and say where names of what was renamed still stand.

    GitcfgError: one cannot be; then the draft is of no use.
    """
    freed: list[FreedName] = []
    for order in orders:
        kind = kind_of(order.kind)
        _refuse(order)
        match order.deed:
            case Action.DELETE:
                _delete(draft, kind, order)
            case Action.RENAME:
                freed.append(_rename(draft, kind, order, last))
            case Action.NEW:
                _new(draft, kind, order)
                _edit(draft, kind, order)
            case Action.MODIFY:
                _edit(draft, kind, order)
    return recheck_leftovers(draft, freed)


def _refuse(order: Order) -> None:
    """GitcfgError: what an order says does not go together."""
    if order.at is not None and order.at < 0:
        raise GitcfgError(f"There is no position {order.at}.", "0 is the highest.")
    match order.deed:
        case Action.DELETE if order != Order(Action.DELETE, order.kind, order.name):
            raise GitcfgError("To delete a definition, only its kind and name are said.")
        case Action.RENAME if order != Order(Action.RENAME, order.kind, order.name, to=order.to):
            raise GitcfgError("To rename a definition, only its kind, its name and its new name are said.")
        case Action.NEW | Action.MODIFY if order.to is not None:
            raise GitcfgError("`to` goes with `rename` only.", 'Write it as {"do": "rename", ...}.')
        case Action.MODIFY if order.place:
            raise GitcfgError("Only what is new is put somewhere.", "Move the file with `git mv`.")
        case Action.MODIFY if not _says_something(order):
            raise GitcfgError("Nothing is said that shall be otherwise.", "See `gitcfg modify --help`.")


def _says_something(order: Order) -> bool:
    said = (order.add, order.remove, order.put, order.take, order.fields, order.drop)
    return any(said)


def _delete(draft: Draft, kind: Kind, order: Order) -> None:
    path = draft.path(kind, order.name)
    if kind.sheet:
        draft.change(path, Delete((kind.sheet, order.name)))
    else:
        for gone in (*files_beside(draft, kind, path), path):
            draft.write(gone, None)


def _rename(draft: Draft, kind: Kind, order: Order, last: Last) -> FreedName:
    if order.to is None:
        raise GitcfgError(f"It is not said what {shown(order.name)} is to be called.", 'Write "to": "NAME".')
    freed = rename(draft, kind, order.name, order.to)
    if kind.name == "secret":
        raise_version(draft, order.to, last(order.to))
    return freed


def _new(draft: Draft, kind: Kind, order: Order) -> None:
    place = choose_place(draft, kind, order.name, order.place)
    if not kind.sheet:
        draft.write(place.file, "{}\n")
        return
    text = draft.text(place.file)
    if text is None:
        draft.write(place.file, "{}\n")
    draft.change(place.file, Set(place.within, {}))


def _edit(draft: Draft, kind: Kind, order: Order) -> None:
    """All that an order says: whole keys first, then lists, then entries of mappings."""
    for key, given in order.fields.items():
        set_entry(draft, kind, order.name, (kind.known(key, kind.fields),), given)
    for key in order.drop:
        drop_entry(draft, kind, order.name, (kind.known(key, kind.keys),))
    _lists(draft, kind, order)
    for key, entries in order.put.items():
        for name, given in entries.items():
            set_entry(draft, kind, order.name, (kind.mapping(key), name), given)
    for key, names in order.take.items():
        for name in names:
            drop_entry(draft, kind, order.name, (kind.mapping(key), name))


def _lists(draft: Draft, kind: Kind, order: Order) -> None:
    for key, items in order.remove.items():
        for given in items:
            _relist(draft, kind, order.name, key, given, lists.remove_item)
    for key, items in order.add.items():
        for offset, given in enumerate(items):
            step = 0 if _is_membership(kind, key) else offset
            at = None if order.at is None else order.at + step
            _relist(draft, kind, order.name, key, given, partial(lists.add_item, at=at))


def _relist(draft: Draft, kind: Kind, name: str, key: str, given: Given, change: ListChange) -> None:
    """Change a list; of a group, its nodes are a list that stands in their own files."""
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
