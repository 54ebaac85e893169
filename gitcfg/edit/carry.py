"""Carries out orders on a draft: each becomes changes of the texts of one or more files."""

from collections.abc import Callable, Iterable
from functools import partial

from gitcfg.edit import lists
from gitcfg.edit.changes import Delete, Set
from gitcfg.edit.draft import Draft
from gitcfg.edit.entries import ListChange, joining, leaving, put, relist, take
from gitcfg.edit.kinds import Kind, kind_of
from gitcfg.edit.left import Freed, Left, still_left
from gitcfg.edit.orders import Deed, Given, Order
from gitcfg.edit.places import new_place, place_of, with_it
from gitcfg.edit.renamed import rename
from gitcfg.edit.secrets import count_on
from gitcfg.edit.target import name_of
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Last = Callable[[str], int]
"""The highest version that a secret of a name ever had; 0: there was none."""


def carry_out(draft: Draft, orders: Iterable[Order], last: Last = lambda _: 0) -> tuple[Left, ...]:
    """Carry out orders, one after another, and say where names of what was renamed still stand.

    GitcfgError: one cannot be; then the draft is of no use.
    """
    freed: list[Freed] = []
    for order in orders:
        kind = kind_of(order.kind)
        _refuse(order)
        match order.deed:
            case Deed.DELETE:
                _delete(draft, kind, order)
            case Deed.RENAME:
                freed.append(_rename(draft, kind, order, last))
            case Deed.NEW:
                _new(draft, kind, order)
                _edit(draft, kind, order)
            case Deed.MODIFY:
                _edit(draft, kind, order)
    return still_left(draft, freed)


def _refuse(order: Order) -> None:
    """GitcfgError: what an order says does not go together."""
    if order.at is not None and order.at < 0:
        raise GitcfgError(f"There is no position {order.at}.", "0 is the highest.")
    match order.deed:
        case Deed.DELETE if order != Order(Deed.DELETE, order.kind, order.name):
            raise GitcfgError("To delete a definition, only its kind and name are said.")
        case Deed.RENAME if order != Order(Deed.RENAME, order.kind, order.name, to=order.to):
            raise GitcfgError("To rename a definition, only its kind, its name and its new name are said.")
        case Deed.NEW | Deed.MODIFY if order.to is not None:
            raise GitcfgError("`to` goes with `rename` only.", 'Write it as {"do": "rename", ...}.')
        case Deed.MODIFY if order.place:
            raise GitcfgError("Only what is new is put somewhere.", "Move the file with `git mv`.")
        case Deed.MODIFY if not _says_something(order):
            raise GitcfgError("Nothing is said that shall be otherwise.", "See `gitcfg modify --help`.")


def _says_something(order: Order) -> bool:
    said = (order.add, order.remove, order.put, order.take, order.fields, order.drop)
    return any(said)


def _delete(draft: Draft, kind: Kind, order: Order) -> None:
    path = draft.path(kind, order.name)
    if kind.sheet:
        draft.change(path, Delete((kind.sheet, order.name)))
    else:
        for gone in (*with_it(draft, kind, path), path):
            draft.write(gone, None)


def _rename(draft: Draft, kind: Kind, order: Order, last: Last) -> Freed:
    if order.to is None:
        raise GitcfgError(f"It is not said what {shown(order.name)} is to be called.", 'Write "to": "NAME".')
    freed = rename(draft, kind, order.name, order.to)
    if kind.name == "secret":
        count_on(draft, order.to, last(order.to))
    return freed


def _new(draft: Draft, kind: Kind, order: Order) -> None:
    place = new_place(draft, kind, order.name, order.place)
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
        put(draft, kind, order.name, (kind.known(key, kind.fields),), given)
    for key in order.drop:
        take(draft, kind, order.name, (kind.known(key, kind.keys),))
    _lists(draft, kind, order)
    for key, entries in order.put.items():
        for name, given in entries.items():
            put(draft, kind, order.name, (kind.mapping(key), name), given)
    for key, names in order.take.items():
        for name in names:
            take(draft, kind, order.name, (kind.mapping(key), name))


def _lists(draft: Draft, kind: Kind, order: Order) -> None:
    for key, items in order.remove.items():
        for given in items:
            _relist(draft, kind, order.name, key, given, lists.removed)
    for key, items in order.add.items():
        for offset, given in enumerate(items):
            step = 0 if _is_membership(kind, key) else offset
            at = None if order.at is None else order.at + step
            _relist(draft, kind, order.name, key, given, partial(lists.added, at=at))


def _relist(draft: Draft, kind: Kind, name: str, key: str, given: Given, change: ListChange) -> None:
    """Change a list; of a group, its nodes are a list that stands in their own files."""
    if not _is_membership(kind, key):
        relist(draft, kind, name, key, given, change)
        return
    if name != draft.model.settings.default_group:
        place_of(draft, kind, name)
    nodes = name_of(given.meaning)
    hosts = leaving(draft, nodes, name) if change is lists.removed else joining(draft, nodes)
    for host, node in hosts:
        relist(draft, host, node, "groups", Given(name), change)


def _is_membership(kind: Kind, key: str) -> bool:
    return (kind.name, key) == ("group", "nodes")
