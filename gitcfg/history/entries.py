"""The entries of a definition, each by the place it is written at, as what can be equal in another commit."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.history.meaning import said
from gitcfg.model import Feature, Group, ListEdit, Node, NodeSet, Op, Origin, Override, Ref, Use

Entry = tuple[str, ...]
"""What the entry is, which one, and what it says."""


class Entries(msgspec.Struct, frozen=True):
    """Every entry of a definition, and those that stand at each place."""

    all: frozenset[Entry] = frozenset()
    at: Mapping[Origin, frozenset[Entry]] = {}


def entries(definition: Any) -> Entries:
    """The entries of a feature, group, node, node set or override; none of what is not there."""
    found: dict[Origin, set[Entry]] = {}
    for origin, entry in _entries(definition) if definition is not None else ():
        found.setdefault(origin, set()).add(entry)
    at = {origin: frozenset(those) for origin, those in found.items()}
    return Entries(frozenset().union(*at.values()), at)


def _entries(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    if isinstance(definition, NodeSet):
        definition = definition.definition
    yield definition.origin, ("definition",)
    for name, bound in definition.params.items():
        yield bound.origin, ("params", name, said(bound))
    for path, file in definition.files.items():
        yield file.origin, ("files", path, said(file))
    yield from _lists(definition)


def _lists(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    match definition:
        case Feature():
            yield from _items("include", definition.include)
        case Group():
            yield from _items("features", definition.features)
        case Override():
            yield from _items("features", definition.features)
            yield from _items("without", definition.without)
        case Node():
            for key in ("groups", "features", "without", "labels"):
                edit: ListEdit = getattr(definition, key)
                yield from _items(f"not in {key}" if edit.op is Op.REMOVE else key, edit.items)


def _items(key: str, items: Iterable[Use | Ref]) -> Iterator[tuple[Origin, Entry]]:
    """The items of a list; where in the list they stand is no part of what they are."""
    for item in items:
        yield item.origin, (key, said(item))
