"""The rules of a repository, compiled once: their expressions, their order, and limits on choices."""

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from typing import TypeVar

import msgspec

from gitcfg.cel import Budget, CelStopped, Condition, KeyExpression
from gitcfg.cel.expression import Expression
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.rules.evaluate import (
    Answers,
    Candidate,
    Unreadable,
    Where,
    ask_condition,
    find_features_named,
    find_params_read,
    read_per,
    read_require,
    read_unique,
    read_where,
)
from gitcfg.compile.selection import Stopped
from gitcfg.model import Origin
from gitcfg.model.graph import components, reverse
from gitcfg.model.rules import Rule, RuleKind

Names = tuple[tuple[str, ...], ...]
Leads = Mapping[str, Set[str]]
"""Edges: for each name or place, those that it leads to."""
_ALL = "all features"


class Circle(msgspec.Struct, frozen=True):
    """Rules that install what they read, through one another or alone: none of them installs anything."""

    rules: tuple[str, ...]
    origins: tuple[Origin, ...]


class Strata(msgspec.Struct, frozen=True):
    """Layers of rules that are evaluated together, each after those that it depends on; in order of name."""

    layers: tuple[tuple[str, ...], ...]
    circles: tuple[Circle, ...]


def stratify(
    rules: Sequence[Rule],
    wheres: Mapping[str, Where],
    pers: Mapping[str, KeyExpression],
    inclusion: Inclusion,
) -> Strata:
    """Return the order of install rules. All of their conditions and keys must be readable."""
    leads = find_waiting(
        rules, {rule.name: find_features_read(rule, wheres, pers) for rule in rules}, inclusion
    )
    by_name = {rule.name: rule for rule in rules}
    layers, circles = layer_names(leads, leads, by_name)
    return Strata(layers, tuple(Circle(those, tuple(_places(by_name, those))) for those in circles))


def layer_names(leads: Leads, waits: Leads, names: Container[str]) -> tuple[Names, Names]:
    """Return names in layers, each after all that it leads to, also through other places; and cycles.

    `waits` are the edges that must not be on a cycle; others may connect names of one layer in both
    directions.
    """
    level: dict[str, int] = {}
    circles = []
    for members in components({place: sorted(leads[place]) for place in sorted(leads)}):
        inside, found = {*members}, tuple(place for place in members if place in names)
        before = max((level.get(to, 0) for one in members for to in leads[one] - inside), default=0)
        level.update(dict.fromkeys(inside.difference(found), before))
        if any(waits[name] & inside for name in found if name in waits):
            circles.append(found)
        else:
            level.update(dict.fromkeys(found, before + 1))
    layers: list[list[str]] = [[] for _ in range(max(level.values(), default=0))]
    for name in sorted(name for name in level if name in names):
        layers[level[name] - 1].append(name)
    return tuple(map(tuple, layers)), tuple(sorted(circles))


def find_waiting(
    rules: Sequence[Rule], reads: Mapping[str, frozenset[str] | None], inclusion: Inclusion
) -> dict[str, set[str]]:
    """Return edges from rules to the features that they read, and from these to the rules that install them.

    A rule that reads all features depends on all other rules. Features are nodes of the graph, with names
    that no rule has, since edges from each rule to each rule would be too many.
    """
    asked = {feature for found in reads.values() for feature in found or ()}
    leads: dict[str, set[str]] = {one: set() for one in (*(rule.name for rule in rules), *map(_place, asked))}
    for rule in rules:
        for feature in find_rule_features(rule, inclusion) & asked:
            leads[_place(feature)].add(rule.name)
    everyone, looking = {rule.name for rule in rules}, [one for one, found in reads.items() if found is None]
    if len(looking) > 1:  # they depend on each other
        leads[_ALL] = everyone
    for name, found in reads.items():
        other = {_ALL} if len(looking) > 1 else everyone - {name}
        leads.setdefault(name, set()).update(other if found is None else map(_place, found))
    return leads


