"""What rules saw of each node where nothing was wrong, so that a change is compared with that."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import TypeVar

import msgspec

from gitcfg.cel import Key, as_key, plain_key
from gitcfg.check.rules.base import Holding, RuledFleet
from gitcfg.check.rules.conditions import Failures, judged_whole
from gitcfg.check.rules.counts import counted, right, room, scopes
from gitcfg.domain import Value, Values
from gitcfg.model import Finding
from gitcfg.model.rules import Allocation, Rule, RuleKind

T = TypeVar("T")
PlainKey = str | int | float | bool | list[str | int | float | bool] | None
"""A key as it is kept: what `plain_key` makes of it."""


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """How often each slot counts for a rule; `among`: the groups that its numbers are about."""

    among: int
    found: dict[str, int]


class Different(msgspec.Struct, frozen=True, array_like=True):
    """The values of each slot by name, which differ within groups; None: it has none."""

    among: int
    had: dict[str, dict[str, int | str | None]]


class Ledger(msgspec.Struct, frozen=True, array_like=True):
    """By slot, what a later check must know of nodes that it does not look at again.

    `groups` have the key of each slot; rules that group alike share one. `counted` and `different` are by
    rule, as `whole`, the nodes in groups about which an invariant is asked as a whole, and `decided`, what
    allocations say.
    """

    groups: list[dict[str, PlainKey]] = []
    counted: dict[str, Numbers] = {}
    different: dict[str, Different] = {}
    whole: dict[str, list[str]] = {}
    decided: dict[str, dict[str, str]] = {}

    def matches(self, other: "Ledger") -> bool:
        """Return whether it is about the same rules with the same groups."""
        return self._about() == other._about()

    def _about(self) -> tuple[object, ...]:
        found = (self.counted.items(), self.different.items())
        return len(self.groups), *({rule: said.among for rule, said in each} for each in found)

    def followed(self, after: "Ledger", names: Set[str]) -> "Ledger":
        """Return the same with what was seen of some nodes later, by the same rules."""
        pairs = zip(self.groups, after.groups, strict=True)
        counted = {
            rule: Numbers(new.among, _followed(self.counted[rule].found, new.found, names))
            for rule, new in after.counted.items()
        }
        different = {
            rule: Different(new.among, _followed(self.different[rule].had, new.had, names))
            for rule, new in after.different.items()
        }
        return Ledger(
            [_followed(*pair, names) for pair in pairs], counted, different, self.whole, after.decided
        )


class TakenOver(msgspec.Struct, frozen=True):
    """What a check found of rules that looked at some nodes alone: nothing."""

    after: Ledger
    findings: tuple[Finding, ...] = ()

    def ledger(self) -> Ledger:
        """Return what the next check may take over."""
        return self.after


def _followed(before: Mapping[str, T], after: Mapping[str, T], names: Set[str]) -> dict[str, T]:
    kept = {slot: seen for slot, seen in before.items() if slot.partition("/")[0] not in names}
    return {**kept, **after}


# Keeps what rules saw, and judges by it alone whether they still hold after a change of some nodes.

Keys = dict[str, PlainKey]
"""The keys of slots."""
_LARGE = 1 << 63


def kept(ruled: RuledFleet, holding: Holding, failures: Failures) -> Ledger:
    """Return what is kept of a check of rules that finds nothing."""
    groups: list[Keys] = []
    numbers = dict(_numbers(ruled, groups))
    different = dict(_different(ruled, holding, failures, groups))
    whole = {rule: [seen.name for seen in ruled.view.slots(rule)] for rule in judged_whole(ruled)}
    return Ledger(groups, numbers, different, whole, decided(ruled.fleet.model.allocations))


def decided(allocations: Mapping[str, Allocation]) -> dict[str, dict[str, str]]:
    """Return what stands in the lines of allocations, wherever they are."""
    return {name: dict(_lines(said)) for name, said in allocations.items()}


def _lines(said: Allocation) -> Iterator[tuple[str, str]]:
    for ref in said.install:
        yield ref.name, ""
    for slot, given in said.values.items():
        yield slot, repr([(name, bound.op.value, bound.given, bound.text) for name, bound in given.items()])


def touched(before: Ledger, allocations: Mapping[str, Allocation]) -> set[str]:
    """Return the nodes about which something else was decided since, those that are gone among them."""
    now = decided(allocations)
    pairs = [(before.decided.get(name, {}), now.get(name, {})) for name in before.decided.keys() | now.keys()]
    return {slot.partition("/")[0] for old, new in pairs for slot, _ in old.items() ^ new.items()}


def _numbers(ruled: RuledFleet, groups: list[Keys]) -> Iterator[tuple[str, Numbers]]:
    """How often slots count, by rule. Groups come in the order of the rules, whatever nodes there are."""
    places: dict[int, int] = {}
    for rule in ruled.rules(RuleKind.INSTALL, RuleKind.LIMIT):
        if rule.count is None or rule.feature is None:
            continue
        known = ruled.view.grouped(rule.name)
        place = places.setdefault(id(known), len(groups))
        if place == len(groups):
            groups.append(
                {seen.slot: plain_key(key) for key, slots in known.groups.items() for seen in slots}
            )
        found = counted(ruled, rule, rule.feature.name).values()
        yield rule.name, Numbers(place, Counter(seen.slot for those in found for seen in those))


def _different(
    ruled: RuledFleet, holding: Holding, failures: Failures, groups: list[Keys]
) -> Iterator[tuple[str, Different]]:
    """Yield the values that differ, by rule."""
    for rule in ruled.rules(RuleKind.DOMAIN):
        if rule.unique is not None:
            within = scopes(ruled, rule, rule.unique, failures)
            groups.append({slot: plain_key(key) for slot, key in within.items()})
            yield rule.name, Different(len(groups) - 1, _had(holding, rule))


def _had(holding: Holding, rule: Rule) -> dict[str, dict[str, int | str | None]]:
    found: dict[str, dict[str, int | str | None]] = {}
    for held in holding.of(rule):
        same = None if held.value is None else held.normal(holding.values[rule.name, held.name])
        found.setdefault(held.seen.slot, {})[held.name] = None if same is None else _packed(same[1])
    return found


def _packed(value: Value) -> Value:
    """Return a value as a cache can hold it: of large numbers the digits."""
    return str(value) if isinstance(value, int) and not -_LARGE <= value < _LARGE else value


def hold(ruled: RuledFleet, holding: Holding, ledger: Ledger) -> bool:
    """Return whether the rules hold for what they counted."""
    rules = ruled.view.book.rules
    groups = [{slot: _key(key) for slot, key in keys.items()} for keys in ledger.groups]
    counted, different = ledger.counted.items(), ledger.different.items()
    return all(_enough(rules[name], groups[said.among], said.found) for name, said in counted) and all(
        _differ(holding, rules[name], groups[said.among], said.had) for name, said in different
    )


def _key(kept: PlainKey) -> Key | None:
    return None if kept is None else as_key(tuple(kept) if isinstance(kept, list) else kept)


def _enough(rule: Rule, keys: Mapping[str, Key | None], found: Mapping[str, int]) -> bool:
    numbers = dict.fromkeys(keys.values() if rule.per is not None else (None,), 0)
    for slot, number in found.items():
        numbers[keys[slot]] += number
    return rule.count is None or all(right(rule.count, number) for number in numbers.values())


def _differ(
    holding: Holding,
    rule: Rule,
    keys: Mapping[str, Key | None],
    had: Mapping[str, Mapping[str, int | str | None]],
) -> bool:
    """Return whether each group has enough distinct values, and none twice."""
    wanting: dict[Key | None, Counter[str]] = {}
    taken = set()
    for slot, values in had.items():
        key = keys[slot]
        wanting.setdefault(key, Counter()).update(values.keys())
        for name, value in values.items():
            if value is not None:
                same = key, holding.values[rule.name, name].kind, value
                if same in taken:
                    return False
                taken.add(same)
    return all(_room(holding, rule, names) for names in wanting.values())


def _room(holding: Holding, rule: Rule, names: Counter[str]) -> bool:
    domains: dict[str, Values] = {name: holding.values[rule.name, name] for name in names}
    return all(sum(names[name] for name in those) <= size for those, size in room(domains))
