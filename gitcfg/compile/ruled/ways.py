"""The ways by which rules hear of values that other rules leave open: by way of the values themselves.

Of rules there may be many about one value; that each meets each is seen from both meeting the value.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec

from gitcfg.cel import fields_asked
from gitcfg.cel.expression import Expression
from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.following import Followers, Following, Names
from gitcfg.model.rules import Rule

_PARAMS, _ATTRIBUTES = "node.params", "self.with"
_ANY = "*"


class Ways(msgspec.Struct):
    """From rules to values, and from these to the rules that give them; values are written so that none is
    called as a rule is. `reads` are the ways from a rule to what it reads: what gives that must come first.
    """

    leads: defaultdict[str, set[str]] = msgspec.field(default_factory=lambda: defaultdict(set))
    reads: defaultdict[str, set[str]] = msgspec.field(default_factory=lambda: defaultdict(set))

    def read(self, rule: str, value: str) -> None:
        """A rule waits for what gives a value."""
        self.reads[rule].add(value)
        self._lead(rule, value)

    def give(self, value: str, rule: str) -> None:
        """A rule gives a value that others read."""
        self._lead(value, rule)

    def share(self, value: str, rule: str) -> None:
        """A rule is one of those about a value."""
        self._lead(value, rule)
        self._lead(rule, value)

    def _lead(self, one: str, other: str) -> None:
        self.leads[one].add(other)
        self.leads[other]


def ways(layers: Layers, book: Rulebook, rules: Sequence[Rule]) -> Ways:
    """How rules that leave values open hear of those of the others."""
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
        """What a rule asks for, and what it is about: its own values may follow from what is given."""
        over = rule.over.name if rule.over is not None else ""
        for about in _asked(expressions, _PARAMS):
            self._asked.add(about)
            self.found.read(rule.name, _value("read", "", about))
        for about in _asked(expressions, _ATTRIBUTES) if over else ():
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
        """The parameters that are asked for among those that follow."""
        if follows.params:
            yield _ANY
            yield from {name for each in follows.params for name in self._names.meeting(each)}

    @cached_property
    def _names(self) -> Names:
        return Names(self._asked - {_ANY})

    def _overs_of(self, feature: str) -> frozenset[str]:
        """The features over which rules go that may be for an instance of this one."""
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


def _asked(expressions: Sequence[Expression], variable: str) -> Iterator[str]:
    """The names for which expressions look in a map."""
    for expression in expressions:
        if variable in expression.names:
            names = fields_asked(expression, variable)
            yield from (_ANY,) if names is None else names


def _value(way: str, over: str, name: str) -> str:
    return f"{way} {over} {name}"