def _place(feature: str) -> str:
    return f"feature {feature}"


def find_rule_features(rule: Rule, inclusion: Inclusion) -> frozenset[str]:
    """Return the feature that a rule installs, with all that it includes."""
    feature = rule.feature.name if rule.feature else ""
    return inclusion.reaches.closed([feature]) if feature in inclusion.edges else frozenset({feature})


def find_features_read(
    rule: Rule, wheres: Mapping[str, Where], pers: Mapping[str, KeyExpression]
) -> frozenset[str] | None:
    """Return the features that a rule reads; None: it may read all of them."""
    where, per = wheres.get(rule.name), pers.get(rule.name)
    over = frozenset[str]() if rule.over is None else frozenset({rule.over.name})
    keys = frozenset[str]() if per is None else find_features_named(per)
    asked = frozenset[str]() if where is None else where.asked
    return None if asked is None or keys is None else asked | keys | over


def _places(rules: Mapping[str, Rule], names: Iterable[str]) -> Iterator[Origin]:
    """Yield the places of what rules install, and of what they read for that."""
    for rule in map(rules.__getitem__, names):
        yield from (ref.origin for ref in (rule.feature, rule.over, rule.where, rule.per) if ref is not None)


# Limits that depend on the very choices that they limit.

Reads = Mapping[str, frozenset[str] | None]
NAMED = 10
"""The most deciding rules that are named for a limit, the nearest first."""


def find_led_limits(
    limits: Sequence[Rule], installs: Sequence[Rule], reads: Reads, inclusion: Inclusion
) -> dict[str, tuple[str, ...]]:
    """Return limits whose nodes depend on rules that make choices, with these rules.

    `reads` are the features that each rule reads; None: it may read all.
    """
    choosing = frozenset(rule.name for rule in installs if rule.count is not None)
    if not choosing:
        return {}
    leads = find_waiting(installs, reads, inclusion)
    leading = _leading(leads, choosing)
    named = ((limit.name, _nearest(limit.name, leads, leading, choosing)) for limit in limits)
    return {limit: tuple(sorted(names)) for limit, names in named if names}


def _leading(leads: Leads, ends: Set[str]) -> Set[str]:
    """Return all that leads to any of these ends, with the ends."""
    back, found, todo = reverse(leads), set(ends), [*ends]
    while todo:
        new = set(back[todo.pop()]) - found
        found |= new
        todo += new
    return found


def _nearest(limit: str, leads: Leads, leading: Set[str], choosing: Set[str]) -> list[str]:
    found, seen, todo = list[str](), {limit}, deque([limit])
    while todo and len(found) < NAMED:
        for name in sorted(leads[todo.popleft()] & leading - seen):
            seen.add(name)
            todo.append(name)
            found += [name] if name in choosing else []
    return found[:NAMED]


def find_places(limit: Rule, deciding: Sequence[Rule]) -> Iterator[Origin]:
    """Yield the places of what a limit reads, and of the rules that decide it."""
    yield from (ref.origin for ref in (limit.where, limit.per, limit.over) if ref is not None)
    yield from (rule.feature.origin for rule in deciding if rule.feature is not None)


# The rules of a repository, compiled once: conditions, and the order in which they install.

T = TypeVar("T")


class Parts(Mapping[str, T]):
    """One kind of expression of all rules, compiled at first use. Only rules with a valid one are keys."""

    def __init__(self, rules: Mapping[str, Rule], read: Callable[[Rule], T | Unreadable | None]) -> None:
        self._rules = rules
        self._read = read
        self._found: dict[str, T | Unreadable | None] = {}

    def __getitem__(self, name: str) -> T:
        found = self._of(name)
        if found is None or isinstance(found, Unreadable):
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._rules if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def wrong(self, name: str) -> Unreadable | None:
        """Return the error of a rule's expression, or None."""
        found = self._of(name)
        return found if isinstance(found, Unreadable) else None

    def _of(self, name: str) -> T | Unreadable | None:
        if name not in self._found:
            self._found[name] = self._read(self._rules[name])
        return self._found[name]


