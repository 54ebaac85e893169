"""The check of rules: of a whole fleet, or of some nodes with earlier counts of the others."""

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from functools import cached_property
from itertools import chain
from typing import TypeVar

import msgspec

from gitcfg.cel import Key, as_key, plain_key
from gitcfg.check.rules.conditions import Failures, invariants, judged_whole, meaningless
from gitcfg.check.rules.counts import counted, counts, leftover, pointless, right, room, scopes, unique
from gitcfg.check.rules.ruled_fleet import Holding, RuledFleet
from gitcfg.check.rules.values import attributes, collected, domains, misread
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.rules.placement import RuleEngine
from gitcfg.domain import Value
from gitcfg.model import Finding
from gitcfg.model.rules import Allocation, Rule, RuleKind

T = TypeVar("T")
PlainKey = str | int | float | bool | list[str | int | float | bool] | None
"""A key in the form that is cached, made by `plain_key`."""


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """How often each slot counts for a rule; `among` is the index of its groups."""

    among: int
    found: dict[str, int]


class Different(msgspec.Struct, frozen=True, array_like=True):
    """The values of each slot by name, which must differ within groups; None: it has none.

    `among`: the groups.
    """

    among: int
    had: dict[str, dict[str, int | str | None]]


class Ledger(msgspec.Struct, frozen=True, array_like=True):
    """What a later check needs of nodes that it does not check again, by slot.

    `groups` have the key of each slot; rules with the same groups share one. By rule: `counted` and
    `different`; `whole`, the nodes in groups with an invariant about the group as a whole; `decided`, the
    lines of allocations.
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
        """Return the ledger with the entries of some nodes replaced by those of a later check.

        Both must be about the same rules.
        """
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


class ReusedRuling(msgspec.Struct, frozen=True):
    """The result of a check of some nodes that found no violated rules."""

    after: Ledger
    findings: tuple[Finding, ...] = ()

    def ledger(self) -> Ledger:
        """Return what the next check may start from."""
        return self.after


def _followed(before: Mapping[str, T], after: Mapping[str, T], names: Set[str]) -> dict[str, T]:
    kept = {slot: seen for slot, seen in before.items() if slot.partition("/")[0] not in names}
    return {**kept, **after}


# Records what rules counted, and decides from it alone whether they still hold after a change of some nodes.

Keys = dict[str, PlainKey]
"""The keys of slots."""
_LARGE = 1 << 63


def make_ledger(judged: "Judged") -> Ledger:
    """Return the ledger of a check of rules without findings."""
    ruled, groups = judged.ruled, list[Keys]()
    numbers = dict(_numbers(ruled, groups))
    different = dict(_different(judged, groups))
    whole = {rule: [seen.name for seen in ruled.view.slots(rule)] for rule in judged_whole(ruled)}
    return Ledger(groups, numbers, different, whole, decided(ruled.fleet.model.allocations))


def decided(allocations: Mapping[str, Allocation]) -> dict[str, dict[str, str]]:
    """Return the content of the lines of allocations, without places."""
    return {name: dict(_lines(said)) for name, said in allocations.items()}


def _lines(said: Allocation) -> Iterator[tuple[str, str]]:
    for ref in said.install:
        yield ref.name, ""
    for slot, given in said.values.items():
        yield slot, repr([(name, bound.op.value, bound.given, bound.text) for name, bound in given.items()])


def find_reallocated_nodes(before: Ledger, allocations: Mapping[str, Allocation]) -> set[str]:
    """Return the nodes whose lines in allocations changed, and those whose lines are gone."""
    now = decided(allocations)
    pairs = [(before.decided.get(name, {}), now.get(name, {})) for name in before.decided.keys() | now.keys()]
    return {slot.partition("/")[0] for old, new in pairs for slot, _ in old.items() ^ new.items()}


def _numbers(ruled: RuledFleet, groups: list[Keys]) -> Iterator[tuple[str, Numbers]]:
    """Yield how often slots count, by rule.

    The order of the groups depends on the rules only, not on nodes.
    """
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


def _different(judged: "Judged", groups: list[Keys]) -> Iterator[tuple[str, Different]]:
    """Yield the values that must differ, by rule."""
    for rule in judged.ruled.rules(RuleKind.DOMAIN):
        if rule.unique is not None:
            within = scopes(judged.ruled, rule, rule.unique, judged.failures)
            groups.append({slot: plain_key(key) for slot, key in within.items()})
            yield rule.name, Different(len(groups) - 1, _had(judged.holding, rule))


def _had(holding: Holding, rule: Rule) -> dict[str, dict[str, int | str | None]]:
    found: dict[str, dict[str, int | str | None]] = {}
    for held in holding.of(rule):
        same = None if held.value is None else held.normal(holding.values[rule.name, held.name])
        found.setdefault(held.seen.slot, {})[held.name] = None if same is None else _packed(same[1])
    return found


def _packed(value: Value) -> Value:
    """Return a value that a cache can store: large numbers as text."""
    return str(value) if isinstance(value, int) and not -_LARGE <= value < _LARGE else value


def _hold(judged: "Judged", ledger: Ledger) -> bool:
    """Return whether the rules hold for what the ledger counted."""
    rules, holding = judged.ruled.view.book.rules, judged.holding
    groups = [{slot: _unpacked(key) for slot, key in keys.items()} for keys in ledger.groups]
    counted, different = ledger.counted.items(), ledger.different.items()
    return all(_enough(rules[name], groups[said.among], said.found) for name, said in counted) and all(
        _differ(holding, rules[name], groups[said.among], said.had) for name, said in different
    )


def _unpacked(kept: PlainKey) -> Key | None:
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
    """Return whether the values in each group are different, and the domains have enough values."""
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
    for names in wanting.values():
        domains = {name: holding.values[rule.name, name] for name in names}
        if any(sum(names[name] for name in alike) > size for alike, size in room(domains)):
            return False
    return True


# The checks of rules on a fleet.

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""If a definition of these kinds was misread, it is not known what nodes have."""


