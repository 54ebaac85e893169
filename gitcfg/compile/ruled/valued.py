"""The order of the rules that leave values open: one that reads a value comes after those that give it."""

from collections.abc import Iterable, Iterator, Mapping

from gitcfg.compile.layers import Layers
from gitcfg.compile.ruled.book import Rulebook
from gitcfg.compile.ruled.strata import Circle, Strata, layered
from gitcfg.compile.ruled.ways import ways
from gitcfg.model import Origin
from gitcfg.model.rules import Rule, RuleKind


def valued(layers: Layers, book: Rulebook) -> Strata:
    """The order. Rules about the same values, between which the solver chooses at once, are in one layer;
    where one of them reads what another of them gives they are a circle."""
    rules = book.of_kind(RuleKind.DOMAIN)
    if not rules:
        return Strata((), ())
    found = ways(layers, book, rules)
    order, circles = layered(found.leads, found.reads, book.rules)
    return Strata(order, tuple(Circle(those, tuple(_places(book.rules, those))) for those in circles))


def _places(rules: Mapping[str, Rule], names: Iterable[str]) -> Iterator[Origin]:
    """Where rules say what they leave open, and what they read for it."""
    for rule in map(rules.__getitem__, names):
        yield from (domain.origin for domain in rule.domains.values())
        if rule.where is not None:
            yield rule.where.origin
        if rule.unique is not None and rule.unique.key is not None:
            yield rule.unique.key.origin
