"""The entries of a definition, each by the place it is written at, as what can be equal in another commit."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.history.meaning import said
from gitcfg.model import (
    Allocation,
    Feature,
    Group,
    ListEdit,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Ref,
    Rule,
    Use,
)

Entry = tuple[str, ...]
"""What the entry is, which one, and what it says."""


class Entries(msgspec.Struct, frozen=True):
    """Every entry of a definition, and those that stand at each place."""

    all: frozenset[Entry] = frozenset()
    at: Mapping[Origin, frozenset[Entry]] = {}


def entries(definition: Any) -> Entries:
    """The entries of a feature, group, node, node set, override, allocation, or of rules together.

    None of what is not there.
    """
    found: dict[Origin, set[Entry]] = {}
    for origin, entry in _entries(definition) if definition is not None else ():
        found.setdefault(origin, set()).add(entry)
    at = {origin: frozenset(those) for origin, those in found.items()}
    return Entries(frozenset().union(*at.values()), at)


def _entries(definition: Any) -> Iterator[tuple[Origin, Entry]]:
    if isinstance(definition, tuple):
        for rule in definition:
            yield from _rule(rule)
        return
    if isinstance(definition, Allocation):
        yield from _decided(definition)
        return
    if isinstance(definition, NodeSet):
        definition = definition.definition
    yield definition.origin, ("definition",)
    for name, bound in definition.params.items():
        yield bound.origin, ("params", name, said(bound))
    for path, file in definition.files.items():
        yield file.origin, ("files", path, said(file))
    yield from _lists(definition)


def _rule(rule: Rule) -> Iterator[tuple[Origin, Entry]]:
    """What trails and places tell of a rule: what it installs, and what it sets."""
    yield rule.origin, ("rule", rule.name)
    if rule.feature is not None:
        yield rule.feature.origin, ("feature", rule.name, rule.feature.name)
    for name, bound in rule.params.items():
        yield bound.origin, ("params", rule.name, name, said(bound))


def _decided(found: Allocation) -> Iterator[tuple[Origin, Entry]]:
    yield from _items("install", found.install)
    for slot, values in found.values.items():
        for name, bound in values.items():
            yield bound.origin, ("values", slot, name, said(bound))


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