class Ruling:
    """The findings about rules, computed at first use."""

    def __init__(self, fleet: Fleet, names: Set[str] | None = None) -> None:
        """`names` are the nodes if the fleet has only some: then all findings are about single nodes."""
        self._fleet = fleet
        self._names = names
        self._judged: Judged | None = None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings about rules."""
        return tuple(self._found())

    def ledger(self) -> Ledger | None:
        """Return what the next check may start from; None if there are findings."""
        if self.findings:
            return None
        return Ledger() if self._judged is None else make_ledger(self._judged)

    def _found(self) -> Iterator[Finding]:
        fleet, model = self._fleet, self._fleet.model
        if model.allocations:
            yield from pointless(model)
        known = not any(model.unread.get(kind) for kind in _JUDGED)
        if fleet.rule_engine is not None:
            self._judged = judged = Judged(fleet, fleet.rule_engine, self._names)
            yield from judged.of_rules()
            if known:
                yield from judged.of_nodes() if self._names is None else judged.of_each()
        if fleet.collecting is not None and known:
            yield from collected(fleet.collecting)


# The checks by what they are about: rules alone, all nodes together, and single nodes.


class Judged:
    """A fleet, whole or only its nodes `names`, and the findings about its rules."""

    def __init__(self, fleet: Fleet, rule_engine: RuleEngine, names: Set[str] | None = None) -> None:
        self.ruled = RuledFleet(fleet, rule_engine, names)
        self.holding = Holding(self.ruled)
        self.failures = Failures(self.ruled)

    def of_rules(self) -> Iterator[Finding]:
        """Yield what is wrong with rules independent of nodes."""
        yield from meaningless(self.ruled)
        yield from misread(self.ruled, self.holding)

    def of_nodes(self) -> Iterator[Finding]:
        """Yield what is wrong with nodes together, and with single nodes."""
        yield from counts(self.ruled)
        yield from unique(self.ruled, self.holding, self.failures)
        yield from self.of_each()

    def of_each(self) -> Iterator[Finding]:
        """Yield what is wrong with single nodes, and expressions that fail on them."""
        yield from leftover(self.ruled, self.holding)
        yield from domains(self.ruled, self.holding)
        yield from attributes(self.ruled)
        yield from invariants(self.ruled, self.failures)
        yield from self.failures.findings()


def follow_ledger(before: Ledger, fleet: Fleet, rule_engine: RuleEngine, names: Set[str]) -> Ledger | None:
    """Return the ledger after a change of some nodes, which are all nodes of the fleet.

    None: rules may be violated, which only a check of all nodes can decide and report.
    """
    judged = Judged(fleet, rule_engine, names)
    if any(True for _ in chain(pointless(fleet.model), judged.of_rules())):
        return None  # changed features may have made cycles of rules
    ledger = make_ledger(judged)
    if not before.matches(ledger) or any(
        not names.isdisjoint(nodes) for nodes in (*before.whole.values(), *ledger.whole.values())
    ):
        return None
    if any(True for _ in judged.of_each()):
        return None
    after = before.followed(ledger, names)
    return after if _hold(judged, after) else None
