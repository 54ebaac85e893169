"""Allocations as data, made of what was decided."""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.domain import Value
from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.rules import Allocation, Rule
from gitcfg.solve.fleet.base import natural

Given = Mapping[str, Mapping[str, Value]]
"""Values by slot and parameter (or attribute)."""


def placed(rule: str, slots: Sequence[str]) -> Allocation:
    """Where a rule's feature goes."""
    origin = _origin(rule)
    return Allocation(rule, origin, install=tuple(Ref(slot, origin) for slot in sorted(slots, key=natural)))


def given(rule: str, values: Given) -> Allocation:
    """Who gets which values of a rule's domains."""
    origin = _origin(rule)
    return Allocation(
        rule,
        origin,
        values={
            slot: {
                name: Binding(Op.SET, values[slot][name], None, origin, origin)
                for name in sorted(values[slot])
            }
            for slot in sorted(values, key=natural)
        },
    )


def _origin(rule: str) -> Origin:
    return Origin(f"allocations/{rule}.yaml")


# What is other in what was decided than in what stands: what comes, goes and changes, slot by slot.

_NOTHING: Mapping[str, Any] = {}
Allocations = Mapping[str, Allocation]


class Deed(StrEnum):
    """What becomes of a slot."""

    ADD = "add"
    REMOVE = "remove"
    CHANGE = "change"


class Change(msgspec.Struct, frozen=True):
    """One slot of one rule: a feature that comes or goes (`param` is empty), or a value that is other."""

    rule: str
    deed: Deed
    slot: str
    what: str
    param: bool = False
    old: int | str | None = None
    new: int | str | None = None


def difference(rules: Mapping[str, Rule], old: Allocations, new: Allocations) -> Iterator[Change]:
    """Rule by rule, slots in natural order; of rules that are gone as well."""
    for name in sorted(old.keys() | new.keys()):
        rule, before, after = rules.get(name), old.get(name), new.get(name)
        feature = rule.feature.name if rule is not None and rule.feature is not None else ""
        yield from _places(name, feature, before, after)
        yield from _values(name, before.values if before else _NOTHING, after.values if after else _NOTHING)


def _places(rule: str, feature: str, before: Allocation | None, after: Allocation | None) -> Iterator[Change]:
    had = {ref.name for ref in before.install} if before else set[str]()
    has = {ref.name for ref in after.install} if after else set[str]()
    for slot in sorted(had ^ has, key=natural):
        yield Change(rule, Deed.REMOVE if slot in had else Deed.ADD, slot, feature)


def _values(rule: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    for slot in sorted(before.keys() | after.keys(), key=natural):
        had, has = before.get(slot, _NOTHING), after.get(slot, _NOTHING)
        for param in sorted(had.keys() | has.keys()):
            old, new = _given(had, param), _given(has, param)
            if old != new:
                deed = Deed.ADD if old is None else Deed.REMOVE if new is None else Deed.CHANGE
                yield Change(rule, deed, slot, param, param=True, old=old, new=new)


def _given(values: Mapping[str, Any], param: str) -> Any:
    return values[param].given if param in values else None
