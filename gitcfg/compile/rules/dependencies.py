"""How rules that leave values open depend on each other, through these values.

Many rules may be about one value. Edges lead from rules to values and back, not from each rule to each other
rule.
"""

import re
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property

import msgspec

from gitcfg.cel import find_fields
from gitcfg.cel.expression import Expression
from gitcfg.compile.instances import find_marked
from gitcfg.compile.layers import Layers
from gitcfg.compile.operations import parse_collect
from gitcfg.compile.rules.rulebook import Circle, Rulebook, Strata, layer_names
from gitcfg.compile.values import Misfit
from gitcfg.model import Op, Origin
from gitcfg.model.rules import Rule, RuleKind

Attribute = tuple[str, str]
"""An attribute of a feature's instances: the feature and the attribute's name."""
_MARK = re.compile(r"\$\{[^{}]*\}")


class Following(msgspec.Struct, frozen=True):
    """Parameters, whose names may have marks, and attributes."""

    params: frozenset[str]
    attributes: frozenset[Attribute]


class Followers:
    """Finds what depends on a rule's values, independent of nodes."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._known: dict[tuple[str, ...], Following] = {}

    def of(self, rule: Rule) -> Following:
        """Return what depends on the values of a rule, including these values."""
        about = (rule.over.name if rule.over is not None else "", *sorted(rule.domains))
        if about not in self._known:
            self._known[about] = self._of(rule)
        return self._known[about]

    def _of(self, rule: Rule) -> Following:
        attributes = self._attributes(rule) if rule.over is not None else set[Attribute]()
        params = self._params_of_instances(attributes) if rule.over is not None else set(rule.domains)
        return Following(frozenset(self._collected(params)), frozenset(attributes))

    def _attributes(self, rule: Rule) -> set[Attribute]:
        """Return the attributes that instances get, and pass on to what they include."""
        names, gives = self._layers.model.features, self._layers.giving.gives
        todo = [(feature, name) for feature in names if gives(rule, feature) for name in rule.domains]
        found = set(todo)
        while todo:
            feature, name = todo.pop()
            for use in names[feature].include:
                passed = [to for to, bound in use.attributes.items() if name in find_marked(bound.given)]
                new = {(use.feature, to) for to in passed if use.feature in names} - found
                found |= new
                todo += sorted(new)
        return found

    def _params_of_instances(self, attributes: Set[Attribute]) -> set[str]:
        """Return the parameters whose names or values in instances use these attributes."""
        features = self._layers.model.features
        return {
            param
            for feature, name in attributes
            for param, bound in features[feature].params.items()
            if name in find_marked([param, bound.given])
        }

    def _collected(self, params: set[str]) -> set[str]:
        """Return parameters with those that are collected from them, directly or not."""
        found, todo = set(params), list(params)
        while todo and self._collects:
            sources = self._sources.meeting(todo.pop())
            new = {name for source in sources for name in self._collects[source]} - found
            found |= new
            todo += sorted(new)
        return found

    @cached_property
    def _sources(self) -> "Names":
        return Names(self._collects)

    @cached_property
    def _collects(self) -> Mapping[str, Set[str]]:
        """For each parameter, those that are collected from it."""
        found: dict[str, set[str]] = {}
        for name, bound in self._layers.model.bindings():
            if bound.op is Op.COLLECT:
                with suppress(Misfit):
                    found.setdefault(parse_collect(bound.given).param, set()).add(name)
        return found


class Names:
    """Names of parameters, which may have marks, searched for those that can be the same as a given one."""

    def __init__(self, names: Iterable[str]) -> None:
        listed = sorted(names)
        self._plain = [name for name in listed if "${" not in name]
        self._marked = [name for name in listed if "${" in name]

    def meeting(self, name: str) -> list[str]:
        """Return the names that can be the same as this one, once marks are replaced."""
        head, mark, _ = name.partition("${")
        last = head + chr(sys.maxunicode) if mark else name
        near = self._plain[bisect_left(self._plain, head) : bisect_right(self._plain, last)]
        return [other for other in (*near, *self._marked) if _meets(name, other)]


def _meets(one: str, other: str) -> bool:
    if "${" not in one and "${" not in other:
        return one == other
    if "${" in one and "${" in other:
        heads = sorted([one.partition("${")[0], other.partition("${")[0]], key=len)
        return heads[1].startswith(heads[0])
    marked, plain = (one, other) if "${" in one else (other, one)
    return re.fullmatch(".*".join(map(re.escape, _MARK.split(marked))), plain) is not None


# The edges by which rules depend on values that other rules leave open.

_PARAMS, _ATTRIBUTES = "node.params", "self.with"
_ANY = "*"


class Ways(msgspec.Struct):
    """Edges from rules to values, and from values to the rules that give them.

    Names of values contain spaces, so that none is the name of a rule. `reads` are the edges from a rule to
    what it reads: the rules that give this must come first.
    """

    leads: defaultdict[str, set[str]] = msgspec.field(default_factory=lambda: defaultdict(set))
    reads: defaultdict[str, set[str]] = msgspec.field(default_factory=lambda: defaultdict(set))

    def read(self, rule: str, value: str) -> None:
        """Add that a rule depends on what gives a value."""
        self.reads[rule].add(value)
        self._lead(rule, value)

    def give(self, value: str, rule: str) -> None:
        """Add that a rule gives a value that others read."""
        self._lead(value, rule)

    def share(self, value: str, rule: str) -> None:
        """Add that a rule is one of those about a value."""
        self._lead(value, rule)
        self._lead(rule, value)

    def _lead(self, one: str, other: str) -> None:
        self.leads[one].add(other)
        self.leads[other]


def find_ways(layers: Layers, book: Rulebook, rules: Sequence[Rule]) -> Ways:
    """Return the edges between rules that leave values open."""
    return _Finding(layers, book, rules).found


class _Finding:
    def __init__(self, layers: Layers, book: Rulebook, rules: Sequence[Rule]) -> None:
        self.found = Ways()
        self._layers = layers
        self._rules = rules
        self._asked: set[str] = set()
        self._overs: dict[str, frozenset[str]] = {}
        for rule in rules:
            self._read(rule, _expressions(book, rule))
        followers = Followers(layers)
        for rule in rules:
            self._give(rule, followers.of(rule))

    def _read(self, rule: Rule, expressions: Sequence[Expression]) -> None:
        """Add what a rule reads, and what it is about, since its own values may depend on given ones."""
        over = rule.over.name if rule.over is not None else ""
        for about in _find_keys(expressions, _PARAMS):
            self._asked.add(about)
            self.found.read(rule.name, _value("read", "", about))
        for about in _find_keys(expressions, _ATTRIBUTES) if over else ():
            self.found.read(rule.name, _value("read", over, about))
        if not over:
            self._asked.update(rule.domains)
        for about in rule.domains:
            self.found.read(rule.name, _value("made", over, about))
            self.found.share(_value("same", over, about), rule.name)

    def _give(self, rule: Rule, follows: Following) -> None:
        for name in self._met(follows):
            self.found.give(_value("read", "", name), rule.name)
            if rule.over is not None or name not in rule.domains:
                self.found.give(_value("made", "", name), rule.name)
        for feature, name in follows.attributes:
            for over in self._overs_of(feature):
                self.found.give(_value("read", over, name), rule.name)
                self.found.give(_value("read", over, _ANY), rule.name)
                if name in rule.domains:
                    self.found.share(_value("same", over, name), rule.name)
                else:
                    self.found.give(_value("made", over, name), rule.name)

    def _met(self, follows: Following) -> Iterator[str]:
        """Yield those of the read parameters that depend on the values."""
        if follows.params:
            yield _ANY
            yield from {name for each in follows.params for name in self._names.meeting(each)}

    @cached_property
    def _names(self) -> Names:
        return Names(self._asked - {_ANY})

    def _overs_of(self, feature: str) -> frozenset[str]:
        """Return the features of rules over instances that may apply to instances of this feature."""
        if feature not in self._overs:
            leads = self._layers.reaches.leads
            self._overs[feature] = frozenset(
                over for over in self._all_overs if feature == over or leads(feature, over)
            )
        return self._overs[feature]

    @cached_property
    def _all_overs(self) -> frozenset[str]:
        return frozenset(rule.over.name for rule in self._rules if rule.over is not None)


def _expressions(book: Rulebook, rule: Rule) -> list[Expression]:
    where, unique = book.wheres.get(rule.name), book.uniques.get(rule.name)
    found: list[Expression | None] = [where.condition if where else None, unique]
    return [expression for expression in found if expression is not None]


def _find_keys(expressions: Sequence[Expression], variable: str) -> Iterator[str]:
    """Yield the names that expressions look up in a map; `*` if they may read any."""
    for expression in expressions:
        if variable in expression.names:
            names = find_fields(expression, variable)
            yield from (_ANY,) if names is None else names


def _value(way: str, over: str, name: str) -> str:
    return f"{way} {over} {name}"


# The order of the rules that leave values open: a rule comes after those that give what it reads.


def order_valued(layers: Layers, book: Rulebook) -> Strata:
    """Return the order of these rules.

    Rules about the same values, between which the solver chooses at once, are in one layer. If one of them
    reads what another of them gives, they are a cycle.
    """
    rules = book.of_kind(RuleKind.DOMAIN)
    if not rules:
        return Strata((), ())
    found = find_ways(layers, book, rules)
    order, circles = layer_names(found.leads, found.reads, book.rules)
    return Strata(order, tuple(Circle(those, tuple(_places(book.rules, those))) for those in circles))


def _places(rules: Mapping[str, Rule], names: Iterable[str]) -> Iterator[Origin]:
    """Yield the places where rules leave values open, and of what they read for that."""
    for rule in map(rules.__getitem__, names):
        yield from (domain.origin for domain in rule.domains.values())
        if rule.where is not None:
            yield rule.where.origin
        if rule.unique is not None and rule.unique.key is not None:
            yield rule.unique.key.origin
