"""The order of the rules that leave values open: one that reads a value comes after those that give it."""

from collections.abc import Iterator, Mapping, Sequence

from gitcfg.cel import fields_asked
from gitcfg.cel.expression import Expression
from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.following import Followers, Following, among
from gitcfg.compile.ruled.strata import Circle, Strata
from gitcfg.graph import components
from gitcfg.model import Origin
from gitcfg.model.rules import Rule, RuleKind

_PARAMS, _ATTRIBUTES = "node.params", "self.with"


def valued(layers: Layers, book: Rulebook) -> Strata:
    """The order. Rules about the same values, between which the solver chooses at once, are in one layer;
    where one of them reads what another of them gives they are a circle."""
    rules = book.of_kind(RuleKind.DOMAIN)
    if not rules:
        return Strata((), ())
    waits, shares = _Waiting(layers, book, rules).edges()
    level: dict[str, int] = {}
    circles = []
    for members in components({name: sorted({*waits[name], *shares[name]}) for name in waits}):
        if any(waits[name] & set(members) for name in members):
            circles.append(Circle(members, tuple(_places([book.rules[name] for name in members]))))
        else:
            before = {other for name in members for other in (*waits[name], *shares[name])} - {*members}
            at = 1 + max((level.get(other, 0) for other in before), default=0)
            level.update(dict.fromkeys(members, at))
    layers_of: list[list[str]] = [[] for _ in range(max(level.values(), default=0))]
    for name in sorted(level):
        layers_of[level[name] - 1].append(name)
    return Strata(tuple(map(tuple, layers_of)), tuple(sorted(circles, key=lambda circle: circle.rules)))


Edges = Mapping[str, set[str]]


class _Waiting:
    """Finds which rules read what others give (edges of one kind), and which give the same (of another)."""

    def __init__(self, layers: Layers, book: Rulebook, rules: Sequence[Rule]) -> None:
        self._leads = layers.reaches.leads
        self._rules = rules
        self._asking = {rule.name: _expressions(book, rule) for rule in rules}
        followers = Followers(layers)
        self._following = {rule.name: followers.of(rule) for rule in rules}

    def edges(self) -> tuple[Edges, Edges]:
        waits: dict[str, set[str]] = {rule.name: set() for rule in self._rules}
        shares: dict[str, set[str]] = {rule.name: set() for rule in self._rules}
        for rule in self._rules:
            for giver in self._rules:
                found = self._following[giver.name]
                if self._reads(rule, found) or self._derives(rule, giver, found):
                    waits[rule.name].add(giver.name)
                if self._shares(rule, giver, found):
                    shares[rule.name].add(giver.name)
                    shares[giver.name].add(rule.name)
        return waits, shares

    def _reads(self, rule: Rule, given: Following) -> bool:
        """Do the expressions of a rule read something that follows from what is given?"""
        return any(self._asks(rule, expression, given) for expression in self._asking[rule.name])

    def _asks(self, rule: Rule, expression: Expression, given: Following) -> bool:
        if _PARAMS in expression.names and given.params:
            names = fields_asked(expression.text, _PARAMS)
            if names is None or any(among(name, given.params) for name in names):
                return True
        if _ATTRIBUTES in expression.names:
            names = fields_asked(expression.text, _ATTRIBUTES)
            had = {name for feature, name in given.attributes if self._near(rule, feature)}
            return bool(had if names is None else had & names)
        return False

    def _derives(self, rule: Rule, giver: Rule, given: Following) -> bool:
        """Is a value that a rule is about made of what is given, and not given itself?"""
        if rule.over is None:
            return any(
                among(name, given.params) and (giver.over is not None or name not in giver.domains)
                for name in rule.domains
            )
        passed = {name for feature, name in given.attributes if self._near(rule, feature)}
        return bool(passed & rule.domains.keys() - giver.domains.keys())

    def _shares(self, rule: Rule, giver: Rule, given: Following) -> bool:
        """Are two rules about the same value?"""
        if rule.over is None or giver.over is None:
            return rule.over is giver.over and bool(rule.domains.keys() & giver.domains.keys())
        had = {name for feature, name in given.attributes if self._near(rule, feature)}
        return bool(had & rule.domains.keys() & giver.domains.keys())

    def _near(self, rule: Rule, feature: str) -> bool:
        """May an instance of a feature be one that a rule is for?"""
        over = rule.over.name if rule.over is not None else ""
        return feature == over or self._leads(feature, over)


def _expressions(book: Rulebook, rule: Rule) -> list[Expression]:
    where, unique = book.wheres.get(rule.name), book.uniques.get(rule.name)
    found: list[Expression | None] = [where.condition if where else None, unique]
    return [expression for expression in found if expression is not None]


def _places(rules: Sequence[Rule]) -> Iterator[Origin]:
    """Where rules say what they leave open, and what they read for it."""
    for rule in rules:
        yield from (domain.origin for domain in rule.domains.values())
        if rule.where is not None:
            yield rule.where.origin
        if rule.unique is not None and rule.unique.key is not None:
            yield rule.unique.key.origin