class Rulebook:
    """Rules by name. `inclusion` has the includes of the features that rules refer to.

    A rule with an expression that is not valid has no effect, nor has one that installs what it reads itself.
    `budgets` are the evaluation budgets of rules for all nodes, by name.
    """

    def __init__(self, rules: Mapping[str, Rule], inclusion: Inclusion) -> None:
        self.rules = {name: rules[name] for name in sorted(rules)}
        self.inclusion = inclusion
        self.budgets: defaultdict[str, Budget] = defaultdict(Budget)
        self.wheres: Parts[Where] = Parts(self.rules, read_where)
        self.pers: Parts[KeyExpression] = Parts(self.rules, read_per)
        self.uniques: Parts[KeyExpression] = Parts(self.rules, read_unique)
        self.requires: Parts[Condition] = Parts(self.rules, read_require)
        self._meaning: dict[str, bool] = {}

    @cached_property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Expressions that are not valid, by rule and part. All expressions are compiled for this."""
        wrong = (found for name in self.rules for found in self._wrong(name))
        return tuple(sorted(wrong, key=lambda found: (found.rule, found.part)))

    def _wrong(self, name: str) -> Iterator[Unreadable]:
        for parts in (self.wheres, self.pers, self.uniques, self.requires):
            found = parts.wrong(name)
            if found is not None:
                yield found

    def of_kind(self, *kinds: RuleKind) -> tuple[Rule, ...]:
        """Return the rules of these kinds whose expressions are valid, in order of name."""
        some = (rule for rule in self.rules.values() if rule.kind in kinds)
        return tuple(rule for rule in some if self._means(rule.name))

    def _means(self, name: str) -> bool:
        """Return whether all expressions of a rule are valid."""
        if name not in self._meaning:
            self._meaning[name] = next(self._wrong(name), None) is None
        return self._meaning[name]

    def evaluate(self, rule: Rule, seen: Sequence[Candidate]) -> Answers:
        """Return where the condition of a rule holds. Raise Stopped if the evaluation does not finish."""
        try:
            return ask_condition(self.wheres.get(rule.name), seen, self.budgets[rule.name])
        except CelStopped as problem:
            raise Stopped(f"The `where` of the rule {rule.name}", problem, rule.name, rule.where) from None

    @cached_property
    def params_read(self) -> frozenset[str] | None:
        """The parameters that expressions read; None: any may be."""
        found = [
            find_params_read(expression) for name in self.rules for expression in self._expressions(name)
        ]
        known = [names for names in found if names is not None]
        return frozenset[str]().union(*known) if len(known) == len(found) else None

    def _expressions(self, name: str) -> Iterator[Expression]:
        if name in self.wheres:
            yield self.wheres[name].condition
        parts: Sequence[Mapping[str, Expression]] = (self.pers, self.uniques, self.requires)
        yield from (expressions[name] for expressions in parts if name in expressions)

    @cached_property
    def strata(self) -> Strata:
        """The order of the rules that install, including those that count their places."""
        return stratify(self.of_kind(RuleKind.INSTALL), self.wheres, self.pers, self.inclusion)

    @cached_property
    def led(self) -> Mapping[str, tuple[str, ...]]:
        """The limits that depend on rules which must respect them, with these rules."""
        limits, installs = self.of_kind(RuleKind.LIMIT), self.of_kind(RuleKind.INSTALL)
        reads = {rule.name: find_features_read(rule, self.wheres, self.pers) for rule in (*limits, *installs)}
        return find_led_limits(limits, installs, reads, self.inclusion)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The stratum of each rule that installs, from 0; rules on cycles have none."""
        layers: Iterable[tuple[str, ...]] = self.strata.layers
        return {name: level for level, names in enumerate(layers) for name in names}
