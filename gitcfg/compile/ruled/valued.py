"""The order of the rules that leave values open: one that reads a value comes after those that give it."""

from collections.abc import Iterator, Sequence

from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.strata import Circle, Strata
from gitcfg.compile.ruled.ways import ways
from gitcfg.graph import components
from gitcfg.model import Origin
from gitcfg.model.rules import Rule, RuleKind


def valued(layers: Layers, book: Rulebook) -> Strata:
    """The order. Rules about the same values, between which the solver chooses at once, are in one layer;
    where one of them reads what another of them gives they are a circle."""
    rules = book.of_kind(RuleKind.DOMAIN)
    if not rules:
        return Strata((), ())
    found = ways(layers, book, rules)
    level: dict[str, int] = {}
    circles = []
    for members in components({place: sorted(found.leads[place]) for place in sorted(found.leads)}):
        inside = {*members}
        names = [name for name in members if name in book.rules]
        before = max((level.get(to, 0) for one in members for to in found.leads[one] - inside), default=0)
        level.update(dict.fromkeys(inside.difference(names), before))
        if any(found.reads[name] & inside for name in names):
            circles.append(Circle(tuple(names), tuple(_places([book.rules[name] for name in names]))))
        else:
            level.update(dict.fromkeys(names, before + 1))
    layers_of: list[list[str]] = [[] for _ in range(max(level.values(), default=0))]
    for name in sorted(level.keys() & book.rules.keys()):
        layers_of[level[name] - 1].append(name)
    return Strata(tuple(map(tuple, layers_of)), tuple(sorted(circles, key=lambda circle: circle.rules)))


def _places(rules: Sequence[Rule]) -> Iterator[Origin]:
    """Where rules say what they leave open, and what they read for it."""
    for rule in rules:
        yield from (domain.origin for domain in rule.domains.values())
        if rule.where is not None:
            yield rule.where.origin
        if rule.unique is not None and rule.unique.key is not None:
            yield rule.unique.key.origin
